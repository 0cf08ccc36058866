//! What administrators and curators decide about single documents, and whether the index knows.

use trove_domain::access::Caller;
use trove_domain::audit::AuditAction;
use trove_domain::error::{Classify, ErrorKind, StoreError};
use trove_domain::id::{CcPairId, DocumentId};
use trove_domain::page::Page;
use trove_domain::port::{DocumentFlag, FlaggedDocument, SyncState};

use super::PairError;
use crate::Engine;
use crate::audit::details;

/// Why nothing was decided about a document.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FlagError {
    /// There is no such document that is the caller's to decide about.
    #[error("document {0} does not exist, or is not yours to change")]
    NoSuchDocument(DocumentId),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Classify for FlagError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoSuchDocument(_) => ErrorKind::NotFound,
            Self::Store(error) => error.kind(),
        }
    }
}

impl Engine {
    /// Decides about a document; searches follow as soon as the index knows.
    ///
    /// # Errors
    ///
    /// [`FlagError`]; nothing changes then.
    pub async fn flag_document(
        &self,
        caller: &Caller,
        id: &DocumentId,
        flag: DocumentFlag,
    ) -> Result<(), FlagError> {
        let set = async {
            let (now, job) = (self.backends().clock.now(), self.sync_job());
            let set = self.backends().document_flags.set_flag(caller, id, flag, now, job).await?;
            self.shared.jobs_enqueued.notify_one();
            if set { Ok(()) } else { Err(FlagError::NoSuchDocument(id.clone())) }
        };
        let wanted = match flag {
            DocumentFlag::Boost(boost) => details([("boost", boost.to_string())]),
            DocumentFlag::Hidden(hidden) => details([("hidden", hidden.to_string())]),
        };
        self.recorded(AuditAction::FlagDocument, format!("document {id}"), wanted, set).await
    }

    /// The documents that are `caller`'s to decide about, by boost.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when they cannot be read.
    pub async fn list_by_boost(
        &self,
        caller: &Caller,
        ascending: bool,
        limit: u32,
    ) -> Result<Vec<FlaggedDocument>, StoreError> {
        self.backends().document_flags.list_by_boost(caller, ascending, limit).await
    }

    /// Whether the index knows of the documents of a pair that `caller` sees what the registry
    /// knows, by rising id.
    ///
    /// # Errors
    ///
    /// [`PairError`]; a pair that the caller may not see is like none.
    pub async fn list_sync_states(
        &self,
        caller: &Caller,
        pair: CcPairId,
        after: Option<&DocumentId>,
        limit: u32,
    ) -> Result<Page<SyncState, DocumentId>, PairError> {
        self.require_seen_pair(caller, pair).await?;
        Ok(self.backends().document_flags.list_sync_states(pair, after, limit).await?)
    }
}
