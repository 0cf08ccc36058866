use std::ops::Range;
use std::pin::Pin;

use async_trait::async_trait;
use bytes::Bytes;
use futures_core::Stream;

use crate::error::{Classify, ErrorKind, Source, kind_of};

/// The key of a stored file: ASCII letters, digits, `-` and `_`, 1 to 128 of them.
///
/// No separators and no dots: a key can never name anything outside its store.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileKey(String);

/// A string that is no [`FileKey`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a file key has 1 to 128 characters of A-Z, a-z, 0-9, '-' and '_'")]
pub struct InvalidFileKey;

impl FileKey {
    /// Checks and wraps `key`.
    ///
    /// # Errors
    ///
    /// [`InvalidFileKey`] for anything else than the type documents.
    pub fn new(key: impl Into<String>) -> Result<Self, InvalidFileKey> {
        let key = key.into();
        let valid = (1..=128).contains(&key.len())
            && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        if valid { Ok(Self(key)) } else { Err(InvalidFileKey) }
    }

    /// The key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Content on its way into a store, from wherever it comes.
pub type IncomingContent = Pin<Box<dyn Stream<Item = Result<Bytes, Source>> + Send>>;

/// Content on its way out of a store.
pub type StoredContent = Pin<Box<dyn Stream<Item = Result<Bytes, FileStoreError>> + Send>>;

/// A stored file that is about to be read.
pub struct OpenedFile {
    /// Its length in bytes.
    pub size: u64,
    /// Its bytes, all of one version of it.
    pub content: StoredContent,
}

impl std::fmt::Debug for OpenedFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenedFile").field("size", &self.size).finish_non_exhaustive()
    }
}

/// Contents of files, by key. What is known about a file lives in the relational store.
///
/// # Contract
///
/// * `put` is all or nothing: a reader sees the old content or the new, also after a crash, and
///   acknowledged content is durable.
/// * Cancel-safe: a dropped `put` leaves the old content or the new. The same holds for
///   `put_stream`, also when the content fails halfway or is too long.
/// * `put_stream`, `open` and `read` take memory for a few mebibytes, however long a file is.
#[async_trait]
pub trait FileStore: Send + Sync + 'static {
    /// Stores `content`, replacing what was there.
    async fn put(&self, key: &FileKey, content: Bytes) -> Result<(), FileStoreError>;

    /// Stores what comes, replacing what was there, and tells how many bytes it was.
    ///
    /// # Errors
    ///
    /// [`FileStoreError::TooLarge`] when more than `max_bytes` come, with the number of those that
    /// had come by then, and [`FileStoreError::Interrupted`] when the content itself fails.
    async fn put_stream(
        &self,
        key: &FileKey,
        content: IncomingContent,
        max_bytes: u64,
    ) -> Result<u64, FileStoreError>;

    /// The content piece by piece; `None` when there is no such file.
    async fn open(&self, key: &FileKey) -> Result<Option<OpenedFile>, FileStoreError>;

    /// A part of the content, less of it where the file ends earlier; `None` when there is no such
    /// file.
    async fn read(&self, key: &FileKey, range: Range<u64>)
    -> Result<Option<Bytes>, FileStoreError>;

    /// The content; `None` when there is no such file.
    ///
    /// # Errors
    ///
    /// [`FileStoreError::TooLarge`] when it is longer than `max_bytes`; nothing is read then.
    async fn get(&self, key: &FileKey, max_bytes: u64) -> Result<Option<Bytes>, FileStoreError>;

    /// Length of the content in bytes; `None` when there is no such file.
    async fn size(&self, key: &FileKey) -> Result<Option<u64>, FileStoreError>;

    /// Removes a file; one that is not there is fine.
    async fn remove(&self, key: &FileKey) -> Result<(), FileStoreError>;
}

/// Why a file could not be stored or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileStoreError {
    /// The file is longer than the caller accepts.
    #[error("the file has {size} bytes, more than the {max} that are accepted")]
    TooLarge {
        /// Length of the file.
        size: u64,
        /// Longest accepted.
        max: u64,
    },
    /// What was to be stored did not come to its end; nothing was stored.
    #[error("the content of the file did not come to its end")]
    Interrupted {
        /// Why it did not.
        #[source]
        source: Source,
    },
    /// The store does not answer at present or is full; trying again may help.
    #[error("the file store is unavailable in {operation}")]
    Unavailable {
        /// What was attempted.
        operation: &'static str,
        /// Why it failed.
        #[source]
        source: Source,
    },
    /// The store failed; trying again will not help.
    #[error("the file store failed in {operation}")]
    Backend {
        /// What was attempted.
        operation: &'static str,
        /// Why it failed.
        #[source]
        source: Source,
    },
}

impl Classify for FileStoreError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::TooLarge { .. } | Self::Interrupted { .. } => ErrorKind::Invalid,
            Self::Unavailable { source, .. } => kind_of(source, ErrorKind::Unavailable),
            Self::Backend { source, .. } => kind_of(source, ErrorKind::Internal),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::FileKey;

    #[test]
    fn keys_cannot_leave_their_store() {
        for bad in ["", ".", "..", "a/b", "a\\b", "a.b", "a b", "ä", "a\0", &"x".repeat(129)] {
            assert!(FileKey::new(bad).is_err(), "{bad:?}");
        }
        assert!(FileKey::new("0190-Ab_9").is_ok());
    }
}
