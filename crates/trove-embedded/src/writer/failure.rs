//! Why a write failed, where the libraries below say only that it did.
//!
//! It matters for one cause: a disk without room is for an operator to mend, and the write may be
//! asked for again then.

use std::path::Path;

use tantivy::{IndexWriter, TantivyError};
use trove_domain::error::{Source, is_storage_full};

use crate::dense::DenseError;

/// A failure without a cause of its own, on a disk that has too little room for what was written.
#[derive(Debug, thiserror::Error)]
#[error("No space left on device")]
struct NoRoom {
    #[source]
    source: Source,
}

/// What a worker of tantivy died of, when all that the writer says is that one did. Preparing a
/// commit asks the worker itself; the writer is of no use any more either way.
pub(super) fn cause_of(writer: &mut IndexWriter, error: TantivyError) -> TantivyError {
    if !matches!(error, TantivyError::ErrorInThread(_)) {
        return error;
    }
    match writer.prepare_commit() {
        Ok(_) => error,
        Err(cause) => cause,
    }
}

/// The failure, with the disk named as its cause when it names none and there is less room than
/// `needed`. A thread that panicked, of tantivy's or of Edge, leaves no other trace.
pub(super) fn explained(error: Source, needed: u64, room: impl FnOnce() -> Option<u64>) -> Source {
    let says_nothing = !is_storage_full(error.as_ref()) && is_unexplained(error.as_ref());
    if says_nothing && room().is_some_and(|room| room < needed) {
        NoRoom { source: error }.into()
    } else {
        error
    }
}

fn is_unexplained(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        let of_words = error.downcast_ref::<TantivyError>();
        let of_vectors = error.downcast_ref::<DenseError>();
        if matches!(of_words, Some(TantivyError::ErrorInThread(_)))
            || matches!(of_vectors, Some(DenseError::Panicked(_)))
        {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Bytes that may still be written below `path`; `None` when the system does not say.
pub(super) fn room_in(path: &Path) -> Option<u64> {
    let fs = rustix::fs::statvfs(path).ok()?;
    Some(fs.f_bavail.saturating_mul(fs.f_frsize))
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    fn kind_is_full(error: impl Into<Source>, room: Option<u64>) -> bool {
        is_storage_full(explained(error.into(), 100, || room).as_ref())
    }

    #[test]
    fn a_failure_without_a_cause_is_the_disks_when_it_has_no_room() {
        let died = || TantivyError::ErrorInThread("Any { .. }".to_owned());

        assert!(kind_is_full(died(), Some(99)));
        assert!(kind_is_full(DenseError::Panicked("update"), Some(0)));
        assert!(!kind_is_full(died(), Some(100)));
        assert!(!kind_is_full(died(), None));
    }

    #[test]
    fn a_failure_with_a_cause_keeps_it() {
        let denied = io::Error::from(io::ErrorKind::PermissionDenied);

        assert!(!kind_is_full(TantivyError::from(denied), Some(0)));
        assert!(!kind_is_full(DenseError::Closed, Some(0)));
        // ENOSPC of Linux.
        assert!(kind_is_full(io::Error::from_raw_os_error(28), None));
    }

    #[test]
    fn the_room_of_a_directory_is_known() {
        let dir = tempfile::tempdir().unwrap();

        assert!(room_in(dir.path()).is_some());
        assert_eq!(room_in(&dir.path().join("missing")), None);
    }
}
