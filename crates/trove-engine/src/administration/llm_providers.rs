//! Providers of language models.
//!
//! Secrets go one way: in. What is read back has names of settings and no values, and a stored
//! secret is sent to no other address than the one it was stored for: whoever changes the address
//! has to bring the secrets again.

mod check;
mod error;
mod secrets;
mod test;

use std::collections::{BTreeMap, BTreeSet};

use secrecy::SecretString;
use trove_domain::access::Caller;
use trove_domain::id::{AgentId, GroupId, LlmProviderId};
use trove_domain::llm_provider::{
    LlmProvider, LlmProviderDetails, ModelConfiguration, ModelPurpose,
};
use trove_domain::port::{DefaultRefusal, NewLlmProvider, ProviderRefusal, ProviderRemoval};

use crate::Engine;
use crate::language_models::endpoint;

pub(crate) use check::shown;
pub use error::LlmProviderError;
pub use secrets::MASK;
pub(crate) use secrets::ProviderSecrets;
pub use test::ModelTest;

/// What an administrator wants a provider to be. What is absent stays as it is, where there is a
/// provider already.
#[derive(Clone, Debug)]
pub struct ProviderUpsert {
    /// The provider to change, where its name does not tell.
    pub id: Option<LlmProviderId>,
    /// Its name.
    pub name: Option<String>,
    /// What kind of provider it is.
    pub kind: String,
    /// Where and how it is reached.
    pub connection: Connection,
    /// Its model for texts.
    pub default_model: Option<String>,
    /// Its model for images.
    pub vision_model: Option<String>,
    /// Whether everybody may use it.
    pub public: bool,
    /// Whether clients keep the list of models current.
    pub auto_mode: bool,
    /// Groups that may use it when it is not public.
    pub groups: BTreeSet<GroupId>,
    /// Agents that it is bound to.
    pub agents: BTreeSet<AgentId>,
    /// Its models.
    pub models: Vec<ModelConfiguration>,
}

/// Where and how a provider is reached.
#[derive(Clone, Debug)]
pub struct Connection {
    /// Base address; the kind's own when absent.
    pub api_base: Option<String>,
    /// Version of the interface.
    pub api_version: Option<String>,
    /// Name of the deployment.
    pub deployment: Option<String>,
    /// The key, as it was sent.
    pub api_key: Option<SecretString>,
    /// Whether the key is to replace a stored one; otherwise the stored one stays.
    pub api_key_changed: bool,
    /// Settings of the kind, as they were sent.
    pub custom_config: Option<BTreeMap<String, SecretString>>,
    /// Whether the settings are to replace stored ones; otherwise the stored ones stay.
    pub custom_config_changed: bool,
}

/// A provider as an administrator sees it.
#[derive(Clone, Debug)]
pub struct ProviderView {
    /// The provider, its secrets sealed.
    pub provider: LlmProvider,
    /// Names of its custom settings, without their values.
    pub custom_config: Option<Vec<String>>,
}

/// How often a change is made anew on top of somebody else's.
const ATTEMPTS: usize = 5;

impl Engine {
    /// All providers, by rising id.
    ///
    /// # Errors
    ///
    /// [`LlmProviderError`] when they cannot be read.
    pub async fn llm_providers(&self) -> Result<Vec<ProviderView>, LlmProviderError> {
        let providers = self.backends().llm_providers.list().await?;
        providers.into_iter().map(|provider| self.view(provider)).collect()
    }

    /// The providers that the caller may use, alone or with an agent, by rising id. Their secrets
    /// are nothing to show.
    ///
    /// # Errors
    ///
    /// [`LlmProviderError`] when they cannot be read, or the caller has no such agent.
    pub async fn usable_llm_providers(
        &self,
        caller: &Caller,
        agent: Option<AgentId>,
    ) -> Result<Vec<LlmProvider>, LlmProviderError> {
        if let Some(agent) = agent
            && !self.agents_of(caller, &[agent].into()).await?.contains(&agent)
        {
            return Err(LlmProviderError::NoSuchAgent(agent));
        }
        Ok(self.backends().llm_providers.list_usable(caller.user, caller.role, agent).await?)
    }

    pub(super) async fn create_llm_provider_unrecorded(
        &self,
        caller: &Caller,
        wanted: ProviderUpsert,
    ) -> Result<ProviderView, LlmProviderError> {
        let uuid = self.backends().ids.uuid();
        let details = self.details(caller, wanted, uuid, None).await?;
        let created_at = self.backends().clock.now();
        let new = NewLlmProvider { uuid, details, created_at };
        let name = new.details.name.clone();
        let made = self.backends().llm_providers.insert(new).await?;
        self.view(made.map_err(|refusal| LlmProviderError::of(refusal, name))?)
    }

    pub(super) async fn update_llm_provider_unrecorded(
        &self,
        caller: &Caller,
        wanted: ProviderUpsert,
    ) -> Result<ProviderView, LlmProviderError> {
        let store = &self.backends().llm_providers;
        for _ in 0..ATTEMPTS {
            let present = self.present(wanted.id, wanted.name.as_deref()).await?;
            let present = present.ok_or_else(|| match (wanted.id, &wanted.name) {
                (Some(id), _) => LlmProviderError::NothingToUpdate { which: id.to_string() },
                (None, name) => LlmProviderError::NothingToUpdate {
                    which: format!("{:?}", name.as_deref().unwrap_or_default()),
                },
            })?;
            let details =
                self.details(caller, wanted.clone(), present.uuid, Some(&present)).await?;
            let name = details.name.clone();
            let now = self.backends().clock.now();
            match store.replace(present.id, present.revision, details, now).await? {
                Ok(provider) => return self.view(provider),
                // Somebody else's change came between; this one is checked against it.
                Err(ProviderRefusal::Superseded) => {}
                Err(refusal) => return Err(LlmProviderError::of(refusal, name)),
            }
        }
        Err(LlmProviderError::Busy)
    }

    pub(super) async fn remove_llm_provider_unrecorded(
        &self,
        id: LlmProviderId,
        force: bool,
    ) -> Result<(), LlmProviderError> {
        match self.backends().llm_providers.remove(id, force).await? {
            ProviderRemoval::Removed => Ok(()),
            ProviderRemoval::Missing => Err(LlmProviderError::NoSuchProvider(id)),
            ProviderRemoval::IsDefault => Err(LlmProviderError::IsDefault(id)),
        }
    }

    pub(super) async fn set_default_llm_provider_unrecorded(
        &self,
        purpose: ModelPurpose,
        id: LlmProviderId,
        model: Option<&str>,
    ) -> Result<(), LlmProviderError> {
        let now = self.backends().clock.now();
        let set = self.backends().llm_providers.set_default(purpose, id, model, now).await?;
        set.map_err(|refusal| match (refusal, model) {
            (DefaultRefusal::NoSuchProvider, _) => LlmProviderError::NoSuchProvider(id),
            (DefaultRefusal::NoSuchModel, Some(model)) => {
                LlmProviderError::NoSuchModel { id, model: check::shown(model) }
            }
            (DefaultRefusal::NoSuchModel, None) => LlmProviderError::NoModelFor(id),
        })
    }

    async fn present(
        &self,
        id: Option<LlmProviderId>,
        name: Option<&str>,
    ) -> Result<Option<LlmProvider>, LlmProviderError> {
        let store = &self.backends().llm_providers;
        Ok(match (id, name) {
            (Some(id), _) => store.get(id).await?,
            (None, Some(name)) => store.get_by_name(name).await?,
            (None, None) => None,
        })
    }

    fn view(&self, provider: LlmProvider) -> Result<ProviderView, LlmProviderError> {
        let config = self.open_custom_config(&provider)?;
        let custom_config = config.map(|config| config.into_keys().collect());
        Ok(ProviderView { provider, custom_config })
    }

    /// What a provider becomes: checked, and its secrets sealed for the row `uuid`.
    async fn details(
        &self,
        caller: &Caller,
        wanted: ProviderUpsert,
        uuid: uuid::Uuid,
        present: Option<&LlmProvider>,
    ) -> Result<LlmProviderDetails, LlmProviderError> {
        check::upsert(&wanted)?;
        let unknown = self.unknown_agents(caller, &wanted.agents, present).await?;
        if let Some(agent) = unknown {
            return Err(LlmProviderError::UnknownAgent(agent));
        }
        let ProviderUpsert { name, kind, connection, .. } = wanted;
        let secrets = self.secrets_to_use(&kind, &connection, present)?;
        let mut default_models =
            present.map_or_else(BTreeMap::new, |p| p.details.default_models.clone());
        let models = [
            (ModelPurpose::Text, wanted.default_model),
            (ModelPurpose::Vision, wanted.vision_model),
        ];
        default_models
            .extend(models.into_iter().filter_map(|(purpose, model)| Some((purpose, model?))));
        let name = name.or_else(|| present.map(|present| present.details.name.clone()));
        let mut details = LlmProviderDetails {
            name: name.unwrap_or_else(|| kind.clone()),
            kind,
            api_base: connection.api_base,
            api_version: connection.api_version,
            deployment: connection.deployment,
            api_key: None,
            custom_config: None,
            default_models,
            public: wanted.public,
            auto_mode: wanted.auto_mode,
            groups: wanted.groups,
            agents: wanted.agents,
            models: wanted.models,
        };
        details.list_default_models();
        // What cannot be opened later is not stored now. Nothing is sent.
        if let (Some(factory), Some(model)) =
            (&self.backends().language_models, details.models.first())
        {
            let endpoint = endpoint(&details, &secrets, &model.name);
            factory.open(endpoint).map_err(LlmProviderError::Model)?;
        }
        self.seal(&mut details, &secrets, uuid)?;
        Ok(details)
    }

    /// One of `agents` that there is not, and that the provider is not bound to already.
    async fn unknown_agents(
        &self,
        caller: &Caller,
        agents: &BTreeSet<AgentId>,
        present: Option<&LlmProvider>,
    ) -> Result<Option<AgentId>, LlmProviderError> {
        let bound = present.map_or_else(BTreeSet::new, |present| present.details.agents.clone());
        let new: BTreeSet<AgentId> = agents.difference(&bound).copied().collect();
        if new.is_empty() {
            return Ok(None);
        }
        let known = self.agents_of(caller, &new).await?;
        Ok(new.difference(&known).next().copied())
    }
}
