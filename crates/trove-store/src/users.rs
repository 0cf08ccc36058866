use async_trait::async_trait;
use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncConnection, RunQueryDsl};
use trove_domain::access::Role;
use trove_domain::error::StoreError;
use trove_domain::id::UserId;
use trove_domain::port::{NewUser, UserStore};
use trove_domain::user::{NewApiKey, User};

use crate::Store;
use crate::backend::{read, transact};
use crate::error::{Failure, corrupt};
use crate::keys::insert_key;
use crate::locks::Locks;
use crate::schema::user_account;
use crate::sql::{Id, Time};

/// Columns of a [`User`].
pub(crate) type UserRow = (Id, String, String, bool, Time, Time);

pub(crate) type UserColumns = (
    user_account::id,
    user_account::email,
    user_account::role,
    user_account::active,
    user_account::created_at,
    user_account::updated_at,
);

pub(crate) const USER: UserColumns = (
    user_account::id,
    user_account::email,
    user_account::role,
    user_account::active,
    user_account::created_at,
    user_account::updated_at,
);

pub(crate) fn user(row: UserRow) -> Result<User, Failure> {
    let (id, email, role, active, created_at, updated_at) = row;
    let role = role.parse().map_err(corrupt("user", id.0))?;
    Ok(User {
        id: UserId(id.0),
        email,
        role,
        active,
        created_at: created_at.0,
        updated_at: updated_at.0,
    })
}

/// What makes an address unique.
pub(crate) fn email_key(email: &str) -> String {
    email.to_lowercase()
}

macro_rules! insert_user {
    ($conn:expr, $user:expr) => {
        diesel::insert_into(user_account::table)
            .values((
                user_account::id.eq(Id($user.id.0)),
                user_account::email.eq(&$user.email),
                user_account::email_key.eq(email_key(&$user.email)),
                user_account::role.eq($user.role.as_str()),
                user_account::active.eq(true),
                user_account::created_at.eq(Time($user.created_at)),
                user_account::updated_at.eq(Time($user.created_at)),
            ))
            .on_conflict_do_nothing()
            .execute($conn)
            .await?
            == 1
    };
}

#[async_trait]
impl UserStore for Store {
    #[tracing::instrument(name = "db.user.insert", skip_all)]
    async fn insert(&self, user: NewUser) -> Result<bool, StoreError> {
        transact!(self, "user.insert", |conn| { Ok(insert_user!(conn, user)) })
    }

    #[tracing::instrument(name = "db.user.insert_first_admin", skip_all)]
    async fn insert_first_admin(&self, user: NewUser, key: NewApiKey) -> Result<bool, StoreError> {
        transact!(self, "user.insert_first_admin", |conn| {
            conn.lock_users().await?;
            let admins: i64 = user_account::table
                .filter(user_account::role.eq(Role::Admin.as_str()))
                .count()
                .get_result(conn)
                .await?;
            if admins > 0 || !insert_user!(conn, user) {
                return Ok(false);
            }
            insert_key!(conn, key);
            Ok(true)
        })
    }

    #[tracing::instrument(name = "db.user.get", skip_all)]
    async fn get(&self, id: UserId) -> Result<Option<User>, StoreError> {
        read!(self, "user.get", |conn| {
            let row: Option<UserRow> =
                user_account::table.find(Id(id.0)).select(USER).first(conn).await.optional()?;
            row.map(user).transpose()
        })
    }

    #[tracing::instrument(name = "db.user.get_by_email", skip_all)]
    async fn get_by_email(&self, email: &str) -> Result<Option<User>, StoreError> {
        read!(self, "user.get_by_email", |conn| {
            let row: Option<UserRow> = user_account::table
                .filter(user_account::email_key.eq(email_key(email)))
                .select(USER)
                .first(conn)
                .await
                .optional()?;
            row.map(user).transpose()
        })
    }

    #[tracing::instrument(name = "db.user.set_active", skip_all)]
    async fn set_active(
        &self,
        id: UserId,
        active: bool,
        now: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        transact!(self, "user.set_active", |conn| {
            let changed = diesel::update(user_account::table.find(Id(id.0)))
                .set((user_account::active.eq(active), user_account::updated_at.eq(Time(now))))
                .execute(conn)
                .await?;
            Ok(changed == 1)
        })
    }
}
