//! Documents in JSON, as scripts of tests have them.

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::{Map, Value};
use trove_domain::document::{Document, Expert, Section};
use trove_domain::external_access::{ExternalAccess, ExternalGroup, ExternalMembers};
use trove_domain::id::DocumentId;
use trove_domain::port::{FailedPart, ReadWindow, SourceFailure};
use trove_domain::source::DocumentSource;

use crate::metadata::metadata_of;

/// One step of a script. Whatever else it says is ignored.
#[derive(Debug, Deserialize)]
pub(crate) struct ScriptedStep {
    #[serde(default)]
    pub(crate) documents: Vec<ScriptedDocument>,
    pub(crate) checkpoint: ScriptedCheckpoint,
    #[serde(default)]
    pub(crate) failures: Vec<ScriptedFailure>,
    #[serde(default)]
    pub(crate) external_groups: Vec<ScriptedGroup>,
    #[serde(default)]
    pub(crate) unhandled_exception: Option<String>,
}

/// Where the script goes on.
#[derive(Debug, Deserialize)]
pub(crate) struct ScriptedCheckpoint {
    pub(crate) has_more: bool,
    #[serde(flatten)]
    pub(crate) rest: Map<String, Value>,
}

/// A document.
#[derive(Debug, Deserialize)]
pub(crate) struct ScriptedDocument {
    id: String,
    #[serde(default)]
    sections: Vec<ScriptedSection>,
    source: Option<String>,
    semantic_identifier: Option<String>,
    #[serde(default)]
    metadata: Map<String, Value>,
    doc_updated_at: Option<DateTime<Utc>>,
    doc_created_at: Option<DateTime<Utc>>,
    title: Option<String>,
    primary_owners: Option<Vec<ScriptedExpert>>,
    secondary_owners: Option<Vec<ScriptedExpert>>,
    external_access: Option<ScriptedAccess>,
}

/// Who may read a document. Groups are named by their ids, without the source.
#[derive(Debug, Deserialize)]
pub(crate) struct ScriptedAccess {
    #[serde(default)]
    external_user_emails: Vec<String>,
    #[serde(default)]
    external_user_group_ids: Vec<String>,
    #[serde(default)]
    is_public: bool,
}

impl Default for ScriptedAccess {
    /// Of documents of which a script does not say it.
    fn default() -> Self {
        Self {
            external_user_emails: ["test@example.com", "admin@example.com"]
                .map(str::to_owned)
                .into(),
            external_user_group_ids: ["mock-group-1", "mock-group-2"].map(str::to_owned).into(),
            is_public: false,
        }
    }
}

impl From<ScriptedAccess> for ExternalAccess {
    fn from(access: ScriptedAccess) -> Self {
        let groups = access.external_user_group_ids.iter();
        let groups = groups.map(|id| ExternalGroup::new(DocumentSource::MockConnector, id));
        Self::new(access.external_user_emails, groups, access.is_public)
    }
}

/// Who is in a group.
#[derive(Debug, Deserialize)]
pub(crate) struct ScriptedGroup {
    id: String,
    #[serde(default)]
    user_emails: Vec<String>,
    #[serde(default)]
    gives_anyone_access: bool,
}

impl From<ScriptedGroup> for ExternalMembers {
    fn from(group: ScriptedGroup) -> Self {
        let ScriptedGroup { id, user_emails, gives_anyone_access } = group;
        let group = ExternalGroup::new(DocumentSource::MockConnector, &id);
        Self::new(group, user_emails, gives_anyone_access)
    }
}

#[derive(Debug, Deserialize)]
struct ScriptedSection {
    text: Option<String>,
    link: Option<String>,
}

#[derive(Debug, Deserialize)]
struct ScriptedExpert {
    display_name: Option<String>,
    first_name: Option<String>,
    middle_initial: Option<String>,
    last_name: Option<String>,
    email: Option<String>,
}

impl From<ScriptedExpert> for Expert {
    fn from(expert: ScriptedExpert) -> Self {
        let ScriptedExpert { display_name, first_name, middle_initial, last_name, email } = expert;
        Self { display_name, first_name, middle_initial, last_name, email }
    }
}

impl ScriptedDocument {
    /// The document; `None` when its id is none.
    pub(crate) fn into_document(self) -> Option<Document> {
        let id = DocumentId::new(self.id).ok()?;
        let source = self.source.and_then(|source| source.parse().ok());
        let section =
            |section: ScriptedSection| Some(Section { text: section.text?, link: section.link });
        let sections = self.sections.into_iter().filter_map(section).collect();
        let name = self.semantic_identifier.unwrap_or_else(|| id.as_str().to_owned());
        let experts = |experts: Option<Vec<ScriptedExpert>>| {
            experts.unwrap_or_default().into_iter().map(Expert::from).collect()
        };
        let source = source.unwrap_or(DocumentSource::MockConnector);
        Some(Document {
            title: self.title,
            metadata: metadata_of(self.metadata),
            updated_at: self.doc_updated_at,
            created_at: self.doc_created_at,
            primary_owners: experts(self.primary_owners),
            secondary_owners: experts(self.secondary_owners),
            external_access: Some(self.external_access.unwrap_or_default().into()),
            ..Document::new(id, source, name, sections)
        })
    }
}

/// Something that the script says cannot be read.
#[derive(Debug, Deserialize)]
pub(crate) struct ScriptedFailure {
    failed_document: Option<FailedDocument>,
    failed_entity: Option<FailedEntity>,
    failure_message: String,
}

#[derive(Debug, Deserialize)]
struct FailedDocument {
    document_id: String,
    document_link: Option<String>,
}

#[derive(Debug, Deserialize)]
struct FailedEntity {
    entity_id: String,
    missed_time_range: Option<(DateTime<Utc>, DateTime<Utc>)>,
}

impl ScriptedFailure {
    /// The failure; `None` when it names nothing.
    pub(crate) fn into_failure(self) -> Option<SourceFailure> {
        let part = match (self.failed_document, self.failed_entity) {
            (Some(document), _) => FailedPart::Document {
                id: DocumentId::new(document.document_id).ok()?,
                link: document.document_link,
            },
            (None, Some(entity)) => FailedPart::Entity {
                id: entity.entity_id,
                window: entity.missed_time_range.map(|(start, end)| ReadWindow { start, end }),
            },
            (None, None) => return None,
        };
        Some(SourceFailure { part, message: self.failure_message })
    }
}
