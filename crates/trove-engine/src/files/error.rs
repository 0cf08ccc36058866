//! Why files were not stored or changed.

use trove_domain::error::{Classify, ErrorKind, StoreError};
use trove_domain::id::ConnectorId;
use trove_domain::port::{FileStoreError, UnpackError};

use super::UploadLimits;
use crate::administration::ConnectorError;

/// Why files were not stored or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// There is no place for files.
    #[error("files cannot be uploaded to this deployment")]
    NoStore,
    /// A file is too large.
    #[error("{name} has more than {max} bytes ({setting})", setting = UploadLimits::FILE_SETTING)]
    TooLarge {
        /// The file.
        name: String,
        /// Most that is accepted.
        max: u64,
    },
    /// There are too many files.
    #[error("more than {0} files are not accepted at once")]
    TooMany(usize),
    /// A name is too long.
    #[error("the name of a file has at most {0} characters")]
    NameTooLong(usize),
    /// There is a second archive.
    #[error(
        "Only one zip file is allowed per file connector, use the ingestion APIs for multiple files"
    )]
    SecondArchive,
    /// An archive is no good.
    #[error(transparent)]
    Archive(#[from] UnpackError),
    /// What tells about the files is no good.
    #[error("Unable to load {name}: {0}", name = super::metadata::FILE_NAME)]
    Metadata(String),
    /// What was sent did not come to its end.
    #[error("the upload did not come to its end")]
    Interrupted,
    /// There is no such connector, or none of its pairs is the caller's to see.
    #[error("Connector not found")]
    NoSuchConnector,
    /// It reads something else.
    #[error("This endpoint only works with file connectors")]
    NotFiles,
    /// The connector has no pair.
    #[error("No Connector-Credential Pair found for this connector")]
    NoPair,
    /// It is being deleted.
    #[error(
        "connector {0} is being deleted, and its files with it; make a new connector for these \
         files"
    )]
    Deleting(ConnectorId),
    /// Others keep changing it.
    #[error(
        "the files of the connector were changed by others again and again meanwhile, and nothing \
         was stored; send the request again"
    )]
    Busy,
    /// What is to be removed is not said in JSON.
    #[error("Invalid file_ids_to_remove format")]
    RemovalSyntax,
    /// What is to be removed is no list of ids.
    #[error("file_ids_to_remove must be a JSON-encoded list")]
    RemovalNoList,
    /// Nothing would be left.
    #[error("Cannot remove all files from connector. At least one file must remain.")]
    NothingLeft,
    /// What is stored about the files of a connector cannot be read.
    #[error("what is known about the files of connector {0} cannot be read")]
    LostMetadata(ConnectorId),
    /// The connector cannot be changed.
    #[error(transparent)]
    Connector(#[from] ConnectorError),
    /// The file store failed.
    #[error(transparent)]
    Files(FileStoreError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Classify for FileError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoStore => ErrorKind::Unsupported,
            Self::TooLarge { .. } => ErrorKind::TooLarge,
            Self::TooMany(_)
            | Self::NameTooLong(_)
            | Self::SecondArchive
            | Self::Metadata(_)
            | Self::Interrupted
            | Self::NotFiles
            | Self::Deleting(_)
            | Self::RemovalSyntax
            | Self::RemovalNoList
            | Self::NothingLeft => ErrorKind::Invalid,
            Self::NoSuchConnector | Self::NoPair => ErrorKind::NotFound,
            Self::Busy => ErrorKind::Conflict,
            Self::LostMetadata(_) => ErrorKind::Internal,
            Self::Archive(error) => error.kind(),
            Self::Connector(error) => error.kind(),
            Self::Files(error) => error.kind(),
            Self::Store(error) => error.kind(),
        }
    }
}

impl From<FileStoreError> for FileError {
    fn from(error: FileStoreError) -> Self {
        match error {
            // The store tells the end of the content from one that broke off.
            FileStoreError::Interrupted { .. } => Self::Interrupted,
            other => Self::Files(other),
        }
    }
}
