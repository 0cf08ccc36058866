use async_trait::async_trait;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use trove_domain::access::{AccessScope, AclTag, Caller};
use trove_domain::cc_pair::{AccessType, CcPairStatus};
use trove_domain::error::StoreError;
use trove_domain::external_access::ExternalGroup;
use trove_domain::id::CcPairId;
use trove_domain::port::{AccessFilter, GroupStore};

use crate::Store;
use crate::backend::read;
use crate::external::EVERYBODY;
use crate::schema::{cc_pair, external_group_member};
use crate::users::email_key;

#[async_trait]
impl AccessFilter for Store {
    async fn scope_for(&self, caller: &Caller) -> Result<AccessScope, StoreError> {
        if caller.is_anonymous() {
            return Ok(AccessScope::public_and(self.external_groups(None).await?));
        }
        let external = self.external_groups(Some(&caller.email)).await?;
        let groups = self.memberships(caller.user).await?;
        let groups = groups.into_iter().map(|membership| AclTag::group(membership.group));
        let own = [AclTag::user_email(&caller.email)];
        Ok(AccessScope::public_and(groups.chain(own).chain(external)))
    }
}

impl Store {
    /// The groups of external systems that everybody is in, and those of whoever has this address.
    async fn external_groups(&self, address: Option<&str>) -> Result<Vec<AclTag>, StoreError> {
        let mut keys = vec![EVERYBODY.to_owned()];
        keys.extend(address.map(email_key));
        read!(self, "access.external_groups", |conn| {
            let groups: Vec<(i32, String)> = external_group_member::table
                .inner_join(cc_pair::table)
                .filter(external_group_member::email_key.eq_any(&keys))
                .filter(external_group_member::in_force)
                // Whatever is being deleted opens nothing any more, nor what asks nobody.
                .filter(cc_pair::access_type.eq(AccessType::Sync.as_str()))
                .filter(cc_pair::status.ne(CcPairStatus::Deleting.as_str()))
                .select((external_group_member::cc_pair_id, external_group_member::group_key))
                .distinct()
                .load(conn)
                .await?;
            let tag =
                |(pair, key): (i32, String)| ExternalGroup::from_stored(key).tag(CcPairId(pair));
            Ok(groups.into_iter().map(tag).collect())
        })
    }
}
