//! `GET` and `POST /manage/admin/doc-boosts`, `POST /manage/admin/doc-hidden`,
//! `GET /manage/admin/cc-pair/{cc_pair_id}/get-docs-sync-status`

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::Serialize;
use trove_domain::id::{CcPairId, DocumentId};
use trove_domain::port::{DocumentFlag, FlaggedDocument, SyncState};
use trove_engine::Engine;
use utoipa::ToSchema;

use crate::error::ApiError;
use crate::extract::{Caller, Input, Parts, Valid, ValidJson};
use crate::routes::schema::zulu;
use crate::stream;
use crate::validation::{
    Field, Fields, Read, Record, boolean, integer_between, integer_id, text_between,
};

/// Most documents of a list.
const LIMIT_MAX: i64 = 1000;

/// Which documents to list.
pub(crate) struct ListBoosts {
    ascending: bool,
    limit: u32,
}

impl Input for ListBoosts {
    const BODY: bool = false;

    fn read(parts: Parts<'_>) -> Read<Self> {
        parts.query(|query| {
            let ascending = query.or("ascending", false, boolean);
            let limit = query.required("limit", integer_between(1, LIMIT_MAX));
            // Cannot fail after the bounds; saturate rather than panic.
            Ok(Self { ascending: ascending?, limit: u32::try_from(limit?).unwrap_or(u32::MAX) })
        })
    }
}

/// A document with its weight.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = BoostDoc)]
pub(crate) struct BoostReply {
    /// The document.
    document_id: String,
    /// Its name.
    semantic_id: String,
    /// Its first link.
    link: String,
    /// Its weight in rankings; 0 is neutral.
    boost: i32,
    /// Whether no search finds it.
    hidden: bool,
}

impl From<FlaggedDocument> for BoostReply {
    fn from(document: FlaggedDocument) -> Self {
        Self {
            document_id: document.id.into_string(),
            semantic_id: document.semantic_identifier,
            link: document.link.unwrap_or_default(),
            boost: document.boost,
            hidden: document.hidden,
        }
    }
}

/// The documents of the pairs that the caller may change, by weight.
#[utoipa::path(
    get, path = "/manage/admin/doc-boosts", tag = "connectors", operation_id = "list_doc_boosts",
    params(
        ("ascending" = Option<bool>, Query, description = "The lightest first. Default `false`: the \
            heaviest."),
        ("limit" = u32, Query, description = "Most documents, 1 to 1000."),
    ),
    responses((status = 200, description = "The documents.", body = Vec<BoostReply>))
)]
pub(crate) async fn list_doc_boosts(
    caller: Caller,
    engine: Data<Engine>,
    Valid(ListBoosts { ascending, limit }): Valid<ListBoosts>,
) -> Result<HttpResponse, ApiError> {
    let documents = engine.list_by_boost(&caller.0, ascending, limit).await?;
    let documents: Vec<BoostReply> = documents.into_iter().map(BoostReply::from).collect();
    Ok(HttpResponse::Ok().json(documents))
}

fn document_id(field: Field<'_>) -> Read<DocumentId> {
    let (json, place) = field.split();
    let text = text_between(1, DocumentId::MAX_BYTES)(place.same(json))?;
    DocumentId::new(text)
        .map_err(|error| place.reject("value_error", format!("Value error, {error}")))
}

/// How much a document weighs.
#[derive(Debug, ToSchema)]
#[schema(as = BoostUpdateRequest, example = json!({"document_id": "handbook", "boost": 2}))]
pub(crate) struct BoostBody {
    /// The document.
    #[schema(value_type = String)]
    document_id: DocumentId,
    /// Its weight in rankings; 0 is neutral.
    boost: i32,
}

impl Record for BoostBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let document_id = fields.required("document_id", document_id);
        let boost = fields.required("boost", integer_id);
        Ok(Self { document_id: document_id?, boost: boost? })
    }
}

/// Gives a document of a pair that the caller may change another weight.
#[utoipa::path(
    post, path = "/manage/admin/doc-boosts", tag = "connectors", operation_id = "set_doc_boost",
    request_body = BoostBody,
    responses(
        (status = 200, description = "`null`: it is decided; searches follow within seconds."),
        (status = 404, description = "There is no such document that is the caller's to change.",
            body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn set_doc_boost(
    caller: Caller,
    engine: Data<Engine>,
    ValidJson(body): ValidJson<BoostBody>,
) -> Result<HttpResponse, ApiError> {
    engine.flag_document(&caller.0, &body.document_id, DocumentFlag::Boost(body.boost)).await?;
    Ok(HttpResponse::Ok().json(()))
}

/// Whether a document is found.
#[derive(Debug, ToSchema)]
#[schema(as = HiddenUpdateRequest, example = json!({"document_id": "handbook", "hidden": true}))]
pub(crate) struct HiddenBody {
    /// The document.
    #[schema(value_type = String)]
    document_id: DocumentId,
    /// Whether no search finds it.
    hidden: bool,
}

impl Record for HiddenBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let document_id = fields.required("document_id", document_id);
        let hidden = fields.required("hidden", boolean);
        Ok(Self { document_id: document_id?, hidden: hidden? })
    }
}

/// Hides a document of a pair that the caller may change, or shows it again.
#[utoipa::path(
    post, path = "/manage/admin/doc-hidden", tag = "connectors", operation_id = "set_doc_hidden",
    request_body = HiddenBody,
    responses(
        (status = 200, description = "`null`: it is decided; searches follow within seconds."),
        (status = 404, description = "There is no such document that is the caller's to change.",
            body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn set_doc_hidden(
    caller: Caller,
    engine: Data<Engine>,
    ValidJson(body): ValidJson<HiddenBody>,
) -> Result<HttpResponse, ApiError> {
    engine.flag_document(&caller.0, &body.document_id, DocumentFlag::Hidden(body.hidden)).await?;
    Ok(HttpResponse::Ok().json(()))
}

/// Which pair.
pub(crate) struct ListSyncStates {
    pair: CcPairId,
}

impl Input for ListSyncStates {
    const BODY: bool = false;

    fn read(parts: Parts<'_>) -> Read<Self> {
        let pair = parts.path(|path| path.required("cc_pair_id", integer_id))?;
        Ok(Self { pair: CcPairId(pair) })
    }
}

/// Whether the index knows of a document what the registry knows.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DocumentSyncStatus)]
pub(crate) struct SyncStateReply {
    /// The document.
    doc_id: String,
    /// The change that the index knows of; null while there is one that it does not.
    last_synced: Option<String>,
    /// When anything of it last changed.
    last_modified: String,
}

impl From<SyncState> for SyncStateReply {
    fn from(state: SyncState) -> Self {
        let changed_at = zulu(state.changed_at);
        Self {
            doc_id: state.id.into_string(),
            last_synced: state.is_synced.then(|| changed_at.clone()),
            last_modified: changed_at,
        }
    }
}

/// Whether the index knows of the documents of a pair what the registry knows, by rising id.
#[utoipa::path(
    get, path = "/manage/admin/cc-pair/{cc_pair_id}/get-docs-sync-status", tag = "connectors",
    operation_id = "list_docs_sync_status",
    params(("cc_pair_id" = i32, Path, description = "The pair.", example = 3)),
    responses(
        (status = 200, description = "The documents.", body = Vec<SyncStateReply>),
        (status = 404, description = "There is no pair that the caller may see.",
            body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn list_docs_sync_status(
    caller: Caller,
    engine: Data<Engine>,
    Valid(input): Valid<ListSyncStates>,
) -> Result<HttpResponse, ApiError> {
    let fetch = move |after: Option<DocumentId>| {
        let (engine, caller) = (engine.clone(), caller.clone());
        async move {
            engine.list_sync_states(&caller.0, input.pair, after.as_ref(), stream::PAGE_ITEMS).await
        }
    };
    stream::array(fetch, SyncStateReply::from).await
}
