//! Secrets at rest.

use std::fmt;

use uuid::Uuid;

/// Which key sealed a secret. It says nothing about the key itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecretKeyId(String);

/// Why a text is no [`SecretKeyId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the id of a key consists of 1 to {max} letters and digits", max = SecretKeyId::MAX_BYTES)]
pub struct InvalidSecretKeyId;

impl SecretKeyId {
    /// Longest id in bytes.
    pub const MAX_BYTES: usize = 64;

    /// Checks and wraps `id`.
    ///
    /// # Errors
    ///
    /// [`InvalidSecretKeyId`].
    pub fn new(id: impl Into<String>) -> Result<Self, InvalidSecretKeyId> {
        let id = id.into();
        let fits = (1..=Self::MAX_BYTES).contains(&id.len());
        if fits && id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            Ok(Self(id))
        } else {
            Err(InvalidSecretKeyId)
        }
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SecretKeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A secret as it is stored: encrypted, with the id of the key that opens it.
#[derive(Clone, PartialEq, Eq)]
pub struct SealedSecret {
    key: SecretKeyId,
    body: String,
}

impl SealedSecret {
    /// What a cipher made with `key`. `body` is text that only the cipher understands.
    #[must_use]
    pub fn new(key: SecretKeyId, body: String) -> Self {
        Self { key, body }
    }

    /// Reads what [`SealedSecret::to_stored`] wrote; `None` for anything else.
    #[must_use]
    pub fn from_stored(text: &str) -> Option<Self> {
        let (key, body) = text.split_once('.')?;
        Some(Self { key: SecretKeyId::new(key).ok()?, body: body.to_owned() })
    }

    /// The form for a database.
    #[must_use]
    pub fn to_stored(&self) -> String {
        format!("{}.{}", self.key, self.body)
    }

    /// The key that opens it.
    #[must_use]
    pub fn key(&self) -> &SecretKeyId {
        &self.key
    }

    /// What the cipher made.
    #[must_use]
    pub fn body(&self) -> &str {
        &self.body
    }
}

impl fmt::Debug for SealedSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SealedSecret({}, ..)", self.key)
    }
}

/// Where a secret belongs. Sealed for one place it opens in no other, so that nobody who can write
/// to the database can have one row's secret used as another's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SecretPlace {
    /// The table.
    pub table: &'static str,
    /// The row, by an id that no other row of any table has or had.
    pub row: Uuid,
    /// The column.
    pub field: &'static str,
}

#[cfg(test)]
mod tests {
    use super::{SealedSecret, SecretKeyId};

    #[test]
    fn a_sealed_secret_reads_back_and_shows_nothing() {
        let sealed = SealedSecret::new(SecretKeyId::new("0a1b").unwrap(), "x.y".to_owned());
        assert_eq!(sealed.to_stored(), "0a1b.x.y");
        assert_eq!(SealedSecret::from_stored("0a1b.x.y"), Some(sealed.clone()));
        assert_eq!(format!("{sealed:?}"), "SealedSecret(0a1b, ..)");
        for text in ["", "x", ".x", "a b.x", "sk-secret", &format!("{}.x", "a".repeat(65))] {
            assert_eq!(SealedSecret::from_stored(text), None, "{text}");
        }
    }
}
