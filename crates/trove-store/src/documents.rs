//! The registry of documents.

mod attributes;
pub(crate) mod batch;
mod flags;
mod rows;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use diesel::dsl::exists;
use diesel::prelude::*;
use diesel::result::Error::NotFound;
use diesel::sql_types::{Bool, Integer, Nullable};
use diesel_async::{AsyncConnection, RunQueryDsl};
use trove_domain::cc_pair::{CcPairStatus, PairReader};
use trove_domain::error::StoreError;
use trove_domain::external_access::ExternalAccess;
use trove_domain::id::{CcPairId, DocumentId};
use trove_domain::page::Page;
use trove_domain::port::{
    DirtyDocument, DocumentRecord, DocumentStore, DocumentSummary, IndexedMark, PendingState,
    RegisteredAttributes, Registration, Unlinked,
};

use crate::Store;
use crate::backend::{KEYS_MAX, read, transact};
use crate::error::failed;
use crate::external::{AccessRow, write_access};
use crate::locks::Locks;
use crate::pair_tasks::{mark_listed, pruning};
use crate::pairs::readable_pairs;
use crate::schema::{cc_pair, document, document_cc_pair};
use crate::sql::Time;
use batch::{MarkIndexed, MarkSynced, ROWS_MAX, Upsert};
pub(crate) use rows::document_id;
use rows::{DocumentRow, NewDocumentRow, page, record};

pub(crate) const ATTRIBUTES: &str = "attributes";
pub(crate) const REMOVAL: &str = "removal";

/// Rows that are not on their way out.
macro_rules! present {
    () => {
        document::pending.is_null().or(document::pending.ne(crate::documents::REMOVAL))
    };
}
pub(crate) use present;

/// The documents that a pair has brought to the index, from the one after this on.
macro_rules! indexed_of {
    ($pair:expr, $after:expr) => {
        document_cc_pair::table
            .inner_join(document::table)
            .filter(document_cc_pair::cc_pair_id.eq($pair.0))
            .filter(document_cc_pair::indexed.eq(true))
            .filter(document_cc_pair::document_id.gt($after.map_or("", DocumentId::as_str)))
            .filter(crate::documents::present!())
            .order(document_cc_pair::document_id)
    };
}
use indexed_of;

/// Marks the documents of some pairs as changed.
macro_rules! mark_dirty {
    ($conn:expr, $pairs:expr, $now:expr) => {{
        use crate::schema::{document, document_cc_pair};
        let pairs: &[i32] = $pairs;
        $conn.lock_documents_of(pairs).await?;
        for pairs in pairs.chunks(crate::backend::KEYS_MAX) {
            let of_pairs = document_cc_pair::table
                .filter(document_cc_pair::cc_pair_id.eq_any(pairs))
                .select(document_cc_pair::document_id);
            diesel::update(document::table)
                .filter(document::id.eq_any(of_pairs))
                .filter(crate::documents::present!())
                .set((
                    document::revision.eq(document::revision + 1),
                    document::pending.eq(Some(crate::documents::ATTRIBUTES)),
                    document::changed_at.eq(crate::sql::Time($now)),
                ))
                .execute($conn)
                .await?;
        }
    }};
}
pub(crate) use mark_dirty;

/// The rows of some documents, to be removed from now on and without content.
macro_rules! begin_removal {
    ($ids:expr, $now:expr) => {
        diesel::update(document::table.filter(document::id.eq_any($ids)).filter(present!()))
            .set((
                document::revision.eq(document::revision + 1),
                // Whoever registers it again cannot rely on what the index holds.
                document::content_revision.eq(document::revision + 1),
                document::content_hash.eq(None::<String>),
                document::chunk_count.eq(0),
                document::pending.eq(Some(REMOVAL)),
                document::changed_at.eq(Time($now)),
            ))
            .returning(document::id)
    };
}
pub(crate) use begin_removal;

/// Takes documents out of a pair whose links these are, and puts down what became of each that was
/// linked.
macro_rules! unlink_documents {
    ($conn:expr, $links:expr, $ids:expr, $now:expr, $outcomes:expr) => {{
        use crate::documents::{ATTRIBUTES, REMOVAL};
        use crate::schema::{document, document_cc_pair};
        use crate::sql::Time;
        use trove_domain::port::Unlinked;
        $conn.lock_documents($ids).await?;
        let unlinked: Vec<String> =
            diesel::delete($links.filter(document_cc_pair::document_id.eq_any($ids)))
                .returning(document_cc_pair::document_id)
                .get_results($conn)
                .await?;
        let held: Vec<String> = document_cc_pair::table
            .filter(document_cc_pair::document_id.eq_any(&unlinked))
            .select(document_cc_pair::document_id)
            .distinct()
            .load($conn)
            .await?;
        $outcomes.extend(unlinked.into_iter().map(|id| (id, Unlinked::Orphaned)));
        diesel::update(document::table.filter(document::id.eq_any(&held)))
            .set((
                document::revision.eq(document::revision + 1),
                document::pending.eq(Some(ATTRIBUTES)),
                document::changed_at.eq(Time($now)),
            ))
            .execute($conn)
            .await?;
        $outcomes.extend(held.into_iter().map(|id| (id, Unlinked::StillHeld)));
        let orphaned = $ids
            .iter()
            .copied()
            .filter(|id| matches!($outcomes.get(*id), Some(Unlinked::Orphaned)));
        let orphaned: Vec<&str> = orphaned.collect();
        let _: Vec<String> =
            crate::documents::begin_removal!(orphaned, $now).get_results($conn).await?;
    }};
}
pub(crate) use unlink_documents;

fn texts(ids: &[DocumentId]) -> Vec<&str> {
    ids.iter().map(DocumentId::as_str).collect()
}

/// Each id once, in the order in which rows are taken.
pub(crate) fn distinct(ids: &[DocumentId]) -> Vec<&str> {
    let ids: BTreeSet<&str> = ids.iter().map(DocumentId::as_str).collect();
    ids.into_iter().collect()
}

#[async_trait]
impl DocumentStore for Store {
    #[tracing::instrument(name = "db.document.get", skip_all)]
    async fn get(&self, ids: &[DocumentId]) -> Result<Vec<Option<DocumentRecord>>, StoreError> {
        let mut found = std::collections::HashMap::new();
        for ids in ids.chunks(KEYS_MAX) {
            let ids = texts(ids);
            let (rows, links): (Vec<DocumentRow>, Vec<(String, i32, bool)>) =
                read!(self, "document.get", |conn| {
                    let rows: Vec<DocumentRow> = document::table
                        .filter(document::id.eq_any(&ids))
                        .filter(present!())
                        .select(DocumentRow::as_select())
                        .load(conn)
                        .await?;
                    let deleting = cc_pair::table
                        .filter(cc_pair::status.eq(CcPairStatus::Deleting.as_str()))
                        .select(cc_pair::id);
                    let links: Vec<(String, i32, bool)> = document_cc_pair::table
                        .filter(document_cc_pair::document_id.eq_any(&ids))
                        .filter(document_cc_pair::cc_pair_id.ne_all(deleting))
                        .order(document_cc_pair::cc_pair_id)
                        .select((
                            document_cc_pair::document_id,
                            document_cc_pair::cc_pair_id,
                            document_cc_pair::indexed,
                        ))
                        .load(conn)
                        .await?;
                    Ok((rows, links))
                })?;
            for row in rows {
                let record = record(row).map_err(failed("document.get"))?;
                found.insert(record.registration.id.clone(), record);
            }
            for (id, pair, indexed) in links {
                if let Some(record) = found.get_mut(id.as_str()) {
                    record.cc_pairs.push(CcPairId(pair));
                    record.indexed_for.extend(indexed.then_some(CcPairId(pair)));
                }
            }
        }
        Ok(ids.iter().map(|id| found.get(id).cloned()).collect())
    }

    #[tracing::instrument(name = "db.document.external_access", skip_all)]
    async fn external_access(
        &self,
        pair: CcPairId,
        ids: &[DocumentId],
    ) -> Result<Option<Vec<Option<ExternalAccess>>>, StoreError> {
        self.external_access_of(pair, ids).await
    }

    #[tracing::instrument(name = "db.document.register", skip_all)]
    async fn register(
        &self,
        pair: CcPairId,
        documents: &[Registration],
        now: DateTime<Utc>,
    ) -> Result<Option<Vec<i64>>, StoreError> {
        // Of a document that occurs twice the last mention counts.
        let distinct: BTreeMap<&str, &Registration> =
            documents.iter().map(|document| (document.id.as_str(), document)).collect();
        let rows: Vec<NewDocumentRow<'_>> =
            distinct.values().map(|document| NewDocumentRow::new(document, now)).collect();
        let access: Vec<AccessRow<'_>> = distinct
            .values()
            .filter_map(|told| Some(AccessRow::new(&told.id, told.external_access.as_ref()?)))
            .collect();
        let revisions: Option<HashMap<String, i64>> =
            transact!(self, "document.register", |conn| {
                if !conn.keep_pair(pair.0).await? {
                    return Ok(None);
                }
                let pruning = pruning!(conn, pair.0);
                let mut revisions = HashMap::with_capacity(rows.len());
                for rows in rows.chunks(ROWS_MAX) {
                    let written: Vec<(String, i64)> = Upsert(rows).load(conn).await?;
                    revisions.extend(written);
                    let ids: Vec<&str> = rows.iter().map(|row| row.id).collect();
                    document::table
                        .filter(document::id.eq_any(ids))
                        .select((
                            document::id,
                            pair.0.into_sql::<Integer>(),
                            false.into_sql::<Bool>(),
                            pruning.into_sql::<Nullable<Integer>>(),
                        ))
                        .insert_into(document_cc_pair::table)
                        .into_columns((
                            document_cc_pair::document_id,
                            document_cc_pair::cc_pair_id,
                            document_cc_pair::indexed,
                            document_cc_pair::listed_by,
                        ))
                        .on_conflict_do_nothing()
                        .execute(conn)
                        .await?;
                    if let Some(pruning) = pruning {
                        let ids: Vec<&str> = rows.iter().map(|row| row.id).collect();
                        mark_listed!(conn, pair.0, ids, pruning);
                    }
                }
                // With the links, so that no content is found by what was said of the last one.
                write_access!(conn, pair.0, access);
                Ok(Some(revisions))
            })?;
        let Some(revisions) = revisions else { return Ok(None) };
        let in_order =
            documents.iter().map(|document| revisions.get(document.id.as_str()).copied());
        let complete: Option<Vec<i64>> = in_order.collect();
        complete.map(Some).ok_or_else(|| failed("document.register")(NotFound.into()))
    }

    #[tracing::instrument(name = "db.document.mark_indexed", skip_all)]
    async fn mark_indexed(
        &self,
        pair: CcPairId,
        marks: &[IndexedMark],
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        // Of a document that occurs twice the latest revision counts.
        let mut latest: BTreeMap<&str, (&IndexedMark, i32)> = BTreeMap::new();
        for mark in marks {
            let chunk_count = i32::try_from(mark.chunk_count).unwrap_or(i32::MAX);
            let known = latest.entry(mark.id.as_str()).or_insert((mark, chunk_count));
            if known.0.revision <= mark.revision {
                *known = (mark, chunk_count);
            }
        }
        let ids: Vec<&str> = latest.keys().copied().collect();
        let marks: Vec<(&IndexedMark, i32)> = latest.into_values().collect();
        let now = Time(now);
        transact!(self, "document.mark_indexed", |conn| {
            for (marks, ids) in marks.chunks(ROWS_MAX).zip(ids.chunks(ROWS_MAX)) {
                conn.lock_documents(ids).await?;
                let marked: Vec<String> = MarkIndexed { marks, now: &now }.load(conn).await?;
                diesel::update(document_cc_pair::table)
                    .filter(document_cc_pair::cc_pair_id.eq(pair.0))
                    .filter(document_cc_pair::document_id.eq_any(&marked))
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
        // Of a document that occurs twice the latest revision counts.
        let mut latest: BTreeMap<&str, i64> = BTreeMap::new();
        for (id, revision) in revisions {
            let known = latest.entry(id.as_str()).or_insert(*revision);
            *known = (*known).max(*revision);
        }
        let ids: Vec<&str> = latest.keys().copied().collect();
        let revisions: Vec<(&str, i64)> = latest.into_iter().collect();
        let now = Time(now);
        transact!(self, "document.mark_synced", |conn| {
            for (revisions, ids) in revisions.chunks(ROWS_MAX).zip(ids.chunks(ROWS_MAX)) {
                conn.lock_documents(ids).await?;
                MarkSynced { revisions, now: &now }.execute(conn).await?;
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
        let distinct = distinct(ids);
        let mut outcomes: HashMap<String, Unlinked> = transact!(self, "document.unlink", |conn| {
            let mut outcomes = HashMap::new();
            for ids in distinct.chunks(KEYS_MAX) {
                let links = document_cc_pair::table.filter(document_cc_pair::cc_pair_id.eq(pair.0));
                unlink_documents!(conn, links, ids, now, outcomes);
            }
            Ok(outcomes)
        })?;
        let in_order =
            ids.iter().map(|id| outcomes.remove(id.as_str()).unwrap_or(Unlinked::NotLinked));
        Ok(in_order.collect())
    }

    #[tracing::instrument(name = "db.document.begin_removal", skip_all)]
    async fn begin_removal(
        &self,
        ids: &[DocumentId],
        now: DateTime<Utc>,
    ) -> Result<Vec<DocumentId>, StoreError> {
        let distinct = distinct(ids);
        let mut marked: HashSet<String> = transact!(self, "document.begin_removal", |conn| {
            let mut all = HashSet::new();
            for ids in distinct.chunks(KEYS_MAX) {
                conn.lock_documents(ids).await?;
                let marked: Vec<String> = begin_removal!(ids, now).get_results(conn).await?;
                diesel::delete(document_cc_pair::table)
                    .filter(document_cc_pair::document_id.eq_any(&marked))
                    .execute(conn)
                    .await?;
                all.extend(marked);
            }
            Ok(all)
        })?;
        Ok(ids.iter().filter(|id| marked.remove(id.as_str())).cloned().collect())
    }

    #[tracing::instrument(name = "db.document.due_removals", skip_all)]
    async fn due_removals(&self, ids: &[DocumentId]) -> Result<Vec<(DocumentId, i64)>, StoreError> {
        let distinct = distinct(ids);
        let mut due = Vec::new();
        for ids in distinct.chunks(KEYS_MAX) {
            due.extend(read!(self, "document.due_removals", |conn| {
                let rows: Vec<(String, i64)> = document::table
                    .filter(document::id.eq_any(ids))
                    .filter(document::pending.eq(REMOVAL))
                    .order(document::id)
                    .select((document::id, document::revision))
                    .load(conn)
                    .await?;
                rows.into_iter()
                    .map(|(id, revision)| Ok((document_id(id)?, revision)))
                    .collect::<Result<Vec<_>, _>>()
            })?);
        }
        Ok(due)
    }

    #[tracing::instrument(name = "db.document.finish_removal", skip_all)]
    async fn finish_removal(&self, documents: &[(DocumentId, i64)]) -> Result<(), StoreError> {
        let distinct: BTreeMap<&str, i64> =
            documents.iter().map(|(id, revision)| (id.as_str(), *revision)).collect();
        let ids: Vec<&str> = distinct.keys().copied().collect();
        transact!(self, "document.finish_removal", |conn| {
            for ids in ids.chunks(KEYS_MAX) {
                conn.lock_documents(ids).await?;
                let rows: Vec<(String, i64)> = document::table
                    .filter(document::id.eq_any(ids))
                    .filter(document::pending.eq(REMOVAL))
                    .select((document::id, document::revision))
                    .load(conn)
                    .await?;
                let due = rows
                    .iter()
                    .filter(|(id, revision)| distinct.get(id.as_str()) == Some(revision));
                let due: Vec<&str> = due.map(|(id, _)| id.as_str()).collect();
                diesel::delete(document::table.filter(document::id.eq_any(due)))
                    .execute(conn)
                    .await?;
            }
            Ok(())
        })
    }

    #[tracing::instrument(name = "db.document.forget_contents", skip_all)]
    async fn forget_contents(&self, now: DateTime<Utc>) -> Result<u64, StoreError> {
        let forgotten = transact!(self, "document.forget_contents", |conn| {
            let with_content = document::table.filter(document::content_hash.is_not_null());
            Ok(diesel::update(with_content)
                .set((
                    document::revision.eq(document::revision + 1),
                    document::content_revision.eq(document::revision + 1),
                    document::content_hash.eq(None::<String>),
                    document::chunk_count.eq(0),
                    document::changed_at.eq(Time(now)),
                ))
                .execute(conn)
                .await?)
        })?;
        Ok(u64::try_from(forgotten).unwrap_or(u64::MAX))
    }

    #[tracing::instrument(name = "db.document.list_by_pair", skip_all)]
    async fn list_by_pair(
        &self,
        pair: CcPairId,
        after: Option<&DocumentId>,
        limit: u32,
    ) -> Result<Page<DocumentSummary, DocumentId>, StoreError> {
        read!(self, "document.list_by_pair", |conn| {
            let rows: Vec<(String, String, Option<String>)> = indexed_of!(pair, after)
                .limit(i64::from(limit) + 1)
                .select((document::id, document::semantic_identifier, document::link))
                .load(conn)
                .await?;
            page(rows, limit)
        })
    }

    #[tracing::instrument(name = "db.document.list_from_ingestion_api", skip_all)]
    async fn list_from_ingestion_api(
        &self,
        reader: PairReader,
        after: Option<&DocumentId>,
        limit: u32,
    ) -> Result<Page<DocumentSummary, DocumentId>, StoreError> {
        read!(self, "document.list_from_ingestion_api", |conn| {
            let indexed = document_cc_pair::table
                .filter(document_cc_pair::document_id.eq(document::id))
                .filter(document_cc_pair::indexed);
            let posted = document::table
                // As the index over these rows says it.
                .filter(document::from_ingestion_api)
                .filter(document::id.gt(after.map_or("", DocumentId::as_str)))
                .filter(present!())
                .order(document::id)
                .limit(i64::from(limit) + 1)
                .select((document::id, document::semantic_identifier, document::link));
            let rows: Vec<(String, String, Option<String>)> = match reader {
                PairReader::Administrator => posted.filter(exists(indexed)).load(conn).await?,
                PairReader::User(user) => {
                    let seen = document_cc_pair::cc_pair_id.eq_any(readable_pairs!(user));
                    posted.filter(exists(indexed.filter(seen))).load(conn).await?
                }
            };
            page(rows, limit)
        })
    }
}
