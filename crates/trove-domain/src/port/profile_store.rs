use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::error::StoreError;
use crate::id::UserId;
use crate::preferences::{Profile, ProfileChange};

/// What users set for themselves.
#[async_trait]
pub trait ProfileStore: Send + Sync + 'static {
    /// The user's profile; the default one for whoever has set nothing.
    async fn get(&self, user: UserId) -> Result<Profile, StoreError>;

    /// Changes a profile as [`Profile::after`] says; `false` when there is no such user. No change
    /// undoes another one that is made at the same time.
    async fn change(
        &self,
        user: UserId,
        change: ProfileChange,
        now: DateTime<Utc>,
    ) -> Result<bool, StoreError>;
}
