//! PostgreSQL for tests: a throw-away cluster, and a schema of its own for each test.
//!
//! Tests that need a server ask [`Schema::create`]. It uses the server named by
//! `TROVE_TEST_POSTGRES_URL`, which `with-postgres` (a binary of this crate) sets for the command
//! it runs; see [`crate::services`] for what happens without it.

mod cluster;

use tokio_postgres::NoTls;
use uuid::Uuid;

use crate::services::postgres_url;

pub use cluster::{Cluster, ClusterError};

/// An empty schema, dropped with everything in it when the value is.
///
/// Dropping needs a runtime of several threads.
#[derive(Debug)]
pub struct Schema {
    server: String,
    name: String,
}

impl Schema {
    /// A new schema on the server for tests; `None`, after saying so, when there is no server.
    ///
    /// # Panics
    ///
    /// When the server does not answer, or when there is none and it is required.
    pub async fn create() -> Option<Self> {
        let server = postgres_url()?;
        #[expect(clippy::disallowed_methods, reason = "tests in other processes make schemas too")]
        let name = format!("test_{}", Uuid::new_v4().simple());
        execute(&server, &format!("CREATE SCHEMA {name}")).await.unwrap();
        Some(Self { server, name })
    }

    /// An address whose connections find and make their tables in this schema.
    #[must_use]
    pub fn url(&self) -> String {
        let separator = if self.server.contains('?') { '&' } else { '?' };
        format!("{}{separator}options=-c%20search_path%3D{}", self.server, self.name)
    }

    /// Runs statements in this schema.
    ///
    /// # Panics
    ///
    /// When the server refuses.
    pub async fn execute(&self, statements: &str) {
        execute(&self.url(), statements).await.unwrap();
    }

    /// The rows of a query as text, `None` for `NULL`.
    ///
    /// # Panics
    ///
    /// When the server refuses.
    pub async fn query(&self, query: &str) -> Vec<Vec<Option<String>>> {
        execute(&self.url(), query).await.unwrap()
    }
}

impl Drop for Schema {
    fn drop(&mut self) {
        let drop = format!("DROP SCHEMA {} CASCADE", self.name);
        let dropped = tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(execute(&self.server, &drop))
        });
        if let Err(error) = dropped {
            eprintln!("schema {} stays behind: {error}", self.name);
        }
    }
}

async fn execute(
    url: &str,
    statements: &str,
) -> Result<Vec<Vec<Option<String>>>, tokio_postgres::Error> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    let work = async move {
        let messages = client.simple_query(statements).await?;
        let rows = messages.into_iter().filter_map(|message| match message {
            tokio_postgres::SimpleQueryMessage::Row(row) => {
                Some((0..row.len()).map(|column| row.get(column).map(str::to_owned)).collect())
            }
            _ => None,
        });
        Ok(rows.collect())
    };
    // The connection ends when the client is gone.
    let (rows, ended) = tokio::join!(work, connection);
    rows.and_then(|rows| ended.map(|()| rows))
}
