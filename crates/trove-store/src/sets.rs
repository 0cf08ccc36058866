use std::collections::BTreeSet;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncConnection, RunQueryDsl};
use trove_domain::document_set::DocumentSet;
use trove_domain::error::StoreError;
use trove_domain::id::{CcPairId, DocumentSetId, GroupId, UserId};
use trove_domain::job::NewJob;
use trove_domain::port::{DocumentSetStore, NewDocumentSet};

use crate::Store;
use crate::backend::{read, transact};
use crate::documents::mark_pair_dirty;
use crate::error::{Failure, is_missing_reference};
use crate::jobs::insert_job;
use crate::schema::{
    document_set, document_set_cc_pair, document_set_group, document_set_user, user_group_member,
};
use crate::sql::{Id, Time};

/// Rolls back, and is told apart by the caller.
fn missing_is_not_found(error: diesel::result::Error) -> Failure {
    if is_missing_reference(&error) {
        return Failure::Query(diesel::result::Error::NotFound);
    }
    error.into()
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
        let made: Result<Option<DocumentSet>, StoreError> =
            transact!(self, "document_set.insert", |conn| {
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
                for pair in &set.cc_pairs {
                    diesel::insert_into(document_set_cc_pair::table)
                        .values((
                            document_set_cc_pair::document_set_id.eq(id),
                            document_set_cc_pair::cc_pair_id.eq(pair.0),
                        ))
                        .execute(conn)
                        .await
                        .map_err(missing_is_not_found)?;
                    mark_pair_dirty!(conn, pair.0, now);
                }
                for group in &set.groups {
                    diesel::insert_into(document_set_group::table)
                        .values((
                            document_set_group::document_set_id.eq(id),
                            document_set_group::group_id.eq(group.0),
                        ))
                        .execute(conn)
                        .await
                        .map_err(missing_is_not_found)?;
                }
                for user in &set.users {
                    diesel::insert_into(document_set_user::table)
                        .values((
                            document_set_user::document_set_id.eq(id),
                            document_set_user::user_id.eq(Id(user.0)),
                        ))
                        .execute(conn)
                        .await
                        .map_err(missing_is_not_found)?;
                }
                insert_job!(conn, job_id, job);
                let NewDocumentSet { name, public, groups, users, cc_pairs } = set.clone();
                let id = DocumentSetId(id);
                Ok(Some(DocumentSet { id, name, public, groups, users, cc_pairs }))
            });
        match made {
            Err(StoreError::Backend { source, .. })
                if matches!(
                    source.downcast_ref::<diesel::result::Error>(),
                    Some(diesel::result::Error::NotFound)
                ) =>
            {
                Ok(None)
            }
            other => other,
        }
    }

    #[tracing::instrument(name = "db.document_set.find_visible", skip_all)]
    async fn find_visible(
        &self,
        names: &[String],
        user: UserId,
    ) -> Result<Vec<DocumentSet>, StoreError> {
        read!(self, "document_set.find_visible", |conn| {
            let rows: Vec<(i32, String, bool)> = document_set::table
                .filter(document_set::name.eq_any(names))
                .order(document_set::id)
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
            let own: Vec<i32> = user_group_member::table
                .filter(user_group_member::user_id.eq(Id(user.0)))
                .select(user_group_member::group_id)
                .load(conn)
                .await?;
            let own: BTreeSet<GroupId> = own.into_iter().map(GroupId).collect();
            let sets = rows.into_iter().map(|(id, name, public)| DocumentSet {
                id: DocumentSetId(id),
                name,
                public,
                groups: of(&groups, id).map(GroupId).collect(),
                users: of(&users, id).map(|user| UserId(user.0)).collect(),
                cc_pairs: of(&pairs, id).map(CcPairId).collect(),
            });
            Ok(sets
                .filter(|set| {
                    set.public || set.users.contains(&user) || !set.groups.is_disjoint(&own)
                })
                .collect())
        })
    }
}

/// What is linked to `id`.
fn of<T: Copy>(links: &[(i32, T)], id: i32) -> impl Iterator<Item = T> {
    links.iter().filter(move |(set, _)| *set == id).map(|(_, linked)| *linked)
}
