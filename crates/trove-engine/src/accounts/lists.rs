//! Lists of people.

use std::collections::BTreeSet;

use trove_domain::access::Role;
use trove_domain::error::StoreError;
use trove_domain::id::UserId;
use trove_domain::page::NumberedPage;
use trove_domain::port::{UserCount, UserFilter};
use trove_domain::user::ListedUser;

use crate::Engine;

/// Users on a page of the three lists.
pub const USERS_PAGE: u32 = 10;

/// Users that are read at a time.
const READ: u32 = 1000;

/// Which users to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AcceptedFilter {
    /// Addresses that hold this, in any letter case.
    pub text: Option<String>,
    /// One of these; any when there are none.
    pub roles: BTreeSet<Role>,
    /// Only active, or only inactive ones.
    pub active: Option<bool>,
}

/// Three lists in one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllUsers {
    /// Everybody but those below.
    pub accepted: NumberedPage<ListedUser>,
    /// Who is invited and has not registered.
    pub invited: NumberedPage<String>,
    /// Who is known by a chat bot.
    pub bot_users: NumberedPage<ListedUser>,
}

impl AcceptedFilter {
    /// Who is known by a permission sync only is never listed, nor are programs.
    fn users(self) -> UserFilter {
        let mut roles = if self.roles.is_empty() { Role::ALL.into() } else { self.roles };
        roles.remove(&Role::ExtPermUser);
        UserFilter { text: self.text, roles, active: self.active, services: false }
    }
}

/// People with an account of their own, and programs where they are asked for.
fn accepted(text: Option<String>, services: bool) -> UserFilter {
    let roles = Role::ALL.into_iter().filter(|role| role.signs_in()).collect();
    UserFilter { text, roles, active: None, services }
}

fn bot_users(text: Option<String>) -> UserFilter {
    UserFilter { text, roles: [Role::SlackUser].into(), active: None, services: false }
}

impl Engine {
    /// A page of users by rising address, with how many there are in all.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the users cannot be read.
    pub async fn list_accepted_users(
        &self,
        filter: AcceptedFilter,
        offset: u64,
        limit: u32,
    ) -> Result<NumberedPage<ListedUser>, StoreError> {
        self.backends().users.list_numbered(&filter.users(), offset, limit).await
    }

    /// All users that [`Engine::list_accepted_users`] lists.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the users cannot be read.
    pub async fn all_accepted_users(
        &self,
        filter: AcceptedFilter,
    ) -> Result<Vec<ListedUser>, StoreError> {
        self.all_users(&filter.users()).await
    }

    /// Accepted, invited and bot users whose addresses hold `text`: the pages with these numbers,
    /// or all of them.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the users cannot be read.
    pub async fn list_all_users(
        &self,
        text: Option<String>,
        services: bool,
        pages: Option<[u64; 3]>,
    ) -> Result<AllUsers, StoreError> {
        let backends = self.backends();
        let (accepted, bot_users) = (accepted(text.clone(), services), bot_users(text.clone()));
        match pages {
            Some(pages) => {
                let [first, second, third] =
                    pages.map(|page| page.saturating_mul(u64::from(USERS_PAGE)));
                let (users, invitations) = (&backends.users, &backends.invitations);
                Ok(AllUsers {
                    accepted: users.list_numbered(&accepted, first, USERS_PAGE).await?,
                    invited: invitations.list_open(text.as_deref(), second, USERS_PAGE).await?,
                    bot_users: users.list_numbered(&bot_users, third, USERS_PAGE).await?,
                })
            }
            None => Ok(AllUsers {
                accepted: whole(self.all_users(&accepted).await?),
                invited: whole(self.open_invitations(text.as_deref()).await?),
                bot_users: whole(self.all_users(&bot_users).await?),
            }),
        }
    }

    /// Id and address of everybody with an account of the own, by rising address.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the users cannot be read.
    pub async fn list_addresses(
        &self,
        services: bool,
    ) -> Result<Vec<(UserId, String)>, StoreError> {
        let filter = accepted(None, services);
        let (mut all, mut after) = (Vec::new(), None::<String>);
        loop {
            let page = self.backends().users.addresses(&filter, after.as_deref(), READ).await?;
            all.extend(page.items);
            after = page.next;
            if after.is_none() {
                return Ok(all);
            }
        }
    }

    /// Addresses that are invited and whose owners have not registered, of those that hold `text`.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the invitations cannot be read.
    pub async fn open_invitations(&self, text: Option<&str>) -> Result<Vec<String>, StoreError> {
        let mut all = Vec::new();
        loop {
            let offset = u64::try_from(all.len()).unwrap_or(u64::MAX);
            // In few and large steps: each begins anew.
            let page = self.backends().invitations.list_open(text, offset, 10 * READ).await?;
            let is_last = page.items.len() < usize::try_from(10 * READ).unwrap_or(usize::MAX);
            all.extend(page.items);
            if is_last {
                return Ok(all);
            }
        }
    }

    /// How many people there are by role and state.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the users cannot be read.
    pub async fn count_users(&self) -> Result<Vec<UserCount>, StoreError> {
        self.backends().users.counts().await
    }

    async fn all_users(&self, filter: &UserFilter) -> Result<Vec<ListedUser>, StoreError> {
        let (mut all, mut after) = (Vec::new(), None::<String>);
        loop {
            let page = self.backends().users.list(filter, after.as_deref(), READ).await?;
            all.extend(page.items);
            after = page.next;
            if after.is_none() {
                return Ok(all);
            }
        }
    }
}

fn whole<T>(items: Vec<T>) -> NumberedPage<T> {
    let total = u64::try_from(items.len()).unwrap_or(u64::MAX);
    NumberedPage { items, total }
}
