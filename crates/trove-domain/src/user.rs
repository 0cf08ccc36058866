//! Users and their API keys.

use chrono::{DateTime, Utc};

use crate::access::{Caller, Role};
use crate::id::{ApiKeyId, UserId};

/// A user, human or service account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// Its key.
    pub id: UserId,
    /// Address as given; unique without regard to letter case.
    pub email: String,
    /// What it may do.
    pub role: Role,
    /// An inactive user cannot sign in and its keys do not work.
    pub active: bool,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it last changed.
    pub updated_at: DateTime<Utc>,
}

/// SHA-256 of a token. Tokens carry 192 random bits or more, so neither salt nor stretching adds
/// anything; the stored form opens nothing.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct TokenHash(pub [u8; 32]);

impl std::fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TokenHash(..)")
    }
}

/// An API key as it is kept: everything but the secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKey {
    /// Its key.
    pub id: ApiKeyId,
    /// Name given by whoever made it.
    pub name: Option<String>,
    /// Beginning and end of the token, to recognise it by.
    pub display: String,
    /// The user it acts as.
    pub user: UserId,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it stopped working, if it did.
    pub revoked_at: Option<DateTime<Utc>>,
}

/// An API key to store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewApiKey {
    /// Name given by whoever makes it.
    pub name: Option<String>,
    /// Beginning and end of the token.
    pub display: String,
    /// Hash of the token.
    pub hash: TokenHash,
    /// The user it acts as.
    pub user: UserId,
    /// When it is made.
    pub created_at: DateTime<Utc>,
}

/// A key that works, with the user it acts as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyHolder {
    /// The key.
    pub key: ApiKeyId,
    /// The user, who is active.
    pub user: User,
}

impl KeyHolder {
    /// The caller that a request with this key comes from.
    #[must_use]
    pub fn into_caller(self) -> Caller {
        Caller {
            user: self.user.id,
            email: self.user.email,
            role: self.user.role,
            api_key: Some(self.key),
        }
    }
}
