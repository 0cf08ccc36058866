//! `GET /version`

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::Serialize;
use utoipa::ToSchema;

use crate::Settings;
use crate::error::ApiError;

/// Which version runs.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct VersionReply<'a> {
    /// Its number.
    #[schema(example = "0.1.0", value_type = String)]
    backend_version: &'a str,
}

/// Which version runs.
#[utoipa::path(
    get, path = "/version", tag = "system", operation_id = "version",
    responses((status = 200, description = "The version.", body = VersionReply))
)]
pub(crate) async fn version(settings: Data<Settings>) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok().json(VersionReply { backend_version: &settings.config.version }))
}
