//! The default models of the deployment: by provider, as earlier clients ask for it, and by
//! provider and model.

use actix_web::HttpResponse;
use actix_web::web::Data;
use trove_domain::id::LlmProviderId;
use trove_domain::llm_provider::ModelPurpose;
use trove_engine::Engine;
use utoipa::ToSchema;

use super::records::present;
use crate::error::ApiError;
use crate::extract::{Caller, Input, Parts, Valid, ValidJson};
use crate::validation::{Fields, Read, Record, integer_id, text};

async fn set(
    engine: &Engine,
    purpose: ModelPurpose,
    id: LlmProviderId,
    model: Option<&str>,
) -> Result<HttpResponse, ApiError> {
    engine.set_default_llm_provider(purpose, id, model).await?;
    Ok(HttpResponse::Ok().json(()))
}

/// Which provider.
pub(crate) struct DefaultProvider {
    id: LlmProviderId,
    vision_model: Option<String>,
}

impl Input for DefaultProvider {
    const BODY: bool = false;

    fn read(parts: Parts<'_>) -> Read<Self> {
        let id = parts.path(|path| path.required("provider_id", integer_id));
        let vision_model = parts.query(|query| query.nullable("vision_model", text));
        Ok(Self { id: LlmProviderId(id?), vision_model: present(vision_model?) })
    }
}

/// Makes a provider the default, with its default model.
#[utoipa::path(
    post, path = "/admin/llm/provider/{provider_id}/default", tag = "language models",
    operation_id = "set_default_provider",
    params(("provider_id" = i32, Path, description = "The provider.", example = 1)),
    responses(
        (status = 200, description = "It is the default. The body is `null`.", body = Option<()>),
        (status = 404, description = "There is no such provider, or it has no default model.",
            body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn set_default_provider(
    _caller: Caller,
    engine: Data<Engine>,
    Valid(input): Valid<DefaultProvider>,
) -> Result<HttpResponse, ApiError> {
    set(&engine, ModelPurpose::Text, input.id, None).await
}

/// Makes a provider the default for images.
#[utoipa::path(
    post, path = "/admin/llm/provider/{provider_id}/default-vision", tag = "language models",
    operation_id = "set_default_vision_provider",
    params(
        ("provider_id" = i32, Path, description = "The provider.", example = 1),
        ("vision_model" = Option<String>, Query, description = "One of its models; by default the \
            one that it has for images."),
    ),
    responses(
        (status = 200, description = "It is the default. The body is `null`.", body = Option<()>),
        (status = 404, description = "There is no such provider or model.",
            body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn set_default_vision_provider(
    _caller: Caller,
    engine: Data<Engine>,
    Valid(input): Valid<DefaultProvider>,
) -> Result<HttpResponse, ApiError> {
    set(&engine, ModelPurpose::Vision, input.id, input.vision_model.as_deref()).await
}

/// A model of a provider.
#[derive(Debug, ToSchema)]
#[schema(as = DefaultModelRequest, example = json!({"provider_id": 1, "model_name": "gpt-4.1"}))]
pub(crate) struct DefaultModelBody {
    /// The provider.
    provider_id: i32,
    /// One of its models.
    model_name: String,
}

impl Record for DefaultModelBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let provider_id = fields.required("provider_id", integer_id);
        let model_name = fields.required("model_name", text);
        Ok(Self { provider_id: provider_id?, model_name: model_name? })
    }
}

impl DefaultModelBody {
    async fn set(&self, engine: &Engine, purpose: ModelPurpose) -> Result<HttpResponse, ApiError> {
        set(engine, purpose, LlmProviderId(self.provider_id), Some(&self.model_name)).await
    }
}

/// Makes a model the default.
#[utoipa::path(
    post, path = "/admin/llm/default", tag = "language models", operation_id = "set_default_model",
    request_body = DefaultModelBody,
    responses(
        (status = 200, description = "It is the default. The body is `null`.", body = Option<()>),
        (status = 404, description = "There is no such provider or model.",
            body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn set_default_model(
    _caller: Caller,
    engine: Data<Engine>,
    ValidJson(body): ValidJson<DefaultModelBody>,
) -> Result<HttpResponse, ApiError> {
    body.set(&engine, ModelPurpose::Text).await
}

/// Makes a model the default for images.
#[utoipa::path(
    post, path = "/admin/llm/default-vision", tag = "language models",
    operation_id = "set_default_vision_model", request_body = DefaultModelBody,
    responses(
        (status = 200, description = "It is the default. The body is `null`.", body = Option<()>),
        (status = 404, description = "There is no such provider or model.",
            body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn set_default_vision_model(
    _caller: Caller,
    engine: Data<Engine>,
    ValidJson(body): ValidJson<DefaultModelBody>,
) -> Result<HttpResponse, ApiError> {
    body.set(&engine, ModelPurpose::Vision).await
}

/// Makes a model the default for naming conversations.
#[utoipa::path(
    post, path = "/admin/llm/default-chat-naming", tag = "language models",
    operation_id = "set_default_chat_naming_model", request_body = DefaultModelBody,
    responses(
        (status = 200, description = "It is the default. The body is `null`.", body = Option<()>),
        (status = 404, description = "There is no such provider or model.",
            body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn set_default_chat_naming_model(
    _caller: Caller,
    engine: Data<Engine>,
    ValidJson(body): ValidJson<DefaultModelBody>,
) -> Result<HttpResponse, ApiError> {
    body.set(&engine, ModelPurpose::ChatNaming).await
}
