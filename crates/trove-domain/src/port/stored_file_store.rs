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
    /// What its pairs are asked for.
    pub wanted: WantedOfPairs,
    /// When.
    pub now: DateTime<Utc>,
}

/// What the pairs of a connector are asked for in the step that changes its files; those that are
/// being deleted are asked for nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WantedOfPairs {
    /// To read what is new, in a run after the one that may be under way.
    pub update: bool,
    /// To look for what is gone.
    pub prune: bool,
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
    /// them, and asks its pairs for what is wanted of them: whoever asked for everything gets the
    /// changes, too. Nothing changes with a refusal; a file that is not reserved any more is
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

    /// Says that somebody is about to name files: for whoever looks for idle ones they are as good
    /// as new at `now`.
    async fn keep(&self, ids: &[FileKey], now: DateTime<Utc>) -> Result<(), StoreError>;

    /// The finished files that were made before `before` and not kept since then, by rising id; at
    /// most `limit` after `after`. Whether anything names them, the caller finds out.
    async fn list_idle(
        &self,
        before: DateTime<Utc>,
        after: Option<&FileKey>,
        limit: u32,
    ) -> Result<Vec<FileKey>, StoreError>;

    /// Makes those of the files unfinished that are idle still, and answers which: what was kept
    /// meanwhile stays. From then on nobody finds them, and they are removed as what was left behind.
    async fn retire(
        &self,
        ids: &[FileKey],
        before: DateTime<Utc>,
    ) -> Result<Vec<FileKey>, StoreError>;

    /// Forgets files, finished or not. Their contents are to be removed before.
    async fn forget(&self, ids: &[FileKey]) -> Result<(), StoreError>;
}
