//! Personal access tokens.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncConnection, RunQueryDsl};
use trove_domain::access_token::{
    AccessToken, NewAccessToken, TokenHolder, TokenScope, TokenScopes,
};
use trove_domain::error::StoreError;
use trove_domain::id::{AccessTokenId, UserId};
use trove_domain::port::{ACCESS_TOKENS_KEPT, ACCESS_TOKENS_MAX, AccessTokenStore};
use trove_domain::user::TokenHash;

use crate::Store;
use crate::backend::{read, transact};
use crate::error::{Failure, corrupt};
use crate::keys::hex;
use crate::locks::Locks;
use crate::schema::{access_token, user_account};
use crate::sql::{Id, Time};
use crate::users::{UserRow, user};

/// Columns of a token that may be shown.
#[derive(Queryable, Selectable)]
#[diesel(table_name = access_token)]
struct TokenRow {
    id: i32,
    name: String,
    display: String,
    user_id: Id,
    scopes: Option<String>,
    created_at: Time,
    expires_at: Option<Time>,
    last_used_at: Option<Time>,
}

impl TryFrom<TokenRow> for AccessToken {
    type Error = Failure;

    fn try_from(row: TokenRow) -> Result<Self, Failure> {
        Ok(Self {
            id: AccessTokenId(row.id),
            scopes: row.scopes.map(|names| scopes(row.id, &names)).transpose()?,
            name: row.name,
            display: row.display,
            user: UserId(row.user_id.0),
            created_at: row.created_at.0,
            expires_at: row.expires_at.map(|at| at.0),
            last_used_at: row.last_used_at.map(|at| at.0),
        })
    }
}

/// A name that is not known is no right, and one that allows nothing must not allow everything.
fn scopes(id: i32, names: &str) -> Result<TokenScopes, Failure> {
    let scopes = names.split(' ').map(str::parse::<TokenScope>).collect::<Result<Vec<_>, _>>();
    let scopes = scopes.map_err(corrupt("access token", id))?;
    let none = || trove_domain::access_token::UnknownTokenScope(names.to_owned());
    TokenScopes::new(scopes).ok_or_else(none).map_err(corrupt("access token", id))
}

fn names(scopes: TokenScopes) -> String {
    scopes.iter().map(TokenScope::as_str).collect::<Vec<_>>().join(" ")
}

/// Tokens that work at an instant.
macro_rules! living {
    ($now:expr) => {
        access_token::table
            .filter(access_token::expires_at.is_null().or(access_token::expires_at.ge(Time($now))))
    };
}

#[async_trait]
impl AccessTokenStore for Store {
    #[tracing::instrument(name = "db.access_token.insert", skip_all)]
    async fn insert(&self, token: NewAccessToken) -> Result<Option<AccessToken>, StoreError> {
        let owner = Id(token.user.0);
        transact!(self, "access_token.insert", |conn| {
            conn.lock_user(owner).await?;
            let users: i64 = user_account::table.find(owner).count().get_result(conn).await?;
            let of_owner = access_token::user_id.eq(owner);
            let living: i64 =
                living!(token.created_at).filter(of_owner).count().get_result(conn).await?;
            if users == 0 || living >= i64::from(ACCESS_TOKENS_MAX) {
                return Ok(None);
            }
            let kept: i64 = access_token::table.filter(of_owner).count().get_result(conn).await?;
            if kept >= i64::from(ACCESS_TOKENS_KEPT) {
                let oldest: Option<i32> = access_token::table
                    .filter(of_owner)
                    .filter(access_token::expires_at.lt(Time(token.created_at)))
                    .order(access_token::id)
                    .select(access_token::id)
                    .first(conn)
                    .await
                    .optional()?;
                diesel::delete(access_token::table.filter(access_token::id.nullable().eq(oldest)))
                    .execute(conn)
                    .await?;
            }
            let id: i32 = diesel::insert_into(access_token::table)
                .values((
                    access_token::name.eq(&token.name),
                    access_token::display.eq(&token.display),
                    access_token::token_hash.eq(hex(&token.hash)),
                    access_token::user_id.eq(owner),
                    access_token::scopes.eq(token.scopes.map(names)),
                    access_token::created_at.eq(Time(token.created_at)),
                    access_token::expires_at.eq(token.expires_at.map(Time)),
                ))
                .returning(access_token::id)
                .get_result(conn)
                .await?;
            let row = access_token::table.find(id).select(TokenRow::as_select());
            Ok(Some(row.first(conn).await?.try_into()?))
        })
    }

    #[tracing::instrument(name = "db.access_token.find", skip_all)]
    async fn find(
        &self,
        hash: &TokenHash,
        now: DateTime<Utc>,
    ) -> Result<Option<TokenHolder>, StoreError> {
        read!(self, "access_token.find", |conn| {
            let row: Option<(TokenRow, UserRow)> = living!(now)
                .inner_join(user_account::table)
                .filter(access_token::token_hash.eq(hex(hash)))
                .filter(user_account::active.eq(true))
                .select((TokenRow::as_select(), UserRow::as_select()))
                .first(conn)
                .await
                .optional()?;
            let Some((token, owner)) = row else { return Ok(None) };
            Ok(Some(TokenHolder { token: token.try_into()?, user: user(owner)? }))
        })
    }

    #[tracing::instrument(name = "db.access_token.list", skip_all)]
    async fn list(&self, user: UserId, now: DateTime<Utc>) -> Result<Vec<AccessToken>, StoreError> {
        read!(self, "access_token.list", |conn| {
            let rows: Vec<TokenRow> = living!(now)
                .filter(access_token::user_id.eq(Id(user.0)))
                .order(access_token::id.desc())
                .select(TokenRow::as_select())
                .load(conn)
                .await?;
            rows.into_iter().map(AccessToken::try_from).collect()
        })
    }

    #[tracing::instrument(name = "db.access_token.revoke", skip_all)]
    async fn revoke(
        &self,
        user: UserId,
        id: AccessTokenId,
        now: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        transact!(self, "access_token.revoke", |conn| {
            let working =
                access_token::expires_at.is_null().or(access_token::expires_at.ge(Time(now)));
            // It works up to and including its last instant, so that is one before this.
            let last = now - chrono::TimeDelta::microseconds(1);
            let ended = diesel::update(access_token::table.find(id.0))
                .filter(access_token::user_id.eq(Id(user.0)))
                .filter(working)
                .set(access_token::expires_at.eq(Some(Time(last))))
                .execute(conn)
                .await?;
            Ok(ended == 1)
        })
    }

    #[tracing::instrument(name = "db.access_token.revoke_all", skip_all)]
    async fn revoke_all(&self, user: UserId, now: DateTime<Utc>) -> Result<u64, StoreError> {
        transact!(self, "access_token.revoke_all", |conn| {
            let working =
                access_token::expires_at.is_null().or(access_token::expires_at.ge(Time(now)));
            let last = now - chrono::TimeDelta::microseconds(1);
            let ended = diesel::update(access_token::table)
                .filter(access_token::user_id.eq(Id(user.0)))
                .filter(working)
                .set(access_token::expires_at.eq(Some(Time(last))))
                .execute(conn)
                .await?;
            Ok(u64::try_from(ended).unwrap_or(u64::MAX))
        })
    }

    #[tracing::instrument(name = "db.access_token.note_use", skip_all)]
    async fn note_use(&self, id: AccessTokenId, now: DateTime<Utc>) -> Result<(), StoreError> {
        transact!(self, "access_token.note_use", |conn| {
            let earlier =
                access_token::last_used_at.is_null().or(access_token::last_used_at.lt(Time(now)));
            diesel::update(access_token::table.find(id.0).filter(earlier))
                .set(access_token::last_used_at.eq(Some(Time(now))))
                .execute(conn)
                .await?;
            Ok(())
        })
    }
}
