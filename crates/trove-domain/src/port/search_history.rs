use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::error::StoreError;
use crate::id::UserId;
use crate::search_history::RecordedSearch;

/// What users searched for, each for themselves.
///
/// # Contract
///
/// * Searches are kept as they are, repeated ones too.
/// * Of each user at least the latest [`SEARCHES_KEPT`] are kept, and not many more.
/// * They go with the user.
#[async_trait]
pub trait SearchHistory: Send + Sync + 'static {
    /// Adds a search of `user`. Nothing happens when there is no such user.
    async fn record(&self, user: UserId, search: RecordedSearch) -> Result<(), StoreError>;

    /// The searches of `user`, newest first, at most `limit`; those made at `since` or later when
    /// given. Of two made in the same instant the one recorded last comes first.
    async fn list(
        &self,
        user: UserId,
        limit: u32,
        since: Option<DateTime<Utc>>,
    ) -> Result<Vec<RecordedSearch>, StoreError>;
}

/// Searches of one user that are kept at least.
pub const SEARCHES_KEPT: u32 = 1_000;
