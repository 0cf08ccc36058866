//! `GET /health`

use actix_web::HttpResponse;
use serde::Serialize;
use utoipa::ToSchema;

use crate::error::ApiError;

/// How an operation went.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StatusResponse {
    /// Whether it went well.
    success: bool,
    /// More about it.
    #[schema(example = "ok")]
    message: Option<String>,
    /// Nothing here.
    #[schema(value_type = Option<Object>)]
    data: Option<()>,
}

/// Whether the process runs.
///
/// Depends on nothing but the process itself; see `/health/ready` for the rest.
#[utoipa::path(
    get, path = "/health", tag = "system", operation_id = "health",
    responses((status = 200, description = "The process runs.", body = StatusResponse,
        example = json!({"success": true, "message": "ok", "data": null})))
)]
pub(crate) async fn health() -> Result<HttpResponse, ApiError> {
    let reply = StatusResponse { success: true, message: Some("ok".to_owned()), data: None };
    Ok(HttpResponse::Ok().json(reply))
}
