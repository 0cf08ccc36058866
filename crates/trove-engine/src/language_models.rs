//! Which language model a call uses.

mod agents;
mod circuit;
mod error;
mod open;
mod preference;

use std::collections::BTreeSet;
use std::sync::Arc;

use trove_domain::access::{Caller, Role};
use trove_domain::error::StoreError;
use trove_domain::id::{AgentId, GroupId};
use trove_domain::llm_provider::{LlmProvider, ModelPurpose, ProviderUse};
use trove_domain::port::LanguageModel;

use crate::Engine;
use crate::administration::llm_providers::LlmProviderError;

pub(crate) use circuit::Circuits;
pub use error::LanguageModelChoiceError;
pub(crate) use open::{OpenModels, endpoint};
pub(crate) use preference::MissingModel;

/// A model that somebody asks for by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelChoice {
    /// Name of the provider.
    pub provider: String,
    /// Name of its model.
    pub model: String,
}

/// The agent that a call is made for, with the model it prefers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentModel {
    /// The agent.
    pub agent: AgentId,
    /// Name of the provider that it prefers; the deployment's default when absent.
    pub provider: Option<String>,
    /// Name of the model that it prefers; the provider's default when absent.
    pub model: Option<String>,
}

impl Engine {
    /// The model for a call of `caller`: the one that is asked for; else the agent's, if the caller
    /// may use it and it is there; else the deployment's default provider, if the caller may use
    /// that; else the model of the configuration. `None` when there is none at all.
    ///
    /// Every call looks at the providers of now, so that a change takes effect with the next one,
    /// whichever process made it; models and their connections are used again until then.
    ///
    /// # Errors
    ///
    /// [`LanguageModelChoiceError`]; about names only when `choice` holds them.
    pub async fn language_model(
        &self,
        caller: &Caller,
        agent: Option<&AgentModel>,
        choice: Option<&ModelChoice>,
    ) -> Result<Option<Arc<dyn LanguageModel>>, LanguageModelChoiceError> {
        let agent_id = agent.map(|agent| agent.agent);
        if let Some(choice) = choice {
            return self.chosen_model(caller, agent_id, choice).await.map(Some);
        }
        let store = &self.backends().llm_providers;
        if let Some(AgentModel { provider: Some(name), model, .. }) = agent {
            if let Some(provider) = store.get_by_name(name).await? {
                if self.may_use(caller, agent_id, &provider).await?
                    && let Some(model) = listed(&provider, model.as_deref())
                {
                    return Ok(Some(self.open_model(&provider, model)?));
                }
            } else if let Some(configured) = self.configured_model(Some(name))
                && model.as_ref().is_none_or(|model| *model == configured.model)
            {
                return Ok(self.backends().language_model.clone());
            }
        }
        if let Some(provider) = store.get_default(ModelPurpose::Text).await?
            && self.may_use(caller, agent_id, &provider).await?
        {
            // An agent may prefer another model of the default provider.
            let preferred = match agent {
                Some(AgentModel { provider: None, model: Some(model), .. }) => {
                    listed(&provider, Some(model))
                }
                _ => None,
            };
            if let Some(model) = preferred.or_else(|| listed(&provider, None)) {
                return Ok(Some(self.open_model(&provider, model)?));
            }
        }
        Ok(self.backends().language_model.clone())
    }

    async fn chosen_model(
        &self,
        caller: &Caller,
        agent: Option<AgentId>,
        choice: &ModelChoice,
    ) -> Result<Arc<dyn LanguageModel>, LanguageModelChoiceError> {
        let ModelChoice { provider: name, model } = choice;
        let unknown_model = || LanguageModelChoiceError::unknown_model(name, model);
        let Some(provider) = self.backends().llm_providers.get_by_name(name).await? else {
            // The one of the configuration has a name, too.
            let configured = self.backends().language_model.clone();
            let configured = configured
                .filter(|configured| configured.info().provider == *name)
                .ok_or_else(|| LanguageModelChoiceError::unknown_provider(name))?;
            return Some(configured)
                .filter(|configured| configured.info().model == *model)
                .ok_or_else(unknown_model);
        };
        if !self.may_use(caller, agent, &provider).await? {
            // Only administrators know of providers that they may not use.
            return Err(match caller.role {
                Role::Admin => LanguageModelChoiceError::forbidden(name),
                _ => LanguageModelChoiceError::unknown_provider(name),
            });
        }
        provider.details.model(model).ok_or_else(unknown_model)?;
        Ok(self.open_model(&provider, model)?)
    }

    async fn may_use(
        &self,
        caller: &Caller,
        agent: Option<AgentId>,
        provider: &LlmProvider,
    ) -> Result<bool, StoreError> {
        let details = &provider.details;
        let mut groups: BTreeSet<GroupId> = BTreeSet::new();
        // Only where groups decide.
        if !details.public && !details.groups.is_empty() {
            let memberships = self.backends().groups.memberships(caller.user).await?;
            groups = memberships.into_iter().map(|membership| membership.group).collect();
        }
        Ok(details.may_be_used(ProviderUse { role: caller.role, groups: &groups, agent }))
    }

    /// The model of a stored provider, opened once for each revision.
    pub(crate) fn open_model(
        &self,
        provider: &LlmProvider,
        model: &str,
    ) -> Result<Arc<dyn LanguageModel>, LlmProviderError> {
        let factory =
            self.backends().language_models.as_ref().ok_or(LlmProviderError::NoFactory)?;
        self.shared.open_models.get_or_open(provider, model, || {
            let secrets = self.open_secrets(provider)?;
            let endpoint = endpoint(&provider.details, &secrets, model);
            factory.open(endpoint).map_err(LlmProviderError::Model)
        })
    }
}

/// The name of a model as the provider lists it; its default for texts when none is asked for.
fn listed<'a>(provider: &'a LlmProvider, model: Option<&str>) -> Option<&'a str> {
    let details = &provider.details;
    let name = match model {
        Some(name) => name,
        None => details.default_models.get(&ModelPurpose::Text)?,
    };
    details.model(name).map(|model| model.name.as_str())
}
