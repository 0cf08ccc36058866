//! Runs of indexing, over sources that a test plays.

mod deletion;
mod external_groups;
mod lists;
mod permissions;
mod prune;
mod scripted;
mod wire;

use chrono::TimeDelta;
use serde_json::json;
use trove_domain::access::Role;
use trove_domain::cc_pair::CcPairStatus;
use trove_domain::id::{CcPairId, DocumentId};
use trove_domain::indexing::{AttemptStatus, IndexAttempt, IndexingTrigger, Progress, StopReason};
use trove_domain::port::{Checkpoint, Clock, FailedPart, IndexAttemptStore};
use trove_engine::EngineConfig;
use trove_engine::indexing::{IndexingConfig, VALIDATION_PREFIX};

use self::scripted::{Play, Scripted, Worker};
use crate::server::{Options, Server};

async fn start() -> Server {
    let indexing = IndexingConfig {
        step_timeout: std::time::Duration::from_millis(200),
        ..Default::default()
    };
    let engine = EngineConfig { indexing, ..EngineConfig::default() };
    Server::with(Options { engine, ..Options::default() }).await
}

fn attempts(server: &Server) -> &dyn IndexAttemptStore {
    server.engine.backends().attempts.as_ref()
}

async fn last(server: &Server, pair: CcPairId) -> IndexAttempt {
    attempts(server).list(pair, 0, 1).await.unwrap().items.remove(0)
}

async fn status(server: &Server, pair: CcPairId) -> CcPairStatus {
    server.engine.backends().cc_pairs.get(pair).await.unwrap().unwrap().status
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_reads_step_by_step_and_accounts_for_everything() {
    let server = start().await;
    let admin = server.caller(Role::Admin).await;
    let sources = Scripted::default();
    let pair = sources.pair(&server, "a").await;
    sources.play(
        pair,
        [Play::documents(["a", "b"]), Play::documents(["c", "a"]).skipping("x.bin"), Play::empty()],
    );
    let run = Worker::start(&server, &sources).until_finished(pair).await;
    assert_eq!((run.status, run.error), (AttemptStatus::Success, None));
    let expected =
        Progress { enumerated: 5, new: 3, unchanged: 1, skipped: 1, ..Progress::default() };
    assert_eq!(run.progress, expected);
    assert!(run.progress.adds_up());
    assert_eq!(status(&server, pair).await, CcPairStatus::Active);
    let listed = admin.connector_docs(pair).await.ok();
    let listed = listed.as_array().unwrap().iter().map(|document| &document["document_id"]);
    assert_eq!(listed.collect::<Vec<_>>(), ["a", "b", "c"]);
    assert!(!admin.search(json!({"query": "wordb"})).await.titles().is_empty());
    // Row 14: everything again embeds nothing again.
    server.stack.clock.advance(TimeDelta::seconds(1));
    attempts(&server).set_trigger(&[pair], IndexingTrigger::Reindex).await.unwrap();
    sources.play(pair, [Play::documents(["a", "b", "c"])]);
    let run = Worker::start(&server, &sources).until_finished(pair).await;
    assert!(run.from_beginning);
    let expected = Progress { enumerated: 3, unchanged: 3, ..Progress::default() };
    assert_eq!((run.status, run.progress), (AttemptStatus::Success, expected));
}

/// A process that is lost costs the step under way.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_worker_is_lost_goes_on_where_it_was() {
    let server = start().await;
    let sources = Scripted::default();
    let pair = sources.pair(&server, "a").await;
    sources.play(pair, [Play::documents(["a"]), Play::hanging()]);
    let worker = Worker::start(&server, &sources);
    sources.reached(&server, pair, 1).await;
    worker.kill();
    let run = last(&server, pair).await;
    assert_eq!((run.status, run.steps), (AttemptStatus::InProgress, 1));
    sources.play(pair, [Play::documents(["never read again"]), Play::documents(["b"])]);
    server.stack.clock.advance(TimeDelta::minutes(3));
    let run = Worker::start(&server, &sources).until_finished(pair).await;
    assert_eq!((run.status, run.steps, run.progress.new), (AttemptStatus::Success, 2, 2));
    assert_eq!(attempts(&server).list(pair, 0, 9).await.unwrap().total, 1, "one run");
}

/// S4, row 55: also in the middle of a step.
#[tokio::test(flavor = "multi_thread")]
async fn s4_a_paused_run_ends_and_is_resumed_to_the_same_end() {
    let server = start().await;
    let sources = Scripted::default();
    let pair = sources.pair(&server, "a").await;
    sources.play(pair, [Play::documents(["a"]), Play::hanging()]);
    let worker = Worker::start(&server, &sources);
    sources.reached(&server, pair, 1).await;
    let now = server.stack.clock.now();
    assert!(attempts(&server).request_stop(pair, StopReason::Paused, now).await.unwrap());
    let first = worker.until_finished(pair).await;
    assert_eq!(first.status, AttemptStatus::Canceled);
    assert_eq!(first.error.as_deref(), Some("Connector paused"));
    server.stack.clock.advance(TimeDelta::hours(1));
    sources.play(pair, [Play::documents(["never read again"]), Play::documents(["b"])]);
    let second = Worker::start(&server, &sources).until_finished(pair).await;
    assert_ne!(first.id, second.id);
    assert_eq!((second.status, second.window.end), (AttemptStatus::Success, first.window.end));
    assert_eq!((second.steps, second.progress.new), (1, 1));
}

/// Nothing is hidden: each failure is listed, and the window stays.
#[tokio::test(flavor = "multi_thread")]
async fn row_53_what_was_not_read_is_listed_and_read_again() {
    let server = start().await;
    let sources = Scripted::default();
    let pair = sources.pair(&server, "a").await;
    for _ in 0..2 {
        sources.play(pair, [Play::documents(["a"]).failing("broken", "it is encrypted")]);
        let run = Worker::start(&server, &sources).until_finished(pair).await;
        assert_eq!(run.status, AttemptStatus::CompletedWithErrors);
        assert_eq!((run.progress.enumerated, run.progress.failed), (2, 1));
        assert_eq!(status(&server, pair).await, CcPairStatus::Active);
        let errors = attempts(&server).list_errors(pair, false, 0, 9).await.unwrap().items;
        assert_eq!(errors[0].failure.message, "it is encrypted");
        assert!(
            matches!(&errors[0].failure.part, FailedPart::Document { id, .. } if id.as_str() == "broken")
        );
        let schedule = attempts(&server).schedules(None, 9).await.unwrap()[0].1;
        assert_eq!(schedule.last_success_end, None);
        server.stack.clock.advance(TimeDelta::hours(1));
    }
    sources.play(pair, [Play::documents(["a", "broken"])]);
    let run = Worker::start(&server, &sources).until_finished(pair).await;
    assert_eq!(run.status, AttemptStatus::Success);
    assert_eq!(attempts(&server).list_errors(pair, false, 0, 9).await.unwrap().total, 0);
}

/// Rows 56 and 57: going on would only take time.
#[tokio::test(flavor = "multi_thread")]
async fn row_56_a_run_in_which_much_fails_is_given_up() {
    let server = start().await;
    let sources = Scripted::default();
    let pair = sources.pair(&server, "a").await;
    let fails = ["1", "2", "3", "4"]
        .into_iter()
        .fold(Play::documents(["a"]), |play, id| play.failing(id, "no"));
    sources.play(pair, [fails, Play::documents(["never read"])]);
    let run = Worker::start(&server, &sources).until_finished(pair).await;
    assert_eq!((run.status, run.steps, run.progress.failed), (AttemptStatus::Failed, 1, 4));
    assert!(run.error.unwrap().starts_with("4 of 5 documents failed"));
}

/// S5, S6: what does not work is shown, and tried again only where that may help.
#[tokio::test(flavor = "multi_thread")]
async fn s5_s6_sources_that_do_not_answer_and_those_that_cannot() {
    let server = start().await;
    let sources = Scripted::default();
    let (dead, wrong) = (sources.pair(&server, "dead").await, sources.pair(&server, "wrong").await);
    for round in 1..=5 {
        sources.play(dead, std::iter::repeat_n(Play::unavailable("connection refused"), 9));
        sources.play(wrong, [Play::invalid("base_url is missing")]);
        let worker = Worker::start(&server, &sources);
        worker
            .until(async || {
                // The waits between tries are over.
                server.stack.clock.advance(TimeDelta::minutes(6));
                let runs = attempts(&server).list(dead, 0, 20).await.unwrap().items;
                let failed = runs.iter().filter(|run| run.status == AttemptStatus::Failed);
                let tried = failed.clone().all(|run| {
                    run.tries == 4 && run.error.as_deref() == Some("connection refused")
                });
                assert!(tried, "{runs:?}");
                failed.count() >= round
            })
            .await;
        server.stack.clock.advance(TimeDelta::hours(1));
    }
    let schedule = attempts(&server).schedules(None, 9).await.unwrap();
    assert!(schedule.iter().find(|(pair, _)| *pair == dead).unwrap().1.in_repeated_error_state);
    assert_eq!(status(&server, wrong).await, CcPairStatus::Invalid);
    let run = last(&server, wrong).await;
    assert_eq!(run.status, AttemptStatus::Canceled);
    assert_eq!(run.error.unwrap(), format!("{VALIDATION_PREFIX}base_url is missing"));
}

/// A source that hangs holds up nobody.
#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_hangs_leaves_the_others_alone() {
    let server = start().await;
    let sources = Scripted::default();
    let hangs = sources.pair(&server, "hangs").await;
    let works = sources.pair(&server, "works").await;
    sources.play(hangs, std::iter::repeat_n(Play::hanging(), 99));
    sources.play(works, [Play::documents(["a"]), Play::documents(["b"])]);
    let worker = Worker::start(&server, &sources);
    assert_eq!(worker.until_finished(works).await.status, AttemptStatus::Success);
    let worker = Worker::start(&server, &sources);
    worker.until(async || last(&server, hangs).await.tries > 0).await;
    let run = last(&server, hangs).await;
    assert_eq!(run.status, AttemptStatus::InProgress);
    assert!(run.error.unwrap().contains("did not answer within"), "and says why it waits");
}

/// A process that ends in order leaves nothing to wait for.
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_stops_gives_its_runs_back() {
    let server = start().await;
    let sources = Scripted::default();
    let pair = sources.pair(&server, "a").await;
    sources.play(pair, [Play::documents(["a"]), Play::hanging()]);
    let worker = Worker::start(&server, &sources);
    sources.reached(&server, pair, 1).await;
    worker.stop().await;
    let now = server.stack.clock.now();
    let free = attempts(&server)
        .claim(now, std::time::Duration::from_mins(1), 9, &[].into())
        .await
        .unwrap();
    assert_eq!(free[0].checkpoint, Some(Checkpoint(json!(1))));
}

/// What has not changed is not read again, unless something of it is missing here.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_begins_with_what_the_last_one_carries_over() {
    let server = start().await;
    let sources = Scripted::default();
    let pair = sources.pair(&server, "a").await;
    sources.play(pair, [Play::documents(["a", "b"]), Play::empty().carrying(2)]);
    Worker::start(&server, &sources).until_finished(pair).await;
    let again = async || {
        server.stack.clock.advance(TimeDelta::hours(1));
        let full = [Play::documents(["a", "b"]), Play::empty().carrying(2)];
        let rest = [Play::documents(["c"]).unchanged(["a", "b"]).carrying(2)];
        sources.play(pair, full.into_iter().chain(rest));
        Worker::start(&server, &sources).until_finished(pair).await
    };
    let run = again().await;
    let expected = Progress { enumerated: 3, new: 1, unchanged: 2, ..Progress::default() };
    assert_eq!((run.status, run.progress), (AttemptStatus::Success, expected));
    // One of them is gone: everything is read, and counted once.
    server.engine.remove_documents(&[DocumentId::new("b").unwrap()]).await.unwrap();
    let run = again().await;
    let expected = Progress { enumerated: 5, new: 1, unchanged: 4, ..Progress::default() };
    assert_eq!((run.status, run.progress), (AttemptStatus::Success, expected));
    // Somebody asks for everything.
    attempts(&server).set_trigger(&[pair], IndexingTrigger::Reindex).await.unwrap();
    assert_eq!(again().await.progress.enumerated, 5);
}
