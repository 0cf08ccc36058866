//! `GET /admin/llm/provider`, `DELETE /admin/llm/provider/{provider_id}`

use actix_web::HttpResponse;
use actix_web::web::Data;
use trove_domain::id::LlmProviderId;
use trove_engine::Engine;

use super::records::ViewReply;
use crate::error::ApiError;
use crate::extract::{Caller, Input, Parts, Valid};
use crate::validation::{Read, boolean, integer_id};

/// All providers, by rising id. Secrets are masked.
#[utoipa::path(
    get, path = "/admin/llm/provider", tag = "language models",
    operation_id = "list_all_llm_providers",
    responses((status = 200, description = "The providers.", body = Vec<ViewReply>))
)]
pub(crate) async fn list_all_llm_providers(
    _caller: Caller,
    engine: Data<Engine>,
) -> Result<HttpResponse, ApiError> {
    let views = engine.llm_providers().await?;
    Ok(HttpResponse::Ok().json(views.into_iter().map(ViewReply::from).collect::<Vec<_>>()))
}

/// Which provider, and whether to remove it in any case.
pub(crate) struct RemoveProvider {
    id: LlmProviderId,
    force: bool,
}

impl Input for RemoveProvider {
    const BODY: bool = false;

    fn read(parts: Parts<'_>) -> Read<Self> {
        let id = parts.path(|path| path.required("provider_id", integer_id));
        let force = parts.query(|query| query.or("force", false, boolean));
        Ok(Self { id: LlmProviderId(id?), force: force? })
    }
}

/// Removes a provider, with its secrets.
#[utoipa::path(
    delete, path = "/admin/llm/provider/{provider_id}", tag = "language models",
    operation_id = "remove_llm_provider",
    params(
        ("provider_id" = i32, Path, description = "The provider.", example = 1),
        ("force" = Option<bool>, Query, description = "Remove also the default provider."),
    ),
    responses(
        (status = 200, description = "It is removed. The body is `null`.", body = Option<()>),
        (status = 400, description = "It is the default, and `force` is not set.",
            body = crate::error::ErrorBody),
        (status = 404, description = "There is no such provider.", body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn remove_llm_provider(
    _caller: Caller,
    engine: Data<Engine>,
    Valid(input): Valid<RemoveProvider>,
) -> Result<HttpResponse, ApiError> {
    engine.remove_llm_provider(input.id, input.force).await?;
    Ok(HttpResponse::Ok().json(()))
}
