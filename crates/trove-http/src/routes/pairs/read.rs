//! `GET /manage/admin/connector/status`, `GET /manage/connector-status`,
//! `GET /manage/indexed-sources`, `GET /manage/admin/cc-pair/{cc_pair_id}`

use actix_web::HttpResponse;
use actix_web::web::Data;
use trove_domain::id::CcPairId;
use trove_domain::source::DocumentSource;
use trove_engine::Engine;

use super::record::{BasicPairReply, ConnectorStatusReply, PairReply, SourcesReply};
use crate::error::ApiError;
use crate::extract::{Caller, Input, Parts, Valid};
use crate::stream;
use crate::validation::{Read, integer_id};

/// The pairs that the caller may see, with what they are made of, by rising id.
#[utoipa::path(
    get, path = "/manage/admin/connector/status", tag = "connectors",
    operation_id = "list_connector_statuses",
    responses((status = 200, description = "The pairs.", body = Vec<ConnectorStatusReply>))
)]
pub(crate) async fn list_connector_statuses(
    caller: Caller,
    engine: Data<Engine>,
) -> Result<HttpResponse, ApiError> {
    let fetch = move |after| {
        let (engine, caller) = (engine.clone(), caller.clone());
        async move { engine.list_pair_views(&caller.0, after, stream::PAGE_ITEMS).await }
    };
    stream::array(fetch, ConnectorStatusReply::from).await
}

/// The pairs that the caller may see, in short, by rising id; but not those of posted documents.
#[utoipa::path(
    get, path = "/manage/connector-status", tag = "connectors",
    operation_id = "list_basic_connector_statuses",
    responses((status = 200, description = "The pairs.", body = Vec<BasicPairReply>))
)]
pub(crate) async fn list_basic_connector_statuses(
    caller: Caller,
    engine: Data<Engine>,
) -> Result<HttpResponse, ApiError> {
    let fetch = move |after| {
        let (engine, caller) = (engine.clone(), caller.clone());
        async move { engine.list_connected_pairs(&caller.0, after, stream::PAGE_ITEMS).await }
    };
    stream::array(fetch, BasicPairReply::from).await
}

/// The sources that connectors read, whether or not there is something of them yet.
#[utoipa::path(
    get, path = "/manage/indexed-sources", tag = "connectors", operation_id = "list_indexed_sources",
    responses((status = 200, description = "The sources.", body = SourcesReply))
)]
pub(crate) async fn list_indexed_sources(
    _caller: Caller,
    engine: Data<Engine>,
) -> Result<HttpResponse, ApiError> {
    let sources = engine.connected_sources().await?;
    let mut sources: Vec<&str> = sources.into_iter().map(DocumentSource::as_str).collect();
    sources.sort_unstable();
    Ok(HttpResponse::Ok().json(SourcesReply { sources }))
}

/// Which pair.
pub(crate) struct OnePair {
    pub(super) id: CcPairId,
}

impl Input for OnePair {
    const BODY: bool = false;

    fn read(parts: Parts<'_>) -> Read<Self> {
        let id = parts.path(|path| path.required("cc_pair_id", integer_id))?;
        Ok(Self { id: CcPairId(id) })
    }
}

/// A pair that the caller may see.
#[utoipa::path(
    get, path = "/manage/admin/cc-pair/{cc_pair_id}", tag = "connectors", operation_id = "get_pair",
    params(("cc_pair_id" = i32, Path, description = "The pair.", example = 3)),
    responses(
        (status = 200, description = "The pair.", body = PairReply),
        (status = 404, description = "There is none that the caller may see.",
            body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn get_pair(
    caller: Caller,
    engine: Data<Engine>,
    Valid(input): Valid<OnePair>,
) -> Result<HttpResponse, ApiError> {
    let view = engine.pair(&caller.0, input.id).await?;
    let progress = engine.pair_progress(&caller.0, input.id).await?;
    Ok(HttpResponse::Ok().json(PairReply::new(view, progress)))
}
