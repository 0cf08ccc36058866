//! Failures below the port, converted where they arise.

use std::path::{Path, PathBuf};

use trove_domain::error::Source;
use trove_domain::port::DocumentIndexError;

/// What is wrong with a directory that should hold an index.
#[derive(Debug, thiserror::Error)]
pub enum IndexDirectoryError {
    /// A file cannot be read or written.
    #[error("cannot access `{}`", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Another process, or an index that was closed a moment ago, works in it.
    #[error("`{}` is in use by another document index", path.display())]
    InUse {
        /// The directory.
        path: PathBuf,
    },
    /// Written by a later release.
    #[error(
        "`{}` has format {found}, this release reads up to format {supported}: use the release that wrote it, or a newer one",
        path.display()
    )]
    NewerFormat {
        /// The directory.
        path: PathBuf,
        /// Format of the directory.
        found: u32,
        /// Latest format that is understood.
        supported: u32,
    },
    /// Written by a release that tells words apart in another way, or stores other fields.
    #[error(
        "`{}` was written by another release, whose words this one does not know: use that release, or remove the directory and index the documents again",
        path.display()
    )]
    OtherSchema {
        /// The directory.
        path: PathBuf,
    },
    /// Its vectors were made by another model.
    #[error(
        "`{}` holds vectors of the embedding model {want}, which cannot be compared with those of {got}: go back to the settings or the release of Trove that made them, or remove the directory and index the documents again",
        path.display()
    )]
    OtherModel {
        /// The directory.
        path: PathBuf,
        /// The model of the directory.
        want: String,
        /// The model that it was to be opened with.
        got: String,
    },
    /// A part is missing or unreadable.
    #[error("`{}` does not hold a complete document index: {problem}; restore it from a backup, or remove it and index again", path.display())]
    Damaged {
        /// The directory.
        path: PathBuf,
        /// Which part, and what is wrong with it.
        problem: String,
    },
}

impl IndexDirectoryError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }

    pub(crate) fn damaged(path: &Path, problem: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), problem: problem.into() }
    }
}

/// For `map_err`: a failure that trying again does not mend.
pub(crate) fn backend<E: Into<Source>>(
    operation: &'static str,
) -> impl FnOnce(E) -> DocumentIndexError {
    move |source| DocumentIndexError::Backend { operation, source: source.into() }
}

/// The index is being shut down, or a thread of it is gone.
pub(crate) fn stopped(operation: &'static str) -> DocumentIndexError {
    DocumentIndexError::Unavailable { operation, source: "the index is closed".into() }
}

/// A message for a log line from an error with its causes.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
