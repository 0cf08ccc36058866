//! `POST /password/change-password` and `POST /password/reset_password`

use actix_web::HttpResponse;
use actix_web::web::Data;
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use trove_engine::Engine;
use utoipa::ToSchema;

use super::password;
use crate::error::{ApiError, ErrorBody};
use crate::extract::{Caller, ValidJson};
use crate::routes::users::{UserByEmail, null};
use crate::validation::{Fields, Read, Record};

/// The password that is to be replaced, and the new one.
#[derive(Debug, ToSchema)]
#[schema(as = ChangePasswordRequest,
    example = json!({"old_password": "the old one", "new_password": "another one"}))]
pub(crate) struct ChangeBody {
    /// The present password.
    #[schema(value_type = String, format = Password)]
    old_password: SecretString,
    /// The new password.
    #[schema(value_type = String, format = Password)]
    new_password: SecretString,
}

impl Record for ChangeBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let old_password = fields.required("old_password", password);
        let new_password = fields.required("new_password", password);
        Ok(Self { old_password: old_password?, new_password: new_password? })
    }
}

/// Changes the caller's password. All other sessions of the caller end.
#[utoipa::path(
    post, path = "/password/change-password", tag = "users", operation_id = "change_password",
    request_body = ChangeBody,
    responses(
        (status = 200, description = "The password is changed.", body = ()),
        (status = 400, description = "The old password is wrong, or the new one is not accepted.",
            body = ErrorBody),
        (status = 429, description = "Too many attempts; `Retry-After` tells when to try again.",
            body = ErrorBody),
    )
)]
pub(crate) async fn change_password(
    caller: Caller,
    engine: Data<Engine>,
    ValidJson(body): ValidJson<ChangeBody>,
) -> Result<HttpResponse, ApiError> {
    engine.change_password(&caller.0, &body.old_password, &body.new_password).await?;
    Ok(null())
}

/// A password that nobody has chosen.
#[derive(Serialize, ToSchema)]
#[schema(as = UserByEmailPassword, example = json!({
    "user_id": "0190a1b2-c3d4-7000-8000-00000000000a", "new_password": "shown once"}))]
pub(crate) struct ResetReply<'a> {
    /// Key of the user, a UUID.
    user_id: String,
    /// The password: this is the only time that it is shown.
    #[schema(value_type = String)]
    new_password: &'a str,
}

/// Gives a user a new password, and ends all its sessions.
#[utoipa::path(
    post, path = "/password/reset_password", tag = "users", operation_id = "reset_user_password",
    request_body = UserByEmail,
    responses(
        (status = 200, description = "The new password.", body = ResetReply),
        (status = 404, description = "There is no such user.", body = ErrorBody),
    )
)]
pub(crate) async fn reset_user_password(
    engine: Data<Engine>,
    ValidJson(body): ValidJson<UserByEmail>,
) -> Result<HttpResponse, ApiError> {
    let (user, password) = engine.reset_password(body.address()).await?;
    let reply = ResetReply { user_id: user.id.to_string(), new_password: password.expose_secret() };
    Ok(HttpResponse::Ok().json(reply))
}
