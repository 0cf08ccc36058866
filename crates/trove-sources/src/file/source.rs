//! The source: steps over a list of files.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use futures_util::{FutureExt, StreamExt, stream};
use serde_json::{Map, Value, json};
use tempfile::NamedTempFile;
use tokio::io::AsyncWriteExt;
use tokio::task::spawn_blocking;
use trove_domain::document::Document;
use trove_domain::id::DocumentId;
use trove_domain::port::{
    Checkpoint, ExtractError, FailedPart, FileStore, FileStoreError, ListingStep, ReadWindow,
    Skipped, Source, SourceError, SourceFailure, SourceStep, TextExtractor,
};

use super::about::{ByName, base_name, document, id_of};
use super::config::{FileConfig, Listed, ZipMetadata};
use super::inline::{self, FIRST_LINE_BYTES_MAX};

/// Most files of one step.
const FILES_MAX: usize = 32;
/// Files that are read at the same time.
const AT_ONCE: usize = 2;
/// A step that has read so many bytes takes no more files.
const STEP_BYTES: u64 = 8 << 20;
/// Most files of one step of a listing.
const LISTED_MAX: usize = 500;
/// Largest file that is read into memory.
const SMALL_BYTES_MAX: u64 = 1 << 20;
/// Largest file.
const FILE_BYTES_MAX: u64 = 1 << 30;
/// Largest file of metadata.
const METADATA_BYTES_MAX: u64 = 64 << 20;
/// Pictures, which would have to be looked at.
const PICTURES: [&str; 8] = ["png", "jpg", "jpeg", "webp", "gif", "bmp", "tif", "tiff"];

/// Files that were uploaded.
pub(crate) struct Files {
    config: FileConfig,
    store: Arc<dyn FileStore>,
    extractor: Arc<dyn TextExtractor>,
    temporary: PathBuf,
}

/// What is in a file.
enum Content {
    Bytes(Bytes),
    Copy(NamedTempFile),
}

/// What came of a file.
enum Outcome {
    Document(Box<Document>),
    Skipped(String),
    Failed(String),
}

impl Files {
    pub(crate) fn open(
        config: &Map<String, Value>,
        store: Arc<dyn FileStore>,
        extractor: Arc<dyn TextExtractor>,
        temporary: PathBuf,
    ) -> Result<Self, SourceError> {
        Ok(Self { config: FileConfig::read(config)?, store, extractor, temporary })
    }

    /// What is known about the files by their names.
    async fn metadata(&self) -> Result<ByName, SourceError> {
        let (value, key) = match &self.config.zip_metadata {
            ZipMetadata::None => return Ok(ByName::default()),
            ZipMetadata::Given(value) => (Some(value.clone()), "zip_metadata"),
            ZipMetadata::Stored(key) => {
                let stored = self.store.get(key, METADATA_BYTES_MAX).await.map_err(unavailable)?;
                let value = stored.and_then(|content| serde_json::from_slice(&content).ok());
                (value, "zip_metadata_file_id")
            }
        };
        value.and_then(ByName::read).ok_or_else(|| {
            let problem = "it is neither an object by names of files nor a list of objects with \
                           `filename`";
            SourceError::Invalid(format!("`{key}`: {problem}"))
        })
    }

    /// The place of a checkpoint; one of another list of files is the beginning.
    fn place(&self, from: Option<&Checkpoint>) -> usize {
        let Some(Checkpoint(from)) = from else { return 0 };
        let ours = from.get("files").and_then(Value::as_str) == Some(&self.config.fingerprint);
        let at = from.get("at").and_then(Value::as_u64).filter(|_| ours);
        at.and_then(|at| usize::try_from(at).ok()).unwrap_or(0)
    }

    fn checkpoint(&self, at: usize) -> Option<Checkpoint> {
        let more = at < self.config.files.len();
        more.then(|| Checkpoint(json!({ "files": self.config.fingerprint, "at": at })))
    }

    /// Reads one file, and tells its size.
    async fn sized(
        &self,
        file: &Listed,
        about: Map<String, Value>,
        run: DateTime<Utc>,
    ) -> Result<(u64, Outcome), SourceError> {
        let extension = base_name(&file.name).rsplit_once('.').map(|(_, extension)| extension);
        let extension = extension.unwrap_or_default().to_lowercase();
        if PICTURES.contains(&extension.as_str()) {
            let reason = "there is nothing that finds text in pictures".to_owned();
            return Ok((0, Outcome::Skipped(reason)));
        }
        if !self.extractor.extensions().contains(&extension.as_str()) {
            let reason = format!("files of type `{extension}` are not read");
            return Ok((0, Outcome::Skipped(reason)));
        }
        let missing = || Outcome::Skipped("the stored file is missing".to_owned());
        let (size, content) = match self.store.get(&file.key, SMALL_BYTES_MAX).await {
            Ok(None) => return Ok((0, missing())),
            Ok(Some(content)) => (u64::try_from(content.len()).unwrap_or(0), Some(content)),
            Err(FileStoreError::TooLarge { size, .. }) if size > FILE_BYTES_MAX => {
                let reason = format!("it has more than {FILE_BYTES_MAX} bytes");
                return Ok((size, Outcome::Failed(reason)));
            }
            Err(FileStoreError::TooLarge { size, .. }) => (size, None),
            Err(error) => return Err(unavailable(error)),
        };
        let Some(id) = id_of(file, &about) else {
            return Ok((size, Outcome::Failed("its id is none".to_owned())));
        };
        let mut about = about;
        let first = if !inline::may_have(&extension) {
            None
        } else if let Some(content) = &content {
            inline::read(content)
        } else {
            let head = self.store.read(&file.key, 0..FIRST_LINE_BYTES_MAX).await;
            inline::read(&head.map_err(unavailable)?.unwrap_or_default())
        };
        let start = first.map_or(0, |(first, length)| {
            about.extend(first);
            length
        });
        let content = match content {
            Some(content) => {
                let start = usize::try_from(start).unwrap_or(usize::MAX).min(content.len());
                Content::Bytes(content.slice(start..))
            }
            None => match self.copy(file, start).await? {
                Some(copy) => Content::Copy(copy),
                None => return Ok((size, missing())),
            },
        };
        Ok((size, self.text(file, id, about, content, run).await?))
    }

    /// Finds the text of a file.
    async fn text(
        &self,
        file: &Listed,
        id: DocumentId,
        about: Map<String, Value>,
        content: Content,
        run: DateTime<Utc>,
    ) -> Result<Outcome, SourceError> {
        let (name, extractor) = (base_name(&file.name).to_owned(), Arc::clone(&self.extractor));
        // A copy goes with the closure, however that ends.
        let text = spawn_blocking(move || extract(&*extractor, &name, &content)).await;
        let text = match text {
            Ok(Ok(text)) => text,
            Ok(Err(error @ (ExtractError::UnsupportedFormat { .. } | ExtractError::Binary))) => {
                return Ok(Outcome::Skipped(error.to_string()));
            }
            // The files are not to blame: the run waits until they can be read.
            Ok(Err(error @ ExtractError::Unavailable { .. })) => {
                let (message, source) = (error.to_string(), Some(error.into()));
                return Err(SourceError::Unavailable { message, retry_after: None, source });
            }
            Ok(Err(error)) => {
                return Ok(Outcome::Failed(format!("{error}; {}", error.remedy())));
            }
            Err(_) => return Ok(Outcome::Failed("its reader gave up".to_owned())),
        };
        Ok(Outcome::Document(Box::new(document(file, id, about, &text, run))))
    }

    /// A copy of a file from `start` on, which goes when it is dropped; `None` when there is no
    /// such file.
    async fn copy(&self, file: &Listed, start: u64) -> Result<Option<NamedTempFile>, SourceError> {
        let Some(stored) = self.store.open(&file.key).await.map_err(unavailable)? else {
            return Ok(None);
        };
        let failed = |error: std::io::Error| SourceError::Unavailable {
            message: "a file cannot be copied to be read".to_owned(),
            retry_after: None,
            source: Some(error.into()),
        };
        let directory = self.temporary.clone();
        let copy = spawn_blocking(move || NamedTempFile::new_in(directory)).await;
        let copy = copy.map_err(std::io::Error::other).and_then(|copy| copy).map_err(failed)?;
        let mut target = tokio::fs::File::from_std(copy.reopen().map_err(failed)?);
        let (mut content, mut skip) =
            (stored.content, usize::try_from(start).unwrap_or(usize::MAX));
        while let Some(piece) = content.next().await {
            let piece = piece.map_err(unavailable)?;
            let skipped = skip.min(piece.len());
            skip -= skipped;
            target.write_all(&piece[skipped..]).await.map_err(failed)?;
        }
        target.flush().await.map_err(failed)?;
        Ok(Some(copy))
    }
}

/// The texts in a file.
fn extract(
    extractor: &dyn TextExtractor,
    name: &str,
    content: &Content,
) -> Result<Vec<String>, ExtractError> {
    let text = match content {
        Content::Bytes(content) => extractor.extract(name, content)?,
        Content::Copy(copy) => extractor.extract_file(name, copy.path())?,
    };
    Ok(text.sections.into_iter().map(|section| section.text).collect())
}

fn unavailable(error: FileStoreError) -> SourceError {
    SourceError::Unavailable {
        message: "the stored files cannot be read".to_owned(),
        retry_after: None,
        source: Some(error.into()),
    }
}

#[async_trait]
impl Source for Files {
    async fn check(&self) -> Result<(), SourceError> {
        self.metadata().await.map(drop)
    }

    async fn read(
        &self,
        window: ReadWindow,
        from: Option<&Checkpoint>,
    ) -> Result<SourceStep, SourceError> {
        let metadata = self.metadata().await?;
        let (mut step, mut at, mut bytes) = (SourceStep::default(), self.place(from), 0_u64);
        let files = self.config.files.iter().skip(at).take(FILES_MAX);
        let mut reads = Vec::with_capacity(FILES_MAX);
        for file in files {
            let about = metadata.of(&file.name);
            let read = async move { (file, self.sized(file, about, window.end).await) };
            reads.push(read.boxed());
        }
        let mut files = stream::iter(reads).buffered(AT_ONCE);
        while let Some((file, read)) = files.next().await {
            let (size, outcome) = read?;
            at += 1;
            let id = id_of(file, &metadata.of(&file.name));
            match (outcome, id) {
                (Outcome::Document(document), _) => step.documents.push(*document),
                (Outcome::Failed(message), Some(id)) => {
                    let part = FailedPart::Document { id, link: None };
                    let message = format!("{}: {message}", file.name);
                    step.failures.push(SourceFailure { part, message });
                }
                (Outcome::Skipped(reason) | Outcome::Failed(reason), id) => {
                    let key = || file.key.as_str().to_owned();
                    let id = id.map_or_else(key, DocumentId::into_string);
                    step.skipped.push(Skipped { id, reason: format!("{}: {reason}", file.name) });
                }
            }
            bytes = bytes.saturating_add(size);
            if bytes >= STEP_BYTES {
                break;
            }
        }
        step.next = self.checkpoint(at);
        Ok(step)
    }

    async fn list(&self, from: Option<&Checkpoint>) -> Result<ListingStep, SourceError> {
        let metadata = self.metadata().await?;
        let start = self.place(from);
        let mut ids = Vec::new();
        for file in self.config.files.iter().skip(start).take(LISTED_MAX) {
            // Also where the stored file is missing: what cannot be read is not gone.
            ids.extend(id_of(file, &metadata.of(&file.name)));
        }
        Ok(ListingStep { ids, next: self.checkpoint(start.saturating_add(LISTED_MAX)) })
    }
}
