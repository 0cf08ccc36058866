//! New databases of both kinds.

use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;

use diesel::connection::SimpleConnection;
use diesel::{Connection, SqliteConnection};
use tempfile::TempDir;
use trove_store::{PostgresConfig, SqliteConfig, Store};
use trove_testkit::fakes::SequentialIds;
use trove_testkit::postgres::Schema;
use trove_testkit::stores::Stores;

/// All ports over a database that goes with the value.
pub(crate) struct Database<D> {
    // Before `place`: connections end before their database does.
    stores: Stores,
    pub(crate) place: D,
}

impl<D> Deref for Database<D> {
    type Target = Stores;

    fn deref(&self) -> &Stores {
        &self.stores
    }
}

pub(crate) async fn sqlite() -> Option<Database<SqliteFile>> {
    let place = SqliteFile::new();
    let store = place.open().await;
    Some(Database { stores: Stores::new(Arc::new(store)), place })
}

pub(crate) async fn postgres() -> Option<Database<Schema>> {
    let place = Schema::create().await?;
    let store = open_postgres(&place).await;
    Some(Database { stores: Stores::new(Arc::new(store)), place })
}

pub(crate) async fn open_postgres(schema: &Schema) -> Store {
    let config = PostgresConfig::new(schema.url().into());
    Store::open_postgres(config, Arc::new(SequentialIds::default())).await.unwrap()
}

/// The place of a database, in a folder of its own.
pub(crate) struct SqliteFile {
    directory: TempDir,
}

impl SqliteFile {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("trove.db")
    }

    pub(crate) async fn open(&self) -> Store {
        let config = SqliteConfig::new(self.path());
        Store::open_sqlite(config, Arc::new(SequentialIds::default())).await.unwrap()
    }

    /// A connection of another process.
    pub(crate) fn connect(&self) -> SqliteConnection {
        SqliteConnection::establish(self.path().to_str().unwrap()).unwrap()
    }
}

/// A place where statements can be run that no port has.
pub(crate) trait Place {
    async fn execute(&self, statements: &str);
}

impl Place for SqliteFile {
    async fn execute(&self, statements: &str) {
        self.connect().batch_execute(statements).unwrap();
    }
}

impl Place for Schema {
    async fn execute(&self, statements: &str) {
        Self::execute(self, statements).await;
    }
}
