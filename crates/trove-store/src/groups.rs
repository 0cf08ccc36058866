//! Groups of users: members and the port. What is read is in `read`, changes are in `change`, and
//! what follows for roles in `curators`.

mod change;
mod curators;
mod read;

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::{Bool, Integer};
use diesel_async::{AsyncConnection, RunQueryDsl};
use trove_domain::access::Caller;
use trove_domain::error::StoreError;
use trove_domain::group::{Group, GroupRecord, Membership};
use trove_domain::id::{GroupId, UserId};
use trove_domain::job::NewJob;
use trove_domain::page::Page;
use trove_domain::port::{GroupChange, GroupContents, GroupRevision, GroupStore};

use crate::Store;
use crate::backend::{KEYS_MAX, read, transact};
use crate::error::Failure;
use crate::locks::Locks;
use crate::schema::{llm_provider_group, user_account, user_group, user_group_member};
use crate::sql::Id;

pub(crate) const UP_TO_DATE: &str = "up_to_date";
pub(crate) const SYNCING: &str = "syncing";
pub(crate) const DELETING: &str = "deleting";

/// Groups that something can be shared with: whoever names one that is being deleted names none.
macro_rules! living_groups {
    () => {
        crate::schema::user_group::table
            .filter(crate::schema::user_group::state.ne(crate::groups::DELETING))
    };
}
pub(crate) use living_groups;

/// Whether a caller controls a group.
macro_rules! controlled {
    ($power:expr) => {{
        use crate::schema::{user_group, user_group_member};
        use diesel::sql_types::Bool;
        let controls = user_group_member::curator.or($power.controls_all.into_sql::<Bool>());
        let own = crate::rights::own_groups!($power).filter(controls);
        $power
            .administers
            .into_sql::<Bool>()
            .or($power.curates.into_sql::<Bool>().and(user_group::id.eq_any(own)))
    }};
}
use controlled;

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

    #[tracing::instrument(name = "db.group.create", skip_all)]
    async fn create(
        &self,
        name: &str,
        contents: GroupContents,
        now: DateTime<Utc>,
        job: NewJob,
    ) -> Result<GroupChange, StoreError> {
        self.create_group(name, contents, now, job).await
    }

    #[tracing::instrument(name = "db.group.replace", skip_all)]
    async fn replace(
        &self,
        caller: &Caller,
        id: GroupId,
        contents: GroupContents,
        now: DateTime<Utc>,
        job: NewJob,
    ) -> Result<GroupChange, StoreError> {
        self.replace_group(caller, id, contents, now, job).await
    }

    #[tracing::instrument(name = "db.group.add_members", skip_all)]
    async fn add_members(
        &self,
        caller: &Caller,
        id: GroupId,
        users: &BTreeSet<UserId>,
    ) -> Result<GroupChange, StoreError> {
        self.add_group_members(caller, id, users).await
    }

    #[tracing::instrument(name = "db.group.rename", skip_all)]
    async fn rename(
        &self,
        caller: &Caller,
        id: GroupId,
        name: &str,
    ) -> Result<GroupChange, StoreError> {
        self.rename_group(caller, id, name).await
    }

    #[tracing::instrument(name = "db.group.set_curator", skip_all)]
    async fn set_curator(
        &self,
        caller: &Caller,
        id: GroupId,
        user: UserId,
        curator: bool,
        now: DateTime<Utc>,
    ) -> Result<GroupChange, StoreError> {
        self.mark_curator(caller, id, user, curator, now).await
    }

    #[tracing::instrument(name = "db.group.begin_removal", skip_all)]
    async fn begin_removal(
        &self,
        id: GroupId,
        now: DateTime<Utc>,
        job: NewJob,
    ) -> Result<GroupChange, StoreError> {
        self.begin_group_removal(id, now, job).await
    }

    #[tracing::instrument(name = "db.group.find", skip_all)]
    async fn find_controlled(
        &self,
        caller: &Caller,
        id: GroupId,
    ) -> Result<Option<GroupRecord>, StoreError> {
        self.find_group(caller, id).await
    }

    #[tracing::instrument(name = "db.group.list", skip_all)]
    async fn list(
        &self,
        caller: &Caller,
        after: Option<GroupId>,
        limit: u32,
    ) -> Result<Page<GroupRecord, GroupId>, StoreError> {
        self.list_groups(caller, after, limit).await
    }

    #[tracing::instrument(name = "db.group.names", skip_all)]
    async fn names(
        &self,
        caller: &Caller,
        after: Option<GroupId>,
        limit: u32,
    ) -> Result<Page<Group, GroupId>, StoreError> {
        self.group_names(caller, after, limit).await
    }

    #[tracing::instrument(name = "db.group.unsynced", level = "debug", skip_all)]
    async fn unsynced(&self) -> Result<Vec<GroupRevision>, StoreError> {
        read!(self, "group.unsynced", |conn| {
            let rows: Vec<(i32, i64)> = user_group::table
                .filter(user_group::state.ne(UP_TO_DATE))
                .order(user_group::id)
                .select((user_group::id, user_group::revision))
                .load(conn)
                .await?;
            let groups = rows.into_iter();
            Ok(groups.map(|(id, revision)| GroupRevision { id: GroupId(id), revision }).collect())
        })
    }

    #[tracing::instrument(name = "db.group.finish_sync", level = "debug", skip_all)]
    async fn finish_sync(&self, groups: &[GroupRevision]) -> Result<(), StoreError> {
        transact!(self, "group.finish_sync", |conn| {
            for group in groups {
                diesel::update(user_group::table.find(group.id.0))
                    .filter(user_group::revision.eq(group.revision))
                    .filter(user_group::state.eq(SYNCING))
                    .set(user_group::state.eq(UP_TO_DATE))
                    .execute(conn)
                    .await?;
                // A provider that was bound in the very moment of the removal keeps the group,
                // which has no members: the provider would be open to more people without it.
                let bound = llm_provider_group::table.select(llm_provider_group::group_id);
                diesel::delete(user_group::table.find(group.id.0))
                    .filter(user_group::revision.eq(group.revision))
                    .filter(user_group::state.eq(DELETING))
                    .filter(user_group::id.ne_all(bound))
                    .execute(conn)
                    .await?;
            }
            Ok(())
        })
    }
}
