//! What handlers take: who asks, and the request's fields.

mod body;
mod form;
mod multipart;
mod path;
mod upload;

use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::web::Data;
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use trove_domain::access;

use crate::Settings;
use crate::error::{ApiError, Refusal};
use crate::validation::{Failures, FieldError, Fields, Json, Read, Record, root};

pub use form::ValidForm;
pub use multipart::{Form, FormInput, Upload, ValidMultipart};
pub(crate) use upload::FILES;
pub use upload::LargeForm;

/// The authenticated user. Its presence in a signature means that nobody else gets in.
#[derive(Clone, Debug)]
pub struct Caller(pub access::Caller);

impl FromRequest for Caller {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        // Absent on public endpoints only: those have no caller to give.
        let caller = request.extensions_mut().remove::<Self>();
        ready(caller.ok_or(ApiError::Refused(Refusal::Unauthenticated)))
    }
}

/// Everything a handler needs to know of a request: path, query and body.
pub trait Input: Sized + 'static {
    /// Whether there is a body to read. Where there is none, one that is sent is ignored.
    const BODY: bool;

    /// Reads it, the parts in the order path, query, body.
    ///
    /// # Errors
    ///
    /// [`crate::validation::Rejected`] after recording what is wrong.
    fn read(parts: Parts<'_>) -> Read<Self>;
}

/// The parts of a request.
#[derive(Debug)]
pub struct Parts<'a> {
    request: &'a HttpRequest,
    body: Option<Result<Json, FieldError>>,
    failures: &'a Failures,
}

impl Parts<'_> {
    /// Reads the variable parts of the path, percent-decoded once.
    ///
    /// # Errors
    ///
    /// As `read`.
    pub fn path<T>(&self, read: impl FnOnce(&mut Fields<'_>) -> Read<T>) -> Read<T> {
        let place = root("path", self.failures);
        read(&mut Fields::of_parameters(path::parameters(self.request), &place))
    }

    /// Reads the query string.
    ///
    /// # Errors
    ///
    /// As `read`.
    pub fn query<T>(&self, read: impl FnOnce(&mut Fields<'_>) -> Read<T>) -> Read<T> {
        let place = root("query", self.failures);
        let pairs = url::form_urlencoded::parse(self.request.query_string().as_bytes());
        read(&mut Fields::of_parameters(pairs.into_owned(), &place))
    }

    /// Reads the body.
    ///
    /// # Errors
    ///
    /// [`crate::validation::Rejected`] when there is none, it is no JSON object, or the record
    /// rejects it.
    pub fn body<T: Record>(&mut self) -> Read<T> {
        let place = root("body", self.failures);
        match self.body.take() {
            None | Some(Ok(Json::Null)) => Err(place.reject("missing", "Field required")),
            Some(Ok(json)) => place.same(json).record(),
            Some(Err(failure)) => Err(self.failures.add(failure.loc, failure.kind, failure.msg)),
        }
    }
}

impl Parts<'_> {
    /// Reads a body that the reference takes field by field: what is no object has no fields.
    ///
    /// # Errors
    ///
    /// [`crate::validation::Rejected`] when the record rejects it.
    pub fn fields<T: Record>(&mut self) -> Read<T> {
        if !matches!(self.body, Some(Err(_) | Ok(Json::Object(_)))) {
            self.body = Some(Ok(Json::Object(Vec::new())));
        }
        self.body()
    }
}

/// A valid request.
#[derive(Debug)]
pub struct Valid<T>(pub T);

impl<T: Input> FromRequest for Valid<T> {
    type Error = ApiError;
    type Future = LocalBoxFuture<'static, Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let request = request.clone();
        let payload = payload.take();
        async move {
            let settings = request.app_data::<Data<Settings>>().cloned();
            let body = match settings {
                Some(settings) if T::BODY => {
                    body::read(&request, payload, &settings.config).await?
                }
                // Services are only made together with their settings.
                _ => None,
            };
            let failures = Failures::default();
            let parts = Parts { request: &request, body, failures: &failures };
            T::read(parts).map(Self).map_err(|_| ApiError::Invalid(failures.into_vec()))
        }
        .boxed_local()
    }
}

/// A request that is all in its JSON body.
#[derive(Debug)]
pub struct ValidJson<T>(pub T);

struct JsonOnly<T>(T);

impl<T: Record + 'static> Input for JsonOnly<T> {
    const BODY: bool = true;

    fn read(mut parts: Parts<'_>) -> Read<Self> {
        parts.body().map(Self)
    }
}

impl<T: Record + 'static> FromRequest for ValidJson<T> {
    type Error = ApiError;
    type Future = LocalBoxFuture<'static, Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let valid = Valid::<JsonOnly<T>>::from_request(request, payload);
        async move { valid.await.map(|valid| Self(valid.0.0)) }.boxed_local()
    }
}
