use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::cc_pair::PairReader;
use crate::document::{DocumentAttributes, Metadata};
use crate::error::StoreError;
use crate::external_access::ExternalAccess;
use crate::id::{CcPairId, DocumentId};
use crate::page::Page;
use crate::source::DocumentSource;

/// What the registry keeps of a document's content and is replaced by each ingestion.
#[derive(Clone, Debug, PartialEq)]
pub struct Registration {
    /// The document.
    pub id: DocumentId,
    /// The system it comes from.
    pub source: DocumentSource,
    /// Name to display.
    pub semantic_identifier: String,
    /// First link.
    pub link: Option<String>,
    /// What tag filters match.
    pub metadata: Metadata,
    /// Last change in the source.
    pub updated_at: Option<DateTime<Utc>>,
    /// Creation in the source.
    pub created_at: Option<DateTime<Utc>>,
    /// Main people, as labels.
    pub primary_owners: Vec<String>,
    /// Other people, as labels.
    pub secondary_owners: Vec<String>,
    /// Whether it was posted to the ingestion interface.
    pub from_ingestion_api: bool,
    /// Who may read it by what its source says; `None` where it says nothing, and in what is read
    /// back: see [`DocumentStore::external_access`].
    pub external_access: Option<ExternalAccess>,
    /// Whether the content in the index is about to be replaced: the stored hash is then forgotten
    /// until `mark_indexed`, so that a crash in between cannot make old content look current.
    pub content_changes: bool,
}

/// Which work on a document is not finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PendingState {
    /// The attributes in the index may be out of date.
    Attributes,
    /// To be removed from the index, then from the registry.
    Removal,
}

/// A registered document.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentRecord {
    /// What its last ingestion said; `content_changes` is `true` as long as `content_hash` is
    /// `None`.
    pub registration: Registration,
    /// Grows with every change, of access and sets too.
    pub revision: i64,
    /// Unfinished work; `None` when index and registry agree.
    pub pending: Option<PendingState>,
    /// Hash of the content in the index; `None` before it was indexed, and while it is being
    /// replaced.
    pub content_hash: Option<String>,
    /// Model that its vectors come from; `None` when it has none.
    pub embedding_model: Option<String>,
    /// Number of chunks in the index.
    pub chunk_count: u32,
    /// Pairs that hold it and are not being deleted, by rising id.
    pub cc_pairs: Vec<CcPairId>,
    /// Those of them that have it indexed: for the others it was registered, and then the process
    /// was lost.
    pub indexed_for: Vec<CcPairId>,
}

/// A document whose content has reached the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexedMark {
    /// The document.
    pub id: DocumentId,
    /// Revision that the index was written with.
    pub revision: i64,
    /// Hash of the content.
    pub content_hash: String,
    /// Number of chunks.
    pub chunk_count: u32,
    /// Model that the vectors come from; `None` when there are none.
    pub embedding_model: Option<String>,
}

/// What a list of documents shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentSummary {
    /// The document.
    pub id: DocumentId,
    /// Name to display.
    pub semantic_identifier: String,
    /// First link.
    pub link: Option<String>,
}

/// Attributes with the revision that they were read at.
#[derive(Clone, Debug, PartialEq)]
pub struct RegisteredAttributes {
    /// Revision of the document.
    pub revision: i64,
    /// Registration, access and sets, joined.
    pub attributes: DocumentAttributes,
}

/// A document with unfinished work that the registry alone can finish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirtyDocument {
    /// The document.
    pub id: DocumentId,
    /// [`PendingState::Attributes`] or [`PendingState::Removal`].
    pub pending: PendingState,
}

/// What became of a document that was unlinked from a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlinked {
    /// The pair did not hold it; nothing changed.
    NotLinked,
    /// Other pairs still hold it; its access changed, so it is dirty.
    StillHeld,
    /// No pair holds it any more: it is to be removed.
    Orphaned,
}

/// The registry of documents: what is indexed, for which pairs, in which state.
///
/// # Contract
///
/// * Indexing goes `register` → write the index → `mark_indexed`; changes of attributes go (some
///   step that makes the document dirty) → `attributes` → write the index → `mark_synced`; removal
///   goes `begin_removal` or `unlink` → remove from the index → `finish_removal`. After a crash
///   anywhere, `list_dirty` answers what is left to do.
/// * Every change grows the revision of the document. One that comes back after it was forgotten
///   begins at the microseconds of `now`, and so above all revisions that it had, unless the clock
///   was set back.
/// * A document that is to be removed is gone for `get`, `attributes` and the lists; registering it
///   again cancels the removal and continues its revisions.
#[async_trait]
pub trait DocumentStore: Send + Sync + 'static {
    /// The documents, in input order; `None` for those that are not registered.
    async fn get(&self, ids: &[DocumentId]) -> Result<Vec<Option<DocumentRecord>>, StoreError>;

    /// What the source of a pair has said of who may read the documents, in input order: `None` for
    /// those of which it has said nothing. `None` altogether where the pair does not leave that to
    /// its source, or is not there.
    async fn external_access(
        &self,
        pair: CcPairId,
        ids: &[DocumentId],
    ) -> Result<Option<Vec<Option<ExternalAccess>>>, StoreError>;

    /// Adds the documents or replaces what their last ingestion said, links them to `pair`, and
    /// answers their revisions in input order. One step for all.
    ///
    /// Boost, hidden flag and links to other pairs stay. What a registration says of external access
    /// is kept for this pair, if that leaves it to its source; without it what was kept stays. The documents are pending for their
    /// attributes; `content_changes` forgets the content hash, otherwise it stays. `None` when the
    /// pair does not exist or is being deleted, and nothing changes.
    async fn register(
        &self,
        pair: CcPairId,
        documents: &[Registration],
        now: DateTime<Utc>,
    ) -> Result<Option<Vec<i64>>, StoreError>;

    /// Records that content reached the index, and that `pair` has it indexed. Nothing is pending
    /// then, unless the revision has grown meanwhile: the document is pending for its attributes,
    /// whether they were written before or not. Marks of documents that are not registered or are to be removed are ignored.
    async fn mark_indexed(
        &self,
        pair: CcPairId,
        marks: &[IndexedMark],
        now: DateTime<Utc>,
    ) -> Result<(), StoreError>;

    /// What the index must say of the documents now, in input order; `None` for those that are not
    /// registered.
    async fn attributes(
        &self,
        ids: &[DocumentId],
    ) -> Result<Vec<Option<RegisteredAttributes>>, StoreError>;

    /// Records that the index says what `attributes` answered; ignored for documents whose revision
    /// has grown since, and for those that are to be removed.
    async fn mark_synced(
        &self,
        revisions: &[(DocumentId, i64)],
        now: DateTime<Utc>,
    ) -> Result<(), StoreError>;

    /// Documents that are pending for attributes or removal, by rising id; at most `limit` after
    /// `after`.
    async fn list_dirty(
        &self,
        after: Option<&DocumentId>,
        limit: u32,
    ) -> Result<Vec<DirtyDocument>, StoreError>;

    /// Takes documents out of a pair, in input order. One step for all.
    async fn unlink(
        &self,
        pair: CcPairId,
        ids: &[DocumentId],
        now: DateTime<Utc>,
    ) -> Result<Vec<Unlinked>, StoreError>;

    /// Marks documents for removal whatever pairs hold them; answers those that were there.
    async fn begin_removal(
        &self,
        ids: &[DocumentId],
        now: DateTime<Utc>,
    ) -> Result<Vec<DocumentId>, StoreError>;

    /// Those of the documents that are to be removed, with their revisions, by rising id.
    async fn due_removals(&self, ids: &[DocumentId]) -> Result<Vec<(DocumentId, i64)>, StoreError>;

    /// Forgets documents that are still to be removed at these revisions; others are left alone.
    async fn finish_removal(&self, documents: &[(DocumentId, i64)]) -> Result<(), StoreError>;

    /// Forgets the content of every document, because the index was lost: each counts as changed
    /// when it is next ingested. Answers how many had content.
    async fn forget_contents(&self, now: DateTime<Utc>) -> Result<u64, StoreError>;

    /// Indexed documents of a pair, by rising id.
    async fn list_by_pair(
        &self,
        pair: CcPairId,
        after: Option<&DocumentId>,
        limit: u32,
    ) -> Result<Page<DocumentSummary, DocumentId>, StoreError>;

    /// Documents that were posted to the ingestion interface and are indexed for a pair that
    /// `reader` sees, by rising id.
    async fn list_from_ingestion_api(
        &self,
        reader: PairReader,
        after: Option<&DocumentId>,
        limit: u32,
    ) -> Result<Page<DocumentSummary, DocumentId>, StoreError>;
}
