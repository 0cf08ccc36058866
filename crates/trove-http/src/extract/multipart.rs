//! Requests that are small forms with files, `multipart/form-data`, read into memory.

use actix_multipart::{Multipart, MultipartError};
use actix_web::dev::Payload;
use actix_web::error::PayloadError;
use actix_web::web::Data;
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use bytes::{Bytes, BytesMut};
use futures_util::future::LocalBoxFuture;
use futures_util::{FutureExt, StreamExt};

use super::Parts;
use crate::Settings;
use crate::error::{ApiError, Refusal};
use crate::validation::{Failures, Fields, Read, root};

/// Most parts of a form.
const PARTS_MAX: usize = 2000;

/// A file of a form.
#[derive(Debug)]
pub struct Upload {
    /// What its sender calls it.
    pub file_name: String,
    /// What is in it.
    pub bytes: Bytes,
}

/// A form: its texts, and its files by the names of their parts.
#[derive(Debug, Default)]
pub struct Form {
    texts: Vec<(String, String)>,
    files: Vec<(String, Upload)>,
}

impl Form {
    /// Reads the texts. Of a file there is an empty text, so that it can be required.
    ///
    /// # Errors
    ///
    /// As `read`.
    pub fn texts<T>(
        &self,
        parts: &Parts<'_>,
        read: impl FnOnce(&mut Fields<'_>) -> Read<T>,
    ) -> Read<T> {
        let place = root("body", parts.failures);
        let files = self.files.iter().map(|(name, _)| (name.clone(), String::new()));
        let is_file = |name: &str| self.files.iter().any(|(file, _)| file == name);
        let texts = self.texts.iter().filter(|(name, _)| !is_file(name)).cloned();
        let all: Vec<_> = texts.chain(files).collect();
        read(&mut Fields::of_parameters(all.into_iter(), &place))
    }

    /// The last file of the part `name`.
    pub fn take(&mut self, name: &str) -> Option<Upload> {
        let at = self.files.iter().rposition(|(file, _)| file == name)?;
        Some(self.files.swap_remove(at).1)
    }
}

/// A request with a small form.
pub trait FormInput: Sized + 'static {
    /// Most bytes of all parts together.
    const BYTES_MAX: usize;

    /// Reads it.
    ///
    /// # Errors
    ///
    /// [`crate::validation::Rejected`] after recording what is wrong.
    fn read(parts: &Parts<'_>, form: Form) -> Read<Self>;
}

/// A valid request with a small form. What is no form is one without parts.
#[derive(Debug)]
pub struct ValidMultipart<T>(pub T);

impl<T: FormInput> FromRequest for ValidMultipart<T> {
    type Error = ApiError;
    type Future = LocalBoxFuture<'static, Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let request = request.clone();
        let payload = payload.take();
        async move {
            let settings = request.app_data::<Data<Settings>>().cloned();
            let form = match settings {
                Some(settings) if is_multipart(&request) => {
                    let reading = read(&request, payload, T::BYTES_MAX);
                    let ended = tokio::time::timeout(settings.config.body_timeout, reading).await;
                    ended.map_err(|_| Refusal::BodyTimeout)??
                }
                // Services are only made together with their settings.
                _ => Form::default(),
            };
            let failures = Failures::default();
            let parts = Parts { request: &request, body: None, failures: &failures };
            T::read(&parts, form).map(Self).map_err(|_| ApiError::Invalid(failures.into_vec()))
        }
        .boxed_local()
    }
}

pub(crate) fn is_multipart(request: &HttpRequest) -> bool {
    request.content_type().trim().eq_ignore_ascii_case("multipart/form-data")
}

/// What reading a form failed with, in our words.
pub(crate) fn broken(error: &MultipartError) -> Refusal {
    match error {
        MultipartError::Payload(PayloadError::Overflow) => Refusal::PayloadTooLarge,
        _ => Refusal::BrokenBody,
    }
}

async fn read(request: &HttpRequest, payload: Payload, limit: usize) -> Result<Form, ApiError> {
    let mut form = Form::default();
    let mut read = 0;
    let mut multipart = Multipart::new(request.headers(), payload);
    while let Some(part) = multipart.next().await {
        let mut part = part.map_err(|error| broken(&error))?;
        if form.texts.len() + form.files.len() >= PARTS_MAX {
            return Err(Refusal::PayloadTooLarge.into());
        }
        let name = part.name().unwrap_or_default().to_owned();
        let file_name =
            part.content_disposition().and_then(|c| c.get_filename()).map(str::to_owned);
        let mut bytes = BytesMut::new();
        while let Some(chunk) = part.next().await {
            let chunk = chunk.map_err(|error| broken(&error))?;
            read += chunk.len();
            if read > limit {
                return Err(Refusal::PayloadTooLarge.into());
            }
            bytes.extend_from_slice(&chunk);
        }
        match file_name {
            Some(file_name) => {
                form.files.push((name, Upload { file_name, bytes: bytes.freeze() }));
            }
            None => form.texts.push((name, String::from_utf8_lossy(&bytes).into_owned())),
        }
    }
    Ok(form)
}
