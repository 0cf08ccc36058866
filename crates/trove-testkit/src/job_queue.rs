//! What every [`JobQueue`](trove_domain::port::JobQueue) does.

use std::collections::BTreeSet;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use futures::future::join_all;
use serde_json::json;
use trove_domain::job::{AfterFailure, ClaimedJob, NewJob};

use crate::stores::{Stores, at, new_job};

/// Turns the suite into one test for each obligation. `$start` is a future of an `Option` of
/// something that dereferences to [`Stores`].
#[macro_export]
macro_rules! job_queue_contract {
    ($start:expr) => {
        $crate::contract_suite!(
            job_queue,
            $start,
            [
                a_job_is_claimed_as_it_was_enqueued,
                a_job_is_not_claimed_before_its_time,
                claims_are_ordered_by_time_then_by_age,
                a_claim_takes_at_most_limit_jobs,
                an_empty_queue_answers_nothing,
                queues_know_nothing_of_each_other,
                a_claimed_job_is_nobody_elses_until_the_lease_ends,
                of_concurrent_claims_no_two_get_one_job,
                an_abandoned_job_is_claimed_once,
                who_lost_the_lease_can_do_nothing_with_the_job,
                a_heartbeat_prolongs_the_lease,
                a_completed_job_is_gone,
                a_failed_job_is_tried_again_at_its_instant,
                a_parked_job_shows_its_error_and_is_not_claimed,
                parked_jobs_are_listed_oldest_first,
                a_waiting_job_keeps_its_key_to_itself,
                jobs_without_a_key_are_never_dropped,
                a_key_counts_for_one_queue_only,
                a_job_that_is_worked_on_does_not_keep_its_key,
                a_parked_job_does_not_keep_its_key,
                a_retry_with_a_waiting_twin_leaves_one_job,
                of_concurrent_jobs_with_one_key_one_is_enqueued,
                the_depth_counts_what_waits_and_what_is_worked_on,
            ]
        );
    };
}

const MINUTE: Duration = Duration::from_mins(1);

async fn enqueue(stores: &Stores, job: NewJob) {
    assert!(stores.jobs.enqueue(job).await.unwrap().is_some());
}

fn keyed(queue: &str, key: &str) -> NewJob {
    NewJob { deduplication_key: Some(key.to_owned()), ..new_job(queue, key) }
}

fn due(queue: &str, kind: &str, run_at: DateTime<Utc>) -> NewJob {
    NewJob { run_at, ..new_job(queue, kind) }
}

async fn claim(stores: &Stores, now: DateTime<Utc>, limit: u32) -> Vec<ClaimedJob> {
    stores.jobs.claim("q", now, MINUTE, limit).await.unwrap()
}

fn kinds(jobs: &[ClaimedJob]) -> Vec<&str> {
    jobs.iter().map(|job| job.kind.as_str()).collect()
}

/// With any payload.
pub async fn a_job_is_claimed_as_it_was_enqueued(stores: &Stores) {
    let payload = json!({ "ключ": ["O'Hara", null, 1.5, -7, true], "": { "%_\\\"": "\n日本" } });
    let job = NewJob { payload: payload.clone(), ..new_job("q", "kind") };
    let id = stores.jobs.enqueue(job).await.unwrap().unwrap();
    let now = at(3) + TimeDelta::microseconds(7);
    let expected =
        ClaimedJob { id, kind: "kind".to_owned(), payload, attempt: 1, leased_until: now + MINUTE };
    assert_eq!(claim(stores, now, 10).await, [expected]);
}

/// At its time it is.
pub async fn a_job_is_not_claimed_before_its_time(stores: &Stores) {
    let run_at = at(10) + TimeDelta::microseconds(1);
    enqueue(stores, due("q", "a", run_at)).await;
    assert_eq!(claim(stores, at(10), 10).await, []);
    assert_eq!(kinds(&claim(stores, run_at, 10).await), ["a"]);
}

/// Not by when they were enqueued.
pub async fn claims_are_ordered_by_time_then_by_age(stores: &Stores) {
    for (kind, run_at) in [("c", 3), ("d", 3), ("a", 1), ("e", 3), ("b", 2)] {
        enqueue(stores, due("q", kind, at(run_at))).await;
    }
    assert_eq!(kinds(&claim(stores, at(3), 4).await), ["a", "b", "c", "d"]);
    assert_eq!(kinds(&claim(stores, at(3), 4).await), ["e"]);
}

/// None for zero.
pub async fn a_claim_takes_at_most_limit_jobs(stores: &Stores) {
    for kind in ["a", "b", "c"] {
        enqueue(stores, new_job("q", kind)).await;
    }
    assert_eq!(claim(stores, at(0), 0).await, []);
    assert_eq!(claim(stores, at(0), 2).await.len(), 2);
    assert_eq!(claim(stores, at(0), 1000).await.len(), 1);
}

/// Whatever is asked of it.
pub async fn an_empty_queue_answers_nothing(stores: &Stores) {
    assert_eq!(claim(stores, at(0), 10).await, []);
    assert_eq!(stores.jobs.list_parked("q", 10).await.unwrap(), []);
    assert_eq!(stores.jobs.depth("q").await.unwrap(), 0);
}

/// Not even when one name begins like the other.
pub async fn queues_know_nothing_of_each_other(stores: &Stores) {
    enqueue(stores, new_job("q%", "a")).await;
    enqueue(stores, new_job("Q", "b")).await;
    assert_eq!(claim(stores, at(0), 10).await, []);
    assert_eq!(stores.claim("q%", at(0)).await.unwrap().kind, "a");
    assert_eq!(stores.claim("Q", at(0)).await.unwrap().kind, "b");
}

/// After it, it is anybody's, with another attempt counted.
pub async fn a_claimed_job_is_nobody_elses_until_the_lease_ends(stores: &Stores) {
    enqueue(stores, new_job("q", "a")).await;
    let first = claim(stores, at(0), 10).await.pop().unwrap();
    assert_eq!(first.leased_until, at(60));
    assert_eq!(claim(stores, at(1), 10).await, []);
    assert_eq!(claim(stores, at(60), 10).await, []);
    let second = claim(stores, at(61), 10).await.pop().unwrap();
    assert_eq!((second.id, second.attempt), (first.id, 2));
    assert_eq!(second.leased_until, at(121));
    assert_eq!(claim(stores, at(62), 10).await, []);
}

/// And none is left.
pub async fn of_concurrent_claims_no_two_get_one_job(stores: &Stores) {
    const JOBS: usize = 100;
    for n in 0..JOBS {
        enqueue(stores, new_job("q", &n.to_string())).await;
    }
    let worker = || async {
        let mut mine = Vec::new();
        loop {
            let jobs = claim(stores, at(0), 3).await;
            if jobs.is_empty() {
                return mine;
            }
            mine.extend(jobs.into_iter().map(|job| job.id));
        }
    };
    let claimed: Vec<_> = join_all((0..8).map(|_| worker())).await.into_iter().flatten().collect();
    // Who comes late to the last jobs may find them all taken, yet none may stay.
    let left = claim(stores, at(0), 1000).await.into_iter().map(|job| job.id);
    let claimed: Vec<_> = claimed.into_iter().chain(left).collect();
    assert_eq!(claimed.len(), JOBS);
    assert_eq!(claimed.into_iter().collect::<BTreeSet<_>>().len(), JOBS);
}

/// Also when everybody was waiting for it.
pub async fn an_abandoned_job_is_claimed_once(stores: &Stores) {
    enqueue(stores, new_job("q", "a")).await;
    claim(stores, at(0), 1).await.pop().unwrap();
    let claims = join_all((0..8).map(|_| claim(stores, at(100), 5))).await;
    assert_eq!(claims.into_iter().flatten().count(), 1);
}

/// The job stays with its new worker.
pub async fn who_lost_the_lease_can_do_nothing_with_the_job(stores: &Stores) {
    enqueue(stores, new_job("q", "a")).await;
    let lost = claim(stores, at(0), 1).await.pop().unwrap();
    let held = claim(stores, at(100), 1).await.pop().unwrap();
    assert!(!stores.jobs.heartbeat(&lost, at(101), MINUTE).await.unwrap());
    assert!(!stores.jobs.fail(&lost, "late", AfterFailure::Park).await.unwrap());
    let retry = AfterFailure::RetryAt(at(101));
    assert!(!stores.jobs.fail(&lost, "late", retry).await.unwrap());
    assert!(!stores.jobs.complete(&lost).await.unwrap());
    assert_eq!(claim(stores, at(160), 1).await, []);
    assert!(stores.jobs.heartbeat(&held, at(120), MINUTE).await.unwrap());
    assert!(stores.jobs.complete(&held).await.unwrap());
    assert!(!stores.jobs.complete(&held).await.unwrap());
    assert!(!stores.jobs.heartbeat(&held, at(121), MINUTE).await.unwrap());
    assert!(!stores.jobs.fail(&held, "gone", AfterFailure::Park).await.unwrap());
}

/// From the time of the heartbeat on; the same claim stays good for more.
pub async fn a_heartbeat_prolongs_the_lease(stores: &Stores) {
    enqueue(stores, new_job("q", "a")).await;
    let job = claim(stores, at(0), 1).await.pop().unwrap();
    for now in [50, 100, 150] {
        assert!(stores.jobs.heartbeat(&job, at(now), MINUTE).await.unwrap());
        assert_eq!(claim(stores, at(now + 60), 1).await, []);
    }
    assert_eq!(claim(stores, at(211), 1).await.len(), 1);
}

/// For good.
pub async fn a_completed_job_is_gone(stores: &Stores) {
    enqueue(stores, new_job("q", "a")).await;
    let job = claim(stores, at(0), 1).await.pop().unwrap();
    assert!(stores.jobs.complete(&job).await.unwrap());
    assert_eq!(claim(stores, at(1000), 1).await, []);
    assert_eq!(stores.jobs.depth("q").await.unwrap(), 0);
    assert_eq!(stores.jobs.list_parked("q", 10).await.unwrap(), []);
}

/// Not before, and with its attempts counted on.
pub async fn a_failed_job_is_tried_again_at_its_instant(stores: &Stores) {
    let payload = json!({ "a": 1 });
    enqueue(stores, NewJob { payload: payload.clone(), ..new_job("q", "a") }).await;
    for attempt in 1..4 {
        let now = at(i64::from(attempt) * 10);
        let job = claim(stores, now, 1).await.pop().unwrap();
        assert_eq!((job.attempt, &job.payload), (attempt, &payload));
        let retry = AfterFailure::RetryAt(now + TimeDelta::seconds(10));
        assert!(stores.jobs.fail(&job, "O'Hara: ошибка", retry).await.unwrap());
        assert_eq!(claim(stores, now + TimeDelta::seconds(9), 1).await, []);
    }
    assert_eq!(stores.jobs.depth("q").await.unwrap(), 1);
    assert_eq!(stores.jobs.list_parked("q", 10).await.unwrap(), []);
}

/// It does not count as work to do.
pub async fn a_parked_job_shows_its_error_and_is_not_claimed(stores: &Stores) {
    enqueue(stores, new_job("q", "a")).await;
    let job = claim(stores, at(0), 1).await.pop().unwrap();
    stores.jobs.fail(&job, "first", AfterFailure::RetryAt(at(1))).await.unwrap();
    let job = claim(stores, at(1), 1).await.pop().unwrap();
    assert!(stores.jobs.fail(&job, "O'Hara: 100% ошибка", AfterFailure::Park).await.unwrap());
    assert_eq!(claim(stores, at(10_000), 1).await, []);
    assert_eq!(stores.jobs.depth("q").await.unwrap(), 0);
    let parked = stores.jobs.list_parked("q", 10).await.unwrap().pop().unwrap();
    assert_eq!((parked.id, parked.kind.as_str(), parked.attempt), (job.id, "a", 2));
    assert_eq!(parked.error, "O'Hara: 100% ошибка");
    assert!(!stores.jobs.complete(&job).await.unwrap());
}

/// At most so many, and of one queue.
pub async fn parked_jobs_are_listed_oldest_first(stores: &Stores) {
    for kind in ["a", "b", "c"] {
        enqueue(stores, new_job("q", kind)).await;
    }
    enqueue(stores, new_job("other", "d")).await;
    let mut jobs = claim(stores, at(0), 3).await;
    jobs.reverse();
    jobs.extend(stores.claim("other", at(0)).await);
    for job in jobs {
        stores.jobs.fail(&job, "no", AfterFailure::Park).await.unwrap();
    }
    let parked = |limit| async move {
        let parked = stores.jobs.list_parked("q", limit).await.unwrap();
        parked.into_iter().map(|job| job.kind).collect::<Vec<_>>()
    };
    assert_eq!(parked(10).await, ["a", "b", "c"]);
    assert_eq!(parked(2).await, ["a", "b"]);
    assert!(parked(0).await.is_empty());
}

/// The first one stays as it is.
pub async fn a_waiting_job_keeps_its_key_to_itself(stores: &Stores) {
    enqueue(stores, keyed("q", "O'Hara")).await;
    let second = NewJob { kind: "second".to_owned(), ..keyed("q", "O'Hara") };
    assert_eq!(stores.jobs.enqueue(second).await.unwrap(), None);
    enqueue(stores, keyed("q", "o'hara")).await;
    assert_eq!(kinds(&claim(stores, at(0), 10).await), ["O'Hara", "o'hara"]);
}

/// There is no limit.
pub async fn jobs_without_a_key_are_never_dropped(stores: &Stores) {
    for _ in 0..3 {
        enqueue(stores, new_job("q", "a")).await;
    }
    assert_eq!(claim(stores, at(0), 10).await.len(), 3);
}

/// Each queue has its own.
pub async fn a_key_counts_for_one_queue_only(stores: &Stores) {
    enqueue(stores, keyed("q", "k")).await;
    enqueue(stores, keyed("r", "k")).await;
    assert_eq!(stores.jobs.depth("q").await.unwrap() + stores.jobs.depth("r").await.unwrap(), 2);
}

/// A change made meanwhile needs another run.
pub async fn a_job_that_is_worked_on_does_not_keep_its_key(stores: &Stores) {
    enqueue(stores, keyed("q", "k")).await;
    let first = claim(stores, at(0), 1).await.pop().unwrap();
    let second = stores.jobs.enqueue(keyed("q", "k")).await.unwrap().unwrap();
    assert_eq!(stores.jobs.enqueue(keyed("q", "k")).await.unwrap(), None);
    assert!(stores.jobs.complete(&first).await.unwrap());
    assert_eq!(claim(stores, at(0), 10).await[0].id, second);
}

/// It will not run by itself.
pub async fn a_parked_job_does_not_keep_its_key(stores: &Stores) {
    enqueue(stores, keyed("q", "k")).await;
    let job = claim(stores, at(0), 1).await.pop().unwrap();
    stores.jobs.fail(&job, "no", AfterFailure::Park).await.unwrap();
    enqueue(stores, keyed("q", "k")).await;
    assert_eq!(stores.jobs.depth("q").await.unwrap(), 1);
    assert_eq!(stores.jobs.list_parked("q", 10).await.unwrap().len(), 1);
}

/// At most one waiting job has a key, and the work is still done.
pub async fn a_retry_with_a_waiting_twin_leaves_one_job(stores: &Stores) {
    enqueue(stores, keyed("q", "k")).await;
    let first = claim(stores, at(0), 1).await.pop().unwrap();
    let second = stores.jobs.enqueue(keyed("q", "k")).await.unwrap().unwrap();
    let retry = AfterFailure::RetryAt(at(1));
    assert!(stores.jobs.fail(&first, "no", retry).await.unwrap());
    assert!(!stores.jobs.complete(&first).await.unwrap());
    let left: Vec<_> = claim(stores, at(10), 10).await.iter().map(|job| job.id).collect();
    assert_eq!(left, [second]);
}

/// Uniqueness holds under concurrency.
pub async fn of_concurrent_jobs_with_one_key_one_is_enqueued(stores: &Stores) {
    let outcomes = join_all((0..8).map(|_| stores.jobs.enqueue(keyed("q", "k")))).await;
    assert_eq!(outcomes.into_iter().filter_map(Result::unwrap).count(), 1);
    assert_eq!(stores.jobs.depth("q").await.unwrap(), 1);
}

/// Due or not.
pub async fn the_depth_counts_what_waits_and_what_is_worked_on(stores: &Stores) {
    for (n, kind) in ["a", "b", "c", "d"].into_iter().enumerate() {
        enqueue(stores, due("q", kind, at(i64::try_from(n).unwrap()))).await;
    }
    enqueue(stores, new_job("other", "e")).await;
    assert_eq!(stores.jobs.depth("q").await.unwrap(), 4);
    let jobs = claim(stores, at(1), 10).await;
    assert_eq!((jobs.len(), stores.jobs.depth("q").await.unwrap()), (2, 4));
    stores.jobs.complete(&jobs[0]).await.unwrap();
    stores.jobs.fail(&jobs[1], "no", AfterFailure::Park).await.unwrap();
    assert_eq!(stores.jobs.depth("q").await.unwrap(), 2);
}
