//! Connections, and how one query body runs on both databases.

use std::error::Error;
use std::path::PathBuf;
use std::sync::{Mutex as BlockingMutex, PoisonError};
use std::time::Duration;

use diesel::connection::AnsiTransactionManager;
use diesel::{QueryResult, SqliteConnection};
use diesel_async::pooled_connection::deadpool::Pool;
use diesel_async::sync_connection_wrapper::{SpawnBlocking, SyncConnectionWrapper};
use diesel_async::{AsyncConnection, AsyncPgConnection, SimpleAsyncConnection, TransactionManager};
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, TryFutureExt};
use tokio::sync::{Mutex, Semaphore};

pub(crate) type Sqlite = SyncConnectionWrapper<SqliteConnection, Blocking>;

/// Runs the calls of SQLite on the threads for blocking work of whichever runtime asks.
///
/// A call whose caller goes away ends by itself, and its connection with it. What comes with
/// diesel-async waits for the call instead: it holds up a thread of the runtime, and panics on a
/// runtime of one thread, as workers of an HTTP server are.
pub(crate) struct Blocking;

impl SpawnBlocking for Blocking {
    fn spawn_blocking<'a, R>(
        &mut self,
        task: impl FnOnce() -> R + Send + 'static,
    ) -> BoxFuture<'a, Result<R, Box<dyn Error + Send + Sync + 'static>>>
    where
        R: Send + 'static,
    {
        tokio::task::spawn_blocking(task).map_err(Box::from).boxed()
    }

    fn get_runtime() -> Self {
        Self
    }
}

/// Keys in one statement: SQLite accepts 32,766 values.
pub(crate) const KEYS_MAX: usize = 1000;

pub(crate) enum Backend {
    Sqlite(SqliteBackend),
    Postgres(Pool<AsyncPgConnection>),
}

/// One writer, a few readers.
///
/// SQLite lets one connection write at a time; a queue in the process is fairer and quicker than
/// its busy loop. Readers see the last commit and wait for nobody (write-ahead log).
///
/// A connection is taken out while it is used. When the future that uses it is dropped in the
/// middle of a transaction the connection goes with it, which rolls back, and the next user makes
/// a new one.
pub(crate) struct SqliteBackend {
    path: PathBuf,
    busy_timeout: Duration,
    pub(crate) writer: Mutex<Option<Sqlite>>,
    readers: Semaphore,
    idle: BlockingMutex<Vec<Sqlite>>,
}

impl SqliteBackend {
    pub(crate) fn new(path: PathBuf, busy_timeout: Duration, readers: usize) -> Self {
        Self {
            path,
            busy_timeout,
            writer: Mutex::new(None),
            readers: Semaphore::new(readers),
            idle: BlockingMutex::new(Vec::new()),
        }
    }

    pub(crate) async fn connect(&self) -> diesel::ConnectionResult<Sqlite> {
        let mut connection = Sqlite::establish(&self.path.to_string_lossy()).await?;
        let pragmas = format!(
            "PRAGMA busy_timeout = {};
             PRAGMA journal_mode = WAL;
             PRAGMA synchronous = FULL;
             PRAGMA foreign_keys = ON;",
            self.busy_timeout.as_millis()
        );
        connection
            .batch_execute(&pragmas)
            .await
            .map_err(diesel::ConnectionError::CouldntSetupConfiguration)?;
        Ok(connection)
    }

    /// A connection to read with, and the right to use it.
    pub(crate) async fn reader(
        &self,
    ) -> diesel::ConnectionResult<(tokio::sync::SemaphorePermit<'_>, Sqlite)> {
        let permit = self
            .readers
            .acquire()
            .await
            .map_err(|error| diesel::ConnectionError::BadConnection(error.to_string()))?;
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => self.connect().await?,
        };
        Ok((permit, connection))
    }

    pub(crate) fn give_back(&self, connection: Sqlite) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
    }

    /// Closes what is idle, after writing the log into the database.
    pub(crate) async fn close(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let mut writer = self.writer.lock().await;
        if let Some(connection) = writer.as_mut()
            && let Err(error) = connection.batch_execute("PRAGMA wal_checkpoint(TRUNCATE);").await
        {
            let error: &dyn std::error::Error = &error;
            tracing::warn!(
                error,
                "the write-ahead log could not be folded into the database; the next start does it"
            );
        }
        *writer = None;
    }
}

/// Begins a transaction, `IMMEDIATE` or `EXCLUSIVE`. One that is never ended goes with its
/// connection.
pub(crate) async fn begin(connection: &mut Sqlite, kind: &'static str) -> QueryResult<()> {
    let begin = move |connection: &mut SqliteConnection| {
        AnsiTransactionManager::begin_transaction_sql(connection, &format!("BEGIN {kind}"))
    };
    connection.spawn_blocking(begin).await
}

/// Commits what went well, and rolls back what did not.
pub(crate) async fn end<T, E: From<diesel::result::Error>>(
    connection: &mut Sqlite,
    result: Result<T, E>,
) -> Result<T, E> {
    type Manager = <Sqlite as AsyncConnection>::TransactionManager;
    match result {
        Ok(_) => Manager::commit_transaction(connection).await?,
        Err(_) => Manager::rollback_transaction(connection).await?,
    }
    result
}

/// Runs a body that only reads, with a connection of either database. The body ends in
/// `Result<_, Failure>`.
macro_rules! read {
    ($store:expr, $operation:literal, |$conn:ident| $body:block) => {
        match $store.backend() {
            $crate::backend::Backend::Sqlite(sqlite) => {
                let (_permit, mut connection) =
                    sqlite.reader().await.map_err($crate::error::unavailable($operation))?;
                let $conn = &mut connection;
                let result: Result<_, $crate::error::Failure> = async { $body }.await;
                // After an error of the driver its connection is not trusted any more.
                if !matches!(result, Err($crate::error::Failure::Query(_))) {
                    sqlite.give_back(connection);
                }
                result.map_err($crate::error::failed($operation))
            }
            $crate::backend::Backend::Postgres(pool) => {
                let mut connection =
                    pool.get().await.map_err($crate::error::unavailable($operation))?;
                let $conn = &mut *connection;
                let result: Result<_, $crate::error::Failure> = async { $body }.await;
                result.map_err($crate::error::failed($operation))
            }
        }
    };
}

/// Runs a body in a transaction, with a connection of either database. The body ends in
/// `Result<_, Failure>`; an error rolls back. `refused` is the answer for [`Failure::Refused`].
macro_rules! transact {
    ($store:expr, $operation:literal, |$conn:ident| $body:block) => {
        transact!(@run $store, $operation, |$conn| $body)
            .map_err($crate::error::failed($operation))
    };
    ($store:expr, $operation:literal, refused $no:expr, |$conn:ident| $body:block) => {
        match transact!(@run $store, $operation, |$conn| $body) {
            Err($crate::error::Failure::Refused) => Ok($no),
            other => other.map_err($crate::error::failed($operation)),
        }
    };
    (@run $store:expr, $operation:literal, |$conn:ident| $body:block) => {
        match $store.backend() {
            $crate::backend::Backend::Sqlite(sqlite) => {
                let mut slot = sqlite.writer.lock().await;
                let mut connection = match slot.take() {
                    Some(connection) => connection,
                    None => {
                        sqlite.connect().await.map_err($crate::error::unavailable($operation))?
                    }
                };
                let result = match $crate::backend::begin(&mut connection, "IMMEDIATE").await {
                    Ok(()) => {
                        let $conn = &mut connection;
                        let result: Result<_, $crate::error::Failure> = async { $body }.await;
                        $crate::backend::end(&mut connection, result).await
                    }
                    Err(error) => Err(error.into()),
                };
                // After an error of the driver its connection is not trusted any more.
                if !matches!(result, Err($crate::error::Failure::Query(_))) {
                    *slot = Some(connection);
                }
                result
            }
            $crate::backend::Backend::Postgres(pool) => {
                let mut connection =
                    pool.get().await.map_err($crate::error::unavailable($operation))?;
                // The pool's guard has transactions of its own.
                let connection: &mut diesel_async::AsyncPgConnection = &mut connection;
                connection
                    .transaction(
                        async |$conn: &mut diesel_async::AsyncPgConnection|
                            -> Result<_, $crate::error::Failure> { $body },
                    )
                    .await
            }
        }
    };
}

pub(crate) use {read, transact};
