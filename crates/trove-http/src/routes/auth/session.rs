//! `POST /auth/login`, `/auth/logout` and `/auth/refresh`.

use actix_web::HttpResponse;
use actix_web::web::Data;
use secrecy::SecretString;
use trove_engine::accounts::SignInError;
use utoipa::ToSchema;

use super::{coded, password};
use crate::Settings;
use crate::cookie;
use crate::error::{ApiError, ErrorBody, Refusal};
use crate::extract::{Caller, ValidForm};
use crate::source::Source;
use crate::validation::{Fields, Read, Record, text};

/// Who signs in.
#[derive(Debug, ToSchema)]
#[schema(as = LoginForm)]
pub(crate) struct LoginForm {
    /// The address, in any letter case.
    #[schema(example = "reader@example.com")]
    username: String,
    /// The password.
    #[schema(value_type = String, format = Password)]
    password: SecretString,
}

impl Record for LoginForm {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let username = fields.required("username", text);
        let password = fields.required("password", password);
        Ok(Self { username: username?, password: password? })
    }
}

/// Begins a session, which a cookie carries.
#[utoipa::path(
    post, path = "/auth/login", tag = "users", operation_id = "login",
    request_body(content = LoginForm, content_type = "application/x-www-form-urlencoded"),
    responses(
        (status = 204, description = "The session has begun; `Set-Cookie` carries it."),
        (status = 400, description = "`LOGIN_BAD_CREDENTIALS`: address or password is wrong, or \
            the user is kept out.", body = ErrorBody),
        (status = 403, description = "A page of another origin asks, or the account has no \
            password.", body = ErrorBody),
        (status = 429, description = "Too many attempts; `Retry-After` tells when to try again.",
            body = ErrorBody),
    )
)]
pub(crate) async fn login(
    settings: Data<Settings>,
    source: Source,
    ValidForm(form): ValidForm<LoginForm>,
) -> Result<HttpResponse, ApiError> {
    let engine = &settings.engine;
    let signed_in = engine.sign_in(&form.username, &form.password, &source.0).await;
    let signed_in = signed_in.map_err(|error| match error {
        SignInError::BadCredentials => coded("LOGIN_BAD_CREDENTIALS"),
        error => error.into(),
    })?;
    let now = engine.backends().clock.now();
    let cookie = cookie::begin(&signed_in, now, &settings.config);
    Ok(HttpResponse::NoContent().cookie(cookie).finish())
}

/// Ends the session of the cookie.
#[utoipa::path(
    post, path = "/auth/logout", tag = "users", operation_id = "logout",
    responses((status = 204, description = "The session has ended."))
)]
pub(crate) async fn logout(
    caller: Caller,
    settings: Data<Settings>,
) -> Result<HttpResponse, ApiError> {
    if !settings.engine.sign_out(&caller.0).await? {
        return Err(Refusal::Unauthenticated.into());
    }
    Ok(HttpResponse::NoContent().cookie(cookie::end(&settings.config)).finish())
}

/// Puts a new session in the place of the one of the cookie.
#[utoipa::path(
    post, path = "/auth/refresh", tag = "users", operation_id = "refresh_session",
    responses((status = 204, description = "`Set-Cookie` carries the new session."))
)]
pub(crate) async fn refresh_session(
    caller: Caller,
    settings: Data<Settings>,
) -> Result<HttpResponse, ApiError> {
    let engine = &settings.engine;
    let renewed = engine.renew_session(&caller.0).await?.ok_or(Refusal::Unauthenticated)?;
    let now = engine.backends().clock.now();
    let cookie = cookie::begin(&renewed, now, &settings.config);
    Ok(HttpResponse::NoContent().cookie(cookie).finish())
}
