use std::collections::BTreeSet;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::access::Caller;
use crate::cc_pair::{AccessType, CcPair, PairReader, SeenPair};
use crate::error::StoreError;
use crate::id::{CcPairId, ConnectorId, CredentialId, GroupId, UserId};
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

/// A pair that a schedule runs.
#[derive(Clone, Debug, PartialEq)]
pub struct NewScheduledPair {
    /// Its name, unique.
    pub name: String,
    /// Its connector.
    pub connector: ConnectorId,
    /// Its credential.
    pub credential: CredentialId,
    /// Who may read its documents.
    pub access_type: AccessType,
    /// Groups that a private pair is shared with.
    pub groups: BTreeSet<GroupId>,
    /// What the source needs to know to tell who reads what: a JSON object.
    pub auto_sync_options: Option<Value>,
    /// Who makes it.
    pub creator: Option<UserId>,
    /// When it is made.
    pub created_at: DateTime<Utc>,
}

/// Why a pair was not made or changed. Nothing changed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairRefusal {
    /// Another pair has the name.
    NameTaken,
    /// The connector has the credential already.
    Exists,
    /// A group does not exist.
    NoSuchGroup,
    /// There is no such pair, connector or credential (any more).
    Missing,
    /// The pair is being deleted.
    Deleting,
    /// No schedule runs it.
    NotScheduled,
    /// The connector has several pairs.
    Several,
    /// It is being pruned.
    Pruning,
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

    /// How many pairs a connector has; those only that `editor` may change, where one is named.
    ///
    /// Everything is an administrator's to change, to others what they made, and to curators what
    /// is shared with groups that they control and with no other.
    async fn count_of_connector(
        &self,
        connector: ConnectorId,
        editor: Option<&Caller>,
    ) -> Result<u64, StoreError>;

    /// Makes a pair that a schedule runs, in status [`CcPairStatus::Scheduled`](crate::cc_pair::CcPairStatus).
    ///
    /// [`PairRefusal::Deleting`] when all pairs that the connector has are being deleted: it goes
    /// with them.
    async fn associate(
        &self,
        pair: NewScheduledPair,
    ) -> Result<Result<CcPair, PairRefusal>, StoreError>;

    /// As [`CcPairStore::remove`] of the pair of a connector and a credential, but the connector
    /// stays; [`PairRefusal::Missing`] when there is none or no schedule runs it.
    async fn dissociate(
        &self,
        connector: ConnectorId,
        credential: CredentialId,
        now: DateTime<Utc>,
        job: NewJob,
    ) -> Result<Result<CcPairId, PairRefusal>, StoreError>;

    /// The pair of a connector and a credential.
    async fn get_by_parts(
        &self,
        connector: ConnectorId,
        credential: CredentialId,
    ) -> Result<Option<CcPair>, StoreError>;

    /// The pair, when `caller` may see it.
    async fn find_seen(
        &self,
        caller: &Caller,
        id: CcPairId,
    ) -> Result<Option<SeenPair>, StoreError>;

    /// The pairs but the default one that `caller` may see, by rising id; at most `limit` after
    /// `after`.
    async fn list_seen(
        &self,
        caller: &Caller,
        after: Option<CcPairId>,
        limit: u32,
    ) -> Result<Vec<SeenPair>, StoreError>;

    /// Gives a scheduled pair another name.
    async fn rename(&self, id: CcPairId, name: &str)
    -> Result<Result<(), PairRefusal>, StoreError>;

    /// Pauses a scheduled pair, or lets it go on. With a pause its unfinished attempt is asked to
    /// end.
    async fn set_paused(
        &self,
        id: CcPairId,
        paused: bool,
        now: DateTime<Utc>,
    ) -> Result<Result<(), PairRefusal>, StoreError>;

    /// Gives the one pair of a connector, scheduled, another credential: it keeps its documents,
    /// which are marked as changed, with `job`, and is active if it was invalid. Answers the pair.
    async fn swap_credential(
        &self,
        connector: ConnectorId,
        credential: CredentialId,
        now: DateTime<Utc>,
        job: NewJob,
    ) -> Result<Result<CcPairId, PairRefusal>, StoreError>;

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
