use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::error::StoreError;
use crate::group::Group;
use crate::id::{GroupId, TokenLimitId, UserId};
use crate::token_limit::{LimitScope, TokenAllowance, TokenLimit};

/// Whose usage is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageOf {
    /// Everybody's, of those who are gone too.
    Everybody,
    /// One user's.
    User(UserId),
    /// That of the members that a group has now.
    Group(GroupId),
}

/// Limits of tokens, and how many were used.
///
/// # Contract
///
/// * A limit of a group goes with the group.
/// * Usage is kept by the minute, for as long as the longest period, and outlasts its user.
#[async_trait]
pub trait TokenLimitStore: Send + Sync + 'static {
    /// Adds a limit; `None` when its group does not exist.
    async fn insert_limit(
        &self,
        scope: LimitScope,
        allowance: TokenAllowance,
    ) -> Result<Option<TokenLimit>, StoreError>;

    /// Changes what a limit says; `None` when there is none.
    async fn update_limit(
        &self,
        id: TokenLimitId,
        allowance: TokenAllowance,
    ) -> Result<Option<TokenLimit>, StoreError>;

    /// Removes a limit; `false` when there is none.
    async fn remove_limit(&self, id: TokenLimitId) -> Result<bool, StoreError>;

    /// The limits of a scope by rising id; `None` when its group does not exist.
    async fn limits_of(&self, scope: LimitScope) -> Result<Option<Vec<TokenLimit>>, StoreError>;

    /// The limits of all groups that have some, by rising id of group and limit.
    async fn limits_of_groups(&self) -> Result<Vec<(Group, TokenLimit)>, StoreError>;

    /// Those that count for a user: the enabled ones that are global, and for people those of each
    /// user and those of their groups.
    async fn limits_for(&self, user: UserId) -> Result<Vec<TokenLimit>, StoreError>;

    /// Adds what a user has used, and forgets what no limit can count any more.
    async fn add_usage(
        &self,
        user: UserId,
        tokens: u64,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError>;

    /// How much was used since a minute, that one included.
    async fn used_since(&self, of: UsageOf, since: DateTime<Utc>) -> Result<u64, StoreError>;

    /// The same minute by minute, by rising time.
    async fn usage_since(
        &self,
        of: UsageOf,
        since: DateTime<Utc>,
    ) -> Result<Vec<(DateTime<Utc>, u64)>, StoreError>;
}
