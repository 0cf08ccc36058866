//! What a caller asks an index.

use chrono::{DateTime, Utc};

use crate::access::AccessScope;
use crate::document::{DocumentAttributes, Tag};
use crate::id::{DocumentId, DocumentSetId};
use crate::source::DocumentSource;

/// Text of a search, 1 to [`QueryText::MAX_CHARS`] characters. May be blank: it then finds nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QueryText(String);

/// Why a string is no query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidQueryText {
    /// The empty string.
    #[error("a query needs at least 1 character")]
    Empty,
    /// More than [`QueryText::MAX_CHARS`] characters.
    #[error("a query has at most {max} characters", max = QueryText::MAX_CHARS)]
    TooLong,
}

impl QueryText {
    /// Longest accepted query in Unicode code points.
    pub const MAX_CHARS: usize = 2048;

    /// Checks and wraps `text`.
    ///
    /// # Errors
    ///
    /// [`InvalidQueryText`] when it is empty or too long.
    pub fn new(text: impl Into<String>) -> Result<Self, InvalidQueryText> {
        let text = text.into();
        if text.is_empty() {
            return Err(InvalidQueryText::Empty);
        }
        if text.chars().nth(Self::MAX_CHARS).is_some() {
            return Err(InvalidQueryText::TooLong);
        }
        Ok(Self(text))
    }

    /// The query as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Weight of the dense half of a hybrid search: 0 is purely lexical, 1 purely dense.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct HybridAlpha(f32);

/// Why a number is no [`HybridAlpha`].
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("hybrid alpha must be between 0.0 and 1.0, not {0}")]
pub struct InvalidHybridAlpha(pub f32);

impl HybridAlpha {
    /// Words only.
    pub const LEXICAL: Self = Self(0.0);
    /// Mostly words: for queries that are made of keywords.
    pub const KEYWORD: Self = Self(0.2);
    /// Both halves weigh the same.
    pub const BALANCED: Self = Self(0.5);
    /// Vectors only.
    pub const DENSE: Self = Self(1.0);

    /// Checks and wraps `alpha`.
    ///
    /// # Errors
    ///
    /// [`InvalidHybridAlpha`] outside 0.0 to 1.0 and for NaN.
    pub fn new(alpha: f32) -> Result<Self, InvalidHybridAlpha> {
        if (0.0..=1.0).contains(&alpha) { Ok(Self(alpha)) } else { Err(InvalidHybridAlpha(alpha)) }
    }

    /// The weight, 0.0 to 1.0.
    #[must_use]
    pub fn get(self) -> f32 {
        self.0
    }

    /// Whether words alone decide, so that no embedding is needed.
    #[must_use]
    pub fn is_lexical(self) -> bool {
        self.0 <= 0.0
    }

    /// Whether vectors alone decide.
    #[must_use]
    pub fn is_dense(self) -> bool {
        self.0 >= 1.0
    }
}

/// A span of time, inclusive at both ends; an open end is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TimeRange {
    /// Earliest accepted instant.
    pub start: Option<DateTime<Utc>>,
    /// Latest accepted instant.
    pub end: Option<DateTime<Utc>>,
}

impl TimeRange {
    /// Whether it restricts nothing.
    #[must_use]
    pub fn is_unbounded(&self) -> bool {
        self.start.is_none() && self.end.is_none()
    }

    /// Whether `instant` lies inside. What has no date lies in the unbounded range only.
    #[must_use]
    pub fn admits(&self, instant: Option<DateTime<Utc>>) -> bool {
        instant.map_or(self.is_unbounded(), |instant| {
            self.start.is_none_or(|start| instant >= start)
                && self.end.is_none_or(|end| instant <= end)
        })
    }
}

/// What an agent knows: documents that are in any of its sets or that it names itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Knowledge {
    /// Documents in any of these sets.
    pub document_sets: Vec<DocumentSetId>,
    /// These documents.
    pub documents: Vec<DocumentId>,
}

impl Knowledge {
    /// Whether a document is part of it.
    #[must_use]
    pub fn holds(&self, id: &DocumentId, attributes: &DocumentAttributes) -> bool {
        self.document_sets.iter().any(|set| attributes.document_sets.contains(set))
            || self.documents.contains(id)
    }
}

/// What a caller narrows a search to. All kinds are combined with AND; an empty list restricts
/// nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SearchFilters {
    /// Any of these sources.
    pub sources: Vec<DocumentSource>,
    /// In any of these sets.
    pub document_sets: Vec<DocumentSetId>,
    /// Carrying all of these tags.
    pub tags: Vec<Tag>,
    /// Updated in this span. A document without that date passes an unbounded one only.
    pub updated_at: TimeRange,
    /// Created in this span, likewise.
    pub created_at: TimeRange,
    /// Part of what an agent knows; without one all documents are. An agent that knows nothing
    /// finds nothing.
    pub knowledge: Option<Knowledge>,
}

impl SearchFilters {
    /// Whether a document passes: the definition that every index agrees with.
    #[must_use]
    pub fn accept(&self, id: &DocumentId, attributes: &DocumentAttributes) -> bool {
        (self.sources.is_empty() || self.sources.contains(&attributes.source))
            && (self.document_sets.is_empty()
                || self.document_sets.iter().any(|set| attributes.document_sets.contains(set)))
            && self.tags.iter().all(|tag| {
                attributes
                    .metadata
                    .get(&tag.key)
                    .is_some_and(|value| value.values().any(|value| value == tag.value))
            })
            && self.updated_at.admits(attributes.updated_at)
            && self.created_at.admits(attributes.created_at)
            && self.knowledge.as_ref().is_none_or(|knowledge| knowledge.holds(id, attributes))
    }
}

/// One search of an index.
///
/// There is no `Default`: the scope has to be named.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexQuery {
    /// What to search for by words.
    pub text: String,
    /// Embedding of the query, of unit length; without one the search is lexical whatever `alpha`
    /// says.
    pub vector: Option<Vec<f32>>,
    /// How much the vectors weigh.
    pub alpha: HybridAlpha,
    /// What the caller may read.
    pub scope: AccessScope,
    /// What the caller narrows the search to.
    pub filters: SearchFilters,
    /// Most hits to return; 0 returns none.
    pub limit: usize,
}
