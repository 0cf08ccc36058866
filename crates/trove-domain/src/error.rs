//! What the outermost layer needs to know about a failure.

use std::time::Duration;

/// The cause of an adapter's failure, kept for the log and never shown to a caller.
pub type Source = Box<dyn std::error::Error + Send + Sync + 'static>;

/// The kinds of failure that a transport distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The request is well formed, yet asks for something that a rule forbids.
    Invalid,
    /// It is larger than what is accepted.
    TooLarge,
    /// Nobody is signed in, or the credential is not valid.
    Unauthenticated,
    /// The caller is known and may not do this.
    Forbidden,
    /// The object does not exist for this caller.
    NotFound,
    /// The object's present state does not allow the change.
    Conflict,
    /// The caller has used up an allowance.
    RateLimited,
    /// The deployment has no seat left for another user.
    SeatLimit,
    /// The deployment does not have this feature.
    Unsupported,
    /// A dependency does not answer; trying again may help.
    Unavailable,
    /// There is no room left to store anything; an operator has to make some.
    StorageFull,
    /// The work did not finish in its time.
    DeadlineExceeded,
    /// A fault of ours; trying again will not help.
    Internal,
}

/// Sorts an error into an [`ErrorKind`].
pub trait Classify: std::error::Error + Send + Sync + 'static {
    /// The kind of this failure.
    fn kind(&self) -> ErrorKind;

    /// A finer name of it for programs, where clients know one: `PERSONA_NOT_FOUND`.
    fn code(&self) -> Option<&'static str> {
        None
    }

    /// When to try again, where that is known.
    fn retry_after(&self) -> Option<Duration> {
        None
    }
}

/// What systems and the libraries above them say of a storage without room. Several of them say it
/// in words only.
const FULL: [&str; 7] = [
    "No space left on device",
    "File too large",
    "StorageFull",
    "Disk quota exceeded",
    "QuotaExceeded",
    "database or disk is full",
    "could not extend file",
];

/// Whether a storage without room is behind a failure of an adapter.
#[must_use]
pub fn is_storage_full(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        let said = error.to_string();
        if FULL.iter().any(|full| said.contains(full)) {
            return true;
        }
        cause = error.source();
    }
    false
}

/// The kind of a failure of an adapter: `otherwise`, unless its storage is full.
pub(crate) fn kind_of(source: &Source, otherwise: ErrorKind) -> ErrorKind {
    if is_storage_full(source.as_ref()) { ErrorKind::StorageFull } else { otherwise }
}

/// What every store port answers when it fails.
///
/// Rule violations a caller branches on are not here: they are outcomes in the return types of
/// the store methods.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The database cannot be reached or is busy; trying again may help.
    #[error("the database is unavailable in {operation}")]
    Unavailable {
        /// Which store method failed, as `<entity>.<verb>`.
        operation: &'static str,
        /// What the driver said.
        #[source]
        source: Source,
    },
    /// A row that is no valid entity.
    #[error("{entity} {id} in the database is not valid")]
    Corrupt {
        /// Kind of entity.
        entity: &'static str,
        /// Its key.
        id: String,
        /// What is wrong with it.
        #[source]
        source: Source,
    },
    /// Anything else; trying again will not help.
    #[error("the database failed in {operation}")]
    Backend {
        /// Which store method failed, as `<entity>.<verb>`.
        operation: &'static str,
        /// What the driver said.
        #[source]
        source: Source,
    },
}

impl Classify for StoreError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Unavailable { source, .. } => kind_of(source, ErrorKind::Unavailable),
            Self::Backend { source, .. } => kind_of(source, ErrorKind::Internal),
            Self::Corrupt { .. } => ErrorKind::Internal,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::{Classify, ErrorKind, StoreError};

    #[test]
    fn a_full_storage_is_recognised_below_other_errors() {
        let kind = |source: io::Error| {
            let source = Box::new(source);
            StoreError::Backend { operation: "test", source }.kind()
        };
        // ENOSPC and EDQUOT of Linux.
        assert_eq!(kind(io::Error::from_raw_os_error(28)), ErrorKind::StorageFull);
        assert_eq!(kind(io::Error::from_raw_os_error(122)), ErrorKind::StorageFull);
        let inner = io::Error::other("database or disk is full");
        assert_eq!(kind(io::Error::other(inner)), ErrorKind::StorageFull);
        assert_eq!(kind(io::ErrorKind::PermissionDenied.into()), ErrorKind::Internal);
    }
}
