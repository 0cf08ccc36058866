//! Sessions.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncConnection, RunQueryDsl};
use trove_domain::error::StoreError;
use trove_domain::id::{SessionId, UserId};
use trove_domain::port::{SESSIONS_KEPT, SessionStore};
use trove_domain::session::{NewSession, Session, SessionHolder};
use trove_domain::user::{PasswordHash, TokenHash};

use super::{UserRow, user};
use crate::Store;
use crate::backend::{read, transact};
use crate::keys::hex;
use crate::locks::Locks;
use crate::schema::{user_account, user_session};
use crate::sql::{Id, Time};

/// Ends all sessions of a user but one; answers how many.
macro_rules! end_sessions {
    ($conn:expr, $user:expr, $but:expr) => {{
        use crate::schema::user_session;
        // No session has this id.
        let but = $but.map_or(-1, |session| session.0);
        diesel::delete(user_session::table)
            .filter(user_session::user_id.eq($user))
            .filter(user_session::id.ne(but))
            .execute($conn)
            .await?
    }};
}
pub(super) use end_sessions;

/// Adds a session of an active user and forgets what is too old; answers its id.
macro_rules! insert_session {
    ($conn:expr, $session:expr) => {{
        diesel::delete(user_session::table)
            .filter(user_session::expires_at.le(Time($session.created_at)))
            .execute($conn)
            .await?;
        let user = Id($session.user.0);
        // A change of the password comes before, and is seen, or after, and ends the session.
        $conn.lock_user(user).await?;
        let kept: Option<Option<String>> = user_account::table
            .find(user)
            .filter(user_account::active.eq(true))
            .select(user_account::password_hash)
            .first($conn)
            .await
            .optional()?;
        let Some(kept) = kept else { return Ok(None) };
        let shown = $session.password.as_ref().map(PasswordHash::as_str);
        if shown.is_some_and(|shown| kept.as_deref() != Some(shown)) {
            return Ok(None);
        }
        let id: i32 = diesel::insert_into(user_session::table)
            .values((
                user_session::token_hash.eq(hex(&$session.hash)),
                user_session::user_id.eq(user),
                user_session::created_at.eq(Time($session.created_at)),
                user_session::expires_at.eq(Time($session.expires_at)),
            ))
            .returning(user_session::id)
            .get_result($conn)
            .await?;
        let oldest_kept: Option<i32> = user_session::table
            .filter(user_session::user_id.eq(user))
            .order(user_session::id.desc())
            .offset(i64::from(SESSIONS_KEPT) - 1)
            .limit(1)
            .select(user_session::id)
            .get_result($conn)
            .await
            .optional()?;
        if let Some(oldest_kept) = oldest_kept {
            diesel::delete(user_session::table)
                .filter(user_session::user_id.eq(user))
                .filter(user_session::id.lt(oldest_kept))
                .execute($conn)
                .await?;
        }
        Some(Session {
            id: SessionId(id),
            created_at: $session.created_at,
            expires_at: $session.expires_at,
        })
    }};
}

#[async_trait]
impl SessionStore for Store {
    #[tracing::instrument(name = "db.session.insert", skip_all)]
    async fn insert(&self, session: NewSession) -> Result<Option<Session>, StoreError> {
        transact!(self, "session.insert", |conn| { Ok(insert_session!(conn, session)) })
    }

    #[tracing::instrument(name = "db.session.find", skip_all)]
    async fn find(
        &self,
        hash: &TokenHash,
        now: DateTime<Utc>,
    ) -> Result<Option<SessionHolder>, StoreError> {
        read!(self, "session.find", |conn| {
            let row: Option<((i32, Time, Time), UserRow)> = user_session::table
                .inner_join(user_account::table)
                .filter(user_session::token_hash.eq(hex(hash)))
                .filter(user_session::expires_at.gt(Time(now)))
                .filter(user_account::active.eq(true))
                .select((
                    (user_session::id, user_session::created_at, user_session::expires_at),
                    UserRow::as_select(),
                ))
                .first(conn)
                .await
                .optional()?;
            let Some(((id, created_at, expires_at), row)) = row else { return Ok(None) };
            let session =
                Session { id: SessionId(id), created_at: created_at.0, expires_at: expires_at.0 };
            Ok(Some(SessionHolder { session, user: user(row)? }))
        })
    }

    #[tracing::instrument(name = "db.session.replace", skip_all)]
    async fn replace(
        &self,
        old: SessionId,
        session: NewSession,
    ) -> Result<Option<Session>, StoreError> {
        transact!(self, "session.replace", |conn| {
            // Before the session, as whoever ends all sessions of the user does.
            conn.lock_user(Id(session.user.0)).await?;
            let ended = diesel::delete(user_session::table.find(old.0))
                .filter(user_session::user_id.eq(Id(session.user.0)))
                .filter(user_session::expires_at.gt(Time(session.created_at)))
                .execute(conn)
                .await?;
            if ended == 0 {
                return Ok(None);
            }
            Ok(insert_session!(conn, session))
        })
    }

    #[tracing::instrument(name = "db.session.remove", skip_all)]
    async fn remove(&self, id: SessionId) -> Result<bool, StoreError> {
        transact!(self, "session.remove", |conn| {
            Ok(diesel::delete(user_session::table.find(id.0)).execute(conn).await? == 1)
        })
    }

    #[tracing::instrument(name = "db.session.remove_of", skip_all)]
    async fn remove_of(&self, user: UserId, but: Option<SessionId>) -> Result<u64, StoreError> {
        transact!(self, "session.remove_of", |conn| {
            let ended = end_sessions!(conn, Id(user.0), but);
            Ok(u64::try_from(ended).unwrap_or(u64::MAX))
        })
    }
}
