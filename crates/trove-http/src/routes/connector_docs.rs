//! `GET /ingestion/connector-docs/{cc_pair_id}`

use actix_web::HttpResponse;
use actix_web::web::Data;
use trove_domain::id::CcPairId;
use trove_engine::Engine;

use super::ingested::DocumentReply;
use crate::error::ApiError;
use crate::extract::{Caller, Input, Parts, Valid};
use crate::stream;
use crate::validation::{Read, integer_id};

/// Which pair.
pub(crate) struct ConnectorDocs {
    cc_pair_id: i32,
}

impl Input for ConnectorDocs {
    const BODY: bool = false;

    fn read(parts: Parts<'_>) -> Read<Self> {
        let cc_pair_id = parts.path(|path| path.required("cc_pair_id", integer_id));
        Ok(Self { cc_pair_id: cc_pair_id? })
    }
}

/// The documents of a connector-credential pair, by rising id.
#[utoipa::path(
    get, path = "/ingestion/connector-docs/{cc_pair_id}", tag = "ingestion",
    operation_id = "list_connector_docs",
    params(("cc_pair_id" = i32, Path, description = "The pair.", example = 1)),
    responses(
        (status = 200, description = "The documents.", body = Vec<DocumentReply>),
        (status = 404, description = "There is no such pair that the caller may see.",
            body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn list_connector_docs(
    caller: Caller,
    engine: Data<Engine>,
    Valid(input): Valid<ConnectorDocs>,
) -> Result<HttpResponse, ApiError> {
    let pair = CcPairId(input.cc_pair_id);
    let fetch = move |after| {
        let (engine, caller) = (engine.clone(), caller.clone());
        async move {
            let after = Option::as_ref(&after);
            engine.list_pair_documents(&caller.0, pair, after, stream::PAGE_ITEMS).await
        }
    };
    stream::array(fetch, DocumentReply::from).await
}
