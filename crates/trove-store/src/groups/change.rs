//! Changes of groups.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::Integer;
use diesel_async::{AsyncConnection, RunQueryDsl};
use trove_domain::access::Caller;
use trove_domain::cc_pair::AccessType;
use trove_domain::error::StoreError;
use trove_domain::group::GroupDelta;
use trove_domain::id::{CcPairId, GroupId, UserId};
use trove_domain::job::NewJob;
use trove_domain::port::{GroupChange, GroupContents};

use super::curators::demote;
use super::{DELETING, SYNCING, UP_TO_DATE};
use crate::Store;
use crate::backend::{KEYS_MAX, transact};
use crate::documents::mark_dirty;
use crate::error::is_taken;
use crate::jobs::insert_job;
use crate::locks::Locks;
use crate::rights::Power;
use crate::schema::{
    agent_group, cc_pair, cc_pair_group, document_set_group, llm_provider, llm_provider_group,
    user_group, user_group_member,
};
use crate::sql::Id;

/// Names of providers that a refusal tells.
const NAMES: i64 = 5;

/// Ends the step unless the caller controls the group and the index knows of it; keeps the group
/// from other changes.
macro_rules! controlled_state {
    ($conn:expr, $group:expr, $power:expr) => {{
        use crate::schema::user_group;
        use trove_domain::port::GroupChange;
        if !$conn.lock_group($group).await? {
            return Ok(GroupChange::NoSuchGroup);
        }
        let state: Option<String> = user_group::table
            .find($group)
            .filter(crate::groups::controlled!($power))
            .select(user_group::state)
            .first($conn)
            .await
            .optional()?;
        match state.as_deref() {
            None => return Ok(GroupChange::NoSuchGroup),
            Some(crate::groups::UP_TO_DATE) => {}
            Some(_) => return Ok(GroupChange::Syncing),
        }
    }};
}
pub(super) use controlled_state;

/// The members of a group, and whether they curate it.
macro_rules! members_of {
    ($conn:expr, $group:expr) => {{
        use crate::schema::user_group_member;
        let rows: Vec<(crate::sql::Id, bool)> = user_group_member::table
            .filter(user_group_member::group_id.eq($group))
            .select((user_group_member::user_id, user_group_member::curator))
            .load($conn)
            .await?;
        let members = rows.into_iter().map(|(id, curator)| (UserId(id.0), curator));
        members.collect::<std::collections::BTreeMap<UserId, bool>>()
    }};
}
pub(super) use members_of;

/// Adds members who are none; undoes the step when one of them does not exist.
macro_rules! join {
    ($conn:expr, $group:expr, $users:expr) => {{
        use crate::schema::{user_account, user_group_member};
        use diesel::sql_types::{Bool, Integer};
        let users: Vec<crate::sql::Id> = $users.iter().map(|user| crate::sql::Id(user.0)).collect();
        for users in users.chunks(crate::backend::KEYS_MAX) {
            let added = user_account::table
                .filter(user_account::id.eq_any(users))
                .select(($group.into_sql::<Integer>(), user_account::id, false.into_sql::<Bool>()))
                .insert_into(user_group_member::table)
                .into_columns((
                    user_group_member::group_id,
                    user_group_member::user_id,
                    user_group_member::curator,
                ))
                .execute($conn)
                .await?;
            if added < users.len() {
                return Err(crate::error::Failure::Refused);
            }
        }
    }};
}
pub(super) use join;

macro_rules! pairs_of {
    ($conn:expr, $group:expr) => {{
        let pairs: Vec<i32> = cc_pair_group::table
            .filter(cc_pair_group::group_id.eq($group))
            .select(cc_pair_group::cc_pair_id)
            .load($conn)
            .await?;
        pairs.into_iter().collect::<BTreeSet<i32>>()
    }};
}

/// Shares pairs with a group that are there.
macro_rules! share {
    ($conn:expr, $group:expr, $pairs:expr) => {
        let pairs: Vec<i32> = $pairs.iter().copied().collect();
        for pairs in pairs.chunks(KEYS_MAX) {
            cc_pair::table
                .filter(cc_pair::id.eq_any(pairs))
                .select((cc_pair::id, $group.into_sql::<Integer>()))
                .insert_into(cc_pair_group::table)
                .into_columns((cc_pair_group::cc_pair_id, cc_pair_group::group_id))
                .execute($conn)
                .await?;
        }
    };
}

/// Which of the pairs are there that the caller may share with a group.
macro_rules! shareable {
    ($conn:expr, $power:expr, $pairs:expr) => {{
        use diesel::sql_types::Bool;
        let pairs: Vec<i32> = $pairs.iter().copied().collect();
        let mut found: BTreeSet<i32> = BTreeSet::new();
        for pairs in pairs.chunks(KEYS_MAX) {
            let controls = user_group_member::curator.or($power.controls_all.into_sql::<Bool>());
            let own = crate::rights::own_groups!($power).filter(controls);
            let shared = cc_pair_group::table.select(cc_pair_group::cc_pair_id);
            let beyond = cc_pair_group::table
                .filter(cc_pair_group::group_id.ne_all(own))
                .select(cc_pair_group::cc_pair_id);
            let in_own = cc_pair::id.eq_any(shared).and(cc_pair::id.ne_all(beyond));
            let may = $power
                .administers
                .into_sql::<Bool>()
                .or($power.curates.into_sql::<Bool>().and(in_own))
                .or(cc_pair::creator_id.eq($power.me));
            let ids: Vec<i32> = cc_pair::table
                .filter(cc_pair::id.eq_any(pairs))
                .filter(may)
                .select(cc_pair::id)
                .load($conn)
                .await?;
            found.extend(ids);
        }
        found
    }};
}

/// Those of the pairs whose documents say in the index which groups read them.
macro_rules! private_ones {
    ($conn:expr, $pairs:expr) => {{
        let pairs: Vec<i32> = $pairs.iter().copied().collect();
        let mut private: Vec<i32> = Vec::new();
        for pairs in pairs.chunks(KEYS_MAX) {
            let ids: Vec<i32> = cc_pair::table
                .filter(cc_pair::id.eq_any(pairs))
                .filter(cc_pair::access_type.eq(AccessType::Private.as_str()))
                .select(cc_pair::id)
                .load($conn)
                .await?;
            private.extend(ids);
        }
        private
    }};
}

/// What the index must know of: the state, and a revision that no earlier sync finishes.
macro_rules! begin_sync {
    ($conn:expr, $group:expr, $state:expr) => {
        diesel::update(user_group::table.find($group))
            .set((user_group::state.eq($state), user_group::revision.eq(user_group::revision + 1)))
            .execute($conn)
            .await?
    };
}

fn pair_ids(ids: impl IntoIterator<Item = i32>) -> BTreeSet<CcPairId> {
    ids.into_iter().map(CcPairId).collect()
}

impl Store {
    pub(super) async fn create_group(
        &self,
        name: &str,
        contents: GroupContents,
        now: DateTime<Utc>,
        job: NewJob,
    ) -> Result<GroupChange, StoreError> {
        let job_id = self.ids().uuid();
        let GroupContents { members, cc_pairs } = contents;
        transact!(self, "group.create", refused GroupChange::NoSuchUser, |conn| {
            let pairs: Vec<i32> = cc_pairs.iter().map(|pair| pair.0).collect();
            conn.lock_pairs(&pairs).await?;
            let there = shareable!(conn, EVERYTHING, pairs);
            if let Some(missing) = pairs.iter().find(|pair| !there.contains(pair)) {
                return Ok(GroupChange::NoSuchPair(CcPairId(*missing)));
            }
            let id: Option<i32> = diesel::insert_into(user_group::table)
                .values((
                    user_group::name.eq(name),
                    user_group::state.eq(UP_TO_DATE),
                    user_group::revision.eq(0),
                ))
                .on_conflict_do_nothing()
                .returning(user_group::id)
                .get_result(conn)
                .await
                .optional()?;
            let Some(id) = id else { return Ok(GroupChange::NameTaken) };
            join!(conn, id, members);
            share!(conn, id, pairs);
            let private = private_ones!(conn, pairs);
            if !private.is_empty() {
                begin_sync!(conn, id, SYNCING);
                mark_dirty!(conn, &private, now);
                insert_job!(conn, job_id, job);
            }
            let delta = GroupDelta {
                joined: members,
                shared: pair_ids(pairs),
                ..GroupDelta::default()
            };
            Ok(GroupChange::Done(GroupId(id), delta))
        })
    }

    pub(super) async fn replace_group(
        &self,
        caller: &Caller,
        id: GroupId,
        contents: GroupContents,
        now: DateTime<Utc>,
        job: NewJob,
    ) -> Result<GroupChange, StoreError> {
        let (group, power) = (id.0, Power::of(caller));
        let job_id = self.ids().uuid();
        transact!(self, "group.replace", refused GroupChange::NoSuchUser, |conn| {
            conn.lock_users().await?;
            controlled_state!(conn, group, power);

            let wanted: BTreeSet<i32> = contents.cc_pairs.iter().map(|pair| pair.0).collect();
            let present = pairs_of!(conn, group);
            let all: Vec<i32> = wanted.union(&present).copied().collect();
            conn.lock_pairs(&all).await?;
            let new: BTreeSet<i32> = wanted.difference(&present).copied().collect();
            let may = shareable!(conn, power, new);
            if let Some(pair) = new.difference(&may).next() {
                return Ok(GroupChange::NoSuchPair(CcPairId(*pair)));
            }

            let members = members_of!(conn, group);
            let joined: BTreeSet<UserId> = contents
                .members
                .iter()
                .filter(|user| !members.contains_key(user))
                .copied()
                .collect();
            let left: BTreeMap<UserId, bool> =
                members.into_iter().filter(|(user, _)| !contents.members.contains(user)).collect();
            join!(conn, group, joined);
            let gone: Vec<Id> = left.keys().map(|user| Id(user.0)).collect();
            for gone in gone.chunks(KEYS_MAX) {
                diesel::delete(user_group_member::table)
                    .filter(user_group_member::group_id.eq(group))
                    .filter(user_group_member::user_id.eq_any(gone))
                    .execute(conn)
                    .await?;
            }
            let curators: Vec<Id> =
                left.iter().filter(|(_, curator)| **curator).map(|(user, _)| Id(user.0)).collect();
            let roles = demote!(conn, curators, now);

            let unshared: Vec<i32> = present.difference(&wanted).copied().collect();
            for pairs in unshared.chunks(KEYS_MAX) {
                diesel::delete(cc_pair_group::table)
                    .filter(cc_pair_group::group_id.eq(group))
                    .filter(cc_pair_group::cc_pair_id.eq_any(pairs))
                    .execute(conn)
                    .await?;
            }
            share!(conn, group, new);
            let moved: BTreeSet<i32> = new.iter().chain(&unshared).copied().collect();
            let private = private_ones!(conn, moved);
            if !private.is_empty() {
                begin_sync!(conn, group, SYNCING);
                mark_dirty!(conn, &private, now);
                insert_job!(conn, job_id, job);
            }
            let left: BTreeSet<UserId> = left.into_keys().collect();
            let (shared, unshared) = (pair_ids(new), pair_ids(unshared));
            Ok(GroupChange::Done(id, GroupDelta { joined, left, shared, unshared, roles }))
        })
    }

    pub(super) async fn rename_group(
        &self,
        caller: &Caller,
        id: GroupId,
        name: &str,
    ) -> Result<GroupChange, StoreError> {
        let (group, power) = (id.0, Power::of(caller));
        let renamed = transact!(self, "group.rename", |conn| {
            controlled_state!(conn, group, power);
            let others: i64 = user_group::table
                .filter(user_group::name.eq(name))
                .filter(user_group::id.ne(group))
                .count()
                .get_result(conn)
                .await?;
            if others > 0 {
                return Ok(GroupChange::NameTaken);
            }
            diesel::update(user_group::table.find(group))
                .set(user_group::name.eq(name))
                .execute(conn)
                .await?;
            Ok(GroupChange::Done(id, GroupDelta::default()))
        });
        match renamed {
            // Somebody else took the name since it was looked for.
            Err(error) if is_taken(&error) => Ok(GroupChange::NameTaken),
            other => other,
        }
    }

    pub(super) async fn begin_group_removal(
        &self,
        id: GroupId,
        now: DateTime<Utc>,
        job: NewJob,
    ) -> Result<GroupChange, StoreError> {
        let group = id.0;
        let job_id = self.ids().uuid();
        transact!(self, "group.begin_removal", |conn| {
            conn.lock_users().await?;
            controlled_state!(conn, group, EVERYTHING);
            let bound: Vec<String> = llm_provider_group::table
                .inner_join(
                    llm_provider::table.on(llm_provider::id.eq(llm_provider_group::provider_id)),
                )
                .filter(llm_provider_group::group_id.eq(group))
                .order(llm_provider::id)
                .limit(NAMES)
                .select(llm_provider::name)
                .load(conn)
                .await?;
            if !bound.is_empty() {
                return Ok(GroupChange::Bound(bound));
            }
            let pairs: Vec<i32> = pairs_of!(conn, group).into_iter().collect();
            conn.lock_pairs(&pairs).await?;
            let members = members_of!(conn, group);
            diesel::delete(user_group_member::table)
                .filter(user_group_member::group_id.eq(group))
                .execute(conn)
                .await?;
            diesel::delete(cc_pair_group::table)
                .filter(cc_pair_group::group_id.eq(group))
                .execute(conn)
                .await?;
            diesel::delete(document_set_group::table)
                .filter(document_set_group::group_id.eq(group))
                .execute(conn)
                .await?;
            diesel::delete(agent_group::table)
                .filter(agent_group::group_id.eq(group))
                .execute(conn)
                .await?;
            let curators: Vec<Id> =
                members.iter().filter(|(_, c)| **c).map(|(user, _)| Id(user.0)).collect();
            let roles = demote!(conn, curators, now);
            begin_sync!(conn, group, DELETING);
            let private = private_ones!(conn, pairs);
            mark_dirty!(conn, &private, now);
            insert_job!(conn, job_id, job);
            let left: BTreeSet<UserId> = members.into_keys().collect();
            let delta =
                GroupDelta { left, unshared: pair_ids(pairs), roles, ..GroupDelta::default() };
            Ok(GroupChange::Done(id, delta))
        })
    }
}

/// What an administrator controls, whoever it is.
const EVERYTHING: Power =
    Power { me: Id(uuid::Uuid::nil()), administers: true, curates: false, controls_all: false };
