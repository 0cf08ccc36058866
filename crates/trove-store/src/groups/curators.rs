//! Who curates a group, and the role that follows.
//!
//! Every step here keeps users from other changes first and groups after that.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncConnection, RunQueryDsl};
use trove_domain::access::{Caller, Role};
use trove_domain::error::StoreError;
use trove_domain::group::GroupDelta;
use trove_domain::id::{GroupId, UserId};
use trove_domain::port::GroupChange;

use super::change::controlled_state;
use crate::Store;
use crate::backend::transact;
use crate::error::corrupt;
use crate::locks::Locks;
use crate::rights::Power;
use crate::schema::{user_account, user_group_member};
use crate::sql::{Id, Time};

/// Makes normal users of those among `$users` who are curators and curate nothing (any more);
/// answers whom.
macro_rules! demote {
    ($conn:expr, $users:expr, $now:expr) => {{
        use crate::schema::{user_account, user_group_member};
        use trove_domain::access::Role;
        let mut demoted: Vec<crate::sql::Id> = Vec::new();
        for users in $users.chunks(crate::backend::KEYS_MAX) {
            let curating = user_group_member::table
                .filter(user_group_member::curator.eq(true))
                .select(user_group_member::user_id);
            let without: Vec<crate::sql::Id> = diesel::update(user_account::table)
                .filter(user_account::id.eq_any(users))
                .filter(user_account::role.eq(Role::Curator.as_str()))
                .filter(user_account::id.ne_all(curating))
                .set((
                    user_account::role.eq(Role::Basic.as_str()),
                    user_account::updated_at.eq(crate::sql::Time($now)),
                ))
                .returning(user_account::id)
                .get_results($conn)
                .await?;
            demoted.extend(without);
        }
        demoted.sort_unstable();
        let roles = demoted.into_iter().map(|id| (UserId(id.0), Role::Basic));
        roles.collect::<Vec<(UserId, Role)>>()
    }};
}
pub(super) use demote;

impl Store {
    pub(super) async fn mark_curator(
        &self,
        caller: &Caller,
        id: GroupId,
        user: UserId,
        curator: bool,
        now: DateTime<Utc>,
    ) -> Result<GroupChange, StoreError> {
        let (group, power, user) = (id.0, Power::of(caller), Id(user.0));
        transact!(self, "group.set_curator", |conn| {
            conn.lock_users().await?;
            controlled_state!(conn, group, power);
            let row: Option<(String, bool)> = user_group_member::table
                .inner_join(user_account::table)
                .filter(user_group_member::group_id.eq(group))
                .filter(user_group_member::user_id.eq(user))
                .select((user_account::role, user_group_member::curator))
                .first(conn)
                .await
                .optional()?;
            let Some((role, present)) = row else { return Ok(GroupChange::NoSuchUser) };
            let role: Role = role.parse().map_err(corrupt("user", user.0))?;
            if role != Role::Basic && role != Role::Curator {
                return Ok(GroupChange::NoCurator);
            }
            let mut delta = GroupDelta::default();
            if present != curator {
                diesel::update(user_group_member::table)
                    .filter(user_group_member::group_id.eq(group))
                    .filter(user_group_member::user_id.eq(user))
                    .set(user_group_member::curator.eq(curator))
                    .execute(conn)
                    .await?;
            }
            if curator && role == Role::Basic {
                // Marks of an earlier time as a curator give nothing back.
                diesel::update(user_group_member::table)
                    .filter(user_group_member::group_id.ne(group))
                    .filter(user_group_member::user_id.eq(user))
                    .set(user_group_member::curator.eq(false))
                    .execute(conn)
                    .await?;
                diesel::update(user_account::table.find(user))
                    .set((
                        user_account::role.eq(Role::Curator.as_str()),
                        user_account::updated_at.eq(Time(now)),
                    ))
                    .execute(conn)
                    .await?;
                delta.roles.push((UserId(user.0), Role::Curator));
            }
            if present && !curator {
                delta.roles = demote!(conn, [user], now);
            }
            Ok(GroupChange::Done(id, delta))
        })
    }

    pub(super) async fn add_group_members(
        &self,
        caller: &Caller,
        id: GroupId,
        users: &BTreeSet<UserId>,
    ) -> Result<GroupChange, StoreError> {
        use super::change::{join, members_of};
        let (group, power) = (id.0, Power::of(caller));
        transact!(self, "group.add_members", refused GroupChange::NoSuchUser, |conn| {
            controlled_state!(conn, group, power);
            let present = members_of!(conn, group);
            let joined: BTreeSet<UserId> =
                users.iter().filter(|user| !present.contains_key(user)).copied().collect();
            join!(conn, group, joined);
            Ok(GroupChange::Done(id, GroupDelta { joined, ..GroupDelta::default() }))
        })
    }
}
