//! Documents as sources deliver them.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};

use crate::access::DocumentAccess;
use crate::external_access::ExternalAccess;
use crate::id::{DocumentId, DocumentSetId};
use crate::source::DocumentSource;

/// A key and one value of it; a document with a list value carries one tag for each item.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag {
    /// Name of the property.
    pub key: String,
    /// One value of the property, exact and case-sensitive.
    pub value: String,
}

/// Value of one metadata key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MetadataValue {
    /// A single value.
    One(String),
    /// A list, in the order of the source.
    Many(Vec<String>),
}

impl MetadataValue {
    /// The values, one or many.
    pub fn values(&self) -> impl Iterator<Item = &str> {
        match self {
            Self::One(value) => std::slice::from_ref(value).iter(),
            Self::Many(values) => values.iter(),
        }
        .map(String::as_str)
    }
}

/// Metadata of a document by key: what tag filters match.
pub type Metadata = BTreeMap<String, MetadataValue>;

/// The tags of a document's metadata.
pub fn tags(metadata: &Metadata) -> impl Iterator<Item = Tag> {
    metadata.iter().flat_map(|(key, value)| {
        value.values().map(|value| Tag { key: key.clone(), value: value.to_owned() })
    })
}

/// Key of metadata that is for filters only.
const NOT_SEARCHED: &str = "ignore_for_qa";

/// The values of a document's metadata whose words a search matches.
pub fn keywords(metadata: &Metadata) -> impl Iterator<Item = &str> {
    let searched = metadata.iter().filter(|(key, _)| *key != NOT_SEARCHED);
    searched.flat_map(|(_, value)| value.values())
}

/// A person connected with a document, as much as the source knows of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expert {
    /// Name to display.
    pub display_name: Option<String>,
    /// Given name.
    pub first_name: Option<String>,
    /// Middle initial.
    pub middle_initial: Option<String>,
    /// Family name.
    pub last_name: Option<String>,
    /// Address.
    pub email: Option<String>,
}

impl Expert {
    /// The one text that stands for the person; `None` when nothing usable is known.
    ///
    /// Full name, else display name, else an address that looks like one, else the given name.
    #[must_use]
    pub fn label(&self) -> Option<String> {
        fn filled(text: Option<&String>) -> Option<&str> {
            text.map(|text| text.trim()).filter(|text| !text.is_empty())
        }
        if let (Some(first), Some(last)) =
            (filled(self.first_name.as_ref()), filled(self.last_name.as_ref()))
        {
            return Some(match filled(self.middle_initial.as_ref()) {
                Some(middle) => format!("{first} {middle} {last}"),
                None => format!("{first} {last}"),
            });
        }
        filled(self.display_name.as_ref())
            .or_else(|| {
                filled(self.email.as_ref()).filter(|email| {
                    email.split_once('@').is_some_and(|(local, domain)| {
                        !local.is_empty() && domain.contains('.') && !email.contains(' ')
                    })
                })
            })
            .or_else(|| filled(self.first_name.as_ref()))
            .map(str::to_owned)
    }
}

/// A part of a document with its own link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Plain text.
    pub text: String,
    /// Where a reader finds this part.
    pub link: Option<String>,
}

/// One item of a source, complete: what ingestion takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// Global key; two sources that use the same key write the same document.
    pub id: DocumentId,
    /// Text, in reading order.
    pub sections: Vec<Section>,
    /// The system it comes from.
    pub source: DocumentSource,
    /// Name to display.
    pub semantic_identifier: String,
    /// Title to search; `None` means the semantic identifier, `Some("")` means no title at all.
    pub title: Option<String>,
    /// What tag filters match.
    pub metadata: Metadata,
    /// Last change in the source; an undated document never passes a time filter.
    pub updated_at: Option<DateTime<Utc>>,
    /// Creation in the source.
    pub created_at: Option<DateTime<Utc>>,
    /// Main people.
    pub primary_owners: Vec<Expert>,
    /// Other people.
    pub secondary_owners: Vec<Expert>,
    /// Whether it was posted to the ingestion interface.
    pub from_ingestion_api: bool,
    /// Who may read it by what its source says; `None` when the source says nothing, so that what it
    /// said before stays. Counts in pairs only whose source says who may read.
    pub external_access: Option<ExternalAccess>,
}

impl Document {
    /// A document of which nothing is known but this.
    #[must_use]
    pub fn new(
        id: DocumentId,
        source: DocumentSource,
        semantic_identifier: impl Into<String>,
        sections: Vec<Section>,
    ) -> Self {
        Self {
            id,
            sections,
            source,
            semantic_identifier: semantic_identifier.into(),
            title: None,
            metadata: Metadata::new(),
            updated_at: None,
            created_at: None,
            primary_owners: Vec::new(),
            secondary_owners: Vec::new(),
            from_ingestion_api: false,
            external_access: None,
        }
    }

    /// The title that is searched and embedded: one line, `None` when there is none.
    #[must_use]
    pub fn searchable_title(&self) -> Option<String> {
        let title = self.title.as_deref().unwrap_or(&self.semantic_identifier);
        let line = title.replace(['\r', '\n'], " ");
        let line = line.trim();
        (!line.is_empty()).then(|| line.to_owned())
    }

    /// Whether there is nothing to index: neither a title nor any text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.searchable_title().is_none()
            && self.sections.iter().all(|section| section.text.trim().is_empty())
    }

    /// First link of any section.
    #[must_use]
    pub fn link(&self) -> Option<&str> {
        self.sections.iter().find_map(|section| section.link.as_deref())
    }
}

/// Everything about an indexed document that can change without embedding it again.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentAttributes {
    /// Name to display.
    pub semantic_identifier: String,
    /// The system it comes from.
    pub source: DocumentSource,
    /// Who may read it.
    pub access: DocumentAccess,
    /// Sets it belongs to, through its pairs.
    pub document_sets: BTreeSet<DocumentSetId>,
    /// Never found by a search when set.
    pub hidden: bool,
    /// Weight given by feedback or an administrator; 0 is neutral.
    pub boost: i32,
    /// What tag filters match.
    pub metadata: Metadata,
    /// Last change in the source.
    pub updated_at: Option<DateTime<Utc>>,
    /// Creation in the source.
    pub created_at: Option<DateTime<Utc>>,
    /// Main people, as labels.
    pub primary_owners: Vec<String>,
    /// Other people, as labels.
    pub secondary_owners: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::Expert;

    fn expert(parts: [Option<&str>; 5]) -> Expert {
        let [display_name, first_name, middle_initial, last_name, email] =
            parts.map(|part| part.map(str::to_owned));
        Expert { display_name, first_name, middle_initial, last_name, email }
    }

    #[test]
    fn an_expert_is_labelled_by_the_best_that_is_known() {
        let check = |parts, label: Option<&str>| {
            assert_eq!(expert(parts).label().as_deref(), label);
        };
        check([Some("D"), Some("F"), Some("M"), Some("L"), None], Some("F M L"));
        check([Some("D"), Some("F"), None, Some("L"), None], Some("F L"));
        check([Some("D"), Some("F"), None, None, Some("a@b.c")], Some("D"));
        check([None, Some("F"), None, None, Some("a@b.c")], Some("a@b.c"));
        check([None, Some("F"), None, None, Some("nonsense")], Some("F"));
        check([None, None, None, Some("L"), Some(" ")], None);
    }
}
