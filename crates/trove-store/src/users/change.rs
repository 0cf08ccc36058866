//! Changes of users.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncConnection, RunQueryDsl};
use trove_domain::access::Role;
use trove_domain::error::StoreError;
use trove_domain::id::{SessionId, UserId};
use trove_domain::job::NewJob;
use trove_domain::port::{AddressChange, Seats, UserChange};
use trove_domain::user::{AccountKind, PasswordHash};

use super::invitations::{invited, withdraw};
use super::rows::email_key;
use super::seats_used;
use super::sessions::end_sessions;
use crate::Store;
use crate::backend::transact;
use crate::documents::mark_dirty;
use crate::error::corrupt;
use crate::jobs::insert_job;
use crate::locks::Locks;
use crate::schema::{cc_pair, credential, user_account, user_group_member};
use crate::sql::{Id, Time};

/// Role and state of a user that is there, and whether it is a person.
macro_rules! state {
    ($conn:expr, $id:expr) => {{
        let row: Option<(String, bool, String)> = user_account::table
            .find($id)
            .select((user_account::role, user_account::active, user_account::kind))
            .first($conn)
            .await
            .optional()?;
        match row {
            Some((role, active, kind)) => {
                let role: Role = role.parse().map_err(corrupt("user", $id.0))?;
                Some((role, active, kind == AccountKind::Person.as_str()))
            }
            None => None,
        }
    }};
}

/// Whether another person is an administrator who is let in.
macro_rules! another_admin {
    ($conn:expr, $id:expr) => {{
        let others: i64 = user_account::table
            .filter(user_account::role.eq(Role::Admin.as_str()))
            .filter(user_account::active.eq(true))
            .filter(user_account::kind.eq(AccountKind::Person.as_str()))
            .filter(user_account::id.ne($id))
            .count()
            .get_result($conn)
            .await?;
        others > 0
    }};
}

/// Takes the pairs whose documents a user reads because of a credential; answers them.
macro_rules! take_pairs_of {
    ($conn:expr, $id:expr) => {{
        let pairs: Vec<i32> = cc_pair::table
            .inner_join(credential::table)
            .filter(credential::owner_id.eq($id))
            .order(cc_pair::id)
            .select(cc_pair::id)
            .load($conn)
            .await?;
        $conn.lock_pairs(&pairs).await?;
        pairs
    }};
}

/// Has the index told what changed for the documents of pairs.
macro_rules! sync_pairs {
    ($conn:expr, $pairs:expr, $now:expr, $job_id:expr, $job:expr) => {
        if !$pairs.is_empty() {
            mark_dirty!($conn, &$pairs, $now);
            insert_job!($conn, $job_id, $job);
        }
    };
}

impl Store {
    pub(super) async fn write_password(
        &self,
        id: UserId,
        password: PasswordHash,
        keep: Option<SessionId>,
        now: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        transact!(self, "user.set_password", |conn| {
            let changed = diesel::update(user_account::table.find(Id(id.0)))
                .set((
                    user_account::password_hash.eq(Some(password.as_str())),
                    user_account::updated_at.eq(Time(now)),
                ))
                .execute(conn)
                .await?;
            end_sessions!(conn, Id(id.0), keep);
            Ok(changed == 1)
        })
    }

    pub(super) async fn write_email(
        &self,
        id: UserId,
        email: &str,
        invited_only: bool,
        now: DateTime<Utc>,
        job: NewJob,
    ) -> Result<AddressChange, StoreError> {
        let key = email_key(email);
        let (id, job_id) = (Id(id.0), self.ids().uuid());
        transact!(self, "user.set_email", |conn| {
            conn.lock_users().await?;
            let old: Option<String> = user_account::table
                .find(id)
                .select(user_account::email_key)
                .first(conn)
                .await
                .optional()?;
            let Some(old) = old else { return Ok(AddressChange::NoSuchUser) };
            let moves = old != key;
            if moves && !invited!(conn, &key, invited_only) {
                return Ok(AddressChange::NotInvited);
            }
            let others: i64 = user_account::table
                .filter(user_account::email_key.eq(&key))
                .filter(user_account::id.ne(id))
                .count()
                .get_result(conn)
                .await?;
            if others > 0 {
                return Ok(AddressChange::Taken);
            }
            let pairs = take_pairs_of!(conn, id);
            diesel::update(user_account::table.find(id))
                .set((
                    user_account::email.eq(email),
                    user_account::email_key.eq(&key),
                    user_account::updated_at.eq(Time(now)),
                ))
                .execute(conn)
                .await?;
            withdraw!(conn, &key);
            sync_pairs!(conn, pairs, now, job_id, job);
            Ok(AddressChange::Done)
        })
    }

    pub(super) async fn write_role(
        &self,
        id: UserId,
        from: Role,
        to: Role,
        now: DateTime<Utc>,
    ) -> Result<UserChange, StoreError> {
        let id = Id(id.0);
        transact!(self, "user.set_role", |conn| {
            conn.lock_users().await?;
            let Some((role, active, is_person)) = state!(conn, id) else {
                return Ok(UserChange::NoSuchUser);
            };
            if role != from {
                return Ok(UserChange::Stale);
            }
            let steps_down = role == Role::Admin && to != Role::Admin;
            if steps_down && active && is_person && !another_admin!(conn, id) {
                return Ok(UserChange::LastAdmin);
            }
            if !to.signs_in() {
                end_sessions!(conn, id, None::<SessionId>);
            }
            // Marks of an earlier time as a curator give nothing back.
            if to == Role::Curator || role == Role::Curator {
                diesel::update(user_group_member::table)
                    .filter(user_group_member::user_id.eq(id))
                    .set(user_group_member::curator.eq(false))
                    .execute(conn)
                    .await?;
            }
            diesel::update(user_account::table.find(id))
                .set((user_account::role.eq(to.as_str()), user_account::updated_at.eq(Time(now))))
                .execute(conn)
                .await?;
            Ok(UserChange::Done)
        })
    }

    pub(super) async fn let_in(
        &self,
        id: UserId,
        seats: Option<u64>,
        now: DateTime<Utc>,
    ) -> Result<UserChange, StoreError> {
        let id = Id(id.0);
        transact!(self, "user.activate", |conn| {
            conn.lock_users().await?;
            let is_person = match state!(conn, id) {
                None => return Ok(UserChange::NoSuchUser),
                Some((_, true, _)) => return Ok(UserChange::Done),
                Some((_, false, is_person)) => is_person,
            };
            if let Some(total) = seats.filter(|_| is_person) {
                let used = seats_used!(conn);
                if used >= total {
                    return Ok(UserChange::NoSeat(Seats { used, total }));
                }
            }
            diesel::update(user_account::table.find(id))
                .set((user_account::active.eq(true), user_account::updated_at.eq(Time(now))))
                .execute(conn)
                .await?;
            Ok(UserChange::Done)
        })
    }

    pub(super) async fn keep_out(
        &self,
        id: UserId,
        now: DateTime<Utc>,
    ) -> Result<UserChange, StoreError> {
        let id = Id(id.0);
        transact!(self, "user.deactivate", |conn| {
            conn.lock_users().await?;
            match state!(conn, id) {
                None => return Ok(UserChange::NoSuchUser),
                Some((_, false, _)) => return Ok(UserChange::Done),
                Some((Role::Admin, true, true)) if !another_admin!(conn, id) => {
                    return Ok(UserChange::LastAdmin);
                }
                Some((_, true, _)) => {}
            }
            diesel::update(user_account::table.find(id))
                .set((user_account::active.eq(false), user_account::updated_at.eq(Time(now))))
                .execute(conn)
                .await?;
            end_sessions!(conn, id, None::<SessionId>);
            Ok(UserChange::Done)
        })
    }

    pub(super) async fn remove_user(
        &self,
        id: UserId,
        now: DateTime<Utc>,
        job: NewJob,
    ) -> Result<UserChange, StoreError> {
        let (id, job_id) = (Id(id.0), self.ids().uuid());
        transact!(self, "user.remove", |conn| {
            conn.lock_users().await?;
            let row: Option<(String, bool)> = user_account::table
                .find(id)
                .select((user_account::email_key, user_account::active))
                .first(conn)
                .await
                .optional()?;
            let Some((key, active)) = row else { return Ok(UserChange::NoSuchUser) };
            if active {
                return Ok(UserChange::Stale);
            }
            let pairs = take_pairs_of!(conn, id);
            // Foreign keys take along what is the user's own, and leave the rest without an owner.
            diesel::delete(user_account::table.find(id)).execute(conn).await?;
            withdraw!(conn, &key);
            sync_pairs!(conn, pairs, now, job_id, job);
            Ok(UserChange::Done)
        })
    }
}
