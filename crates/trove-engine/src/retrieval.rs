//! Search: from a caller's words to ranked passages.

mod search;

use trove_domain::document::Tag;
use trove_domain::error::{Classify, ErrorKind, StoreError};
use trove_domain::port::DocumentIndexError;
use trove_domain::query::{QueryText, TimeRange};
use trove_domain::section::RankedSection;
use trove_domain::source::DocumentSource;

/// A search as a caller asks for it.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchRequest {
    /// What to search for.
    pub query: QueryText,
    /// Any of these sources; empty for all.
    pub sources: Vec<DocumentSource>,
    /// In any of the sets with these names; empty for all.
    pub document_sets: Vec<String>,
    /// Carrying all of these tags.
    pub tags: Vec<Tag>,
    /// Updated in this span.
    pub updated_at: TimeRange,
    /// Created in this span.
    pub created_at: TimeRange,
}

impl SearchRequest {
    /// A search in everything that the caller may read.
    #[must_use]
    pub fn new(query: QueryText) -> Self {
        Self {
            query,
            sources: Vec::new(),
            document_sets: Vec::new(),
            tags: Vec::new(),
            updated_at: TimeRange::default(),
            created_at: TimeRange::default(),
        }
    }
}

/// A passage that answers a search.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchResult {
    /// Number of the document in the answer, from 1 in order of first appearance; passages of one
    /// document share it.
    pub citation_id: u32,
    /// The passage.
    pub section: RankedSection,
}

/// Why a search failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The caller cannot see these sets, or they do not exist.
    #[error("user does not have access to document sets: {}", listed(names))]
    DocumentSets {
        /// The names in question, sorted.
        names: Vec<String>,
    },
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The index failed.
    #[error(transparent)]
    Index(#[from] DocumentIndexError),
}

/// Names that are listed in a refusal, and how much of each.
const LISTED: (usize, usize) = (100, 200);

/// Names for a sentence, within bounds: they are what somebody sent.
fn listed(names: &[String]) -> String {
    let (count, chars) = LISTED;
    let mut parts: Vec<String> = names
        .iter()
        .take(count)
        .map(|name| match name.char_indices().nth(chars) {
            Some((end, _)) => format!("{}…", &name[..end]),
            None => name.clone(),
        })
        .collect();
    if names.len() > count {
        parts.push(format!("and {} more", names.len() - count));
    }
    parts.join(", ")
}

impl Classify for SearchError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::DocumentSets { .. } => ErrorKind::Forbidden,
            Self::Store(error) => error.kind(),
            Self::Index(error) => error.kind(),
        }
    }
}
