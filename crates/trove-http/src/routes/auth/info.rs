//! `GET /auth/type`: what user interfaces ask before anybody has signed in.

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::Serialize;
use trove_engine::Engine;
use utoipa::ToSchema;

use crate::error::ApiError;

/// How people sign in.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuthTypeResponse)]
#[expect(clippy::struct_excessive_bools, reason = "the record of the interface")]
pub(crate) struct AuthTypeReply {
    /// `basic`: with address and password.
    #[schema(value_type = String, example = "basic")]
    auth_type: &'static str,
    /// Whether people must prove their addresses.
    requires_verification: bool,
    /// Whether anybody may search without signing in.
    anonymous_user_enabled: bool,
    /// Fewest characters of a password.
    #[schema(example = 8)]
    password_min_length: usize,
    /// Most characters of a password.
    #[schema(example = 64)]
    password_max_length: usize,
    /// Whether a password needs an upper-case letter.
    password_require_uppercase: bool,
    /// Whether a password needs a lower-case letter.
    password_require_lowercase: bool,
    /// Whether a password needs a digit.
    password_require_digit: bool,
    /// Whether a password needs a character that is neither a letter nor a digit.
    password_require_special_char: bool,
    /// Whether people sign in with passwords.
    password_auth_enabled: bool,
    /// Whether anybody has registered.
    has_users: bool,
    /// Whether people sign in through another service.
    oauth_enabled: bool,
}

/// How people sign in.
#[utoipa::path(
    get, path = "/auth/type", tag = "users", operation_id = "auth_type",
    responses((status = 200, description = "How people sign in.", body = AuthTypeReply))
)]
pub(crate) async fn auth_type(engine: Data<Engine>) -> Result<HttpResponse, ApiError> {
    let has_users = engine.has_registered_users().await?;
    let anonymous_user_enabled = engine.workspace_settings().await?.anonymous_access;
    let policy = engine.config().accounts.password;
    Ok(HttpResponse::Ok().json(AuthTypeReply {
        auth_type: "basic",
        requires_verification: false,
        anonymous_user_enabled,
        password_min_length: policy.min_chars,
        password_max_length: policy.max_chars,
        password_require_uppercase: policy.uppercase,
        password_require_lowercase: policy.lowercase,
        password_require_digit: policy.digit,
        password_require_special_char: policy.special,
        password_auth_enabled: true,
        has_users,
        oauth_enabled: false,
    }))
}
