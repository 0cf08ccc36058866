//! `GET /manage/document-set`, `GET /manage/document-set-public`

use std::collections::BTreeSet;

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::Serialize;
use trove_domain::id::DocumentSetId;
use trove_domain::port::Reach;
use trove_engine::Engine;
use utoipa::ToSchema;

use super::record::DocumentSetReply;
use crate::error::ApiError;
use crate::extract::{Caller, Input, Parts, Valid, ValidJson};
use crate::routes::schema::IDS_MAX;
use crate::stream;
use crate::validation::{Fields, Read, Record, boolean, integer_id, list_of_at_most};

/// Which sets.
pub(crate) struct ListSets {
    reach: Reach,
}

impl Input for ListSets {
    const BODY: bool = false;

    fn read(parts: Parts<'_>) -> Read<Self> {
        let editable = parts.query(|query| query.or("get_editable", false, boolean))?;
        Ok(Self { reach: if editable { Reach::Editable } else { Reach::Visible } })
    }
}

/// The document sets that the caller may see.
///
/// By rising id. A set that is being deleted is listed until the index does not name it any more.
#[utoipa::path(
    get, path = "/manage/document-set", tag = "document sets", operation_id = "list_document_sets",
    params(("get_editable" = Option<bool>, Query,
        description = "Only those that the caller may change.")),
    responses((status = 200, description = "The sets.", body = Vec<DocumentSetReply>))
)]
pub(crate) async fn list_document_sets(
    caller: Caller,
    engine: Data<Engine>,
    Valid(input): Valid<ListSets>,
) -> Result<HttpResponse, ApiError> {
    let fetch = move |after| {
        let (engine, caller) = (engine.clone(), caller.clone());
        async move { engine.list_document_sets(&caller.0, input.reach, after, stream::PAGE_ITEMS).await }
    };
    stream::array(fetch, DocumentSetReply::from).await
}

/// Sets to ask about.
#[derive(Debug, ToSchema)]
#[schema(as = CheckDocSetPublicRequest, example = json!({"document_set_ids": [3]}))]
pub(crate) struct PublicBody {
    /// The sets.
    #[schema(value_type = Vec<i32>, max_items = 1000)]
    document_set_ids: BTreeSet<DocumentSetId>,
}

impl Record for PublicBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let ids = fields.required("document_set_ids", list_of_at_most(IDS_MAX, integer_id))?;
        Ok(Self { document_set_ids: ids.into_iter().map(DocumentSetId).collect() })
    }
}

/// Whether everybody may read what is in some document sets.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CheckDocSetPublicResponse)]
pub(crate) struct PublicReply {
    /// True when the caller sees all of the sets and all of their pairs are public.
    is_public: bool,
}

/// Whether everybody may read what is in some document sets.
///
/// The sets are in the body, although this is a GET.
#[utoipa::path(
    get, path = "/manage/document-set-public", tag = "document sets", operation_id = "are_public",
    request_body = PublicBody,
    responses((status = 200, description = "The answer.", body = PublicReply))
)]
pub(crate) async fn are_public(
    caller: Caller,
    engine: Data<Engine>,
    ValidJson(body): ValidJson<PublicBody>,
) -> Result<HttpResponse, ApiError> {
    let is_public = engine.document_sets_are_public(&caller.0, &body.document_set_ids).await?;
    Ok(HttpResponse::Ok().json(PublicReply { is_public }))
}
