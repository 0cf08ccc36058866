//! Users: single ones. Lists are in `list`, changes in `change`, who registers in `register`.

mod change;
mod invitations;
mod list;
mod profiles;
mod register;
mod rows;
mod sessions;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncConnection, RunQueryDsl};
use trove_domain::access::Role;
use trove_domain::api_key::NewApiKey;
use trove_domain::error::StoreError;
use trove_domain::id::{SessionId, UserId};
use trove_domain::job::NewJob;
use trove_domain::page::{NumberedPage, Page};
use trove_domain::port::{
    AddressChange, NewUser, Registered, RegistrationRule, SignUp, UserChange, UserCount,
    UserFilter, UserStore,
};
use trove_domain::user::{ListedUser, PasswordHash, User};

use crate::Store;
use crate::backend::{read, transact};
use crate::keys::insert_key;
use crate::locks::Locks;
use crate::schema::user_account;
use crate::sql::Id;
pub(crate) use list::load_users;
pub(crate) use rows::{UserRow, email_key, user};

/// Adds a user unless the address or the id is taken, as that of the anonymous user is; answers
/// whether it did.
macro_rules! insert_user {
    ($conn:expr, $user:expr) => {{
        use crate::schema::user_account;
        use crate::sql::{Id, Time};
        $user.id != trove_domain::access::ANONYMOUS_USER
            && diesel::insert_into(user_account::table)
                .values((
                    user_account::id.eq(Id($user.id.0)),
                    user_account::email.eq(&$user.email),
                    user_account::email_key.eq(crate::users::email_key(&$user.email)),
                    user_account::kind.eq($user.kind.as_str()),
                    user_account::role.eq($user.role.as_str()),
                    user_account::active.eq(true),
                    user_account::created_at.eq(Time($user.created_at)),
                    user_account::updated_at.eq(Time($user.created_at)),
                ))
                .on_conflict_do_nothing()
                .execute($conn)
                .await?
                == 1
    }};
}
pub(crate) use insert_user;

/// How many people are administrators, kept out or not.
macro_rules! admins {
    ($conn:expr) => {{
        use trove_domain::user::AccountKind;
        let admins: i64 = user_account::table
            .filter(user_account::role.eq(Role::Admin.as_str()))
            .filter(user_account::kind.eq(AccountKind::Person.as_str()))
            .count()
            .get_result($conn)
            .await?;
        admins
    }};
}
use admins;

/// How many seats are taken.
macro_rules! seats_used {
    ($conn:expr) => {{
        use crate::schema::user_account;
        use trove_domain::user::AccountKind;
        let used: i64 = user_account::table
            .filter(user_account::active.eq(true))
            .filter(user_account::kind.eq(AccountKind::Person.as_str()))
            .filter(user_account::role.ne(trove_domain::access::Role::ExtPermUser.as_str()))
            .count()
            .get_result($conn)
            .await?;
        u64::try_from(used).unwrap_or(0)
    }};
}
use seats_used;

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
            if admins!(conn) > 0 || !insert_user!(conn, user) {
                return Ok(false);
            }
            insert_key!(conn, key);
            Ok(true)
        })
    }

    #[tracing::instrument(name = "db.user.sign_up", skip_all)]
    async fn sign_up(
        &self,
        sign_up: SignUp,
        rule: RegistrationRule,
    ) -> Result<Registered, StoreError> {
        self.register_user(sign_up, rule).await
    }

    #[tracing::instrument(name = "db.user.get", skip_all)]
    async fn get(&self, id: UserId) -> Result<Option<User>, StoreError> {
        read!(self, "user.get", |conn| {
            let row: Option<UserRow> = user_account::table
                .find(Id(id.0))
                .select(UserRow::as_select())
                .first(conn)
                .await
                .optional()?;
            row.map(user).transpose()
        })
    }

    #[tracing::instrument(name = "db.user.get_by_email", skip_all)]
    async fn get_by_email(&self, email: &str) -> Result<Option<User>, StoreError> {
        read!(self, "user.get_by_email", |conn| {
            let row: Option<UserRow> = user_account::table
                .filter(user_account::email_key.eq(email_key(email)))
                .select(UserRow::as_select())
                .first(conn)
                .await
                .optional()?;
            row.map(user).transpose()
        })
    }

    #[tracing::instrument(name = "db.user.password", skip_all)]
    async fn password(&self, id: UserId) -> Result<Option<PasswordHash>, StoreError> {
        read!(self, "user.password", |conn| {
            let hash: Option<Option<String>> = user_account::table
                .find(Id(id.0))
                .select(user_account::password_hash)
                .first(conn)
                .await
                .optional()?;
            Ok(hash.flatten().map(PasswordHash::new))
        })
    }

    #[tracing::instrument(name = "db.user.any_password", skip_all)]
    async fn any_password(&self) -> Result<bool, StoreError> {
        read!(self, "user.any_password", |conn| {
            let one: Option<Id> = user_account::table
                .filter(user_account::password_hash.is_not_null())
                .select(user_account::id)
                .first(conn)
                .await
                .optional()?;
            Ok(one.is_some())
        })
    }

    #[tracing::instrument(name = "db.user.set_password", skip_all)]
    async fn set_password(
        &self,
        id: UserId,
        password: PasswordHash,
        keep: Option<SessionId>,
        now: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        self.write_password(id, password, keep, now).await
    }

    #[tracing::instrument(name = "db.user.set_email", skip_all)]
    async fn set_email(
        &self,
        id: UserId,
        email: &str,
        invited_only: bool,
        now: DateTime<Utc>,
        job: NewJob,
    ) -> Result<AddressChange, StoreError> {
        self.write_email(id, email, invited_only, now, job).await
    }

    #[tracing::instrument(name = "db.user.set_role", skip_all)]
    async fn set_role(
        &self,
        id: UserId,
        from: Role,
        to: Role,
        now: DateTime<Utc>,
    ) -> Result<UserChange, StoreError> {
        self.write_role(id, from, to, now).await
    }

    #[tracing::instrument(name = "db.user.activate", skip_all)]
    async fn activate(
        &self,
        id: UserId,
        seats: Option<u64>,
        now: DateTime<Utc>,
    ) -> Result<UserChange, StoreError> {
        self.let_in(id, seats, now).await
    }

    #[tracing::instrument(name = "db.user.deactivate", skip_all)]
    async fn deactivate(&self, id: UserId, now: DateTime<Utc>) -> Result<UserChange, StoreError> {
        self.keep_out(id, now).await
    }

    #[tracing::instrument(name = "db.user.remove", skip_all)]
    async fn remove(
        &self,
        id: UserId,
        now: DateTime<Utc>,
        job: NewJob,
    ) -> Result<UserChange, StoreError> {
        self.remove_user(id, now, job).await
    }

    #[tracing::instrument(name = "db.user.list", skip_all)]
    async fn list(
        &self,
        filter: &UserFilter,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Page<ListedUser, String>, StoreError> {
        self.list_users(filter, after, limit).await
    }

    #[tracing::instrument(name = "db.user.list_numbered", skip_all)]
    async fn list_numbered(
        &self,
        filter: &UserFilter,
        offset: u64,
        limit: u32,
    ) -> Result<NumberedPage<ListedUser>, StoreError> {
        self.number_users(filter, offset, limit).await
    }

    #[tracing::instrument(name = "db.user.addresses", skip_all)]
    async fn addresses(
        &self,
        filter: &UserFilter,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Page<(UserId, String), String>, StoreError> {
        self.list_addresses(filter, after, limit).await
    }

    #[tracing::instrument(name = "db.user.counts", skip_all)]
    async fn counts(&self) -> Result<Vec<UserCount>, StoreError> {
        self.count_users().await
    }
}
