//! Search: from a caller's words to ranked passages.
//!
//! Two searches share their parts. [`Engine::search`](crate::Engine::search) answers passages in
//! one piece; [`Engine::search_documents`](crate::Engine::search_documents) answers documents as a
//! stream of events. Both recall chunks for one or several queries, merge the rankings, and merge
//! neighbouring chunks to sections. Where a language model is at hand it may rewrite the query,
//! select sections and widen them; when it fails, the search goes on without it.

mod agent;
mod assistant;
mod context;
mod documents;
mod expansion;
mod highlight;
mod history;
mod passages;
mod query_vectors;
mod recall;
mod selection;

use trove_domain::document::Tag;
use trove_domain::error::{Classify, ErrorKind, StoreError};
use trove_domain::llm::Speaker;
use trove_domain::port::DocumentIndexError;
use trove_domain::query::{HybridAlpha, QueryText, TimeRange};
use trove_domain::section::RankedSection;
use trove_domain::source::DocumentSource;

use crate::language_models::LanguageModelChoiceError;

pub use crate::language_models::ModelChoice;
pub use documents::SearchEvent;
pub use highlight::Highlighter;
pub(crate) use query_vectors::Absence;

/// What a caller narrows a search to. All kinds are combined with AND; an empty list restricts
/// nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FilterRequest {
    /// Any of these sources.
    pub sources: Vec<DocumentSource>,
    /// In any of the sets with these names.
    pub document_sets: Vec<String>,
    /// Carrying all of these tags.
    pub tags: Vec<Tag>,
    /// Updated in this span. Documents without a date are in none.
    pub updated_at: TimeRange,
    /// Created in this span, likewise.
    pub created_at: TimeRange,
}

/// An earlier turn of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryTurn {
    /// Who said it.
    pub speaker: Speaker,
    /// What was said.
    pub text: String,
}

/// A search for passages.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchRequest {
    /// What to search for.
    pub query: QueryText,
    /// What to search in.
    pub filters: FilterRequest,
    /// Searches as this agent: what it knows and since when, with its model.
    pub agent: Option<i32>,
    /// Asks this model; the agent's, or the deployment's, when absent.
    pub model: Option<ModelChoice>,
    /// Searches for the query as it is.
    pub skip_expansion: bool,
    /// What was said before the query, oldest first.
    pub history: Vec<HistoryTurn>,
}

impl SearchRequest {
    /// A search in everything that the caller may read.
    #[must_use]
    pub fn new(query: QueryText) -> Self {
        Self {
            query,
            filters: FilterRequest::default(),
            agent: None,
            model: None,
            skip_expansion: false,
            history: Vec::new(),
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

/// A search for documents, answered step by step.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentSearchRequest {
    /// What to search for, at most [`DocumentSearchRequest::QUERY_CHARS_MAX`] characters. May be
    /// empty: it then finds nothing.
    pub query: String,
    /// What to search in.
    pub filters: FilterRequest,
    /// Most sections to return, and most chunks that one query retrieves.
    pub hits: usize,
    /// Weight of the vectors; the deployment's when absent.
    pub alpha: Option<HybridAlpha>,
    /// Lets a language model find more queries.
    pub expand: bool,
    /// Lets a language model select among so many of the best sections.
    pub select_from: Option<usize>,
}

impl DocumentSearchRequest {
    /// Longest query in characters.
    pub const QUERY_CHARS_MAX: usize = 10_000;
    /// Most hits that can be asked for.
    pub const HITS_MAX: usize = 1_000;
    /// Hits of a search that does not say how many.
    pub const HITS_DEFAULT: usize = 30;

    /// A search in everything that the caller may read, without a language model.
    #[must_use]
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            filters: FilterRequest::default(),
            hits: Self::HITS_DEFAULT,
            alpha: None,
            expand: false,
            select_from: None,
        }
    }
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
    /// There is no such agent, or the caller cannot see it.
    #[error("there is no agent {id}")]
    Agent {
        /// What was asked for.
        id: i32,
    },
    /// The model that was asked for is not to be had.
    #[error(transparent)]
    Model(#[from] LanguageModelChoiceError),
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
    let count = LISTED.0;
    let mut parts: Vec<String> = names.iter().take(count).map(|name| shortened(name)).collect();
    if names.len() > count {
        parts.push(format!("and {} more", names.len() - count));
    }
    parts.join(", ")
}

fn shortened(name: &str) -> String {
    match name.char_indices().nth(LISTED.1) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

impl Classify for SearchError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::DocumentSets { .. } => ErrorKind::Forbidden,
            Self::Agent { .. } => ErrorKind::NotFound,
            Self::Model(error) => error.kind(),
            Self::Store(error) => error.kind(),
            Self::Index(error) => error.kind(),
        }
    }

    fn code(&self) -> Option<&'static str> {
        match self {
            Self::Agent { .. } => Some("PERSONA_NOT_FOUND"),
            Self::Model(error) => error.code(),
            _ => None,
        }
    }
}
