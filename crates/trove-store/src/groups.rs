use async_trait::async_trait;
use diesel::prelude::*;
use diesel_async::{AsyncConnection, RunQueryDsl};
use trove_domain::error::StoreError;
use trove_domain::group::{Group, Membership};
use trove_domain::id::{GroupId, UserId};
use trove_domain::port::GroupStore;

use crate::Store;
use crate::backend::{read, transact};
use crate::error::{Failure, is_missing_reference};
use crate::schema::{user_group, user_group_member};
use crate::sql::Id;

#[async_trait]
impl GroupStore for Store {
    #[tracing::instrument(name = "db.group.insert", skip_all)]
    async fn insert(&self, name: &str) -> Result<Option<Group>, StoreError> {
        transact!(self, "group.insert", |conn| {
            let id: Option<i32> = diesel::insert_into(user_group::table)
                .values(user_group::name.eq(name))
                .on_conflict_do_nothing()
                .returning(user_group::id)
                .get_result(conn)
                .await
                .optional()?;
            Ok(id.map(|id| Group { id: GroupId(id), name: name.to_owned() }))
        })
    }

    #[tracing::instrument(name = "db.group.set_members", skip_all)]
    async fn set_members(
        &self,
        group: GroupId,
        members: &[(UserId, bool)],
    ) -> Result<bool, StoreError> {
        let replaced: Result<bool, StoreError> = transact!(self, "group.set_members", |conn| {
            let groups: i64 = user_group::table.find(group.0).count().get_result(conn).await?;
            if groups == 0 {
                return Ok(false);
            }
            diesel::delete(user_group_member::table)
                .filter(user_group_member::group_id.eq(group.0))
                .execute(conn)
                .await?;
            for (user, curator) in members {
                let inserted = diesel::insert_into(user_group_member::table)
                    .values((
                        user_group_member::group_id.eq(group.0),
                        user_group_member::user_id.eq(Id(user.0)),
                        user_group_member::curator.eq(*curator),
                    ))
                    .on_conflict_do_nothing()
                    .execute(conn)
                    .await;
                match inserted {
                    Ok(_) => {}
                    // Rolls back, and is told apart below.
                    Err(error) if is_missing_reference(&error) => {
                        return Err(Failure::Query(diesel::result::Error::NotFound));
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            Ok(true)
        });
        absent_is_false(replaced)
    }

    #[tracing::instrument(name = "db.group.memberships", skip_all)]
    async fn memberships(&self, user: UserId) -> Result<Vec<Membership>, StoreError> {
        read!(self, "group.memberships", |conn| {
            let rows: Vec<(i32, bool)> = user_group_member::table
                .filter(user_group_member::user_id.eq(Id(user.0)))
                .order(user_group_member::group_id)
                .select((user_group_member::group_id, user_group_member::curator))
                .load(conn)
                .await?;
            Ok(rows
                .into_iter()
                .map(|(group, curator)| Membership { group: GroupId(group), user, curator })
                .collect())
        })
    }
}

/// `false` for a step that was rolled back because something it names does not exist.
pub(crate) fn absent_is_false(result: Result<bool, StoreError>) -> Result<bool, StoreError> {
    match result {
        Err(StoreError::Backend { source, .. })
            if matches!(
                source.downcast_ref::<diesel::result::Error>(),
                Some(diesel::result::Error::NotFound)
            ) =>
        {
            Ok(false)
        }
        other => other,
    }
}
