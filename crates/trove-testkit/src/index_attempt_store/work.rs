//! What workers do.

use std::collections::BTreeSet;

use futures::future::join_all;
use serde_json::json;
use trove_domain::id::IndexAttemptId;
use trove_domain::indexing::{AttemptStatus, Progress, StopReason};
use trove_domain::port::{Checkpoint, Control, FailedPart, ReadWindow, SourceFailure, StepRecord};
use trove_domain::source::DocumentSource;

use super::{MINUTE, begin, claim, scheduled, to};
use crate::builders::document_id;
use crate::stores::{Stores, at};

fn failure(id: &str, message: &str) -> SourceFailure {
    let part = FailedPart::Document { id: document_id(id), link: Some("https://x".to_owned()) };
    SourceFailure { part, message: message.to_owned() }
}

/// However many there are.
pub async fn an_attempt_has_one_worker(stores: &Stores) {
    for name in ["a", "b", "c"] {
        begin(stores, scheduled(stores, name).await, 0).await;
    }
    let none = BTreeSet::new();
    let claims = join_all((0..6).map(|_| stores.attempts.claim(at(1), MINUTE, 2, &none))).await;
    let mut ids: Vec<IndexAttemptId> =
        claims.into_iter().flat_map(Result::unwrap).map(|claimed| claimed.attempt.id).collect();
    ids.sort_unstable();
    let count = ids.len();
    ids.dedup();
    assert_eq!((count, ids.len()), (3, 3));
    assert_eq!(stores.attempts.claim(at(2), MINUTE, 9, &BTreeSet::new()).await.unwrap(), []);
}

/// A crash or a hanging machine costs the lease and nothing else.
pub async fn an_abandoned_attempt_is_taken_over_and_its_worker_writes_nothing(stores: &Stores) {
    let pair = scheduled(stores, "a").await;
    begin(stores, pair, 0).await;
    let first = claim(stores, 0).await;
    assert_eq!(first.attempt.status, AttemptStatus::InProgress);
    assert_eq!(first.attempt.started_at, Some(at(0)));
    assert_eq!(
        stores.attempts.record_step(&first, to("1"), at(1), MINUTE).await.unwrap(),
        Control::Go
    );
    let second = claim(stores, 62).await;
    assert_eq!(second.attempt.id, first.attempt.id);
    assert_eq!(second.checkpoint, Some(Checkpoint(json!("1"))));
    assert_eq!(second.attempt.started_at, Some(at(0)));
    let store = &stores.attempts;
    let lost = [
        store.record_step(&first, to("2"), at(63), MINUTE).await.unwrap(),
        store.heartbeat(&first, at(63), MINUTE).await.unwrap(),
        store.put_back(&first, "x", at(64), at(63)).await.unwrap(),
        store.finish(&first, super::success(), at(63), at(0)).await.unwrap(),
    ];
    assert_eq!(lost, [Control::Lost; 4]);
    store.release(&first, at(63)).await.unwrap();
    assert_eq!(
        store.claim(at(64), MINUTE, 9, &BTreeSet::new()).await.unwrap(),
        [],
        "it is the second one's"
    );
    let now = store.list(pair, 0, 1).await.unwrap().items.remove(0);
    assert_eq!((now.steps, now.status), (1, AttemptStatus::InProgress));
    assert_eq!(store.record_step(&second, to("2"), at(64), MINUTE).await.unwrap(), Control::Go);
}

/// From when it is prolonged.
pub async fn a_lease_that_is_prolonged_holds(stores: &Stores) {
    begin(stores, scheduled(stores, "a").await, 0).await;
    let claimed = claim(stores, 0).await;
    for second in [50, 100, 150] {
        let control = stores.attempts.heartbeat(&claimed, at(second), MINUTE).await.unwrap();
        assert_eq!(control, Control::Go);
        assert_eq!(
            stores.attempts.claim(at(second + 59), MINUTE, 1, &BTreeSet::new()).await.unwrap(),
            []
        );
    }
    claim(stores, 211).await;
}

/// Progress, errors and checkpoint.
pub async fn a_step_is_recorded_whole(stores: &Stores) {
    let pair = scheduled(stores, "a").await;
    begin(stores, pair, 0).await;
    let claimed = claim(stores, 0).await;
    let progress =
        Progress { enumerated: 15, new: 1, updated: 2, unchanged: 3, skipped: 4, failed: 5 };
    let window = Some(ReadWindow { start: at(1), end: at(2) });
    let entity = FailedPart::Entity { id: "folder ключ".to_owned(), window };
    let failures =
        vec![failure("d", "broken\0"), SourceFailure { part: entity, message: String::new() }];
    let step = StepRecord { progress, failures: failures.clone(), ..to("1") };
    for times in [1, 2] {
        let recorded = stores.attempts.record_step(&claimed, step.clone(), at(5), MINUTE).await;
        assert_eq!(recorded.unwrap(), Control::Go);
        let now = stores.attempts.list(pair, 0, 1).await.unwrap().items.remove(0);
        assert_eq!((now.steps, now.updated_at), (times, at(5)));
        let times = u64::from(times);
        assert_eq!((now.progress.enumerated, now.progress.failed), (15 * times, 5 * times));
        assert_eq!((now.progress.new, now.progress.updated), (times, 2 * times));
        assert_eq!((now.progress.unchanged, now.progress.skipped), (3 * times, 4 * times));
    }
    let errors = stores.attempts.list_errors(pair, false, 0, 10).await.unwrap();
    assert_eq!(errors.total, 4);
    let last = &errors.items[0];
    assert_eq!((last.attempt, last.pair, last.resolved), (claimed.attempt.id, pair, false));
    assert_eq!((&last.failure, last.created_at), (&failures[1], at(5)));
    let document = &errors.items[1].failure;
    assert_eq!(document.part, failures[0].part);
    assert_eq!(document.message, "broken\u{fffd}");
}

/// And at its beginning, when everything was read.
pub async fn the_source_goes_on_where_the_last_step_ended(stores: &Stores) {
    begin(stores, scheduled(stores, "a").await, 0).await;
    let claimed = claim(stores, 0).await;
    assert_eq!(claimed.checkpoint, None);
    for (second, step, expected) in [
        (1, to("1"), Some(Checkpoint(json!("1")))),
        (2, to("2"), Some(Checkpoint(json!("2")))),
        (3, StepRecord::default(), None),
    ] {
        let now = claim_again(stores, second).await;
        stores.attempts.record_step(&now, step, at(second), MINUTE).await.unwrap();
        stores.attempts.release(&now, at(second)).await.unwrap();
        let now = claim(stores, second).await;
        assert_eq!(now.checkpoint, expected);
        stores.attempts.release(&now, at(second)).await.unwrap();
    }
}

/// Whoever holds it.
async fn claim_again(stores: &Stores, second: i64) -> trove_domain::port::ClaimedAttempt {
    match stores.attempts.claim(at(second), MINUTE, 1, &BTreeSet::new()).await.unwrap().pop() {
        Some(claimed) => claimed,
        None => claim(stores, second + 61).await,
    }
}

/// With its error to be seen, and tries that a step that succeeds ends.
pub async fn an_attempt_that_waits_is_not_claimed_before_its_time(stores: &Stores) {
    let pair = scheduled(stores, "a").await;
    begin(stores, pair, 0).await;
    for tries in 1..=2_u32 {
        let second = i64::from(tries) * 100;
        let claimed = claim(stores, second).await;
        let control =
            stores.attempts.put_back(&claimed, "no answer", at(second + 30), at(second)).await;
        assert_eq!(control.unwrap(), Control::Go);
        let now = stores.attempts.list(pair, 0, 1).await.unwrap().items.remove(0);
        assert_eq!((now.tries, now.retry_at), (tries, Some(at(second + 30))));
        assert_eq!(now.error.as_deref(), Some("no answer"));
        assert_eq!(now.status, AttemptStatus::InProgress);
        assert_eq!(
            stores.attempts.claim(at(second + 29), MINUTE, 1, &BTreeSet::new()).await.unwrap(),
            []
        );
    }
    let claimed = claim(stores, 230).await;
    assert_eq!((claimed.attempt.tries, claimed.attempt.retry_at), (2, None));
    stores.attempts.record_step(&claimed, to("1"), at(231), MINUTE).await.unwrap();
    let now = stores.attempts.list(pair, 0, 1).await.unwrap().items.remove(0);
    assert_eq!((now.tries, now.error), (0, None));
}

/// Nobody waits for a lease when a process ends in order.
pub async fn a_released_attempt_is_free_at_once(stores: &Stores) {
    begin(stores, scheduled(stores, "a").await, 0).await;
    let first = claim(stores, 0).await;
    stores.attempts.release(&first, at(1)).await.unwrap();
    let second = claim(stores, 1).await;
    assert_eq!(second.attempt.id, first.attempt.id);
    let late = stores.attempts.record_step(&first, to("1"), at(2), MINUTE).await.unwrap();
    assert_eq!(late, Control::Lost);
}

/// Others are.
pub async fn an_attempt_of_a_busy_source_is_not_claimed(stores: &Stores) {
    begin(stores, scheduled(stores, "a").await, 0).await;
    let source = claim(stores, 0).await;
    stores.attempts.release(&source, at(1)).await.unwrap();
    let claim = async |busy| stores.attempts.claim(at(2), MINUTE, 9, &busy).await.unwrap();
    assert_eq!(claim([source.source].into()).await, []);
    let other = DocumentSource::Slack;
    assert_ne!(source.source, other);
    assert_eq!(claim([other].into()).await.len(), 1);
}

/// So that a large source leaves room for the others.
pub async fn those_that_waited_longest_come_first(stores: &Stores) {
    let mut ids = Vec::new();
    for (second, name) in [(0, "a"), (1, "b"), (2, "c")] {
        ids.push(begin(stores, scheduled(stores, name).await, second).await);
    }
    for (second, expected) in [(10, 0), (11, 1), (12, 2), (13, 0), (14, 1)] {
        let claimed =
            stores.attempts.claim(at(second), MINUTE, 1, &BTreeSet::new()).await.unwrap().remove(0);
        assert_eq!(claimed.attempt.id, ids[expected], "at {second}");
        stores.attempts.record_step(&claimed, to("x"), at(second), MINUTE).await.unwrap();
        stores.attempts.release(&claimed, at(second)).await.unwrap();
    }
}

/// Of this pair alone.
pub async fn errors_are_resolved_by_what_is_indexed(stores: &Stores) {
    let (a, b) = (scheduled(stores, "a").await, scheduled(stores, "b").await);
    for pair in [a, b] {
        begin(stores, pair, 0).await;
        let claimed = claim(stores, 0).await;
        let failures = vec![failure("x", ""), failure("y", "")];
        let step = StepRecord { failures, ..to("1") };
        stores.attempts.record_step(&claimed, step, at(1), MINUTE).await.unwrap();
        if pair == a {
            let step = StepRecord { indexed: vec![document_id("x")], ..to("2") };
            stores.attempts.record_step(&claimed, step, at(2), MINUTE).await.unwrap();
        }
    }
    let count = async |pair, all| stores.attempts.list_errors(pair, all, 0, 9).await.unwrap().total;
    assert_eq!((count(a, false).await, count(a, true).await), (1, 2));
    assert_eq!((count(b, false).await, count(b, true).await), (2, 2));
}

/// In pages.
pub async fn errors_are_listed_newest_first(stores: &Stores) {
    let pair = scheduled(stores, "a").await;
    begin(stores, pair, 0).await;
    let claimed = claim(stores, 0).await;
    let failures = ["1", "2", "3", "4", "5"].map(|id| failure(id, id)).to_vec();
    let step = StepRecord { failures, ..to("1") };
    stores.attempts.record_step(&claimed, step, at(1), MINUTE).await.unwrap();
    let page = async |offset, limit| {
        let page = stores.attempts.list_errors(pair, false, offset, limit).await.unwrap();
        assert_eq!(page.total, 5);
        page.items.into_iter().map(|error| error.failure.message).collect::<Vec<_>>().concat()
    };
    assert_eq!(page(0, 2).await, "54");
    assert_eq!(page(2, 9).await, "321");
    assert_eq!(page(9, 9).await, "");
}

/// It learns so with its next word, and what it has done is recorded all the same.
pub async fn a_running_attempt_is_asked_to_stop(stores: &Stores) {
    let pair = scheduled(stores, "a").await;
    begin(stores, pair, 0).await;
    let claimed = claim(stores, 0).await;
    let store = &stores.attempts;
    assert!(store.request_stop(pair, StopReason::Paused, at(1)).await.unwrap());
    let stop = Control::Stop(StopReason::Paused);
    assert_eq!(store.heartbeat(&claimed, at(2), MINUTE).await.unwrap(), stop);
    assert_eq!(store.record_step(&claimed, to("1"), at(3), MINUTE).await.unwrap(), stop);
    let now = store.list(pair, 0, 1).await.unwrap().items.remove(0);
    assert_eq!((now.stop, now.steps), (Some(StopReason::Paused), 1));
    assert_eq!(now.status, AttemptStatus::InProgress);
}

/// Who waits ends at once, and does not end the pair's next run when the pair goes on.
pub async fn a_pause_stops_the_attempt_of_the_pair(stores: &Stores) {
    let (waits, runs) = (scheduled(stores, "a").await, scheduled(stores, "b").await);
    begin(stores, runs, 0).await;
    let claimed = claim(stores, 0).await;
    begin(stores, waits, 0).await;
    for pair in [waits, runs] {
        assert_eq!(stores.pairs.set_paused(pair, true, at(1)).await.unwrap(), Ok(()));
    }
    let now = stores.attempts.list(waits, 0, 1).await.unwrap().items.remove(0);
    assert_eq!((now.status, now.stop), (AttemptStatus::Canceled, Some(StopReason::Paused)));
    let control = stores.attempts.heartbeat(&claimed, at(2), MINUTE).await.unwrap();
    assert_eq!(control, Control::Stop(StopReason::Paused));
    assert_eq!(stores.pairs.set_paused(waits, false, at(3)).await.unwrap(), Ok(()));
    begin(stores, waits, 4000).await;
    let next = stores.attempts.list(waits, 0, 1).await.unwrap().items.remove(0);
    assert_eq!((next.status, next.stop), (AttemptStatus::NotStarted, None));
}

/// Nobody has to take it first.
pub async fn a_waiting_attempt_stops_at_once(stores: &Stores) {
    let (a, b) = (scheduled(stores, "a").await, scheduled(stores, "b").await);
    begin(stores, a, 0).await;
    let claimed = claim(stores, 0).await;
    stores.attempts.put_back(&claimed, "x", at(99), at(1)).await.unwrap();
    begin(stores, b, 0).await;
    for pair in [a, b] {
        assert!(stores.attempts.request_stop(pair, StopReason::Deleting, at(2)).await.unwrap());
        let now = stores.attempts.list(pair, 0, 1).await.unwrap().items.remove(0);
        assert_eq!((now.status, now.stop), (AttemptStatus::Canceled, Some(StopReason::Deleting)));
        assert_eq!(now.error.as_deref(), Some("Canceled by user"));
        let again = stores.attempts.request_stop(pair, StopReason::Deleting, at(2)).await.unwrap();
        assert!(!again, "there is nothing to stop");
    }
    assert_eq!(stores.attempts.claim(at(200), MINUTE, 9, &BTreeSet::new()).await.unwrap(), []);
}

/// Its worker was lost before it saw the wish.
pub async fn an_attempt_that_was_asked_to_stop_says_so_to_whoever_takes_it_over(stores: &Stores) {
    let pair = scheduled(stores, "a").await;
    begin(stores, pair, 0).await;
    claim(stores, 0).await;
    assert!(stores.attempts.request_stop(pair, StopReason::Paused, at(1)).await.unwrap());
    let second = claim(stores, 61).await;
    assert_eq!(second.attempt.stop, Some(StopReason::Paused));
}
