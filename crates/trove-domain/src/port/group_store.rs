use async_trait::async_trait;

use crate::error::StoreError;
use crate::group::{Group, Membership};
use crate::id::{GroupId, UserId};

/// Groups of users.
#[async_trait]
pub trait GroupStore: Send + Sync + 'static {
    /// Adds a group; `None` when the name is taken.
    async fn insert(&self, name: &str) -> Result<Option<Group>, StoreError>;

    /// Replaces the members of a group; `false` when the group or one of the users does not exist,
    /// and nothing changes.
    async fn set_members(
        &self,
        group: GroupId,
        members: &[(UserId, bool)],
    ) -> Result<bool, StoreError>;

    /// The groups a user is in, by rising id.
    async fn memberships(&self, user: UserId) -> Result<Vec<Membership>, StoreError>;
}
