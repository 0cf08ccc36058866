//! What is known about a file besides its content.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};
use trove_domain::document::{Document, Expert, Section};
use trove_domain::id::DocumentId;
use trove_domain::source::DocumentSource;

use super::config::Listed;
use crate::metadata::{date, metadata_of};

/// Keys that say something else than a tag.
const NO_TAGS: [&str; 12] = [
    "document_id",
    "time_updated",
    "doc_updated_at",
    "link",
    "primary_owners",
    "secondary_owners",
    "filename",
    "file_display_name",
    "title",
    "connector_type",
    "pdf_password",
    "mime_type",
];

/// Metadata of many files, by the name of the file.
#[derive(Debug, Default)]
pub(super) struct ByName(HashMap<String, Map<String, Value>>);

impl ByName {
    /// Reads an object by name, or a list of objects that name their file; `None` if it is neither.
    pub(super) fn read(value: Value) -> Option<Self> {
        match value {
            Value::Object(by_name) => {
                let about = |(name, about)| match about {
                    Value::Object(about) => Some((name, about)),
                    _ => None,
                };
                Some(Self(by_name.into_iter().filter_map(about).collect()))
            }
            Value::Array(list) => {
                let about = |about: Value| match about {
                    Value::Object(about) => {
                        let name = about.get("filename")?.as_str()?.to_owned();
                        Some((name, about))
                    }
                    _ => None,
                };
                list.into_iter().map(about).collect::<Option<_>>().map(Self)
            }
            _ => None,
        }
    }

    /// What is known about a file: by its whole name first, then by its last part.
    pub(super) fn of(&self, name: &str) -> Map<String, Value> {
        let found = self.0.get(name).or_else(|| self.0.get(base_name(name)));
        found.cloned().unwrap_or_default()
    }
}

/// The name of a file without its folders.
pub(super) fn base_name(name: &str) -> &str {
    name.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or(name)
}

/// The id of the document that a file is.
pub(super) fn id_of(file: &Listed, about: &Map<String, Value>) -> Option<DocumentId> {
    let given = about.get("id").and_then(Value::as_str).map(str::trim);
    let given = given.filter(|id| !id.is_empty()).and_then(|id| DocumentId::new(id).ok());
    given.or_else(|| DocumentId::new(format!("FILE_CONNECTOR__{}", file.key.as_str())).ok())
}

/// The document that a file is.
pub(super) fn document(
    file: &Listed,
    id: DocumentId,
    about: Map<String, Value>,
    texts: &[String],
    run: DateTime<Utc>,
) -> Document {
    let filled = |key: &str| {
        let text = about.get(key)?.as_str()?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    };
    let name = filled("file_display_name").unwrap_or_else(|| base_name(&file.name).to_owned());
    let link = filled("link");
    let source = filled("connector_type").and_then(|kind| kind.parse().ok());
    let updated = ["doc_updated_at", "time_updated"];
    let updated = updated.iter().find_map(|key| date(about.get(*key)?.as_str()?));
    let text = texts.join("\n\n");
    let sections = if text.trim().is_empty() { Vec::new() } else { vec![Section { text, link }] };
    let mut document = Document::new(id, source.unwrap_or(DocumentSource::File), name, sections);
    document.title = filled("title");
    document.updated_at = Some(updated.unwrap_or(run));
    document.primary_owners = owners(about.get("primary_owners"));
    document.secondary_owners = owners(about.get("secondary_owners"));
    let tags = about.into_iter().filter(|(key, _)| !NO_TAGS.contains(&key.as_str()));
    document.metadata = metadata_of(tags.collect());
    document
}

/// Names of people; a single text is one name (S18).
fn owners(value: Option<&Value>) -> Vec<Expert> {
    let named = |name: &str| {
        let name = name.trim();
        let display_name = (!name.is_empty()).then(|| name.to_owned())?;
        Some(Expert { display_name: Some(display_name), ..Expert::default() })
    };
    match value {
        Some(Value::String(name)) => named(name).into_iter().collect(),
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).filter_map(named).collect()
        }
        _ => Vec::new(),
    }
}
