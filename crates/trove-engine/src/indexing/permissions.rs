//! Fetches who may read what from the sources that know, in one process.
//!
//! What a source tells of a document is in force with the step that tells it; who is in which groups
//! when everything was told. Whatever goes wrong, what was told before stays.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use futures::FutureExt;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;
use trove_domain::error::StoreError;
use trove_domain::external_access::ExternalMembers;
use trove_domain::indexing::StopReason;
use trove_domain::permission_sync::PermissionSyncStatus;
use trove_domain::port::{
    CHECKPOINT_BYTES_MAX, ClaimedPermissionSync, Control, FailedPart, PermissionRecord,
    PermissionStep, PermissionSyncEnd, SourceError,
};

use super::tally::with_causes;
use super::watch::{answer, beside, until_stop};
use super::worker::POLL_INTERVAL;
use crate::{Engine, log};

/// Most people and groups of one step.
const STEP_READERS_MAX: usize = 500_000;

/// Most syncs of this process at the same time. Most of what they do is waiting for sources.
const SYNCS_MAX: u32 = 4;

/// Why the work on a sync ends, for now or for good.
enum Ended {
    /// Everything was told.
    Complete,
    /// The pair is not to be read any more.
    Stopped(StopReason),
    /// It is another worker's, or gone.
    Lost,
    /// This process ends.
    Yielded,
    /// The source or this deployment does not answer; the step is worth another try.
    Unavailable { told: String, after: Option<Duration> },
    /// It is pointless to go on.
    Failed(String),
}

impl From<SourceError> for Ended {
    fn from(error: SourceError) -> Self {
        let told = with_causes(&error);
        match error {
            SourceError::Unavailable { retry_after, .. } => {
                Self::Unavailable { told, after: retry_after }
            }
            _ => Self::Failed(told),
        }
    }
}

fn ended(control: Control) -> Option<Ended> {
    match control {
        Control::Go => None,
        Control::Stop(reason) => Some(Ended::Stopped(reason)),
        Control::Lost => Some(Ended::Lost),
    }
}

impl Engine {
    /// Fetches the permissions of whatever pairs are due, some at the same time, until `stop`.
    pub(super) async fn run_permission_syncs(&self, stop: &CancellationToken) {
        let mut tasks: JoinSet<()> = JoinSet::new();
        let mut poll = interval(POLL_INTERVAL);
        poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                Some(_) = tasks.join_next() => {}
                _ = poll.tick() => {}
            }
            let begun = u32::try_from(tasks.len()).unwrap_or(u32::MAX);
            match self.claim_permission_syncs(SYNCS_MAX.saturating_sub(begun)).await {
                Ok(claimed) => {
                    for claimed in claimed {
                        let (engine, stop) = (self.clone(), stop.clone());
                        tasks.spawn(async move {
                            if let Err(error) = engine.work_on_permissions(&claimed, &stop).await {
                                log::warn(
                                    &error,
                                    "a permission sync could not be recorded; it goes on later",
                                );
                            }
                        });
                    }
                }
                Err(error) => {
                    log::warn(&error, "permission syncs could not be looked for; trying again");
                }
            }
        }
        while tasks.join_next().await.is_some() {}
    }

    /// Fetches the permissions of every pair that is due now; answers of how many.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; what was begun goes on when its lease has ended.
    pub async fn sync_due_permissions(&self, stop: &CancellationToken) -> Result<u64, StoreError> {
        let mut done = 0;
        while !stop.is_cancelled() {
            let claimed = self.claim_permission_syncs(1).await?;
            let Some(claimed) = claimed.into_iter().next() else { break };
            self.work_on_permissions(&claimed, stop).await?;
            done += 1;
        }
        Ok(done)
    }

    async fn claim_permission_syncs(
        &self,
        room: u32,
    ) -> Result<Vec<ClaimedPermissionSync>, StoreError> {
        if room == 0 {
            return Ok(Vec::new());
        }
        self.backends()
            .permissions
            .claim(self.backends().clock.now(), self.config().indexing.lease, room)
            .await
    }

    async fn work_on_permissions(
        &self,
        claimed: &ClaimedPermissionSync,
        stop: &CancellationToken,
    ) -> Result<(), StoreError> {
        let (tries, told) = (claimed.tries, claimed.error.clone());
        let mut work = Work { engine: self, claimed, stop, tries, told };
        let ended = work.steps().await?;
        work.settle(ended).await
    }
}

/// A permission sync that this worker has claimed.
struct Work<'a> {
    engine: &'a Engine,
    claimed: &'a ClaimedPermissionSync,
    stop: &'a CancellationToken,
    /// How often the step under way was tried in vain.
    tries: u32,
    /// What went wrong with documents so far: the first of it.
    told: Option<String>,
}

impl Work<'_> {
    fn now(&self) -> DateTime<Utc> {
        self.engine.backends().clock.now()
    }

    async fn steps(&mut self) -> Result<Ended, StoreError> {
        let engine = self.engine;
        let source = match self.watch(engine.open_pair(self.claimed.pair)).await? {
            Ok(source) => source,
            Err(ended) => return Ok(ended),
        };
        let mut checkpoint = self.claimed.checkpoint.clone();
        loop {
            let step = match self.watch(source.list_permissions(checkpoint.as_ref())).await? {
                Ok(Some(step)) => step,
                Ok(None) => {
                    let told = "the source does not tell who may read its documents";
                    return Ok(Ended::Failed(told.to_owned()));
                }
                Err(ended) => return Ok(ended),
            };
            checkpoint.clone_from(&step.next);
            if let Some(ended) = self.take(step).await? {
                return Ok(ended);
            }
            if checkpoint.is_none() {
                return Ok(Ended::Complete);
            }
            if self.stop.is_cancelled() {
                return Ok(Ended::Yielded);
            }
        }
    }

    /// Asks the source for something, says meanwhile that the sync goes on, and learns whether it
    /// shall.
    async fn watch<T>(
        &self,
        work: impl Future<Output = Result<T, SourceError>>,
    ) -> Result<Result<T, Ended>, StoreError> {
        let indexing = &self.engine.config().indexing;
        let work = async { answer(work, indexing.step_timeout).await.map_err(Ended::from) };
        let work = until_stop(work, self.stop, Ended::Yielded);
        let permissions = &self.engine.backends().permissions;
        let beat = || {
            let beat = permissions.heartbeat(self.claimed, self.now(), indexing.lease);
            beat.map(|control| control.map(ended)).boxed()
        };
        Ok(beside(work, beat).await?.unwrap_or_else(Err))
    }

    /// Records what a step has told, but for what is too much to be kept.
    async fn take(&mut self, step: PermissionStep) -> Result<Option<Ended>, StoreError> {
        let PermissionStep { documents, groups, failures, next } = step;
        let size = next.as_ref().map_or(0, |next| next.0.to_string().len());
        if size > CHECKPOINT_BYTES_MAX {
            let told = format!("the source keeps {size} bytes to go on with, more than is kept");
            return Ok(Some(Ended::Failed(told)));
        }
        let members = groups.iter().map(|members| members.users().len() + 1);
        let readers =
            documents.iter().map(|(_, access)| access.users().len() + access.groups().len());
        let count: usize = members.chain(readers).sum();
        if count > STEP_READERS_MAX {
            let told = format!(
                "the source names {count} people and groups at once, more than the \
                 {STEP_READERS_MAX} that are taken"
            );
            return Ok(Some(Ended::Failed(told)));
        }
        if let Some(Err(error)) = groups.iter().map(ExternalMembers::check).find(Result::is_err) {
            return Ok(Some(Ended::Failed(with_causes(&error))));
        }
        for failure in failures {
            let part = match failure.part {
                FailedPart::Document { id, .. } => id.into_string(),
                FailedPart::Entity { id, .. } => id,
            };
            self.told.get_or_insert_with(|| format!("{part}: {}", failure.message));
        }
        let mut kept = Vec::with_capacity(documents.len());
        for (id, access) in documents {
            match access.check() {
                Ok(()) => kept.push((id, access)),
                Err(error) => {
                    self.told.get_or_insert_with(|| format!("{id}: {error}"));
                }
            }
        }
        let error = self.told.clone();
        let record = PermissionRecord { documents: kept, groups, error, checkpoint: next };
        let (permissions, job) = (&self.engine.backends().permissions, self.engine.sync_job());
        let control = permissions
            .record_step(self.claimed, record, self.now(), self.engine.config().indexing.lease, job)
            .await?;
        if control == Control::Go {
            self.tries = 0;
            self.engine.shared.jobs_enqueued.notify_one();
        }
        Ok(ended(control))
    }

    /// Writes down how the work has ended.
    async fn settle(&self, ended: Ended) -> Result<(), StoreError> {
        let permissions = &self.engine.backends().permissions;
        match ended {
            Ended::Lost => Ok(()),
            Ended::Yielded => permissions.release(self.claimed, self.now()).await,
            Ended::Unavailable { told, after }
                if self.tries + 1 < self.engine.config().indexing.tries_max =>
            {
                let wait = self.engine.config().indexing.wait(self.tries, after);
                let retry_at = self.now() + TimeDelta::from_std(wait).unwrap_or_default();
                permissions.put_back(self.claimed, &told, retry_at, self.now()).await
            }
            Ended::Unavailable { told, .. } | Ended::Failed(told) => {
                self.finish(PermissionSyncStatus::Failed, Some(told)).await.map(drop)
            }
            Ended::Stopped(reason) => self.cancel(reason).await,
            Ended::Complete => {
                let status = match self.told {
                    None => PermissionSyncStatus::Success,
                    Some(_) => PermissionSyncStatus::CompletedWithErrors,
                };
                match self.finish(status, self.told.clone()).await? {
                    Control::Stop(reason) => self.cancel(reason).await,
                    Control::Go | Control::Lost => Ok(()),
                }
            }
        }
    }

    async fn cancel(&self, reason: StopReason) -> Result<(), StoreError> {
        let told = Some(reason.told().to_owned());
        self.finish(PermissionSyncStatus::Canceled, told).await.map(drop)
    }

    async fn finish(
        &self,
        status: PermissionSyncStatus,
        error: Option<String>,
    ) -> Result<Control, StoreError> {
        let pair = self.claimed.pair;
        let told = error.as_deref().unwrap_or_default();
        tracing::info!(%pair, status = status.as_str(), told, "a permission sync has ended");
        let interval = self.engine.config().indexing.permission_interval;
        // One that was stopped begins again as soon as the pair is read again.
        let wait = if status == PermissionSyncStatus::Canceled { Duration::ZERO } else { interval };
        let next_at = self.now() + TimeDelta::from_std(wait).unwrap_or_default();
        let end = PermissionSyncEnd { status, error, next_at };
        self.engine.backends().permissions.finish(self.claimed, end, self.now()).await
    }
}
