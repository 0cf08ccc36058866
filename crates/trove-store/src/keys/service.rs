//! Service accounts together with their keys.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncConnection, RunQueryDsl};
use trove_domain::access::Role;
use trove_domain::api_key::{ListedKey, NewApiKey, ServiceKeyChange, ServiceKeyUpdate};
use trove_domain::error::StoreError;
use trove_domain::id::{ApiKeyId, GroupId, UserId};
use trove_domain::port::{NewUser, SERVICE_ACCOUNTS_MAX};
use trove_domain::user::{AccountKind, TokenHash};

use super::{KeyRow, hex, insert_key, with_users};
use crate::Store;
use crate::backend::{KEYS_MAX, transact};
use crate::groups::DELETING;
use crate::locks::Locks;
use crate::schema::{api_key, user_account, user_group, user_group_member};
use crate::sql::{Id, Time};
use crate::users::{email_key, insert_user, load_users};

/// Ends the step, before it has changed anything, when one of the groups does not exist that the
/// user is not in yet.
macro_rules! check_groups {
    ($conn:expr, $user:expr, $groups:expr) => {
        let groups: Vec<i32> = $groups.iter().map(|group| group.0).collect();
        let mut there: BTreeSet<i32> = BTreeSet::new();
        for groups in groups.chunks(KEYS_MAX) {
            let mine = user_group_member::table
                .filter(user_group_member::user_id.eq($user))
                .select(user_group_member::group_id);
            let found: Vec<i32> = user_group::table
                .filter(user_group::id.eq_any(groups))
                .filter(user_group::state.ne(DELETING).or(user_group::id.eq_any(mine)))
                .select(user_group::id)
                .load($conn)
                .await?;
            there.extend(found);
        }
        if let Some(missing) = groups.iter().find(|group| !there.contains(group)) {
            return Ok(ServiceKeyChange::NoSuchGroup(GroupId(*missing)));
        }
    };
}

/// Puts a user into these groups, which exist, and no others.
macro_rules! set_groups {
    ($conn:expr, $user:expr, $groups:expr) => {
        let groups: BTreeSet<i32> = $groups.iter().map(|group| group.0).collect();
        let present: Vec<i32> = user_group_member::table
            .filter(user_group_member::user_id.eq($user))
            .select(user_group_member::group_id)
            .load($conn)
            .await?;
        let present: BTreeSet<i32> = present.into_iter().collect();
        for group in groups.difference(&present) {
            diesel::insert_into(user_group_member::table)
                .values((
                    user_group_member::group_id.eq(group),
                    user_group_member::user_id.eq($user),
                    user_group_member::curator.eq(false),
                ))
                .execute($conn)
                .await?;
        }
        for group in present.difference(&groups) {
            diesel::delete(user_group_member::table.find((group, $user))).execute($conn).await?;
        }
    };
}

/// The user of a key of a service account that works; answers what it is otherwise.
macro_rules! service_of {
    ($conn:expr, $id:expr) => {{
        let row: Option<(Id, String)> = api_key::table
            .inner_join(user_account::table)
            .filter(api_key::id.eq($id))
            .filter(api_key::revoked_at.is_null())
            .select((user_account::id, user_account::kind))
            .first($conn)
            .await
            .optional()?;
        match row {
            None => return Ok(ServiceKeyChange::NoSuchKey),
            Some((_, kind)) if kind == AccountKind::Person.as_str() => {
                return Ok(ServiceKeyChange::ActsAsPerson);
            }
            Some((user, _)) => user,
        }
    }};
}

/// The key as it is now.
macro_rules! done {
    ($conn:expr, $id:expr) => {{
        let row = api_key::table.find($id).select(KeyRow::as_select()).first($conn).await?;
        let listed: Option<ListedKey> = with_users!($conn, vec![row]).pop();
        // Both rows are held by the transaction.
        listed.map(Box::new).map_or(ServiceKeyChange::NoSuchKey, ServiceKeyChange::Done)
    }};
}

impl Store {
    pub(super) async fn add_service(
        &self,
        account: NewUser,
        groups: &BTreeSet<GroupId>,
        key: NewApiKey,
    ) -> Result<ServiceKeyChange, StoreError> {
        let user = Id(account.id.0);
        transact!(self, "api_key.insert_service", |conn| {
            conn.lock_users().await?;
            let accounts: i64 = user_account::table
                .filter(user_account::kind.eq(AccountKind::Service.as_str()))
                .count()
                .get_result(conn)
                .await?;
            if accounts >= i64::from(SERVICE_ACCOUNTS_MAX) {
                return Ok(ServiceKeyChange::TooMany);
            }
            check_groups!(conn, user, groups);
            if !insert_user!(conn, account) {
                // Its address holds its id, which is new.
                return Err(diesel::result::Error::NotFound.into());
            }
            set_groups!(conn, user, groups);
            let id = insert_key!(conn, key);
            Ok(done!(conn, id))
        })
    }

    pub(super) async fn change_service(
        &self,
        id: ApiKeyId,
        update: ServiceKeyUpdate,
        now: DateTime<Utc>,
    ) -> Result<ServiceKeyChange, StoreError> {
        let ServiceKeyUpdate { name, email, role, groups } = update;
        transact!(self, "api_key.update_service", |conn| {
            conn.lock_users().await?;
            let user = service_of!(conn, id.0);
            if let Some(groups) = &groups {
                check_groups!(conn, user, groups);
            }
            let present: String =
                user_account::table.find(user).select(user_account::role).first(conn).await?;
            if role == Role::Curator && present != role.as_str() {
                diesel::update(user_group_member::table)
                    .filter(user_group_member::user_id.eq(user))
                    .set(user_group_member::curator.eq(false))
                    .execute(conn)
                    .await?;
            }
            diesel::update(user_account::table.find(user))
                .set((
                    user_account::email.eq(&email),
                    user_account::email_key.eq(email_key(&email)),
                    user_account::role.eq(role.as_str()),
                    user_account::updated_at.eq(Time(now)),
                ))
                .execute(conn)
                .await?;
            diesel::update(api_key::table.find(id.0))
                .set(api_key::name.eq(&name))
                .execute(conn)
                .await?;
            if let Some(groups) = &groups {
                set_groups!(conn, user, groups);
            }
            Ok(done!(conn, id.0))
        })
    }

    pub(super) async fn exchange_token(
        &self,
        id: ApiKeyId,
        display: &str,
        hash: &TokenHash,
    ) -> Result<ServiceKeyChange, StoreError> {
        transact!(self, "api_key.replace_token", |conn| {
            conn.lock_users().await?;
            service_of!(conn, id.0);
            diesel::update(api_key::table.find(id.0))
                .set((
                    api_key::token_hash.eq(hex(hash)),
                    api_key::display.eq(display),
                    api_key::last_used_at.eq(None::<Time>),
                ))
                .execute(conn)
                .await?;
            Ok(done!(conn, id.0))
        })
    }
}
