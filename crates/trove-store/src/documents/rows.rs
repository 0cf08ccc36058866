//! Rows of `document`, to and from the entities.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use serde_json::Value;
use trove_domain::document::{Metadata, MetadataValue};
use trove_domain::id::DocumentId;
use trove_domain::page::Page;
use trove_domain::port::{DocumentRecord, DocumentSummary, PendingState, Registration};

use super::REMOVAL;
use crate::error::{Failure, corrupt};
use crate::schema::document;
use crate::sql::Time;

#[derive(Queryable, Selectable)]
#[diesel(table_name = document)]
pub(super) struct DocumentRow {
    pub(super) id: String,
    pub(super) source: String,
    pub(super) semantic_identifier: String,
    pub(super) link: Option<String>,
    pub(super) metadata: String,
    pub(super) updated_at: Option<Time>,
    pub(super) created_at: Option<Time>,
    pub(super) primary_owners: String,
    pub(super) secondary_owners: String,
    pub(super) from_ingestion_api: bool,
    pub(super) boost: i32,
    pub(super) hidden: bool,
    pub(super) revision: i64,
    pub(super) pending: Option<String>,
    pub(super) content_hash: Option<String>,
    pub(super) embedding_model: Option<String>,
    pub(super) chunk_count: i32,
}

/// What a registration adds or replaces.
pub(super) struct NewDocumentRow<'a> {
    pub(super) id: &'a str,
    pub(super) source: &'static str,
    pub(super) semantic_identifier: &'a str,
    pub(super) link: &'a Option<String>,
    pub(super) metadata: String,
    pub(super) updated_at: Option<Time>,
    pub(super) created_at: Option<Time>,
    pub(super) primary_owners: String,
    pub(super) secondary_owners: String,
    pub(super) from_ingestion_api: bool,
    pub(super) changed_at: Time,
    /// Revision of a document that is new.
    pub(super) revision: i64,
    /// The same when the content changes, else 0.
    pub(super) content_revision: i64,
}

impl<'a> NewDocumentRow<'a> {
    pub(super) fn new(registration: &'a Registration, now: DateTime<Utc>) -> Self {
        let Registration {
            id,
            source,
            semantic_identifier,
            link,
            metadata,
            updated_at,
            created_at,
            primary_owners,
            secondary_owners,
            from_ingestion_api,
            external_access: _,
            content_changes,
        } = registration;
        let revision = now.timestamp_micros().max(1);
        Self {
            id: id.as_str(),
            source: source.as_str(),
            semantic_identifier,
            link,
            metadata: metadata_json(metadata),
            updated_at: updated_at.map(Time),
            created_at: created_at.map(Time),
            primary_owners: Value::from(primary_owners.clone()).to_string(),
            secondary_owners: Value::from(secondary_owners.clone()).to_string(),
            from_ingestion_api: *from_ingestion_api,
            changed_at: Time(now),
            revision,
            content_revision: if *content_changes { revision } else { 0 },
        }
    }
}

fn metadata_json(metadata: &Metadata) -> String {
    let object: serde_json::Map<String, Value> = metadata
        .iter()
        .map(|(key, value)| {
            let value = match value {
                MetadataValue::One(text) => Value::from(text.clone()),
                MetadataValue::Many(texts) => Value::from(texts.clone()),
            };
            (key.clone(), value)
        })
        .collect();
    Value::Object(object).to_string()
}

/// Not what this crate writes.
#[derive(Debug, thiserror::Error)]
#[error("a stored JSON value has the wrong shape")]
struct WrongShape;

pub(super) fn metadata(json: &str, id: &str) -> Result<Metadata, Failure> {
    let object: BTreeMap<String, Value> =
        serde_json::from_str(json).map_err(corrupt("document", id))?;
    object
        .into_iter()
        .map(|(key, value)| match value {
            Value::String(text) => Ok((key, MetadataValue::One(text))),
            Value::Array(items) => {
                let texts: Option<Vec<String>> =
                    items.into_iter().map(|item| item.as_str().map(str::to_owned)).collect();
                let texts = texts.ok_or(WrongShape).map_err(corrupt("document", id))?;
                Ok((key, MetadataValue::Many(texts)))
            }
            _ => Err(corrupt("document", id)(WrongShape)),
        })
        .collect()
}

pub(super) fn owners(json: &str, id: &str) -> Result<Vec<String>, Failure> {
    serde_json::from_str(json).map_err(corrupt("document", id))
}

pub(crate) fn document_id(id: String) -> Result<DocumentId, Failure> {
    DocumentId::new(id.clone()).map_err(corrupt("document", id))
}

pub(super) fn record(row: DocumentRow) -> Result<DocumentRecord, Failure> {
    let DocumentRow {
        id,
        source,
        semantic_identifier,
        link,
        metadata: metadata_json,
        updated_at,
        created_at,
        primary_owners,
        secondary_owners,
        from_ingestion_api,
        boost: _,
        hidden: _,
        revision,
        pending,
        content_hash,
        embedding_model,
        chunk_count,
    } = row;
    Ok(DocumentRecord {
        registration: Registration {
            source: source.parse().map_err(corrupt("document", &id))?,
            semantic_identifier,
            link,
            metadata: metadata(&metadata_json, &id)?,
            updated_at: updated_at.map(|at| at.0),
            created_at: created_at.map(|at| at.0),
            primary_owners: owners(&primary_owners, &id)?,
            secondary_owners: owners(&secondary_owners, &id)?,
            from_ingestion_api,
            external_access: None,
            content_changes: content_hash.is_none(),
            id: document_id(id)?,
        },
        revision,
        pending: pending.map(|pending| match pending.as_str() {
            REMOVAL => PendingState::Removal,
            _ => PendingState::Attributes,
        }),
        content_hash,
        embedding_model,
        chunk_count: u32::try_from(chunk_count).unwrap_or(0),
        cc_pairs: Vec::new(),
        indexed_for: Vec::new(),
    })
}

/// Rows of a list, one more than `limit` of which were asked for.
pub(super) fn page(
    rows: Vec<(String, String, Option<String>)>,
    limit: u32,
) -> Result<Page<DocumentSummary, DocumentId>, Failure> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = rows.len() > limit;
    let items: Vec<DocumentSummary> = rows
        .into_iter()
        .take(limit)
        .map(|(id, semantic_identifier, link)| {
            Ok(DocumentSummary { id: document_id(id)?, semantic_identifier, link })
        })
        .collect::<Result<_, Failure>>()?;
    let next = items.last().filter(|_| more).map(|last| last.id.clone());
    Ok(Page { items, next })
}
