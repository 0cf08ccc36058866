//! Reads a body, within bounds of size and time.

use actix_web::HttpMessage;
use actix_web::HttpRequest;
use actix_web::dev::Payload;
use actix_web::error::PayloadError;
use actix_web::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, HeaderName};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;

use crate::HttpConfig;
use crate::error::{ApiError, Refusal};
use crate::validation::{FieldError, Json, JsonError};

/// The body as it is.
pub(super) async fn bytes(
    request: &HttpRequest,
    payload: Payload,
    limit: usize,
    config: &HttpConfig,
) -> Result<Bytes, ApiError> {
    if is_compressed(request) {
        return Err(Refusal::CompressedBody.into());
    }
    let announced =
        header(request, &CONTENT_LENGTH).and_then(|length| length.parse::<usize>().ok());
    if announced.is_some_and(|length| length > limit) {
        return Err(Refusal::PayloadTooLarge.into());
    }
    tokio::time::timeout(config.body_timeout, collect(payload, limit))
        .await
        .map_err(|_| Refusal::BodyTimeout)?
}

/// Whether the body is compressed. Bounding what a decompressor makes is one more thing to get
/// wrong, for clients nobody has.
pub(super) fn is_compressed(request: &HttpRequest) -> bool {
    header(request, &CONTENT_ENCODING)
        .is_some_and(|coding| !coding.eq_ignore_ascii_case("identity"))
}

/// The body as JSON; `None` when it is empty.
///
/// The inner error is the one failure that a body as such can have, for the list of a 422.
pub(super) async fn read(
    request: &HttpRequest,
    payload: Payload,
    config: &HttpConfig,
) -> Result<Option<Result<Json, FieldError>>, ApiError> {
    let body = bytes(request, payload, config.body_limit_bytes, config).await?;
    if body.is_empty() {
        return Ok(None);
    }
    if !is_json(request.content_type()) {
        // The reference then takes the body for a string, which is no object.
        let msg = "Input should be a valid dictionary or object to extract fields from";
        return Ok(Some(Err(failure(vec!["body".to_owned()], "model_attributes_type", msg))));
    }
    match Json::parse(&body) {
        Ok(json) => Ok(Some(Ok(json))),
        Err(JsonError::Syntax { offset }) => {
            let loc = vec!["body".to_owned(), offset.to_string()];
            Ok(Some(Err(failure(loc, "json_invalid", "JSON decode error"))))
        }
        Err(JsonError::TooManyValues) => Err(Refusal::TooManyValues.into()),
    }
}

fn failure(loc: Vec<String>, kind: &'static str, msg: &str) -> FieldError {
    FieldError { loc, msg: msg.to_owned(), kind }
}

fn header<'a>(request: &'a HttpRequest, name: &HeaderName) -> Option<&'a str> {
    request.headers().get(name)?.to_str().ok()
}

/// `application/json`, `application/<anything>+json`, or not said.
fn is_json(content_type: &str) -> bool {
    let content_type = content_type.trim().to_ascii_lowercase();
    content_type.is_empty()
        || content_type
            .strip_prefix("application/")
            .is_some_and(|subtype| subtype == "json" || subtype.ends_with("+json"))
}

/// All of a payload; a body that comes in one piece, as most do, is not copied.
async fn collect(mut payload: Payload, limit: usize) -> Result<Bytes, ApiError> {
    let mut first = Bytes::new();
    let mut all = BytesMut::new();
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|error| match error {
            PayloadError::Overflow => Refusal::PayloadTooLarge,
            _ => Refusal::BrokenBody,
        })?;
        if first.len() + all.len() + chunk.len() > limit {
            return Err(Refusal::PayloadTooLarge.into());
        }
        if first.is_empty() && all.is_empty() {
            first = chunk;
        } else {
            all.extend_from_slice(&std::mem::take(&mut first));
            all.extend_from_slice(&chunk);
        }
    }
    Ok(if all.is_empty() { first } else { all.freeze() })
}

#[cfg(test)]
mod tests {
    use super::is_json;

    #[test]
    fn content_types_that_are_json() {
        for yes in ["", "application/json", "Application/JSON", "application/problem+json"] {
            assert!(is_json(yes), "{yes}");
        }
        for no in ["text/plain", "text/json", "application/x-www-form-urlencoded", "json"] {
            assert!(!is_json(no), "{no}");
        }
    }
}
