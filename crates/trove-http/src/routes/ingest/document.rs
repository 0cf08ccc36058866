//! A document as it is posted.

use std::fmt::Write as _;

use chrono::{DateTime, Utc};
use trove_domain::document::{Document, Expert, Metadata, MetadataValue, Section};
use trove_domain::id::{DocumentId, InvalidDocumentId};
use trove_domain::source::DocumentSource;
use utoipa::ToSchema;

use crate::routes::schema::{SourceValue, source};
use crate::validation::{
    Field, Fields, Json, Read, Record, entries, list, one_of, record, text, timestamp,
};

/// Most values of metadata, those in lists counted one by one: each is a tag in the index.
const METADATA_VALUES_MAX: usize = 10_000;

/// A document. Everything else that is sent with it is ignored, access above all: the pair decides
/// who may read it.
#[derive(Debug, ToSchema)]
#[schema(as = DocumentBase)]
pub(crate) struct DocumentBody {
    /// Its key, before encoding; without one it is made from `semantic_identifier`.
    #[schema(value_type = Option<String>)]
    id: DocumentId,
    /// Its text, in reading order.
    #[schema(value_type = Vec<SectionBody>)]
    sections: Vec<Section>,
    /// The system it comes from.
    #[schema(value_type = Option<SourceValue>, default = "ingestion_api")]
    source: DocumentSource,
    /// Name to display.
    semantic_identifier: String,
    /// What tag filters match. Values are strings or lists of strings; anything else becomes text.
    #[schema(value_type = std::collections::BTreeMap<String, serde_json::Value>, example = json!({"team": "platform", "topics": ["keys", "tls"]}))]
    metadata: Metadata,
    /// Last change. The time of the request when absent.
    doc_updated_at: Option<DateTime<Utc>>,
    /// Creation.
    doc_created_at: Option<DateTime<Utc>>,
    /// Main people.
    #[schema(value_type = Option<Vec<ExpertBody>>)]
    primary_owners: Vec<Expert>,
    /// Other people.
    #[schema(value_type = Option<Vec<ExpertBody>>)]
    secondary_owners: Vec<Expert>,
    /// Title to search. `semantic_identifier` when absent, none at all when empty.
    title: Option<String>,
}

/// A part of a document with its own link.
#[derive(Debug, ToSchema)]
#[schema(as = TextSection)]
pub(crate) struct SectionBody {
    /// Plain text.
    text: String,
    /// Where a reader finds this part.
    link: Option<String>,
    /// `text`. Images and tables are not supported so far, and are refused.
    #[schema(rename = "type", value_type = Option<String>, default = "text")]
    #[expect(dead_code, reason = "only one kind gets past validation")]
    kind: (),
}

/// A person connected with a document.
#[derive(Debug, ToSchema)]
#[schema(as = BasicExpertInfo)]
pub(crate) struct ExpertBody {
    /// Name to display.
    display_name: Option<String>,
    /// Given name.
    first_name: Option<String>,
    /// Middle initial.
    middle_initial: Option<String>,
    /// Family name.
    last_name: Option<String>,
    /// Address.
    email: Option<String>,
}

impl DocumentBody {
    /// The document, dated `now` unless it has a date of its own.
    pub(super) fn into_document(self, now: DateTime<Utc>) -> Document {
        Document {
            id: self.id,
            sections: self.sections,
            source: self.source,
            semantic_identifier: self.semantic_identifier,
            title: self.title,
            metadata: self.metadata,
            updated_at: Some(self.doc_updated_at.unwrap_or(now)),
            created_at: self.doc_created_at,
            primary_owners: self.primary_owners,
            secondary_owners: self.secondary_owners,
            from_ingestion_api: true,
            // The pair says who may read.
            external_access: None,
        }
    }
}

impl Record for DocumentBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let id = fields.nullable("id", given_id);
        let sections = fields.required("sections", list(record::<SectionBody>));
        let source = fields.nullable("source", source);
        let semantic_identifier = fields.required("semantic_identifier", clean);
        let id = match (id.map(Option::flatten), &semantic_identifier) {
            (Ok(None), Ok(name)) => derived_id(name)
                .map_err(|why| fields.reject_field("semantic_identifier", no_id_of(why))),
            (Ok(None), Err(rejected)) => Err(*rejected),
            (Ok(Some(id)), _) => Ok(id),
            (Err(rejected), _) => Err(rejected),
        };
        let metadata = fields.required("metadata", metadata);
        let doc_updated_at = fields.nullable("doc_updated_at", timestamp);
        let doc_created_at = fields.nullable("doc_created_at", timestamp);
        let primary_owners = fields.nullable("primary_owners", list(record::<ExpertBody>));
        let secondary_owners = fields.nullable("secondary_owners", list(record::<ExpertBody>));
        let title = fields.nullable("title", clean);
        Ok(Self {
            id: id?,
            sections: sections?
                .into_iter()
                .map(|section| Section { text: section.text, link: section.link })
                .collect(),
            source: source?.unwrap_or(DocumentSource::IngestionApi),
            semantic_identifier: semantic_identifier?,
            metadata: metadata?,
            doc_updated_at: doc_updated_at?,
            doc_created_at: doc_created_at?,
            primary_owners: experts(primary_owners?),
            secondary_owners: experts(secondary_owners?),
            title: title?,
        })
    }
}

/// What a section is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SectionKind {
    Text,
    Other,
}

impl std::str::FromStr for SectionKind {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        match word {
            "text" => Ok(Self::Text),
            "image" | "tabular" => Ok(Self::Other),
            _ => Err(()),
        }
    }
}

impl Record for SectionBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let kind =
            fields.nullable("type", one_of::<SectionKind>(|| vec!["text", "image", "tabular"]));
        let image = fields.nullable("image_file_id", |_| Ok(()))?.is_some();
        let table = fields.nullable("csv_file_id", |_| Ok(()))?.is_some();
        let other = match kind {
            Ok(Some(kind)) => kind == SectionKind::Other,
            // Without a type, what a section holds tells what it is.
            Ok(None) => (image || table) && fields.lacks("text"),
            Err(_) => false,
        };
        if other {
            return Err(fields.reject("only text sections are supported so far"));
        }
        let text = fields.required("text", clean);
        let link = fields.nullable("link", clean);
        kind?;
        Ok(Self { text: text?, link: link?, kind: () })
    }
}

impl Record for ExpertBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let display_name = fields.nullable("display_name", clean);
        let first_name = fields.nullable("first_name", clean);
        let middle_initial = fields.nullable("middle_initial", clean);
        let last_name = fields.nullable("last_name", clean);
        let email = fields.nullable("email", clean);
        Ok(Self {
            display_name: display_name?,
            first_name: first_name?,
            middle_initial: middle_initial?,
            last_name: last_name?,
            email: email?,
        })
    }
}

fn experts(bodies: Option<Vec<ExpertBody>>) -> Vec<Expert> {
    let expert = |body: ExpertBody| Expert {
        display_name: body.display_name,
        first_name: body.first_name,
        middle_initial: body.middle_initial,
        last_name: body.last_name,
        email: body.email,
    };
    bodies.unwrap_or_default().into_iter().map(expert).collect()
}

/// A string without the NUL characters that databases choke on.
fn clean(field: Field<'_>) -> Read<String> {
    text(field).map(without_nul)
}

fn without_nul(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "") } else { text }
}

/// Metadata, its values as text: numbers, truth values and nested values as JSON.
fn metadata(field: Field<'_>) -> Read<Metadata> {
    let (json, place) = field.split();
    let entries = entries(place.same(json))?;
    let count = |json: &Json| match json {
        Json::List(items) => items.len(),
        _ => 1,
    };
    let values: usize = entries.iter().map(|(_, json)| count(json)).sum();
    if values > METADATA_VALUES_MAX || entries.len() > METADATA_VALUES_MAX {
        let count = values.max(entries.len());
        let msg = format!(
            "Dictionary should have at most {METADATA_VALUES_MAX} items after validation, not {count}"
        );
        return Err(place.reject("too_long", msg));
    }
    let as_text = |json: Json| without_nul(json.into_text());
    let entries = entries.into_iter().map(|(key, json)| {
        let value = match json {
            Json::List(items) => MetadataValue::Many(items.into_iter().map(as_text).collect()),
            one => MetadataValue::One(as_text(one)),
        };
        (without_nul(key), value)
    });
    Ok(entries.collect())
}

/// The id as it is stored, safe in a URL; an empty one is none.
fn given_id(field: Field<'_>) -> Read<Option<DocumentId>> {
    let (json, place) = field.split();
    let id = clean(place.same(json))?;
    if id.is_empty() {
        return Ok(None);
    }
    let refuse = |why: String| Err(place.reject("value_error", format!("Value error, {why}")));
    // Clients resolve these in a path before they send it, so that DELETE could not name them.
    if id == "." || id == ".." {
        return refuse(format!(
            "`{id}` cannot be a document id: it means something else in a path"
        ));
    }
    match DocumentId::new(encode(&id)) {
        Ok(id) => Ok(Some(id)),
        Err(why) => refuse(format!("{why}, percent-encoded")),
    }
}

/// The id of a document that was sent without one.
fn derived_id(semantic_identifier: &str) -> Result<DocumentId, InvalidDocumentId> {
    DocumentId::new(format!("ingestion_api_{}", encode(semantic_identifier)))
}

fn no_id_of(why: InvalidDocumentId) -> String {
    format!("without an id it is made from this, and {why}, percent-encoded; send an id")
}

/// Spaces become `_`; everything but the unreserved characters of RFC 3986 is percent-encoded.
fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b' ' => encoded.push('_'),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(byte));
            }
            // Writing to a string does not fail.
            other => drop(write!(encoded, "%{other:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::{derived_id, encode};

    #[test]
    fn ids_are_stored_url_safe() {
        assert_eq!(encode("team/a b"), "team%2Fa_b");
        assert_eq!(encode("a%2Fb"), "a%252Fb");
        assert_eq!(encode("Ünï-._~9"), "%C3%9Cn%C3%AF-._~9");
        assert_eq!(encode("../../etc"), "..%2F..%2Fetc");
        assert_eq!(derived_id("My Page").unwrap().as_str(), "ingestion_api_My_Page");
        assert_eq!(derived_id("").unwrap().as_str(), "ingestion_api_");
    }
}
