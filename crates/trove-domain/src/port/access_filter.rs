use async_trait::async_trait;

use crate::access::{AccessScope, Caller};
use crate::error::StoreError;

/// Says what a caller may read.
///
/// # Contract
///
/// * The scope reflects every committed change of groups: a member who was removed reads nothing
///   through the group from the next call on.
/// * It holds the caller's own address, one tag per group, one per group of an external system that
///   the caller is in or that everybody is in, and everything public.
/// * It reflects what the last complete permission sync of each pair has told: whoever left a group
///   there reads nothing through it from the next call on.
/// * The anonymous user reads what is public, whatever address it goes by, and what groups read that
///   everybody is in.
/// * A role widens nothing: an administrator reads no more than any other user.
#[async_trait]
pub trait AccessFilter: Send + Sync + 'static {
    /// The scope of `caller`.
    async fn scope_for(&self, caller: &Caller) -> Result<AccessScope, StoreError>;
}
