use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::error::StoreError;
use crate::id::{SessionId, UserId};
use crate::session::{NewSession, Session, SessionHolder};
use crate::user::TokenHash;

/// Most sessions of one user. Another one ends the oldest.
pub const SESSIONS_KEPT: u32 = 100;

/// Sessions, by hash.
///
/// # Contract
///
/// * No method ever answers with a token or its hash.
/// * A session that has expired, and every session of an inactive user, is unknown.
#[async_trait]
pub trait SessionStore: Send + Sync + 'static {
    /// Adds a session; `None` when the user does not exist, is inactive, or has another password than
    /// the one that was shown. A password that changes at the same time ends the session or keeps it
    /// from beginning.
    ///
    /// Forgets what has expired by the time the session begins, and keeps the latest
    /// [`SESSIONS_KEPT`] sessions of the user.
    async fn insert(&self, session: NewSession) -> Result<Option<Session>, StoreError>;

    /// Whose session the token with this hash is; `None` when nobody's (any more).
    async fn find(
        &self,
        hash: &TokenHash,
        now: DateTime<Utc>,
    ) -> Result<Option<SessionHolder>, StoreError>;

    /// Puts a session in the place of another one of the same user, which ends; `None` when that
    /// one has ended already, and nothing changes. Of two calls for one session, one wins.
    async fn replace(
        &self,
        old: SessionId,
        session: NewSession,
    ) -> Result<Option<Session>, StoreError>;

    /// Ends a session; `false` when it has ended already.
    async fn remove(&self, id: SessionId) -> Result<bool, StoreError>;

    /// Ends all sessions of a user but one; answers how many.
    async fn remove_of(&self, user: UserId, but: Option<SessionId>) -> Result<u64, StoreError>;
}
