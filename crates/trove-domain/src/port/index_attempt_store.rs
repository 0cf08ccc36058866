use std::collections::BTreeSet;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::error::StoreError;
use crate::id::{CcPairId, DocumentId, IndexAttemptId};
use crate::indexing::schedule::{RunPlan, Schedule};
use crate::indexing::{
    AttemptError, AttemptStatus, IndexAttempt, IndexingTrigger, Progress, StopReason,
};
use crate::page::NumberedPage;
use crate::port::{Checkpoint, SourceFailure};
use crate::source::DocumentSource;

/// Finished attempts of a pair that are kept whatever their age.
pub const ATTEMPTS_KEPT: u32 = 10;

/// An attempt that a worker holds until its lease ends.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimedAttempt {
    /// The attempt, in progress.
    pub attempt: IndexAttempt,
    /// The system that it reads.
    pub source: DocumentSource,
    /// Where the source goes on; `None` at its beginning.
    pub checkpoint: Option<Checkpoint>,
    /// How often it was claimed, this time included: what tells its worker from an earlier one.
    pub claim: u32,
}

/// What a step of an attempt has done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepRecord {
    /// What was done in this step.
    pub progress: Progress,
    /// What was not read or not indexed.
    pub failures: Vec<SourceFailure>,
    /// Documents that were read and indexed: earlier errors about them are resolved.
    pub indexed: Vec<DocumentId>,
    /// Where the source goes on; `None` when everything was read.
    pub checkpoint: Option<Checkpoint>,
}

/// Whether a worker goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// It does.
    Go,
    /// Somebody wants the attempt to end.
    Stop(StopReason),
    /// The attempt is another worker's, or is over: what was to be written was not.
    Lost,
}

/// How an attempt ends.
#[derive(Clone, Debug, PartialEq)]
pub struct AttemptEnd {
    /// What came of it: a finished status.
    pub status: AttemptStatus,
    /// Why it did not succeed.
    pub error: Option<String>,
    /// Whether configuration or credential are to blame.
    pub is_invalid: bool,
    /// With a success: where the next run begins that is not asked for everything
    /// ([`SourceStep::carry`](crate::port::SourceStep::carry)).
    pub carry: Option<Checkpoint>,
}

/// The latest runs of a pair, for lists of pairs.
#[derive(Clone, Debug, PartialEq)]
pub struct PairRuns {
    /// The pair.
    pub pair: CcPairId,
    /// The latest of all.
    pub last: Option<IndexAttempt>,
    /// The latest that is finished.
    pub last_finished: Option<IndexAttempt>,
    /// The latest that succeeded.
    pub last_success: Option<IndexAttempt>,
    /// The latest that failed.
    pub last_failed: Option<IndexAttempt>,
    /// Documents that the pair has indexed.
    pub documents: u64,
}

/// Runs of indexing, as a durable queue.
///
/// # Contract
///
/// * A pair has at most one unfinished attempt, whoever tries to begin another one at the same time.
/// * An attempt belongs to the worker that claimed it until its lease ends; then anybody may claim
///   it, and goes on from the last recorded step. A worker that lost it writes nothing
///   ([`Control::Lost`]).
/// * What a step has done, its failures and its checkpoint are recorded together or not at all.
/// * What begins or ends a run changes the status of its pair with it, in one step.
#[async_trait]
pub trait IndexAttemptStore: Send + Sync + 'static {
    /// What decides about the next run of each pair that the schedule runs, by rising id; at most
    /// `limit` after `after`.
    async fn schedules(
        &self,
        after: Option<CcPairId>,
        limit: u32,
    ) -> Result<Vec<(CcPairId, Schedule)>, StoreError>;

    /// Begins a run that waits for a worker, when the schedule of the pair still is `expected`;
    /// `None` otherwise. Takes the trigger back; a pair that never ran is in its first run.
    ///
    /// One that resumes goes on from the checkpoint of the last one; one that does not begins with
    /// what the last one carries over, where that succeeded and not everything is asked for.
    async fn begin(
        &self,
        pair: CcPairId,
        expected: &Schedule,
        plan: RunPlan,
        now: DateTime<Utc>,
    ) -> Result<Option<IndexAttemptId>, StoreError>;

    /// Takes up to `limit` attempts for `lease` that wait, wait no longer to be tried again, or were
    /// abandoned, those first that nothing happened to for longest; none of the `busy` sources. No
    /// two workers get the same.
    async fn claim(
        &self,
        now: DateTime<Utc>,
        lease: Duration,
        limit: u32,
        busy: &BTreeSet<DocumentSource>,
    ) -> Result<Vec<ClaimedAttempt>, StoreError>;

    /// Prolongs the lease.
    async fn heartbeat(
        &self,
        claimed: &ClaimedAttempt,
        now: DateTime<Utc>,
        lease: Duration,
    ) -> Result<Control, StoreError>;

    /// Records a step and prolongs the lease. Tries begin anew.
    async fn record_step(
        &self,
        claimed: &ClaimedAttempt,
        step: StepRecord,
        now: DateTime<Utc>,
        lease: Duration,
    ) -> Result<Control, StoreError>;

    /// Begins the attempt anew, without a checkpoint and with nothing done.
    async fn restart(
        &self,
        claimed: &ClaimedAttempt,
        now: DateTime<Utc>,
        lease: Duration,
    ) -> Result<Control, StoreError>;

    /// Gives the attempt back, to be tried again at `retry_at` after `error`, in vain one time more.
    async fn put_back(
        &self,
        claimed: &ClaimedAttempt,
        error: &str,
        retry_at: DateTime<Utc>,
        now: DateTime<Utc>,
    ) -> Result<Control, StoreError>;

    /// Gives the attempt back as it is: the worker ends.
    async fn release(&self, claimed: &ClaimedAttempt, now: DateTime<Utc>)
    -> Result<(), StoreError>;

    /// Ends the attempt. A complete one makes its pair active and no failing one; a success resolves
    /// the errors about entities. [`REPEATED_FAILURES`](crate::indexing::schedule::REPEATED_FAILURES)
    /// failed ones in a row (one where the pair is not refreshed) make a failing pair, as many
    /// invalid ones an invalid pair.
    ///
    /// Old attempts go: those that ended before `keep_after`, but for the latest
    /// [`ATTEMPTS_KEPT`].
    async fn finish(
        &self,
        claimed: &ClaimedAttempt,
        end: AttemptEnd,
        now: DateTime<Utc>,
        keep_after: DateTime<Utc>,
    ) -> Result<Control, StoreError>;

    /// Asks the pairs for a run out of turn, but those with an unfinished one; answers how many were
    /// asked. The last wish counts.
    async fn set_trigger(
        &self,
        pairs: &[CcPairId],
        trigger: IndexingTrigger,
    ) -> Result<u64, StoreError>;

    /// Asks the unfinished attempt of a pair to end; one that waits for a worker has ended when this
    /// answers. Whether there was one.
    async fn request_stop(
        &self,
        pair: CcPairId,
        reason: StopReason,
        now: DateTime<Utc>,
    ) -> Result<bool, StoreError>;

    /// Attempts of a pair, newest first.
    async fn list(
        &self,
        pair: CcPairId,
        offset: u64,
        limit: u32,
    ) -> Result<NumberedPage<IndexAttempt>, StoreError>;

    /// Errors of a pair, newest first.
    async fn list_errors(
        &self,
        pair: CcPairId,
        with_resolved: bool,
        offset: u64,
        limit: u32,
    ) -> Result<NumberedPage<AttemptError>, StoreError>;

    /// The latest runs of pairs, in input order.
    async fn latest(&self, pairs: &[CcPairId]) -> Result<Vec<PairRuns>, StoreError>;
}
