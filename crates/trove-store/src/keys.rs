use async_trait::async_trait;
use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncConnection, RunQueryDsl};
use trove_domain::error::StoreError;
use trove_domain::id::{ApiKeyId, UserId};
use trove_domain::port::ApiKeyStore;
use trove_domain::user::{ApiKey, KeyHolder, NewApiKey, TokenHash, User};

use crate::Store;
use crate::backend::{read, transact};
use crate::schema::{api_key, user_account};
use crate::sql::{Id, Time};
use crate::users::{UserRow, user};

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

type KeyRow = (i32, Option<String>, String, Id, Time, Option<Time>);

fn key((id, name, display, user, created_at, revoked_at): KeyRow) -> ApiKey {
    ApiKey {
        id: ApiKeyId(id),
        name,
        display,
        user: UserId(user.0),
        created_at: created_at.0,
        revoked_at: revoked_at.map(|at| at.0),
    }
}

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
            let NewApiKey { name, display, hash: _, user, created_at } = key.clone();
            let id = ApiKeyId(id);
            Ok(Some(ApiKey { id, name, display, user, created_at, revoked_at: None }))
        })
    }

    #[tracing::instrument(name = "db.api_key.find", skip_all)]
    async fn find(&self, hash: &TokenHash) -> Result<Option<KeyHolder>, StoreError> {
        read!(self, "api_key.find", |conn| {
            let row: Option<(i32, UserRow)> = api_key::table
                .inner_join(user_account::table)
                .filter(api_key::token_hash.eq(hex(hash)))
                .filter(api_key::revoked_at.is_null())
                .filter(user_account::active.eq(true))
                .select((api_key::id, UserRow::as_select()))
                .first(conn)
                .await
                .optional()?;
            row.map(|(id, row)| Ok(KeyHolder { key: ApiKeyId(id), user: user(row)? })).transpose()
        })
    }

    #[tracing::instrument(name = "db.api_key.list", skip_all)]
    async fn list(
        &self,
        after: Option<ApiKeyId>,
        limit: u32,
    ) -> Result<Vec<(ApiKey, User)>, StoreError> {
        read!(self, "api_key.list", |conn| {
            let rows: Vec<(KeyRow, UserRow)> = api_key::table
                .inner_join(user_account::table)
                .filter(api_key::id.gt(after.map_or(i32::MIN, |id| id.0)))
                .order(api_key::id)
                .limit(i64::from(limit))
                .select((
                    (
                        api_key::id,
                        api_key::name,
                        api_key::display,
                        api_key::user_id,
                        api_key::created_at,
                        api_key::revoked_at,
                    ),
                    UserRow::as_select(),
                ))
                .load(conn)
                .await?;
            rows.into_iter().map(|(row, holder)| Ok((key(row), user(holder)?))).collect()
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
}
