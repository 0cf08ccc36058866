use async_trait::async_trait;
use bytes::Bytes;

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

/// Contents of files, by key. What is known about a file lives in the relational store.
///
/// # Contract
///
/// * `put` is all or nothing: a reader sees the old content or the new, also after a crash, and
///   acknowledged content is durable.
/// * Cancel-safe: a dropped `put` leaves the old content or the new.
#[async_trait]
pub trait FileStore: Send + Sync + 'static {
    /// Stores `content`, replacing what was there.
    async fn put(&self, key: &FileKey, content: Bytes) -> Result<(), FileStoreError>;

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
            Self::TooLarge { .. } => ErrorKind::Invalid,
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
