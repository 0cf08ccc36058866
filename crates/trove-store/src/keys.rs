//! API keys. Those of service accounts are changed in `service`.

mod service;

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncConnection, RunQueryDsl};
use trove_domain::api_key::{
    ApiKey, KeyHolder, ListedKey, NewApiKey, ServiceKeyChange, ServiceKeyUpdate,
};
use trove_domain::error::StoreError;
use trove_domain::id::{ApiKeyId, GroupId, UserId};
use trove_domain::port::{ApiKeyStore, NewUser};
use trove_domain::user::TokenHash;

use crate::Store;
use crate::backend::{KEYS_MAX, read, transact};
use crate::schema::{api_key, user_account};
use crate::sql::{Id, Time};
use crate::users::{UserRow, load_users, user};

pub(crate) fn hex(hash: &TokenHash) -> String {
    let digits = hash.0.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(u32::from(digit), 16)).collect()
}

/// Adds a key; answers its id.
macro_rules! insert_key {
    ($conn:expr, $key:expr) => {{
        use crate::schema::api_key;
        let id: i32 = diesel::insert_into(api_key::table)
            .values((
                api_key::name.eq(&$key.name),
                api_key::display.eq(&$key.display),
                api_key::token_hash.eq(crate::keys::hex(&$key.hash)),
                api_key::user_id.eq(crate::sql::Id($key.user.0)),
                api_key::created_at.eq(crate::sql::Time($key.created_at)),
            ))
            .returning(api_key::id)
            .get_result($conn)
            .await?;
        id
    }};
}
pub(crate) use insert_key;

/// Columns of a key that may be shown.
#[derive(Queryable, Selectable)]
#[diesel(table_name = api_key)]
struct KeyRow {
    id: i32,
    name: Option<String>,
    display: String,
    user_id: Id,
    created_at: Time,
    revoked_at: Option<Time>,
    last_used_at: Option<Time>,
}

impl From<KeyRow> for ApiKey {
    fn from(row: KeyRow) -> Self {
        Self {
            id: ApiKeyId(row.id),
            name: row.name,
            display: row.display,
            user: UserId(row.user_id.0),
            created_at: row.created_at.0,
            revoked_at: row.revoked_at.map(|at| at.0),
            last_used_at: row.last_used_at.map(|at| at.0),
        }
    }
}

/// Keys with their users, in the order of the keys.
macro_rules! with_users {
    ($conn:expr, $rows:expr) => {{
        let rows: Vec<KeyRow> = $rows;
        let users: BTreeSet<Id> = rows.iter().map(|row| row.user_id).collect();
        let users: Vec<Id> = users.into_iter().collect();
        let mut holders = BTreeMap::new();
        for users in users.chunks(KEYS_MAX) {
            let query = user_account::table.filter(user_account::id.eq_any(users));
            for listed in load_users!($conn, query) {
                holders.insert(listed.user.id, listed);
            }
        }
        let listed = rows.into_iter().filter_map(|row| {
            // Who is removed between the two queries takes the keys along.
            let holder = holders.get(&UserId(row.user_id.0))?.clone();
            Some(ListedKey { key: row.into(), holder })
        });
        listed.collect::<Vec<ListedKey>>()
    }};
}
use with_users;

#[async_trait]
impl ApiKeyStore for Store {
    #[tracing::instrument(name = "db.api_key.insert", skip_all)]
    async fn insert(&self, key: NewApiKey) -> Result<Option<ApiKey>, StoreError> {
        transact!(self, "api_key.insert", |conn| {
            let users: i64 = user_account::table
                .filter(user_account::id.eq(Id(key.user.0)))
                .count()
                .get_result(conn)
                .await?;
            if users == 0 {
                return Ok(None);
            }
            let id = insert_key!(conn, key);
            let row = api_key::table.find(id).select(KeyRow::as_select()).first(conn).await?;
            Ok(Some(ApiKey::from(row)))
        })
    }

    #[tracing::instrument(name = "db.api_key.insert_service", skip_all)]
    async fn insert_service(
        &self,
        account: NewUser,
        groups: &BTreeSet<GroupId>,
        key: NewApiKey,
    ) -> Result<ServiceKeyChange, StoreError> {
        self.add_service(account, groups, key).await
    }

    #[tracing::instrument(name = "db.api_key.update_service", skip_all)]
    async fn update_service(
        &self,
        id: ApiKeyId,
        update: ServiceKeyUpdate,
        now: DateTime<Utc>,
    ) -> Result<ServiceKeyChange, StoreError> {
        self.change_service(id, update, now).await
    }

    #[tracing::instrument(name = "db.api_key.replace_token", skip_all)]
    async fn replace_token(
        &self,
        id: ApiKeyId,
        display: &str,
        hash: &TokenHash,
    ) -> Result<ServiceKeyChange, StoreError> {
        self.exchange_token(id, display, hash).await
    }

    #[tracing::instrument(name = "db.api_key.find", skip_all)]
    async fn find(&self, hash: &TokenHash) -> Result<Option<KeyHolder>, StoreError> {
        read!(self, "api_key.find", |conn| {
            let row: Option<(i32, Option<Time>, UserRow)> = api_key::table
                .inner_join(user_account::table)
                .filter(api_key::token_hash.eq(hex(hash)))
                .filter(api_key::revoked_at.is_null())
                .filter(user_account::active.eq(true))
                .select((api_key::id, api_key::last_used_at, UserRow::as_select()))
                .first(conn)
                .await
                .optional()?;
            row.map(|(id, last_used_at, row)| {
                let last_used_at = last_used_at.map(|at| at.0);
                Ok(KeyHolder { key: ApiKeyId(id), last_used_at, user: user(row)? })
            })
            .transpose()
        })
    }

    #[tracing::instrument(name = "db.api_key.get", skip_all)]
    async fn get(&self, id: ApiKeyId) -> Result<Option<ListedKey>, StoreError> {
        read!(self, "api_key.get", |conn| {
            let row = api_key::table.find(id.0).select(KeyRow::as_select());
            let row = row.first(conn).await.optional()?;
            Ok(with_users!(conn, row.into_iter().collect()).pop())
        })
    }

    #[tracing::instrument(name = "db.api_key.list", skip_all)]
    async fn list(
        &self,
        after: Option<ApiKeyId>,
        limit: u32,
    ) -> Result<Vec<ListedKey>, StoreError> {
        read!(self, "api_key.list", |conn| {
            let rows = api_key::table
                .filter(api_key::id.gt(after.map_or(i32::MIN, |id| id.0)))
                .order(api_key::id)
                .limit(i64::from(limit))
                .select(KeyRow::as_select())
                .load(conn)
                .await?;
            Ok(with_users!(conn, rows))
        })
    }

    #[tracing::instrument(name = "db.api_key.revoke", skip_all)]
    async fn revoke(&self, id: ApiKeyId, now: DateTime<Utc>) -> Result<bool, StoreError> {
        transact!(self, "api_key.revoke", |conn| {
            diesel::update(api_key::table.find(id.0).filter(api_key::revoked_at.is_null()))
                .set(api_key::revoked_at.eq(Some(Time(now))))
                .execute(conn)
                .await?;
            let keys: i64 = api_key::table.find(id.0).count().get_result(conn).await?;
            Ok(keys == 1)
        })
    }

    #[tracing::instrument(name = "db.api_key.note_use", skip_all)]
    async fn note_use(&self, id: ApiKeyId, now: DateTime<Utc>) -> Result<(), StoreError> {
        transact!(self, "api_key.note_use", |conn| {
            let earlier = api_key::last_used_at.is_null().or(api_key::last_used_at.lt(Time(now)));
            diesel::update(api_key::table.find(id.0).filter(earlier))
                .set(api_key::last_used_at.eq(Some(Time(now))))
                .execute(conn)
                .await?;
            Ok(())
        })
    }
}
