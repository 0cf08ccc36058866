use std::path::Path;
use std::sync::Arc;

use anyhow::bail;
use trove_engine::SystemIds;
use trove_store::{PostgresConfig, SqliteConfig, Store};

use crate::config::{Config, DatabaseSection};

/// Opens the configured database, and makes it if it is an SQLite file that is not there.
pub(super) async fn open(config: &Config) -> anyhow::Result<Arc<Store>> {
    let DatabaseSection {
        url,
        busy_timeout,
        readers,
        pool_size,
        connect_timeout,
        statement_timeout,
    } = config.database.clone();
    let ids = Arc::new(SystemIds);
    let store = match url {
        Some(url) => {
            let url = url.expose().clone();
            let postgres = PostgresConfig { url, pool_size, connect_timeout, statement_timeout };
            Store::open_postgres(postgres, ids).await?
        }
        None => {
            let sqlite = SqliteConfig { path: config.sqlite_path(), busy_timeout, readers };
            Store::open_sqlite(sqlite, ids).await?
        }
    };
    Ok(Arc::new(store))
}

/// Opens the configured database, which has to be there.
pub(super) async fn open_existing(config: &Config) -> anyhow::Result<Arc<Store>> {
    if config.database.url.is_none() && !exists(&config.sqlite_path()) {
        bail!(
            "there is no database in the data directory {}; the first `trove serve` makes it",
            config.data_dir.display()
        );
    }
    open(config).await
}

fn exists(path: &Path) -> bool {
    path.try_exists().unwrap_or(true)
}
