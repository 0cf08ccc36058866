//! What is read of groups.

use std::collections::BTreeMap;

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use trove_domain::access::{Caller, Role};
use trove_domain::error::StoreError;
use trove_domain::group::{Group, GroupMember, GroupRecord, GroupState};
use trove_domain::id::{AgentId, CcPairId, DocumentSetId, GroupId};
use trove_domain::page::Page;

use super::{DELETING, UP_TO_DATE, controlled, living_groups};
use crate::Store;
use crate::backend::read;
use crate::error::Failure;
use crate::rights::{Power, own_groups};
use crate::schema::{
    agent, agent_group, cc_pair_group, document_set_group, user_account, user_group,
    user_group_member,
};
use crate::users::{UserRow, user};

type GroupRow = (i32, String, String);

/// What belongs to some groups, in no order.
struct Parts {
    members: Vec<(i32, bool, UserRow)>,
    pairs: Vec<(i32, i32)>,
    sets: Vec<(i32, i32)>,
    agents: Vec<(i32, i32)>,
}

/// Loads the groups of a query, in its order, with everything that belongs to them: five queries,
/// however many groups there are.
macro_rules! load_groups {
    ($conn:expr, $query:expr) => {{
        let rows: Vec<GroupRow> = $query
            .select((user_group::id, user_group::name, user_group::state))
            .load($conn)
            .await?;
        let ids: Vec<i32> = rows.iter().map(|row| row.0).collect();
        let members: Vec<(i32, bool, UserRow)> = user_group_member::table
            .inner_join(user_account::table)
            .filter(user_group_member::group_id.eq_any(&ids))
            .select((user_group_member::group_id, user_group_member::curator, UserRow::as_select()))
            .load($conn)
            .await?;
        let pairs: Vec<(i32, i32)> = cc_pair_group::table
            .filter(cc_pair_group::group_id.eq_any(&ids))
            .select((cc_pair_group::group_id, cc_pair_group::cc_pair_id))
            .load($conn)
            .await?;
        let sets: Vec<(i32, i32)> = document_set_group::table
            .filter(document_set_group::group_id.eq_any(&ids))
            .select((document_set_group::group_id, document_set_group::document_set_id))
            .load($conn)
            .await?;
        let agents: Vec<(i32, i32)> = agent_group::table
            .inner_join(agent::table.on(agent::id.eq(agent_group::agent_id)))
            .filter(agent_group::group_id.eq_any(&ids))
            .filter(agent::deleted.eq(false))
            .select((agent_group::group_id, agent_group::agent_id))
            .load($conn)
            .await?;
        records(rows, Parts { members, pairs, sets, agents })?
    }};
}

fn records(rows: Vec<GroupRow>, parts: Parts) -> Result<Vec<GroupRecord>, Failure> {
    let Parts { members, pairs, sets, agents } = parts;
    let mut members_of: BTreeMap<i32, Vec<GroupMember>> = BTreeMap::new();
    for (group, curator, row) in members {
        members_of.entry(group).or_default().push(GroupMember { user: user(row)?, curator });
    }
    let by_group = |links: Vec<(i32, i32)>| {
        let mut by_group: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
        for (group, linked) in links {
            by_group.entry(group).or_default().push(linked);
        }
        by_group
    };
    let (mut pairs, mut sets, mut agents) = (by_group(pairs), by_group(sets), by_group(agents));
    let record = |(id, name, state): GroupRow| {
        let mut members = members_of.remove(&id).unwrap_or_default();
        // Databases differ in how they sort.
        members.sort_by_cached_key(|member| (member.user.email.to_lowercase(), member.user.id));
        GroupRecord {
            group: Group { id: GroupId(id), name },
            state: match state.as_str() {
                UP_TO_DATE => GroupState::UpToDate,
                DELETING => GroupState::Deleting,
                _ => GroupState::Syncing,
            },
            members,
            cc_pairs: pairs.remove(&id).into_iter().flatten().map(CcPairId).collect(),
            document_sets: sets.remove(&id).into_iter().flatten().map(DocumentSetId).collect(),
            agents: agents.remove(&id).into_iter().flatten().map(AgentId).collect(),
        }
    };
    Ok(rows.into_iter().map(record).collect())
}

/// A page of one more than asked for.
fn cut<T>(mut items: Vec<T>, limit: u32, id: impl Fn(&T) -> GroupId) -> Page<T, GroupId> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = items.len() > limit;
    items.truncate(limit);
    let next = items.last().filter(|_| more).map(id);
    Page { items, next }
}

impl Store {
    pub(super) async fn find_group(
        &self,
        caller: &Caller,
        id: GroupId,
    ) -> Result<Option<GroupRecord>, StoreError> {
        let power = Power::of(caller);
        read!(self, "group.find", |conn| {
            let query =
                user_group::table.filter(user_group::id.eq(id.0)).filter(controlled!(power));
            Ok(load_groups!(conn, query).into_iter().next())
        })
    }

    pub(super) async fn list_groups(
        &self,
        caller: &Caller,
        after: Option<GroupId>,
        limit: u32,
    ) -> Result<Page<GroupRecord, GroupId>, StoreError> {
        let power = Power::of(caller);
        let items = read!(self, "group.list", |conn| {
            let query = user_group::table
                .filter(user_group::id.gt(after.map_or(i32::MIN, |id| id.0)))
                .filter(controlled!(power))
                .order(user_group::id)
                .limit(i64::from(limit) + 1);
            Ok(load_groups!(conn, query))
        })?;
        Ok(cut(items, limit, |record| record.group.id))
    }

    pub(super) async fn group_names(
        &self,
        caller: &Caller,
        after: Option<GroupId>,
        limit: u32,
    ) -> Result<Page<Group, GroupId>, StoreError> {
        use diesel::sql_types::Bool;
        let power = Power::of(caller);
        let all = caller.role == Role::Admin;
        let items = read!(self, "group.names", |conn| {
            let own = own_groups!(power);
            let rows: Vec<(i32, String)> = living_groups!()
                .filter(user_group::id.gt(after.map_or(i32::MIN, |id| id.0)))
                .filter(all.into_sql::<Bool>().or(user_group::id.eq_any(own)))
                .order(user_group::id)
                .limit(i64::from(limit) + 1)
                .select((user_group::id, user_group::name))
                .load(conn)
                .await?;
            let groups = rows.into_iter().map(|(id, name)| Group { id: GroupId(id), name });
            Ok(groups.collect::<Vec<Group>>())
        })?;
        Ok(cut(items, limit, |group| group.id))
    }
}
