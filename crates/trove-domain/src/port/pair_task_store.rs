use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::error::StoreError;
use crate::id::{CcPairId, DocumentId};
use crate::indexing::pruning::PruneSchedule;
use crate::indexing::task::PairTask;
use crate::job::NewJob;
use crate::port::{Checkpoint, FileKey, ListingStep, PairRefusal, Unlinked};

/// A task that a worker holds until its lease ends.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimedTask {
    /// The task.
    pub task: PairTask,
    /// Where the source goes on listing; `None` at its beginning and at its end.
    pub checkpoint: Option<Checkpoint>,
    /// Whether the source has listed everything.
    pub listed: bool,
    /// Documents that were taken from the pair last, of which the index may not know yet.
    pub unlinked: Vec<DocumentId>,
    /// How often it was claimed, this time included: what tells its worker from an earlier one.
    pub claim: u32,
}

/// What became of a task that was to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskEnd {
    /// It is over.
    Done,
    /// The pair still has documents to be taken from it.
    Unfinished,
    /// It is another worker's, or is over: nothing was written.
    Lost,
}

/// Prunings and deletions of pairs, as durable tasks.
///
/// # Contract
///
/// * A pair has at most one task. A deletion replaces a pruning; pausing the pair, and whatever else
///   makes it inactive, ends a pruning, which is asked for again then.
/// * A task belongs to the worker that claimed it until its lease ends; then anybody may claim it,
///   and goes on from what was recorded. A worker that lost it writes nothing and takes nothing from
///   the pair.
/// * A pruning takes from the pair what the source has not listed since the pruning began, and what
///   no run has indexed since: everything else is [`DocumentStore`](super::DocumentStore)'s.
/// * From when a deletion begins the pair adds nothing to its documents, and documents are
///   registered for it as if it were not there.
#[async_trait]
pub trait PairTaskStore: Send + Sync + 'static {
    /// What decides about pruning, of each active pair that the schedule runs and for which it could
    /// be due, by rising id; at most `limit` after `after`.
    async fn prune_schedules(
        &self,
        after: Option<CcPairId>,
        limit: u32,
    ) -> Result<Vec<(CcPairId, PruneSchedule)>, StoreError>;

    /// Begins a pruning that waits for a worker, when its schedule still is `expected`; whether it
    /// was. Takes the request back.
    async fn begin_prune(
        &self,
        pair: CcPairId,
        expected: &PruneSchedule,
        now: DateTime<Utc>,
    ) -> Result<bool, StoreError>;

    /// Asks for a pruning of a pair that the schedule runs, as soon as it is active. When it is
    /// being pruned: for another one, if `anew`, else [`PairRefusal::Pruning`].
    async fn request_prune(
        &self,
        pair: CcPairId,
        anew: bool,
    ) -> Result<Result<(), PairRefusal>, StoreError>;

    /// Begins the deletion of a pair that the schedule runs, whatever its status: its unfinished
    /// attempt is asked to end, and its documents are marked as changed, with `job`, because it
    /// gives them nobody any more. One that has begun is tried at once, if it waits.
    async fn begin_deletion(
        &self,
        pair: CcPairId,
        now: DateTime<Utc>,
        job: NewJob,
    ) -> Result<Result<(), PairRefusal>, StoreError>;

    /// Takes up to `limit` tasks for `lease` that wait, wait no longer to be tried again, or were
    /// abandoned, those first that nothing happened to for longest. No two workers get the same.
    async fn claim(
        &self,
        now: DateTime<Utc>,
        lease: Duration,
        limit: u32,
    ) -> Result<Vec<ClaimedTask>, StoreError>;

    /// Prolongs the lease; whether the task still is this worker's.
    async fn heartbeat(
        &self,
        claimed: &ClaimedTask,
        now: DateTime<Utc>,
        lease: Duration,
    ) -> Result<bool, StoreError>;

    /// Records that documents are there and where the source goes on, together, and prolongs the
    /// lease; whether the task still is this worker's. Tries begin anew.
    async fn record_listing(
        &self,
        claimed: &ClaimedTask,
        step: &ListingStep,
        now: DateTime<Utc>,
        lease: Duration,
    ) -> Result<bool, StoreError>;

    /// Documents that the task is to take from the pair, by rising id; at most `limit` after
    /// `after`. Those of a pruning whose source has not listed everything are none.
    async fn to_unlink(
        &self,
        claimed: &ClaimedTask,
        after: Option<&DocumentId>,
        limit: u32,
    ) -> Result<Vec<DocumentId>, StoreError>;

    /// As [`DocumentStore::unlink`](super::DocumentStore::unlink) of those of the documents that the
    /// task still is to take from the pair, prolongs the lease, and remembers them for whoever
    /// claims the task next ([`ClaimedTask::unlinked`]) in place of those it took before. Tries
    /// begin anew. `None` when the task is not this worker's any more.
    async fn unlink(
        &self,
        claimed: &ClaimedTask,
        ids: &[DocumentId],
        now: DateTime<Utc>,
        lease: Duration,
    ) -> Result<Option<Vec<Unlinked>>, StoreError>;

    /// Gives the task back, to be tried again at `retry_at` after `error`, in vain one time more;
    /// whether it still was this worker's. The pair shows the error of a deletion.
    async fn put_back(
        &self,
        claimed: &ClaimedTask,
        error: &str,
        retry_at: DateTime<Utc>,
        now: DateTime<Utc>,
    ) -> Result<bool, StoreError>;

    /// Gives the task back as it is: the worker ends, or leaves room for others.
    async fn release(&self, claimed: &ClaimedTask, now: DateTime<Utc>) -> Result<(), StoreError>;

    /// Stored files that nothing needs once the pair is deleted: those that its connector names if
    /// it goes, too, and no other one does. Only what was uploaded for connectors is among them.
    async fn files_to_remove(&self, pair: CcPairId) -> Result<Vec<FileKey>, StoreError>;

    /// Ends the task. A pair that was pruned says since when; one that was deleted goes with all
    /// that is known of it, and its connector with its last pair. Its credential stays, and what is
    /// known of `files` goes, too.
    async fn finish(
        &self,
        claimed: &ClaimedTask,
        files: &[FileKey],
        now: DateTime<Utc>,
    ) -> Result<TaskEnd, StoreError>;

    /// The tasks of pairs, by rising id of the pair.
    async fn find(&self, pairs: &[CcPairId]) -> Result<Vec<PairTask>, StoreError>;
}
