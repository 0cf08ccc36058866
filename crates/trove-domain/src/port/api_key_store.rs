use std::collections::BTreeSet;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::api_key::{ApiKey, KeyHolder, ListedKey, NewApiKey, ServiceKeyChange, ServiceKeyUpdate};
use crate::error::StoreError;
use crate::id::{ApiKeyId, GroupId};
use crate::port::NewUser;
use crate::user::TokenHash;

/// Most service accounts of a deployment.
pub const SERVICE_ACCOUNTS_MAX: u32 = 10_000;

/// API keys, by hash.
///
/// # Contract
///
/// * No method ever answers with a token or its hash.
/// * A revoked key, and every key of an inactive user, is unknown from the next lookup on.
/// * A service account goes through [`UserStore::remove`](crate::port::UserStore::remove) as every
///   user does, and its keys with it.
#[async_trait]
pub trait ApiKeyStore: Send + Sync + 'static {
    /// Adds a key; `None` when the user does not exist.
    async fn insert(&self, key: NewApiKey) -> Result<Option<ApiKey>, StoreError>;

    /// Adds a service account, in these groups, with its key.
    async fn insert_service(
        &self,
        account: NewUser,
        groups: &BTreeSet<GroupId>,
        key: NewApiKey,
    ) -> Result<ServiceKeyChange, StoreError>;

    /// Changes a service account and the name of its key, which works. Who becomes a curator
    /// curates no group yet.
    async fn update_service(
        &self,
        id: ApiKeyId,
        update: ServiceKeyUpdate,
        now: DateTime<Utc>,
    ) -> Result<ServiceKeyChange, StoreError>;

    /// Puts another token in the place of a service account's, which is unknown from the next
    /// lookup on.
    async fn replace_token(
        &self,
        id: ApiKeyId,
        display: &str,
        hash: &TokenHash,
    ) -> Result<ServiceKeyChange, StoreError>;

    /// Who holds the token with this hash; `None` when nobody does (any more).
    ///
    /// Found by exact match of the hash: how long it takes says nothing about any stored token.
    async fn find(&self, hash: &TokenHash) -> Result<Option<KeyHolder>, StoreError>;

    /// A key, revoked or not; `None` when there is none.
    async fn get(&self, id: ApiKeyId) -> Result<Option<ListedKey>, StoreError>;

    /// All keys, revoked ones too, by rising id; at most `limit` after `after`.
    async fn list(&self, after: Option<ApiKeyId>, limit: u32)
    -> Result<Vec<ListedKey>, StoreError>;

    /// Ends a key; `false` when there is no such key. Revoking twice keeps the first instant.
    async fn revoke(&self, id: ApiKeyId, now: DateTime<Utc>) -> Result<bool, StoreError>;

    /// Notes a use, unless a later one is noted.
    async fn note_use(&self, id: ApiKeyId, now: DateTime<Utc>) -> Result<(), StoreError>;
}
