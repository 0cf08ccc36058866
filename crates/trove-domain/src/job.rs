//! Deferred work.

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::id::JobId;

/// A unit of work to enqueue.
///
/// Jobs run at least once, so what they do must be idempotent.
#[derive(Clone, Debug, PartialEq)]
pub struct NewJob {
    /// Which worker takes it.
    pub queue: String,
    /// What is to be done.
    pub kind: String,
    /// At most one waiting job per queue has this key; a second one is dropped. `None`: no limit.
    pub deduplication_key: Option<String>,
    /// What the job needs to know.
    pub payload: Value,
    /// Not before this instant.
    pub run_at: DateTime<Utc>,
}

/// A job that a worker holds until its lease ends.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimedJob {
    /// Its key.
    pub id: JobId,
    /// What is to be done.
    pub kind: String,
    /// What the job needs to know.
    pub payload: Value,
    /// How often it was claimed, this time included.
    pub attempt: u32,
    /// The lease: another worker may claim the job after this instant.
    pub leased_until: DateTime<Utc>,
}

/// A job that will not be tried again by itself.
#[derive(Clone, Debug, PartialEq)]
pub struct ParkedJob {
    /// Its key.
    pub id: JobId,
    /// What was to be done.
    pub kind: String,
    /// How often it was tried.
    pub attempt: u32,
    /// Why the last try failed.
    pub error: String,
}

/// What happens to a job that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterFailure {
    /// Try again at this instant.
    RetryAt(DateTime<Utc>),
    /// Keep it visible with its error and do not try again.
    Park,
}
