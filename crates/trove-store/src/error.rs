//! What databases say, in the words of the ports.

use std::path::Path;

use diesel::result::{DatabaseErrorKind, Error as DieselError};
use trove_domain::error::{Source, StoreError};

/// Why a database could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The file cannot be opened or made.
    #[error("the database {path} cannot be opened; file and folder must be readable and writable")]
    File {
        /// The file.
        path: String,
        /// Why.
        #[source]
        source: Source,
    },
    /// The file is something else, or damaged.
    #[error("{path} is not an SQLite database, or is damaged; restore it, or choose another place")]
    NotADatabase {
        /// The file.
        path: String,
        /// What SQLite said.
        #[source]
        source: Source,
    },
    /// Another process is at work on the file.
    #[error("another process holds the database {path}; stop it, or wait until it is done")]
    Locked {
        /// The file.
        path: String,
        /// What SQLite said.
        #[source]
        source: Source,
    },
    /// The server does not answer or refuses.
    #[error("PostgreSQL at {address} cannot be reached; check the address, user and password")]
    Connect {
        /// Host and database, without a password.
        address: String,
        /// Why.
        #[source]
        source: Source,
    },
    /// The server shows a certificate that nobody vouches for.
    #[error(
        "the certificate of PostgreSQL at {address} is not trusted; add its authority to the \
         certificates of this machine, or write sslmode=disable"
    )]
    Certificate {
        /// Host and database.
        address: String,
        /// What is wrong with it.
        #[source]
        source: Source,
    },
    /// The address is not one. What the parser said may be a part of the password, and is not here.
    #[error(
        "the database URL is not valid; write postgres://USER:PASSWORD@HOST:PORT/DATABASE, with \
         special characters of user and password percent-encoded"
    )]
    Url,
    /// The schema is from the future.
    #[error(
        "the database was written by a newer version of Trove (schema {found}, this one knows up \
         to {known}); upgrade the binary"
    )]
    Newer {
        /// Version of the schema in the database.
        found: String,
        /// Latest version that this binary knows.
        known: &'static str,
    },
    /// A migration failed; the schema is as before.
    #[error("the database schema could not be brought to version {version}")]
    Migration {
        /// The version in question.
        version: String,
        /// Why.
        #[source]
        source: Source,
    },
}

impl OpenError {
    /// What the driver said of a file.
    pub(crate) fn of_file(path: &Path, source: Source) -> Self {
        let said = source.to_string();
        let says = |words: &[&str]| words.iter().any(|words| said.contains(words));
        let path = path.display().to_string();
        if says(&["is not a database", "malformed"]) {
            Self::NotADatabase { path, source }
        } else if says(&["is locked"]) {
            Self::Locked { path, source }
        } else {
            Self::File { path, source }
        }
    }

    /// What the driver said of a server.
    pub(crate) fn of_server(address: &str, source: Source) -> Self {
        let address = address.to_owned();
        if source.to_string().contains("invalid peer certificate") {
            Self::Certificate { address, source }
        } else {
            Self::Connect { address, source }
        }
    }
}

/// What a step inside a transaction ends with.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The database refused.
    Query(DieselError),
    /// A row that is no entity.
    Corrupt { entity: &'static str, id: String, source: Source },
    /// A rule forbids the step, which is undone. Its method turns this into an answer.
    Refused,
}

impl From<DieselError> for Failure {
    fn from(error: DieselError) -> Self {
        Self::Query(error)
    }
}

/// For rows that do not parse.
pub(crate) fn corrupt<E: Into<Source>>(
    entity: &'static str,
    id: impl ToString,
) -> impl FnOnce(E) -> Failure {
    move |source| Failure::Corrupt { entity, id: id.to_string(), source: source.into() }
}

/// Turns what a step ended with into the port's error.
pub(crate) fn failed(operation: &'static str) -> impl Fn(Failure) -> StoreError {
    move |failure| match failure {
        Failure::Corrupt { entity, id, source } => StoreError::Corrupt { entity, id, source },
        Failure::Query(error) if is_transient(&error) => {
            StoreError::Unavailable { operation, source: error.into() }
        }
        Failure::Query(error) => StoreError::Backend { operation, source: error.into() },
        Failure::Refused => {
            StoreError::Backend { operation, source: DieselError::RollbackTransaction.into() }
        }
    }
}

/// For connections that cannot be had.
pub(crate) fn unavailable<E: Into<Source>>(operation: &'static str) -> impl Fn(E) -> StoreError {
    move |source| StoreError::Unavailable { operation, source: source.into() }
}

/// What the drivers report by text only: of SQLite, then of PostgreSQL.
const TRANSIENT: [&str; 9] = [
    "database is locked",
    "database table is locked",
    "database or disk is full",
    "disk I/O error",
    "due to statement timeout",
    "deadlock detected",
    "No space left on device",
    "the database system is",
    "terminating connection",
];

/// Whether the same statement may succeed later: locks, timeouts, full disks, lost connections.
fn is_transient(error: &DieselError) -> bool {
    match error {
        DieselError::DatabaseError(kind, information) => match kind {
            DatabaseErrorKind::ClosedConnection
            | DatabaseErrorKind::UnableToSendCommand
            | DatabaseErrorKind::SerializationFailure => true,
            DatabaseErrorKind::Unknown => {
                TRANSIENT.iter().any(|transient| information.message().contains(transient))
            }
            _ => false,
        },
        DieselError::BrokenTransactionManager => true,
        _ => false,
    }
}

/// Whether a step failed because another one was first.
pub(crate) fn is_taken(error: &StoreError) -> bool {
    matches!(error, StoreError::Backend { source, .. } if matches!(
        source.downcast_ref(),
        Some(DieselError::DatabaseError(DatabaseErrorKind::UniqueViolation, _))
    ))
}
