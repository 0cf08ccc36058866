use std::io;
use std::path::{Path, PathBuf};

use trove_domain::port::AuditLogError;

/// Why the audit log cannot be opened, written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The system refuses.
    #[error("the audit log {} cannot be used", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// What is there is not what was written.
    #[error(
        "the audit log {} is damaged ({what}); `trove audit verify` says where. Keep it as evidence: \
         move the folder away, and a new log begins",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
}

impl OpenError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }

    pub(crate) fn damaged(path: &Path, what: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), what: what.into() }
    }

    pub(crate) fn of_port(self, done: &'static str) -> AuditLogError {
        match self {
            Self::Damaged { .. } => AuditLogError::Damaged(self.to_string()),
            Self::Io { .. } => AuditLogError::Unavailable { done, source: Box::new(self) },
        }
    }
}
