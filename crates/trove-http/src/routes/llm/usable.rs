//! `GET /llm/provider`, `GET /llm/persona/{persona_id}/providers`

use actix_web::HttpResponse;
use actix_web::web::Data;
use trove_domain::id::AgentId;
use trove_engine::Engine;

use super::records::DescriptorReply;
use crate::error::ApiError;
use crate::extract::{Caller, Input, Parts, Valid};
use crate::validation::{Read, integer_id};

/// The providers that the caller may use without an agent, by rising id.
///
/// The model of the configuration is the last one, where there is one: it has no id, and nobody can
/// change it here.
#[utoipa::path(
    get, path = "/llm/provider", tag = "language models", operation_id = "list_llm_providers",
    responses((status = 200, description = "The providers.", body = Vec<DescriptorReply>))
)]
pub(crate) async fn list_llm_providers(
    caller: Caller,
    engine: Data<Engine>,
) -> Result<HttpResponse, ApiError> {
    usable(&caller, &engine, None).await
}

/// Which agent.
pub(crate) struct OfPersona {
    persona: AgentId,
}

impl Input for OfPersona {
    const BODY: bool = false;

    fn read(parts: Parts<'_>) -> Read<Self> {
        let persona = parts.path(|path| path.required("persona_id", integer_id))?;
        Ok(Self { persona: AgentId(persona) })
    }
}

/// The providers that the caller may use with an agent, by rising id.
#[utoipa::path(
    get, path = "/llm/persona/{persona_id}/providers", tag = "language models",
    operation_id = "list_persona_llm_providers",
    params(("persona_id" = i32, Path, description = "The agent.", example = 0)),
    responses(
        (status = 200, description = "The providers.", body = Vec<DescriptorReply>),
        (status = 404, description = "There is no such agent for the caller.",
            body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn list_persona_llm_providers(
    caller: Caller,
    engine: Data<Engine>,
    Valid(input): Valid<OfPersona>,
) -> Result<HttpResponse, ApiError> {
    usable(&caller, &engine, Some(input.persona)).await
}

async fn usable(
    caller: &Caller,
    engine: &Engine,
    agent: Option<AgentId>,
) -> Result<HttpResponse, ApiError> {
    let providers = engine.usable_llm_providers(&caller.0, agent).await?;
    let mut replies: Vec<DescriptorReply> = providers.into_iter().map(Into::into).collect();
    let configured = engine.backends().language_model.as_ref().map(|model| model.info());
    // One that only quotes is nothing to choose, and a stored provider goes before its namesake.
    if let Some(info) = configured
        && info.follows_instructions
        && !replies.iter().any(|reply| reply.name() == info.provider)
    {
        let is_default = !replies.iter().any(DescriptorReply::is_default);
        replies.push(DescriptorReply::configured(&info.provider, &info.model, is_default));
    }
    Ok(HttpResponse::Ok().json(replies))
}
