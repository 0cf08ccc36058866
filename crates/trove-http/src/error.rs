//! What a client is told when a request fails, and the one place that decides its status.

use std::error::Error;

use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderValue};
use actix_web::{HttpResponse, ResponseError};
use serde::Serialize;
use trove_domain::error::{Classify, ErrorKind};
use utoipa::ToSchema;

use crate::validation::{FieldError, HttpValidationError, VALUES_MAX};

/// Body of every error but a 422.
#[derive(Debug, Serialize, ToSchema)]
pub struct ErrorBody {
    /// What went wrong, for programs.
    #[schema(example = "NOT_FOUND", value_type = String)]
    pub error_code: &'static str,
    /// What went wrong, for people; not to be matched on.
    #[schema(example = "Not Found")]
    pub detail: String,
    /// The same as `detail`, where clients of the reference expect it under this name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub message: Option<String>,
}

/// Why a request has no other answer.
#[derive(Debug)]
pub enum ApiError {
    /// The engine refused or failed.
    Failed(Box<dyn Classify>),
    /// The request is malformed.
    Invalid(Vec<FieldError>),
    /// The transport refused.
    Refused(Refusal),
    /// A handler panicked.
    Panicked,
}

/// What the transport refuses on its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No credential, or one that is not valid: the two are not told apart.
    Unauthenticated,
    /// The caller's role is not enough.
    Forbidden {
        /// What it takes.
        needed: &'static str,
    },
    /// The deployment has no vector database.
    NoVectorDb,
    /// A part of the interface that this version does not have.
    NotImplemented {
        /// The field that asked for it, and why not.
        detail: &'static str,
    },
    /// A page of another origin sends a request with the user's cookie.
    ForeignOrigin,
    /// What clients know by a code in place of a text.
    Coded {
        /// The code.
        code: &'static str,
        /// More about it, for people.
        reason: Option<String>,
    },
    /// No such path.
    NoSuchPath,
    /// The path exists, the method does not.
    MethodNotAllowed {
        /// The methods that do.
        allow: String,
    },
    /// The body is larger than the limit.
    PayloadTooLarge,
    /// An upload is larger than its limit.
    UploadTooLarge {
        /// The setting that says so.
        setting: &'static str,
        /// What it says.
        limit: u64,
    },
    /// A form has more parts than the limit.
    TooManyParts {
        /// The part that there are too many of.
        part: &'static str,
        /// How many there may be.
        limit: usize,
    },
    /// A part of a form that is no file is larger than the limit.
    PartTooLarge {
        /// The part.
        part: &'static str,
        /// The limit in bytes.
        limit: usize,
    },
    /// The body holds more JSON values than the limit.
    TooManyValues,
    /// The request asks for another protocol.
    Upgrade,
    /// The body is compressed.
    CompressedBody,
    /// The client did not send its body in time.
    BodyTimeout,
    /// The connection broke, or its framing is wrong.
    BrokenBody,
    /// The work did not finish in time.
    DeadlineExceeded,
}

impl<E: Classify> From<E> for ApiError {
    fn from(error: E) -> Self {
        Self::Failed(Box::new(error))
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// Status and code of each kind of failure. The only such table.
fn status_of(kind: ErrorKind) -> (StatusCode, &'static str) {
    match kind {
        ErrorKind::Invalid => (StatusCode::BAD_REQUEST, "INVALID_INPUT"),
        ErrorKind::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "PAYLOAD_TOO_LARGE"),
        ErrorKind::Unauthenticated => (StatusCode::UNAUTHORIZED, "UNAUTHENTICATED"),
        ErrorKind::Forbidden => (StatusCode::FORBIDDEN, "INSUFFICIENT_PERMISSIONS"),
        ErrorKind::NotFound => (StatusCode::NOT_FOUND, "NOT_FOUND"),
        ErrorKind::Conflict => (StatusCode::CONFLICT, "CONFLICT"),
        ErrorKind::RateLimited => (StatusCode::TOO_MANY_REQUESTS, "RATE_LIMITED"),
        ErrorKind::SeatLimit => (StatusCode::PAYMENT_REQUIRED, "SEAT_LIMIT_EXCEEDED"),
        ErrorKind::Unsupported => (StatusCode::NOT_IMPLEMENTED, "NOT_IMPLEMENTED"),
        ErrorKind::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, "SERVICE_UNAVAILABLE"),
        ErrorKind::StorageFull => (StatusCode::INSUFFICIENT_STORAGE, "INSUFFICIENT_STORAGE"),
        ErrorKind::DeadlineExceeded => (StatusCode::GATEWAY_TIMEOUT, "GATEWAY_TIMEOUT"),
        ErrorKind::Internal => (StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL_ERROR"),
    }
}

impl Refusal {
    fn kind(&self) -> Option<ErrorKind> {
        match self {
            Self::Unauthenticated => Some(ErrorKind::Unauthenticated),
            Self::Forbidden { .. } | Self::ForeignOrigin => Some(ErrorKind::Forbidden),
            Self::NoVectorDb | Self::NotImplemented { .. } => Some(ErrorKind::Unsupported),
            Self::Coded { .. } | Self::TooManyParts { .. } => Some(ErrorKind::Invalid),
            Self::NoSuchPath => Some(ErrorKind::NotFound),
            Self::DeadlineExceeded => Some(ErrorKind::DeadlineExceeded),
            Self::MethodNotAllowed { .. }
            | Self::PayloadTooLarge
            | Self::UploadTooLarge { .. }
            | Self::PartTooLarge { .. }
            | Self::TooManyValues
            | Self::Upgrade
            | Self::CompressedBody
            | Self::BodyTimeout
            | Self::BrokenBody => None,
        }
    }

    /// Refusals that only a transport knows have a status of their own.
    fn status(&self) -> (StatusCode, &'static str) {
        match (self.kind(), self) {
            (_, Self::ForeignOrigin) => (StatusCode::FORBIDDEN, "CSRF_FAILURE"),
            (Some(kind), _) => status_of(kind),
            (None, Self::MethodNotAllowed { .. }) => {
                (StatusCode::METHOD_NOT_ALLOWED, "METHOD_NOT_ALLOWED")
            }
            (
                None,
                Self::PayloadTooLarge
                | Self::UploadTooLarge { .. }
                | Self::PartTooLarge { .. }
                | Self::TooManyValues,
            ) => (StatusCode::PAYLOAD_TOO_LARGE, "PAYLOAD_TOO_LARGE"),
            (None, Self::CompressedBody) => {
                (StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_MEDIA_TYPE")
            }
            (None, Self::BodyTimeout) => (StatusCode::REQUEST_TIMEOUT, "REQUEST_TIMEOUT"),
            (None, _) => (StatusCode::BAD_REQUEST, "BAD_REQUEST"),
        }
    }

    fn detail(&self) -> String {
        match self {
            Self::Unauthenticated => "a valid API key or session is required".to_owned(),
            Self::Forbidden { needed } => format!("this needs {needed}"),
            Self::ForeignOrigin => {
                "a page of another origin may not do this with your session; the public address of \
                 this service is the setting http.public_url"
                    .to_owned()
            }
            Self::Coded { code, .. } => (*code).to_owned(),
            Self::NoVectorDb => {
                "this needs a vector database, and DISABLE_VECTOR_DB is set".to_owned()
            }
            Self::NotImplemented { detail } => (*detail).to_owned(),
            Self::NoSuchPath => "Not Found".to_owned(),
            Self::MethodNotAllowed { .. } => "Method Not Allowed".to_owned(),
            Self::PayloadTooLarge => "the body is too large".to_owned(),
            Self::UploadTooLarge { setting, limit } => {
                format!("more than {limit} bytes are not accepted at once ({setting})")
            }
            Self::TooManyParts { part, limit } => format!(
                "{part}: a form has at most {limit} parts; put more files than that into one ZIP \
                 archive, or into several requests"
            ),
            Self::PartTooLarge { part, limit } => format!("{part}: more than {limit} bytes"),
            Self::TooManyValues => format!("the body holds more than {VALUES_MAX} JSON values"),
            Self::Upgrade => {
                "this server speaks no other protocol; send the request without `Upgrade`"
                    .to_owned()
            }
            Self::CompressedBody => "compressed bodies are not accepted".to_owned(),
            Self::BodyTimeout => "the body did not arrive in time".to_owned(),
            Self::BrokenBody => "the body could not be read".to_owned(),
            Self::DeadlineExceeded => "the request took too long".to_owned(),
        }
    }
}

impl ApiError {
    /// The answer. What must not be shown is logged here, once.
    pub(crate) fn respond(&self, request_id: &str) -> HttpResponse {
        match self {
            Self::Invalid(detail) => {
                HttpResponse::UnprocessableEntity().json(HttpValidationError { detail })
            }
            Self::Refused(Refusal::Coded { code, reason }) => coded(code, reason.as_deref()),
            Self::Refused(refusal) => {
                let (status, code) = refusal.status();
                let mut response = body(status, code, refusal.detail(), false);
                let headers = response.headers_mut();
                match refusal {
                    Refusal::Unauthenticated => {
                        headers
                            .insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
                    }
                    Refusal::MethodNotAllowed { allow } => {
                        if let Ok(allow) = HeaderValue::from_str(allow) {
                            headers.insert(header::ALLOW, allow);
                        }
                    }
                    Refusal::CompressedBody => {
                        let identity = HeaderValue::from_static("identity");
                        headers.insert(header::ACCEPT_ENCODING, identity);
                    }
                    _ => {}
                }
                response
            }
            Self::Failed(error) => failed(error.as_ref(), request_id),
            Self::Panicked => {
                tracing::error!(request.id = request_id, "a handler panicked");
                let (status, code) = status_of(ErrorKind::Internal);
                body(status, code, hidden("the server failed", request_id), false)
            }
        }
    }
}

/// What the engine's errors look like from outside.
fn failed(error: &dyn Classify, request_id: &str) -> HttpResponse {
    let kind = error.kind();
    let (status, code) = status_of(kind);
    let code = error.code().unwrap_or(code);
    let (detail, retry) = match kind {
        ErrorKind::Unavailable => ("the server cannot do this at present; try again", true),
        ErrorKind::StorageFull => ("the server has no room left to store this", false),
        ErrorKind::DeadlineExceeded => ("the request took too long", false),
        ErrorKind::Internal => ("the server failed", false),
        ErrorKind::Invalid
        | ErrorKind::TooLarge
        | ErrorKind::Unauthenticated
        | ErrorKind::Forbidden
        | ErrorKind::NotFound
        | ErrorKind::Conflict
        | ErrorKind::RateLimited
        | ErrorKind::SeatLimit
        | ErrorKind::Unsupported => {
            // The reference answers `message` where a value is refused.
            let mut response = body(status, code, error.to_string(), kind == ErrorKind::Invalid);
            if let Some(after) = error.retry_after() {
                // Rounded up: who comes back then is let in.
                let seconds = after.as_secs() + u64::from(after.subsec_nanos() > 0);
                response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
            }
            return response;
        }
    };
    tracing::error!(
        request.id = request_id,
        error = chain(error),
        status = status.as_u16(),
        "a request failed"
    );
    let mut response = body(status, code, hidden(detail, request_id), false);
    if retry {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

/// A code where clients expect one: in `detail`, with a reason beside it if there is one.
fn coded(code: &'static str, reason: Option<&str>) -> HttpResponse {
    let detail = match reason {
        Some(reason) => serde_json::json!({ "code": code, "reason": reason }),
        None => code.into(),
    };
    HttpResponse::BadRequest().json(serde_json::json!({ "error_code": code, "detail": detail }))
}

fn hidden(detail: &str, request_id: &str) -> String {
    format!("{detail} (request {request_id})")
}

fn body(
    status: StatusCode,
    error_code: &'static str,
    detail: String,
    message: bool,
) -> HttpResponse {
    let message = message.then(|| detail.clone());
    HttpResponse::build(status).json(ErrorBody { error_code, detail, message })
}

/// An error with everything that caused it.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

impl std::fmt::Display for ApiError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Failed(error) => error.fmt(f),
            Self::Invalid(_) => f.write_str("the request is malformed"),
            Self::Refused(refusal) => f.write_str(&refusal.detail()),
            Self::Panicked => f.write_str("a handler panicked"),
        }
    }
}

/// Lets handlers and extractors fail with it; the endpoint then answers with the request's id.
impl ResponseError for ApiError {
    fn error_response(&self) -> HttpResponse {
        self.respond("-")
    }
}

#[cfg(test)]
mod tests {
    use actix_web::body::to_bytes;
    use actix_web::http::StatusCode;
    use trove_domain::error::{ErrorKind, StoreError};
    use trove_domain::id::CcPairId;
    use trove_engine::ingestion::{IngestError, IngestionAccessError};

    use super::{ApiError, Refusal, status_of};

    async fn answer(error: impl Into<ApiError>) -> (StatusCode, String, Vec<String>) {
        let response = error.into().respond("r-1");
        let headers = response.headers().keys().map(ToString::to_string).collect();
        let status = response.status();
        let bytes = to_bytes(response.into_body()).await.unwrap();
        (status, String::from_utf8(bytes.to_vec()).unwrap(), headers)
    }

    #[test]
    fn every_kind_has_its_status() {
        let table = [
            (ErrorKind::Invalid, 400, "INVALID_INPUT"),
            (ErrorKind::TooLarge, 413, "PAYLOAD_TOO_LARGE"),
            (ErrorKind::Unauthenticated, 401, "UNAUTHENTICATED"),
            (ErrorKind::Forbidden, 403, "INSUFFICIENT_PERMISSIONS"),
            (ErrorKind::NotFound, 404, "NOT_FOUND"),
            (ErrorKind::Conflict, 409, "CONFLICT"),
            (ErrorKind::RateLimited, 429, "RATE_LIMITED"),
            (ErrorKind::SeatLimit, 402, "SEAT_LIMIT_EXCEEDED"),
            (ErrorKind::Unsupported, 501, "NOT_IMPLEMENTED"),
            (ErrorKind::Unavailable, 503, "SERVICE_UNAVAILABLE"),
            (ErrorKind::StorageFull, 507, "INSUFFICIENT_STORAGE"),
            (ErrorKind::DeadlineExceeded, 504, "GATEWAY_TIMEOUT"),
            (ErrorKind::Internal, 500, "INTERNAL_ERROR"),
        ];
        for (kind, status, code) in table {
            let (actual, actual_code) = status_of(kind);
            assert_eq!((actual.as_u16(), actual_code), (status, code));
        }
    }

    #[actix_web::test]
    async fn a_fault_of_ours_is_not_shown() {
        let source = "connection to /var/lib/trove refused".into();
        let (status, body, headers) =
            answer(StoreError::Unavailable { operation: "user.get", source }).await;
        assert_eq!(status, 503);
        assert!(headers.contains(&"retry-after".to_owned()));
        assert_eq!(
            body,
            r#"{"error_code":"SERVICE_UNAVAILABLE","detail":"the server cannot do this at present; try again (request r-1)"}"#
        );
        let source = "secret".into();
        let (status, body, _) = answer(StoreError::Backend { operation: "user.get", source }).await;
        assert_eq!(status, 500);
        assert!(!body.contains("secret") && !body.contains("user.get"));
    }

    #[actix_web::test]
    async fn a_refusal_of_the_engine_is_shown() {
        let (status, body, _) = answer(IngestionAccessError::NoSuchPair(CcPairId(7))).await;
        assert_eq!(status, 404);
        assert_eq!(
            body,
            r#"{"error_code":"NOT_FOUND","detail":"there is no connector-credential pair 7"}"#
        );
        let (status, body, _) = answer(IngestError::TooLong { chars: 2, max: 1 }).await;
        assert_eq!(status, 400);
        assert!(body.contains(r#""message":"the document has 2 characters"#), "{body}");
    }

    #[actix_web::test]
    async fn refusals_of_the_transport_carry_their_headers() {
        let (status, _, headers) = answer(Refusal::Unauthenticated).await;
        assert_eq!(status, 401);
        assert!(headers.contains(&"www-authenticate".to_owned()));
        let allow = "GET, POST".to_owned();
        let (status, body, headers) = answer(Refusal::MethodNotAllowed { allow }).await;
        assert_eq!(status, 405);
        assert!(headers.contains(&"allow".to_owned()));
        assert_eq!(body, r#"{"error_code":"METHOD_NOT_ALLOWED","detail":"Method Not Allowed"}"#);
    }

    #[actix_web::test]
    async fn a_panic_is_an_internal_error() {
        let (status, body, _) = answer(ApiError::Panicked).await;
        assert_eq!(status, 500);
        assert_eq!(
            body,
            r#"{"error_code":"INTERNAL_ERROR","detail":"the server failed (request r-1)"}"#
        );
    }
}
