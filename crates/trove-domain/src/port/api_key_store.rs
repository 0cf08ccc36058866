use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::error::StoreError;
use crate::id::ApiKeyId;
use crate::user::{ApiKey, KeyHolder, NewApiKey, TokenHash};

/// API keys, by hash.
///
/// # Contract
///
/// * No method ever answers with a token or its hash.
/// * A revoked key, and every key of an inactive user, is unknown from the next lookup on.
#[async_trait]
pub trait ApiKeyStore: Send + Sync + 'static {
    /// Adds a key; `None` when the user does not exist.
    async fn insert(&self, key: NewApiKey) -> Result<Option<ApiKey>, StoreError>;

    /// Who holds the token with this hash; `None` when nobody does (any more).
    ///
    /// Found by exact match of the hash: how long it takes says nothing about any stored token.
    async fn find(&self, hash: &TokenHash) -> Result<Option<KeyHolder>, StoreError>;

    /// All keys, revoked ones too, by rising id; at most `limit` after `after`.
    async fn list(
        &self,
        after: Option<ApiKeyId>,
        limit: u32,
    ) -> Result<Vec<(ApiKey, crate::user::User)>, StoreError>;

    /// Ends a key; `false` when there is no such key. Revoking twice keeps the first instant.
    async fn revoke(&self, id: ApiKeyId, now: DateTime<Utc>) -> Result<bool, StoreError>;
}
