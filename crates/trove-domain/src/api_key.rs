//! API keys: of people, and of the service accounts that exist for their keys.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use crate::access::{Caller, Proof, Role};
use crate::id::{ApiKeyId, GroupId, UserId};
use crate::user::{ListedUser, TokenHash, User};

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
    /// When it was last used, to within
    /// [`LAST_USE_PRECISION_SECONDS`](crate::access_token::LAST_USE_PRECISION_SECONDS).
    pub last_used_at: Option<DateTime<Utc>>,
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
    /// When it was last used, as it is kept.
    pub last_used_at: Option<DateTime<Utc>>,
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
            proof: Proof::ApiKey(self.key),
        }
    }
}

/// A key with the user it acts as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedKey {
    /// The key.
    pub key: ApiKey,
    /// The user and its groups.
    pub holder: ListedUser,
}

/// What a service account becomes together with the name of its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceKeyUpdate {
    /// Name of the key.
    pub name: Option<String>,
    /// Address of the account.
    pub email: String,
    /// What it may do.
    pub role: Role,
    /// The groups it is in; unchanged when `None`.
    pub groups: Option<BTreeSet<GroupId>>,
}

/// What became of a change of a service account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServiceKeyChange {
    /// It is as asked for.
    Done(Box<ListedKey>),
    /// There is no such key (any more).
    NoSuchKey,
    /// The key acts as a person, whose role and name are not the key's.
    ActsAsPerson,
    /// There is no such group.
    NoSuchGroup(GroupId),
    /// There are as many service accounts as there may be.
    TooMany,
}

/// What the addresses of service accounts end in. Nobody has an address there (RFC 2606).
pub const SERVICE_DOMAIN: &str = "api-key.invalid";

/// The address of a service account.
#[must_use]
pub fn service_address(name: Option<&str>, id: UserId) -> String {
    format!("API_KEY__{}@{id}.{SERVICE_DOMAIN}", name.unwrap_or("Unnamed"))
}
