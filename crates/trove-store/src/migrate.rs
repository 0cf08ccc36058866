//! Brings a database to the schema of this binary.

use std::path::Path;

use diesel::{ExpressionMethods, QueryDsl};
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};

use crate::backend::{self, Sqlite};
use crate::error::OpenError;
use crate::schema::schema_migration;

/// One step of the schema, in both dialects.
pub(crate) struct Migration {
    pub(crate) version: &'static str,
    pub(crate) sqlite: Script,
    pub(crate) postgres: Script,
}

pub(crate) struct Script {
    pub(crate) up: &'static str,
    /// For the tests: operators restore a backup instead.
    #[cfg_attr(not(test), expect(dead_code, reason = "run by the tests only"))]
    down: &'static str,
}

macro_rules! migrations {
    ($($version:literal),+ $(,)?) => {
        &[$(Migration {
            version: $version,
            sqlite: script!("sqlite", $version),
            postgres: script!("postgres", $version),
        }),+]
    };
}

macro_rules! script {
    ($database:literal, $version:literal) => {
        Script {
            up: include_str!(concat!("../../../migrations/", $database, "/", $version, "/up.sql")),
            down: include_str!(concat!(
                "../../../migrations/",
                $database,
                "/",
                $version,
                "/down.sql"
            )),
        }
    };
}

/// All steps, oldest first.
pub(crate) const MIGRATIONS: &[Migration] = migrations![
    "20261121000000_create_foundation",
    "20261121120000_create_registry",
    "20261121130000_add_llm_providers",
    "20261121140000_create_agents",
    "20261121150000_create_search_history",
    "20261121160000_add_group_administration",
    "20261121170000_create_token_limits",
    "20261121180000_create_access_tokens",
    "20261121190000_create_workspace_settings",
    "20261121200000_create_indexing",
    "20261122010000_create_pair_tasks",
    "20261122020000_add_unfinished_files",
    "20261122030000_create_external_access",
    "20261122040000_scope_external_groups",
    "20261122050000_add_idle_files",
];

const REGISTER: &str =
    "CREATE TABLE IF NOT EXISTS schema_migration (version text NOT NULL PRIMARY KEY);";

/// Key of PostgreSQL's advisory lock: processes that start together migrate one after the other.
const LOCK: &str = "SELECT pg_advisory_xact_lock(7021586401);";

/// A step failed, or the schema is newer than this binary.
enum Stop {
    Query { version: &'static str, source: diesel::result::Error },
    Newer { found: String },
}

impl From<diesel::result::Error> for Stop {
    fn from(source: diesel::result::Error) -> Self {
        Self::Query { version: newest(), source }
    }
}

impl From<Stop> for OpenError {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Query { version, source } => {
                Self::Migration { version: version.to_owned(), source: source.into() }
            }
            Stop::Newer { found } => Self::Newer { found, known: newest() },
        }
    }
}

impl Stop {
    /// Why a file is not at the present schema. That it is locked or no database shows only when
    /// it is read.
    fn of_file(self, path: &Path) -> OpenError {
        match self {
            Self::Query { version, source } => match OpenError::of_file(path, source.into()) {
                OpenError::File { source, .. } => {
                    OpenError::Migration { version: version.to_owned(), source }
                }
                error => error,
            },
            stop @ Self::Newer { .. } => stop.into(),
        }
    }
}

fn newest() -> &'static str {
    MIGRATIONS.last().map_or("", |migration| migration.version)
}

/// The migrations that a database with `applied` lacks.
fn missing(applied: &[String]) -> Result<impl Iterator<Item = &'static Migration> + use<'_>, Stop> {
    let known = |version: &String| MIGRATIONS.iter().any(|m| m.version == version);
    if let Some(found) = applied.iter().rfind(|version| !known(version)) {
        return Err(Stop::Newer { found: found.clone() });
    }
    Ok(MIGRATIONS.iter().filter(|m| !applied.iter().any(|version| version == m.version)))
}

macro_rules! migrate {
    ($conn:ident, $dialect:ident) => {{
        $conn.batch_execute(REGISTER).await?;
        let applied: Vec<String> = schema_migration::table
            .select(schema_migration::version)
            .order(schema_migration::version)
            .load($conn)
            .await?;
        for migration in missing(&applied)? {
            let version = migration.version;
            let failed = |source| Stop::Query { version, source };
            $conn.batch_execute(migration.$dialect.up).await.map_err(failed)?;
            diesel::insert_into(schema_migration::table)
                .values(schema_migration::version.eq(version))
                .execute($conn)
                .await
                .map_err(failed)?;
        }
        Ok(())
    }};
}

pub(crate) async fn sqlite(connection: &mut Sqlite, path: &Path) -> Result<(), OpenError> {
    let migrate = async {
        backend::begin(connection, "EXCLUSIVE").await?;
        let done: Result<(), Stop> = async { migrate!(connection, sqlite) }.await;
        backend::end(connection, done).await
    };
    migrate.await.map_err(|stop: Stop| stop.of_file(path))
}

pub(crate) async fn postgres(connection: &mut AsyncPgConnection) -> Result<(), OpenError> {
    let done = connection
        .transaction(async |conn: &mut AsyncPgConnection| -> Result<(), Stop> {
            conn.batch_execute(LOCK).await?;
            migrate!(conn, postgres)
        })
        .await;
    Ok(done?)
}

#[cfg(test)]
mod tests;
