//! Brings the index in line with the registry: changed attributes, removals, interrupted work.

use std::time::Duration;

use chrono::TimeDelta;
use futures::TryStreamExt;
use futures::stream::FuturesUnordered;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use trove_domain::error::StoreError;
use trove_domain::id::{CcPairId, DocumentId};
use trove_domain::job::{AfterFailure, ClaimedJob, NewJob};
use trove_domain::port::{AttributeUpdate, DirtyDocument, PendingState, Unlinked, WriteOutcome};

use super::IngestError;
use crate::{Engine, log};

/// Queue of the jobs that call [`Engine::sync_documents`].
pub const SYNC_QUEUE: &str = "sync";

const SYNC_KIND: &str = "sync_documents";

/// Documents per step: small enough to go on soon after an interruption.
const PAGE: u32 = 500;

/// Steps at the same time: the database and the index have something to do each, and writes of the
/// index share what it costs to make them durable.
const PAGES_MAX: usize = 6;

/// A job whose worker is silent for this long is taken over.
const LEASE: Duration = Duration::from_mins(2);

/// How often the worker looks for jobs that other processes enqueued.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// A job is tried this often before it is parked.
const ATTEMPTS_MAX: u32 = 10;

impl Engine {
    /// The job that makes the worker call [`Engine::sync_documents`]: an argument of every store
    /// step that makes documents dirty.
    #[must_use]
    pub fn sync_job(&self) -> NewJob {
        NewJob {
            queue: SYNC_QUEUE.to_owned(),
            kind: SYNC_KIND.to_owned(),
            deduplication_key: Some(SYNC_KIND.to_owned()),
            payload: Value::Null,
            run_at: self.backends().clock.now(),
        }
    }

    /// Writes every changed attribute to the index and finishes every removal; answers how many
    /// documents it treated. Document sets and groups that had changed before are up to date then,
    /// and those that were to go are gone.
    ///
    /// Idempotent, and safe beside ingestion and beside itself.
    ///
    /// # Errors
    ///
    /// [`IngestError`]; what was done stays done, the rest is for the next call.
    pub async fn sync_documents(&self) -> Result<u64, IngestError> {
        // Before the documents: what changes from now on is for the next time.
        let sets = self.backends().document_sets.unsynced().await?;
        let groups = self.backends().groups.unsynced().await?;
        let mut pages = FuturesUnordered::new();
        let (mut after, mut is_all, mut treated) = (None::<DocumentId>, false, 0);
        loop {
            while !is_all && pages.len() < PAGES_MAX {
                let dirty = self.backends().documents.list_dirty(after.as_ref(), PAGE).await?;
                match dirty.last() {
                    Some(last) => after = Some(last.id.clone()),
                    None => is_all = true,
                }
                if !is_all {
                    pages.push(self.sync_page(dirty));
                }
            }
            let Some(page) = pages.try_next().await? else { break };
            treated += page;
        }
        if !sets.is_empty() {
            self.backends().document_sets.finish_sync(&sets).await?;
        }
        if !groups.is_empty() {
            self.backends().groups.finish_sync(&groups).await?;
        }
        Ok(treated)
    }

    /// Does so with some documents; answers with how many.
    async fn sync_page(&self, dirty: Vec<DirtyDocument>) -> Result<u64, IngestError> {
        let of = |state| {
            let ids = dirty.iter().filter(move |d: &&DirtyDocument| d.pending == state);
            ids.map(|d| d.id.clone()).collect::<Vec<_>>()
        };
        self.sync_attributes(&of(PendingState::Attributes)).await?;
        self.finish_removal(&of(PendingState::Removal)).await?;
        Ok(u64::try_from(dirty.len()).unwrap_or(u64::MAX))
    }

    /// For the start: when the index holds nothing, the registry forgets what it did hold, so that
    /// no document counts as unchanged. Answers how many documents have to be ingested again.
    ///
    /// # Errors
    ///
    /// [`IngestError`]; nothing is forgotten then.
    pub async fn notice_lost_index(&self) -> Result<u64, IngestError> {
        if self.backends().index.statistics().await?.documents > 0 {
            return Ok(0);
        }
        let now = self.backends().clock.now();
        Ok(self.backends().documents.forget_contents(now).await?)
    }

    /// Removes documents whatever pairs hold them. They are gone for every search when this
    /// answers.
    ///
    /// # Errors
    ///
    /// [`IngestError`]; the removal is then finished by [`Engine::sync_documents`].
    pub async fn remove_documents(&self, ids: &[DocumentId]) -> Result<(), IngestError> {
        for ids in ids.chunks(self.batch_max()) {
            // Before the registry: an ingestion under way would cancel the removal.
            let _writing = self.shared.document_locks.lock(ids.iter().cloned()).await;
            let now = self.backends().clock.now();
            let marked = self.backends().documents.begin_removal(ids, now).await?;
            self.finish_locked_removal(&marked).await?;
        }
        Ok(())
    }

    /// Takes documents out of a pair, and removes those that no other pair holds.
    ///
    /// # Errors
    ///
    /// [`IngestError`]; the rest is then finished by [`Engine::sync_documents`].
    pub async fn remove_from_pair(
        &self,
        pair: CcPairId,
        ids: &[DocumentId],
    ) -> Result<(), IngestError> {
        for ids in ids.chunks(self.batch_max()) {
            let unlink = async {
                let now = self.backends().clock.now();
                self.backends().documents.unlink(pair, ids, now).await.map(Some)
            };
            self.take_from_pair(ids, unlink).await?;
        }
        Ok(())
    }

    /// Does what `unlink` says of documents, at most [`Engine::batch_max`] of them, once nobody
    /// writes them: those that no pair holds any more are gone for every search when this answers.
    /// `false` when it has unlinked nothing.
    ///
    /// # Errors
    ///
    /// [`IngestError`]; the rest is then finished by [`Engine::finish_unlinked`] or
    /// [`Engine::sync_documents`].
    pub(crate) async fn take_from_pair(
        &self,
        ids: &[DocumentId],
        unlink: impl Future<Output = Result<Option<Vec<Unlinked>>, StoreError>>,
    ) -> Result<bool, IngestError> {
        let writing = self.shared.document_locks.lock(ids.iter().cloned()).await;
        let Some(unlinked) = unlink.await? else { return Ok(false) };
        let of = |wanted| {
            let both = ids.iter().zip(&unlinked).filter(move |(_, state)| **state == wanted);
            both.map(|(id, _)| id.clone()).collect::<Vec<_>>()
        };
        self.finish_locked_removal(&of(Unlinked::Orphaned)).await?;
        drop(writing);
        self.sync_attributes(&of(Unlinked::StillHeld)).await?;
        Ok(true)
    }

    /// Tells the index of documents that were taken from a pair.
    pub(crate) async fn finish_unlinked(&self, ids: &[DocumentId]) -> Result<(), IngestError> {
        self.finish_removal(ids).await?;
        self.sync_attributes(ids).await
    }

    async fn sync_attributes(&self, ids: &[DocumentId]) -> Result<(), IngestError> {
        for ids in ids.chunks(self.batch_max()) {
            let _writing = self.shared.document_locks.lock(ids.iter().cloned()).await;
            let attributes = self.backends().documents.attributes(ids).await?;
            let updates: Vec<AttributeUpdate> = ids
                .iter()
                .zip(attributes)
                .filter_map(|(id, registered)| {
                    let registered = registered?;
                    Some(AttributeUpdate {
                        id: id.clone(),
                        revision: registered.revision,
                        attributes: registered.attributes,
                    })
                })
                .collect();
            let revisions: Vec<(DocumentId, i64)> =
                updates.iter().map(|update| (update.id.clone(), update.revision)).collect();
            let outcomes = self.backends().index.update_attributes(updates).await?;
            let synced: Vec<(DocumentId, i64)> = revisions
                .into_iter()
                .zip(outcomes)
                // Whoever was faster records its own, later revision.
                .filter(|(_, outcome)| *outcome != WriteOutcome::Superseded)
                .map(|(revision, _)| revision)
                .collect();
            self.backends().documents.mark_synced(&synced, self.backends().clock.now()).await?;
        }
        Ok(())
    }

    async fn finish_removal(&self, ids: &[DocumentId]) -> Result<(), IngestError> {
        for ids in ids.chunks(self.batch_max()) {
            let _writing = self.shared.document_locks.lock(ids.iter().cloned()).await;
            self.finish_locked_removal(ids).await?;
        }
        Ok(())
    }

    /// For a caller who holds the locks of all of them.
    async fn finish_locked_removal(&self, ids: &[DocumentId]) -> Result<(), IngestError> {
        // Those that were registered again meanwhile are not among them.
        let due = self.backends().documents.due_removals(ids).await?;
        if !due.is_empty() {
            self.backends().index.remove(&due).await?;
            self.backends().documents.finish_removal(&due).await?;
        }
        Ok(())
    }

    /// Most documents that the index takes at a time.
    pub(crate) fn batch_max(&self) -> usize {
        self.backends().index.capabilities().batch_max.max(1)
    }

    /// Works on the jobs of [`SYNC_QUEUE`] until `stop` is cancelled, beginning with whatever an
    /// earlier process left unfinished.
    ///
    /// A step that was begun is finished before this returns. Failures are logged and tried again.
    pub async fn run_worker(&self, stop: CancellationToken) {
        // What was left undone when the last worker ended; a full disk may take it later.
        let mut begun = false;
        let mut poll = tokio::time::interval(POLL_INTERVAL);
        poll.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                () = self.shared.jobs_enqueued.notified() => {}
                _ = poll.tick() => {}
            }
            let due = async {
                if !begun {
                    self.backends().jobs.enqueue(self.sync_job()).await?;
                    begun = true;
                }
                self.run_due_jobs(&stop).await
            };
            if let Err(error) = due.await {
                log::warn(&error, "the job queue could not be used; trying again");
            }
        }
    }

    /// Works on every job of [`SYNC_QUEUE`] that is due, or until `stop`; answers how many.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the queue cannot be read or written. A job that fails is no error here:
    /// it is tried again later, then parked.
    pub async fn run_due_jobs(&self, stop: &CancellationToken) -> Result<u64, StoreError> {
        let mut done = 0;
        while !stop.is_cancelled() {
            let now = self.backends().clock.now();
            let claimed = self.backends().jobs.claim(SYNC_QUEUE, now, LEASE, 1).await?;
            let Some(job) = claimed.into_iter().next() else { break };
            self.run_job(&job).await?;
            done += 1;
        }
        Ok(done)
    }

    async fn run_job(&self, job: &ClaimedJob) -> Result<(), StoreError> {
        let jobs = &self.backends().jobs;
        if job.kind != SYNC_KIND {
            let error = format!("this version of Trove knows no job of kind `{}`", job.kind);
            jobs.fail(job, &error, AfterFailure::Park).await?;
            return Ok(());
        }
        match self.sync_documents().await {
            Ok(documents) => {
                if documents > 0 {
                    tracing::info!(documents, "synchronised documents with the index");
                }
                jobs.complete(job).await?;
            }
            Err(error) => {
                log::warn(&error, "documents could not be synchronised with the index");
                let then = if job.attempt < ATTEMPTS_MAX {
                    let delay = TimeDelta::seconds(1 << job.attempt.min(8));
                    AfterFailure::RetryAt(self.backends().clock.now() + delay)
                } else {
                    AfterFailure::Park
                };
                jobs.fail(job, &error.to_string(), then).await?;
            }
        }
        Ok(())
    }
}
