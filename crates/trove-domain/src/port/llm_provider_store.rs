use async_trait::async_trait;
use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::access::Role;
use crate::error::StoreError;
use crate::id::{AgentId, LlmProviderId, UserId};
use crate::llm_provider::{LlmProvider, LlmProviderDetails, ModelPurpose};

/// A provider to store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewLlmProvider {
    /// What its secrets are sealed for.
    pub uuid: Uuid,
    /// What an administrator says of it.
    pub details: LlmProviderDetails,
    /// When it is made.
    pub created_at: DateTime<Utc>,
}

/// Why a provider was not stored. Nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderRefusal {
    /// Another provider has its name.
    NameTaken,
    /// There are [`LlmProvider::COUNT_MAX`] providers already.
    Full,
    /// One of its groups does not exist.
    NoSuchGroup,
    /// It does not exist any more, or has another revision than the one to replace.
    Superseded,
    /// Its secrets are sealed with another key than the database's secrets are.
    KeyChanged,
}

/// Why a provider did not become a default. Nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultRefusal {
    /// There is no such provider.
    NoSuchProvider,
    /// The provider has no such model, or none for the purpose when none was named.
    NoSuchModel,
}

/// What became of a removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderRemoval {
    /// It is gone, with everything that hung on it.
    Removed,
    /// There is no such provider.
    Missing,
    /// It is the default for some purpose, and stays.
    IsDefault,
}

/// Providers of language models.
///
/// # Contract
///
/// * Names are unique, compared exactly.
/// * Every change makes the revision larger. An id is never given twice, so that id and revision
///   together name one state for good.
/// * Secrets go in and out sealed; no method knows more of them.
/// * Agents are kept as they are given: whether they exist is not this store's to know.
/// * At most one provider is the default for a purpose, and the first one is none by itself.
#[async_trait]
pub trait LlmProviderStore: Send + Sync + 'static {
    /// Adds a provider.
    async fn insert(
        &self,
        provider: NewLlmProvider,
    ) -> Result<Result<LlmProvider, ProviderRefusal>, StoreError>;

    /// Puts `details` in the place of those that the provider has at `revision`.
    async fn replace(
        &self,
        id: LlmProviderId,
        revision: i64,
        details: LlmProviderDetails,
        now: DateTime<Utc>,
    ) -> Result<Result<LlmProvider, ProviderRefusal>, StoreError>;

    /// The provider; `None` when there is none.
    async fn get(&self, id: LlmProviderId) -> Result<Option<LlmProvider>, StoreError>;

    /// The provider with this name; `None` when there is none.
    async fn get_by_name(&self, name: &str) -> Result<Option<LlmProvider>, StoreError>;

    /// The default for a purpose; `None` when there is none.
    async fn get_default(&self, purpose: ModelPurpose) -> Result<Option<LlmProvider>, StoreError>;

    /// All providers, at most [`LlmProvider::COUNT_MAX`], by rising id.
    async fn list(&self) -> Result<Vec<LlmProvider>, StoreError>;

    /// The providers that the user may use, alone or with an agent, by rising id; see
    /// [`LlmProviderDetails::may_be_used`].
    async fn list_usable(
        &self,
        user: UserId,
        role: Role,
        agent: Option<AgentId>,
    ) -> Result<Vec<LlmProvider>, StoreError>;

    /// Makes a provider the default for a purpose, in the place of any other, with `model`, or
    /// with the model that it has for the purpose.
    async fn set_default(
        &self,
        purpose: ModelPurpose,
        id: LlmProviderId,
        model: Option<&str>,
        now: DateTime<Utc>,
    ) -> Result<Result<(), DefaultRefusal>, StoreError>;

    /// Removes a provider; one that is the default for any purpose only when `force` says so.
    async fn remove(&self, id: LlmProviderId, force: bool) -> Result<ProviderRemoval, StoreError>;
}
