//! From documents to an index that finds them.
//!
//! The order of writes makes every crash harmless: the registry forgets the content hash
//! (`register`), then the index changes (`replace`), then the registry knows the new hash
//! (`mark_indexed`). Whatever is lost in between is done again by the next ingestion of the
//! document or, for attributes and removals, by [`Engine::sync_documents`].

mod api;
mod chunker;
mod content_hash;
mod pipeline;
mod sync;
mod words;

use std::sync::Arc;

use trove_domain::document::Document;
use trove_domain::error::{Classify, ErrorKind, StoreError};
use trove_domain::external_access::TooManyReaders;
use trove_domain::id::{CcPairId, DocumentId};
use trove_domain::port::{DocumentIndexError, EmbeddingError};

pub use api::IngestionAccessError;
pub use sync::SYNC_QUEUE;

/// What became of a document.
#[derive(Debug)]
pub enum IngestOutcome {
    /// Its content was written to the index.
    Indexed {
        /// Whether the index did not know the document before.
        new: bool,
    },
    /// Its content is what the index holds; its attributes changed and were written.
    AttributesUpdated,
    /// Nothing of it changed, and nothing was done.
    Unchanged,
    /// It has neither a title nor any text, so there is nothing to find. It is not indexed.
    Empty,
    /// It was not indexed; the index holds what it held before.
    Failed(Arc<IngestError>),
}

/// Why a document was not indexed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IngestError {
    /// More text than the deployment accepts.
    #[error("the document has {chars} characters, more than the {max} that are accepted")]
    TooLong {
        /// Characters of title and text.
        chars: usize,
        /// Most that are accepted.
        max: usize,
    },
    /// More people and groups may read it than are kept.
    #[error(transparent)]
    TooManyReaders(#[from] TooManyReaders),
    /// There is no such pair.
    #[error("there is no connector-credential pair {0}")]
    NoSuchPair(CcPairId),
    /// The index lost the document between two writes.
    #[error("document {0} vanished while it was being indexed; try again")]
    Vanished(DocumentId),
    /// Others wrote the document again and again while we tried to.
    #[error("document {0} keeps changing; try again")]
    Contended(DocumentId),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The embedding model failed.
    #[error(transparent)]
    Embedding(#[from] EmbeddingError),
    /// The index failed.
    #[error(transparent)]
    Index(#[from] DocumentIndexError),
}

impl Classify for IngestError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::TooLong { .. } | Self::TooManyReaders(_) => ErrorKind::Invalid,
            Self::NoSuchPair(_) => ErrorKind::NotFound,
            Self::Contended(_) | Self::Vanished(_) => ErrorKind::Conflict,
            Self::Store(error) => error.kind(),
            Self::Embedding(error) => error.kind(),
            Self::Index(error) => error.kind(),
        }
    }
}

/// A document that a caller posts.
#[derive(Clone, Debug, PartialEq)]
pub struct IngestRequest {
    /// The document, its id already in stored form.
    pub document: Document,
    /// The pair it belongs to; `None` for the default one.
    pub cc_pair: Option<CcPairId>,
}

/// What the poster of a document learns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ingested {
    /// The stored id.
    pub document_id: DocumentId,
    /// Whether nothing new was added: the document was known, or there was nothing to index.
    pub already_existed: bool,
}
