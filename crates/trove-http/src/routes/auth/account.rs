//! `GET` and `PATCH /users/me`

use actix_web::HttpResponse;
use actix_web::web::Data;
use secrecy::SecretString;
use trove_domain::email::EmailAddress;
use trove_engine::Engine;
use trove_engine::accounts::SignInError;
use utoipa::ToSchema;

use super::{AccountReply, coded, email, password, weak_password};
use crate::error::{ApiError, ErrorBody, Refusal};
use crate::extract::{Caller, ValidJson};
use crate::validation::{Fields, Read, Record};

/// The caller's own account.
#[utoipa::path(
    get, path = "/users/me", tag = "users", operation_id = "own_account",
    responses((status = 200, description = "The account.", body = AccountReply))
)]
pub(crate) async fn own_account(
    caller: Caller,
    engine: Data<Engine>,
) -> Result<HttpResponse, ApiError> {
    let account = engine.own_account(&caller.0).await?;
    let (user, _) = account.ok_or(Refusal::Unauthenticated)?;
    Ok(HttpResponse::Ok().json(AccountReply::from(user)))
}

/// What to change of the own account; what is not sent stays.
#[derive(Debug, ToSchema)]
#[schema(as = UserUpdate, example = json!({"email": "reader@example.com"}))]
pub(crate) struct AccountBody {
    /// The new address, under the rules for registering.
    #[schema(value_type = Option<String>)]
    email: Option<EmailAddress>,
    /// The new password. Other sessions end.
    #[schema(value_type = Option<String>, format = Password)]
    password: Option<SecretString>,
}

impl Record for AccountBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let email = fields.nullable("email", email);
        let password = fields.nullable("password", password);
        Ok(Self { email: email?, password: password? })
    }
}

/// Changes the caller's own account.
#[utoipa::path(
    patch, path = "/users/me", tag = "users", operation_id = "update_own_account",
    request_body = AccountBody,
    responses(
        (status = 200, description = "The account.", body = AccountReply),
        (status = 400, description = "`UPDATE_USER_EMAIL_ALREADY_EXISTS`; \
            `UPDATE_USER_INVALID_PASSWORD` with the reason; or the domain is not accepted.",
            body = ErrorBody),
        (status = 403, description = "The address could not be registered.", body = ErrorBody),
    )
)]
pub(crate) async fn update_own_account(
    caller: Caller,
    engine: Data<Engine>,
    ValidJson(body): ValidJson<AccountBody>,
) -> Result<HttpResponse, ApiError> {
    let changed = engine.update_own_account(&caller.0, body.email, body.password.as_ref()).await;
    let user = changed.map_err(|error| match error {
        SignInError::Taken => coded("UPDATE_USER_EMAIL_ALREADY_EXISTS"),
        error => weak_password(error, "UPDATE_USER_INVALID_PASSWORD"),
    })?;
    Ok(HttpResponse::Ok().json(AccountReply::from(user)))
}
