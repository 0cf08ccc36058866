//! Invitations: `PUT /manage/admin/users` and the routes beside it.

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::Serialize;
use trove_engine::Engine;
use utoipa::ToSchema;

use super::UserByEmail;
use crate::Settings;
use crate::error::{ApiError, ErrorBody};
use crate::extract::{Input, Parts, Valid, ValidJson};
use crate::validation::{Fields, Read, Record, list_of_at_most, text};

/// Most addresses that one call invites.
const ADDRESSES_MAX: usize = 10_000;

/// Whom to invite.
#[derive(Debug, ToSchema)]
#[schema(as = BulkInviteBody, example = json!({"emails": ["reader@example.com"]}))]
pub(crate) struct InviteBody {
    /// Their addresses, at most 10,000.
    emails: Vec<String>,
}

impl Record for InviteBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        Ok(Self { emails: fields.required("emails", list_of_at_most(ADDRESSES_MAX, text))? })
    }
}

impl Input for InviteBody {
    const BODY: bool = true;

    fn read(mut parts: Parts<'_>) -> Read<Self> {
        parts.fields()
    }
}

/// Somebody who is invited.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = InvitedUserSnapshot, example = json!({"email": "reader@example.com"}))]
pub(crate) struct InvitedReply {
    /// The address.
    pub(super) email: String,
}

/// Invites all of these addresses, or nobody if one of them is not valid.
///
/// Answers how many are invited then, earlier invitations included. As long as somebody is invited,
/// only invited addresses can register.
#[utoipa::path(
    put, path = "/manage/admin/users", tag = "users", operation_id = "invite_users",
    request_body = InviteBody,
    responses(
        (status = 200, description = "How many are invited.", body = u64, example = json!(3)),
        (status = 400, description = "An address is not valid. Nobody was invited.",
            body = ErrorBody),
        (status = 402, description = "There are too few seats. Nobody was invited.",
            body = ErrorBody),
    )
)]
pub(crate) async fn invite_users(
    engine: Data<Engine>,
    Valid(body): Valid<InviteBody>,
) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok().json(engine.invite(&body.emails).await?))
}

/// Takes an invitation back, if there is one; answers how many are left.
#[utoipa::path(
    patch, path = "/manage/admin/remove-invited-user", tag = "users",
    operation_id = "remove_invited_user", request_body = UserByEmail,
    responses((status = 200, description = "How many are invited.", body = u64,
        example = json!(2)))
)]
pub(crate) async fn remove_invited_user(
    engine: Data<Engine>,
    ValidJson(body): ValidJson<UserByEmail>,
) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok().json(engine.withdraw_invitation(&body.user_email).await?))
}

/// Addresses that are invited and whose owners have not registered.
#[utoipa::path(
    get, path = "/manage/users/invited", tag = "users", operation_id = "list_invited_users",
    responses((status = 200, description = "The addresses.", body = Vec<InvitedReply>))
)]
pub(crate) async fn list_invited_users(engine: Data<Engine>) -> Result<HttpResponse, ApiError> {
    let invited = engine.open_invitations(None).await?.into_iter();
    let invited: Vec<InvitedReply> = invited.map(|email| InvitedReply { email }).collect();
    Ok(HttpResponse::Ok().json(invited))
}

/// Domains whose addresses can register; every domain when there are none.
#[utoipa::path(
    get, path = "/manage/admin/valid-domains", tag = "users", operation_id = "list_valid_domains",
    responses((status = 200, description = "The domains.", body = Vec<String>,
        example = json!(["example.com"])))
)]
pub(crate) async fn list_valid_domains(settings: Data<Settings>) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok().json(&settings.engine.config().accounts.allowed_domains))
}
