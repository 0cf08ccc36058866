//! The model that an agent is to prefer, looked at when an editor writes it.
//!
//! A call passes over what is not there or not for its caller, so that an agent works on when its
//! model is gone. An editor is told.

use trove_domain::access::Caller;
use trove_domain::agent::ModelOverride;
use trove_domain::error::StoreError;
use trove_domain::id::AgentId;
use trove_domain::llm::LanguageModelInfo;
use trove_domain::llm_provider::ModelPurpose;

use super::listed;
use crate::Engine;
use crate::administration::llm_providers::shown;

/// What an editor names and there is not for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MissingModel {
    /// No such provider, or not for the editor and its agent.
    Provider(String),
    /// No such model at the provider.
    Model(String),
    /// No such configuration: models are known by their names.
    Configuration(i32),
}

impl Engine {
    /// What of `wanted` there is not for `caller`, who writes `agent`, or a new one.
    pub(crate) async fn missing_model(
        &self,
        caller: &Caller,
        agent: Option<AgentId>,
        wanted: &ModelOverride,
    ) -> Result<Option<MissingModel>, StoreError> {
        let ModelOverride { provider, model, configuration } = wanted;
        if let Some(id) = configuration {
            return Ok(Some(MissingModel::Configuration(*id)));
        }
        let store = &self.backends().llm_providers;
        let found = match (provider, model) {
            (None, None) => return Ok(None),
            (Some(name), _) => store.get_by_name(name).await?,
            (None, Some(_)) => store.get_default(ModelPurpose::Text).await?,
        };
        let usable = match &found {
            Some(stored) if self.may_use(caller, agent, stored).await? => Some(stored),
            _ => None,
        };
        let configured = match (usable, &found, provider) {
            // A stored provider goes before its namesake.
            (Some(_), ..) | (None, Some(_), Some(_)) => None,
            _ => self.configured_model(provider.as_deref()),
        };
        if let Some(name) = provider
            && usable.is_none()
            && configured.is_none()
        {
            return Ok(Some(MissingModel::Provider(shown(name))));
        }
        let is_there = |name: &String| {
            usable.is_some_and(|stored| listed(stored, Some(name)).is_some())
                || configured.is_some_and(|configured| configured.model == *name)
        };
        let missing = model.as_ref().filter(|name| !is_there(name));
        Ok(missing.map(|name| MissingModel::Model(shown(name))))
    }

    /// The model of the configuration, where it is one to choose and its provider is called
    /// `provider`, if that is to have a name.
    pub(super) fn configured_model(&self, provider: Option<&str>) -> Option<&LanguageModelInfo> {
        let info = self.backends().language_model.as_ref()?.info();
        let is_named = provider.is_none_or(|name| name == info.provider);
        (info.follows_instructions && is_named).then_some(info)
    }
}
