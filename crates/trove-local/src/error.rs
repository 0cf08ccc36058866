//! Why a model is not there.

use std::io;
use std::path::PathBuf;

use crate::weights::WeightsError;
use crate::word_pieces::WordPiecesError;

/// Why the model was not loaded. The text names the file and the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A file of the model is not there.
    #[error("{} is missing; run `trove model pull` to get it", path.display())]
    Missing {
        /// Where it was expected.
        path: PathBuf,
    },
    /// A file of the model cannot be read.
    #[error("{} cannot be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
    /// A file of the model is not the one this program was made for.
    #[error(
        "{} is damaged or of another model: its SHA-256 is {actual}, expected {expected}; run \
         `trove model pull` to replace it",
        path.display()
    )]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// SHA-256 of the right file.
        expected: String,
        /// SHA-256 of this file.
        actual: String,
    },
    /// A file of the model is not in its format.
    #[error(
        "{} is damaged or of another model; run `trove model pull` to replace it",
        path.display()
    )]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The threads that compute cannot be started.
    #[error("the threads of the embedding model cannot be started")]
    Threads(#[source] io::Error),
}

impl LoadError {
    pub(crate) fn read(path: PathBuf, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::NotFound => Self::Missing { path },
            io::ErrorKind::UnexpectedEof => Self::Format { path, source: source.into() },
            _ => Self::Read { path, source },
        }
    }

    pub(crate) fn weights(path: PathBuf, source: WeightsError) -> Self {
        match source {
            WeightsError::Read(source) => Self::read(path, source),
            other => Self::Format { path, source: other.into() },
        }
    }

    pub(crate) fn word_pieces(path: PathBuf, source: WordPiecesError) -> Self {
        Self::Format { path, source: source.into() }
    }
}

/// The computation of a vector was given up: the model is being dropped, or a fault in it was
/// caught and logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the embedding model gave up on this text")]
pub(crate) struct GaveUp;
