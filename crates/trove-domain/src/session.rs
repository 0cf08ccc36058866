//! Sessions: what signing in begins.

use chrono::{DateTime, Utc};

use crate::access::{Caller, Proof};
use crate::id::{SessionId, UserId};
use crate::user::{PasswordHash, TokenHash, User};

/// A session as it is kept: everything but the secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Session {
    /// Its key.
    pub id: SessionId,
    /// When it began.
    pub created_at: DateTime<Utc>,
    /// From when on it is unknown.
    pub expires_at: DateTime<Utc>,
}

/// A session to store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSession {
    /// Hash of the token.
    pub hash: TokenHash,
    /// Who signed in.
    pub user: UserId,
    /// What is kept of the password that was shown, where one was. A session does not begin when
    /// the user has another one by then.
    pub password: Option<PasswordHash>,
    /// When it begins.
    pub created_at: DateTime<Utc>,
    /// From when on it is unknown.
    pub expires_at: DateTime<Utc>,
}

/// A session that has not ended, with the user who signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionHolder {
    /// The session.
    pub session: Session,
    /// The user, who is active.
    pub user: User,
}

impl SessionHolder {
    /// The caller that a request of this session comes from.
    #[must_use]
    pub fn into_caller(self) -> Caller {
        Caller {
            user: self.user.id,
            email: self.user.email,
            role: self.user.role,
            proof: Proof::Session(self.session),
        }
    }
}
