//! API keys: the first one, those that act as people, and those of service accounts.

use std::collections::BTreeSet;

use secrecy::SecretString;
use trove_domain::access::Role;
use trove_domain::api_key::{
    ApiKey, ListedKey, NewApiKey, ServiceKeyChange, ServiceKeyUpdate, service_address,
};
use trove_domain::error::{Classify, ErrorKind, StoreError};
use trove_domain::id::{ApiKeyId, GroupId, UserId};
use trove_domain::port::{NewUser, SERVICE_ACCOUNTS_MAX, UserChange, UserFilter};
use trove_domain::user::AccountKind;

use super::{InvalidKeyName, check_key_name};
use crate::Engine;
use crate::authentication::new_key;

/// Address of the administrator that is made on the first start.
pub const FIRST_ADMIN_EMAIL: &str = "admin@trove.localhost";

/// Keys that are read at a time.
const KEYS_PAGE: u32 = 500;

/// A key just made: the only time its secret is at hand.
#[derive(Debug)]
pub struct IssuedKey {
    /// The key as it is kept.
    pub key: ApiKey,
    /// What the client sends.
    pub secret: SecretString,
}

/// Why a key was not made.
#[derive(Debug, thiserror::Error)]
pub enum IssueKeyError {
    /// No user has this address.
    #[error("there is no user with the address {email}")]
    NoSuchUser {
        /// The address in question.
        email: String,
    },
    /// The name is no name.
    #[error("the name of a key cannot be used")]
    Name(#[from] InvalidKeyName),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Classify for IssueKeyError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoSuchUser { .. } => ErrorKind::NotFound,
            Self::Name(_) => ErrorKind::Invalid,
            Self::Store(error) => error.kind(),
        }
    }
}

/// A service account with its key, as asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceKeyRequest {
    /// Name of the key.
    pub name: Option<String>,
    /// What the account may do.
    pub role: Role,
    /// The groups it is in; none, or as they are, when `None`.
    pub groups: Option<BTreeSet<GroupId>>,
}

/// Why a service account was not made or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServiceKeyError {
    /// There is no such key (any more).
    #[error("there is no API key {0}")]
    NoSuchKey(ApiKeyId),
    /// The key acts as a person.
    #[error(
        "API key {0} acts as a person, whose name, role and token are not changed here; delete it \
         and make another one, or change the user"
    )]
    ActsAsPerson(ApiKeyId),
    /// Nobody could administer afterwards.
    #[error(
        "API key {0} is the last one of an administrator, and no administrator has a password; \
         make another one first"
    )]
    LastAdminKey(ApiKeyId),
    /// The name is no name.
    #[error("name: {0}")]
    Name(InvalidKeyName),
    /// There is no such group.
    #[error("group_ids: there is no user group {0}")]
    NoSuchGroup(GroupId),
    /// There are as many as there may be.
    #[error("there may be at most {SERVICE_ACCOUNTS_MAX} service accounts")]
    TooMany,
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Classify for ServiceKeyError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoSuchKey(_) => ErrorKind::NotFound,
            Self::ActsAsPerson(_)
            | Self::LastAdminKey(_)
            | Self::Name(_)
            | Self::NoSuchGroup(_)
            | Self::TooMany => ErrorKind::Invalid,
            Self::Store(error) => error.kind(),
        }
    }
}

impl Engine {
    pub(super) async fn bootstrap_admin_unrecorded(
        &self,
    ) -> Result<Option<SecretString>, StoreError> {
        let backends = self.backends();
        let now = backends.clock.now();
        let token = new_key(backends.ids.as_ref());
        let id = UserId(backends.ids.uuid());
        let user = NewUser::person(id, FIRST_ADMIN_EMAIL, Role::Admin, now);
        let key = NewApiKey {
            name: Some("first administrator".to_owned()),
            display: token.display,
            hash: token.hash,
            user: user.id,
            created_at: now,
        };
        let made = backends.users.insert_first_admin(user, key).await?;
        Ok(made.then_some(token.secret))
    }

    pub(super) async fn issue_key_unrecorded(
        &self,
        email: &str,
        name: Option<String>,
    ) -> Result<IssuedKey, IssueKeyError> {
        name.as_deref().map_or(Ok(()), check_key_name)?;
        let backends = self.backends();
        let no_such_user = || IssueKeyError::NoSuchUser { email: email.to_owned() };
        let user = backends.users.get_by_email(email).await?.ok_or_else(no_such_user)?;
        let token = new_key(backends.ids.as_ref());
        let key = NewApiKey {
            name,
            display: token.display,
            hash: token.hash,
            user: user.id,
            created_at: backends.clock.now(),
        };
        let key = backends.api_keys.insert(key).await?.ok_or_else(no_such_user)?;
        Ok(IssuedKey { key, secret: token.secret })
    }

    /// A page of keys with their users, revoked ones too, by rising id.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the keys cannot be read.
    pub async fn list_keys(
        &self,
        after: Option<ApiKeyId>,
        limit: u32,
    ) -> Result<Vec<ListedKey>, StoreError> {
        self.backends().api_keys.list(after, limit).await
    }

    /// Whether the key works, acts as an administrator, and no other key does: without it nobody
    /// can administer until `trove key create` has made another one.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the keys cannot be read.
    pub async fn is_last_admin_key(&self, id: ApiKeyId) -> Result<bool, StoreError> {
        let (mut this, mut others) = (false, false);
        let mut after = None;
        loop {
            let page = self.list_keys(after, KEYS_PAGE).await?;
            let Some(last) = page.last() else { return Ok(this && !others) };
            after = Some(last.key.id);
            let works = |ListedKey { key, holder }: &&ListedKey| {
                let user = &holder.user;
                key.revoked_at.is_none() && user.active && user.role == Role::Admin
            };
            for ListedKey { key, .. } in page.iter().filter(works) {
                this |= key.id == id;
                others |= key.id != id;
            }
        }
    }

    /// All keys that work, by rising id.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the keys cannot be read.
    pub async fn working_keys(&self) -> Result<Vec<ListedKey>, StoreError> {
        let mut keys = Vec::new();
        let mut after = None;
        loop {
            let page = self.list_keys(after, KEYS_PAGE).await?;
            let Some(last) = page.last() else { return Ok(keys) };
            after = Some(last.key.id);
            keys.extend(page.into_iter().filter(|listed| listed.key.revoked_at.is_none()));
        }
    }

    pub(super) async fn create_service_key_unrecorded(
        &self,
        request: ServiceKeyRequest,
    ) -> Result<(ListedKey, SecretString), ServiceKeyError> {
        let ServiceKeyRequest { name, role, groups } = request;
        check(name.as_deref())?;
        let backends = self.backends();
        let (id, now) = (UserId(backends.ids.uuid()), backends.clock.now());
        let account = NewUser::service(id, name.as_deref(), role, now);
        let token = new_key(backends.ids.as_ref());
        let key =
            NewApiKey { name, display: token.display, hash: token.hash, user: id, created_at: now };
        let groups = groups.unwrap_or_default();
        let made = backends.api_keys.insert_service(account, &groups, key).await?;
        // There is no id yet that an error could name, and none that needs it.
        Ok((done(ApiKeyId(0), made)?, token.secret))
    }

    pub(super) async fn update_service_key_unrecorded(
        &self,
        id: ApiKeyId,
        request: ServiceKeyRequest,
    ) -> Result<ListedKey, ServiceKeyError> {
        let ServiceKeyRequest { name, role, groups } = request;
        check(name.as_deref())?;
        let backends = self.backends();
        let key = backends.api_keys.get(id).await?.ok_or(ServiceKeyError::NoSuchKey(id))?;
        let email = service_address(name.as_deref(), key.key.user);
        let update = ServiceKeyUpdate { name, email, role, groups };
        let now = backends.clock.now();
        done(id, backends.api_keys.update_service(id, update, now).await?)
    }

    pub(super) async fn regenerate_key_unrecorded(
        &self,
        id: ApiKeyId,
    ) -> Result<(ListedKey, SecretString), ServiceKeyError> {
        let backends = self.backends();
        let token = new_key(backends.ids.as_ref());
        let replaced = backends.api_keys.replace_token(id, &token.display, &token.hash).await?;
        let key = done(id, replaced)?;
        // Whoever had the old one may have made some.
        backends.access_tokens.revoke_all(key.key.user, backends.clock.now()).await?;
        Ok((key, token.secret))
    }

    /// As [`Engine::delete_key`], but not for the last key that somebody administers with.
    pub(super) async fn delete_spare_key_unrecorded(
        &self,
        id: ApiKeyId,
    ) -> Result<(), ServiceKeyError> {
        if self.is_last_admin_key(id).await? && !self.an_administrator_signs_in().await? {
            return Err(ServiceKeyError::LastAdminKey(id));
        }
        self.delete_key_unrecorded(id).await
    }

    async fn an_administrator_signs_in(&self) -> Result<bool, StoreError> {
        let filter = UserFilter {
            text: None,
            roles: [Role::Admin].into(),
            active: Some(true),
            services: false,
        };
        let mut after: Option<String> = None;
        loop {
            let page = self.backends().users.list(&filter, after.as_deref(), KEYS_PAGE).await?;
            if page.items.iter().any(|listed| listed.user.has_password) {
                return Ok(true);
            }
            let Some(next) = page.next else { return Ok(false) };
            after = Some(next);
        }
    }

    /// Ends the key first, so that nothing that happens afterwards keeps it alive.
    pub(super) async fn delete_key_unrecorded(&self, id: ApiKeyId) -> Result<(), ServiceKeyError> {
        let backends = self.backends();
        let key = backends.api_keys.get(id).await?.ok_or(ServiceKeyError::NoSuchKey(id))?;
        if key.key.revoked_at.is_some() {
            return Err(ServiceKeyError::NoSuchKey(id));
        }
        let now = backends.clock.now();
        if key.holder.user.kind == AccountKind::Person {
            backends.api_keys.revoke(id, now).await?;
            return Ok(());
        }
        let account = key.key.user;
        backends.users.deactivate(account, now).await?;
        let removed = backends.users.remove(account, now, self.sync_job()).await?;
        self.shared.jobs_enqueued.notify_one();
        match removed {
            UserChange::NoSuchUser => Err(ServiceKeyError::NoSuchKey(id)),
            _ => Ok(()),
        }
    }
}

fn check(name: Option<&str>) -> Result<(), ServiceKeyError> {
    name.map_or(Ok(()), check_key_name).map_err(ServiceKeyError::Name)
}

fn done(id: ApiKeyId, change: ServiceKeyChange) -> Result<ListedKey, ServiceKeyError> {
    match change {
        ServiceKeyChange::Done(listed) => Ok(*listed),
        ServiceKeyChange::NoSuchKey => Err(ServiceKeyError::NoSuchKey(id)),
        ServiceKeyChange::ActsAsPerson => Err(ServiceKeyError::ActsAsPerson(id)),
        ServiceKeyChange::NoSuchGroup(group) => Err(ServiceKeyError::NoSuchGroup(group)),
        ServiceKeyChange::TooMany => Err(ServiceKeyError::TooMany),
    }
}
