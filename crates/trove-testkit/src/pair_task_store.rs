//! What every [`PairTaskStore`](trove_domain::port::PairTaskStore) does.

mod deletion;
mod pruning;

use std::time::Duration;

use futures::future::join_all;
use trove_domain::cc_pair::{AccessType, CcPairStatus};
use trove_domain::id::{CcPairId, PairTaskId};
use trove_domain::indexing::IndexingTrigger;
use trove_domain::indexing::pruning::PruneSchedule;
use trove_domain::indexing::task::{PairTask, TaskKind};
use trove_domain::port::{ClaimedTask, ListingStep, PairRefusal, TaskEnd, Unlinked};

pub use deletion::*;
pub use pruning::*;

use crate::index_attempt_store::{begin, claim, scheduled, success};
use crate::stores::{Stores, at, document_ids, new_job};

/// Turns the suite into one test for each obligation. `$start` is a future of an `Option` of
/// something that dereferences to [`Stores`].
#[macro_export]
macro_rules! pair_task_store_contract {
    ($start:expr) => {
        $crate::contract_suite!(
            pair_task_store,
            $start,
            [
                pairs_that_may_be_pruned_are_listed_with_what_decides,
                a_pruning_begins_once_whoever_tries,
                a_pruning_does_not_begin_on_what_has_changed,
                a_request_stays_until_a_pruning_begins,
                a_pruning_is_asked_for_where_a_schedule_runs_the_pair,
                a_task_has_one_worker,
                an_abandoned_task_is_taken_over_and_its_worker_writes_nothing,
                the_next_task_of_a_pair_is_not_the_last_ones_workers,
                a_lease_of_a_task_that_is_prolonged_holds,
                a_task_that_waits_is_not_claimed_before_its_time,
                a_released_task_is_free_at_once,
                tasks_that_waited_longest_come_first,
                nothing_is_missing_before_everything_was_listed,
                what_is_not_listed_is_missing,
                what_is_indexed_meanwhile_is_not_missing,
                an_earlier_pruning_has_listed_nothing,
                what_was_unlinked_is_remembered,
                a_pruned_pair_says_since_when,
                a_pause_ends_a_pruning_which_is_asked_for_again,
                an_invalid_pair_is_not_pruned,
                a_pair_is_deleted_from_any_status,
                a_deletion_stops_the_run_of_the_pair,
                a_deletion_replaces_a_pruning,
                a_deletion_that_is_asked_for_again_is_tried_at_once,
                a_pair_that_is_being_deleted_is_not_there_for_documents,
                a_deletion_marks_the_documents_of_the_pair,
                a_pair_with_documents_is_not_gone,
                a_deleted_pair_takes_its_connector_along_unless_another_one_needs_it,
                a_connector_that_goes_gets_no_other_pair,
                two_deletions_share_a_document,
                a_deletion_that_fails_says_why,
                tasks_of_pairs_are_found,
            ]
        );
    };
}

pub(crate) const MINUTE: Duration = Duration::from_mins(1);

/// A pair that the schedule runs and that has been indexed, with these documents.
pub(crate) async fn active(stores: &Stores, name: &str, documents: &[&str]) -> CcPairId {
    let pair = scheduled(stores, name).await;
    begin(stores, pair, 0).await;
    stores.index(pair, documents).await;
    let run = claim(stores, 0).await;
    stores.attempts.finish(&run, success(), at(0), at(0)).await.unwrap();
    assert_eq!(status(stores, pair).await, CcPairStatus::Active);
    pair
}

pub(crate) async fn status(stores: &Stores, pair: CcPairId) -> CcPairStatus {
    stores.pairs.get(pair).await.unwrap().unwrap().status
}

pub(crate) async fn schedule(stores: &Stores, pair: CcPairId) -> Option<PruneSchedule> {
    let all = stores.tasks.prune_schedules(None, 1000).await.unwrap();
    all.into_iter().find(|(id, _)| *id == pair).map(|(_, schedule)| schedule)
}

/// Begins a pruning that somebody asks for.
pub(crate) async fn prune(stores: &Stores, pair: CcPairId, second: i64) {
    stores.tasks.request_prune(pair, true).await.unwrap().unwrap();
    let schedule = schedule(stores, pair).await.unwrap();
    assert!(schedule.is_due(at(second)), "{schedule:?}");
    assert!(stores.tasks.begin_prune(pair, &schedule, at(second)).await.unwrap());
}

pub(crate) async fn delete(stores: &Stores, pair: CcPairId, second: i64) {
    let job = new_job("sync", "sync");
    stores.tasks.begin_deletion(pair, at(second), job).await.unwrap().unwrap();
}

/// Takes the one task that there is for a minute.
pub(crate) async fn take(stores: &Stores, second: i64) -> ClaimedTask {
    let mut claimed = stores.tasks.claim(at(second), MINUTE, 10).await.unwrap();
    assert_eq!(claimed.len(), 1, "{claimed:?}");
    claimed.remove(0)
}

/// A step that names these documents and is the last one.
pub(crate) fn listing(ids: &[&str]) -> ListingStep {
    ListingStep { ids: document_ids(ids), next: None }
}

/// Has the source list these documents and no others.
pub(crate) async fn list(stores: &Stores, task: &ClaimedTask, ids: &[&str], second: i64) {
    let recorded = stores.tasks.record_listing(task, &listing(ids), at(second), MINUTE).await;
    assert!(recorded.unwrap());
}

/// What the task is to take from its pair.
pub(crate) async fn missing(stores: &Stores, task: &ClaimedTask) -> Vec<String> {
    let missing = stores.tasks.to_unlink(task, None, 1000).await.unwrap();
    missing.into_iter().map(trove_domain::id::DocumentId::into_string).collect()
}

pub(crate) async fn unlink(
    stores: &Stores,
    task: &ClaimedTask,
    ids: &[&str],
) -> Option<Vec<Unlinked>> {
    stores.tasks.unlink(task, &document_ids(ids), at(100), MINUTE).await.unwrap()
}

/// The one task of a pair.
pub(crate) async fn task(stores: &Stores, pair: CcPairId) -> Option<PairTask> {
    stores.tasks.find(&[pair]).await.unwrap().pop()
}

/// However many there are.
pub async fn a_task_has_one_worker(stores: &Stores) {
    for name in ["a", "b", "c"] {
        let pair = scheduled(stores, name).await;
        delete(stores, pair, 0).await;
    }
    let claims = join_all((0..6).map(|_| stores.tasks.claim(at(1), MINUTE, 2))).await;
    let mut ids: Vec<PairTaskId> =
        claims.into_iter().flat_map(Result::unwrap).map(|claimed| claimed.task.id).collect();
    ids.sort_unstable();
    let count = ids.len();
    ids.dedup();
    assert_eq!((count, ids.len()), (3, 3));
    assert_eq!(stores.tasks.claim(at(2), MINUTE, 9).await.unwrap(), []);
}

/// A crash or a hanging machine costs the lease and nothing else.
pub async fn an_abandoned_task_is_taken_over_and_its_worker_writes_nothing(stores: &Stores) {
    let pair = active(stores, "a", &["x", "y"]).await;
    prune(stores, pair, 1).await;
    let first = take(stores, 1).await;
    let second = take(stores, 62).await;
    assert_eq!(second.task.id, first.task.id);
    assert_ne!(second.claim, first.claim);
    assert_writes_nothing(stores, &first, 63).await;
    assert_eq!(stores.tasks.claim(at(64), MINUTE, 9).await.unwrap(), [], "it is the second one's");
    list(stores, &second, &["y"], 64).await;
    assert_eq!(missing(stores, &second).await, ["x"]);
}

async fn assert_writes_nothing(stores: &Stores, lost: &ClaimedTask, second: i64) {
    let store = &stores.tasks;
    let ids = document_ids(&["x"]);
    assert!(!store.heartbeat(lost, at(second), MINUTE).await.unwrap());
    assert!(!store.record_listing(lost, &listing(&["x"]), at(second), MINUTE).await.unwrap());
    assert!(store.unlink(lost, &ids, at(second), MINUTE).await.unwrap().is_none());
    assert!(!store.put_back(lost, "x", at(second), at(second)).await.unwrap());
    assert_eq!(store.finish(lost, &[], at(second)).await.unwrap(), TaskEnd::Lost);
    store.release(lost, at(second)).await.unwrap();
}

/// Each begins counting anew.
pub async fn the_next_task_of_a_pair_is_not_the_last_ones_workers(stores: &Stores) {
    let pair = active(stores, "a", &["x"]).await;
    prune(stores, pair, 1).await;
    let first = take(stores, 1).await;
    for paused in [true, false] {
        stores.pairs.set_paused(pair, paused, at(2)).await.unwrap().unwrap();
    }
    prune(stores, pair, 3).await;
    let second = take(stores, 3).await;
    assert_eq!(first.claim, second.claim);
    assert_writes_nothing(stores, &first, 4).await;
    list(stores, &second, &[], 5).await;
    assert_eq!(missing(stores, &second).await, ["x"]);
    delete(stores, pair, 6).await;
    let third = take(stores, 6).await;
    assert_writes_nothing(stores, &second, 7).await;
    assert!(stores.tasks.heartbeat(&third, at(8), MINUTE).await.unwrap());
}

/// From when it is prolonged.
pub async fn a_lease_of_a_task_that_is_prolonged_holds(stores: &Stores) {
    let pair = active(stores, "a", &["x"]).await;
    delete(stores, pair, 0).await;
    let claimed = take(stores, 0).await;
    assert_eq!(claimed.task.leased_until, Some(at(60)));
    for second in [50, 100, 150] {
        assert!(stores.tasks.heartbeat(&claimed, at(second), MINUTE).await.unwrap());
        assert!(task(stores, pair).await.unwrap().is_held(at(second + 59)));
        assert_eq!(stores.tasks.claim(at(second + 59), MINUTE, 1).await.unwrap(), []);
    }
    assert!(!task(stores, pair).await.unwrap().is_held(at(211)));
    take(stores, 211).await;
}

/// With its error to be seen, and tries that a step that succeeds ends.
pub async fn a_task_that_waits_is_not_claimed_before_its_time(stores: &Stores) {
    let pair = active(stores, "a", &["x"]).await;
    prune(stores, pair, 0).await;
    for tries in 1..=2_u32 {
        let second = i64::from(tries) * 100;
        let claimed = take(stores, second).await;
        let put_back =
            stores.tasks.put_back(&claimed, "no\0answer", at(second + 30), at(second)).await;
        assert!(put_back.unwrap());
        let now = task(stores, pair).await.unwrap();
        assert_eq!((now.tries, now.retry_at), (tries, Some(at(second + 30))));
        assert_eq!(now.error.as_deref(), Some("no\u{fffd}answer"));
        assert!(!now.is_held(at(second)));
        assert_eq!(stores.tasks.claim(at(second + 29), MINUTE, 1).await.unwrap(), []);
        assert!(!stores.tasks.heartbeat(&claimed, at(second), MINUTE).await.unwrap());
    }
    let claimed = take(stores, 230).await;
    assert_eq!((claimed.task.tries, claimed.task.retry_at), (2, None));
    list(stores, &claimed, &["x"], 231).await;
    let now = task(stores, pair).await.unwrap();
    assert_eq!((now.tries, now.error, now.updated_at), (0, None, at(231)));
}

/// Nobody waits for a lease when a process ends in order.
pub async fn a_released_task_is_free_at_once(stores: &Stores) {
    let pair = active(stores, "a", &["x"]).await;
    delete(stores, pair, 0).await;
    let first = take(stores, 0).await;
    stores.tasks.release(&first, at(1)).await.unwrap();
    assert!(!stores.tasks.heartbeat(&first, at(1), MINUTE).await.unwrap());
    let second = take(stores, 1).await;
    assert_eq!(second.task.id, first.task.id);
    assert!(unlink(stores, &first, &["x"]).await.is_none());
}

/// So that a large one leaves room for the others.
pub async fn tasks_that_waited_longest_come_first(stores: &Stores) {
    let mut pairs = Vec::new();
    for (second, name) in [(0, "a"), (1, "b"), (2, "c")] {
        let pair = scheduled(stores, name).await;
        delete(stores, pair, second).await;
        pairs.push(pair);
    }
    for (second, expected) in [(10, 0), (11, 1), (12, 2), (13, 0), (14, 1)] {
        let claimed = stores.tasks.claim(at(second), MINUTE, 1).await.unwrap().remove(0);
        assert_eq!(claimed.task.pair, pairs[expected], "at {second}");
        stores.tasks.release(&claimed, at(second)).await.unwrap();
    }
}

/// Of those pairs alone.
pub async fn tasks_of_pairs_are_found(stores: &Stores) {
    let (a, b) = (active(stores, "a", &[]).await, active(stores, "b", &[]).await);
    let idle = active(stores, "c", &[]).await;
    prune(stores, a, 1).await;
    delete(stores, b, 2).await;
    let found = stores.tasks.find(&[idle, b, CcPairId(4711), a, b]).await.unwrap();
    let found: Vec<_> = found.into_iter().map(|task| (task.pair, task.kind)).collect();
    assert_eq!(found, [(a, TaskKind::Prune), (b, TaskKind::Deletion)]);
    assert_eq!(stores.tasks.find(&[idle]).await.unwrap(), []);
}

/// A pair that nobody runs, or none, is not deleted and not pruned.
pub(crate) async fn refusals(stores: &Stores) -> [(CcPairId, PairRefusal); 2] {
    let by_hand = stores.pair("by hand", AccessType::Public, &[]).await;
    [(by_hand, PairRefusal::NotScheduled), (CcPairId(4711), PairRefusal::Missing)]
}

/// Begins a run that somebody asks for.
pub(crate) async fn run(stores: &Stores, pair: CcPairId, second: i64) {
    stores.attempts.set_trigger(&[pair], IndexingTrigger::Update).await.unwrap();
    begin(stores, pair, second).await;
}
