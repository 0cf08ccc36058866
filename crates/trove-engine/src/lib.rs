//! What Trove does, over ports and without a transport.
//!
//! [`Engine`] is the whole of it: [`Engine::search`] finds passages, [`Engine::ingest`] takes
//! documents, [`Engine::authenticate`] tells who holds a key, [`Engine::sign_in`] begins a session. It is made of [`Backends`], a plain
//! struct of `Arc<dyn Port>`, and an [`EngineConfig`].
//!
//! `cargo run -p trove --example embed_engine` is a program that embeds it; its source shows how.

mod authentication;
mod backends;
mod config;
mod keyed_lock;
mod log;
mod system;
mod workspace;

pub mod accounts;
pub mod administration;
pub mod audit;
pub mod files;
pub mod indexing;
pub mod ingestion;
pub mod language_models;
pub mod retrieval;

use std::sync::Arc;

pub use authentication::{ACCESS_TOKEN_PREFIX, KEY_PREFIX};
pub use backends::Backends;
pub use config::{EngineConfig, IngestionLimits};
pub use system::{SystemClock, SystemIds};

use tokio::sync::Notify;
use tokio_util::task::TaskTracker;
use trove_domain::id::{ConnectorId, DocumentId};

use crate::accounts::{Passwords, Throttle};
use crate::keyed_lock::KeyedLock;
use crate::language_models::{Circuits, OpenModels};
use crate::retrieval::Absence;

/// Search and ingestion over a set of backends. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

struct Shared {
    backends: Backends,
    config: EngineConfig,
    /// One writer per document at a time, so that content cannot be overtaken by older content.
    document_locks: KeyedLock<DocumentId>,
    /// One change of a connector's files at a time, so that all of many come to their turn.
    connector_turns: KeyedLock<ConnectorId>,
    /// Wakes the worker for jobs that this process enqueued.
    jobs_enqueued: Notify,
    /// Wakes whoever begins runs of indexing, for what this process has changed.
    runs_wanted: Notify,
    /// Uploads that are under way. Closed from the beginning, so that it can be waited for.
    uploads: TaskTracker,
    /// Models of providers that calls use again.
    open_models: OpenModels,
    /// Models that have failed to help a search.
    circuits: Arc<Circuits>,
    /// Whether queries are embedded at present.
    embedding_absence: Absence,
    /// Computes hashes of passwords.
    passwords: Passwords,
    /// Bounds guesses.
    throttle: Throttle,
}

impl Engine {
    /// An engine over `backends`.
    #[must_use]
    pub fn new(backends: Backends, config: EngineConfig) -> Self {
        let passwords = Passwords::new(&config.accounts.hashing);
        let (clock, ids) = (Arc::clone(&backends.clock), backends.ids.as_ref());
        let throttle = Throttle::new(&config.accounts, clock, ids);
        let uploads = TaskTracker::new();
        uploads.close();
        let shared = Shared {
            backends,
            config,
            document_locks: KeyedLock::new(),
            connector_turns: KeyedLock::new(),
            jobs_enqueued: Notify::new(),
            runs_wanted: Notify::new(),
            uploads,
            open_models: OpenModels::default(),
            circuits: Arc::default(),
            embedding_absence: Absence::default(),
            passwords,
            throttle,
        };
        Self { shared: Arc::new(shared) }
    }

    /// The configuration it was made with.
    #[must_use]
    pub fn config(&self) -> &EngineConfig {
        &self.shared.config
    }

    /// The backends it was made with.
    #[must_use]
    pub fn backends(&self) -> &Backends {
        &self.shared.backends
    }
}
