use std::collections::BTreeSet;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::cc_pair::{AccessType, CcPair, PairReader};
use crate::error::StoreError;
use crate::id::{CcPairId, GroupId, UserId};
use crate::job::NewJob;
use crate::source::DocumentSource;

/// A connector with the system's empty credential, as a pair.
#[derive(Clone, Debug, PartialEq)]
pub struct NewCcPair {
    /// Name of connector and pair.
    pub name: String,
    /// The system it reads.
    pub source: DocumentSource,
    /// Configuration of the connector: a JSON object.
    pub config: Value,
    /// Who may read its documents.
    pub access_type: AccessType,
    /// Groups that a private pair is shared with.
    pub groups: BTreeSet<GroupId>,
    /// Who makes it; `None` for the system.
    pub creator: Option<UserId>,
    /// When it is made.
    pub created_at: DateTime<Utc>,
}

/// Who begins the runs of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunBy {
    /// The schedule.
    Schedule,
    /// Nobody: documents are posted, or a command reads them.
    Nobody,
}

/// New access for a pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessChange {
    /// Who may read its documents.
    pub access_type: AccessType,
    /// Groups that a private pair is shared with.
    pub groups: BTreeSet<GroupId>,
}

/// Connectors, credentials and their pairs.
///
/// # Contract
///
/// The default pair ([`CcPair::DEFAULT`]: public, source `ingestion_api`) always exists.
#[async_trait]
pub trait CcPairStore: Send + Sync + 'static {
    /// The pair of the connector with this name and source, made when there is none.
    ///
    /// An existing pair is answered as it is; nothing of it changes. Of several calls at the same
    /// time one makes the pair and all answer it.
    async fn get_or_insert(&self, pair: NewCcPair) -> Result<CcPair, StoreError>;

    /// The pair; `None` when there is none.
    async fn get(&self, id: CcPairId) -> Result<Option<CcPair>, StoreError>;

    /// Those of the pairs that `reader` sees, by rising id.
    async fn find_visible(
        &self,
        ids: &BTreeSet<CcPairId>,
        reader: PairReader,
    ) -> Result<Vec<CcPair>, StoreError>;

    /// All pairs but the default one, by rising id; at most `limit` after `after`.
    async fn list(&self, after: Option<CcPairId>, limit: u32) -> Result<Vec<CcPair>, StoreError>;

    /// Says who begins the runs of a pair, and how many seconds after a run the next one is due,
    /// which concerns all pairs of the connector; `false` when there is no such pair. One that the
    /// schedule runs and that has not run yet is [`Scheduled`](crate::cc_pair::CcPairStatus).
    async fn set_schedule(
        &self,
        id: CcPairId,
        run_by: RunBy,
        refresh_freq_s: Option<u32>,
    ) -> Result<bool, StoreError>;

    /// Changes who may read the documents of a pair, marks all of them as changed (so that
    /// [`super::DocumentStore::list_dirty`] answers them) and enqueues `job`, in one step;
    /// `false` when there is no such pair.
    async fn set_access(
        &self,
        id: CcPairId,
        change: AccessChange,
        now: DateTime<Utc>,
        job: NewJob,
    ) -> Result<bool, StoreError>;

    /// Removes a pair and its connector, marks the documents that no other pair holds for removal
    /// and the others of the pair as changed, and enqueues `job`, in one step; `false` when there
    /// is no such pair, or it is the default one, and nothing changes.
    async fn remove(
        &self,
        id: CcPairId,
        now: DateTime<Utc>,
        job: NewJob,
    ) -> Result<bool, StoreError>;
}
