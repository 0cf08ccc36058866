//! Rows of providers and of what hangs on them.

use diesel::prelude::*;
use trove_domain::error::Source;
use trove_domain::id::{AgentId, GroupId, LlmProviderId};
use trove_domain::llm_provider::{
    LlmProvider, LlmProviderDetails, ModelConfiguration, ModelPurpose,
};
use trove_domain::secret::SealedSecret;

use crate::error::{Failure, corrupt};
use crate::schema::{llm_model_configuration, llm_provider};
use crate::sql::Id;

/// One row of `llm_provider`.
#[derive(Queryable)]
pub(super) struct ProviderRow {
    id: i32,
    uuid: Id,
    revision: i64,
    name: String,
    kind: String,
    api_base: Option<String>,
    api_version: Option<String>,
    deployment: Option<String>,
    api_key: Option<String>,
    custom_config: Option<String>,
    text_model: Option<String>,
    vision_model: Option<String>,
    chat_naming_model: Option<String>,
    public: bool,
    auto_mode: bool,
}

type ProviderColumns = (
    llm_provider::id,
    llm_provider::uuid,
    llm_provider::revision,
    llm_provider::name,
    llm_provider::kind,
    llm_provider::api_base,
    llm_provider::api_version,
    llm_provider::deployment,
    llm_provider::api_key,
    llm_provider::custom_config,
    llm_provider::text_model,
    llm_provider::vision_model,
    llm_provider::chat_naming_model,
    llm_provider::public,
    llm_provider::auto_mode,
);

pub(super) const PROVIDER: ProviderColumns = (
    llm_provider::id,
    llm_provider::uuid,
    llm_provider::revision,
    llm_provider::name,
    llm_provider::kind,
    llm_provider::api_base,
    llm_provider::api_version,
    llm_provider::deployment,
    llm_provider::api_key,
    llm_provider::custom_config,
    llm_provider::text_model,
    llm_provider::vision_model,
    llm_provider::chat_naming_model,
    llm_provider::public,
    llm_provider::auto_mode,
);

/// One row of `llm_model_configuration`.
#[derive(Clone, Debug, Insertable, Queryable)]
#[diesel(table_name = llm_model_configuration)]
pub(super) struct ModelRow {
    provider_id: i32,
    position: i32,
    name: String,
    visible: bool,
    input_tokens_max: Option<i32>,
    images: Option<bool>,
    display_name: Option<String>,
}

type ModelColumns = (
    llm_model_configuration::provider_id,
    llm_model_configuration::position,
    llm_model_configuration::name,
    llm_model_configuration::visible,
    llm_model_configuration::input_tokens_max,
    llm_model_configuration::images,
    llm_model_configuration::display_name,
);

pub(super) const MODEL: ModelColumns = (
    llm_model_configuration::provider_id,
    llm_model_configuration::position,
    llm_model_configuration::name,
    llm_model_configuration::visible,
    llm_model_configuration::input_tokens_max,
    llm_model_configuration::images,
    llm_model_configuration::display_name,
);

/// What hangs on some providers, each with the provider's id.
pub(super) struct Parts {
    /// By position.
    pub(super) models: Vec<ModelRow>,
    pub(super) groups: Vec<(i32, i32)>,
    pub(super) agents: Vec<(i32, i32)>,
    pub(super) defaults: Vec<(i32, String)>,
}

/// A row for a model; refused when a number does not fit into its column.
pub(super) fn model_row(
    provider: i32,
    position: usize,
    model: &ModelConfiguration,
) -> Result<ModelRow, Failure> {
    let ModelConfiguration { name, visible, input_tokens_max, images, display_name } =
        model.clone();
    let out_of_range = |_| {
        Failure::Query(diesel::result::Error::SerializationError(
            format!("a number of the model {name} does not fit").into(),
        ))
    };
    Ok(ModelRow {
        provider_id: provider,
        position: i32::try_from(position).map_err(out_of_range)?,
        input_tokens_max: input_tokens_max.map(i32::try_from).transpose().map_err(out_of_range)?,
        name,
        visible,
        images,
        display_name,
    })
}

/// Puts a provider together.
pub(super) fn provider(row: ProviderRow, parts: &Parts) -> Result<LlmProvider, Failure> {
    let id = row.id;
    let sealed = |text: Option<String>| -> Result<Option<SealedSecret>, Failure> {
        let read = |text: String| {
            // What it says instead may be a secret in the clear.
            SealedSecret::from_stored(&text).ok_or("it holds something that is not sealed")
        };
        text.map(read)
            .transpose()
            .map_err(|why: &str| corrupt::<Source>("llm_provider", id)(why.into()))
    };
    let models = parts.models.iter().filter(|model| model.provider_id == id);
    let purposes = [
        (ModelPurpose::Text, row.text_model),
        (ModelPurpose::Vision, row.vision_model),
        (ModelPurpose::ChatNaming, row.chat_naming_model),
    ];
    let default_for = |purpose: &ModelPurpose| {
        parts.defaults.iter().any(|(of, name)| *of == id && name == purpose.as_str())
    };
    Ok(LlmProvider {
        id: LlmProviderId(id),
        uuid: row.uuid.0,
        revision: row.revision,
        details: LlmProviderDetails {
            name: row.name,
            kind: row.kind,
            api_base: row.api_base,
            api_version: row.api_version,
            deployment: row.deployment,
            api_key: sealed(row.api_key)?,
            custom_config: sealed(row.custom_config)?,
            default_models: purposes
                .into_iter()
                .filter_map(|(purpose, model)| Some((purpose, model?)))
                .collect(),
            public: row.public,
            auto_mode: row.auto_mode,
            groups: of(&parts.groups, id).map(GroupId).collect(),
            agents: of(&parts.agents, id).map(AgentId).collect(),
            models: models.map(model).collect::<Result<_, _>>()?,
        },
        default_for: ModelPurpose::ALL.into_iter().filter(default_for).collect(),
    })
}

fn model(row: &ModelRow) -> Result<ModelConfiguration, Failure> {
    let ModelRow {
        provider_id,
        position: _,
        name,
        visible,
        input_tokens_max,
        images,
        display_name,
    } = row.clone();
    let input_tokens_max = input_tokens_max
        .map(u32::try_from)
        .transpose()
        .map_err(corrupt("llm_model_configuration", provider_id))?;
    Ok(ModelConfiguration { name, visible, input_tokens_max, images, display_name })
}

/// What is linked to `id`.
fn of(links: &[(i32, i32)], id: i32) -> impl Iterator<Item = i32> {
    links.iter().filter(move |(provider, _)| *provider == id).map(|(_, linked)| *linked)
}
