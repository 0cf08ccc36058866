//! Short ways to the values that tests are made of.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use trove_domain::access::{AccessScope, AclTag, DocumentAccess};
use trove_domain::chunk::{Chunk, IndexableDocument};
use trove_domain::document::{DocumentAttributes, Metadata, MetadataValue, Tag};
use trove_domain::id::{DocumentId, DocumentSetId};
use trove_domain::port::AttributeUpdate;
use trove_domain::query::{HybridAlpha, IndexQuery, Knowledge, SearchFilters};
use trove_domain::source::DocumentSource;

/// A document id.
///
/// # Panics
///
/// When `id` is no document id.
#[must_use]
pub fn document_id(id: &str) -> DocumentId {
    DocumentId::new(id).unwrap()
}

/// An instant, in whole seconds since 1970.
///
/// # Panics
///
/// When it is beyond what a calendar holds.
#[must_use]
pub fn instant(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(seconds, 0).unwrap()
}

/// The vector that points from the origin at an angle of `degrees` in the first two dimensions,
/// of unit length: the cosine of two of them falls with the difference of their angles.
#[must_use]
#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    reason = "tests want single precision"
)]
pub fn at_angle(dimensions: usize, degrees: f64) -> Vec<f32> {
    let mut vector = vec![0.0; dimensions];
    let (sin, cos) = degrees.to_radians().sin_cos();
    vector[0] = cos as f32;
    vector[1] = sin as f32;
    vector
}

/// A public document of one chunk whose title and text are its id, at revision 1, without vector.
#[must_use]
pub fn document(id: &str) -> DocumentBuilder {
    DocumentBuilder(IndexableDocument {
        id: document_id(id),
        revision: 1,
        title: None,
        attributes: attributes(id),
        chunks: vec![chunk(0, id)],
    })
}

/// Public attributes of a document that came through the ingestion interface.
#[must_use]
pub fn attributes(semantic_identifier: &str) -> DocumentAttributes {
    DocumentAttributes {
        semantic_identifier: semantic_identifier.to_owned(),
        source: DocumentSource::IngestionApi,
        access: DocumentAccess::public(),
        document_sets: BTreeSet::new(),
        hidden: false,
        boost: 0,
        metadata: Metadata::new(),
        updated_at: None,
        created_at: None,
        primary_owners: Vec::new(),
        secondary_owners: Vec::new(),
    }
}

/// A chunk whose blurb is its text.
#[must_use]
pub fn chunk(ordinal: u32, text: &str) -> Chunk {
    Chunk { ordinal, text: text.to_owned(), blurb: text.to_owned(), link: None, vector: None }
}

/// Access for those who share one of `tags`.
#[must_use]
pub fn readable_by(tags: &[&str]) -> DocumentAccess {
    DocumentAccess::restricted_to(tags.iter().map(|tag| AclTag::from_stored(*tag)))
}

/// Makes an [`IndexableDocument`] step by step.
#[derive(Clone, Debug)]
pub struct DocumentBuilder(pub IndexableDocument);

impl DocumentBuilder {
    /// Sets the revision.
    #[must_use]
    pub fn revision(mut self, revision: i64) -> Self {
        self.0.revision = revision;
        self
    }

    /// Sets the title.
    #[must_use]
    pub fn title(mut self, title: &str) -> Self {
        self.0.title = Some(title.to_owned());
        self
    }

    /// Replaces the chunks by one with this text.
    #[must_use]
    pub fn text(self, text: &str) -> Self {
        self.texts(&[text])
    }

    /// Replaces the chunks by one for each text.
    #[must_use]
    pub fn texts(mut self, texts: &[&str]) -> Self {
        self.0.chunks = (0u32..).zip(texts).map(|(ordinal, text)| chunk(ordinal, text)).collect();
        self
    }

    /// Gives every chunk this vector; none when the index has no dimensions.
    #[must_use]
    pub fn near(mut self, dimensions: Option<usize>, degrees: f64) -> Self {
        for chunk in &mut self.0.chunks {
            chunk.vector = dimensions.map(|dimensions| at_angle(dimensions, degrees));
        }
        self
    }

    /// Restricts access to those who share one of `tags`.
    #[must_use]
    pub fn readable_by(mut self, tags: &[&str]) -> Self {
        self.0.attributes.access = readable_by(tags);
        self
    }

    /// Hides it.
    #[must_use]
    pub fn hidden(mut self) -> Self {
        self.0.attributes.hidden = true;
        self
    }

    /// Sets the source.
    #[must_use]
    pub fn source(mut self, source: DocumentSource) -> Self {
        self.0.attributes.source = source;
        self
    }

    /// Puts it into document sets.
    #[must_use]
    pub fn sets(mut self, sets: &[i32]) -> Self {
        self.0.attributes.document_sets = sets.iter().copied().map(DocumentSetId).collect();
        self
    }

    /// Adds metadata with one or many values.
    #[must_use]
    pub fn metadata(mut self, key: &str, values: &[&str]) -> Self {
        let value = match values {
            [value] => MetadataValue::One((*value).to_owned()),
            values => MetadataValue::Many(values.iter().map(|value| (*value).to_owned()).collect()),
        };
        self.0.attributes.metadata.insert(key.to_owned(), value);
        self
    }

    /// Dates the last change, in seconds since 1970.
    #[must_use]
    pub fn updated_at(mut self, seconds: i64) -> Self {
        self.0.attributes.updated_at = Some(instant(seconds));
        self
    }

    /// Dates the creation, in seconds since 1970.
    #[must_use]
    pub fn created_at(mut self, seconds: i64) -> Self {
        self.0.attributes.created_at = Some(instant(seconds));
        self
    }

    /// The document.
    #[must_use]
    pub fn build(self) -> IndexableDocument {
        self.0
    }

    /// The update that gives an indexed document these attributes, at this revision.
    #[must_use]
    pub fn into_update(self) -> AttributeUpdate {
        AttributeUpdate { id: self.0.id, revision: self.0.revision, attributes: self.0.attributes }
    }
}

/// A lexical query for the ten best public chunks.
#[must_use]
pub fn query(text: &str) -> QueryBuilder {
    QueryBuilder(IndexQuery {
        text: text.to_owned(),
        vector: None,
        alpha: HybridAlpha::BALANCED,
        scope: AccessScope::public_only(),
        filters: SearchFilters::default(),
        limit: 10,
    })
}

/// Makes an [`IndexQuery`] step by step.
#[derive(Clone, Debug)]
pub struct QueryBuilder(pub IndexQuery);

impl QueryBuilder {
    /// Searches as a caller who has these tags.
    #[must_use]
    pub fn within(mut self, tags: &[&str]) -> Self {
        self.0.scope = AccessScope::public_and(tags.iter().map(|tag| AclTag::from_stored(*tag)));
        self
    }

    /// Searches everything.
    #[must_use]
    pub fn unrestricted(mut self) -> Self {
        self.0.scope = AccessScope::everything("a test");
        self
    }

    /// Sets the vector, unless the index has no dimensions.
    #[must_use]
    pub fn near(mut self, dimensions: Option<usize>, degrees: f64) -> Self {
        self.0.vector = dimensions.map(|dimensions| at_angle(dimensions, degrees));
        self
    }

    /// Sets the weight of the vectors.
    ///
    /// # Panics
    ///
    /// When `alpha` is not between 0 and 1.
    #[must_use]
    pub fn alpha(mut self, alpha: f32) -> Self {
        self.0.alpha = HybridAlpha::new(alpha).unwrap();
        self
    }

    /// Sets the number of hits.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.0.limit = limit;
        self
    }

    /// Narrows to sources.
    #[must_use]
    pub fn sources(mut self, sources: &[DocumentSource]) -> Self {
        self.0.filters.sources = sources.to_vec();
        self
    }

    /// Narrows to document sets.
    #[must_use]
    pub fn sets(mut self, sets: &[i32]) -> Self {
        self.0.filters.document_sets = sets.iter().copied().map(DocumentSetId).collect();
        self
    }

    /// Narrows to documents that carry a tag.
    #[must_use]
    pub fn tag(mut self, key: &str, value: &str) -> Self {
        self.0.filters.tags.push(Tag { key: key.to_owned(), value: value.to_owned() });
        self
    }

    /// Narrows to a span of updates, in seconds since 1970.
    #[must_use]
    pub fn updated(mut self, start: Option<i64>, end: Option<i64>) -> Self {
        self.0.filters.updated_at.start = start.map(instant);
        self.0.filters.updated_at.end = end.map(instant);
        self
    }

    /// Narrows to a span of creations, in seconds since 1970.
    #[must_use]
    pub fn created(mut self, start: Option<i64>, end: Option<i64>) -> Self {
        self.0.filters.created_at.start = start.map(instant);
        self.0.filters.created_at.end = end.map(instant);
        self
    }

    /// Narrows to what is in one of the sets or named.
    #[must_use]
    pub fn knowing(mut self, sets: &[i32], documents: &[&str]) -> Self {
        self.0.filters.knowledge = Some(Knowledge {
            document_sets: sets.iter().copied().map(DocumentSetId).collect(),
            documents: documents.iter().map(|id| document_id(id)).collect(),
        });
        self
    }

    /// The query.
    #[must_use]
    pub fn build(self) -> IndexQuery {
        self.0
    }
}
