//! `GET /ingestion`

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::Serialize;
use trove_domain::port::DocumentSummary;
use trove_engine::Engine;
use utoipa::ToSchema;

use crate::error::ApiError;
use crate::extract::Caller;
use crate::stream;

/// A document in a list.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DocMinimalInfo, example = json!({"document_id": "handbook%2Fkeys",
    "semantic_id": "Key rotation", "link": "https://wiki.example.com/keys"}))]
pub(crate) struct DocumentReply {
    /// Its stored id.
    document_id: String,
    /// Name to display.
    semantic_id: String,
    /// Where a reader finds it.
    link: Option<String>,
}

impl From<DocumentSummary> for DocumentReply {
    fn from(summary: DocumentSummary) -> Self {
        Self {
            document_id: summary.id.into_string(),
            semantic_id: summary.semantic_identifier,
            link: summary.link,
        }
    }
}

/// The documents that were posted to pairs that the caller may see, by rising id.
#[utoipa::path(
    get, path = "/ingestion", tag = "ingestion", operation_id = "list_ingested",
    responses((status = 200, description = "The documents.", body = Vec<DocumentReply>))
)]
pub(crate) async fn list_ingested(
    caller: Caller,
    engine: Data<Engine>,
) -> Result<HttpResponse, ApiError> {
    let fetch = move |after| {
        let (engine, caller) = (engine.clone(), caller.clone());
        async move { engine.list_ingested(&caller.0, Option::as_ref(&after), stream::PAGE_ITEMS).await }
    };
    stream::array(fetch, DocumentReply::from).await
}
