//! Requests that are large forms with files, `multipart/form-data`: they pass through and are never
//! in memory as a whole.

use std::cell::Cell;
use std::future::{Ready, ready};
use std::pin::pin;
use std::time::Duration;

use actix_multipart::{Field, Multipart};
use actix_web::dev::Payload;
use actix_web::http::header::CONTENT_LENGTH;
use actix_web::web::Data;
use actix_web::{FromRequest, HttpRequest};
use futures_util::StreamExt;
use futures_util::future::{Either, select};
use trove_domain::error::Classify;
use trove_engine::files::{Gone, Upload, UploadLimits, UploadSender, upload};

use super::body::is_compressed;
use super::multipart::{broken, is_multipart};
use crate::Settings;
use crate::error::{ApiError, Refusal};

/// Most parts of a form: each file of them is written to the disk by itself.
const PARTS_MAX: usize = 1_000;

/// Largest text of a form.
const TEXT_BYTES_MAX: usize = 1024 * 1024;

/// The part with the files; there may be several.
pub(crate) const FILES: &str = "files";

/// The part that says which files are to be removed.
pub(crate) const REMOVAL: &str = "file_ids_to_remove";

/// A request with a large form, of which nothing has been read. As an argument of a handler it
/// comes before whatever else may take the body.
pub struct LargeForm {
    request: HttpRequest,
    payload: Payload,
    limit: u64,
    /// How long the client may be silent.
    patience: Duration,
}

impl FromRequest for LargeForm {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        ready(Self::of(request, payload))
    }
}

impl LargeForm {
    fn of(request: &HttpRequest, payload: &mut Payload) -> Result<Self, ApiError> {
        // Services are only made together with their settings.
        let settings = request.app_data::<Data<Settings>>().ok_or(Refusal::BrokenBody)?;
        if is_compressed(request) {
            return Err(Refusal::CompressedBody.into());
        }
        let limit = settings.engine.config().uploads.upload_bytes_max;
        let announced = request.headers().get(CONTENT_LENGTH);
        let announced = announced.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        if announced.is_some_and(|length| length > limit) {
            return Err(too_large(limit));
        }
        let patience = settings.config.body_timeout;
        Ok(Self { request: request.clone(), payload: payload.take(), limit, patience })
    }

    /// Whether it is a form at all.
    pub(crate) fn is_form(&self) -> bool {
        is_multipart(&self.request)
    }

    /// Sends it to `work`, which answers when it has taken it or will take no more of it. Answers
    /// also whether there was a part for files.
    pub(crate) async fn pass_to<T, E, W>(
        self,
        work: impl FnOnce(Upload) -> W,
    ) -> Result<(T, bool), ApiError>
    where
        E: Classify,
        W: Future<Output = Result<T, E>>,
    {
        let Self { request, payload, limit, patience } = self;
        let form = Multipart::new(request.headers(), payload);
        let (sender, taken) = upload();
        let seen = Cell::new(false);
        let pass = Passing { form, limit, patience, read: 0, seen: &seen }.pass(sender);
        let (pass, work) = (pin!(pass), pin!(work(taken)));
        let done = match select(pass, work).await {
            Either::Left((Ok(()) | Err(Ended::Gone), work)) => work.await?,
            Either::Left((Err(Ended::Refused(refusal)), work)) => {
                // Its complaint is that nothing more comes; it has cleaned up when it answers.
                let _complaint = work.await;
                return Err(refusal.into());
            }
            Either::Right((done, _)) => done?,
        };
        Ok((done, seen.get()))
    }
}

fn too_large(limit: u64) -> ApiError {
    Refusal::UploadTooLarge { setting: UploadLimits::UPLOAD_SETTING, limit }.into()
}

/// Why not all of a form was passed on.
enum Ended {
    /// Nobody wants it.
    Gone,
    /// It is not to be had.
    Refused(Refusal),
}

impl From<Gone> for Ended {
    fn from(_: Gone) -> Self {
        Self::Gone
    }
}

impl From<Refusal> for Ended {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

struct Passing<'s> {
    form: Multipart,
    limit: u64,
    patience: Duration,
    read: u64,
    seen: &'s Cell<bool>,
}

impl Passing<'_> {
    async fn pass(mut self, sender: UploadSender) -> Result<(), Ended> {
        let (mut parts, mut removal) = (0, None);
        loop {
            let next = tokio::time::timeout(self.patience, self.form.next()).await;
            let Some(part) = next.map_err(|_| Refusal::BodyTimeout)? else { break };
            let mut part = part.map_err(|error| broken(&error))?;
            parts += 1;
            if parts > PARTS_MAX {
                return Err(Refusal::TooManyParts { part: FILES, limit: PARTS_MAX }.into());
            }
            let name = part.name().unwrap_or_default().to_owned();
            let file = part.content_disposition().and_then(|said| said.get_filename());
            let file = file.map(str::to_owned);
            match (name.as_str(), file) {
                (FILES, Some(file)) => {
                    self.seen.set(true);
                    let mime_type = part.content_type().map(ToString::to_string);
                    sender.file(file, mime_type).await?;
                    while let Some(bytes) = self.more(&mut part).await? {
                        sender.bytes(bytes).await?;
                    }
                    sender.end_of_file().await?;
                }
                (REMOVAL, None) => removal = Some(self.text(&mut part).await?),
                (name, _) => {
                    if name == FILES {
                        self.seen.set(true);
                    }
                    while self.more(&mut part).await?.is_some() {}
                }
            }
        }
        Ok(sender.end(removal).await?)
    }

    /// More of a part, within all bounds.
    async fn more(&mut self, part: &mut Field) -> Result<Option<bytes::Bytes>, Refusal> {
        let next = tokio::time::timeout(self.patience, part.next()).await;
        let Some(bytes) = next.map_err(|_| Refusal::BodyTimeout)? else { return Ok(None) };
        let bytes = bytes.map_err(|error| broken(&error))?;
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.read = self.read.saturating_add(length);
        if self.read > self.limit {
            let (setting, limit) = (UploadLimits::UPLOAD_SETTING, self.limit);
            return Err(Refusal::UploadTooLarge { setting, limit });
        }
        Ok(Some(bytes))
    }

    async fn text(&mut self, part: &mut Field) -> Result<String, Refusal> {
        let mut text = Vec::new();
        while let Some(bytes) = self.more(part).await? {
            text.extend_from_slice(&bytes);
            if text.len() > TEXT_BYTES_MAX {
                return Err(Refusal::PartTooLarge { part: REMOVAL, limit: TEXT_BYTES_MAX });
            }
        }
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}
