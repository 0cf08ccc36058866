//! Files that people upload, for connectors to read.
//!
//! A file is a row and a content. The row comes first, marked as unfinished; then the content is
//! written; and then all rows of an upload become real in one step. An upload that does not come to
//! that step removes what it has written. It does so in a task of its own, which outlasts a client
//! that goes away; what the end of the process leaves behind, the next start removes
//! ([`Engine::sweep_files`]). So there is never a content that no row names.

mod connector;
mod error;
mod incoming;
mod intake;
mod metadata;
mod name;
mod names;
mod rights;
mod sweep;
mod unpack;

use serde_json::{Map, Value};
use trove_domain::access::Caller;
use trove_domain::audit::AuditAction;
use trove_domain::port::FileKey;
use trove_domain::stored_file::StoredFile;

use crate::Engine;
use crate::audit::{Details, Origin, details, on_behalf_of};

pub use connector::{ConnectorFile, ConnectorFiles};
pub use error::FileError;
pub use incoming::{Gone, Upload, UploadSender, upload};

/// Bounds on what is uploaded.
#[derive(Clone, Copy, Debug)]
pub struct UploadLimits {
    /// Largest file, in bytes.
    pub file_bytes_max: u64,
    /// Most bytes of one upload, and of what an archive in it holds.
    pub upload_bytes_max: u64,
    /// Most files of one upload: the configuration of a connector names each.
    pub files_max: usize,
}

impl UploadLimits {
    /// The setting of the largest file.
    pub const FILE_SETTING: &'static str = "ingestion.file_bytes_max";
    /// The setting of the largest upload.
    pub const UPLOAD_SETTING: &'static str = "ingestion.upload_bytes_max";
}

impl Default for UploadLimits {
    fn default() -> Self {
        Self {
            file_bytes_max: 250 * 1024 * 1024,
            upload_bytes_max: 1024 * 1024 * 1024,
            files_max: 10_000,
        }
    }
}

/// What has come of an upload.
#[derive(Clone, Debug, Default)]
pub struct UploadedFiles {
    /// The files, in the order that they came in.
    pub files: Vec<StoredFile>,
    /// What is known about them, by their names.
    pub metadata: Map<String, Value>,
    /// The file that says so.
    pub metadata_file: Option<FileKey>,
}

impl Engine {
    /// Stores files. Of an archive the files in it are stored, unless `unzip` is off.
    ///
    /// Dropped, it goes on until it notices that nothing comes any more, and removes what it has
    /// stored.
    ///
    /// # Errors
    ///
    /// [`FileError`]; nothing is stored then.
    pub async fn upload_files(
        &self,
        caller: &Caller,
        upload: Upload,
        unzip: bool,
    ) -> Result<UploadedFiles, FileError> {
        let (engine, owner) = (self.clone(), caller.user);
        let store = async move {
            let mut intake = engine.intake(owner)?;
            let stored = match intake.take(upload, unzip).await {
                Ok(_) => intake.finish().await,
                Err(error) => Err(error),
            };
            intake.close().await;
            stored
        };
        let engine = self.clone();
        self.outlasting(async move {
            let told =
                |stored: &UploadedFiles| details([("files", stored.files.len().to_string())]);
            engine.recorded_as(AuditAction::UploadFiles, None, Details::new(), store, told).await
        })
        .await
    }

    /// Does work that goes on when whoever waits for it goes away.
    async fn outlasting<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, FileError>> + Send + 'static,
    ) -> Result<T, FileError> {
        let work = on_behalf_of(Origin::current(), work);
        match self.shared.uploads.spawn(work).await {
            Ok(ended) => ended,
            // A panic of the work is one of whoever waits for it.
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Err(FileError::Interrupted),
            },
        }
    }

    /// Waits until no upload is under way.
    pub async fn uploads_ended(&self) {
        self.shared.uploads.wait().await;
    }
}
