//! `GET /manage/admin/connector/failed-indexing-status`

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::Serialize;
use trove_engine::Engine;
use trove_engine::administration::FailingPair;
use utoipa::ToSchema;

use crate::error::ApiError;
use crate::extract::{Caller, Input, Parts, Valid};
use crate::validation::{Read, boolean};

/// Whose pairs.
pub(crate) struct ListFailing {
    editable_only: bool,
}

impl Input for ListFailing {
    const BODY: bool = false;

    fn read(parts: Parts<'_>) -> Read<Self> {
        parts.query(|query| {
            let editable = query.or("get_editable", false, boolean);
            // There is one index, so that nothing of a second one has failed.
            let second = query.or("secondary_index", false, boolean);
            second?;
            Ok(Self { editable_only: editable? })
        })
    }
}

/// A pair whose runs fail.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FailedConnectorIndexingStatus)]
pub(crate) struct FailingReply {
    /// The pair.
    cc_pair_id: i32,
    /// Its name.
    name: Option<String>,
    /// What went wrong in the latest run that failed.
    error_msg: Option<String>,
    /// Whether it is neither run nor running.
    is_deletable: bool,
    /// Its connector.
    connector_id: i32,
    /// Its credential.
    credential_id: i32,
}

impl From<FailingPair> for FailingReply {
    fn from(failing: FailingPair) -> Self {
        Self {
            cc_pair_id: failing.pair.0,
            name: Some(failing.name),
            error_msg: failing.error,
            is_deletable: failing.is_deletable,
            connector_id: failing.connector.0,
            credential_id: failing.credential.0,
        }
    }
}

/// The pairs that the caller may see whose latest run to fail is later than the latest to succeed.
#[utoipa::path(
    get, path = "/manage/admin/connector/failed-indexing-status", tag = "connectors",
    operation_id = "list_failed_indexing_statuses",
    params(
        ("get_editable" = Option<bool>, Query,
            description = "Only pairs that the caller may change."),
        ("secondary_index" = Option<bool>, Query, description = "There is none: ignored."),
    ),
    responses((status = 200, description = "The pairs, by rising id.", body = Vec<FailingReply>))
)]
pub(crate) async fn list_failed_indexing_statuses(
    caller: Caller,
    engine: Data<Engine>,
    Valid(input): Valid<ListFailing>,
) -> Result<HttpResponse, ApiError> {
    let failing = engine.failing_pairs(&caller.0, input.editable_only).await?;
    let failing: Vec<FailingReply> = failing.into_iter().map(FailingReply::from).collect();
    Ok(HttpResponse::Ok().json(failing))
}
