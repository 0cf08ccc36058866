//! Switches of agents: `PATCH /admin/persona/{persona_id}/…`, and their places in lists.

use std::collections::BTreeMap;

use actix_web::HttpResponse;
use actix_web::web::Data;
use trove_domain::id::AgentId;
use trove_engine::Engine;
use utoipa::ToSchema;

use super::{PersonaChange, PersonaPath};
use crate::error::ApiError;
use crate::extract::{Caller, Valid, ValidJson};
use crate::routes::schema::IDS_MAX;
use crate::validation::{Field, Fields, Json, Read, Record, boolean};

/// A switch of an agent.
#[derive(Debug, ToSchema)]
#[schema(as = IsVisibleRequest, example = json!({"is_visible": true}))]
pub(crate) struct VisibleBody {
    /// Whether lists show it.
    is_visible: bool,
}

impl Record for VisibleBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        Ok(Self { is_visible: fields.required("is_visible", boolean)? })
    }
}

/// A switch of an agent.
#[derive(Debug, ToSchema)]
#[schema(as = IsListedRequest, example = json!({"is_listed": true}))]
pub(crate) struct ListedBody {
    /// Whether lists show it.
    is_listed: bool,
}

impl Record for ListedBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        Ok(Self { is_listed: fields.required("is_listed", boolean)? })
    }
}

/// A switch of an agent.
#[derive(Debug, ToSchema)]
#[schema(as = IsDefaultRequest, example = json!({"is_default_persona": true}))]
pub(crate) struct DefaultBody {
    /// Whether user interfaces show it first.
    is_default_persona: bool,
}

impl Record for DefaultBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        Ok(Self { is_default_persona: fields.required("is_default_persona", boolean)? })
    }
}

/// A switch of an agent.
#[derive(Debug, ToSchema)]
#[schema(as = IsFeaturedRequest, example = json!({"is_featured": true}))]
pub(crate) struct FeaturedBody {
    /// Whether user interfaces show it first.
    is_featured: bool,
}

impl Record for FeaturedBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        Ok(Self { is_featured: fields.required("is_featured", boolean)? })
    }
}

/// Lists an agent or leaves it out of lists.
///
/// The same as `/listed`, under an older name.
#[utoipa::path(
    patch, path = "/admin/persona/{persona_id}/visible", tag = "agents", operation_id = "set_visible",
    params(("persona_id" = i32, Path, description = "The agent.", example = 7)),
    request_body = VisibleBody,
    responses(
        (status = 200, description = "It is done. The body is `null`.", body = Option<()>),
        (status = 400, description = "It is built in, and lists always show it.",
            body = crate::error::ErrorBody),
        (status = 403, description = "The caller may not change it.",
            body = crate::error::ErrorBody),
        (status = 404, description = "There is no such agent.", body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn set_visible(
    caller: Caller,
    engine: Data<Engine>,
    Valid(input): Valid<PersonaChange<VisibleBody>>,
) -> Result<HttpResponse, ApiError> {
    engine.set_agent_listed(&caller.0, input.id, input.body.is_visible).await?;
    Ok(HttpResponse::Ok().json(()))
}

/// Lists an agent or leaves it out of lists.
///
/// For those who see it only because it is public; it can be used as before.
#[utoipa::path(
    patch, path = "/admin/persona/{persona_id}/listed", tag = "agents", operation_id = "set_listed",
    params(("persona_id" = i32, Path, description = "The agent.", example = 7)),
    request_body = ListedBody,
    responses(
        (status = 200, description = "It is done. The body is `null`.", body = Option<()>),
        (status = 400, description = "It is built in, and lists always show it.",
            body = crate::error::ErrorBody),
        (status = 403, description = "The caller may not change it.",
            body = crate::error::ErrorBody),
        (status = 404, description = "There is no such agent.", body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn set_listed(
    caller: Caller,
    engine: Data<Engine>,
    Valid(input): Valid<PersonaChange<ListedBody>>,
) -> Result<HttpResponse, ApiError> {
    engine.set_agent_listed(&caller.0, input.id, input.body.is_listed).await?;
    Ok(HttpResponse::Ok().json(()))
}

/// Features an agent or ends that.
///
/// The same as `/featured`, under an older name.
#[utoipa::path(
    patch, path = "/admin/persona/{persona_id}/default", tag = "agents", operation_id = "set_default",
    params(("persona_id" = i32, Path, description = "The agent.", example = 7)),
    request_body = DefaultBody,
    responses(
        (status = 200, description = "It is done. The body is `null`.", body = Option<()>),
        (status = 403, description = "The caller may not change it.",
            body = crate::error::ErrorBody),
        (status = 404, description = "There is no such agent.", body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn set_default(
    caller: Caller,
    engine: Data<Engine>,
    Valid(input): Valid<PersonaChange<DefaultBody>>,
) -> Result<HttpResponse, ApiError> {
    engine.set_agent_featured(&caller.0, input.id, input.body.is_default_persona).await?;
    Ok(HttpResponse::Ok().json(()))
}

/// Features an agent or ends that.
///
/// A featured agent becomes public.
#[utoipa::path(
    patch, path = "/admin/persona/{persona_id}/featured", tag = "agents", operation_id = "set_featured",
    params(("persona_id" = i32, Path, description = "The agent.", example = 7)),
    request_body = FeaturedBody,
    responses(
        (status = 200, description = "It is done. The body is `null`.", body = Option<()>),
        (status = 403, description = "The caller may not change it.",
            body = crate::error::ErrorBody),
        (status = 404, description = "There is no such agent.", body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn set_featured(
    caller: Caller,
    engine: Data<Engine>,
    Valid(input): Valid<PersonaChange<FeaturedBody>>,
) -> Result<HttpResponse, ApiError> {
    engine.set_agent_featured(&caller.0, input.id, input.body.is_featured).await?;
    Ok(HttpResponse::Ok().json(()))
}

/// Brings a deleted agent back.
#[utoipa::path(
    patch, path = "/admin/persona/{persona_id}/undelete", tag = "agents",
    operation_id = "restore_persona",
    params(("persona_id" = i32, Path, description = "The agent.", example = 7)),
    responses(
        (status = 200, description = "It is back. The body is `null`.", body = Option<()>),
        (status = 400, description = "Another agent has taken its name.",
            body = crate::error::ErrorBody),
        (status = 404, description = "There is no such agent.", body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn restore_persona(
    caller: Caller,
    engine: Data<Engine>,
    Valid(input): Valid<PersonaPath>,
) -> Result<HttpResponse, ApiError> {
    engine.restore_agent(&caller.0, input.id).await?;
    Ok(HttpResponse::Ok().json(()))
}

/// Places of agents in lists.
#[derive(Debug, ToSchema)]
#[schema(as = DisplayPriorityRequest, example = json!({"display_priority_map": {"7": 1, "8": 2}}))]
pub(crate) struct PrioritiesBody {
    /// Place by agent, lowest first; null for none.
    #[schema(value_type = BTreeMap<String, Option<i32>>)]
    display_priority_map: BTreeMap<AgentId, Option<i32>>,
}

impl Record for PrioritiesBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        Ok(Self { display_priority_map: fields.required("display_priority_map", priorities)? })
    }
}

fn priorities(field: Field<'_>) -> Read<BTreeMap<AgentId, Option<i32>>> {
    let (json, place) = field.split();
    let Json::Object(entries) = json else {
        return Err(place.reject("dict_type", "Input should be a valid dictionary"));
    };
    if entries.len() > IDS_MAX {
        let msg = format!("Dictionary should have at most {IDS_MAX} items after validation");
        return Err(place.reject("too_long", msg));
    }
    let mut priorities = BTreeMap::new();
    for (key, value) in entries {
        let Ok(id) = key.parse() else {
            let msg = "Keys should be valid integers: ids of agents";
            return Err(place.reject("int_parsing", msg));
        };
        let priority = match value {
            Json::Null => None,
            Json::Integer(priority) => {
                let priority = i32::try_from(priority);
                let msg = "A priority should fit 32 bits";
                Some(priority.map_err(|_| place.reject("int_parsing_size", msg))?)
            }
            _ => return Err(place.reject("int_type", "A priority should be a valid integer")),
        };
        priorities.insert(AgentId(id), priority);
    }
    Ok(priorities)
}

/// Decides where agents stand in lists.
#[utoipa::path(
    patch, path = "/admin/agents/display-priorities", tag = "agents",
    operation_id = "set_display_priorities", request_body = PrioritiesBody,
    responses(
        (status = 200, description = "It is done. The body is `null`.", body = Option<()>),
        (status = 404, description = "One of the agents does not exist; nothing is changed.",
            body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn set_display_priorities(
    _caller: Caller,
    engine: Data<Engine>,
    ValidJson(body): ValidJson<PrioritiesBody>,
) -> Result<HttpResponse, ApiError> {
    engine.set_display_priorities(&body.display_priority_map).await?;
    Ok(HttpResponse::Ok().json(()))
}
