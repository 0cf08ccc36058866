//! Searches whose parts fail or hang.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Notify;
use trove_domain::access::{AccessScope, Role};
use trove_domain::chunk::IndexableDocument;
use trove_domain::hit::{IndexedChunk, ScoredChunk};
use trove_domain::id::DocumentId;
use trove_domain::port::{
    AttributeUpdate, ChunkRange, DocumentIndex, DocumentIndexError, EmbeddingError, EmbeddingModel,
    EmbeddingModelInfo, IndexCapabilities, IndexStatistics, Tokenizer, WriteOutcome,
};
use trove_domain::query::IndexQuery;
use trove_engine::{Backends, EngineConfig};
use trove_testkit::fakes::HashingEmbedder;
use trove_testkit::scripted_model::ScriptedLanguageModel;

use crate::server::{Server, document};

type Search = dyn Fn(&IndexQuery) -> Answer + Send + Sync;

/// What a search of a [`Faulty`] index does.
enum Answer {
    /// What the index would.
    Work,
    /// It fails.
    Fail,
    /// It never ends.
    Hang,
}

/// An index whose searches do as they are told.
struct Faulty {
    inner: Arc<dyn DocumentIndex>,
    search: Box<Search>,
    started: Notify,
    dropped: Arc<Dropped>,
}

#[derive(Default)]
struct Dropped {
    count: AtomicUsize,
    one: Notify,
}

/// Tells when a hanging search is given up.
struct Hanging(Arc<Dropped>);

impl Drop for Hanging {
    fn drop(&mut self) {
        self.0.count.fetch_add(1, Ordering::SeqCst);
        self.0.one.notify_one();
    }
}

#[async_trait]
impl DocumentIndex for Faulty {
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
        match (self.search)(query) {
            Answer::Work => self.inner.search(query).await,
            Answer::Fail => Err(DocumentIndexError::Unavailable {
                operation: "index.search",
                source: "10.0.0.7 with password hunter2".into(),
            }),
            Answer::Hang => {
                let _hanging = Hanging(Arc::clone(&self.dropped));
                self.started.notify_one();
                std::future::pending().await
            }
        }
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

async fn faulty(
    expansions: Option<&'static str>,
    search: impl Fn(&IndexQuery) -> Answer + Send + Sync + 'static,
) -> (Server, Arc<Faulty>) {
    let mut index = None;
    let server = Server::changed(|backends| {
        let faulty = Arc::new(Faulty {
            inner: Arc::clone(&backends.index),
            search: Box::new(search),
            started: Notify::new(),
            dropped: Arc::default(),
        });
        index = Some(Arc::clone(&faulty));
        let language_model = expansions.map(|said| {
            let model: Arc<dyn trove_domain::port::LanguageModel> =
                Arc::new(ScriptedLanguageModel::saying(said));
            model
        });
        Backends { index: faulty, language_model, ..backends }
    })
    .await;
    let admin = server.caller(Role::Admin).await;
    admin.ingest(json!({"document": document("a", "A", "apple")})).await.ok();
    drop(admin);
    (server, index.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn row_152_153_a_failed_search_answers_what_it_has_and_is_recorded() {
    let (server, _) = faulty(None, |_| Answer::Fail).await;
    let client = server.caller(Role::Basic).await;
    let reply = client.send_search(json!({"search_query": "apple"})).await.ok();
    assert_eq!(reply["all_executed_queries"], json!(["apple"]));
    assert_eq!(reply["search_docs"], json!([]));
    assert_eq!(reply["llm_selected_doc_ids"], Value::Null);
    let error = reply["error"].as_str().unwrap().to_owned();
    assert!(error.contains("unavailable") && !error.contains("hunter2"), "{error}");

    let body = json!({
        "search_query": "apple", "stream": true, "num_docs_fed_to_llm_selection": 3,
    });
    let lines = client.send_search(body).await.lines();
    let types: Vec<&Value> = lines.iter().map(|line| &line["type"]).collect();
    assert_eq!(types, ["search_queries", "search_error"]);
    assert_eq!(lines[1], json!({"type": "search_error", "error": error}));
    let history = client.history("").await.ok();
    assert_eq!(history["search_queries"].as_array().unwrap().len(), 2);
    // Passages have no place for an error.
    let detail = client.search(json!({"query": "x"})).await.refused(503, "SERVICE_UNAVAILABLE");
    assert!(!detail.contains("hunter2"), "{detail}");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_failing_query_of_several_counts_as_empty() {
    let fail_pear = |query: &IndexQuery| match query.text.as_str() {
        "pear" => Answer::Fail,
        _ => Answer::Work,
    };
    let (server, _) = faulty(Some("pear\napple"), fail_pear).await;
    let client = server.caller(Role::Basic).await;
    for query in ["pear", "apple"] {
        let body = json!({"search_query": query, "run_query_expansion": true});
        assert_eq!(client.send_search(body).await.found(), ["a"], "{query}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_queries_line_is_sent_before_anything_is_searched_and_leaving_ends_the_work() {
    let (server, index) = faulty(None, |_| Answer::Hang).await;
    let key = server.key("a@example.com", Role::Basic).await;
    let body = json!({"search_query": "apple", "stream": true}).to_string();
    let head = format!(
        "POST /api/search/send-search-message HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let mut connection = server.connect().await;
    connection.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    let mut received = Vec::new();
    while !String::from_utf8_lossy(&received).contains("all_executed_queries") {
        let mut piece = [0; 1024];
        let count = connection.read(&mut piece).await.unwrap();
        assert_ne!(count, 0, "closed after {}", String::from_utf8_lossy(&received));
        received.extend_from_slice(&piece[..count]);
    }
    index.started.notified().await;
    assert_eq!(index.dropped.count.load(Ordering::SeqCst), 0);
    drop(connection);
    index.dropped.one.notified().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn leaving_a_search_in_one_piece_ends_the_work() {
    let (server, index) = faulty(None, |_| Answer::Hang).await;
    let key = server.key("a@example.com", Role::Basic).await;
    let body = json!({"search_query": "apple"}).to_string();
    let head = format!(
        "POST /api/search/send-search-message HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let mut connection = server.connect().await;
    connection.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    index.started.notified().await;
    drop(connection);
    index.dropped.one.notified().await;
}

/// An embedding model whose queries do as they are told.
struct FaultyEmbedder {
    inner: HashingEmbedder,
    query: Box<dyn Fn() -> Answer + Send + Sync>,
    asked: AtomicUsize,
}

#[async_trait]
impl EmbeddingModel for FaultyEmbedder {
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
        self.asked.fetch_add(1, Ordering::SeqCst);
        match (self.query)() {
            Answer::Work => self.inner.embed_query(text).await,
            Answer::Fail => Err(EmbeddingError::Unavailable("10.0.0.7 hunter2".into())),
            Answer::Hang => std::future::pending().await,
        }
    }
}

/// A server with one document and a query embedder that does as it is told.
async fn embedding(
    query: impl Fn() -> Answer + Send + Sync + 'static,
) -> (Server, Arc<FaultyEmbedder>) {
    let mut embedder = None;
    let server = Server::changed_with(
        // Nobody waits for what hangs in a test.
        EngineConfig {
            query_embedding_timeout: Duration::from_millis(20),
            ..EngineConfig::default()
        },
        |backends| {
            let dimensions = backends.embedding_model.as_ref().unwrap().info().dimensions;
            let faulty = embedder.insert(Arc::new(FaultyEmbedder {
                inner: HashingEmbedder::new(dimensions),
                query: Box::new(query),
                asked: AtomicUsize::default(),
            }));
            let model: Arc<dyn EmbeddingModel> = Arc::<FaultyEmbedder>::clone(faulty);
            Backends { embedding_model: Some(model), ..backends }
        },
    )
    .await;
    let admin = server.caller(Role::Admin).await;
    admin.ingest(json!({"document": document("a", "A", "apple")})).await.ok();
    drop(admin);
    (server, embedder.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn words_decide_when_no_query_can_be_embedded() {
    for (fault, fails) in [("fails", true), ("hangs", false)] {
        let (server, embedder) =
            embedding(move || if fails { Answer::Fail } else { Answer::Hang }).await;
        let client = server.caller(Role::Basic).await;
        let asked = || embedder.asked.load(Ordering::SeqCst);
        let found = client.search(json!({"query": "apples"})).await.titles();
        assert_eq!(found, ["A"], "{fault}");
        assert_eq!(asked(), 1);

        // Nobody waits for it again soon, whatever is asked for.
        for alpha in [0.5, 1.0] {
            let body = json!({"search_query": "apples", "hybrid_alpha": alpha});
            let reply = client.send_search(body).await.ok();
            assert_eq!(reply["error"], Value::Null, "{fault}");
            assert_eq!(reply["search_docs"].as_array().unwrap().len(), 1, "{fault}");
        }
        assert_eq!(asked(), 1, "{fault}");

        server.stack.clock.advance(chrono::TimeDelta::seconds(15));
        client.search(json!({"query": "apples"})).await.ok();
        assert_eq!(asked(), 2, "{fault}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_embedding_model_that_is_back_is_asked_by_every_search() {
    let failed = AtomicBool::new(false);
    let answer = move || {
        let again = failed.swap(true, Ordering::SeqCst);
        if again { Answer::Work } else { Answer::Fail }
    };
    let (server, embedder) = embedding(answer).await;
    let client = server.caller(Role::Basic).await;
    client.search(json!({"query": "apple"})).await.ok();
    server.stack.clock.advance(chrono::TimeDelta::seconds(15));
    for _ in 0..2 {
        client.search(json!({"query": "apple"})).await.ok();
    }
    assert_eq!(embedder.asked.load(Ordering::SeqCst), 3);
}
