use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::{ConnectorRefusal, FileKey};
use crate::connector::{Connector, ConnectorDetails};
use crate::error::StoreError;
use crate::id::{ConnectorId, UserId};
use crate::stored_file::StoredFile;

/// What replaces what was decided about a connector, as in
/// [`ConnectorStore::replace`](super::ConnectorStore::replace).
#[derive(Clone, Debug)]
pub struct ConnectorReplacement {
    /// The connector.
    pub id: ConnectorId,
    /// What it must still be.
    pub present: ConnectorDetails,
    /// What it becomes.
    pub details: ConnectorDetails,
    /// When.
    pub now: DateTime<Utc>,
}

/// What is known about stored files. Their contents are in a [`FileStore`](super::FileStore).
///
/// # Contract
///
/// * A file is reserved before its content is written and finished after that, so that there is
///   never a content that nothing here names.
/// * What is reserved and not finished is no file: only `list_unfinished` answers it.
#[async_trait]
pub trait StoredFileStore: Send + Sync + 'static {
    /// Names contents that are about to be written.
    async fn reserve(
        &self,
        ids: &[FileKey],
        owner: Option<UserId>,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError>;

    /// Makes reserved files real, all of them or, with the answer `false`, none: when one of them is
    /// not reserved (any more).
    async fn finish(&self, files: &[StoredFile]) -> Result<bool, StoreError>;

    /// As `finish`, and in the same step replaces what was decided about a connector, which names
    /// them. Nothing changes with a refusal; a file that is not reserved any more is
    /// [`ConnectorRefusal::Superseded`].
    async fn finish_into(
        &self,
        files: &[StoredFile],
        connector: ConnectorReplacement,
    ) -> Result<Result<Connector, ConnectorRefusal>, StoreError>;

    /// Those of the files that there are, in no particular order.
    async fn find(&self, ids: &[FileKey]) -> Result<Vec<StoredFile>, StoreError>;

    /// What was reserved and not finished, by rising id; at most `limit` after `after`.
    async fn list_unfinished(
        &self,
        after: Option<&FileKey>,
        limit: u32,
    ) -> Result<Vec<FileKey>, StoreError>;

    /// Forgets files, finished or not. Their contents are to be removed before.
    async fn forget(&self, ids: &[FileKey]) -> Result<(), StoreError>;
}
