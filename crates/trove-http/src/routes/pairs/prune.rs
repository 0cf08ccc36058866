//! `POST /manage/admin/cc-pair/{cc_pair_id}/prune`,
//! `GET /manage/admin/cc-pair/{cc_pair_id}/last_pruned`

use actix_web::HttpResponse;
use actix_web::web::Data;
use trove_engine::Engine;

use super::read::OnePair;
use crate::error::ApiError;
use crate::extract::{Caller, Valid};
use crate::routes::schema::zulu;
use crate::routes::status::StatusReply;

/// Asks for a pruning: documents that the source no longer has are taken from the pair.
///
/// It begins in the background when the pair is active and no run of it is under way. As long as
/// the source does not answer, nothing is taken.
#[utoipa::path(
    post, path = "/manage/admin/cc-pair/{cc_pair_id}/prune", tag = "connectors",
    operation_id = "prune_pair",
    params(("cc_pair_id" = i32, Path, description = "The pair.", example = 3)),
    responses(
        (status = 200, description = "It will be.", body = StatusReply),
        (status = 400, description = "The pair is being deleted, or no schedule runs it.",
            body = crate::error::ErrorBody),
        (status = 403, description = "The caller may not change it.",
            body = crate::error::ErrorBody),
        (status = 404, description = "There is none that the caller may see.",
            body = crate::error::ErrorBody),
        (status = 409, description = "It is being pruned.", body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn prune_pair(
    caller: Caller,
    engine: Data<Engine>,
    Valid(OnePair { id }): Valid<OnePair>,
) -> Result<HttpResponse, ApiError> {
    engine.prune_pair(&caller.0, id).await?;
    Ok(HttpResponse::Ok().json(StatusReply::done("Successfully created the pruning task.", id.0)))
}

/// When a pair was last pruned; null if it never was.
#[utoipa::path(
    get, path = "/manage/admin/cc-pair/{cc_pair_id}/last_pruned", tag = "connectors",
    operation_id = "get_last_pruned",
    params(("cc_pair_id" = i32, Path, description = "The pair.", example = 3)),
    responses(
        (status = 200, description = "The time.", body = Option<String>),
        (status = 404, description = "There is none that the caller may see.",
            body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn get_last_pruned(
    caller: Caller,
    engine: Data<Engine>,
    Valid(OnePair { id }): Valid<OnePair>,
) -> Result<HttpResponse, ApiError> {
    let last = engine.last_pruned(&caller.0, id).await?;
    Ok(HttpResponse::Ok().json(last.map(zulu)))
}
