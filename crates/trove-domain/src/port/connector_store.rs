use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::connector::{Connector, ConnectorDetails};
use crate::error::StoreError;
use crate::id::{ConnectorId, CredentialId};

/// A connector to make.
#[derive(Clone, Debug, PartialEq)]
pub struct NewConnector {
    /// What was decided about it.
    pub details: ConnectorDetails,
    /// The earliest change that the first run is about.
    pub indexing_start: Option<DateTime<Utc>>,
    /// When it is made.
    pub created_at: DateTime<Utc>,
}

/// Why a connector was not made or changed. Nothing changed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectorRefusal {
    /// Another connector of the source has the name.
    NameTaken,
    /// There are [`Connector::COUNT_MAX`] of them.
    Full,
    /// There is none, or none any more.
    Missing,
    /// It is [built in](Connector::built_in).
    BuiltIn,
    /// It has changed since it was read.
    Superseded,
}

/// What became of a connector that was to be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectorRemoval {
    /// It is gone, and its pairs with it.
    Removed,
    /// There was none.
    Missing,
    /// One of its pairs holds documents; nothing changed.
    HasDocuments,
    /// It is [built in](Connector::built_in); nothing changed.
    BuiltIn,
}

/// Connectors.
///
/// # Contract
///
/// * Connector 0 always exists, is built in, and is the one of posted documents.
/// * No two connectors of one source have the same name; letter case matters.
#[async_trait]
pub trait ConnectorStore: Send + Sync + 'static {
    /// Makes a connector without pairs.
    async fn insert(
        &self,
        connector: NewConnector,
    ) -> Result<Result<Connector, ConnectorRefusal>, StoreError>;

    /// The connector; `None` when there is none.
    async fn get(&self, id: ConnectorId) -> Result<Option<Connector>, StoreError>;

    /// Connectors by rising id, at most `limit` after `after`; those of a credential only, where
    /// one is named.
    async fn list(
        &self,
        credential: Option<CredentialId>,
        after: Option<ConnectorId>,
        limit: u32,
    ) -> Result<Vec<Connector>, StoreError>;

    /// Replaces what was decided about a connector, as long as that still is `present`.
    async fn replace(
        &self,
        id: ConnectorId,
        present: &ConnectorDetails,
        details: ConnectorDetails,
        now: DateTime<Utc>,
    ) -> Result<Result<Connector, ConnectorRefusal>, StoreError>;

    /// Removes a connector and its pairs, unless one of them holds documents.
    async fn remove(&self, id: ConnectorId) -> Result<ConnectorRemoval, StoreError>;
}
