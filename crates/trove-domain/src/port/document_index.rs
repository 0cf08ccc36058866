use async_trait::async_trait;

use crate::access::AccessScope;
use crate::chunk::IndexableDocument;
use crate::document::DocumentAttributes;
use crate::error::{Classify, ErrorKind, Source, kind_of};
use crate::hit::{IndexedChunk, ScoredChunk};
use crate::id::DocumentId;
use crate::query::IndexQuery;

/// What an index is able to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexCapabilities {
    /// Length of the vectors it holds; `None` when it holds none and every search is lexical.
    pub dimensions: Option<usize>,
    /// Most documents that one write takes.
    pub batch_max: usize,
}

/// What an index holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexStatistics {
    /// Number of documents.
    pub documents: u64,
    /// Number of chunks.
    pub chunks: u64,
}

/// New attributes for an indexed document.
#[derive(Clone, Debug, PartialEq)]
pub struct AttributeUpdate {
    /// The document.
    pub id: DocumentId,
    /// Version of the document in the registry that the attributes were read at.
    pub revision: i64,
    /// Replaces all attributes.
    pub attributes: DocumentAttributes,
}

/// Neighbouring chunks of one document, both ends included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkRange {
    /// The document.
    pub document: DocumentId,
    /// Ordinal of the first chunk.
    pub first: u32,
    /// Ordinal of the last chunk.
    pub last: u32,
}

/// What became of one document of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteOutcome {
    /// It is as asked.
    Written,
    /// The index holds a later revision, which stays: read the registry again.
    Superseded,
    /// There is no such document (attribute updates only).
    Absent,
}

/// Chunk-level lexical, dense and hybrid retrieval.
///
/// # Contract
///
/// * The scope and the filters of a query are applied before ranking: a chunk that does not pass
///   takes no place among the hits and is not counted. Hidden documents never pass.
/// * A write is visible to every later `search` once its future resolves, and durable: it survives
///   the loss of the process right after.
/// * Each document changes as a whole: a `search` sees all chunks of one version or of the other,
///   never some of each, also when a write is cancelled or the process is lost in the middle.
/// * A write with a lower revision than the indexed one changes nothing (`Superseded`); the same
///   revision again is written again.
/// * Cancel-safe: dropping a write's future leaves each document wholly old or wholly new; the
///   write may still happen.
///
/// The suite `trove_testkit::document_index` is the executable form of this list.
#[async_trait]
pub trait DocumentIndex: Send + Sync + 'static {
    /// What this index is able to do.
    fn capabilities(&self) -> IndexCapabilities;

    /// Inserts the documents or replaces them with all their chunks.
    ///
    /// At most [`IndexCapabilities::batch_max`] documents, each id at most once. Outcomes come in
    /// input order. An error means that nothing is known of any of them: ask again.
    ///
    /// # Errors
    ///
    /// [`DocumentIndexError::DimensionMismatch`] before anything is written.
    async fn replace(
        &self,
        documents: Vec<IndexableDocument>,
    ) -> Result<Vec<WriteOutcome>, DocumentIndexError>;

    /// Replaces the attributes of indexed documents; chunks and vectors stay.
    ///
    /// Bounds and outcomes as for `replace`.
    async fn update_attributes(
        &self,
        updates: Vec<AttributeUpdate>,
    ) -> Result<Vec<WriteOutcome>, DocumentIndexError>;

    /// Removes documents with all their chunks. A document that is indexed with a later revision
    /// than the one given has come back meanwhile and stays; ids that are not indexed are ignored.
    async fn remove(&self, documents: &[(DocumentId, i64)]) -> Result<(), DocumentIndexError>;

    /// At most `query.limit` chunks, best first, ties broken by chunk id.
    ///
    /// * `alpha` 0 ranks by words alone and returns only chunks that hold a word of the query;
    ///   `alpha` 1 ranks by vectors alone; between them the scores are fused by
    ///   [`crate::fusion::convex_fusion`].
    /// * Words are matched in the title, in the text and in the values of metadata
    ///   ([`keywords`](crate::document::keywords)), regardless of case and inflection.
    /// * Scores are comparable within one call only.
    ///
    /// # Errors
    ///
    /// [`DocumentIndexError::DimensionMismatch`] when `query.vector` has another length.
    async fn search(&self, query: &IndexQuery) -> Result<Vec<ScoredChunk>, DocumentIndexError>;

    /// The chunks of each range, in the order of the ranges and by rising ordinal.
    ///
    /// A range that reaches beyond the document holds what there is of it. It is empty when the
    /// document is not indexed, is hidden or lies outside of `scope`. Meant for a few dozen ranges
    /// of a few chunks each, around hits.
    async fn fetch(
        &self,
        ranges: &[ChunkRange],
        scope: &AccessScope,
    ) -> Result<Vec<Vec<IndexedChunk>>, DocumentIndexError>;

    /// What the index holds at present.
    async fn statistics(&self) -> Result<IndexStatistics, DocumentIndexError>;

    /// Finishes background work and writes down what speeds up the next start; for shutdown.
    /// Nothing that was acknowledged depends on it.
    async fn flush(&self) -> Result<(), DocumentIndexError>;
}

/// Why an index call failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentIndexError {
    /// A vector of the wrong length: another embedding model than the index was built with.
    #[error("the embedding has {got} dimensions, the index holds {want}")]
    DimensionMismatch {
        /// Length of the vector in the call.
        got: usize,
        /// Length of the vectors in the index.
        want: usize,
    },
    /// More documents than [`IndexCapabilities::batch_max`] in one write.
    #[error("a write of {got} documents exceeds the limit of {max}")]
    BatchTooLarge {
        /// Number of documents in the call.
        got: usize,
        /// Most that are accepted.
        max: usize,
    },
    /// The index does not answer at present; trying again may help.
    #[error("the document index is unavailable in {operation}")]
    Unavailable {
        /// What was attempted.
        operation: &'static str,
        /// Why it failed.
        #[source]
        source: Source,
    },
    /// The index failed; trying again will not help.
    #[error("the document index failed in {operation}")]
    Backend {
        /// What was attempted.
        operation: &'static str,
        /// Why it failed.
        #[source]
        source: Source,
    },
}

impl Classify for DocumentIndexError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Unavailable { source, .. } => kind_of(source, ErrorKind::Unavailable),
            Self::Backend { source, .. } => kind_of(source, ErrorKind::Internal),
            Self::DimensionMismatch { .. } | Self::BatchTooLarge { .. } => ErrorKind::Internal,
        }
    }
}
