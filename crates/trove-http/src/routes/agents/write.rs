//! `POST /persona`, `PATCH` and `DELETE /persona/{persona_id}`

use actix_web::HttpResponse;
use actix_web::web::Data;
use trove_engine::Engine;

use super::body::PersonaBody;
use super::record::PersonaReply;
use super::{PersonaChange, PersonaPath};
use crate::error::ApiError;
use crate::extract::{Caller, Valid, ValidJson};

/// Makes an agent that belongs to the caller.
#[utoipa::path(
    post, path = "/persona", tag = "agents", operation_id = "create_persona",
    request_body = PersonaBody,
    responses(
        (status = 200, description = "The agent.", body = PersonaReply),
        (status = 400, description = "The name is taken, or the request names something that does \
            not exist for the caller.", body = crate::error::ErrorBody),
        (status = 403, description = "Only administrators feature agents.",
            body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn create_persona(
    caller: Caller,
    engine: Data<Engine>,
    ValidJson(body): ValidJson<PersonaBody>,
) -> Result<HttpResponse, ApiError> {
    let view = engine.create_agent(&caller.0, body.into_request()).await?;
    Ok(HttpResponse::Ok().json(PersonaReply::from(view)))
}

/// Replaces what an agent is made of.
///
/// Document sets and documents that it has and the caller does not see stay.
#[utoipa::path(
    patch, path = "/persona/{persona_id}", tag = "agents", operation_id = "update_persona",
    params(("persona_id" = i32, Path, description = "The agent.", example = 7)),
    request_body = PersonaBody,
    responses(
        (status = 200, description = "The agent.", body = PersonaReply),
        (status = 400, description = "As when it is made; or it is built in.",
            body = crate::error::ErrorBody),
        (status = 403, description = "The caller may not change it.",
            body = crate::error::ErrorBody),
        (status = 404, description = "There is no such agent.", body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn update_persona(
    caller: Caller,
    engine: Data<Engine>,
    Valid(input): Valid<PersonaChange<PersonaBody>>,
) -> Result<HttpResponse, ApiError> {
    let view = engine.update_agent(&caller.0, input.id, input.body.into_request()).await?;
    Ok(HttpResponse::Ok().json(PersonaReply::from(view)))
}

/// Deletes an agent, for its owner or an administrator.
///
/// An administrator can bring it back.
#[utoipa::path(
    delete, path = "/persona/{persona_id}", tag = "agents", operation_id = "delete_persona",
    params(("persona_id" = i32, Path, description = "The agent.", example = 7)),
    responses(
        (status = 200, description = "It is deleted. The body is `null`.", body = Option<()>),
        (status = 400, description = "It is built in.", body = crate::error::ErrorBody),
        (status = 403, description = "The caller may not delete it.",
            body = crate::error::ErrorBody),
        (status = 404, description = "There is no such agent.", body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn delete_persona(
    caller: Caller,
    engine: Data<Engine>,
    Valid(input): Valid<PersonaPath>,
) -> Result<HttpResponse, ApiError> {
    engine.delete_agent(&caller.0, input.id).await?;
    Ok(HttpResponse::Ok().json(()))
}
