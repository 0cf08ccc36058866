use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::access::Role;
use crate::error::StoreError;
use crate::id::UserId;
use crate::user::{NewApiKey, User};

/// A user to store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewUser {
    /// Its key.
    pub id: UserId,
    /// Address.
    pub email: String,
    /// What it may do.
    pub role: Role,
    /// When it is made.
    pub created_at: DateTime<Utc>,
}

/// Users.
///
/// # Contract
///
/// Addresses are unique without regard to letter case, and are kept as given.
#[async_trait]
pub trait UserStore: Send + Sync + 'static {
    /// Adds a user; `false` when the address (or the id) is taken, and nothing changes.
    async fn insert(&self, user: NewUser) -> Result<bool, StoreError>;

    /// Adds an administrator with a first key, if and only if there is no administrator yet.
    ///
    /// One step: of two calls at the same time, in two processes even, exactly one answers `true`.
    async fn insert_first_admin(&self, user: NewUser, key: NewApiKey) -> Result<bool, StoreError>;

    /// The user; `None` when there is none.
    async fn get(&self, id: UserId) -> Result<Option<User>, StoreError>;

    /// The user with this address in any letter case; `None` when there is none.
    async fn get_by_email(&self, email: &str) -> Result<Option<User>, StoreError>;

    /// Lets a user in or keeps it out; `false` when there is no such user. Takes effect with the
    /// next lookup of any of its keys.
    async fn set_active(
        &self,
        id: UserId,
        active: bool,
        now: DateTime<Utc>,
    ) -> Result<bool, StoreError>;
}
