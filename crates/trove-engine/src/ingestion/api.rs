//! The ingestion interface: one document at a time, searchable when it answers.

use std::sync::Arc;

use trove_domain::access::{Caller, Role};
use trove_domain::cc_pair::{AccessType, CcPair, PairReader};
use trove_domain::error::{Classify, ErrorKind, StoreError};
use trove_domain::id::{CcPairId, DocumentId};
use trove_domain::page::Page;
use trove_domain::port::DocumentSummary;

use super::{IngestError, IngestOutcome, IngestRequest, Ingested};
use crate::Engine;

/// Why the ingestion interface refused a call or failed in it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IngestionAccessError {
    /// There is no such pair that the caller may see.
    #[error("there is no connector-credential pair {0}")]
    NoSuchPair(CcPairId),
    /// There is no such document that the caller may see.
    #[error("there is no document {0}")]
    NoSuchDocument(DocumentId),
    /// The document came another way, so its source decides about it.
    #[error("document {0} was not created by the ingestion interface; its connector manages it")]
    NotFromIngestion(DocumentId),
    /// The caller may not edit a pair that is concerned.
    #[error("you may not edit the connector-credential pair of this document")]
    PairForbidden,
    /// The document was not indexed.
    #[error(transparent)]
    Ingest(#[from] Arc<IngestError>),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Classify for IngestionAccessError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoSuchPair(_) | Self::NoSuchDocument(_) => ErrorKind::NotFound,
            Self::NotFromIngestion(_) => ErrorKind::Invalid,
            Self::PairForbidden => ErrorKind::Forbidden,
            Self::Ingest(error) => error.kind(),
            Self::Store(error) => error.kind(),
        }
    }
}

impl Engine {
    /// Indexes one document on behalf of `caller`; it is searchable when this answers.
    ///
    /// # Errors
    ///
    /// [`IngestionAccessError`]; the index then holds what it held before.
    pub async fn ingest(
        &self,
        caller: &Caller,
        request: IngestRequest,
    ) -> Result<Ingested, IngestionAccessError> {
        let pair = self.readable_pair(caller, request.cc_pair.unwrap_or(CcPair::DEFAULT)).await?;
        let document_id = request.document.id.clone();
        let mut concerned = vec![pair.id];
        let known = self.backends().documents.get(std::slice::from_ref(&document_id)).await?;
        concerned.extend(known.into_iter().flatten().flat_map(|record| record.cc_pairs));
        self.require_editable(caller, &concerned).await?;

        let outcome = self.ingest_batch(pair.id, vec![request.document]).await.pop();
        let already_existed = match outcome {
            Some(IngestOutcome::Indexed { new }) => !new,
            Some(
                IngestOutcome::AttributesUpdated | IngestOutcome::Unchanged | IngestOutcome::Empty,
            )
            | None => true,
            Some(IngestOutcome::Failed(error)) => return Err(error.into()),
        };
        Ok(Ingested { document_id, already_existed })
    }

    /// Removes a document that was posted, from the index and from every pair.
    ///
    /// # Errors
    ///
    /// [`IngestionAccessError`]. After a failure of index or database the removal is finished
    /// later; the document is not found any more in either case once the registry knows.
    pub async fn remove_ingested(
        &self,
        caller: &Caller,
        id: &DocumentId,
    ) -> Result<(), IngestionAccessError> {
        let records = self.backends().documents.get(std::slice::from_ref(id)).await?;
        let Some(record) = records.into_iter().flatten().next() else {
            return Err(IngestionAccessError::NoSuchDocument(id.clone()));
        };
        if !self.may_read_any(caller, &record.cc_pairs).await? {
            return Err(IngestionAccessError::NoSuchDocument(id.clone()));
        }
        self.require_editable(caller, &record.cc_pairs).await?;
        if !record.registration.from_ingestion_api {
            return Err(IngestionAccessError::NotFromIngestion(id.clone()));
        }
        self.remove_documents(std::slice::from_ref(id)).await.map_err(Arc::new)?;
        Ok(())
    }

    /// A page of the documents that were posted to pairs that `caller` may see, by rising id.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when they cannot be read.
    pub async fn list_ingested(
        &self,
        caller: &Caller,
        after: Option<&DocumentId>,
        limit: u32,
    ) -> Result<Page<DocumentSummary, DocumentId>, StoreError> {
        let reader = PairReader::of(caller);
        self.backends().documents.list_from_ingestion_api(reader, after, limit).await
    }

    /// A page of the documents of a pair, by rising id.
    ///
    /// # Errors
    ///
    /// [`IngestionAccessError::NoSuchPair`], also for a pair that the caller may not read.
    pub async fn list_pair_documents(
        &self,
        caller: &Caller,
        pair: CcPairId,
        after: Option<&DocumentId>,
        limit: u32,
    ) -> Result<Page<DocumentSummary, DocumentId>, IngestionAccessError> {
        self.readable_pair(caller, pair).await?;
        Ok(self.backends().documents.list_by_pair(pair, after, limit).await?)
    }

    /// A pair that `caller` may see; one that it may not see is as good as none.
    async fn readable_pair(
        &self,
        caller: &Caller,
        id: CcPairId,
    ) -> Result<CcPair, IngestionAccessError> {
        match self.backends().cc_pairs.get(id).await? {
            Some(pair) if self.may_read(caller, &pair).await? => Ok(pair),
            _ => Err(IngestionAccessError::NoSuchPair(id)),
        }
    }

    /// Whether `caller` may see one of `pairs`.
    async fn may_read_any(&self, caller: &Caller, pairs: &[CcPairId]) -> Result<bool, StoreError> {
        for id in pairs {
            if let Some(pair) = self.backends().cc_pairs.get(*id).await?
                && self.may_read(caller, &pair).await?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether `caller` may see that a pair exists.
    async fn may_read(&self, caller: &Caller, pair: &CcPair) -> Result<bool, StoreError> {
        if caller.role == Role::Admin || pair.access_type != AccessType::Private {
            return Ok(true);
        }
        if pair.creator == Some(caller.user) {
            return Ok(true);
        }
        let memberships = self.backends().groups.memberships(caller.user).await?;
        Ok(memberships.iter().any(|membership| pair.groups.contains(&membership.group)))
    }

    /// Fails unless `caller` may edit all of `pairs`.
    ///
    /// An administrator may edit every pair; a curator those that are shared with groups it
    /// curates and with no other, a global curator those that are shared with groups it is a
    /// member of and with no other; both the ones they made.
    async fn require_editable(
        &self,
        caller: &Caller,
        pairs: &[CcPairId],
    ) -> Result<(), IngestionAccessError> {
        let needs_curator_flag = match caller.role {
            Role::Admin => return Ok(()),
            Role::Curator => true,
            Role::GlobalCurator => false,
            Role::Limited | Role::Basic | Role::SlackUser | Role::ExtPermUser => {
                return Err(IngestionAccessError::PairForbidden);
            }
        };
        let memberships = self.backends().groups.memberships(caller.user).await?;
        let controls = |group| {
            memberships.iter().any(|m| m.group == group && (m.curator || !needs_curator_flag))
        };
        for id in pairs {
            let pair = self.backends().cc_pairs.get(*id).await?;
            let editable = pair.is_some_and(|pair| {
                pair.creator == Some(caller.user)
                    || (!pair.groups.is_empty() && pair.groups.iter().all(|group| controls(*group)))
            });
            if !editable {
                return Err(IngestionAccessError::PairForbidden);
            }
        }
        Ok(())
    }
}
