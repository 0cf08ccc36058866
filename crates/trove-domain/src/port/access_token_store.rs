use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::access_token::{AccessToken, NewAccessToken, TokenHolder};
use crate::error::StoreError;
use crate::id::{AccessTokenId, UserId};
use crate::user::TokenHash;

/// Most tokens of one user that work at the same time.
pub const ACCESS_TOKENS_MAX: u32 = 200;

/// Most tokens of one user that are kept, ended ones too. Another one drops the oldest ended one.
pub const ACCESS_TOKENS_KEPT: u32 = 1_000;

/// Personal access tokens, by hash.
///
/// # Contract
///
/// * No method ever answers with a token or its hash.
/// * A token works up to and including its `expires_at`, and while its owner is active: from the
///   next lookup on it is unknown otherwise.
/// * Ended tokens are kept, as long as [`ACCESS_TOKENS_KEPT`] allows, and never listed.
#[async_trait]
pub trait AccessTokenStore: Send + Sync + 'static {
    /// Adds a token; `None` when its owner has [`ACCESS_TOKENS_MAX`] that work, or does not exist.
    async fn insert(&self, token: NewAccessToken) -> Result<Option<AccessToken>, StoreError>;

    /// Whose token has this hash; `None` when nobody's (any more).
    ///
    /// Found by exact match of the hash: how long it takes says nothing about any stored token.
    async fn find(
        &self,
        hash: &TokenHash,
        now: DateTime<Utc>,
    ) -> Result<Option<TokenHolder>, StoreError>;

    /// The tokens of a user that work, newest first.
    async fn list(&self, user: UserId, now: DateTime<Utc>) -> Result<Vec<AccessToken>, StoreError>;

    /// Ends a token of a user; `false` when the user has no such token that works.
    async fn revoke(
        &self,
        user: UserId,
        id: AccessTokenId,
        now: DateTime<Utc>,
    ) -> Result<bool, StoreError>;

    /// Ends all tokens of a user; answers how many worked.
    async fn revoke_all(&self, user: UserId, now: DateTime<Utc>) -> Result<u64, StoreError>;

    /// Notes a use, unless a later one is noted.
    async fn note_use(&self, id: AccessTokenId, now: DateTime<Utc>) -> Result<(), StoreError>;
}
