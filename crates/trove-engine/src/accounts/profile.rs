//! The caller's own account.

use trove_domain::access::Caller;
use trove_domain::error::StoreError;
use trove_domain::group::Membership;
use trove_domain::preferences::{Profile, ProfileChange};
use trove_domain::user::User;

use crate::Engine;

impl Engine {
    /// The caller's account and profile; `None` when the account is gone.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when they cannot be read.
    pub async fn own_account(
        &self,
        caller: &Caller,
    ) -> Result<Option<(User, Profile)>, StoreError> {
        let backends = self.backends();
        let Some(user) = backends.users.get(caller.user).await? else { return Ok(None) };
        Ok(Some((user, backends.profiles.get(caller.user).await?)))
    }

    /// Changes the caller's profile; `false` when the account is gone.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; nothing changes then.
    pub async fn change_profile(
        &self,
        caller: &Caller,
        change: ProfileChange,
    ) -> Result<bool, StoreError> {
        let now = self.backends().clock.now();
        self.backends().profiles.change(caller.user, change, now).await
    }

    /// The groups that the caller is in, by rising id.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when they cannot be read.
    pub async fn own_memberships(&self, caller: &Caller) -> Result<Vec<Membership>, StoreError> {
        self.backends().groups.memberships(caller.user).await
    }
}
