//! `POST /admin/llm/test`, `POST /admin/llm/test/default`

use std::collections::BTreeMap;

use actix_web::HttpResponse;
use actix_web::web::Data;
use trove_domain::id::LlmProviderId;
use trove_engine::Engine;
use trove_engine::administration::llm_providers::ModelTest;
use utoipa::ToSchema;

use super::records::{connection, present};
use crate::error::ApiError;
use crate::extract::{Caller, ValidJson};
use crate::validation::{Fields, Read, Record, integer_id, text};

/// A model to try out.
#[derive(Debug, ToSchema)]
#[schema(as = TestLLMRequest, example = json!({"provider": "openai", "api_key": "sk-...",
    "api_key_changed": true, "default_model_name": "gpt-4.1"}))]
#[expect(dead_code, reason = "describes the body, which is read into what the engine takes")]
pub(crate) struct TestBody {
    /// A stored provider whose secrets are used where none are sent.
    id: Option<i32>,
    /// The same by name.
    name: Option<String>,
    /// What kind of provider it is.
    provider: String,
    /// The key.
    api_key: Option<String>,
    /// Base address; the kind's own when absent.
    api_base: Option<String>,
    /// Version of the interface.
    api_version: Option<String>,
    /// Settings of the kind.
    custom_config: Option<BTreeMap<String, String>>,
    /// The model to ask; or `model`.
    default_model_name: Option<String>,
    /// The model to ask; or `default_model_name`.
    model: Option<String>,
    /// Name of the deployment, where the kind has some.
    deployment_name: Option<String>,
    /// Whether `api_key` is used instead of a stored key.
    #[schema(default = false)]
    api_key_changed: Option<bool>,
    /// Whether `custom_config` is used instead of stored settings.
    #[schema(default = false)]
    custom_config_changed: Option<bool>,
}

/// What was read of it.
pub(crate) struct Test(ModelTest);

impl Record for Test {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let id = fields.nullable("id", integer_id);
        let name = fields.nullable("name", text);
        let kind = fields.required("provider", text);
        let connection = connection(fields);
        let model = fields.nullable("model", text);
        let default_model = if matches!(model, Ok(None)) {
            fields.required("default_model_name", text).map(Some)
        } else {
            fields.nullable("default_model_name", text)
        };
        Ok(Self(ModelTest {
            id: id?.map(LlmProviderId),
            name: present(name?),
            kind: kind?.trim().to_lowercase(),
            connection: connection?,
            model: model?.or(default_model?).unwrap_or_default().trim().to_owned(),
        }))
    }
}

/// Asks a model something tiny, to see whether it answers.
///
/// The secrets of a stored provider are used at its own address only. Of an address that is not
/// stored, only the outcome is told.
#[utoipa::path(
    post, path = "/admin/llm/test", tag = "language models", operation_id = "test_llm",
    request_body = TestBody,
    responses(
        (status = 200, description = "It answers. The body is `null`.", body = Option<()>),
        (status = 400, description = "It does not answer; `detail` says why.",
            body = crate::error::ErrorBody),
        (status = 404, description = "There is no provider with this id.",
            body = crate::error::ErrorBody),
        (status = 501, description = "The deployment cannot reach language models.",
            body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn test_llm(
    _caller: Caller,
    engine: Data<Engine>,
    ValidJson(Test(test)): ValidJson<Test>,
) -> Result<HttpResponse, ApiError> {
    engine.test_llm(test).await?;
    Ok(HttpResponse::Ok().json(()))
}

/// Asks the default model something tiny, to see whether it answers.
#[utoipa::path(
    post, path = "/admin/llm/test/default", tag = "language models",
    operation_id = "test_default_llm",
    responses(
        (status = 200, description = "It answers. The body is `null`.", body = Option<()>),
        (status = 400, description = "There is none, or it does not answer; `detail` says why.",
            body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn test_default_llm(
    _caller: Caller,
    engine: Data<Engine>,
) -> Result<HttpResponse, ApiError> {
    engine.test_default_llm().await?;
    Ok(HttpResponse::Ok().json(()))
}
