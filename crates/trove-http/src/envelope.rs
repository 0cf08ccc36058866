//! What every answer has around it: a request id, a span, and headers that browsers heed.

use std::sync::Arc;
use std::time::Instant;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::error::InternalError;
use actix_web::http::ConnectionType;
use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderMap, HeaderName, HeaderValue, REFERRER_POLICY,
    UPGRADE, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use actix_web::middleware::Next;
use actix_web::web::Data;
use actix_web::{Error, HttpMessage, HttpRequest};
use tracing::Instrument;
use tracing::field::Empty;

use crate::Settings;
use crate::error::{ApiError, Refusal};

/// Name of the header that carries the id, both ways.
pub const REQUEST_ID_HEADER: &str = "x-request-id";

/// Longest id that is taken from a client.
const REQUEST_ID_MAX: usize = 128;

/// Identifies a request in the log and in answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestId(Arc<str>);

impl RequestId {
    /// The client's id, if it is harmless in a log and in a header.
    fn from_client(headers: &HeaderMap) -> Option<Self> {
        let id = headers.get(REQUEST_ID_HEADER)?.to_str().ok()?;
        let harmless =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        let valid = (1..=REQUEST_ID_MAX).contains(&id.len()) && id.bytes().all(harmless);
        valid.then(|| Self(id.into()))
    }

    /// The id of a request.
    pub(crate) fn of(request: &HttpRequest) -> Arc<str> {
        request.extensions().get::<Self>().map_or_else(|| "-".into(), |id| Arc::clone(&id.0))
    }
}

/// Wraps every request, those that no route answers among them.
pub(crate) async fn wrap(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let started = Instant::now();
    let id = RequestId::from_client(request.headers()).unwrap_or_else(|| {
        let settings = request.app_data::<Data<Settings>>();
        let id = settings.map(|settings| settings.engine.backends().ids.uuid());
        RequestId(id.map_or_else(|| "-".into(), |id| id.to_string().into()))
    });
    request.extensions_mut().insert(id.clone());
    // Neither the path nor the query: they hold names of documents and what people search for.
    let span = tracing::info_span!(
        "request",
        http.method = %request.method(),
        http.route = Empty,
        request.id = &*id.0,
    );
    if asks_for_websocket(request.headers()) {
        let mut response = ApiError::Refused(Refusal::Upgrade).respond(&id.0);
        response.head_mut().set_connection_type(ConnectionType::Close);
        set_headers(response.headers_mut(), &id);
        return Ok(request.into_response(response));
    }
    let response = next.call(request).instrument(span.clone()).await;
    let mut response = match response {
        Ok(response) => response.map_into_boxed_body(),
        // Only actix itself fails here; an error of ours is a response already.
        Err(error) => {
            let mut response = match error.as_error::<ApiError>() {
                Some(error) => error.respond(&id.0),
                None => error.error_response(),
            };
            set_headers(response.headers_mut(), &id);
            // The request is gone, and a clone of it would have been in the router's way.
            return Err(InternalError::from_response(error, response).into());
        }
    };
    set_headers(response.headers_mut(), &id);
    let _entered = span.enter();
    tracing::debug!(
        http.status = response.status().as_u16(),
        duration_us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX),
        "answered"
    );
    Ok(response)
}

/// Whether the HTTP library takes everything that follows the headers for another protocol, whatever
/// the length of the body says: reading it would swallow the next request.
fn asks_for_websocket(headers: &HeaderMap) -> bool {
    let asks = |value: &HeaderValue| {
        value.to_str().is_ok_and(|value| value.to_ascii_lowercase().contains("websocket"))
    };
    headers.get_all(UPGRADE).any(asks)
}

fn set_headers(headers: &mut HeaderMap, id: &RequestId) {
    if let Ok(id) = HeaderValue::from_str(&id.0) {
        headers.insert(HeaderName::from_static(REQUEST_ID_HEADER), id);
    }
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    let same_origin = HeaderValue::from_static("same-origin");
    headers.insert(HeaderName::from_static("cross-origin-resource-policy"), same_origin);
    // Answers depend on who asks; pages that do not say otherwise.
    if !headers.contains_key(CACHE_CONTROL) {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    if !headers.contains_key(CONTENT_SECURITY_POLICY) {
        let nothing = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
        headers.insert(CONTENT_SECURITY_POLICY, nothing);
    }
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};

    use super::{REQUEST_ID_HEADER, RequestId};

    #[test]
    fn an_id_is_taken_from_the_client_only_if_it_is_harmless() {
        let taken = |value: &[u8]| {
            let mut headers = HeaderMap::new();
            let name = HeaderName::from_static(REQUEST_ID_HEADER);
            headers.insert(name, HeaderValue::from_bytes(value).unwrap());
            RequestId::from_client(&headers).is_some()
        };
        assert!(taken(b"0190a1b2-c3d4_x.y"));
        assert!(taken(&[b'a'; 128]));
        for bad in [&b""[..], &[b'a'; 129], b"a b", b"a\tb", b"a\"b", b"a,b", "é".as_bytes()] {
            assert!(!taken(bad), "{bad:?}");
        }
    }
}
