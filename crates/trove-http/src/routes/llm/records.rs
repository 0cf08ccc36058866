//! Records that several of the routes share.

use std::collections::BTreeMap;

use secrecy::SecretString;
use serde::Serialize;
use trove_domain::llm_provider::{LlmProvider, ModelConfiguration, ModelPurpose};
use trove_engine::administration::llm_providers::{Connection, MASK, ProviderView};
use utoipa::ToSchema;

use super::options::display_name;
use crate::validation::{
    Field, Fields, Read, Record, boolean, entries, integer_between, list_of_at_most, record, text,
};

/// Most items of a list in a request.
pub(super) const ITEMS_MAX: usize = 1000;

/// A model of a provider.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ModelConfigurationView)]
pub(crate) struct ModelReply {
    /// Its name at the provider.
    name: String,
    /// Whether users are offered it.
    is_visible: bool,
    /// Most tokens of a prompt, when it is known.
    max_input_tokens: Option<u32>,
    /// Whether it takes images.
    supports_image_input: bool,
    /// Whether it tells its reasoning; not known so far.
    supports_reasoning: bool,
    /// Name to display.
    display_name: Option<String>,
    /// Name of the kind of provider.
    provider_display_name: Option<String>,
    /// Not used.
    vendor: Option<String>,
    /// Not used.
    version: Option<String>,
    /// Not used.
    region: Option<String>,
}

impl ModelReply {
    pub(super) fn new(model: ModelConfiguration, kind: &str) -> Self {
        Self {
            name: model.name,
            is_visible: model.visible,
            max_input_tokens: model.input_tokens_max,
            supports_image_input: model.images.unwrap_or(false),
            supports_reasoning: false,
            display_name: model.display_name,
            provider_display_name: Some(display_name(kind)),
            vendor: None,
            version: None,
            region: None,
        }
    }
}

fn models(models: Vec<ModelConfiguration>, kind: &str) -> Vec<ModelReply> {
    models.into_iter().map(|model| ModelReply::new(model, kind)).collect()
}

/// A provider as users see it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LLMProviderDescriptor, example = json!({"id": 1, "name": "OpenAI", "provider": "openai",
    "provider_display_name": "OpenAI", "default_model_name": "gpt-4.1", "is_default_provider": true,
    "is_default_vision_provider": null, "default_vision_model": null, "model_configurations": []}))]
pub(crate) struct DescriptorReply {
    /// Its number; null for the model of the configuration.
    id: Option<i32>,
    /// Its name: what a request names it by.
    name: String,
    /// What kind of provider it is.
    provider: String,
    /// Name of the kind.
    provider_display_name: String,
    /// The model that is used unless a request names another one; null when there is none.
    default_model_name: Option<String>,
    /// Whether it is the default of the deployment; null when it is not.
    is_default_provider: Option<bool>,
    /// Whether it is the default for images; null when it is not.
    is_default_vision_provider: Option<bool>,
    /// The model for images.
    default_vision_model: Option<String>,
    /// Its models that users are offered.
    model_configurations: Vec<ModelReply>,
}

impl From<LlmProvider> for DescriptorReply {
    fn from(provider: LlmProvider) -> Self {
        let default = |purpose| provider.default_for.contains(&purpose).then_some(true);
        let details = &provider.details;
        let model = |purpose| details.default_models.get(&purpose).cloned();
        let visible = details.models.iter().filter(|model| model.visible).cloned().collect();
        Self {
            id: Some(provider.id.0),
            provider_display_name: display_name(&details.kind),
            default_model_name: model(ModelPurpose::Text),
            is_default_provider: default(ModelPurpose::Text),
            is_default_vision_provider: default(ModelPurpose::Vision),
            default_vision_model: model(ModelPurpose::Vision),
            model_configurations: models(visible, &details.kind),
            name: provider.details.name,
            provider: provider.details.kind,
        }
    }
}

impl DescriptorReply {
    /// The model of the configuration, which nobody can change here.
    pub(super) fn configured(provider: &str, model: &str, is_default: bool) -> Self {
        Self {
            id: None,
            name: provider.to_owned(),
            provider: provider.to_owned(),
            provider_display_name: display_name(provider),
            default_model_name: Some(model.to_owned()),
            is_default_provider: is_default.then_some(true),
            is_default_vision_provider: None,
            default_vision_model: None,
            model_configurations: models(vec![ModelConfiguration::new(model.to_owned())], provider),
        }
    }

    pub(super) fn is_default(&self) -> bool {
        self.is_default_provider == Some(true)
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

/// A provider as administrators see it. Secrets are masked.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LLMProviderView)]
pub(crate) struct ViewReply {
    /// Its number.
    id: i32,
    /// Its name.
    name: String,
    /// What kind of provider it is.
    provider: String,
    /// Eight stars when there is a key.
    api_key: Option<String>,
    /// Base address; the kind's own when null.
    api_base: Option<String>,
    /// Version of the interface.
    api_version: Option<String>,
    /// Settings of the kind, each with eight stars for its value.
    custom_config: Option<BTreeMap<String, String>>,
    /// Its model for texts.
    default_model_name: Option<String>,
    /// Its model for images.
    default_vision_model: Option<String>,
    /// Its model for naming conversations.
    default_chat_naming_model: Option<String>,
    /// Whether it is the default of the deployment; null when it is not.
    is_default_provider: Option<bool>,
    /// Whether it is the default for images; null when it is not.
    is_default_vision_provider: Option<bool>,
    /// Whether it is the default for naming conversations; null when it is not.
    is_default_chat_naming_provider: Option<bool>,
    /// Whether everybody may use it.
    is_public: bool,
    /// Whether clients keep the list of models current.
    is_auto_mode: bool,
    /// Groups that may use it when it is not public.
    groups: Vec<i32>,
    /// Agents that it is bound to.
    personas: Vec<i32>,
    /// Name of the deployment, where the kind has some.
    deployment_name: Option<String>,
    /// Its models.
    model_configurations: Vec<ModelReply>,
}

impl From<ProviderView> for ViewReply {
    fn from(view: ProviderView) -> Self {
        let ProviderView { provider, custom_config } = view;
        let default = |purpose| provider.default_for.contains(&purpose).then_some(true);
        let details = provider.details;
        let model = |purpose| details.default_models.get(&purpose).cloned();
        Self {
            id: provider.id.0,
            api_key: details.api_key.as_ref().map(|_| MASK.to_owned()),
            custom_config: custom_config
                .map(|names| names.into_iter().map(|name| (name, MASK.to_owned())).collect()),
            default_model_name: model(ModelPurpose::Text),
            default_vision_model: model(ModelPurpose::Vision),
            default_chat_naming_model: model(ModelPurpose::ChatNaming),
            is_default_provider: default(ModelPurpose::Text),
            is_default_vision_provider: default(ModelPurpose::Vision),
            is_default_chat_naming_provider: default(ModelPurpose::ChatNaming),
            model_configurations: models(details.models, &details.kind),
            name: details.name,
            provider: details.kind,
            api_base: details.api_base,
            api_version: details.api_version,
            is_public: details.public,
            is_auto_mode: details.auto_mode,
            groups: details.groups.into_iter().map(|group| group.0).collect(),
            personas: details.agents.into_iter().map(|agent| agent.0).collect(),
            deployment_name: details.deployment,
        }
    }
}

/// A model of a provider, as it is sent.
#[derive(Debug, ToSchema)]
#[schema(as = ModelConfigurationUpsertRequest)]
pub(crate) struct ModelBody {
    /// Its name at the provider.
    name: String,
    /// Whether users are offered it.
    is_visible: bool,
    /// Most tokens of a prompt.
    max_input_tokens: Option<u32>,
    /// Whether it takes images.
    supports_image_input: Option<bool>,
    /// Name to display.
    display_name: Option<String>,
}

impl Record for ModelBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let name = fields.required("name", text);
        let is_visible = fields.required("is_visible", boolean);
        let max_input_tokens =
            fields.nullable("max_input_tokens", integer_between(1, i64::from(i32::MAX)));
        let supports_image_input = fields.nullable("supports_image_input", boolean);
        let display_name = fields.nullable("display_name", text);
        Ok(Self {
            name: name?,
            is_visible: is_visible?,
            max_input_tokens: max_input_tokens?.and_then(|max| u32::try_from(max).ok()),
            supports_image_input: supports_image_input?,
            display_name: display_name?.filter(|name| !name.trim().is_empty()),
        })
    }
}

impl From<ModelBody> for ModelConfiguration {
    fn from(body: ModelBody) -> Self {
        Self {
            name: body.name.trim().to_owned(),
            visible: body.is_visible,
            input_tokens_max: body.max_input_tokens,
            images: body.supports_image_input,
            display_name: body.display_name,
        }
    }
}

/// Reads the list of models.
pub(super) fn model_configurations(fields: &mut Fields<'_>) -> Read<Vec<ModelBody>> {
    let read = list_of_at_most(ITEMS_MAX, record::<ModelBody>);
    fields.or("model_configurations", Vec::new(), read)
}

/// Reads where and how a provider is reached. Empty texts count as absent.
pub(super) fn connection(fields: &mut Fields<'_>) -> Read<Connection> {
    let api_key = fields.nullable("api_key", text);
    let api_base = fields.nullable("api_base", text);
    let api_version = fields.nullable("api_version", text);
    let custom_config = fields.nullable("custom_config", settings);
    let deployment = fields.nullable("deployment_name", text);
    let api_key_changed = fields.or("api_key_changed", false, boolean);
    let custom_config_changed = fields.or("custom_config_changed", false, boolean);
    Ok(Connection {
        // A line feed at the end is what copying leaves.
        api_key: present(api_key?).map(SecretString::from),
        api_base: present(api_base?),
        api_version: present(api_version?),
        custom_config: custom_config?,
        deployment: present(deployment?),
        api_key_changed: api_key_changed?,
        custom_config_changed: custom_config_changed?,
    })
}

/// A text without blanks around it, unless nothing is left.
pub(super) fn present(text: Option<String>) -> Option<String> {
    text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// A map from text to text. What is wrong with a value is told under its own key.
fn settings(field: Field<'_>) -> Read<BTreeMap<String, SecretString>> {
    let (json, place) = field.split();
    let entries = entries(place.same(json))?;
    let mut read = BTreeMap::new();
    let mut rejected = None;
    for (name, value) in entries {
        match text(place.entry(&name, value)) {
            Ok(value) => drop(read.insert(name, SecretString::from(value))),
            Err(failure) => rejected = Some(failure),
        }
    }
    rejected.map_or(Ok(read), Err)
}
