//! `DELETE /ingestion/{document_id}`

use actix_web::HttpResponse;
use actix_web::web::Data;
use trove_domain::id::DocumentId;
use trove_engine::Engine;

use crate::error::ApiError;
use crate::extract::{Caller, Input, Parts, Valid};
use crate::validation::{Read, text};

/// Which document.
pub(crate) struct RemoveIngested {
    document_id: DocumentId,
}

impl Input for RemoveIngested {
    const BODY: bool = false;

    fn read(parts: Parts<'_>) -> Read<Self> {
        let document_id = parts.path(|path| {
            let id = path.required("document_id", text)?;
            DocumentId::new(id).map_err(|why| path.reject_field("document_id", why))
        });
        Ok(Self { document_id: document_id? })
    }
}

/// Removes a document that was posted.
///
/// From the index and from every pair that holds it. The path carries the stored id, so that a `%`
/// in it is sent as `%25`.
#[utoipa::path(
    delete, path = "/ingestion/{document_id}", tag = "ingestion", operation_id = "remove_ingested",
    params(("document_id" = String, Path, description = "The stored id.", example = "handbook%2Fkeys")),
    responses(
        (status = 200, description = "It is removed. The body is `null`.", body = Option<()>),
        (status = 400, description = "It was not posted; its connector manages it.",
            body = crate::error::ErrorBody),
        (status = 403, description = "The caller may not edit every pair that holds it.",
            body = crate::error::ErrorBody),
        (status = 404, description = "There is no such document.", body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn remove_ingested(
    caller: Caller,
    engine: Data<Engine>,
    Valid(input): Valid<RemoveIngested>,
) -> Result<HttpResponse, ApiError> {
    engine.remove_ingested(&caller.0, &input.document_id).await?;
    Ok(HttpResponse::Ok().json(()))
}
