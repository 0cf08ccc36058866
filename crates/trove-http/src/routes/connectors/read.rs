//! `GET /manage/admin/connector`, `GET /manage/connector`, `GET /manage/connector/{connector_id}`

use actix_web::HttpResponse;
use actix_web::web::Data;
use trove_domain::id::{ConnectorId, CredentialId};
use trove_engine::Engine;

use super::record::ConnectorReply;
use crate::error::ApiError;
use crate::extract::{Caller, Input, Parts, Valid};
use crate::stream;
use crate::validation::{Read, integer_id};

/// Whose connectors.
pub(crate) struct ListConnectors {
    credential: Option<CredentialId>,
}

impl Input for ListConnectors {
    const BODY: bool = false;

    fn read(parts: Parts<'_>) -> Read<Self> {
        let credential = parts.query(|query| query.nullable("credential", integer_id))?;
        Ok(Self { credential: credential.map(CredentialId) })
    }
}

async fn all(
    engine: Data<Engine>,
    credential: Option<CredentialId>,
) -> Result<HttpResponse, ApiError> {
    let fetch = move |after| {
        let engine = engine.clone();
        async move { engine.list_connectors(credential, after, stream::PAGE_ITEMS).await }
    };
    stream::array(fetch, ConnectorReply::from).await
}

/// The connectors, by rising id; those of a credential, where one is named.
#[utoipa::path(
    get, path = "/manage/admin/connector", tag = "connectors", operation_id = "list_connectors",
    params(("credential" = Option<i32>, Query, description = "Only what is read with it.")),
    responses((status = 200, description = "The connectors.", body = Vec<ConnectorReply>))
)]
pub(crate) async fn list_connectors(
    _caller: Caller,
    engine: Data<Engine>,
    Valid(input): Valid<ListConnectors>,
) -> Result<HttpResponse, ApiError> {
    all(engine, input.credential).await
}

/// The connectors, by rising id.
#[utoipa::path(
    get, path = "/manage/connector", tag = "connectors", operation_id = "list_all_connectors",
    responses((status = 200, description = "The connectors.", body = Vec<ConnectorReply>))
)]
pub(crate) async fn list_all_connectors(
    _caller: Caller,
    engine: Data<Engine>,
) -> Result<HttpResponse, ApiError> {
    all(engine, None).await
}

/// Which connector.
pub(crate) struct OneConnector {
    pub(super) id: ConnectorId,
}

impl Input for OneConnector {
    const BODY: bool = false;

    fn read(parts: Parts<'_>) -> Read<Self> {
        let id = parts.path(|path| path.required("connector_id", integer_id))?;
        Ok(Self { id: ConnectorId(id) })
    }
}

/// A connector.
#[utoipa::path(
    get, path = "/manage/connector/{connector_id}", tag = "connectors",
    operation_id = "get_connector",
    params(("connector_id" = i32, Path, description = "The connector.", example = 3)),
    responses(
        (status = 200, description = "The connector.", body = ConnectorReply),
        (status = 404, description = "There is none.", body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn get_connector(
    _caller: Caller,
    engine: Data<Engine>,
    Valid(input): Valid<OneConnector>,
) -> Result<HttpResponse, ApiError> {
    let connector = engine.connector(input.id).await?;
    Ok(HttpResponse::Ok().json(ConnectorReply::from(connector)))
}
