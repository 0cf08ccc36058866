//! `PATCH /persona/{persona_id}/share`, `PATCH /persona/{persona_id}/public`

use std::collections::BTreeSet;

use actix_web::HttpResponse;
use actix_web::web::Data;
use trove_domain::id::{GroupId, UserId};
use trove_domain::port::AgentSharing;
use trove_engine::Engine;
use utoipa::ToSchema;

use super::PersonaChange;
use super::body::{group_ids, user_ids};
use crate::error::ApiError;
use crate::extract::{Caller, Valid};
use crate::validation::{Fields, Read, Record, boolean};

/// Who sees an agent. What is null or absent stays.
#[derive(Debug, ToSchema)]
#[schema(as = PersonaShareRequest, example = json!({"group_ids": [2]}))]
pub(crate) struct ShareBody {
    /// Users it is shared with.
    #[schema(value_type = Option<Vec<String>>, max_items = 1000)]
    user_ids: Option<BTreeSet<UserId>>,
    /// Groups it is shared with.
    #[schema(value_type = Option<Vec<i32>>, max_items = 1000)]
    group_ids: Option<BTreeSet<GroupId>>,
    /// Whether everybody sees it.
    is_public: Option<bool>,
}

impl Record for ShareBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let user_ids = fields.nullable("user_ids", user_ids);
        let group_ids = fields.nullable("group_ids", group_ids);
        let is_public = fields.nullable("is_public", boolean);
        Ok(Self { user_ids: user_ids?, group_ids: group_ids?, is_public: is_public? })
    }
}

/// Whether everybody sees an agent.
#[derive(Debug, ToSchema)]
#[schema(as = IsPublicRequest, example = json!({"is_public": true}))]
pub(crate) struct PublicBody {
    /// Whether everybody sees it.
    is_public: bool,
}

impl Record for PublicBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        Ok(Self { is_public: fields.required("is_public", boolean)? })
    }
}

/// Shares an agent.
#[utoipa::path(
    patch, path = "/persona/{persona_id}/share", tag = "agents", operation_id = "share_persona",
    params(("persona_id" = i32, Path, description = "The agent.", example = 7)),
    request_body = ShareBody,
    responses(
        (status = 200, description = "It is shared. The body is `null`.", body = Option<()>),
        (status = 400, description = "A user or group does not exist for the caller, the agent is \
            built in, or a featured one would be private.", body = crate::error::ErrorBody),
        (status = 403, description = "The caller may not change it.",
            body = crate::error::ErrorBody),
        (status = 404, description = "There is no such agent.", body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn share_persona(
    caller: Caller,
    engine: Data<Engine>,
    Valid(input): Valid<PersonaChange<ShareBody>>,
) -> Result<HttpResponse, ApiError> {
    let ShareBody { user_ids, group_ids, is_public } = input.body;
    let sharing = AgentSharing { public: is_public, users: user_ids, groups: group_ids };
    engine.share_agent(&caller.0, input.id, sharing).await?;
    Ok(HttpResponse::Ok().json(()))
}

/// Makes an agent public or private.
#[utoipa::path(
    patch, path = "/persona/{persona_id}/public", tag = "agents", operation_id = "publish_persona",
    params(("persona_id" = i32, Path, description = "The agent.", example = 7)),
    request_body = PublicBody,
    responses(
        (status = 200, description = "It is done. The body is `null`.", body = Option<()>),
        (status = 400, description = "It is built in, or a featured one would be private.",
            body = crate::error::ErrorBody),
        (status = 403, description = "The caller may not change it.",
            body = crate::error::ErrorBody),
        (status = 404, description = "There is no such agent.", body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn publish_persona(
    caller: Caller,
    engine: Data<Engine>,
    Valid(input): Valid<PersonaChange<PublicBody>>,
) -> Result<HttpResponse, ApiError> {
    let sharing = AgentSharing { public: Some(input.body.is_public), ..AgentSharing::default() };
    engine.share_agent(&caller.0, input.id, sharing).await?;
    Ok(HttpResponse::Ok().json(()))
}
