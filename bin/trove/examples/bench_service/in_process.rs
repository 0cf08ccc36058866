//! What a search costs beyond its parts, within one process: the index and the embedding model are
//! timed on their own, and a model that answers at once finds further queries.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use async_trait::async_trait;
use futures::StreamExt;
use trove_domain::access::{AccessScope, Caller, Proof};
use trove_domain::chunk::IndexableDocument;
use trove_domain::hit::{IndexedChunk, ScoredChunk};
use trove_domain::id::DocumentId;
use trove_domain::port::{
    AttributeUpdate, ChunkRange, DocumentIndex, DocumentIndexError, EmbeddingError, EmbeddingModel,
    EmbeddingModelInfo, IndexCapabilities, IndexStatistics, Tokenizer, WriteOutcome,
};
use trove_domain::query::IndexQuery;
use trove_embedded::{EmbeddedDocumentIndex, EmbeddedIndexConfig};
use trove_engine::administration::FIRST_ADMIN_EMAIL;
use trove_engine::retrieval::{DocumentSearchRequest, SearchEvent};
use trove_engine::{Backends, Engine, EngineConfig, SystemIds};
use trove_local::{LocalEmbeddingModel, MiniLm, MiniLmOptions};
use trove_store::{SqliteConfig, Store};
use trove_testkit::scripted_model::ScriptedLanguageModel;

use crate::SINGLE_QUERIES;

/// Queries that the model makes of one.
const EXPANSIONS: usize = 4;

/// Times of single searches for documents, one after the other.
pub(crate) struct Costs {
    /// One query.
    pub(crate) plain: Vec<Duration>,
    /// Of that, everything but embedding the query and searching the index.
    pub(crate) added: Vec<Duration>,
    /// The query and four others.
    pub(crate) expanded: Vec<Duration>,
}

/// Searches in the data directory, which nobody else may use.
pub(crate) async fn measure(
    data: &Path,
    model_dir: &Path,
    queries: &[String],
) -> anyhow::Result<Costs> {
    let sqlite = SqliteConfig::new(data.join("trove.db"));
    let store = Arc::new(Store::open_sqlite(sqlite, Arc::new(SystemIds)).await?);
    let index = EmbeddedDocumentIndex::open(&data.join("index"), EmbeddedIndexConfig::default())?;
    let minilm = MiniLm::load(model_dir, MiniLmOptions::for_this_machine())?;
    let spent = Arc::new(AtomicU64::new(0));
    let index = Timed { inner: index, spent: Arc::clone(&spent) };
    let model = Timed { inner: LocalEmbeddingModel::new(minilm), spent: Arc::clone(&spent) };
    let answer = Arc::new(Mutex::new(String::new()));
    let said = Arc::clone(&answer);
    let expanding = ScriptedLanguageModel::new(move |_| {
        Ok(said.lock().map(|answer| answer.clone()).unwrap_or_default())
    });
    let backends = Backends {
        language_model: Some(Arc::new(expanding)),
        ..Backends::new(&store, Arc::new(index), Some(Arc::new(model)))
    };
    let engine = Engine::new(backends, EngineConfig::default());
    let caller = administrator(&engine).await?;

    let mut costs = Costs { plain: Vec::new(), added: Vec::new(), expanded: Vec::new() };
    // Both kinds in turn, so that whatever else happens on the machine happens to both.
    for (number, query) in queries.iter().take(SINGLE_QUERIES).enumerate() {
        spent.store(0, Ordering::Relaxed);
        let plain = search(&engine, &caller, query, 0).await?;
        let parts = Duration::from_nanos(spent.load(Ordering::Relaxed));
        let others = (1..=EXPANSIONS).map(|n| &queries[(number + n * 97) % queries.len()]);
        let others: Vec<&str> = others.map(String::as_str).collect();
        if let Ok(mut answer) = answer.lock() {
            *answer = others.join("\n");
        }
        let expanded = search(&engine, &caller, query, EXPANSIONS).await?;
        // The first searches read the index into memory.
        if number >= 20 {
            costs.plain.push(plain);
            costs.added.push(plain.saturating_sub(parts));
            costs.expanded.push(expanded);
        }
    }
    store.close().await;
    Ok(costs)
}

async fn administrator(engine: &Engine) -> anyhow::Result<Caller> {
    let user = engine.backends().users.get_by_email(FIRST_ADMIN_EMAIL).await?;
    let user = user.context("there is an administrator")?;
    Ok(Caller { user: user.id, email: user.email, role: user.role, proof: Proof::Trusted })
}

async fn search(
    engine: &Engine,
    caller: &Caller,
    query: &str,
    expansions: usize,
) -> anyhow::Result<Duration> {
    let request =
        DocumentSearchRequest { expand: expansions > 0, ..DocumentSearchRequest::new(query) };
    let began = Instant::now();
    let events = engine.search_documents(caller, request).await?;
    let events: Vec<SearchEvent> = events.collect().await;
    let took = began.elapsed();
    let [SearchEvent::Queries(queries), SearchEvent::Sections(_)] = &events[..] else {
        anyhow::bail!("a search failed: {events:?}");
    };
    ensure!(queries.len() == expansions + 1, "other queries than expected: {queries:?}");
    Ok(took)
}

/// Adds up how long the searches of an index, or the embeddings of queries, take. Meaningful while
/// one is made at a time.
struct Timed<T> {
    inner: T,
    spent: Arc<AtomicU64>,
}

impl<T> Timed<T> {
    fn add(&self, began: Instant) {
        let nanos = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.spent.fetch_add(nanos, Ordering::Relaxed);
    }
}

#[async_trait]
impl<T: EmbeddingModel> EmbeddingModel for Timed<T> {
    fn info(&self) -> &EmbeddingModelInfo {
        self.inner.info()
    }

    fn tokenizer(&self) -> &dyn Tokenizer {
        self.inner.tokenizer()
    }

    async fn embed_passages(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        self.inner.embed_passages(texts).await
    }

    async fn embed_query(&self, text: &str) -> Result<Vec<f32>, EmbeddingError> {
        let began = Instant::now();
        let vector = self.inner.embed_query(text).await;
        self.add(began);
        vector
    }
}

#[async_trait]
impl<T: DocumentIndex> DocumentIndex for Timed<T> {
    fn capabilities(&self) -> IndexCapabilities {
        self.inner.capabilities()
    }

    async fn replace(
        &self,
        documents: Vec<IndexableDocument>,
    ) -> Result<Vec<WriteOutcome>, DocumentIndexError> {
        self.inner.replace(documents).await
    }

    async fn update_attributes(
        &self,
        updates: Vec<AttributeUpdate>,
    ) -> Result<Vec<WriteOutcome>, DocumentIndexError> {
        self.inner.update_attributes(updates).await
    }

    async fn remove(&self, documents: &[(DocumentId, i64)]) -> Result<(), DocumentIndexError> {
        self.inner.remove(documents).await
    }

    async fn search(&self, query: &IndexQuery) -> Result<Vec<ScoredChunk>, DocumentIndexError> {
        let began = Instant::now();
        let hits = self.inner.search(query).await;
        self.add(began);
        hits
    }

    async fn fetch(
        &self,
        ranges: &[ChunkRange],
        scope: &AccessScope,
    ) -> Result<Vec<Vec<IndexedChunk>>, DocumentIndexError> {
        self.inner.fetch(ranges, scope).await
    }

    async fn statistics(&self) -> Result<IndexStatistics, DocumentIndexError> {
        self.inner.statistics().await
    }

    async fn flush(&self) -> Result<(), DocumentIndexError> {
        self.inner.flush().await
    }
}
