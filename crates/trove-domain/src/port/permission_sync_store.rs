use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::error::StoreError;
use crate::external_access::{ExternalAccess, ExternalMembers};
use crate::id::{CcPairId, DocumentId};
use crate::job::NewJob;
use crate::permission_sync::{PermissionSync, PermissionSyncStatus};
use crate::port::{Checkpoint, Control};

/// A permission sync that a worker holds until its lease ends.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimedPermissionSync {
    /// The pair.
    pub pair: CcPairId,
    /// Where the source goes on; `None` at its beginning.
    pub checkpoint: Option<Checkpoint>,
    /// How often it was claimed, this time included: what tells its worker from an earlier one.
    pub claim: u32,
    /// How often the step under way was tried in vain.
    pub tries: u32,
    /// What went wrong with documents of earlier steps, if anything did.
    pub error: Option<String>,
}

/// What a step of a permission sync has told.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PermissionRecord {
    /// Who may read which documents.
    pub documents: Vec<(DocumentId, ExternalAccess)>,
    /// Who is in which groups.
    pub groups: Vec<ExternalMembers>,
    /// What went wrong with documents so far, this step included.
    pub error: Option<String>,
    /// Where the source goes on; `None` when everything was told.
    pub checkpoint: Option<Checkpoint>,
}

/// How a permission sync ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermissionSyncEnd {
    /// What came of it: a finished status.
    pub status: PermissionSyncStatus,
    /// What went wrong.
    pub error: Option<String>,
    /// When the next one is due.
    pub next_at: DateTime<Utc>,
}

/// Permissions of pairs whose source tells them, and the durable queue of their fetching.
///
/// # Contract
///
/// * A pair has at most one sync at a time. It belongs to the worker that claimed it until its lease
///   ends; a worker that lost it writes nothing ([`Control::Lost`]).
/// * Nothing is written for a pair that is not active any more ([`Control::Stop`]).
/// * A step says of the documents that it names who may read them; others keep what they have.
///   A document whose access changes is pending for its attributes.
/// * Memberships are in force when the sync has ended completely, all of them in one step: those
///   that it did not tell are gone then. As long as it has not, and when it fails, those of the last
///   one that did are in force.
#[async_trait]
pub trait PermissionSyncStore: Send + Sync + 'static {
    /// Takes up to `limit` syncs for `lease` that are due: of pairs that the schedule runs, that are
    /// active and whose source tells permissions, and that were never synced, or not since the time
    /// that was set for the next one, or were abandoned. Those that are due for longest come first.
    async fn claim(
        &self,
        now: DateTime<Utc>,
        lease: Duration,
        limit: u32,
    ) -> Result<Vec<ClaimedPermissionSync>, StoreError>;

    /// Prolongs the lease.
    async fn heartbeat(
        &self,
        claimed: &ClaimedPermissionSync,
        now: DateTime<Utc>,
        lease: Duration,
    ) -> Result<Control, StoreError>;

    /// Records a step and prolongs the lease. Tries begin anew; documents that the pair does not
    /// hold are ignored. People whom nobody knows yet become users who cannot sign in
    /// ([`ExtPermUser`](crate::access::Role::ExtPermUser)); known ones stay as they are. `job` is
    /// enqueued when a document is pending because of it.
    async fn record_step(
        &self,
        claimed: &ClaimedPermissionSync,
        step: PermissionRecord,
        now: DateTime<Utc>,
        lease: Duration,
        job: NewJob,
    ) -> Result<Control, StoreError>;

    /// Gives the sync back, to be tried again at `retry_at` after `error`, in vain one time more.
    async fn put_back(
        &self,
        claimed: &ClaimedPermissionSync,
        error: &str,
        retry_at: DateTime<Utc>,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError>;

    /// Gives the sync back as it is: the worker ends.
    async fn release(
        &self,
        claimed: &ClaimedPermissionSync,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError>;

    /// Ends the sync. A complete one puts the memberships that it told in force; any other forgets
    /// them.
    async fn finish(
        &self,
        claimed: &ClaimedPermissionSync,
        end: PermissionSyncEnd,
        now: DateTime<Utc>,
    ) -> Result<Control, StoreError>;

    /// The latest syncs of pairs, in input order; `None` for those that never had one.
    async fn latest_permission_syncs(
        &self,
        pairs: &[CcPairId],
    ) -> Result<Vec<Option<PermissionSync>>, StoreError>;
}
