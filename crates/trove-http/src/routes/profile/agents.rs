//! Which agents a user is shown: `PATCH /user/pinned-assistants` and
//! `PATCH /user/assistant-list/update/{assistant_id}`, and the model of new chats.

use actix_web::HttpResponse;
use actix_web::web::Data;
use trove_domain::preferences::ProfileChange;
use trove_engine::Engine;
use utoipa::ToSchema;

use crate::error::ApiError;
use crate::extract::{Caller, Input, Parts, Valid, ValidJson};
use crate::routes::schema::{IDS_MAX, stored_text};
use crate::validation::{Fields, Read, Record, boolean, integer, integer_id, list_of_at_most};

/// Most characters of the name of a model.
const MODEL_CHARS_MAX: usize = 1000;

/// Agents at the top of the list.
#[derive(Debug, ToSchema)]
#[schema(as = ReorderPinnedAssistantsRequest, example = json!({"ordered_assistant_ids": [2, 1]}))]
pub(crate) struct PinnedBody {
    /// Their numbers, in order, at most 1000.
    ordered_assistant_ids: Vec<i64>,
}

impl Record for PinnedBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let ids = fields.required("ordered_assistant_ids", list_of_at_most(IDS_MAX, integer));
        Ok(Self { ordered_assistant_ids: ids? })
    }
}

/// Sets the agents at the top of the caller's list.
#[utoipa::path(
    patch, path = "/user/pinned-assistants", tag = "users", operation_id = "pin_assistants",
    request_body = PinnedBody,
    responses((status = 200, description = "They are set.", body = ()))
)]
pub(crate) async fn pin_assistants(
    caller: Caller,
    engine: Data<Engine>,
    ValidJson(body): ValidJson<PinnedBody>,
) -> Result<HttpResponse, ApiError> {
    let pinned = ProfileChange::PinAgents(body.ordered_assistant_ids);
    super::change(&engine, &caller, pinned).await
}

/// Which agent, and whether it is shown.
#[derive(Debug)]
pub(crate) struct ShownAgent {
    assistant_id: i32,
    show: bool,
}

impl Input for ShownAgent {
    const BODY: bool = false;

    fn read(parts: Parts<'_>) -> Read<Self> {
        let assistant_id = parts.path(|path| path.required("assistant_id", integer_id));
        let show = parts.query(|query| query.required("show", boolean));
        Ok(Self { assistant_id: assistant_id?, show: show? })
    }
}

/// Shows an agent in the caller's list, or hides it.
#[utoipa::path(
    patch, path = "/user/assistant-list/update/{assistant_id}", tag = "users",
    operation_id = "show_assistant", params(
        ("assistant_id" = i32, Path, description = "Number of the agent."),
        ("show" = bool, Query, description = "Whether it is shown."),
    ),
    responses((status = 200, description = "It is set.", body = ()))
)]
pub(crate) async fn show_assistant(
    caller: Caller,
    engine: Data<Engine>,
    Valid(shown): Valid<ShownAgent>,
) -> Result<HttpResponse, ApiError> {
    let agent = i64::from(shown.assistant_id);
    super::change(&engine, &caller, ProfileChange::ShowAgent { agent, show: shown.show }).await
}

/// The model of new chats.
#[derive(Debug, ToSchema)]
#[schema(as = DefaultModelRequest, example = json!({"default_model": "gpt-4.1"}))]
pub(crate) struct ModelBody {
    /// Its name; null for the deployment's default.
    default_model: Option<String>,
}

impl Record for ModelBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let model = fields.nullable("default_model", stored_text(0, MODEL_CHARS_MAX));
        Ok(Self { default_model: model? })
    }
}

/// Sets the model of the caller's new chats.
#[utoipa::path(
    patch, path = "/user/default-model", tag = "users", operation_id = "set_own_default_model",
    request_body = ModelBody,
    responses((status = 200, description = "It is set.", body = ()))
)]
pub(crate) async fn set_own_default_model(
    caller: Caller,
    engine: Data<Engine>,
    ValidJson(body): ValidJson<ModelBody>,
) -> Result<HttpResponse, ApiError> {
    super::change(&engine, &caller, ProfileChange::DefaultModel(body.default_model)).await
}
