//! The engine over the real store and index in a directory of its own, with time, randomness and
//! embeddings under the test's control.

use std::sync::Arc;

use tempfile::TempDir;
use trove_domain::port::IdGenerator;
use trove_embedded::{EmbeddedDocumentIndex, EmbeddedIndexConfig};
use trove_engine::{Backends, Engine, EngineConfig};
use trove_store::{SqliteConfig, Store};
use trove_testkit::fakes::{FakeClock, HashingEmbedder, SequentialIds};

const DIMENSIONS: usize = 64;

pub(crate) struct Stack {
    pub(crate) engine: Engine,
    pub(crate) clock: Arc<FakeClock>,
    _directory: TempDir,
}

impl Stack {
    pub(crate) async fn start() -> Self {
        Self::with(EngineConfig::default(), |backends| backends).await
    }

    /// `change` replaces backends, to make them fail.
    pub(crate) async fn with(config: EngineConfig, change: fn(Backends) -> Backends) -> Self {
        let directory = TempDir::new().unwrap();
        let clock = Arc::new(FakeClock::default());
        let ids: Arc<dyn IdGenerator> = Arc::new(SequentialIds::default());
        let sqlite = SqliteConfig::new(directory.path().join("trove.db"));
        let store = Arc::new(Store::open_sqlite(sqlite, Arc::clone(&ids)).await.unwrap());
        let index_config = EmbeddedIndexConfig::with_dimensions(Some(DIMENSIONS));
        let index = EmbeddedDocumentIndex::open(&directory.path().join("index"), index_config);
        let embedder = Arc::new(HashingEmbedder::new(DIMENSIONS));
        let backends = Backends {
            clock: Arc::<FakeClock>::clone(&clock),
            ids,
            ..Backends::new(&store, Arc::new(index.unwrap()), Some(embedder))
        };
        let engine = Engine::new(change(backends), config);
        Self { engine, clock, _directory: directory }
    }
}
