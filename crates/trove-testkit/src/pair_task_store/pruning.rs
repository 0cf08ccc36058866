//! Prunings.

use futures::future::join_all;
use serde_json::json;
use trove_domain::cc_pair::{AccessType, CcPairStatus};
use trove_domain::id::CcPairId;
use trove_domain::indexing::AttemptStatus;
use trove_domain::indexing::pruning::PruneSchedule;
use trove_domain::indexing::task::TaskKind;
use trove_domain::port::{
    AttemptEnd, Checkpoint, ListingStep, PairRefusal, StepRecord, TaskEnd, Unlinked,
};

use super::{
    MINUTE, active, delete, list, listing, missing, prune, refusals, run, schedule, status, take,
    task, unlink,
};
use crate::index_attempt_store::{claim, scheduled};
use crate::stores::{Stores, at, document_ids, start_of_time};

/// Sets how often the connector of a pair is pruned.
async fn frequency(stores: &Stores, pair: CcPairId, seconds: Option<i32>) {
    let connector = stores.pairs.get(pair).await.unwrap().unwrap().connector;
    let present = stores.connectors.get(connector).await.unwrap().unwrap().details;
    let mut details = present.clone();
    details.prune_freq_s = seconds;
    stores.connectors.replace(connector, &present, details, at(0)).await.unwrap().unwrap();
}

/// Those for which it could be due.
pub async fn pairs_that_may_be_pruned_are_listed_with_what_decides(stores: &Stores) {
    stores.pair("by hand", AccessType::Public, &[]).await;
    let waits = scheduled(stores, "waits").await;
    let (a, b) = (active(stores, "a", &[]).await, active(stores, "b", &[]).await);
    assert_eq!(stores.tasks.prune_schedules(None, 9).await.unwrap(), []);
    for pair in [waits, a] {
        frequency(stores, pair, Some(300)).await;
    }
    stores.tasks.request_prune(b, false).await.unwrap().unwrap();
    let pruned_now_and_then = PruneSchedule {
        status: CcPairStatus::Active,
        is_scheduled: true,
        is_requested: false,
        prune_freq_s: Some(300),
        was_indexed: true,
        last: start_of_time(),
        is_indexing: false,
        has_task: false,
    };
    let asked = PruneSchedule { is_requested: true, prune_freq_s: None, ..pruned_now_and_then };
    let all = [(a, pruned_now_and_then), (b, asked)];
    assert_eq!(stores.tasks.prune_schedules(None, 9).await.unwrap(), all);
    assert_eq!(stores.tasks.prune_schedules(None, 1).await.unwrap(), all[..1]);
    assert_eq!(stores.tasks.prune_schedules(Some(a), 9).await.unwrap(), all[1..]);
    run(stores, b, 1).await;
    assert!(schedule(stores, b).await.unwrap().is_indexing);
    assert!(stores.tasks.begin_prune(a, &pruned_now_and_then, at(400)).await.unwrap());
    assert!(schedule(stores, a).await.unwrap().has_task);
}

/// However many schedulers there are.
pub async fn a_pruning_begins_once_whoever_tries(stores: &Stores) {
    let pair = active(stores, "a", &[]).await;
    stores.tasks.request_prune(pair, false).await.unwrap().unwrap();
    let schedule = schedule(stores, pair).await.unwrap();
    let tries = (0..8).map(|_| stores.tasks.begin_prune(pair, &schedule, at(1)));
    let begun = join_all(tries).await.into_iter().map(Result::unwrap).filter(|begun| *begun);
    assert_eq!(begun.count(), 1);
    let begun = task(stores, pair).await.unwrap();
    assert_eq!((begun.kind, begun.created_at), (TaskKind::Prune, at(1)));
}

/// A run has begun, or somebody paused the pair, meanwhile.
pub async fn a_pruning_does_not_begin_on_what_has_changed(stores: &Stores) {
    let (a, b) = (active(stores, "a", &[]).await, active(stores, "b", &[]).await);
    for pair in [a, b] {
        stores.tasks.request_prune(pair, false).await.unwrap().unwrap();
    }
    let before = schedule(stores, a).await.unwrap();
    assert_eq!(schedule(stores, b).await, Some(before));
    run(stores, a, 1).await;
    stores.pairs.set_paused(b, true, at(1)).await.unwrap().unwrap();
    for pair in [a, b, CcPairId(4711)] {
        assert!(!stores.tasks.begin_prune(pair, &before, at(2)).await.unwrap());
        assert_eq!(task(stores, pair).await, None);
    }
}

/// Also while the pair is paused.
pub async fn a_request_stays_until_a_pruning_begins(stores: &Stores) {
    let pair = active(stores, "a", &[]).await;
    stores.pairs.set_paused(pair, true, at(1)).await.unwrap().unwrap();
    for _ in 0..2 {
        stores.tasks.request_prune(pair, false).await.unwrap().unwrap();
    }
    assert_eq!(schedule(stores, pair).await, None);
    stores.pairs.set_paused(pair, false, at(2)).await.unwrap().unwrap();
    let asked = schedule(stores, pair).await.unwrap();
    assert!(asked.is_requested);
    assert!(stores.tasks.begin_prune(pair, &asked, at(3)).await.unwrap());
    let claimed = take(stores, 4).await;
    assert_eq!(stores.tasks.finish(&claimed, &[], at(5)).await.unwrap(), TaskEnd::Done);
    assert_eq!(schedule(stores, pair).await, None, "one wish, one pruning");
}

/// What changed after it had begun needs another one.
pub async fn a_pruning_is_asked_for_where_a_schedule_runs_the_pair(stores: &Stores) {
    for (pair, refusal) in refusals(stores).await {
        assert_eq!(stores.tasks.request_prune(pair, true).await.unwrap(), Err(refusal));
    }
    let pair = active(stores, "a", &[]).await;
    prune(stores, pair, 1).await;
    let refused = stores.tasks.request_prune(pair, false).await.unwrap();
    assert_eq!(refused, Err(PairRefusal::Pruning));
    stores.tasks.request_prune(pair, true).await.unwrap().unwrap();
    let claimed = take(stores, 2).await;
    assert_eq!(stores.tasks.finish(&claimed, &[], at(3)).await.unwrap(), TaskEnd::Done);
    assert!(schedule(stores, pair).await.unwrap().is_requested, "it was asked for again");
    delete(stores, pair, 4).await;
    let refused = stores.tasks.request_prune(pair, true).await.unwrap();
    assert_eq!(refused, Err(PairRefusal::Deleting));
}

/// Whatever was listed by then.
pub async fn nothing_is_missing_before_everything_was_listed(stores: &Stores) {
    let pair = active(stores, "a", &["x", "y"]).await;
    prune(stores, pair, 1).await;
    let first = take(stores, 1).await;
    assert_eq!((first.checkpoint.as_ref(), first.listed), (None, false));
    let next = Some(Checkpoint(json!({"page": 2})));
    let step = ListingStep { ids: document_ids(&["x"]), next: next.clone() };
    assert!(stores.tasks.record_listing(&first, &step, at(2), MINUTE).await.unwrap());
    assert_eq!(missing(stores, &first).await, [""; 0]);
    assert_eq!(unlink(stores, &first, &["y"]).await, Some(vec![Unlinked::NotLinked]));
    stores.tasks.release(&first, at(3)).await.unwrap();
    let second = take(stores, 3).await;
    assert_eq!((&second.checkpoint, second.listed), (&next, false));
    let last = listing(&[]);
    assert!(stores.tasks.record_listing(&second, &last, at(4), MINUTE).await.unwrap());
    assert_eq!(missing(stores, &second).await, ["y"]);
    stores.tasks.release(&second, at(5)).await.unwrap();
    let third = take(stores, 5).await;
    assert_eq!((third.checkpoint, third.listed), (None, true));
}

/// Of this pair; in pages.
pub async fn what_is_not_listed_is_missing(stores: &Stores) {
    let other = active(stores, "b", &["1", "z"]).await;
    let pair = active(stores, "a", &["1", "2", "3", "4"]).await;
    prune(stores, pair, 1).await;
    let claimed = take(stores, 1).await;
    list(stores, &claimed, &["3", "3", "elsewhere", "z"], 2).await;
    assert_eq!(missing(stores, &claimed).await, ["1", "2", "4"]);
    let page = stores.tasks.to_unlink(&claimed, Some(&document_ids(&["1"])[0]), 1).await.unwrap();
    assert_eq!(page, document_ids(&["2"]));
    let ids = ["4", "3", "1", "z", "2", "2"];
    let taken = unlink(stores, &claimed, &ids).await.unwrap();
    let (gone, kept) = (Unlinked::Orphaned, Unlinked::NotLinked);
    assert_eq!(taken[..5], [gone, kept, Unlinked::StillHeld, kept, gone]);
    assert_eq!(missing(stores, &claimed).await, [""; 0]);
    assert_eq!(stores.dirty().await, ["1", "2", "4"]);
    let left = stores.documents.get(&document_ids(&["1", "3", "2"])).await.unwrap();
    assert_eq!(left[0].as_ref().unwrap().cc_pairs, [other]);
    assert_eq!(left[1].as_ref().unwrap().cc_pairs, [pair]);
    assert_eq!(left[2], None);
}

/// New, changed, or unchanged: it is there.
pub async fn what_is_indexed_meanwhile_is_not_missing(stores: &Stores) {
    let pair = active(stores, "a", &["changed", "gone", "same"]).await;
    prune(stores, pair, 1).await;
    let claimed = take(stores, 1).await;
    run(stores, pair, 2).await;
    let attempt = claim(stores, 2).await;
    list(stores, &claimed, &[], 3).await;
    assert_eq!(missing(stores, &claimed).await, ["changed", "gone", "same"]);
    stores.index(pair, &["changed", "new"]).await;
    let indexed = document_ids(&["same", "changed", "new"]);
    let step = StepRecord { indexed, ..StepRecord::default() };
    stores.attempts.record_step(&attempt, step, at(4), MINUTE).await.unwrap();
    assert_eq!(missing(stores, &claimed).await, ["gone"]);
    let taken = unlink(stores, &claimed, &["changed", "gone", "new", "same"]).await.unwrap();
    let kept = Unlinked::NotLinked;
    assert_eq!(taken, [kept, Unlinked::Orphaned, kept, kept]);
}

/// What was there then may be gone now.
pub async fn an_earlier_pruning_has_listed_nothing(stores: &Stores) {
    let pair = active(stores, "a", &["x", "y"]).await;
    for (second, there, gone) in [(10, vec!["x", "y"], vec![]), (20, vec!["y"], vec!["x"])] {
        prune(stores, pair, second).await;
        let claimed = take(stores, second).await;
        list(stores, &claimed, &there, second).await;
        assert_eq!(missing(stores, &claimed).await, gone);
        let end = stores.tasks.finish(&claimed, &[], at(second)).await.unwrap();
        assert_eq!(end, TaskEnd::Done);
    }
}

/// For whoever has to tell the index.
pub async fn what_was_unlinked_is_remembered(stores: &Stores) {
    let pair = active(stores, "a", &["x", "y", "z"]).await;
    prune(stores, pair, 1).await;
    let claimed = take(stores, 1).await;
    assert_eq!(claimed.unlinked, []);
    list(stores, &claimed, &["z"], 2).await;
    unlink(stores, &claimed, &["x", "z"]).await.unwrap();
    stores.tasks.put_back(&claimed, "no index", at(3), at(3)).await.unwrap();
    let second = take(stores, 200).await;
    assert_eq!((&second.unlinked, second.listed), (&document_ids(&["x"]), true));
    unlink(stores, &second, &["y"]).await.unwrap();
    stores.tasks.release(&second, at(201)).await.unwrap();
    assert_eq!(take(stores, 201).await.unlinked, document_ids(&["y"]));
}

/// The next one is due from then on.
pub async fn a_pruned_pair_says_since_when(stores: &Stores) {
    let pair = active(stores, "a", &["x"]).await;
    frequency(stores, pair, Some(300)).await;
    prune(stores, pair, 1).await;
    let claimed = take(stores, 1).await;
    assert_eq!(stores.tasks.finish(&claimed, &[], at(50)).await.unwrap(), TaskEnd::Done);
    assert_eq!(task(stores, pair).await, None);
    assert_eq!(schedule(stores, pair).await.unwrap().last, at(50));
    assert_eq!(stores.tasks.finish(&claimed, &[], at(60)).await.unwrap(), TaskEnd::Lost);
    assert_eq!(schedule(stores, pair).await.unwrap().last, at(50));
}

/// Row 60: and takes nothing away from then on.
pub async fn a_pause_ends_a_pruning_which_is_asked_for_again(stores: &Stores) {
    let pair = active(stores, "a", &["x"]).await;
    prune(stores, pair, 1).await;
    let claimed = take(stores, 1).await;
    list(stores, &claimed, &[], 2).await;
    stores.pairs.set_paused(pair, true, at(3)).await.unwrap().unwrap();
    assert_eq!(task(stores, pair).await, None);
    assert!(!stores.tasks.heartbeat(&claimed, at(4), MINUTE).await.unwrap());
    assert!(unlink(stores, &claimed, &["x"]).await.is_none());
    assert_eq!(missing(stores, &claimed).await, [""; 0]);
    assert_eq!(stores.dirty().await, [""; 0]);
    stores.pairs.set_paused(pair, false, at(5)).await.unwrap().unwrap();
    assert!(schedule(stores, pair).await.unwrap().is_requested);
}

/// Nor is one that is being pruned pruned further.
pub async fn an_invalid_pair_is_not_pruned(stores: &Stores) {
    let pair = active(stores, "a", &["x"]).await;
    prune(stores, pair, 1).await;
    let claimed = take(stores, 1).await;
    for second in 2..7 {
        run(stores, pair, second).await;
        let attempt = claim(stores, second).await;
        let end = AttemptEnd {
            status: AttemptStatus::Canceled,
            error: None,
            is_invalid: true,
            carry: None,
        };
        stores.attempts.finish(&attempt, end, at(second), at(0)).await.unwrap();
    }
    assert_eq!(status(stores, pair).await, CcPairStatus::Invalid);
    assert_eq!(task(stores, pair).await, None);
    assert!(!stores.tasks.heartbeat(&claimed, at(9), MINUTE).await.unwrap());
}
