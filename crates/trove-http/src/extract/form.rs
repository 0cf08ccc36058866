//! Requests that are forms.

use actix_web::HttpMessage;
use actix_web::dev::Payload;
use actix_web::web::Data;
use actix_web::{FromRequest, HttpRequest};
use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;

use super::body;
use crate::Settings;
use crate::error::ApiError;
use crate::validation::{Failures, Fields, Record, root};

/// Largest form that is read, in bytes.
const FORM_BYTES_MAX: usize = 64 * 1024;

/// A request that is all in a form, `application/x-www-form-urlencoded`. Anything else is a form
/// without fields.
#[derive(Debug)]
pub struct ValidForm<T>(pub T);

impl<T: Record + 'static> FromRequest for ValidForm<T> {
    type Error = ApiError;
    type Future = LocalBoxFuture<'static, Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let request = request.clone();
        let payload = payload.take();
        async move {
            let is_form = request
                .content_type()
                .trim()
                .eq_ignore_ascii_case("application/x-www-form-urlencoded");
            let body = match request.app_data::<Data<Settings>>().cloned() {
                Some(settings) => {
                    let limit = FORM_BYTES_MAX.min(settings.config.body_limit_bytes);
                    body::bytes(&request, payload, limit, &settings.config).await?
                }
                // Services are only made together with their settings.
                None => bytes::Bytes::new(),
            };
            let body = if is_form { &body[..] } else { &[] };
            let pairs = url::form_urlencoded::parse(body).into_owned();
            let failures = Failures::default();
            let place = root("body", &failures);
            let read = T::read(&mut Fields::of_parameters(pairs, &place));
            read.map(Self).map_err(|_| ApiError::Invalid(failures.into_vec()))
        }
        .boxed_local()
    }
}
