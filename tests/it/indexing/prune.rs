//! Prunings, over sources that a test plays.

use chrono::TimeDelta;
use serde_json::{Value, json};
use trove_domain::access::Role;
use trove_domain::cc_pair::CcPairStatus;
use trove_domain::id::CcPairId;
use trove_domain::indexing::IndexingTrigger;
use trove_domain::indexing::task::{PairTask, TaskKind};
use trove_domain::port::Clock;

use super::lists::List;
use super::scripted::{Play, Scripted, Worker};
use super::{attempts, start, status};
use crate::server::{Client, Server};

const PAIR: &str = "/api/manage/admin/cc-pair";

/// A pair with these documents, indexed.
pub(super) async fn indexed<const N: usize>(
    server: &Server,
    sources: &Scripted,
    name: &str,
    documents: [&str; N],
) -> CcPairId {
    let pair = sources.pair(server, name).await;
    sources.play(pair, [Play::documents(documents)]);
    Worker::start(server, sources).until_finished(pair).await;
    assert_eq!(status(server, pair).await, CcPairStatus::Active);
    pair
}

pub(super) async fn task(server: &Server, pair: CcPairId) -> Option<PairTask> {
    server.engine.backends().tasks.find(&[pair]).await.unwrap().pop()
}

/// Ids of the documents of a pair.
pub(super) async fn documents(server: &Server, pair: CcPairId) -> Vec<String> {
    let listed = server.engine.backends().documents.list_by_pair(pair, None, 5000).await.unwrap();
    listed.items.into_iter().map(|document| document.id.into_string()).collect()
}

async fn prune(admin: &Client<'_>, pair: CcPairId) -> Value {
    admin.post(&format!("{PAIR}/{pair}/prune"), Value::Null).await.ok()
}

async fn last_pruned(admin: &Client<'_>, pair: CcPairId) -> Value {
    admin.get(&format!("{PAIR}/{pair}/last_pruned")).await.ok()
}

/// Whether the pruning that was asked for is over.
async fn is_pruned(server: &Server, pair: CcPairId) -> bool {
    let tasks = &server.engine.backends().tasks;
    let waits = tasks.prune_schedules(None, 99).await.unwrap();
    let asked = waits.iter().any(|(id, schedule)| *id == pair && schedule.is_requested);
    !asked && task(server, pair).await.is_none()
}

/// S2, the half of it: what the source no longer has is gone, and one is pruned at a time.
#[tokio::test(flavor = "multi_thread")]
async fn s2_what_the_source_no_longer_has_is_gone() {
    let server = start().await;
    let admin = server.caller(Role::Admin).await;
    let sources = Scripted::default();
    let pair = indexed(&server, &sources, "a", ["a", "b", "c"]).await;
    assert_eq!(last_pruned(&admin, pair).await, Value::Null);
    sources.lists.play(pair, [List::Names(vec!["b"]), List::Hang]);
    let message = "Successfully created the pruning task.";
    let expected = json!({"success": true, "message": message, "data": pair.0});
    for _ in 0..2 {
        assert_eq!(prune(&admin, pair).await, expected, "one pruning for both");
    }
    let worker = Worker::start(&server, &sources);
    sources.lists.reached(pair, 1).await;
    let again = admin.post(&format!("{PAIR}/{pair}/prune"), Value::Null).await;
    assert_eq!(again.refused(409, "CONFLICT"), format!("CC Pair {pair} is being pruned already"));
    worker.stop().await;
    assert_eq!(documents(&server, pair).await, ["a", "b", "c"]);
    sources.lists.play(pair, [List::Names(vec!["a"]), List::Names(vec!["c"])]);
    server.stack.clock.advance(TimeDelta::minutes(6));
    Worker::start(&server, &sources).until(async || is_pruned(&server, pair).await).await;
    assert_eq!(documents(&server, pair).await, ["b", "c"]);
    let found = admin.search(json!({"query": "worda"})).await.titles();
    assert!(!found.contains(&"a".to_owned()), "{found:?}");
    let found = admin.search(json!({"query": "wordb"})).await.titles();
    assert!(found.contains(&"b".to_owned()), "{found:?}");
    assert!(last_pruned(&admin, pair).await.is_string());
    let shown = admin.get(&format!("{PAIR}/{pair}")).await.ok();
    assert_eq!(shown["last_pruned"], last_pruned(&admin, pair).await);
}

/// Whatever was listed by then; and the reason is kept.
#[tokio::test(flavor = "multi_thread")]
async fn row_58_a_listing_that_fails_removes_nothing() {
    let server = start().await;
    let sources = Scripted::default();
    let pair = indexed(&server, &sources, "a", ["a", "b", "c"]).await;
    sources.play(pair, [Play::empty()]);
    server.engine.request_prune(pair).await.unwrap();
    sources.lists.play(pair, [List::Names(vec!["a"]), List::Unavailable("connection refused")]);
    let tried = async |tries| task(&server, pair).await.is_some_and(|task| task.tries >= tries);
    Worker::start(&server, &sources).until(async || tried(1).await).await;
    let waits = task(&server, pair).await.unwrap();
    assert_eq!(waits.error.as_deref(), Some("connection refused"));
    assert!(waits.retry_at.unwrap() > server.stack.clock.now());
    // Nor is it given up, whatever it is.
    sources.lists.play(pair, [List::Names(vec![]), List::Invalid("base_url is missing")]);
    let worker = Worker::start(&server, &sources);
    worker
        .until(async || {
            // No further than to the next try: nobody takes over what is worked on.
            let now = server.stack.clock.now();
            let retry_at = task(&server, pair).await.and_then(|task| task.retry_at);
            if let Some(retry_at) = retry_at.filter(|at| *at > now) {
                server.stack.clock.advance(retry_at - now);
            }
            tried(20).await
        })
        .await;
    assert_eq!(task(&server, pair).await.unwrap().error.as_deref(), Some("base_url is missing"));
    assert_eq!(documents(&server, pair).await, ["a", "b", "c"]);
    sources.lists.play(pair, [List::Names(vec![]), List::Names(vec!["c"])]);
    server.stack.clock.advance(TimeDelta::minutes(6));
    Worker::start(&server, &sources).until(async || is_pruned(&server, pair).await).await;
    assert_eq!(documents(&server, pair).await, ["a", "c"]);
}

/// It is listed, and there is nothing new of it.
#[tokio::test(flavor = "multi_thread")]
async fn row_59_what_cannot_be_read_stays() {
    let server = start().await;
    let sources = Scripted::default();
    let pair = indexed(&server, &sources, "a", ["a", "b", "c"]).await;
    attempts(&server).set_trigger(&[pair], IndexingTrigger::Update).await.unwrap();
    sources.play(pair, [Play::documents(["a"]).failing("b", "it is encrypted")]);
    Worker::start(&server, &sources).until_finished(pair).await;
    server.engine.request_prune(pair).await.unwrap();
    sources.lists.play(pair, [List::Names(vec!["a", "b"])]);
    Worker::start(&server, &sources).until(async || is_pruned(&server, pair).await).await;
    assert_eq!(documents(&server, pair).await, ["a", "b"]);
}

/// And a pause in the middle of it ends it, until the pair goes on.
#[tokio::test(flavor = "multi_thread")]
async fn row_60_a_paused_pair_is_not_pruned() {
    let server = start().await;
    let admin = server.caller(Role::Admin).await;
    let sources = Scripted::default();
    let pair = indexed(&server, &sources, "a", ["a", "b"]).await;
    let set = async |status: &str| {
        admin.put(&format!("{PAIR}/{pair}/status"), json!({"status": status})).await.ok();
    };
    set("PAUSED").await;
    prune(&admin, pair).await;
    assert_eq!(server.engine.begin_due_prunes().await.unwrap(), 0);
    set("ACTIVE").await;
    sources.lists.play(pair, [List::Names(vec!["a"]), List::Hang]);
    let worker = Worker::start(&server, &sources);
    sources.lists.reached(pair, 1).await;
    set("PAUSED").await;
    worker.stop().await;
    assert_eq!(task(&server, pair).await, None);
    assert_eq!(documents(&server, pair).await, ["a", "b"]);
    assert_eq!(server.engine.begin_due_prunes().await.unwrap(), 0);
    set("ACTIVE").await;
    sources.lists.play(pair, [List::Names(vec!["b"])]);
    Worker::start(&server, &sources).until(async || is_pruned(&server, pair).await).await;
    assert_eq!(documents(&server, pair).await, ["b"], "it has begun anew");
}

/// Nobody has to ask.
#[tokio::test(flavor = "multi_thread")]
async fn a_pair_is_pruned_when_its_time_has_come() {
    let server = start().await;
    let admin = server.caller(Role::Admin).await;
    let sources = Scripted::default();
    let pair = indexed(&server, &sources, "a", ["a", "b"]).await;
    sources.lists.play(pair, [List::Names(vec!["a"])]);
    let every_5_minutes = json!({"name": "pruning_frequency", "value": "300"});
    admin.put(&format!("{PAIR}/{pair}/property"), every_5_minutes).await.ok();
    let made = server.engine.backends().tasks.prune_schedules(None, 9).await.unwrap()[0].1.last;
    let age = server.stack.clock.now() - made;
    server.stack.clock.advance(TimeDelta::seconds(299) - age);
    assert_eq!(server.engine.begin_due_prunes().await.unwrap(), 0);
    server.stack.clock.advance(TimeDelta::seconds(1));
    assert_eq!(server.engine.begin_due_prunes().await.unwrap(), 1);
    Worker::start(&server, &sources).until(async || is_pruned(&server, pair).await).await;
    assert_eq!(documents(&server, pair).await, ["a"]);
}

/// A process that is lost costs the step under way.
#[tokio::test(flavor = "multi_thread")]
async fn a_pruning_whose_worker_is_lost_goes_on_where_it_was() {
    let server = start().await;
    let sources = Scripted::default();
    let pair = indexed(&server, &sources, "a", ["a", "b", "c"]).await;
    server.engine.request_prune(pair).await.unwrap();
    sources.lists.play(pair, [List::Names(vec!["a"]), List::Hang]);
    let worker = Worker::start(&server, &sources);
    sources.lists.reached(pair, 1).await;
    worker.kill();
    sources.lists.play(pair, [List::Invalid("never listed again"), List::Names(vec!["b"])]);
    server.stack.clock.advance(TimeDelta::minutes(3));
    Worker::start(&server, &sources).until(async || is_pruned(&server, pair).await).await;
    assert_eq!(documents(&server, pair).await, ["a", "b"]);
}

/// Whatever the run brings after its place in the listing was passed.
#[tokio::test(flavor = "multi_thread")]
async fn a_pruning_beside_a_run_loses_nothing() {
    let server = start().await;
    let admin = server.caller(Role::Admin).await;
    let sources = Scripted::default();
    let pair = indexed(&server, &sources, "a", ["a", "back", "gone"]).await;
    server.engine.request_prune(pair).await.unwrap();
    sources.lists.play(pair, [List::Names(vec!["a"]), List::Hang]);
    let worker = Worker::start(&server, &sources);
    sources.lists.reached(pair, 1).await;
    assert_eq!(task(&server, pair).await.unwrap().kind, TaskKind::Prune);
    attempts(&server).set_trigger(&[pair], IndexingTrigger::Update).await.unwrap();
    sources.play(pair, [Play::documents(["back", "new"])]);
    worker.until_finished(pair).await;
    sources.lists.play(pair, [List::Invalid("never listed again"), List::Names(vec![])]);
    server.stack.clock.advance(TimeDelta::minutes(6));
    Worker::start(&server, &sources).until(async || is_pruned(&server, pair).await).await;
    assert_eq!(documents(&server, pair).await, ["a", "back", "new"]);
    for name in ["back", "new"] {
        let query = json!({"query": format!("word{name}")});
        assert!(admin.search(query).await.titles().contains(&name.to_owned()), "{name}");
    }
}

/// What is under way with an older configuration would bring back what is gone.
#[tokio::test(flavor = "multi_thread")]
async fn a_pruning_waits_for_the_run_that_has_begun() {
    let server = start().await;
    let sources = Scripted::default();
    let pair = indexed(&server, &sources, "a", ["a", "b"]).await;
    attempts(&server).set_trigger(&[pair], IndexingTrigger::Update).await.unwrap();
    sources.play(pair, [Play::hanging()]);
    sources.lists.play(pair, [List::Names(vec!["a"])]);
    let worker = Worker::start(&server, &sources);
    sources.reached(&server, pair, 0).await;
    server.engine.request_prune(pair).await.unwrap();
    assert_eq!(server.engine.begin_due_prunes().await.unwrap(), 0);
    worker.stop().await;
    sources.play(pair, [Play::documents(["b"])]);
    server.stack.clock.advance(TimeDelta::minutes(6));
    Worker::start(&server, &sources).until(async || is_pruned(&server, pair).await).await;
    assert_eq!(documents(&server, pair).await, ["a"]);
}

/// What nobody runs is nobody's to prune, and what one does not see is not there.
#[tokio::test(flavor = "multi_thread")]
async fn who_asks_for_a_pruning() {
    let server = start().await;
    let admin = server.caller(Role::Admin).await;
    let by_hand = server.private_pair("by hand", &[]).await;
    let refused = admin.post(&format!("{PAIR}/{by_hand}/prune"), Value::Null).await;
    refused.refused(400, "INVALID_INPUT");
    assert_eq!(last_pruned(&admin, by_hand).await, Value::Null);
    for path in ["prune", "last_pruned"] {
        let path = format!("{PAIR}/4711/{path}");
        let answer = if path.ends_with("prune") {
            admin.post(&path, Value::Null).await
        } else {
            admin.get(&path).await
        };
        answer.refused(404, "NOT_FOUND");
    }
}
