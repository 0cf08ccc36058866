//! Where one file goes, by way of a partial file beside it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::PullError;
use crate::model_files::{ModelFile, sha256_of};

/// The place of one file.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) file: ModelFile,
    path: PathBuf,
    /// What has arrived so far; kept when a download breaks off.
    pub(super) part: PathBuf,
}

impl Place {
    pub(super) fn new(dir: &Path, file: ModelFile) -> Self {
        Self { file, path: dir.join(file.name), part: dir.join(format!("{}.part", file.name)) }
    }

    /// Whether the right file is there. A wrong one is reported in the log, and will be replaced.
    pub(super) async fn is_filled(&self) -> Result<bool, PullError> {
        let place = self.clone();
        blocking(&self.path, move || match sha256_of(&place.path) {
            Ok(actual) if actual == place.file.sha256 => Ok(true),
            Ok(actual) => {
                tracing::warn!(
                    path = %place.path.display(),
                    expected = place.file.sha256,
                    actual,
                    "the file is damaged or another version and will be replaced"
                );
                Ok(false)
            }
            Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(err) => Err(err),
        })
        .await
    }

    /// Verifies the partial file and gives it its name. A wrong one is deleted.
    pub(super) async fn fill(&self) -> Result<(), PullError> {
        let place = self.clone();
        let actual = blocking(&self.part, move || place.fill_blocking()).await?;
        if actual == self.file.sha256 {
            return Ok(());
        }
        Err(PullError::Corrupt {
            path: self.path.clone(),
            expected: self.file.sha256.to_owned(),
            actual,
        })
    }

    /// Returns the SHA-256.
    fn fill_blocking(&self) -> io::Result<String> {
        let actual = sha256_of(&self.part)?;
        if actual == self.file.sha256 {
            // The contents before the name, the name before success is reported.
            File::open(&self.part)?.sync_all()?;
            fs::rename(&self.part, &self.path)?;
            if let Some(dir) = self.path.parent() {
                File::open(dir)?.sync_all()?;
            }
        } else {
            fs::remove_file(&self.part)?;
        }
        Ok(actual)
    }

    /// An error about the partial file.
    pub(super) fn disk(&self, source: io::Error) -> PullError {
        PullError::Disk { path: self.part.clone(), source }
    }
}

/// Runs file work off the async threads.
pub(super) async fn blocking<T: Send + 'static>(
    path: &Path,
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, PullError> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|err| Err(io::Error::other(err)))
        .map_err(|source| PullError::Disk { path: path.to_owned(), source })
}
