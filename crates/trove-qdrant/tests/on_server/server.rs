//! A collection of its own for each test, on the server for tests.

use std::ops::Deref;
use std::sync::Arc;

use trove_domain::port::IdGenerator;
use trove_qdrant::{QdrantDocumentIndex, QdrantIndexConfig};
use trove_testkit::fakes::FakeClock;
use trove_testkit::services;
use uuid::Uuid;

/// Ids that differ between the processes of a test run.
pub(crate) struct RandomIds;

impl IdGenerator for RandomIds {
    #[expect(clippy::disallowed_methods, reason = "tests in other processes draw ids too")]
    fn uuid(&self) -> Uuid {
        Uuid::now_v7()
    }

    fn fill_secret(&self, secret: &mut [u8]) {
        secret.fill(7);
    }
}

/// An empty index, whose collection goes when the value does.
pub(crate) struct Subject(pub(crate) QdrantDocumentIndex);

impl Deref for Subject {
    type Target = QdrantDocumentIndex;

    fn deref(&self) -> &QdrantDocumentIndex {
        &self.0
    }
}

impl Drop for Subject {
    fn drop(&mut self) {
        let destroyed = tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(self.0.destroy())
        });
        if let Err(error) = destroyed {
            eprintln!("a collection stays behind: {error:?}");
        }
    }
}

/// The settings of a new collection; `None` when there is no server.
pub(crate) fn config(dimensions: Option<usize>) -> Option<QdrantIndexConfig> {
    let mut config = QdrantIndexConfig::new(services::qdrant_url()?, dimensions);
    config.api_key = services::qdrant_api_key();
    config.collection = format!("test_{}", RandomIds.uuid().simple());
    Some(config)
}

/// Another index on the collection of `config`.
pub(crate) async fn open(config: &QdrantIndexConfig) -> QdrantDocumentIndex {
    let (ids, clock) = (Arc::new(RandomIds), Arc::new(FakeClock::default()));
    QdrantDocumentIndex::open(config.clone(), ids, clock).await.unwrap()
}

/// A new, empty index; `None` when there is no server.
pub(crate) async fn start(dimensions: Option<usize>) -> Option<Subject> {
    Some(Subject(open(&config(dimensions)?).await))
}
