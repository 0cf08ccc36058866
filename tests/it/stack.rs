//! The engine over the real store and index in a directory of its own, with time, randomness and
//! embeddings under the test's control.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use tempfile::TempDir;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use trove_domain::access::AccessScope;
use trove_domain::cc_pair::CcPair;
use trove_domain::document::{Document, Section};
use trove_domain::error::StoreError;
use trove_domain::id::{DocumentId, JobId};
use trove_domain::job::{AfterFailure, ClaimedJob, NewJob, ParkedJob};
use trove_domain::port::{
    EmbeddingError, EmbeddingModel, EmbeddingModelInfo, IdGenerator, JobQueue, LanguageModelError,
    Tokenizer,
};
use trove_domain::query::{HybridAlpha, IndexQuery, SearchFilters};
use trove_domain::source::DocumentSource;
use trove_embedded::{EmbeddedDocumentIndex, EmbeddedIndexConfig};
use trove_engine::ingestion::IngestOutcome;
use trove_engine::{Backends, Engine, EngineConfig};
use trove_secrets::{KeyRing, SecretKey, XChaChaCipher};
use trove_store::{SqliteConfig, Store};
use trove_testkit::audit_log::MemoryAuditLog;
use trove_testkit::fakes::{FakeClock, HashingEmbedder, SequentialIds};
use trove_testkit::scripted_models::ScriptedLanguageModels;

use crate::sources::FakeSources;

const DIMENSIONS: usize = 64;

/// What a model that refuses says.
pub(crate) const STORY: &str = "a page that nobody should see";

pub(crate) struct Stack {
    pub(crate) engine: Engine,
    pub(crate) clock: Arc<FakeClock>,
    /// Who did what.
    pub(crate) audit: Arc<MemoryAuditLog>,
    /// What opens the models of providers. One called `broken` refuses, and tells a story;
    /// one called `silent` says nothing.
    pub(crate) models: Arc<ScriptedLanguageModels>,
    pub(crate) directory: TempDir,
}

impl Stack {
    pub(crate) async fn start() -> Self {
        Self::with(EngineConfig::default(), |backends| backends).await
    }

    /// `change` replaces backends, to make them fail.
    pub(crate) async fn with(config: EngineConfig, change: fn(Backends) -> Backends) -> Self {
        let directory = TempDir::new().unwrap();
        let clock = Arc::new(FakeClock::default());
        let audit = Arc::new(MemoryAuditLog::default());
        let ids: Arc<dyn IdGenerator> = Arc::new(SequentialIds::default());
        let sqlite = SqliteConfig::new(directory.path().join("trove.db"));
        let store = Arc::new(Store::open_sqlite(sqlite, Arc::clone(&ids)).await.unwrap());
        let index_config = EmbeddedIndexConfig::with_dimensions(Some(DIMENSIONS));
        let index = EmbeddedDocumentIndex::open(&directory.path().join("index"), index_config);
        let embedder = Arc::new(HashingEmbedder::new(DIMENSIONS));
        let models = Arc::new(ScriptedLanguageModels::new(|endpoint, _| {
            let (provider, detail) = (endpoint.provider.clone(), STORY.to_owned());
            match endpoint.model.as_str() {
                "broken" => Err(LanguageModelError::Refused { provider, detail }),
                "silent" => Ok(" ".to_owned()),
                _ => Ok("yes".to_owned()),
            }
        }));
        let key = SecretKey::generate(ids.as_ref()).unwrap();
        let ring = KeyRing::new(vec![key]).unwrap();
        let cipher = XChaChaCipher::new(&ring, ring.newest().id(), Arc::clone(&ids)).unwrap();
        let backends = Backends {
            clock: Arc::<FakeClock>::clone(&clock),
            audit: Some(Arc::<MemoryAuditLog>::clone(&audit)),
            ids,
            language_models: Some(Arc::<ScriptedLanguageModels>::clone(&models)),
            secrets: Some(Arc::new(cipher)),
            sources: Some(Arc::new(FakeSources)),
            ..Backends::new(&store, Arc::new(index.unwrap()), Some(embedder))
        };
        let engine = Engine::new(change(backends), config);
        Self { engine, clock, audit, models, directory }
    }
}

#[tokio::test]
async fn vectors_outlast_a_time_without_a_model() {
    let stack = Stack::start().await;
    let without = Backends { embedding_model: None, ..stack.engine.backends().clone() };
    let without = Engine::new(without, EngineConfig::default());
    let document = |name: &str| {
        let section = Section { text: "the zebra stays".to_owned(), link: None };
        let id = DocumentId::new("a").unwrap();
        let document = Document::new(id, DocumentSource::File, name, vec![section]);
        Document { title: Some(String::new()), ..document }
    };
    stack.engine.ingest_batch(CcPair::DEFAULT, vec![document("one")]).await;
    let outcomes = without.ingest_batch(CcPair::DEFAULT, vec![document("one")]).await;
    assert!(matches!(outcomes[0], IngestOutcome::Unchanged), "{outcomes:?}");
    let outcomes = without.ingest_batch(CcPair::DEFAULT, vec![document("two")]).await;
    assert!(matches!(outcomes[0], IngestOutcome::AttributesUpdated), "{outcomes:?}");
    // Whoever has the model knows that the vectors are its own.
    let outcomes = stack.engine.ingest_batch(CcPair::DEFAULT, vec![document("two")]).await;
    assert!(matches!(outcomes[0], IngestOutcome::Unchanged), "{outcomes:?}");
    let model = stack.engine.backends().embedding_model.as_ref().unwrap();
    let query = IndexQuery {
        text: String::new(),
        vector: Some(model.embed_query("zebra").await.unwrap()),
        alpha: HybridAlpha::DENSE,
        scope: AccessScope::everything("a test"),
        filters: SearchFilters::default(),
        limit: 1,
    };
    assert_eq!(stack.engine.backends().index.search(&query).await.unwrap().len(), 1);
}

/// Embeds when it is told to.
struct Gated {
    inner: HashingEmbedder,
    asked: Notify,
    open: Notify,
}

#[async_trait]
impl EmbeddingModel for Gated {
    fn info(&self) -> &EmbeddingModelInfo {
        self.inner.info()
    }

    fn tokenizer(&self) -> &dyn Tokenizer {
        self.inner.tokenizer()
    }

    async fn embed_passages(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        self.asked.notify_one();
        self.open.notified().await;
        self.inner.embed_passages(texts).await
    }

    async fn embed_query(&self, text: &str) -> Result<Vec<f32>, EmbeddingError> {
        self.inner.embed_query(text).await
    }
}

/// Otherwise the ingestion would bring back what was asked to be removed.
#[tokio::test]
async fn a_removal_waits_for_an_ingestion_of_the_document_and_comes_after_it() {
    let stack = Stack::start().await;
    let gated = Arc::new(Gated {
        inner: HashingEmbedder::new(DIMENSIONS),
        asked: Notify::new(),
        open: Notify::new(),
    });
    let model: Arc<dyn EmbeddingModel> = Arc::<Gated>::clone(&gated);
    let backends = Backends { embedding_model: Some(model), ..stack.engine.backends().clone() };
    let engine = Engine::new(backends, EngineConfig::default());
    let id = DocumentId::new("a").unwrap();
    let document = |text: &str| {
        let section = Section { text: text.to_owned(), link: None };
        Document::new(id.clone(), DocumentSource::File, "a", vec![section])
    };
    gated.open.notify_one();
    engine.ingest_batch(CcPair::DEFAULT, vec![document("old")]).await;
    gated.asked.notified().await;

    let removed = async {
        gated.asked.notified().await;
        let mut removal = std::pin::pin!(engine.remove_documents(std::slice::from_ref(&id)));
        assert!(futures::poll!(&mut removal).is_pending());
        gated.open.notify_one();
        removal.await.unwrap();
    };
    let ((), outcomes) =
        futures::join!(removed, engine.ingest_batch(CcPair::DEFAULT, vec![document("new")]));
    assert!(matches!(outcomes[0], IngestOutcome::Indexed { new: false }), "{outcomes:?}");
    assert_eq!(engine.backends().documents.get(&[id]).await.unwrap(), [None]);
    assert_eq!(engine.backends().index.statistics().await.unwrap().documents, 0);
}

/// A queue that takes nothing at first, as on a full disk.
struct FullQueue {
    inner: Arc<dyn JobQueue>,
    refused: AtomicBool,
    taken: Notify,
}

#[async_trait]
impl JobQueue for FullQueue {
    async fn enqueue(&self, job: NewJob) -> Result<Option<JobId>, StoreError> {
        if !self.refused.swap(true, Ordering::SeqCst) {
            let source = "database or disk is full".into();
            return Err(StoreError::Backend { operation: "job.enqueue", source });
        }
        let taken = self.inner.enqueue(job).await;
        self.taken.notify_one();
        taken
    }

    async fn claim(
        &self,
        queue: &str,
        now: DateTime<Utc>,
        lease: Duration,
        limit: u32,
    ) -> Result<Vec<ClaimedJob>, StoreError> {
        self.inner.claim(queue, now, lease, limit).await
    }

    async fn heartbeat(
        &self,
        job: &ClaimedJob,
        now: DateTime<Utc>,
        lease: Duration,
    ) -> Result<bool, StoreError> {
        self.inner.heartbeat(job, now, lease).await
    }

    async fn complete(&self, job: &ClaimedJob) -> Result<bool, StoreError> {
        self.inner.complete(job).await
    }

    async fn fail(
        &self,
        job: &ClaimedJob,
        error: &str,
        then: AfterFailure,
    ) -> Result<bool, StoreError> {
        self.inner.fail(job, error, then).await
    }

    async fn list_parked(&self, queue: &str, limit: u32) -> Result<Vec<ParkedJob>, StoreError> {
        self.inner.list_parked(queue, limit).await
    }

    async fn depth(&self, queue: &str) -> Result<u64, StoreError> {
        self.inner.depth(queue).await
    }
}

#[tokio::test]
async fn the_worker_outlives_a_queue_that_takes_nothing() {
    let stack = Stack::start().await;
    let backends = stack.engine.backends().clone();
    let queue = Arc::new(FullQueue {
        inner: Arc::clone(&backends.jobs),
        refused: AtomicBool::new(false),
        taken: Notify::new(),
    });
    let jobs: Arc<dyn JobQueue> = Arc::<FullQueue>::clone(&queue);
    let engine = Engine::new(Backends { jobs, ..backends }, EngineConfig::default());
    let stop = CancellationToken::new();
    let asked = async {
        queue.taken.notified().await;
        stop.cancel();
    };
    futures::join!(engine.run_worker(stop.clone()), asked);
}
