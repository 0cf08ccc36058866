//! Named sets of pairs: changes. What is read is in `read`.

mod read;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::Integer;
use diesel_async::{AsyncConnection, RunQueryDsl};
use std::collections::BTreeSet;
use trove_domain::access::Caller;
use trove_domain::document_set::DocumentSet;
use trove_domain::error::StoreError;
use trove_domain::id::{DocumentSetId, UserId};
use trove_domain::job::NewJob;
use trove_domain::page::Page;
use trove_domain::port::{
    DocumentSetStore, NewDocumentSet, Reach, SeenDocumentSet, SetChange, SetRevision,
};

use crate::Store;
use crate::backend::{KEYS_MAX, read, transact};
use crate::documents::mark_dirty;
use crate::error::{Failure, is_taken};
use crate::jobs::insert_job;
use crate::locks::Locks;
use crate::rights::{Power, editable};
use crate::schema::{
    cc_pair, document_set, document_set_cc_pair, document_set_group, document_set_user,
    user_account, user_group,
};
use crate::sql::{Id, Time};

pub(crate) const NEW: &str = "new";
pub(crate) const UP_TO_DATE: &str = "up_to_date";
pub(crate) const SYNCING: &str = "syncing";
pub(crate) const DELETING: &str = "deleting";

/// Links a set to some rows of a table; undoes the step when one of them does not exist.
macro_rules! link {
    ($conn:expr, $set:expr, $ids:expr, $of:ident, $link:ident, $column:ident) => {
        let ids: Vec<_> = $ids;
        for ids in ids.chunks(KEYS_MAX) {
            let linked = $of::table
                .filter($of::id.eq_any(ids))
                .select(($set.into_sql::<Integer>(), $of::id))
                .insert_into($link::table)
                .into_columns(($link::document_set_id, $link::$column))
                .execute($conn)
                .await?;
            if linked < ids.len() {
                return Err(Failure::Refused);
            }
        }
    };
}

/// Replaces users and groups of a set.
macro_rules! share {
    ($conn:expr, $id:expr, $set:expr) => {
        diesel::delete(document_set_group::table)
            .filter(document_set_group::document_set_id.eq($id))
            .execute($conn)
            .await?;
        diesel::delete(document_set_user::table)
            .filter(document_set_user::document_set_id.eq($id))
            .execute($conn)
            .await?;
        let groups = $set.groups.iter().map(|group| group.0).collect();
        link!($conn, $id, groups, user_group, document_set_group, group_id);
        let users = $set.users.iter().map(|user| Id(user.0)).collect();
        link!($conn, $id, users, user_account, document_set_user, user_id);
    };
}

/// The state of a set that the caller may change, kept from other changes.
macro_rules! editable_state {
    ($conn:expr, $id:expr, $power:expr) => {{
        $conn.lock_document_set($id).await?;
        let state: Option<String> = document_set::table
            .find($id)
            .filter(editable!($power, document_set, document_set_id, document_set_group))
            .select(document_set::state)
            .first($conn)
            .await
            .optional()?;
        match state.as_deref() {
            None => return Ok(SetChange::NoSuchSet),
            Some(UP_TO_DATE) => {}
            Some(_) => return Ok(SetChange::Syncing),
        }
    }};
}

macro_rules! pairs_of {
    ($conn:expr, $id:expr) => {{
        let pairs: Vec<i32> = document_set_cc_pair::table
            .filter(document_set_cc_pair::document_set_id.eq($id))
            .select(document_set_cc_pair::cc_pair_id)
            .load($conn)
            .await?;
        pairs.into_iter().collect::<BTreeSet<i32>>()
    }};
}

/// What the index must know of: the state, and a revision that no earlier sync finishes.
macro_rules! begin_sync {
    ($conn:expr, $id:expr, $state:expr) => {
        diesel::update(document_set::table.find($id))
            .set((
                document_set::state.eq($state),
                document_set::revision.eq(document_set::revision + 1),
            ))
            .execute($conn)
            .await?
    };
}

#[async_trait]
impl DocumentSetStore for Store {
    #[tracing::instrument(name = "db.document_set.insert", skip_all)]
    async fn insert(
        &self,
        set: NewDocumentSet,
        owner: Option<UserId>,
        now: DateTime<Utc>,
        job: NewJob,
    ) -> Result<SetChange, StoreError> {
        let job_id = self.ids().uuid();
        transact!(self, "document_set.insert", refused SetChange::Unknown, |conn| {
            let pairs: Vec<i32> = set.cc_pairs.iter().map(|pair| pair.0).collect();
            if conn.lock_pairs(&pairs).await? < pairs.len() {
                return Ok(SetChange::Unknown);
            }
            let id: Option<i32> = diesel::insert_into(document_set::table)
                .values((
                    document_set::name.eq(&set.name),
                    document_set::description.eq(&set.description),
                    document_set::public.eq(set.public),
                    document_set::owner_id.eq(owner.map(|owner| Id(owner.0))),
                    document_set::created_at.eq(Time(now)),
                    document_set::state.eq(NEW),
                    document_set::revision.eq(1),
                ))
                .on_conflict_do_nothing()
                .returning(document_set::id)
                .get_result(conn)
                .await
                .optional()?;
            let Some(id) = id else { return Ok(SetChange::NameTaken) };
            link!(conn, id, pairs.clone(), cc_pair, document_set_cc_pair, cc_pair_id);
            share!(conn, id, set);
            mark_dirty!(conn, &pairs, now);
            insert_job!(conn, job_id, job);
            Ok(SetChange::Done(DocumentSetId(id)))
        })
    }

    #[tracing::instrument(name = "db.document_set.update", skip_all)]
    async fn update(
        &self,
        caller: &Caller,
        id: DocumentSetId,
        set: NewDocumentSet,
        now: DateTime<Utc>,
        job: NewJob,
    ) -> Result<SetChange, StoreError> {
        let (id, power) = (id.0, Power::of(caller));
        let job_id = self.ids().uuid();
        let changed = transact!(self, "document_set.update", refused SetChange::Unknown, |conn| {
            editable_state!(conn, id, power);
            let wanted: BTreeSet<i32> = set.cc_pairs.iter().map(|pair| pair.0).collect();
            let present = pairs_of!(conn, id);
            let all: Vec<i32> = wanted.union(&present).copied().collect();
            if conn.lock_pairs(&all).await? < all.len() {
                return Ok(SetChange::Unknown);
            }
            let others: i64 = document_set::table
                .filter(document_set::name.eq(&set.name))
                .filter(document_set::id.ne(id))
                .count()
                .get_result(conn)
                .await?;
            if others > 0 {
                return Ok(SetChange::NameTaken);
            }
            diesel::update(document_set::table.find(id))
                .set((
                    document_set::name.eq(&set.name),
                    document_set::description.eq(&set.description),
                    document_set::public.eq(set.public),
                ))
                .execute(conn)
                .await?;
            share!(conn, id, set);
            let moved: Vec<i32> = wanted.symmetric_difference(&present).copied().collect();
            if moved.is_empty() {
                return Ok(SetChange::Done(DocumentSetId(id)));
            }
            let gone: Vec<i32> = present.difference(&wanted).copied().collect();
            for gone in gone.chunks(KEYS_MAX) {
                diesel::delete(document_set_cc_pair::table)
                    .filter(document_set_cc_pair::document_set_id.eq(id))
                    .filter(document_set_cc_pair::cc_pair_id.eq_any(gone))
                    .execute(conn)
                    .await?;
            }
            let new: Vec<i32> = wanted.difference(&present).copied().collect();
            link!(conn, id, new, cc_pair, document_set_cc_pair, cc_pair_id);
            begin_sync!(conn, id, SYNCING);
            mark_dirty!(conn, &moved, now);
            insert_job!(conn, job_id, job);
            Ok(SetChange::Done(DocumentSetId(id)))
        });
        match changed {
            // Somebody else took the name since it was looked for.
            Err(error) if is_taken(&error) => Ok(SetChange::NameTaken),
            other => other,
        }
    }

    #[tracing::instrument(name = "db.document_set.begin_removal", skip_all)]
    async fn begin_removal(
        &self,
        caller: &Caller,
        id: DocumentSetId,
        now: DateTime<Utc>,
        job: NewJob,
    ) -> Result<SetChange, StoreError> {
        let (id, power) = (id.0, Power::of(caller));
        let job_id = self.ids().uuid();
        transact!(self, "document_set.begin_removal", |conn| {
            editable_state!(conn, id, power);
            let pairs: Vec<i32> = pairs_of!(conn, id).into_iter().collect();
            conn.lock_pairs(&pairs).await?;
            diesel::delete(document_set_cc_pair::table)
                .filter(document_set_cc_pair::document_set_id.eq(id))
                .execute(conn)
                .await?;
            begin_sync!(conn, id, DELETING);
            mark_dirty!(conn, &pairs, now);
            insert_job!(conn, job_id, job);
            Ok(SetChange::Done(DocumentSetId(id)))
        })
    }

    #[tracing::instrument(name = "db.document_set.find_by_name", skip_all)]
    async fn find_by_name(
        &self,
        caller: &Caller,
        names: &[String],
    ) -> Result<Vec<DocumentSet>, StoreError> {
        self.sets_by_name(caller, names).await
    }

    #[tracing::instrument(name = "db.document_set.find", skip_all)]
    async fn find(
        &self,
        caller: &Caller,
        ids: &BTreeSet<DocumentSetId>,
    ) -> Result<Vec<SeenDocumentSet>, StoreError> {
        self.sets_by_id(caller, ids).await
    }

    #[tracing::instrument(name = "db.document_set.list", skip_all)]
    async fn list(
        &self,
        caller: &Caller,
        reach: Reach,
        after: Option<DocumentSetId>,
        limit: u32,
    ) -> Result<Page<SeenDocumentSet, DocumentSetId>, StoreError> {
        self.list_sets(caller, reach, after, limit).await
    }

    #[tracing::instrument(name = "db.document_set.unsynced", level = "debug", skip_all)]
    async fn unsynced(&self) -> Result<Vec<SetRevision>, StoreError> {
        read!(self, "document_set.unsynced", |conn| {
            let rows: Vec<(i32, i64)> = document_set::table
                .filter(document_set::state.ne(UP_TO_DATE))
                .order(document_set::id)
                .select((document_set::id, document_set::revision))
                .load(conn)
                .await?;
            let sets = rows.into_iter();
            Ok(sets.map(|(id, revision)| SetRevision { id: DocumentSetId(id), revision }).collect())
        })
    }

    #[tracing::instrument(name = "db.document_set.finish_sync", level = "debug", skip_all)]
    async fn finish_sync(&self, sets: &[SetRevision]) -> Result<(), StoreError> {
        transact!(self, "document_set.finish_sync", |conn| {
            for set in sets {
                diesel::update(document_set::table.find(set.id.0))
                    .filter(document_set::revision.eq(set.revision))
                    .filter(document_set::state.eq_any([NEW, SYNCING]))
                    .set(document_set::state.eq(UP_TO_DATE))
                    .execute(conn)
                    .await?;
                diesel::delete(document_set::table.find(set.id.0))
                    .filter(document_set::revision.eq(set.revision))
                    .filter(document_set::state.eq(DELETING))
                    .execute(conn)
                    .await?;
            }
            Ok(())
        })
    }
}
