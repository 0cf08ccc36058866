//! Fetching from sources who may read what.

use chrono::{DateTime, Utc};

use crate::cc_pair::{UnknownValue, wire_values};
use crate::id::CcPairId;

/// Where the fetching of a pair's permissions is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PermissionSyncStatus {
    /// It was never begun.
    NotStarted,
    /// It asks, or waits to ask again.
    InProgress,
    /// Everything was fetched.
    Success,
    /// The pair is not to be read any more.
    Canceled,
    /// It gave up; what was known before is in force.
    Failed,
    /// Everything was fetched but for documents whose permissions cannot be kept.
    CompletedWithErrors,
}

wire_values!(
    PermissionSyncStatus,
    "a status of a permission sync",
    NotStarted = "not_started",
    InProgress = "in_progress",
    Success = "success",
    Canceled = "canceled",
    Failed = "failed",
    CompletedWithErrors = "completed_with_errors",
);

impl PermissionSyncStatus {
    /// Whether everything that the source told is in force.
    #[must_use]
    pub const fn is_complete(self) -> bool {
        matches!(self, Self::Success | Self::CompletedWithErrors)
    }
}

/// The latest fetching of a pair's permissions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermissionSync {
    /// The pair.
    pub pair: CcPairId,
    /// Where it is.
    pub status: PermissionSyncStatus,
    /// What went wrong, if anything did.
    pub error: Option<String>,
    /// When the last one ended, whatever came of it.
    pub finished_at: Option<DateTime<Utc>>,
    /// When everything was last fetched.
    pub completed_at: Option<DateTime<Utc>>,
}
