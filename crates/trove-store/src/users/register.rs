//! Who registers.

use diesel::prelude::*;
use diesel_async::{AsyncConnection, RunQueryDsl};
use trove_domain::access::Role;
use trove_domain::error::StoreError;
use trove_domain::port::{NewUser, Registered, RegistrationRule, Seats, SignUp};
use trove_domain::user::AccountKind;

use super::invitations::{invited, withdraw};
use super::rows::email_key;
use super::{UserRow, admins, insert_user, seats_used, user};
use crate::Store;
use crate::backend::transact;
use crate::locks::Locks;
use crate::schema::{access_token, api_key, user_account, user_session};
use crate::sql::{Id, Time};

/// Whether an account has been more than known through another system: whoever has its password, a
/// session, a key or a token, or a program, must not lose it to a stranger who knows its address.
macro_rules! owns_something {
    ($conn:expr, $known:expr) => {{
        let id = Id($known.id.0);
        let keys: i64 =
            api_key::table.filter(api_key::user_id.eq(id)).count().get_result($conn).await?;
        let tokens: i64 = access_token::table
            .filter(access_token::user_id.eq(id))
            .count()
            .get_result($conn)
            .await?;
        let sessions: i64 = user_session::table
            .filter(user_session::user_id.eq(id))
            .count()
            .get_result($conn)
            .await?;
        let is_person = $known.kind == AccountKind::Person;
        !is_person || $known.has_password || keys + tokens + sessions > 0
    }};
}

impl Store {
    pub(super) async fn register_user(
        &self,
        sign_up: SignUp,
        rule: RegistrationRule,
    ) -> Result<Registered, StoreError> {
        let key = email_key(&sign_up.email);
        let now = sign_up.created_at;
        transact!(self, "user.sign_up", |conn| {
            conn.lock_users().await?;
            let first = admins!(conn) == 0;
            // Who is not invited does not learn whether there is such a user.
            let invited_only = rule.invited_only && !first;
            if !invited!(conn, &key, invited_only) {
                return Ok(Registered::NotInvited);
            }
            let known: Option<UserRow> = user_account::table
                .filter(user_account::email_key.eq(&key))
                .select(UserRow::as_select())
                .first(conn)
                .await
                .optional()?;
            let known = known.map(user).transpose()?;
            if let Some(known) = &known
                && (known.role.signs_in() || !known.active || owns_something!(conn, known))
            {
                return Ok(Registered::Taken);
            }
            // Who is known by a chat bot has a seat already.
            let has_seat = known.as_ref().is_some_and(|known| known.role == Role::SlackUser);
            if let Some(total) = rule.seats
                && !has_seat
            {
                let used = seats_used!(conn);
                if used >= total {
                    return Ok(Registered::NoSeat(Seats { used, total }));
                }
            }
            let role = if first { Role::Admin } else { Role::Basic };
            let id = match known {
                Some(known) => known.id,
                None => {
                    let new = NewUser::person(sign_up.id, &sign_up.email, role, now);
                    if !insert_user!(conn, new) {
                        return Ok(Registered::Taken);
                    }
                    sign_up.id
                }
            };
            diesel::update(user_account::table.find(Id(id.0)))
                .set((
                    user_account::role.eq(role.as_str()),
                    user_account::password_hash.eq(Some(sign_up.password.as_str())),
                    user_account::updated_at.eq(Time(now)),
                ))
                .execute(conn)
                .await?;
            withdraw!(conn, &key);
            let row: UserRow =
                user_account::table.find(Id(id.0)).select(UserRow::as_select()).first(conn).await?;
            Ok(Registered::Done(Box::new(user(row)?)))
        })
    }
}
