//! The head of a document: the point that says which version counts.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use qdrant_client::qdrant::{NamedVectors, PointStruct};
use serde::{Deserialize, Serialize};
use trove_domain::access::{AclTag, DocumentAccess};
use trove_domain::document::{DocumentAttributes, MetadataValue};
use trove_domain::id::{DocumentId, DocumentSetId};
use uuid::Uuid;

use crate::error::Unreadable;
use crate::payload::{
    Payload, Version, derived_id, expect_integer, expect_text, expect_u32, expect_version, field,
    point_id,
};

/// The id of the head of a document.
pub(crate) fn head_id(document: &DocumentId) -> Uuid {
    derived_id(&[b"head", document.as_str().as_bytes()])
}

/// What a writer has to know of an indexed document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The version that counts.
    pub version: Version,
    /// Revision it was written at.
    pub revision: i64,
    /// Number of its chunks.
    pub chunks: u32,
}

impl Mark {
    /// The fields that [`Mark::read`] reads.
    pub(crate) const FIELDS: [&str; 3] = [field::VERSION, field::REVISION, field::CHUNKS];

    pub(crate) fn read(payload: &mut Payload) -> Result<Self, Unreadable> {
        Ok(Self {
            version: expect_version(payload)?,
            revision: expect_integer(payload, field::REVISION)?,
            chunks: expect_u32(payload, field::CHUNKS)?,
        })
    }
}

/// What the chunks of a document share.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub title: Option<String>,
    pub attributes: Arc<DocumentAttributes>,
}

impl Head {
    pub(crate) fn read(payload: &mut Payload) -> Result<Self, Unreadable> {
        let text = expect_text(payload, field::HEAD)?;
        serde_json::from_str::<StoredHead>(&text)
            .map_err(|error| Unreadable::new(field::HEAD, &error))?
            .try_into()
    }

    /// The point, which has no vectors, so no search finds it.
    pub(crate) fn point(
        &self,
        document: &DocumentId,
        mark: Mark,
    ) -> Result<PointStruct, serde_json::Error> {
        let payload = Payload::from([
            (field::DOCUMENT.to_owned(), document.as_str().into()),
            (field::VERSION.to_owned(), mark.version.to_string().into()),
            (field::REVISION.to_owned(), mark.revision.into()),
            (field::CHUNKS.to_owned(), i64::from(mark.chunks).into()),
            (field::HEAD.to_owned(), serde_json::to_string(&StoredHead::from(self))?.into()),
        ]);
        Ok(PointStruct {
            id: Some(point_id(head_id(document))),
            payload,
            vectors: Some(NamedVectors::default().into()),
        })
    }
}

/// [`Head`] as stored. Fields may be added with a default; anything else is a new format.
#[derive(Serialize, Deserialize)]
struct StoredHead {
    title: Option<String>,
    semantic_identifier: String,
    source: String,
    public: bool,
    acl: Vec<String>,
    document_sets: Vec<i32>,
    hidden: bool,
    boost: i32,
    metadata: BTreeMap<String, StoredValue>,
    updated_at: Option<DateTime<Utc>>,
    created_at: Option<DateTime<Utc>>,
    primary_owners: Vec<String>,
    secondary_owners: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum StoredValue {
    One(String),
    Many(Vec<String>),
}

impl From<&Head> for StoredHead {
    fn from(head: &Head) -> Self {
        // Destructured in full: a new attribute is a compile error here, not a silent drop.
        let DocumentAttributes {
            semantic_identifier,
            source,
            access: DocumentAccess { public, tags },
            document_sets,
            hidden,
            boost,
            metadata,
            updated_at,
            created_at,
            primary_owners,
            secondary_owners,
        } = &*head.attributes;
        let stored = |value: &MetadataValue| match value {
            MetadataValue::One(value) => StoredValue::One(value.clone()),
            MetadataValue::Many(values) => StoredValue::Many(values.clone()),
        };
        Self {
            title: head.title.clone(),
            semantic_identifier: semantic_identifier.clone(),
            source: source.as_str().to_owned(),
            public: *public,
            acl: tags.iter().map(|tag| tag.as_str().to_owned()).collect(),
            document_sets: document_sets.iter().map(|set| set.0).collect(),
            hidden: *hidden,
            boost: *boost,
            metadata: metadata.iter().map(|(key, value)| (key.clone(), stored(value))).collect(),
            updated_at: *updated_at,
            created_at: *created_at,
            primary_owners: primary_owners.clone(),
            secondary_owners: secondary_owners.clone(),
        }
    }
}

impl TryFrom<StoredHead> for Head {
    type Error = Unreadable;

    fn try_from(stored: StoredHead) -> Result<Self, Unreadable> {
        let source = stored.source.parse().map_err(|e| Unreadable::new("source", &e))?;
        let value = |value| match value {
            StoredValue::One(value) => MetadataValue::One(value),
            StoredValue::Many(values) => MetadataValue::Many(values),
        };
        Ok(Self {
            title: stored.title,
            attributes: Arc::new(DocumentAttributes {
                semantic_identifier: stored.semantic_identifier,
                source,
                access: DocumentAccess {
                    public: stored.public,
                    tags: stored.acl.into_iter().map(AclTag::from_stored).collect(),
                },
                document_sets: stored.document_sets.into_iter().map(DocumentSetId).collect(),
                hidden: stored.hidden,
                boost: stored.boost,
                metadata: stored.metadata.into_iter().map(|(key, v)| (key, value(v))).collect(),
                updated_at: stored.updated_at,
                created_at: stored.created_at,
                primary_owners: stored.primary_owners,
                secondary_owners: stored.secondary_owners,
            }),
        })
    }
}
