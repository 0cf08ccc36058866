//! `POST /admin/persona/upload-image`

use actix_web::HttpResponse;

use crate::error::{ApiError, Refusal};
use crate::extract::Caller;

/// Takes a picture of an agent: not in this version.
#[utoipa::path(
    post, path = "/admin/persona/upload-image", tag = "agents", operation_id = "upload_image",
    responses(
        (status = 501, description = "This version keeps no pictures.",
            body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn upload_image(_caller: Caller) -> Result<HttpResponse, ApiError> {
    let detail = "file: this version keeps no pictures of agents; use `icon_name` instead";
    Err(Refusal::NotImplemented { detail }.into())
}
