//! Every relational port, on SQLite and on PostgreSQL, with one set of queries.
//!
//! A query body is written once, in [`backend::read`] or [`backend::transact`], and compiled for both
//! connections. `sql` holds the column types that differ, `schema` the tables, `migrate` how a
//! database gets them.

mod access;
mod access_tokens;
mod agents;
mod attempts;
mod backend;
mod connectors;
mod credentials;
mod documents;
mod error;
mod external;
mod groups;
mod jobs;
mod keys;
mod llm_providers;
mod locks;
mod migrate;
mod open;
mod pair_tasks;
mod pairs;
mod registry;
mod rights;
mod schema;
mod searches;
mod secrets;
mod sets;
mod sql;
mod stored_files;
mod token_limits;
mod users;
mod workspace;

use std::sync::Arc;

use trove_domain::port::IdGenerator;

use backend::Backend;
pub use error::OpenError;
pub use open::{PostgresConfig, SqliteConfig};
pub use secrets::{ResealError, SecretKeyState};

/// The relational store. Cheap to clone; implements every relational port.
#[derive(Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

struct Shared {
    backend: Backend,
    ids: Arc<dyn IdGenerator>,
}

impl Store {
    fn backend(&self) -> &Backend {
        &self.shared.backend
    }

    fn ids(&self) -> &dyn IdGenerator {
        self.shared.ids.as_ref()
    }
}
