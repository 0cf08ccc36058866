//! What administrators do: the first administrator, API keys, access of pairs, document sets,
//! providers of language models; and agents, which everybody makes.

mod agents;
mod document_sets;
mod groups;
mod key_name;
pub mod llm_providers;
mod recorded;
mod token_limits;

use secrecy::SecretString;
use trove_domain::access::Role;
use trove_domain::audit::AuditAction;
use trove_domain::error::{Classify, ErrorKind, StoreError};
use trove_domain::id::{ApiKeyId, CcPairId, UserId};
use trove_domain::port::{AccessChange, NewUser};
use trove_domain::user::{ApiKey, NewApiKey, User};

use crate::Engine;
use crate::audit::{Details, details, ids};
use crate::authentication::new_token;

pub use agents::{AgentError, AgentRequest, AgentView};
pub use document_sets::{DocumentSetError, DocumentSetUpdate, DocumentSetView};
pub use groups::{GroupError, GroupView};
pub use key_name::{InvalidKeyName, KEY_NAME_CHARS_MAX, check_key_name, is_printable};
pub use token_limits::{SpentBudget, TokenBudgetError, TokenLimitError};

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

impl Engine {
    async fn bootstrap_admin_unrecorded(&self) -> Result<Option<SecretString>, StoreError> {
        let backends = self.backends();
        let now = backends.clock.now();
        let token = new_token(backends.ids.as_ref());
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

    async fn issue_key_unrecorded(
        &self,
        email: &str,
        name: Option<String>,
    ) -> Result<IssuedKey, IssueKeyError> {
        name.as_deref().map_or(Ok(()), check_key_name)?;
        let backends = self.backends();
        let no_such_user = || IssueKeyError::NoSuchUser { email: email.to_owned() };
        let user = backends.users.get_by_email(email).await?.ok_or_else(no_such_user)?;
        let token = new_token(backends.ids.as_ref());
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
    ) -> Result<Vec<(ApiKey, User)>, StoreError> {
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
            let Some((last, _)) = page.last() else { return Ok(this && !others) };
            after = Some(last.id);
            let works = |(key, user): &&(ApiKey, User)| {
                key.revoked_at.is_none() && user.active && user.role == Role::Admin
            };
            for (key, _) in page.iter().filter(works) {
                this |= key.id == id;
                others |= key.id != id;
            }
        }
    }

    /// Removes a pair, and the documents that no other pair holds; `false` when there is no such
    /// pair, or it is the default one.
    ///
    /// The registry knows at once, and the index follows in the background;
    /// [`Engine::sync_documents`] waits for it.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; nothing changes then.
    pub async fn remove_pair(&self, pair: CcPairId) -> Result<bool, StoreError> {
        let backends = self.backends();
        let remove = async {
            let now = backends.clock.now();
            let removed = backends.cc_pairs.remove(pair, now, self.sync_job()).await?;
            self.shared.jobs_enqueued.notify_one();
            Ok(removed)
        };
        let subject = format!("cc_pair {pair}");
        self.recorded(AuditAction::RemovePair, subject, Details::new(), remove).await
    }

    /// Changes who may read the documents of a pair; `false` when there is no such pair.
    ///
    /// The registry knows at once. The index follows in the background, without embedding anything
    /// again; [`Engine::sync_documents`] waits for it.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; nothing changes then.
    pub async fn set_pair_access(
        &self,
        pair: CcPairId,
        change: AccessChange,
    ) -> Result<bool, StoreError> {
        let backends = self.backends();
        let (access, groups) = (change.access_type.as_str(), ids(&change.groups));
        let wanted = details([("access_type", access.to_owned()), ("groups", groups)]);
        let set = async {
            let now = backends.clock.now();
            let changed = backends.cc_pairs.set_access(pair, change, now, self.sync_job()).await?;
            self.shared.jobs_enqueued.notify_one();
            Ok(changed)
        };
        let subject = format!("cc_pair {pair}");
        self.recorded(AuditAction::SetPairAccess, subject, wanted, set).await
    }
}
