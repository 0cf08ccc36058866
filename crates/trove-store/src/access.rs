use async_trait::async_trait;
use trove_domain::access::{AccessScope, AclTag, Caller};
use trove_domain::error::StoreError;
use trove_domain::port::{AccessFilter, GroupStore};

use crate::Store;

#[async_trait]
impl AccessFilter for Store {
    async fn scope_for(&self, caller: &Caller) -> Result<AccessScope, StoreError> {
        if caller.is_anonymous() {
            return Ok(AccessScope::public_only());
        }
        let groups = self.memberships(caller.user).await?;
        let groups = groups.into_iter().map(|membership| AclTag::group(membership.group));
        Ok(AccessScope::public_and(groups.chain([AclTag::user_email(&caller.email)])))
    }
}
