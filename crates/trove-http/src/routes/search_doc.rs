//! A document as searches and chats show it.

use std::collections::BTreeMap;

use serde::Serialize;
use trove_domain::document::MetadataValue;
use trove_domain::section::RankedSection;
use utoipa::ToSchema;

use super::schema::{SourceValue, instant_text};

/// A section of a document, with the properties of the document.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SearchDoc {
    /// Id of the document.
    document_id: String,
    /// Position in the document of the chunk that fits best.
    chunk_ind: u32,
    /// Name of the document.
    semantic_identifier: String,
    /// Where a reader finds it; null when the document has no link.
    link: Option<String>,
    /// The beginning of the chunk that fits best.
    blurb: String,
    /// The system the document comes from.
    #[schema(value_type = SourceValue)]
    source_type: &'static str,
    /// How much administrators prefer the document; 0 by default.
    boost: i32,
    /// Always false: hidden documents are not found.
    hidden: bool,
    /// Properties of the document, each a text or a list of texts.
    #[schema(value_type = BTreeMap<String, serde_json::Value>)]
    metadata: BTreeMap<String, Values>,
    /// How well the chunk fits one of the queries; comparable within one answer only, and not what
    /// the answer is sorted by when there were several queries.
    score: Option<f32>,
    /// Not used.
    is_relevant: Option<bool>,
    /// Not used.
    relevance_explanation: Option<String>,
    /// Where the words of the query are in the chunk, each wrapped in `<hi>` and `</hi>`.
    match_highlights: Vec<String>,
    /// Last change of the document; null when it is not known.
    #[schema(format = DateTime)]
    updated_at: Option<String>,
    /// Who is responsible for the document.
    primary_owners: Option<Vec<String>>,
    /// Who else is.
    secondary_owners: Option<Vec<String>>,
    /// Always false: nothing is searched for outside.
    is_internet: bool,
    /// Not used.
    file_id: Option<String>,
}

/// What one property of a document says.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Values {
    One(String),
    Many(Vec<String>),
}

/// A [`SearchDoc`] with its text.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SearchDocWithContent {
    #[serde(flatten)]
    doc: SearchDoc,
    /// Text of the section; null unless it was asked for.
    content: Option<String>,
}

impl SearchDoc {
    /// `highlights` are those of the best chunk.
    pub(crate) fn of(section: &RankedSection, highlights: Vec<String>) -> Self {
        let center = section.center();
        let attributes = &center.chunk.attributes;
        let metadata = attributes.metadata.iter().map(|(key, value)| {
            let value = match value {
                MetadataValue::One(value) => Values::One(value.clone()),
                MetadataValue::Many(values) => Values::Many(values.clone()),
            };
            (key.clone(), value)
        });
        let owners = |owners: &Vec<String>| (!owners.is_empty()).then(|| owners.clone());
        Self {
            document_id: section.document().as_str().to_owned(),
            chunk_ind: center.chunk.id.ordinal,
            semantic_identifier: attributes.semantic_identifier.clone(),
            link: center.chunk.link.clone(),
            blurb: center.chunk.blurb.clone(),
            source_type: attributes.source.as_str(),
            boost: attributes.boost,
            hidden: attributes.hidden,
            metadata: metadata.collect(),
            score: Some(center.score),
            is_relevant: None,
            relevance_explanation: None,
            match_highlights: highlights,
            updated_at: attributes.updated_at.map(instant_text),
            primary_owners: owners(&attributes.primary_owners),
            secondary_owners: owners(&attributes.secondary_owners),
            is_internet: false,
            file_id: None,
        }
    }

    /// Adds the text of the section, or that there is none.
    pub(crate) fn with_content(self, content: Option<String>) -> SearchDocWithContent {
        SearchDocWithContent { doc: self, content }
    }
}
