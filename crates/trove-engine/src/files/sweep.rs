//! Removes what uploads have left behind.

use trove_domain::port::FileKey;

use super::FileError;
use crate::{Engine, log};

/// Files that are looked at at a time.
const PAGE: u32 = 500;

impl Engine {
    /// For the start, before anything is uploaded: removes the files of uploads that did not come to
    /// their end because the process did; answers how many.
    ///
    /// # Errors
    ///
    /// [`FileError`]; the rest is for the next start.
    pub async fn sweep_files(&self) -> Result<u64, FileError> {
        let mut removed = 0;
        loop {
            let page = self.backends().stored_files.list_unfinished(None, PAGE).await?;
            if page.is_empty() {
                return Ok(removed);
            }
            removed += self.remove_files(&page).await?;
        }
    }

    /// Removes files whether they are finished or not.
    async fn remove_files(&self, keys: &[FileKey]) -> Result<u64, FileError> {
        if keys.is_empty() {
            return Ok(0);
        }
        let files = self.backends().files.as_ref().ok_or(FileError::NoStore)?;
        // The row last: as long as it is there the content is found.
        for key in keys {
            files.remove(key).await?;
        }
        self.backends().stored_files.forget(keys).await?;
        Ok(u64::try_from(keys.len()).unwrap_or(u64::MAX))
    }

    /// The same, for whoever cannot do anything about a failure.
    pub(super) async fn discard_files(&self, keys: &[FileKey]) {
        if let Err(error) = self.remove_files(keys).await {
            log::warn(
                &error,
                "files that nobody needs could not be removed; the next start does it",
            );
        }
    }
}
