//! `POST /ingestion`

mod document;

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::Serialize;
use trove_domain::id::CcPairId;
use trove_engine::Engine;
use trove_engine::ingestion::IngestRequest;
use utoipa::ToSchema;

use self::document::DocumentBody;
use crate::error::ApiError;
use crate::extract::{Caller, ValidJson};
use crate::validation::{Fields, Read, Record, integer_id, record};

/// A document to index.
#[derive(Debug, ToSchema)]
#[schema(as = IngestionDocument, example = json!({"document": {"id": "handbook/keys",
    "semantic_identifier": "Key rotation", "metadata": {"team": "platform"},
    "sections": [{"text": "Keys are rotated every ninety days.",
        "link": "https://wiki.example.com/keys"}]}}))]
pub(crate) struct IngestBody {
    /// The document.
    document: DocumentBody,
    /// The connector-credential pair it belongs to, which decides who may read it. Without one it
    /// is the default pair, whose documents everybody may read. A document that other pairs hold
    /// stays with them, and is read by whoever may read the documents of any: posting a private
    /// document again without its pair makes it public.
    cc_pair_id: Option<i32>,
}

/// What became of the document.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = IngestionResult, example = json!({"document_id": "handbook%2Fkeys", "already_existed": false}))]
pub(crate) struct IngestReply {
    /// Its stored id.
    document_id: String,
    /// Whether nothing new was added: the document was known, or there was nothing in it to index.
    already_existed: bool,
}

/// Indexes a document.
///
/// It is found by searches as soon as this answers. A document with the same id is replaced. The
/// id is stored with spaces as `_` and everything but letters, digits and `-._~` percent-encoded.
/// Without one it is made from `semantic_identifier`.
#[utoipa::path(
    post, path = "/ingestion", tag = "ingestion", operation_id = "ingest", request_body = IngestBody,
    responses(
        (status = 200, description = "The document is indexed.", body = IngestReply),
        (status = 400, description = "The document is longer than the deployment accepts.",
            body = crate::error::ErrorBody),
        (status = 403, description = "The caller may not edit the pair, or another pair that holds \
            the document.", body = crate::error::ErrorBody),
        (status = 404, description = "There is no such pair.", body = crate::error::ErrorBody),
        (status = 409, description = "Others keep writing the same document.",
            body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn ingest(
    caller: Caller,
    engine: Data<Engine>,
    ValidJson(body): ValidJson<IngestBody>,
) -> Result<HttpResponse, ApiError> {
    let now = engine.backends().clock.now();
    let request = IngestRequest {
        document: body.document.into_document(now),
        cc_pair: body.cc_pair_id.map(CcPairId),
    };
    let ingested = engine.ingest(&caller.0, request).await?;
    Ok(HttpResponse::Ok().json(IngestReply {
        document_id: ingested.document_id.into_string(),
        already_existed: ingested.already_existed,
    }))
}

impl Record for IngestBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let document = fields.required("document", record);
        let cc_pair_id = fields.nullable("cc_pair_id", integer_id);
        Ok(Self { document: document?, cc_pair_id: cc_pair_id? })
    }
}
