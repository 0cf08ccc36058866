use std::collections::BTreeSet;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::Integer;
use diesel_async::{AsyncConnection, RunQueryDsl};
use trove_domain::document_set::DocumentSet;
use trove_domain::error::StoreError;
use trove_domain::id::{CcPairId, DocumentSetId, GroupId, UserId};
use trove_domain::job::NewJob;
use trove_domain::port::{DocumentSetStore, NewDocumentSet};

use crate::Store;
use crate::backend::{KEYS_MAX, read, transact};
use crate::documents::mark_dirty;
use crate::error::Failure;
use crate::jobs::insert_job;
use crate::locks::Locks;
use crate::schema::{
    cc_pair, document_set, document_set_cc_pair, document_set_group, document_set_user,
    user_account, user_group, user_group_member,
};
use crate::sql::{Id, Time};

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

#[async_trait]
impl DocumentSetStore for Store {
    #[tracing::instrument(name = "db.document_set.insert", skip_all)]
    async fn insert(
        &self,
        set: NewDocumentSet,
        now: DateTime<Utc>,
        job: NewJob,
    ) -> Result<Option<DocumentSet>, StoreError> {
        let job_id = self.ids().uuid();
        transact!(self, "document_set.insert", refused None, |conn| {
            let pairs: Vec<i32> = set.cc_pairs.iter().map(|pair| pair.0).collect();
            if conn.lock_pairs(&pairs).await? < pairs.len() {
                return Ok(None);
            }
            let id: Option<i32> = diesel::insert_into(document_set::table)
                .values((
                    document_set::name.eq(&set.name),
                    document_set::public.eq(set.public),
                    document_set::created_at.eq(Time(now)),
                ))
                .on_conflict_do_nothing()
                .returning(document_set::id)
                .get_result(conn)
                .await
                .optional()?;
            let Some(id) = id else { return Ok(None) };
            link!(conn, id, pairs.clone(), cc_pair, document_set_cc_pair, cc_pair_id);
            let groups = set.groups.iter().map(|group| group.0).collect();
            link!(conn, id, groups, user_group, document_set_group, group_id);
            let users = set.users.iter().map(|user| Id(user.0)).collect();
            link!(conn, id, users, user_account, document_set_user, user_id);
            mark_dirty!(conn, &pairs, now);
            insert_job!(conn, job_id, job);
            let NewDocumentSet { name, public, groups, users, cc_pairs } = set.clone();
            let id = DocumentSetId(id);
            Ok(Some(DocumentSet { id, name, public, groups, users, cc_pairs }))
        })
    }

    #[tracing::instrument(name = "db.document_set.find_visible", skip_all)]
    async fn find_visible(
        &self,
        names: &[String],
        user: UserId,
    ) -> Result<Vec<DocumentSet>, StoreError> {
        // PostgreSQL has no text with NUL, hence no such name.
        let names: BTreeSet<&str> =
            names.iter().map(String::as_str).filter(|name| !name.contains('\0')).collect();
        let names: Vec<&str> = names.into_iter().collect();
        let mut sets = Vec::new();
        for names in names.chunks(KEYS_MAX) {
            sets.extend(self.visible(names, user).await?);
        }
        sets.sort_unstable_by_key(|set: &DocumentSet| set.id);
        Ok(sets)
    }
}

impl Store {
    /// At most [`KEYS_MAX`] names.
    async fn visible(&self, names: &[&str], user: UserId) -> Result<Vec<DocumentSet>, StoreError> {
        read!(self, "document_set.find_visible", |conn| {
            let shared_with_user = document_set_user::table
                .filter(document_set_user::user_id.eq(Id(user.0)))
                .select(document_set_user::document_set_id);
            let shared_with_group = document_set_group::table
                .inner_join(
                    user_group_member::table
                        .on(user_group_member::group_id.eq(document_set_group::group_id)),
                )
                .filter(user_group_member::user_id.eq(Id(user.0)))
                .select(document_set_group::document_set_id);
            let rows: Vec<(i32, String, bool)> = document_set::table
                .filter(document_set::name.eq_any(names))
                .filter(
                    document_set::public
                        .or(document_set::id.eq_any(shared_with_user))
                        .or(document_set::id.eq_any(shared_with_group)),
                )
                .select((document_set::id, document_set::name, document_set::public))
                .load(conn)
                .await?;
            let ids: Vec<i32> = rows.iter().map(|row| row.0).collect();
            let groups: Vec<(i32, i32)> = document_set_group::table
                .filter(document_set_group::document_set_id.eq_any(&ids))
                .select((document_set_group::document_set_id, document_set_group::group_id))
                .load(conn)
                .await?;
            let users: Vec<(i32, Id)> = document_set_user::table
                .filter(document_set_user::document_set_id.eq_any(&ids))
                .select((document_set_user::document_set_id, document_set_user::user_id))
                .load(conn)
                .await?;
            let pairs: Vec<(i32, i32)> = document_set_cc_pair::table
                .filter(document_set_cc_pair::document_set_id.eq_any(&ids))
                .select((document_set_cc_pair::document_set_id, document_set_cc_pair::cc_pair_id))
                .load(conn)
                .await?;
            let sets = rows.into_iter().map(|(id, name, public)| DocumentSet {
                id: DocumentSetId(id),
                name,
                public,
                groups: of(&groups, id).map(GroupId).collect(),
                users: of(&users, id).map(|user| UserId(user.0)).collect(),
                cc_pairs: of(&pairs, id).map(CcPairId).collect(),
            });
            Ok(sets.collect())
        })
    }
}

/// What is linked to `id`.
fn of<T: Copy>(links: &[(i32, T)], id: i32) -> impl Iterator<Item = T> {
    links.iter().filter(move |(set, _)| *set == id).map(|(_, linked)| *linked)
}
