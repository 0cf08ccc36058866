//! What every [`IndexAttemptStore`](trove_domain::port::IndexAttemptStore) does.

mod ends;
mod work;

use std::collections::BTreeSet;
use std::time::Duration;

use futures::future::join_all;
use serde_json::json;
use trove_domain::cc_pair::{AccessType, CcPairStatus};
use trove_domain::id::{CcPairId, IndexAttemptId};
use trove_domain::indexing::IndexingTrigger;
use trove_domain::indexing::schedule::Schedule;
use trove_domain::port::{Checkpoint, ClaimedAttempt, RunBy, StepRecord};

pub use ends::*;
pub use work::*;

use crate::stores::{Stores, at};

/// Turns the suite into one test for each obligation. `$start` is a future of an `Option` of
/// something that dereferences to [`Stores`].
#[macro_export]
macro_rules! index_attempt_store_contract {
    ($start:expr) => {
        $crate::contract_suite!(
            index_attempt_store,
            $start,
            [
                pairs_that_are_scheduled_are_listed_with_what_decides,
                a_run_begins_once_whoever_tries,
                a_run_does_not_begin_on_what_has_changed,
                a_run_takes_the_trigger_back,
                only_pairs_that_do_not_run_are_asked,
                an_attempt_has_one_worker,
                an_abandoned_attempt_is_taken_over_and_its_worker_writes_nothing,
                a_lease_that_is_prolonged_holds,
                a_step_is_recorded_whole,
                the_source_goes_on_where_the_last_step_ended,
                an_attempt_of_a_busy_source_is_not_claimed,
                an_attempt_that_waits_is_not_claimed_before_its_time,
                a_released_attempt_is_free_at_once,
                those_that_waited_longest_come_first,
                errors_are_resolved_by_what_is_indexed,
                errors_are_listed_newest_first,
                a_success_makes_the_pair_active,
                errors_do_not_move_the_window,
                an_interrupted_run_resumes_from_its_checkpoint,
                a_complete_run_leaves_no_checkpoint,
                a_run_begins_anew_when_its_worker_says_so,
                a_success_carries_over_where_the_next_run_begins,
                five_failures_in_a_row_make_a_failing_pair,
                one_failure_is_enough_where_nothing_tries_again,
                five_invalid_runs_in_a_row_make_an_invalid_pair,
                a_running_attempt_is_asked_to_stop,
                a_waiting_attempt_stops_at_once,
                a_pause_stops_the_attempt_of_the_pair,
                an_attempt_that_was_asked_to_stop_says_so_to_whoever_takes_it_over,
                old_attempts_go_but_for_the_latest,
                the_latest_runs_of_pairs,
                a_removed_pair_takes_its_attempts_along,
            ]
        );
    };
}

pub(crate) const MINUTE: Duration = Duration::from_mins(1);

/// A pair that the schedule runs every hour.
pub(crate) async fn scheduled(stores: &Stores, name: &str) -> CcPairId {
    let pair = stores.pair(name, AccessType::Public, &[]).await;
    stores.pairs.set_schedule(pair, RunBy::Schedule, Some(3600)).await.unwrap();
    pair
}

pub(crate) async fn schedule(stores: &Stores, pair: CcPairId) -> Schedule {
    let all = stores.attempts.schedules(None, 1000).await.unwrap();
    all.into_iter().find(|(id, _)| *id == pair).unwrap().1
}

/// Begins the run that is due at this second.
pub(crate) async fn begin(stores: &Stores, pair: CcPairId, second: i64) -> IndexAttemptId {
    let schedule = schedule(stores, pair).await;
    let plan = schedule.due(at(second)).unwrap();
    stores.attempts.begin(pair, &schedule, plan, at(second)).await.unwrap().unwrap()
}

/// Takes the one attempt that there is for a minute.
pub(crate) async fn claim(stores: &Stores, second: i64) -> ClaimedAttempt {
    let mut claimed =
        stores.attempts.claim(at(second), MINUTE, 10, &BTreeSet::new()).await.unwrap();
    assert_eq!(claimed.len(), 1, "{claimed:?}");
    claimed.remove(0)
}

/// The step that ends at a checkpoint.
pub(crate) fn to(checkpoint: &str) -> StepRecord {
    StepRecord { checkpoint: Some(Checkpoint(json!(checkpoint))), ..StepRecord::default() }
}

/// Those that are read by a command or posted to are left out.
pub async fn pairs_that_are_scheduled_are_listed_with_what_decides(stores: &Stores) {
    stores.pair("by hand", AccessType::Public, &[]).await;
    let (a, b) = (scheduled(stores, "a").await, scheduled(stores, "b").await);
    let expected = Schedule {
        status: CcPairStatus::Scheduled,
        is_scheduled: true,
        trigger: None,
        refresh_freq_s: Some(3600),
        indexing_start: None,
        in_repeated_error_state: false,
        last: None,
        last_success_end: None,
    };
    let listed = stores.attempts.schedules(None, 10).await.unwrap();
    assert_eq!(listed, [(a, expected), (b, expected)]);
    assert_eq!(stores.attempts.schedules(None, 1).await.unwrap(), [(a, expected)]);
    assert_eq!(stores.attempts.schedules(Some(a), 9).await.unwrap(), [(b, expected)]);
}

/// However many schedulers there are.
pub async fn a_run_begins_once_whoever_tries(stores: &Stores) {
    let pair = scheduled(stores, "a").await;
    let schedule = schedule(stores, pair).await;
    let plan = schedule.due(at(0)).unwrap();
    let tries = (0..8).map(|_| stores.attempts.begin(pair, &schedule, plan, at(0)));
    let begun = join_all(tries).await.into_iter().filter_map(Result::unwrap);
    assert_eq!(begun.count(), 1);
    let listed = stores.attempts.list(pair, 0, 10).await.unwrap();
    assert_eq!(listed.total, 1);
    assert_eq!((listed.items[0].window, listed.items[0].created_at), (plan.window, at(0)));
    let pair = stores.pairs.get(pair).await.unwrap().unwrap();
    assert_eq!(pair.status, CcPairStatus::InitialIndexing);
}

/// Somebody paused it, or asked for something else, meanwhile.
pub async fn a_run_does_not_begin_on_what_has_changed(stores: &Stores) {
    let pair = scheduled(stores, "a").await;
    let before = schedule(stores, pair).await;
    let plan = before.due(at(0)).unwrap();
    stores.attempts.set_trigger(&[pair], IndexingTrigger::Reindex).await.unwrap();
    assert_eq!(stores.attempts.begin(pair, &before, plan, at(0)).await.unwrap(), None);
    assert_eq!(stores.attempts.begin(CcPairId(4711), &before, plan, at(0)).await.unwrap(), None);
    begin(stores, pair, 0).await;
}

/// One wish, one run. The last wish counts.
pub async fn a_run_takes_the_trigger_back(stores: &Stores) {
    let pair = scheduled(stores, "a").await;
    for trigger in [IndexingTrigger::Reindex, IndexingTrigger::Update, IndexingTrigger::Reindex] {
        assert_eq!(stores.attempts.set_trigger(&[pair], trigger).await.unwrap(), 1);
        assert_eq!(schedule(stores, pair).await.trigger, Some(trigger));
    }
    begin(stores, pair, 0).await;
    assert_eq!(schedule(stores, pair).await.trigger, None);
    assert!(stores.attempts.list(pair, 0, 1).await.unwrap().items[0].from_beginning);
}

/// One that runs is not counted, and one that is not there neither.
pub async fn only_pairs_that_do_not_run_are_asked(stores: &Stores) {
    let (a, b) = (scheduled(stores, "a").await, scheduled(stores, "b").await);
    begin(stores, a, 0).await;
    let pairs = [a, b, CcPairId(4711)];
    let asked = stores.attempts.set_trigger(&pairs, IndexingTrigger::Update).await.unwrap();
    assert_eq!(asked, 1);
    assert_eq!(schedule(stores, a).await.trigger, None);
    assert_eq!(schedule(stores, b).await.trigger, Some(IndexingTrigger::Update));
}
