//! `POST /auth/register`

use actix_web::HttpResponse;
use actix_web::web::Data;
use secrecy::SecretString;
use trove_domain::email::EmailAddress;
use trove_engine::Engine;
use trove_engine::accounts::SignInError;
use utoipa::ToSchema;

use super::{AccountReply, coded, email, password, weak_password};
use crate::error::{ApiError, ErrorBody};
use crate::extract::ValidJson;
use crate::source::Source;
use crate::validation::{Fields, Read, Record};

/// Who registers. What else is sent, a role above all, is ignored.
#[derive(Debug, ToSchema)]
#[schema(as = UserCreate,
    example = json!({"email": "reader@example.com", "password": "a long one"}))]
pub(crate) struct RegisterBody {
    /// The address.
    #[schema(value_type = String)]
    email: EmailAddress,
    /// The password.
    #[schema(value_type = String, format = Password)]
    password: SecretString,
}

impl Record for RegisterBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let email = fields.required("email", email);
        let password = fields.required("password", password);
        Ok(Self { email: email?, password: password? })
    }
}

/// Makes an account.
///
/// The first one is an administrator's, where there is none. As long as somebody is invited, only
/// invited addresses are accepted.
#[utoipa::path(
    post, path = "/auth/register", tag = "users", operation_id = "register",
    request_body = RegisterBody,
    responses(
        (status = 201, description = "The account.", body = AccountReply),
        (status = 400, description = "`REGISTER_USER_ALREADY_EXISTS`; \
            `REGISTER_INVALID_PASSWORD` with the reason; or the domain is not accepted.",
            body = ErrorBody),
        (status = 402, description = "All seats are taken.", body = ErrorBody),
        (status = 403, description = "The address is not invited, nobody can register, or a page \
            of another origin asks.", body = ErrorBody),
        (status = 429, description = "Too many attempts; `Retry-After` tells when to try again.",
            body = ErrorBody),
    )
)]
pub(crate) async fn register(
    engine: Data<Engine>,
    source: Source,
    ValidJson(body): ValidJson<RegisterBody>,
) -> Result<HttpResponse, ApiError> {
    let user = engine.register(body.email, &body.password, &source.0).await;
    let user = user.map_err(|error| match error {
        SignInError::Taken => coded("REGISTER_USER_ALREADY_EXISTS"),
        error => weak_password(error, "REGISTER_INVALID_PASSWORD"),
    })?;
    Ok(HttpResponse::Created().json(AccountReply::from(user)))
}
