use std::collections::BTreeMap;

use async_trait::async_trait;
use diesel::prelude::*;
use diesel::sql_types::{Bool, Integer};
use diesel_async::{AsyncConnection, RunQueryDsl};
use trove_domain::error::StoreError;
use trove_domain::group::{Group, Membership};
use trove_domain::id::{GroupId, UserId};
use trove_domain::port::GroupStore;

use crate::Store;
use crate::backend::{KEYS_MAX, read, transact};
use crate::error::Failure;
use crate::locks::Locks;
use crate::schema::{user_account, user_group, user_group_member};
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
        // Who is named twice is what the last mention says.
        let members: BTreeMap<UserId, bool> = members.iter().copied().collect();
        transact!(self, "group.set_members", refused false, |conn| {
            if !conn.lock_group(group.0).await? {
                return Ok(false);
            }
            diesel::delete(user_group_member::table)
                .filter(user_group_member::group_id.eq(group.0))
                .execute(conn)
                .await?;
            for curator in [false, true] {
                let of_kind = members.iter().filter(|member| *member.1 == curator);
                let users: Vec<Id> = of_kind.map(|(user, _)| Id(user.0)).collect();
                for users in users.chunks(KEYS_MAX) {
                    let added = user_account::table
                        .filter(user_account::id.eq_any(users))
                        .select((
                            group.0.into_sql::<Integer>(),
                            user_account::id,
                            curator.into_sql::<Bool>(),
                        ))
                        .insert_into(user_group_member::table)
                        .into_columns((
                            user_group_member::group_id,
                            user_group_member::user_id,
                            user_group_member::curator,
                        ))
                        .execute(conn)
                        .await?;
                    if added < users.len() {
                        return Err(Failure::Refused);
                    }
                }
            }
            Ok(true)
        })
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
