use trove_domain::credential::{Credential, StaleMask};
use trove_domain::error::{Classify, ErrorKind, StoreError};
use trove_domain::id::CredentialId;
use trove_domain::port::{CredentialRefusal, SecretCipherError};

use crate::administration::CuratorError;

/// Why a credential was not made, shown, changed or deleted. It never holds a secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CredentialError {
    /// There is no such credential that the caller may use or change.
    #[error("Credential {0} does not exist or does not belong to user")]
    NotYours(CredentialId),
    /// There is no such credential that the caller may delete.
    #[error("Credential {0} does not exist or does not belong to user")]
    NothingToDelete(CredentialId),
    /// Pairs are read with it.
    #[error(
        "Cannot delete credential as it is still associated with {pairs} connector(s) and \
         {documents} document(s). "
    )]
    InUse {
        /// How many.
        pairs: u64,
        /// How many documents they hold.
        documents: u64,
    },
    /// A curator may not do this.
    #[error(transparent)]
    Curator(#[from] CuratorError),
    /// A group does not exist.
    #[error("groups: one of them does not exist")]
    UnknownGroup,
    /// There are too many.
    #[error("there are {max} credentials already; delete some first", max = Credential::COUNT_MAX)]
    Full,
    /// It holds too much.
    #[error("credential_json: a credential has at most {max} bytes", max = Credential::CONTENT_BYTES_MAX)]
    TooLarge,
    /// A mask was sent in place of a secret.
    #[error(transparent)]
    Masked(#[from] StaleMask),
    /// The uploaded file is no private key.
    #[error("{0}")]
    PrivateKey(&'static str),
    /// Others keep changing it.
    #[error("the credential was changed by others at the same time; look at it and try again")]
    Busy,
    /// There is no key for secrets in this process.
    #[error("this process has no key for secrets")]
    NoCipher,
    /// The key for secrets was changed while this process ran.
    #[error("the key for secrets was changed while this process ran; start it again")]
    KeyChanged,
    /// A secret could not be sealed or opened.
    #[error("a secret of a credential cannot be used")]
    Cipher(#[from] SecretCipherError),
    /// The stored content is not what was stored.
    #[error("the content of credential {0} is damaged")]
    Damaged(CredentialId),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl CredentialError {
    /// Why a credential was not stored.
    pub(in crate::administration) fn of(refusal: CredentialRefusal) -> Self {
        match refusal {
            CredentialRefusal::NoSuchGroup => Self::UnknownGroup,
            CredentialRefusal::KeyChanged => Self::KeyChanged,
            CredentialRefusal::Full => Self::Full,
            CredentialRefusal::Superseded => Self::Busy,
        }
    }
}

impl Classify for CredentialError {
    fn kind(&self) -> ErrorKind {
        match self {
            // Not 404, for clients of the reference.
            Self::NotYours(_) => ErrorKind::Unauthenticated,
            Self::NothingToDelete(_)
            | Self::InUse { .. }
            | Self::UnknownGroup
            | Self::Full
            | Self::TooLarge
            | Self::Masked(_)
            | Self::PrivateKey(_) => ErrorKind::Invalid,
            Self::Busy => ErrorKind::Conflict,
            Self::NoCipher | Self::Damaged(_) => ErrorKind::Internal,
            Self::KeyChanged => ErrorKind::Unavailable,
            Self::Curator(error) => error.kind(),
            Self::Cipher(error) => error.kind(),
            Self::Store(error) => error.kind(),
        }
    }
}
