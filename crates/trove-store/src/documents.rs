//! The registry of documents.

mod attributes;
mod rows;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncConnection, RunQueryDsl};
use trove_domain::error::StoreError;
use trove_domain::id::{CcPairId, DocumentId};
use trove_domain::page::Page;
use trove_domain::port::{
    DirtyDocument, DocumentRecord, DocumentStore, DocumentSummary, IndexedMark, PendingState,
    RegisteredAttributes, Registration, Unlinked,
};

use crate::Store;
use crate::backend::{read, transact};
use crate::error::corrupt;
use crate::schema::{cc_pair, document, document_cc_pair};
use crate::sql::Time;
use rows::{DocumentRow, NewDocumentRow, document_id, page, record};

pub(crate) const ATTRIBUTES: &str = "attributes";
pub(crate) const REMOVAL: &str = "removal";

/// Keys in one statement; SQLite accepts 32,766 values.
const KEYS_MAX: usize = 1000;

/// Rows that are not on their way out.
macro_rules! present {
    () => {
        document::pending.is_null().or(document::pending.ne(crate::documents::REMOVAL))
    };
}
pub(crate) use present;

/// Marks the documents of a pair as changed.
macro_rules! mark_pair_dirty {
    ($conn:expr, $pair:expr, $now:expr) => {{
        use crate::schema::{document, document_cc_pair};
        let of_pair = document_cc_pair::table
            .filter(document_cc_pair::cc_pair_id.eq($pair))
            .select(document_cc_pair::document_id);
        diesel::update(document::table)
            .filter(document::id.eq_any(of_pair))
            .filter(crate::documents::present!())
            .set((
                document::revision.eq(document::revision + 1),
                document::pending.eq(Some(crate::documents::ATTRIBUTES)),
                document::changed_at.eq(crate::sql::Time($now)),
            ))
            .execute($conn)
            .await?;
    }};
}
pub(crate) use mark_pair_dirty;

fn texts(ids: &[DocumentId]) -> Vec<&str> {
    ids.iter().map(DocumentId::as_str).collect()
}

#[async_trait]
impl DocumentStore for Store {
    #[tracing::instrument(name = "db.document.get", skip_all)]
    async fn get(&self, ids: &[DocumentId]) -> Result<Vec<Option<DocumentRecord>>, StoreError> {
        let mut found = std::collections::HashMap::new();
        for ids in ids.chunks(KEYS_MAX) {
            let ids = texts(ids);
            let (rows, links): (Vec<DocumentRow>, Vec<(String, i32)>) =
                read!(self, "document.get", |conn| {
                    let rows: Vec<DocumentRow> = document::table
                        .filter(document::id.eq_any(&ids))
                        .filter(present!())
                        .select(DocumentRow::as_select())
                        .load(conn)
                        .await?;
                    let links: Vec<(String, i32)> = document_cc_pair::table
                        .filter(document_cc_pair::document_id.eq_any(&ids))
                        .order(document_cc_pair::cc_pair_id)
                        .select((document_cc_pair::document_id, document_cc_pair::cc_pair_id))
                        .load(conn)
                        .await?;
                    Ok((rows, links))
                })?;
            for row in rows {
                let record = record(row).map_err(crate::error::failed("document.get"))?;
                found.insert(record.registration.id.clone(), record);
            }
            for (id, pair) in links {
                if let Some(record) = found.get_mut(id.as_str()) {
                    record.cc_pairs.push(CcPairId(pair));
                }
            }
        }
        Ok(ids.iter().map(|id| found.get(id).cloned()).collect())
    }

    #[tracing::instrument(name = "db.document.register", skip_all)]
    async fn register(
        &self,
        pair: CcPairId,
        documents: &[Registration],
        now: DateTime<Utc>,
    ) -> Result<Option<Vec<i64>>, StoreError> {
        transact!(self, "document.register", |conn| {
            let pairs: i64 = cc_pair::table.find(pair.0).count().get_result(conn).await?;
            if pairs == 0 {
                return Ok(None);
            }
            let mut revisions = Vec::with_capacity(documents.len());
            for registration in documents {
                let row = NewDocumentRow::new(registration, now);
                let revision: i64 = diesel::insert_into(document::table)
                    .values(&row)
                    .on_conflict(document::id)
                    .do_update()
                    .set((
                        &row.content,
                        document::revision.eq(document::revision + 1),
                        document::pending.eq(Some(ATTRIBUTES)),
                    ))
                    .returning(document::revision)
                    .get_result(conn)
                    .await?;
                if registration.content_changes {
                    diesel::update(document::table.find(registration.id.as_str()))
                        .set(document::content_hash.eq(None::<String>))
                        .execute(conn)
                        .await?;
                }
                diesel::insert_into(document_cc_pair::table)
                    .values((
                        document_cc_pair::document_id.eq(registration.id.as_str()),
                        document_cc_pair::cc_pair_id.eq(pair.0),
                        document_cc_pair::indexed.eq(false),
                    ))
                    .on_conflict_do_nothing()
                    .execute(conn)
                    .await?;
                revisions.push(revision);
            }
            Ok(Some(revisions))
        })
    }

    #[tracing::instrument(name = "db.document.mark_indexed", skip_all)]
    async fn mark_indexed(
        &self,
        pair: CcPairId,
        marks: &[IndexedMark],
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        transact!(self, "document.mark_indexed", |conn| {
            for mark in marks {
                let chunks =
                    i32::try_from(mark.chunk_count).map_err(corrupt("document", &mark.id))?;
                diesel::update(document::table.find(mark.id.as_str()).filter(present!()))
                    .set((
                        document::content_hash.eq(Some(&mark.content_hash)),
                        document::embedding_model.eq(mark.embedding_model.as_ref()),
                        document::chunk_count.eq(chunks),
                        document::changed_at.eq(Time(now)),
                    ))
                    .execute(conn)
                    .await?;
                let settled = document::table
                    .find(mark.id.as_str())
                    .filter(document::revision.eq(mark.revision))
                    .filter(document::pending.eq(ATTRIBUTES));
                diesel::update(settled)
                    .set(document::pending.eq(None::<String>))
                    .execute(conn)
                    .await?;
                diesel::update(document_cc_pair::table.find((mark.id.as_str(), pair.0)))
                    .set(document_cc_pair::indexed.eq(true))
                    .execute(conn)
                    .await?;
            }
            Ok(())
        })
    }

    #[tracing::instrument(name = "db.document.attributes", skip_all)]
    async fn attributes(
        &self,
        ids: &[DocumentId],
    ) -> Result<Vec<Option<RegisteredAttributes>>, StoreError> {
        let mut answer = Vec::with_capacity(ids.len());
        for ids in ids.chunks(KEYS_MAX) {
            answer.extend(self.attributes_of(ids).await?);
        }
        Ok(answer)
    }

    #[tracing::instrument(name = "db.document.mark_synced", skip_all)]
    async fn mark_synced(
        &self,
        revisions: &[(DocumentId, i64)],
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        transact!(self, "document.mark_synced", |conn| {
            for (id, revision) in revisions {
                let settled = document::table
                    .find(id.as_str())
                    .filter(document::revision.eq(revision))
                    .filter(document::pending.eq(ATTRIBUTES));
                diesel::update(settled)
                    .set((document::pending.eq(None::<String>), document::changed_at.eq(Time(now))))
                    .execute(conn)
                    .await?;
            }
            Ok(())
        })
    }

    #[tracing::instrument(name = "db.document.list_dirty", level = "debug", skip_all)]
    async fn list_dirty(
        &self,
        after: Option<&DocumentId>,
        limit: u32,
    ) -> Result<Vec<DirtyDocument>, StoreError> {
        read!(self, "document.list_dirty", |conn| {
            let rows: Vec<(String, Option<String>)> = document::table
                .filter(document::pending.is_not_null())
                .filter(document::id.gt(after.map_or("", DocumentId::as_str)))
                .order(document::id)
                .limit(i64::from(limit))
                .select((document::id, document::pending))
                .load(conn)
                .await?;
            rows.into_iter()
                .map(|(id, pending)| {
                    let pending = if pending.as_deref() == Some(REMOVAL) {
                        PendingState::Removal
                    } else {
                        PendingState::Attributes
                    };
                    Ok(DirtyDocument { id: document_id(id)?, pending })
                })
                .collect()
        })
    }

    #[tracing::instrument(name = "db.document.unlink", skip_all)]
    async fn unlink(
        &self,
        pair: CcPairId,
        ids: &[DocumentId],
        now: DateTime<Utc>,
    ) -> Result<Vec<Unlinked>, StoreError> {
        transact!(self, "document.unlink", |conn| {
            let mut states = Vec::with_capacity(ids.len());
            for id in ids {
                let id = id.as_str();
                let unlinked = diesel::delete(document_cc_pair::table.find((id, pair.0)))
                    .execute(conn)
                    .await?;
                if unlinked == 0 {
                    states.push(Unlinked::NotLinked);
                    continue;
                }
                let others: i64 = document_cc_pair::table
                    .filter(document_cc_pair::document_id.eq(id))
                    .count()
                    .get_result(conn)
                    .await?;
                let (state, pending) = if others > 0 {
                    (Unlinked::StillHeld, ATTRIBUTES)
                } else {
                    (Unlinked::Orphaned, REMOVAL)
                };
                diesel::update(document::table.find(id))
                    .set((
                        document::revision.eq(document::revision + 1),
                        document::pending.eq(Some(pending)),
                        document::changed_at.eq(Time(now)),
                    ))
                    .execute(conn)
                    .await?;
                if state == Unlinked::Orphaned {
                    // Whoever registers it again cannot rely on what the index holds.
                    diesel::update(document::table.find(id))
                        .set((
                            document::content_hash.eq(None::<String>),
                            document::chunk_count.eq(0),
                        ))
                        .execute(conn)
                        .await?;
                }
                states.push(state);
            }
            Ok(states)
        })
    }

    #[tracing::instrument(name = "db.document.begin_removal", skip_all)]
    async fn begin_removal(
        &self,
        ids: &[DocumentId],
        now: DateTime<Utc>,
    ) -> Result<Vec<DocumentId>, StoreError> {
        transact!(self, "document.begin_removal", |conn| {
            let mut marked = Vec::new();
            for id in ids {
                let changed = diesel::update(document::table.find(id.as_str()).filter(present!()))
                    .set((
                        document::revision.eq(document::revision + 1),
                        document::pending.eq(Some(REMOVAL)),
                        document::content_hash.eq(None::<String>),
                        document::chunk_count.eq(0),
                        document::changed_at.eq(Time(now)),
                    ))
                    .execute(conn)
                    .await?;
                if changed == 0 {
                    continue;
                }
                diesel::delete(document_cc_pair::table)
                    .filter(document_cc_pair::document_id.eq(id.as_str()))
                    .execute(conn)
                    .await?;
                marked.push(id.clone());
            }
            Ok(marked)
        })
    }

    #[tracing::instrument(name = "db.document.finish_removal", skip_all)]
    async fn finish_removal(&self, ids: &[DocumentId]) -> Result<(), StoreError> {
        transact!(self, "document.finish_removal", |conn| {
            for ids in ids.chunks(KEYS_MAX) {
                diesel::delete(document::table)
                    .filter(document::id.eq_any(texts(ids)))
                    .filter(document::pending.eq(REMOVAL))
                    .execute(conn)
                    .await?;
            }
            Ok(())
        })
    }

    #[tracing::instrument(name = "db.document.list_by_pair", skip_all)]
    async fn list_by_pair(
        &self,
        pair: CcPairId,
        after: Option<&DocumentId>,
        limit: u32,
    ) -> Result<Page<DocumentSummary, DocumentId>, StoreError> {
        read!(self, "document.list_by_pair", |conn| {
            let rows: Vec<(String, String, Option<String>)> = document_cc_pair::table
                .inner_join(document::table)
                .filter(document_cc_pair::cc_pair_id.eq(pair.0))
                .filter(document_cc_pair::indexed.eq(true))
                .filter(document_cc_pair::document_id.gt(after.map_or("", DocumentId::as_str)))
                .filter(present!())
                .order(document_cc_pair::document_id)
                .limit(i64::from(limit))
                .select((document::id, document::semantic_identifier, document::link))
                .load(conn)
                .await?;
            page(rows, limit)
        })
    }

    #[tracing::instrument(name = "db.document.list_from_ingestion_api", skip_all)]
    async fn list_from_ingestion_api(
        &self,
        after: Option<&DocumentId>,
        limit: u32,
    ) -> Result<Page<DocumentSummary, DocumentId>, StoreError> {
        read!(self, "document.list_from_ingestion_api", |conn| {
            let rows: Vec<(String, String, Option<String>)> = document::table
                .filter(document::from_ingestion_api.eq(true))
                .filter(document::chunk_count.gt(0))
                .filter(document::id.gt(after.map_or("", DocumentId::as_str)))
                .filter(present!())
                .order(document::id)
                .limit(i64::from(limit))
                .select((document::id, document::semantic_identifier, document::link))
                .load(conn)
                .await?;
            page(rows, limit)
        })
    }
}
