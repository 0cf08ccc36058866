//! Work of a worker, and what it says meanwhile.

use std::time::Duration;

use futures::future::BoxFuture;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;
use trove_domain::error::StoreError;
use trove_domain::port::SourceError;

use super::HEARTBEAT;

/// Does work, and says meanwhile with each beat that it goes on. A beat that answers why it shall
/// not gives the work up.
pub(super) async fn beside<'b, T, E>(
    work: impl Future<Output = T>,
    beat: impl Fn() -> BoxFuture<'b, Result<Option<E>, StoreError>>,
) -> Result<Result<T, E>, StoreError> {
    let mut work = std::pin::pin!(work);
    let mut beats = interval(HEARTBEAT);
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // The first one comes at once.
    beats.tick().await;
    loop {
        tokio::select! {
            biased;
            done = &mut work => return Ok(Ok(done)),
            _ = beats.tick() => {}
        }
        // Both go on: what the beat waits for may be what the work holds.
        let mut beating = beat();
        let mut done = None;
        let ended = loop {
            tokio::select! {
                biased;
                ended = &mut beating => break ended?,
                value = &mut work, if done.is_none() => done = Some(value),
            }
        };
        match (done, ended) {
            (Some(done), _) => return Ok(Ok(done)),
            (None, Some(ended)) => return Ok(Err(ended)),
            (None, None) => {}
        }
    }
}

/// Does work until it ends or `stop` comes, for which it answers `stopped`.
pub(super) async fn until_stop<T, E>(
    work: impl Future<Output = Result<T, E>>,
    stop: &CancellationToken,
    stopped: E,
) -> Result<T, E> {
    tokio::select! {
        biased;
        () = stop.cancelled() => Err(stopped),
        done = work => done,
    }
}

/// What a source answers, within a time.
pub(super) async fn answer<T>(
    work: impl Future<Output = Result<T, SourceError>>,
    limit: Duration,
) -> Result<T, SourceError> {
    let Ok(answer) = timeout(limit, work).await else {
        let message = format!("the source did not answer within {} seconds", limit.as_secs());
        return Err(SourceError::Unavailable { message, retry_after: None, source: None });
    };
    answer
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Arc;

    use futures::FutureExt;
    use tokio::sync::Mutex;

    use super::{HEARTBEAT, beside};

    #[tokio::test(start_paused = true)]
    async fn a_beat_may_wait_for_what_the_work_holds() {
        let held = Arc::new(Mutex::new(0));
        let work = async {
            let mut held = held.lock().await;
            // The clock is paused: it jumps past the next beats, and nothing waits.
            tokio::time::sleep(HEARTBEAT * 2).await;
            *held += 1;
        };
        let beat = || {
            let beat = async {
                *held.lock().await += 10;
                Ok(None::<Infallible>)
            };
            beat.boxed()
        };
        assert!(matches!(beside(work, beat).await, Ok(Ok(()))));
        assert_eq!(*held.lock().await, 11, "and the beat that was under way has ended");
    }

    #[tokio::test(start_paused = true)]
    async fn a_beat_may_end_the_work() {
        let beat = || async { Ok(Some("enough")) }.boxed();
        let ended = beside(std::future::pending::<()>(), &beat).await;
        assert!(matches!(ended, Ok(Err("enough"))));
        // What is done is done.
        assert!(matches!(beside(async { 1 }, &beat).await, Ok(Ok(1))));
    }
}
