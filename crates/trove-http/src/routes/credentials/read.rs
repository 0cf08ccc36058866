//! `GET /manage/admin/credential`, `GET /manage/admin/similar-credentials/{source_type}`,
//! `GET /manage/credential`, `GET /manage/credential/{credential_id}`

use actix_web::HttpResponse;
use actix_web::web::Data;
use trove_domain::id::CredentialId;
use trove_domain::port::Reach;
use trove_domain::source::DocumentSource;
use trove_engine::Engine;

use super::record::CredentialReply;
use crate::error::ApiError;
use crate::extract::{Caller, Input, Parts, Valid};
use crate::routes::schema::{SourceValue, source};
use crate::stream;
use crate::validation::{Read, boolean, integer_id};

async fn list(
    caller: Caller,
    engine: Data<Engine>,
    reach: Reach,
    source: Option<DocumentSource>,
) -> Result<HttpResponse, ApiError> {
    let fetch = move |after| {
        let (engine, caller) = (engine.clone(), caller.clone());
        async move { engine.list_credentials(&caller.0, reach, source, after, stream::PAGE_ITEMS).await }
    };
    stream::array(fetch, CredentialReply::from).await
}

/// The credentials that the caller may use, by rising id.
#[utoipa::path(
    get, path = "/manage/admin/credential", tag = "credentials", operation_id = "list_credentials",
    responses((status = 200, description = "The credentials.", body = Vec<CredentialReply>))
)]
pub(crate) async fn list_credentials(
    caller: Caller,
    engine: Data<Engine>,
) -> Result<HttpResponse, ApiError> {
    list(caller, engine, Reach::Visible, None).await
}

/// The credentials that the caller may change, by rising id.
#[utoipa::path(
    get, path = "/manage/credential", tag = "credentials", operation_id = "list_own_credentials",
    responses((status = 200, description = "The credentials.", body = Vec<CredentialReply>))
)]
pub(crate) async fn list_own_credentials(
    caller: Caller,
    engine: Data<Engine>,
) -> Result<HttpResponse, ApiError> {
    list(caller, engine, Reach::Editable, None).await
}

/// Of which source, and which of them.
pub(crate) struct ListSimilar {
    source: DocumentSource,
    reach: Reach,
}

impl Input for ListSimilar {
    const BODY: bool = false;

    fn read(parts: Parts<'_>) -> Read<Self> {
        let source = parts.path(|path| path.required("source_type", source));
        let editable = parts.query(|query| query.or("get_editable", false, boolean));
        let (source, editable) = (source?, editable?);
        Ok(Self { source, reach: if editable { Reach::Editable } else { Reach::Visible } })
    }
}

/// The credentials for a source that the caller may use, by rising id.
#[utoipa::path(
    get, path = "/manage/admin/similar-credentials/{source_type}", tag = "credentials",
    operation_id = "list_similar_credentials",
    params(
        ("source_type" = SourceValue, Path, description = "The source.", example = "slack"),
        ("get_editable" = Option<bool>, Query,
            description = "Only those that the caller may change."),
    ),
    responses((status = 200, description = "The credentials.", body = Vec<CredentialReply>))
)]
pub(crate) async fn list_similar_credentials(
    caller: Caller,
    engine: Data<Engine>,
    Valid(input): Valid<ListSimilar>,
) -> Result<HttpResponse, ApiError> {
    list(caller, engine, input.reach, Some(input.source)).await
}

/// Which credential.
pub(crate) struct OneCredential {
    pub(super) id: CredentialId,
}

impl Input for OneCredential {
    const BODY: bool = false;

    fn read(parts: Parts<'_>) -> Read<Self> {
        let id = parts.path(|path| path.required("credential_id", integer_id))?;
        Ok(Self { id: CredentialId(id) })
    }
}

/// A credential that the caller may use.
#[utoipa::path(
    get, path = "/manage/credential/{credential_id}", tag = "credentials",
    operation_id = "get_credential",
    params(("credential_id" = i32, Path, description = "The credential.", example = 3)),
    responses(
        (status = 200, description = "The credential.", body = CredentialReply),
        (status = 401, description = "There is none that the caller may use.",
            body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn get_credential(
    caller: Caller,
    engine: Data<Engine>,
    Valid(input): Valid<OneCredential>,
) -> Result<HttpResponse, ApiError> {
    let view = engine.credential(&caller.0, input.id).await?;
    Ok(HttpResponse::Ok().json(CredentialReply::from(view)))
}
