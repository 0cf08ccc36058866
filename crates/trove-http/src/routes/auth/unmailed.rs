//! What takes a mail: forgotten passwords and proofs that an address is one's own. This service
//! sends none, so nothing that these routes could be sent is a token of ours.

use actix_web::HttpResponse;
use trove_domain::email::EmailAddress;
use utoipa::ToSchema;

use super::{AccountReply, coded, email, password};
use crate::error::{ApiError, ErrorBody};
use crate::extract::ValidJson;
use crate::validation::{Fields, Read, Record, text};

/// Whose address.
#[derive(Debug, ToSchema)]
#[schema(as = EmailRequest, example = json!({"email": "reader@example.com"}))]
pub(crate) struct EmailBody {
    /// The address.
    #[expect(dead_code, reason = "checked when it is read; nobody learns whether it is known")]
    #[schema(value_type = String)]
    email: EmailAddress,
}

impl Record for EmailBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        Ok(Self { email: fields.required("email", email)? })
    }
}

/// What a mail said, and a new password.
#[derive(Debug, ToSchema)]
#[schema(as = ResetPasswordRequest)]
pub(crate) struct ResetBody {
    /// What the mail said.
    #[expect(dead_code, reason = "there are no such tokens")]
    token: String,
}

impl Record for ResetBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let token = fields.required("token", text);
        let password = fields.required("password", password);
        password?;
        Ok(Self { token: token? })
    }
}

/// What a mail said.
#[derive(Debug, ToSchema)]
#[schema(as = VerifyRequest)]
pub(crate) struct VerifyBody {
    /// What the mail said.
    #[expect(dead_code, reason = "there are no such tokens")]
    token: String,
}

impl Record for VerifyBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        Ok(Self { token: fields.required("token", text)? })
    }
}

/// Takes note that somebody forgot a password.
///
/// The answer is the same for every address. No mail is sent: administrators reset passwords.
#[utoipa::path(
    post, path = "/auth/forgot-password", tag = "users", operation_id = "forgot_password",
    request_body = EmailBody,
    responses((status = 202, description = "Taken note of.", body = ()))
)]
pub(crate) async fn forgot_password(
    ValidJson(_body): ValidJson<EmailBody>,
) -> Result<HttpResponse, ApiError> {
    // Anybody can send this: not for the usual log.
    tracing::debug!(
        "somebody forgot a password; no mail is sent, `trove user reset-password` makes a new one"
    );
    Ok(HttpResponse::Accepted().json(()))
}

/// Refuses every token, because none was sent.
#[utoipa::path(
    post, path = "/auth/reset-password", tag = "users", operation_id = "reset_password",
    request_body = ResetBody,
    responses((status = 400, description = "`RESET_PASSWORD_BAD_TOKEN`.", body = ErrorBody))
)]
pub(crate) async fn reset_password(
    ValidJson(_body): ValidJson<ResetBody>,
) -> Result<HttpResponse, ApiError> {
    Err(coded("RESET_PASSWORD_BAD_TOKEN"))
}

/// Takes note that somebody wants to prove an address. Nobody has to.
#[utoipa::path(
    post, path = "/auth/request-verify-token", tag = "users",
    operation_id = "request_verify_token", request_body = EmailBody,
    responses((status = 202, description = "Taken note of.", body = ()))
)]
pub(crate) async fn request_verify_token(
    ValidJson(_body): ValidJson<EmailBody>,
) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Accepted().json(()))
}

/// Refuses every token, because none was sent.
#[utoipa::path(
    post, path = "/auth/verify", tag = "users", operation_id = "verify", request_body = VerifyBody,
    responses(
        (status = 200, description = "Never.", body = AccountReply),
        (status = 400, description = "`VERIFY_USER_BAD_TOKEN`.", body = ErrorBody),
    )
)]
pub(crate) async fn verify(
    ValidJson(_body): ValidJson<VerifyBody>,
) -> Result<HttpResponse, ApiError> {
    Err(coded("VERIFY_USER_BAD_TOKEN"))
}
