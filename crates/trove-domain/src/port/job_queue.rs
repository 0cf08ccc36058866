use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::error::StoreError;
use crate::id::JobId;
use crate::job::{AfterFailure, ClaimedJob, NewJob, ParkedJob};

/// Work that survives a crash and runs at least once.
///
/// # Contract
///
/// * A claimed job belongs to its worker until the lease ends; then anybody may claim it again. A
///   worker that lost its lease cannot complete, fail or prolong the job (`false`).
/// * Jobs that must start with a write of a store are an argument of that write.
/// * Claims are ordered by `run_at`, then by age.
#[async_trait]
pub trait JobQueue: Send + Sync + 'static {
    /// Adds a job; `None` when a waiting job of the queue has the same deduplication key.
    ///
    /// A job that is being worked on does not count as waiting: a change made meanwhile needs
    /// another run.
    async fn enqueue(&self, job: NewJob) -> Result<Option<JobId>, StoreError>;

    /// Takes up to `limit` due jobs of a queue for `lease`. No two workers get the same job.
    async fn claim(
        &self,
        queue: &str,
        now: DateTime<Utc>,
        lease: Duration,
        limit: u32,
    ) -> Result<Vec<ClaimedJob>, StoreError>;

    /// Prolongs the lease of a claimed job; `false` when the lease was lost.
    async fn heartbeat(
        &self,
        job: &ClaimedJob,
        now: DateTime<Utc>,
        lease: Duration,
    ) -> Result<bool, StoreError>;

    /// Removes a job that is done; `false` when the lease was lost.
    async fn complete(&self, job: &ClaimedJob) -> Result<bool, StoreError>;

    /// Records why a job failed and what happens to it; `false` when the lease was lost.
    async fn fail(
        &self,
        job: &ClaimedJob,
        error: &str,
        then: AfterFailure,
    ) -> Result<bool, StoreError>;

    /// Parked jobs of a queue, oldest first; at most `limit`.
    async fn list_parked(&self, queue: &str, limit: u32) -> Result<Vec<ParkedJob>, StoreError>;

    /// Number of jobs of a queue that wait or are being worked on.
    async fn depth(&self, queue: &str) -> Result<u64, StoreError>;
}
