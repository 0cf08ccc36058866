//! What an index finds.

use std::sync::Arc;

use crate::chunk::ChunkId;
use crate::document::DocumentAttributes;

/// A chunk with everything a result shows of it.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexedChunk {
    /// Its key.
    pub id: ChunkId,
    /// Title of the document, one line.
    pub title: Option<String>,
    /// The text as shown.
    pub text: String,
    /// Short beginning of the text.
    pub blurb: String,
    /// Where a reader finds this part.
    pub link: Option<String>,
    /// Properties of the document, shared by its chunks in one answer.
    pub attributes: Arc<DocumentAttributes>,
}

/// A hit.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredChunk {
    /// What was found.
    pub chunk: IndexedChunk,
    /// Higher is better; comparable within one search only.
    pub score: f32,
}
