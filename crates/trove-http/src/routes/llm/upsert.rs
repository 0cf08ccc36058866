//! `PUT /admin/llm/provider`

use std::collections::BTreeMap;

use actix_web::HttpResponse;
use actix_web::web::Data;
use trove_domain::id::{AgentId, GroupId, LlmProviderId};
use trove_engine::Engine;
use trove_engine::administration::llm_providers::{Connection, ProviderUpsert};
use utoipa::ToSchema;

use super::records::{ITEMS_MAX, ModelBody, ViewReply, connection, model_configurations, present};
use crate::error::ApiError;
use crate::extract::{Caller, Input, Parts, Valid};
use crate::validation::{Fields, Read, Record, boolean, integer_id, list_of_at_most, text};

/// A provider.
#[derive(Debug, ToSchema)]
#[schema(as = LLMProviderUpsertRequest, example = json!({"name": "OpenAI", "provider": "openai",
    "api_key": "sk-...", "api_key_changed": true, "default_model_name": "gpt-4.1",
    "model_configurations": [{"name": "gpt-4.1", "is_visible": true}]}))]
#[expect(dead_code, reason = "describes the body, which is read into what the engine takes")]
pub(crate) struct UpsertBody {
    /// The provider to change, where the name changes or is left out.
    id: Option<i32>,
    /// Its name, unique. A new provider without one is called like its kind.
    name: Option<String>,
    /// What kind of provider it is.
    provider: String,
    /// Its key. Ignored for a provider that there is, unless `api_key_changed` is true. A mask
    /// leaves the stored key as it is.
    api_key: Option<String>,
    /// Base address; the kind's own when absent.
    api_base: Option<String>,
    /// Version of the interface.
    api_version: Option<String>,
    /// Settings of the kind. Ignored for a provider that there is, unless `custom_config_changed`
    /// is true. A mask leaves the stored value as it is.
    custom_config: Option<BTreeMap<String, String>>,
    /// Its model for texts; added to the models when it is not there. Unchanged when absent.
    default_model_name: Option<String>,
    /// Its model for images. Unchanged when absent.
    default_vision_model: Option<String>,
    /// Whether everybody may use it.
    #[schema(default = true)]
    is_public: Option<bool>,
    /// Whether clients keep the list of models current.
    #[schema(default = false)]
    is_auto_mode: Option<bool>,
    /// Groups that may use it when it is not public.
    #[schema(max_items = 1000)]
    groups: Option<Vec<i32>>,
    /// Agents that it is bound to.
    #[schema(max_items = 1000)]
    personas: Option<Vec<i32>>,
    /// Name of the deployment, where the kind has some.
    deployment_name: Option<String>,
    /// Whether `api_key` replaces a stored key. Needed where the address changes.
    #[schema(default = false)]
    api_key_changed: Option<bool>,
    /// Whether `custom_config` replaces stored settings.
    #[schema(default = false)]
    custom_config_changed: Option<bool>,
    /// Its models.
    #[schema(max_items = 1000)]
    model_configurations: Option<Vec<ModelBody>>,
}

/// Whether to make a provider, and what it is to be.
pub(crate) struct PutProvider {
    is_creation: bool,
    wanted: ProviderUpsert,
}

struct Body(ProviderUpsert);

impl Record for Body {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let id = fields.nullable("id", integer_id);
        let name = fields.nullable("name", text);
        let kind = fields.required("provider", text);
        let connection: Read<Connection> = connection(fields);
        let default_model = fields.nullable("default_model_name", text);
        let vision_model = fields.nullable("default_vision_model", text);
        let public = fields.or("is_public", true, boolean);
        let auto_mode = fields.or("is_auto_mode", false, boolean);
        let ids = || list_of_at_most(ITEMS_MAX, integer_id);
        let groups = fields.or("groups", Vec::new(), ids());
        let agents = fields.or("personas", Vec::new(), ids());
        let models = model_configurations(fields);
        Ok(Self(ProviderUpsert {
            id: id?.map(LlmProviderId),
            name: name?.map(|name| name.trim().to_owned()),
            kind: kind?.trim().to_lowercase(),
            connection: connection?,
            default_model: present(default_model?),
            vision_model: present(vision_model?),
            public: public?,
            auto_mode: auto_mode?,
            groups: groups?.into_iter().map(GroupId).collect(),
            agents: agents?.into_iter().map(AgentId).collect(),
            models: models?.into_iter().map(Into::into).collect(),
        }))
    }
}

impl Input for PutProvider {
    const BODY: bool = true;

    fn read(mut parts: Parts<'_>) -> Read<Self> {
        let is_creation = parts.query(|query| query.or("is_creation", false, boolean));
        let body = parts.body::<Body>();
        Ok(Self { is_creation: is_creation?, wanted: body?.0 })
    }
}

/// Makes or changes a provider.
///
/// A stored secret is not sent to another address than the one it was stored for: whoever changes
/// `provider`, `api_base` or `custom_config` of a provider with a key sends the key again.
#[utoipa::path(
    put, path = "/admin/llm/provider", tag = "language models", operation_id = "put_llm_provider",
    params(("is_creation" = Option<bool>, Query, description = "Make a provider instead of changing \
        one. False by default.")),
    request_body = UpsertBody,
    responses(
        (status = 200, description = "The provider. Secrets are masked.", body = ViewReply),
        (status = 400, description = "The name is taken, there is nothing to change, a group or \
            an agent does not exist, a secret has to be sent again, or a field holds what it \
            cannot hold.", body = crate::error::ErrorBody),
        (status = 409, description = "Others keep changing the provider.",
            body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn put_llm_provider(
    caller: Caller,
    engine: Data<Engine>,
    Valid(PutProvider { is_creation, wanted }): Valid<PutProvider>,
) -> Result<HttpResponse, ApiError> {
    let view = if is_creation {
        engine.create_llm_provider(&caller.0, wanted).await?
    } else {
        engine.update_llm_provider(&caller.0, wanted).await?
    };
    Ok(HttpResponse::Ok().json(ViewReply::from(view)))
}
