use secrecy::SecretString;

use crate::error::{Classify, ErrorKind};
use crate::secret::{SealedSecret, SecretKeyId, SecretPlace};

/// Encrypts secrets for a database.
///
/// # Contract
///
/// * What was sealed for a place opens there, byte for byte, and nowhere else.
/// * What was changed in any way does not open.
/// * Sealing the same secret twice gives two different results.
/// * The result tells at most how long a secret is.
/// * Secrets sealed with any key that the cipher holds open; new ones are sealed with one of them,
///   always the same.
///
/// The suite `trove_testkit::secret_cipher` is the executable form of this list.
pub trait SecretCipher: Send + Sync + 'static {
    /// The key that new secrets are sealed with.
    fn key(&self) -> &SecretKeyId;

    /// Encrypts `secret` for `place`.
    ///
    /// # Errors
    ///
    /// [`SecretCipherError::TooLong`].
    fn seal(
        &self,
        secret: &SecretString,
        place: SecretPlace,
    ) -> Result<SealedSecret, SecretCipherError>;

    /// Decrypts what was sealed for `place`.
    ///
    /// # Errors
    ///
    /// [`SecretCipherError::UnknownKey`], [`SecretCipherError::Damaged`].
    fn open(
        &self,
        sealed: &SealedSecret,
        place: SecretPlace,
    ) -> Result<SecretString, SecretCipherError>;
}

/// Why a secret was not sealed or opened. Never holds a part of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SecretCipherError {
    /// The key that opens it is not at hand.
    #[error("the secret was sealed with key {key}, which this process does not have")]
    UnknownKey {
        /// The key in question.
        key: SecretKeyId,
    },
    /// It was changed, or belongs somewhere else.
    #[error("the {field} of {table} {row} was damaged, or was sealed for another place", table = .place.table, row = .place.row, field = .place.field)]
    Damaged {
        /// Where it was found.
        place: SecretPlace,
    },
    /// It has more bytes than can be sealed.
    #[error("the secret is too long to be sealed")]
    TooLong,
}

impl Classify for SecretCipherError {
    fn kind(&self) -> ErrorKind {
        match self {
            // Another process changed the key; one that is started again has it.
            Self::UnknownKey { .. } => ErrorKind::Unavailable,
            Self::Damaged { .. } => ErrorKind::Internal,
            Self::TooLong => ErrorKind::Invalid,
        }
    }
}
