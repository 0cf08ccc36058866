//! Works on the tasks of pairs: prunings and deletions.
//!
//! A task is done in steps that can be lost and done again. What one takes from a pair is written
//! down in the same step, so that whoever goes on knows what the index may not have been told.

use std::convert::Infallible;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use futures::FutureExt;
use tokio_util::sync::CancellationToken;
use trove_domain::error::StoreError;
use trove_domain::id::{CcPairId, DocumentId};
use trove_domain::indexing::task::TaskKind;
use trove_domain::port::{ClaimedTask, SourceError};

use super::tally::with_causes;
use super::watch::{answer, beside, until_stop};
use crate::Engine;
use crate::ingestion::IngestError;

/// Documents that are taken from a pair at a time.
const PAGE: usize = 256;

/// Why the work on a task ends, for now or for good.
pub(super) enum Ended {
    /// Everything is done.
    Done,
    /// It is another worker's, or is not wanted any more.
    Lost,
    /// This process ends, or others have waited long enough.
    Yielded,
    /// Something failed; trying again later may help.
    Failed { told: String, after: Option<Duration> },
}

impl From<SourceError> for Ended {
    fn from(error: SourceError) -> Self {
        let after = match &error {
            SourceError::Unavailable { retry_after, .. } => *retry_after,
            _ => None,
        };
        Self::Failed { told: with_causes(&error), after }
    }
}

impl From<IngestError> for Ended {
    fn from(error: IngestError) -> Self {
        Self::Failed { told: with_causes(&error), after: None }
    }
}

impl Engine {
    /// Works on a task that this process has claimed, until it ends, waits or has had its time.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; the task goes on when its lease has ended.
    pub(super) async fn work_on_task(
        &self,
        claimed: &ClaimedTask,
        stop: &CancellationToken,
    ) -> Result<(), StoreError> {
        let begun = self.backends().clock.now();
        let tries = claimed.task.tries;
        let mut work = Work { engine: self, claimed, stop, begun, tries };
        let ended = match work.steps().await {
            Ok(ended) => ended,
            // Nobody waits for the lease when the database is back sooner.
            Err(error) => Ended::Failed { told: with_causes(&error), after: None },
        };
        work.settle(ended).await
    }
}

/// A task that this worker has claimed.
pub(super) struct Work<'a> {
    pub(super) engine: &'a Engine,
    pub(super) claimed: &'a ClaimedTask,
    stop: &'a CancellationToken,
    begun: DateTime<Utc>,
    /// How often the step under way was tried in vain.
    pub(super) tries: u32,
}

impl Work<'_> {
    pub(super) fn lease(&self) -> Duration {
        self.engine.config().indexing.lease
    }

    pub(super) fn now(&self) -> DateTime<Utc> {
        self.engine.backends().clock.now()
    }

    pub(super) fn pair(&self) -> CcPairId {
        self.claimed.task.pair
    }

    /// Most documents of a step.
    pub(super) fn page(&self) -> u32 {
        u32::try_from(self.engine.batch_max().min(PAGE)).unwrap_or(1)
    }

    async fn steps(&mut self) -> Result<Ended, StoreError> {
        // The last worker may have been lost before the index knew.
        if !self.claimed.unlinked.is_empty() {
            let finish = self.engine.finish_unlinked(&self.claimed.unlinked);
            match self.beside_heartbeats(finish).await? {
                Ok(()) => {}
                Err(error) => return Ok(error.into()),
            }
        }
        match self.claimed.task.kind {
            TaskKind::Prune => self.prune().await,
            TaskKind::Deletion => self.delete().await,
        }
    }

    /// Whether to leave room for others.
    pub(super) fn is_over(&self) -> bool {
        let slice = self.engine.config().indexing.slice;
        let slice = TimeDelta::from_std(slice).unwrap_or_default();
        self.stop.is_cancelled() || self.now() - self.begun >= slice
    }

    async fn heartbeat(&self) -> Result<bool, StoreError> {
        self.engine.backends().tasks.heartbeat(self.claimed, self.now(), self.lease()).await
    }

    /// Asks the source for something, says meanwhile that the task goes on, and leaves off when it
    /// shall not.
    pub(super) async fn ask<T>(
        &self,
        work: impl Future<Output = Result<T, SourceError>>,
    ) -> Result<Result<T, Ended>, StoreError> {
        let limit = self.engine.config().indexing.step_timeout;
        let work = async { answer(work, limit).await.map_err(Ended::from) };
        let work = until_stop(work, self.stop, Ended::Yielded);
        let beat = || {
            let beat = async { Ok((!self.heartbeat().await?).then_some(Ended::Lost)) };
            beat.boxed()
        };
        Ok(beside(work, beat).await?.unwrap_or_else(Err))
    }

    /// Does a step to its end, and says meanwhile that the task goes on. Whether it shall is asked
    /// with the next step: half of this one would leave work to others.
    pub(super) async fn beside_heartbeats<T>(
        &self,
        work: impl Future<Output = T>,
    ) -> Result<T, StoreError> {
        let beat = || async { self.heartbeat().await.map(|_| None::<Infallible>) }.boxed();
        beside(work, beat).await.map(|Ok(done)| done)
    }

    /// Takes documents from the pair, and from the index what nobody else holds; why the work ends,
    /// if it does.
    pub(super) async fn take_away(
        &mut self,
        ids: &[DocumentId],
    ) -> Result<Option<Ended>, StoreError> {
        let tasks = &self.engine.backends().tasks;
        let unlink = async { tasks.unlink(self.claimed, ids, self.now(), self.lease()).await };
        let taken = self.beside_heartbeats(self.engine.take_from_pair(ids, unlink)).await?;
        Ok(match taken {
            Ok(true) => {
                self.tries = 0;
                None
            }
            Ok(false) => Some(Ended::Lost),
            Err(error) => Some(error.into()),
        })
    }

    /// Writes down how the work has ended.
    async fn settle(self, ended: Ended) -> Result<(), StoreError> {
        let (tasks, now) = (&self.engine.backends().tasks, self.now());
        let (pair, kind) = (self.pair(), self.claimed.task.kind.as_str());
        match ended {
            Ended::Done => tracing::info!(%pair, kind, "a task of a pair has ended"),
            Ended::Lost => {}
            Ended::Yielded => tasks.release(self.claimed, now).await?,
            Ended::Failed { told, after } => {
                let wait = self.engine.config().indexing.wait(self.tries, after);
                let retry_at = now + TimeDelta::from_std(wait).unwrap_or_default();
                tracing::warn!(%pair, kind, told, "a task of a pair failed; it is tried again");
                if !tasks.put_back(self.claimed, &told, retry_at, now).await? {
                    // Nobody else goes on with what was taken from the pair.
                    self.engine.backends().jobs.enqueue(self.engine.sync_job()).await?;
                    self.engine.shared.jobs_enqueued.notify_one();
                }
            }
        }
        Ok(())
    }
}
