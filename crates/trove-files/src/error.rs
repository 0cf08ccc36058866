//! Which failures may pass.

use std::error::Error;
use std::io;

use trove_domain::port::FileStoreError;

/// Sorts an error of an object store.
pub(crate) fn from_store(
    operation: &'static str,
) -> impl Fn(object_store::Error) -> FileStoreError {
    move |error| {
        let transient = cause_of(&error).is_some_and(|cause| is_transient(cause.kind()));
        sorted(operation, transient, error)
    }
}

/// Sorts an error of the operating system.
pub(crate) fn from_io(operation: &'static str) -> impl Fn(io::Error) -> FileStoreError {
    move |error| sorted(operation, is_transient(error.kind()), error)
}

fn sorted(
    operation: &'static str,
    transient: bool,
    error: impl Error + Send + Sync + 'static,
) -> FileStoreError {
    let source = Box::new(error);
    if transient {
        FileStoreError::Unavailable { operation, source }
    } else {
        FileStoreError::Backend { operation, source }
    }
}

/// The first error of the operating system in the chain.
fn cause_of<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e io::Error> {
    let mut cause = Some(error);
    while let Some(current) = cause {
        if let Some(found) = current.downcast_ref() {
            return Some(found);
        }
        cause = current.source();
    }
    None
}

/// Whether time or an operator who makes room can help. A missing permission and a broken disk
/// stay.
fn is_transient(kind: io::ErrorKind) -> bool {
    use io::ErrorKind as Kind;
    matches!(
        kind,
        Kind::StorageFull
            | Kind::QuotaExceeded
            | Kind::OutOfMemory
            | Kind::ResourceBusy
            | Kind::Interrupted
            | Kind::WouldBlock
            | Kind::TimedOut
            | Kind::StaleNetworkFileHandle
            | Kind::HostUnreachable
            | Kind::NetworkUnreachable
            | Kind::NetworkDown
            | Kind::NotConnected
            | Kind::ConnectionRefused
            | Kind::ConnectionReset
            | Kind::ConnectionAborted
            | Kind::BrokenPipe
    )
}

#[cfg(test)]
mod tests {
    use std::io;

    use trove_domain::error::{Classify, ErrorKind};

    use super::{from_io, from_store};

    fn kind_of(error: io::Error) -> ErrorKind {
        let nested = object_store::Error::Generic {
            store: "test",
            source: Box::new(object_store::Error::Generic {
                store: "inner",
                source: Box::new(error),
            }),
        };
        from_store("files.put")(nested).kind()
    }

    #[test]
    fn a_full_disk_is_named_and_a_missing_permission_does_not() {
        assert_eq!(kind_of(io::ErrorKind::TimedOut.into()), ErrorKind::Unavailable);
        // ENOSPC and EDQUOT of Linux.
        assert_eq!(kind_of(io::Error::from_raw_os_error(28)), ErrorKind::StorageFull);
        assert_eq!(kind_of(io::Error::from_raw_os_error(122)), ErrorKind::StorageFull);
        assert_eq!(kind_of(io::ErrorKind::PermissionDenied.into()), ErrorKind::Internal);
        assert_eq!(kind_of(io::Error::other("broken")), ErrorKind::Internal);
        assert_eq!(
            from_store("files.put")(object_store::Error::NotImplemented {
                operation: "put".to_owned(),
                implementer: "test".to_owned(),
            })
            .kind(),
            ErrorKind::Internal
        );
        assert_eq!(
            from_io("files.open")(io::ErrorKind::TimedOut.into()).kind(),
            ErrorKind::Unavailable
        );
    }
}
