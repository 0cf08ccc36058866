//! The indexed unit.

use std::fmt;

use crate::document::DocumentAttributes;
use crate::id::DocumentId;

/// The key of a chunk: its document and its position in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChunkId {
    /// The document it belongs to.
    pub document: DocumentId,
    /// Position in the document, from 0 and without gaps.
    pub ordinal: u32,
}

impl fmt::Display for ChunkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.document, self.ordinal)
    }
}

/// A piece of a document's text with what a result shows of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Chunk {
    /// Position in the document, from 0 and without gaps.
    pub ordinal: u32,
    /// The text as shown, without title or metadata. Empty only for a document without text.
    pub text: String,
    /// Short beginning of the text; the title where there is no text.
    pub blurb: String,
    /// Where a reader finds this part.
    pub link: Option<String>,
    /// Embedding of title and text, of unit length; `None` when there is no embedding model.
    pub vector: Option<Vec<f32>>,
}

/// A whole document in the form an index takes.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexableDocument {
    /// Its key.
    pub id: DocumentId,
    /// Version of the document in the registry; grows with every change of it.
    pub revision: i64,
    /// Title to search, one line.
    pub title: Option<String>,
    /// What can change without embedding again.
    pub attributes: DocumentAttributes,
    /// Its chunks, in order; never empty.
    pub chunks: Vec<Chunk>,
}
