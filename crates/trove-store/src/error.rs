//! What databases say, in the words of the ports.

use diesel::result::{DatabaseErrorKind, Error as DieselError};
use trove_domain::error::{Source, StoreError};

/// Why a database could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The file cannot be opened or made.
    #[error("the database {path} cannot be opened; it must be a readable and writable SQLite file")]
    File {
        /// The file.
        path: String,
        /// Why.
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
    /// The address is not one.
    #[error("the database URL is not valid; write postgres://USER:PASSWORD@HOST:PORT/DATABASE")]
    Url(#[source] Source),
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

/// What a step inside a transaction ends with.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The database refused.
    Query(DieselError),
    /// A row that is no entity.
    Corrupt { entity: &'static str, id: String, source: Source },
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
    }
}

/// For connections that cannot be had.
pub(crate) fn unavailable<E: Into<Source>>(operation: &'static str) -> impl Fn(E) -> StoreError {
    move |source| StoreError::Unavailable { operation, source: source.into() }
}

/// Whether the same statement may succeed later: locks, timeouts, full disks, lost connections.
fn is_transient(error: &DieselError) -> bool {
    match error {
        DieselError::DatabaseError(kind, information) => match kind {
            DatabaseErrorKind::ClosedConnection
            | DatabaseErrorKind::UnableToSendCommand
            | DatabaseErrorKind::SerializationFailure => true,
            _ => {
                // SQLite reports these by text only.
                let message = information.message();
                ["database is locked", "database or disk is full", "disk I/O error", "timeout"]
                    .iter()
                    .any(|transient| message.contains(transient))
            }
        },
        DieselError::BrokenTransactionManager => true,
        _ => false,
    }
}

/// Whether a statement failed because what it refers to does not exist.
pub(crate) fn is_missing_reference(error: &DieselError) -> bool {
    matches!(error, DieselError::DatabaseError(DatabaseErrorKind::ForeignKeyViolation, _))
}
