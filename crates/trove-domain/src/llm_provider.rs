//! Providers of language models, as administrators set them up.

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use crate::access::Role;
use crate::id::{AgentId, GroupId, LlmProviderId};
use crate::secret::{SealedSecret, SecretPlace};

/// A provider of language models: an address, a key and the models behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LlmProvider {
    /// Its key.
    pub id: LlmProviderId,
    /// What its secrets are sealed for; see [`LlmProvider::API_KEY`].
    pub uuid: Uuid,
    /// Grows with every change, so that whoever works with an older state notices.
    pub revision: i64,
    /// What an administrator says of it.
    pub details: LlmProviderDetails,
    /// For which purposes it is the default of the deployment.
    pub default_for: BTreeSet<ModelPurpose>,
}

/// What an administrator says of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LlmProviderDetails {
    /// Its name, unique.
    pub name: String,
    /// What kind of provider it is: `openai`, `azure`, `ollama` …
    pub kind: String,
    /// Base address of the interface; the kind's own when absent.
    pub api_base: Option<String>,
    /// Version of the interface, where the kind has some.
    pub api_version: Option<String>,
    /// Name of the deployment, where the kind has some.
    pub deployment: Option<String>,
    /// Key for it, sealed.
    pub api_key: Option<SealedSecret>,
    /// Settings of the kind, sealed as a JSON object of texts: they may be secrets.
    pub custom_config: Option<SealedSecret>,
    /// Which of its models serves which purpose.
    pub default_models: BTreeMap<ModelPurpose, String>,
    /// Whether everybody may use it, as far as `agents` does not say otherwise.
    pub public: bool,
    /// Whether clients keep the list of models current by themselves.
    pub auto_mode: bool,
    /// Groups that may use it when it is not public.
    pub groups: BTreeSet<GroupId>,
    /// When there are any, only conversations with these agents use it.
    pub agents: BTreeSet<AgentId>,
    /// Its models, in the order that they are shown in. Names are unique.
    pub models: Vec<ModelConfiguration>,
}

/// One model of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelConfiguration {
    /// Its name at the provider.
    pub name: String,
    /// Whether users are offered it.
    pub visible: bool,
    /// Most tokens of prompt and answer together, when it is known.
    pub input_tokens_max: Option<u32>,
    /// Whether it takes images, when it is known.
    pub images: Option<bool>,
    /// Name to display.
    pub display_name: Option<String>,
}

/// What a default model is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ModelPurpose {
    /// Everything that has no default of its own.
    Text,
    /// Looking at images.
    Vision,
    /// Naming conversations.
    ChatNaming,
}

impl ModelPurpose {
    /// Every purpose.
    pub const ALL: [Self; 3] = [Self::Text, Self::Vision, Self::ChatNaming];

    /// The value used in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Vision => "vision",
            Self::ChatNaming => "chat_naming",
        }
    }
}

/// Who wants to use a provider, and for whom.
#[derive(Clone, Copy, Debug)]
pub struct ProviderUse<'a> {
    /// The role of the user.
    pub role: Role,
    /// The groups that the user is a member of.
    pub groups: &'a BTreeSet<GroupId>,
    /// The agent that the user talks to, when it is one.
    pub agent: Option<AgentId>,
}

impl LlmProvider {
    /// The table that the places of its secrets name.
    pub const TABLE: &'static str = "llm_provider";
    /// The field of the key.
    pub const API_KEY: &'static str = "api_key";
    /// The field of the custom settings.
    pub const CUSTOM_CONFIG: &'static str = "custom_config";

    /// Most providers of a deployment.
    pub const COUNT_MAX: usize = 200;

    /// Where a secret of the provider with this uuid belongs.
    #[must_use]
    pub fn place(row: Uuid, field: &'static str) -> SecretPlace {
        SecretPlace { table: Self::TABLE, row, field }
    }
}

impl LlmProviderDetails {
    /// Whether it may be used so.
    ///
    /// Agents come first: a provider that is bound to some is used with them only, whoever asks.
    /// Among people, a public provider is everybody's, one with groups its members' and the
    /// administrators', and one with neither groups nor agents the administrators' alone. Where
    /// agents are all that it is bound to, whoever may talk to one of them may use it.
    #[must_use]
    pub fn may_be_used(&self, wanted: ProviderUse<'_>) -> bool {
        let for_agent = self.agents.is_empty()
            || wanted.agent.is_some_and(|agent| self.agents.contains(&agent));
        let admin = wanted.role == Role::Admin;
        let for_person = if self.public {
            true
        } else if !self.groups.is_empty() {
            admin || !self.groups.is_disjoint(wanted.groups)
        } else {
            admin || !self.agents.is_empty()
        };
        for_agent && for_person
    }

    /// The model with this name.
    #[must_use]
    pub fn model(&self, name: &str) -> Option<&ModelConfiguration> {
        self.models.iter().find(|model| model.name == name)
    }

    /// Sees to it that every default model is listed and visible, at the end of the list when it is
    /// not there yet.
    pub fn list_default_models(&mut self) {
        for name in self.default_models.values() {
            match self.models.iter_mut().find(|model| model.name == *name) {
                Some(model) => model.visible = true,
                None => self.models.push(ModelConfiguration::new(name.clone())),
            }
        }
    }
}

impl ModelConfiguration {
    /// A visible model of which only the name is known.
    #[must_use]
    pub fn new(name: String) -> Self {
        Self { name, visible: true, input_tokens_max: None, images: None, display_name: None }
    }
}

#[cfg(test)]
mod tests;
