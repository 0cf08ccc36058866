//! What people decide about single documents.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::Bool;
use diesel_async::{AsyncConnection, RunQueryDsl};
use trove_domain::access::Caller;
use trove_domain::error::StoreError;
use trove_domain::id::{CcPairId, DocumentId};
use trove_domain::job::NewJob;
use trove_domain::page::Page;
use trove_domain::port::{DocumentFlag, DocumentFlagStore, FlaggedDocument, SyncState};

use super::{ATTRIBUTES, document_id, indexed_of, present};
use crate::Store;
use crate::backend::{read, transact};
use crate::error::Failure;
use crate::jobs::insert_job;
use crate::pairs::editable;
use crate::rights::Power;
use crate::schema::{cc_pair, document, document_cc_pair};
use crate::sql::Time;

/// The documents that a caller decides about.
macro_rules! own {
    ($power:expr) => {{
        let pairs = cc_pair::table.filter(editable!($power)).select(cc_pair::id);
        let held = document_cc_pair::table
            .filter(document_cc_pair::cc_pair_id.eq_any(pairs))
            .select(document_cc_pair::document_id);
        document::table
            .filter(present!())
            .filter($power.administers.into_sql::<Bool>().or(document::id.eq_any(held)))
    }};
}

type FlagRow = (String, String, Option<String>, i32, bool);

fn flagged(row: FlagRow) -> Result<FlaggedDocument, Failure> {
    let (id, semantic_identifier, link, boost, hidden) = row;
    Ok(FlaggedDocument { id: document_id(id)?, semantic_identifier, link, boost, hidden })
}

#[async_trait]
impl DocumentFlagStore for Store {
    #[tracing::instrument(name = "db.document_flag.set", skip_all)]
    async fn set_flag(
        &self,
        editor: &Caller,
        id: &DocumentId,
        flag: DocumentFlag,
        now: DateTime<Utc>,
        job: NewJob,
    ) -> Result<bool, StoreError> {
        let power = Power::of(editor);
        let (id, job_id) = (id.as_str(), self.ids().uuid());
        transact!(self, "document_flag.set", |conn| {
            let own: Option<String> = own!(power)
                .filter(document::id.eq(id))
                .select(document::id)
                .first(conn)
                .await
                .optional()?;
            if own.is_none() {
                return Ok(false);
            }
            let row = document::table.find(id);
            match flag {
                DocumentFlag::Boost(boost) => {
                    diesel::update(row).set(document::boost.eq(boost)).execute(conn).await?
                }
                DocumentFlag::Hidden(hidden) => {
                    diesel::update(row).set(document::hidden.eq(hidden)).execute(conn).await?
                }
            };
            diesel::update(document::table.filter(document::id.eq(id)).filter(present!()))
                .set((
                    document::revision.eq(document::revision + 1),
                    document::pending.eq(Some(ATTRIBUTES)),
                    document::changed_at.eq(Time(now)),
                ))
                .execute(conn)
                .await?;
            insert_job!(conn, job_id, job);
            Ok(true)
        })
    }

    #[tracing::instrument(name = "db.document_flag.list_by_boost", skip_all)]
    async fn list_by_boost(
        &self,
        editor: &Caller,
        ascending: bool,
        limit: u32,
    ) -> Result<Vec<FlaggedDocument>, StoreError> {
        let power = Power::of(editor);
        read!(self, "document_flag.list_by_boost", |conn| {
            let query = || {
                own!(power).limit(i64::from(limit)).select((
                    document::id,
                    document::semantic_identifier,
                    document::link,
                    document::boost,
                    document::hidden,
                ))
            };
            let name = (document::semantic_identifier, document::id);
            let rows: Vec<FlagRow> = if ascending {
                query().order((document::boost.asc(), name)).load(conn).await?
            } else {
                query().order((document::boost.desc(), name)).load(conn).await?
            };
            rows.into_iter().map(flagged).collect()
        })
    }

    #[tracing::instrument(name = "db.document_flag.list_sync_states", skip_all)]
    async fn list_sync_states(
        &self,
        pair: CcPairId,
        after: Option<&DocumentId>,
        limit: u32,
    ) -> Result<Page<SyncState, DocumentId>, StoreError> {
        read!(self, "document_flag.list_sync_states", |conn| {
            let rows: Vec<(String, Time, Option<String>)> = indexed_of!(pair, after)
                .limit(i64::from(limit))
                .select((document::id, document::changed_at, document::pending))
                .load(conn)
                .await?;
            let full = rows.len() >= usize::try_from(limit).unwrap_or(usize::MAX);
            let states = rows.into_iter().map(|(id, changed_at, pending)| {
                let (changed_at, is_synced) = (changed_at.0, pending.is_none());
                Ok(SyncState { id: document_id(id)?, changed_at, is_synced })
            });
            let items: Vec<SyncState> = states.collect::<Result<_, Failure>>()?;
            let next = items.last().filter(|_| full).map(|last| last.id.clone());
            Ok(Page { items, next })
        })
    }
}
