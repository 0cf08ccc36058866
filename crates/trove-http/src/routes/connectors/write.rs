//! `POST /manage/admin/connector`, `PATCH` and `DELETE /manage/admin/connector/{connector_id}`

use actix_web::HttpResponse;
use actix_web::web::Data;
use trove_domain::id::ConnectorId;
use trove_engine::Engine;

use super::read::OneConnector;
use super::record::{ConnectorBody, ConnectorReply};
use crate::error::ApiError;
use crate::extract::{Caller, Input, Parts, Valid, ValidJson};
use crate::routes::credentials::record::CreatedReply;
use crate::routes::status::StatusReply;
use crate::validation::{Read, integer_id};

/// Makes a connector. It reads nothing until it has a credential.
#[utoipa::path(
    post, path = "/manage/admin/connector", tag = "connectors", operation_id = "create_connector",
    request_body = ConnectorBody,
    responses(
        (status = 200, description = "Its id.", body = CreatedReply),
        (status = 400, description = "The source is not enabled or not connectable, the name is \
            taken, or the caller is a curator who may not make it.",
            body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn create_connector(
    caller: Caller,
    engine: Data<Engine>,
    ValidJson(body): ValidJson<ConnectorBody>,
) -> Result<HttpResponse, ApiError> {
    let connector = engine.create_connector(&caller.0, body.into()).await?;
    Ok(HttpResponse::Ok().json(CreatedReply { id: connector.id.0, credential: None }))
}

/// Which connector, and what it shall be.
pub(crate) struct UpdateConnector {
    id: ConnectorId,
    body: ConnectorBody,
}

impl Input for UpdateConnector {
    const BODY: bool = true;

    fn read(mut parts: Parts<'_>) -> Read<Self> {
        let id = parts.path(|path| path.required("connector_id", integer_id));
        let body = parts.body();
        Ok(Self { id: ConnectorId(id?), body: body? })
    }
}

/// Replaces what a connector is.
///
/// Without `prune_freq` it gets the one of the deployment. When it begins stays as it is.
#[utoipa::path(
    patch, path = "/manage/admin/connector/{connector_id}", tag = "connectors",
    operation_id = "update_connector", request_body = ConnectorBody,
    params(("connector_id" = i32, Path, description = "The connector.", example = 3)),
    responses(
        (status = 200, description = "The connector.", body = ConnectorReply),
        (status = 400, description = "As when it is made; or it is not scheduled.",
            body = crate::error::ErrorBody),
        (status = 403, description = "The caller may not change all of its pairs, or not use a \
            credential whose secret would go elsewhere.", body = crate::error::ErrorBody),
        (status = 404, description = "There is none, or none of its pairs is the caller's to see.",
            body = crate::error::ErrorBody),
        (status = 409, description = "Others keep changing it.", body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn update_connector(
    caller: Caller,
    engine: Data<Engine>,
    Valid(UpdateConnector { id, body }): Valid<UpdateConnector>,
) -> Result<HttpResponse, ApiError> {
    let connector = engine.update_connector(&caller.0, id, body.into()).await?;
    Ok(HttpResponse::Ok().json(ConnectorReply::from(connector)))
}

/// Removes a connector with its pairs, as long as they hold no documents.
#[utoipa::path(
    delete, path = "/manage/admin/connector/{connector_id}", tag = "connectors",
    operation_id = "delete_connector",
    params(("connector_id" = i32, Path, description = "The connector.", example = 3)),
    responses(
        (status = 200, description = "There is no such connector any more.", body = StatusReply),
        (status = 400, description = "There are documents of it, or it is not scheduled.",
            body = crate::error::ErrorBody),
        (status = 403, description = "The caller may not change all of its pairs.",
            body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn delete_connector(
    caller: Caller,
    engine: Data<Engine>,
    Valid(input): Valid<OneConnector>,
) -> Result<HttpResponse, ApiError> {
    let removed = engine.delete_connector(&caller.0, input.id).await?;
    let message =
        if removed { "Connector deleted successfully" } else { "Connector was already deleted" };
    Ok(HttpResponse::Ok().json(StatusReply::done(message, input.id.0)))
}
