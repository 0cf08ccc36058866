//! How a store begins and ends.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use diesel_async::pooled_connection::deadpool::Pool;
use diesel_async::pooled_connection::{AsyncDieselConnectionManager, ManagerConfig};
use diesel_async::{AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use futures_util::FutureExt;
use rustls::ClientConfig;
use secrecy::{ExposeSecret, SecretString};
use tokio_postgres::NoTls;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;
use trove_domain::error::{Source, StoreError};
use trove_domain::port::IdGenerator;

use crate::backend::{Backend, SqliteBackend, read};
use crate::error::{OpenError, unavailable};
use crate::{Shared, Store, migrate};

/// Where the SQLite database is and how it is used.
#[derive(Clone, Debug)]
pub struct SqliteConfig {
    /// The file; it is made when it does not exist.
    pub path: PathBuf,
    /// How long a statement waits for another process that holds the database.
    pub busy_timeout: Duration,
    /// Connections that read at the same time.
    pub readers: usize,
}

impl SqliteConfig {
    /// The database in `path`, with defaults for the rest.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), busy_timeout: Duration::from_secs(10), readers: 4 }
    }
}

/// Where PostgreSQL is and how it is used.
#[derive(Clone, Debug)]
pub struct PostgresConfig {
    /// `postgres://USER:PASSWORD@HOST:PORT/DATABASE`. With `sslmode` `prefer` (the default) the
    /// connection is encrypted if the server can, with `require`, `verify-ca` and `verify-full`
    /// always, with `disable` never. Whenever it is, the certificate has to name the host and
    /// come from an authority that this machine trusts.
    pub url: SecretString,
    /// Most connections.
    pub pool_size: usize,
    /// A statement that takes longer is given up.
    pub statement_timeout: Duration,
    /// How long making a connection may take.
    pub connect_timeout: Duration,
}

impl PostgresConfig {
    /// The database at `url`, with defaults for the rest.
    #[must_use]
    pub fn new(url: SecretString) -> Self {
        Self {
            url,
            pool_size: 16,
            statement_timeout: Duration::from_secs(30),
            connect_timeout: Duration::from_secs(10),
        }
    }

    /// Whether `url` is an address, with parameters that are known and have values they can have.
    #[must_use]
    pub fn is_address(url: &str) -> bool {
        parse(url).is_ok()
    }
}

/// Longest time that [`Store::ping`] takes.
const PING_MAX: Duration = Duration::from_secs(5);

/// After so long a silence the operating system asks whether the server is still there.
const KEEPALIVE_IDLE: Duration = Duration::from_mins(1);

impl Store {
    /// Opens a SQLite database and brings it to the present schema.
    ///
    /// # Errors
    ///
    /// [`OpenError`] says what to do.
    pub async fn open_sqlite(
        config: SqliteConfig,
        ids: Arc<dyn IdGenerator>,
    ) -> Result<Self, OpenError> {
        let path = config.path.clone();
        create_private(&path).map_err(|error| OpenError::of_file(&path, error.into()))?;
        let sqlite = SqliteBackend::new(config.path, config.busy_timeout, config.readers.max(1));
        let mut connection =
            sqlite.connect().await.map_err(|error| OpenError::of_file(&path, error.into()))?;
        migrate::sqlite(&mut connection, &path).await?;
        *sqlite.writer.lock().await = Some(connection);
        Ok(Self { shared: Arc::new(Shared { backend: Backend::Sqlite(sqlite), ids }) })
    }

    /// Connects to PostgreSQL and brings the database to the present schema.
    ///
    /// # Errors
    ///
    /// [`OpenError`] says what to do; it never holds the password.
    pub async fn open_postgres(
        config: PostgresConfig,
        ids: Arc<dyn IdGenerator>,
    ) -> Result<Self, OpenError> {
        let mut server = parse(config.url.expose_secret())?;
        server.connect_timeout(config.connect_timeout);
        // A server that fell silent is given up as fast as one that does not answer at first.
        server.tcp_user_timeout(config.connect_timeout);
        server.keepalives_idle(KEEPALIVE_IDLE);
        server.application_name("trove");
        let statement_timeout_ms = config.statement_timeout.as_millis();
        let options = format!("-c statement_timeout={statement_timeout_ms}");
        let options = match server.get_options() {
            Some(given) => format!("{given} {options}"),
            None => options,
        };
        server.options(options);
        let address = address(&server);
        let connect = |source: Source| OpenError::of_server(&address, source);

        let connection = tokio::time::timeout(config.connect_timeout, establish(server.clone()));
        let connection = connection.await.map_err(|elapsed| connect(elapsed.into()))?;
        let mut connection = connection.map_err(|error| connect(error.into()))?;
        // Waiting for a lock or for an index to be built is no reason to give up a migration.
        let patient = connection.batch_execute("SET statement_timeout = 0").await;
        patient.map_err(|error| connect(error.into()))?;
        migrate::postgres(&mut connection).await?;
        drop(connection);

        let mut manager = ManagerConfig::default();
        manager.custom_setup = Box::new(move |_| establish(server.clone()).boxed());
        // The address is part of the closure above.
        let manager = AsyncDieselConnectionManager::new_with_config("", manager);
        let pool = Pool::builder(manager)
            .max_size(config.pool_size.max(1))
            .wait_timeout(Some(config.connect_timeout))
            .create_timeout(Some(config.connect_timeout))
            .runtime(deadpool::Runtime::Tokio1)
            .build()
            .map_err(|error| connect(error.into()))?;
        Ok(Self { shared: Arc::new(Shared { backend: Backend::Postgres(pool), ids }) })
    }

    /// Whether the database answers, within seconds.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when it does not.
    pub async fn ping(&self) -> Result<(), StoreError> {
        let ping = async {
            read!(self, "store.ping", |conn| {
                diesel::sql_query("SELECT 1").execute(conn).await?;
                Ok(())
            })
        };
        let answer = tokio::time::timeout(PING_MAX, ping).await;
        answer.map_err(unavailable("store.ping"))?
    }

    /// Closes the database. Nothing that was acknowledged depends on it.
    pub async fn close(&self) {
        match self.backend() {
            Backend::Sqlite(sqlite) => sqlite.close().await,
            Backend::Postgres(pool) => pool.close(),
        }
    }
}

/// Reads an address.
fn parse(url: &str) -> Result<tokio_postgres::Config, OpenError> {
    // The driver knows no stricter mode than this; every certificate is checked in full anyway.
    let url = url
        .replace("sslmode=verify-full", "sslmode=require")
        .replace("sslmode=verify-ca", "sslmode=require");
    tokio_postgres::Config::from_str(&url).map_err(|_| OpenError::Url)
}

/// Makes the file readable for its owner only, if it is not there yet.
fn create_private(path: &Path) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    if path.to_str().is_none() {
        return Err(std::io::Error::other("SQLite takes paths in UTF-8 only"));
    }
    options.open(path).map(drop)
}

async fn establish(config: tokio_postgres::Config) -> diesel::ConnectionResult<AsyncPgConnection> {
    let bad = |error: tokio_postgres::Error| {
        // The server's own words are one level down.
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
        diesel::ConnectionError::BadConnection(format!("{error}{}", cause.unwrap_or_default()))
    };
    if config.get_ssl_mode() == SslMode::Disable {
        let (client, connection) = config.connect(NoTls).await.map_err(bad)?;
        return AsyncPgConnection::try_from_client_and_connection(client, connection).await;
    }
    let (client, connection) = config.connect(tls()).await.map_err(bad)?;
    AsyncPgConnection::try_from_client_and_connection(client, connection).await
}

fn tls() -> MakeRustlsConnect {
    let mut roots = rustls::RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map(|builder| builder.with_root_certificates(roots).with_no_client_auth());
    match config {
        Ok(config) => MakeRustlsConnect::new(config),
        Err(error) => unreachable!("ring supports the default protocol versions: {error}"),
    }
}

/// Host, port and database, for messages.
fn address(config: &tokio_postgres::Config) -> String {
    let host = match config.get_hosts().first() {
        // A password with an unescaped `@` has its end here.
        Some(Host::Tcp(host)) => host.rsplit('@').next().unwrap_or_default().to_owned(),
        #[cfg(unix)]
        Some(Host::Unix(path)) => path.display().to_string(),
        None => "localhost".to_owned(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432);
    match config.get_dbname() {
        Some(database) => format!("{host}:{port}/{database}"),
        None => format!("{host}:{port}"),
    }
}
