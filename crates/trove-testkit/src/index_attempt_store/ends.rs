//! How runs end, and what becomes of their pairs.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde_json::json;
use trove_domain::cc_pair::CcPairStatus;
use trove_domain::id::CcPairId;
use trove_domain::indexing::AttemptStatus::{self, Canceled, CompletedWithErrors, Failed, Success};
use trove_domain::indexing::{IndexAttempt, IndexingTrigger, Progress};
use trove_domain::port::{
    ATTEMPTS_KEPT, AttemptEnd, Checkpoint, Control, FailedPart, PairRuns, RunBy, SourceFailure,
    StepRecord,
};

use super::{MINUTE, begin, claim, schedule, scheduled, to};
use crate::stores::{Stores, at, new_job};

pub(crate) fn success() -> AttemptEnd {
    end(Success)
}

fn end(status: AttemptStatus) -> AttemptEnd {
    let error = (status != Success).then(|| format!("it is {}", status.as_str()));
    AttemptEnd { status, error, is_invalid: false, carry: None }
}

/// One whole run, begun at this second.
async fn run(stores: &Stores, pair: CcPairId, second: i64, end: AttemptEnd) {
    stores.attempts.set_trigger(&[pair], IndexingTrigger::Update).await.unwrap();
    begin(stores, pair, second).await;
    let claimed = claim(stores, second).await;
    let control = stores.attempts.finish(&claimed, end, at(second), long_ago()).await.unwrap();
    assert_eq!(control, Control::Go);
}

fn long_ago() -> DateTime<Utc> {
    at(-1_000_000)
}

async fn status(stores: &Stores, pair: CcPairId) -> CcPairStatus {
    stores.pairs.get(pair).await.unwrap().unwrap().status
}

async fn last(stores: &Stores, pair: CcPairId) -> IndexAttempt {
    stores.attempts.list(pair, 0, 1).await.unwrap().items.remove(0)
}

/// And resolves what is not about documents.
pub async fn a_success_makes_the_pair_active(stores: &Stores) {
    let pair = scheduled(stores, "a").await;
    begin(stores, pair, 0).await;
    let claimed = claim(stores, 0).await;
    let entity = FailedPart::Entity { id: "folder".to_owned(), window: None };
    let failures = vec![SourceFailure { part: entity, message: "x".to_owned() }];
    let step = StepRecord { failures, ..to("1") };
    stores.attempts.record_step(&claimed, step, at(1), MINUTE).await.unwrap();
    assert_eq!(status(stores, pair).await, CcPairStatus::InitialIndexing);
    stores.attempts.finish(&claimed, end(CompletedWithErrors), at(2), long_ago()).await.unwrap();
    assert_eq!(status(stores, pair).await, CcPairStatus::Active);
    assert_eq!(stores.attempts.list_errors(pair, false, 0, 9).await.unwrap().total, 1);
    run(stores, pair, 9, success()).await;
    assert_eq!(stores.attempts.list_errors(pair, false, 0, 9).await.unwrap().total, 0);
    assert_eq!(last(stores, pair).await.status, Success);
    assert_eq!(stores.attempts.claim(at(999), MINUTE, 9, &BTreeSet::new()).await.unwrap(), []);
    let again = stores.attempts.finish(&claimed, success(), at(3), long_ago()).await.unwrap();
    assert_eq!(again, Control::Lost, "it is over");
}

/// The next run reads again what was not read.
pub async fn errors_do_not_move_the_window(stores: &Stores) {
    let pair = scheduled(stores, "a").await;
    run(stores, pair, 100, success()).await;
    assert_eq!(schedule(stores, pair).await.last_success_end, Some(at(100)));
    for (second, status) in [(200, CompletedWithErrors), (300, Failed), (400, Canceled)] {
        run(stores, pair, second, end(status)).await;
        let now = schedule(stores, pair).await;
        assert_eq!(now.last_success_end, Some(at(100)));
        assert_eq!(now.last.unwrap().status, status);
        assert_eq!(now.last.unwrap().updated_at, at(second));
    }
}

/// To the end of the window that it had.
pub async fn an_interrupted_run_resumes_from_its_checkpoint(stores: &Stores) {
    for (name, interruption) in [("a", Failed), ("b", Canceled)] {
        let pair = scheduled(stores, name).await;
        begin(stores, pair, 0).await;
        let claimed = claim(stores, 0).await;
        stores.attempts.record_step(&claimed, to("half"), at(1), MINUTE).await.unwrap();
        stores.attempts.finish(&claimed, end(interruption), at(2), long_ago()).await.unwrap();
        stores.attempts.set_trigger(&[pair], IndexingTrigger::Update).await.unwrap();
        begin(stores, pair, 50).await;
        let resumed = claim(stores, 50).await;
        assert_eq!(resumed.checkpoint, Some(Checkpoint(json!("half"))));
        assert_eq!(resumed.attempt.window, claimed.attempt.window);
        assert_eq!((resumed.attempt.steps, resumed.attempt.progress.enumerated), (0, 0));
        stores.attempts.finish(&resumed, end(interruption), at(51), long_ago()).await.unwrap();
        // But not when somebody asks for everything.
        stores.attempts.set_trigger(&[pair], IndexingTrigger::Reindex).await.unwrap();
        begin(stores, pair, 60).await;
        let anew = claim(stores, 60).await;
        assert_eq!((anew.checkpoint.as_ref(), anew.attempt.window.end), (None, at(60)));
        stores.attempts.finish(&anew, success(), at(61), long_ago()).await.unwrap();
    }
}

/// The next one begins anew.
pub async fn a_complete_run_leaves_no_checkpoint(stores: &Stores) {
    let pair = scheduled(stores, "a").await;
    begin(stores, pair, 0).await;
    let claimed = claim(stores, 0).await;
    stores.attempts.record_step(&claimed, to("1"), at(1), MINUTE).await.unwrap();
    stores.attempts.finish(&claimed, end(CompletedWithErrors), at(2), long_ago()).await.unwrap();
    stores.attempts.set_trigger(&[pair], IndexingTrigger::Update).await.unwrap();
    begin(stores, pair, 10).await;
    assert_eq!(claim(stores, 10).await.checkpoint, None);
}

/// Until another run succeeds, and not where somebody asks for everything.
pub async fn a_success_carries_over_where_the_next_run_begins(stores: &Stores) {
    let pair = scheduled(stores, "a").await;
    let carried = Checkpoint(json!({"etags": ["a"]}));
    let carrying = || AttemptEnd { carry: Some(carried.clone()), ..success() };
    let next = async |second: i64, trigger, ended: AttemptEnd| {
        stores.attempts.set_trigger(&[pair], trigger).await.unwrap();
        begin(stores, pair, second).await;
        let claimed = claim(stores, second).await;
        let now = at(second + 1);
        stores.attempts.finish(&claimed, ended, now, long_ago()).await.unwrap();
        claimed.checkpoint
    };
    let (reindex, update) = (IndexingTrigger::Reindex, IndexingTrigger::Update);
    assert_eq!(next(0, update, carrying()).await, None);
    assert_eq!(next(10, reindex, carrying()).await, None);
    assert_eq!(next(20, update, carrying()).await, Some(carried.clone()));
    assert_eq!(next(30, update, success()).await, Some(carried.clone()));
    assert_eq!(next(40, update, carrying()).await, None, "the last one carries nothing over");
    let incomplete = AttemptEnd { carry: Some(carried.clone()), ..end(CompletedWithErrors) };
    assert_eq!(next(50, update, incomplete).await, Some(carried));
    assert_eq!(next(60, update, end(Failed)).await, None, "what failed is to be read again");
}

/// As if nothing had been done.
pub async fn a_run_begins_anew_when_its_worker_says_so(stores: &Stores) {
    let pair = scheduled(stores, "a").await;
    begin(stores, pair, 0).await;
    let claimed = claim(stores, 0).await;
    stores.attempts.record_step(&claimed, to("1"), at(1), MINUTE).await.unwrap();
    assert_eq!(stores.attempts.restart(&claimed, at(2), MINUTE).await.unwrap(), Control::Go);
    let run = last(stores, pair).await;
    assert_eq!((run.steps, run.progress), (0, Progress::default()));
    stores.attempts.release(&claimed, at(3)).await.unwrap();
    assert_eq!(claim(stores, 4).await.checkpoint, None);
    assert_eq!(stores.attempts.restart(&claimed, at(5), MINUTE).await.unwrap(), Control::Lost);
}

/// A cancelled one breaks the row, and a complete one ends it.
pub async fn five_failures_in_a_row_make_a_failing_pair(stores: &Stores) {
    let pair = scheduled(stores, "a").await;
    let failing = async || schedule(stores, pair).await.in_repeated_error_state;
    for second in 0..4 {
        run(stores, pair, second, end(Failed)).await;
    }
    run(stores, pair, 4, end(Canceled)).await;
    for second in 5..9 {
        run(stores, pair, second, end(Failed)).await;
        assert!(!failing().await, "at {second}");
    }
    run(stores, pair, 9, end(Failed)).await;
    assert!(failing().await);
    run(stores, pair, 10, end(Canceled)).await;
    assert!(failing().await, "nothing was read");
    assert_eq!(status(stores, pair).await, CcPairStatus::InitialIndexing);
    run(stores, pair, 11, end(CompletedWithErrors)).await;
    assert!(!failing().await);
}

/// Nothing else would show that it does not work.
pub async fn one_failure_is_enough_where_nothing_tries_again(stores: &Stores) {
    let pair = scheduled(stores, "a").await;
    stores.pairs.set_schedule(pair, RunBy::Schedule, None).await.unwrap();
    run(stores, pair, 0, end(Failed)).await;
    assert!(schedule(stores, pair).await.in_repeated_error_state);
}

/// It waits for somebody who mends it.
pub async fn five_invalid_runs_in_a_row_make_an_invalid_pair(stores: &Stores) {
    let pair = scheduled(stores, "a").await;
    let invalid = AttemptEnd { is_invalid: true, ..end(Canceled) };
    for second in 0..3 {
        run(stores, pair, second, invalid.clone()).await;
    }
    run(stores, pair, 3, end(Failed)).await;
    for second in 4..8 {
        run(stores, pair, second, invalid.clone()).await;
        assert_ne!(status(stores, pair).await, CcPairStatus::Invalid, "at {second}");
    }
    run(stores, pair, 8, invalid).await;
    assert_eq!(status(stores, pair).await, CcPairStatus::Invalid);
    assert_eq!(schedule(stores, pair).await.due(at(9_999_999)), None);
}

/// However old they are.
pub async fn old_attempts_go_but_for_the_latest(stores: &Stores) {
    let pair = scheduled(stores, "a").await;
    let runs = i64::from(ATTEMPTS_KEPT) + 5;
    for second in 0..runs {
        run(stores, pair, second, success()).await;
    }
    let count = async || stores.attempts.list(pair, 0, 100).await.unwrap().total;
    assert_eq!(count().await, u64::from(ATTEMPTS_KEPT) + 5);
    stores.attempts.set_trigger(&[pair], IndexingTrigger::Update).await.unwrap();
    begin(stores, pair, 100).await;
    let claimed = claim(stores, 100).await;
    stores.attempts.finish(&claimed, success(), at(100), at(3)).await.unwrap();
    assert_eq!(count().await, u64::from(ATTEMPTS_KEPT) + 3, "those that ended before are gone");
    stores.attempts.set_trigger(&[pair], IndexingTrigger::Update).await.unwrap();
    begin(stores, pair, 200).await;
    let claimed = claim(stores, 200).await;
    stores.attempts.finish(&claimed, success(), at(200), at(200)).await.unwrap();
    assert_eq!(count().await, u64::from(ATTEMPTS_KEPT));
    assert_eq!(last(stores, pair).await.created_at, at(200));
}

/// With the number of documents.
pub async fn the_latest_runs_of_pairs(stores: &Stores) {
    let (a, b) = (scheduled(stores, "a").await, scheduled(stores, "b").await);
    stores.index(a, &["x", "y"]).await;
    stores.register(a, &["not indexed"]).await;
    for (second, status) in [(1, Success), (2, Failed), (3, CompletedWithErrors)] {
        run(stores, a, second, end(status)).await;
    }
    stores.attempts.set_trigger(&[a], IndexingTrigger::Update).await.unwrap();
    begin(stores, a, 4).await;
    let [runs, none] = stores.attempts.latest(&[a, b]).await.unwrap().try_into().unwrap();
    let begun = |attempt: &Option<IndexAttempt>| attempt.as_ref().map(|a| a.created_at);
    assert_eq!((runs.pair, runs.documents), (a, 2));
    assert_eq!(begun(&runs.last), Some(at(4)));
    assert_eq!(begun(&runs.last_finished), Some(at(3)));
    assert_eq!(begun(&runs.last_success), Some(at(1)));
    assert_eq!(begun(&runs.last_failed), Some(at(2)));
    let expected = PairRuns {
        pair: b,
        last: None,
        last_finished: None,
        last_success: None,
        last_failed: None,
        documents: 0,
    };
    assert_eq!(none, expected);
}

/// With everything that is known of them.
pub async fn a_removed_pair_takes_its_attempts_along(stores: &Stores) {
    let pair = scheduled(stores, "a").await;
    begin(stores, pair, 0).await;
    let claimed = claim(stores, 0).await;
    let job = new_job("sync", "sync");
    assert!(stores.pairs.remove(pair, at(1), job).await.unwrap());
    let lost = stores.attempts.record_step(&claimed, to("1"), at(2), MINUTE).await.unwrap();
    assert_eq!(lost, Control::Lost);
    assert_eq!(stores.attempts.list(pair, 0, 9).await.unwrap().total, 0);
}
