//! Requests that ask for too much, for another protocol, or whose client is gone.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::sync::Notify;
use trove_domain::access::Role;
use trove_domain::port::{EmbeddingError, EmbeddingModel, EmbeddingModelInfo, Tokenizer};
use trove_engine::Backends;

use crate::server::{Options, Server, document};

#[tokio::test(flavor = "multi_thread")]
async fn filters_and_metadata_have_a_most() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let tags = |count: usize| -> Value {
        (0..count).map(|n| json!({"tag_key": "k", "tag_value": n.to_string()})).collect()
    };
    admin.search(json!({"query": "x", "tags": tags(1000)})).await.ok();
    admin.search(json!({"query": "x", "tags": tags(1001)})).await.invalid(&["body/tags too_long"]);
    let many = json!({"query": "x", "sources": vec!["slack"; 1001],
        "document_sets": vec!["s"; 1001]});
    let failures = ["body/sources too_long", "body/document_sets too_long"];
    admin.search(many).await.invalid(&failures);

    let metadata = |count: usize| {
        let mut document = document("a", "A", "apple");
        document["metadata"] = json!({"k": vec!["v"; count - 1], "l": "v"});
        json!({"document": document})
    };
    admin.ingest(metadata(10_000)).await.ok();
    let failures = ["body/document/metadata too_long"];
    admin.ingest(metadata(10_001)).await.invalid(&failures);
    let values = vec![0; 500_000];
    let detail = admin.search(json!({"query": "x", "y": values})).await;
    assert!(detail.refused(413, "PAYLOAD_TOO_LARGE").contains("500000 JSON values"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tag_that_is_asked_for_twice_counts_once() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let mut tagged = document("a", "A", "apple");
    tagged["metadata"] = json!({"team": "x"});
    admin.ingest(json!({"document": tagged})).await.ok();
    let tags = vec![json!({"tag_key": "team", "tag_value": "x"}); 3];
    let found = admin.search(json!({"query": "apple", "tags": tags})).await;
    assert_eq!(found.titles(), ["A"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_repeats_no_more_than_a_part_of_what_was_sent() {
    let server = Server::start().await;
    let caller = server.caller(Role::Basic).await;
    let long = caller.search(json!({"query": "x", "document_sets": ["é".repeat(100_000)]})).await;
    let detail = long.refused(403, "INSUFFICIENT_PERMISSIONS");
    assert!(detail.ends_with(&format!("{}…", "é".repeat(200))), "{detail}");
    let names: Vec<String> = (0..1000).map(|n| format!("s{n:04}")).collect();
    let many = caller.search(json!({"query": "x", "document_sets": names})).await;
    let detail = many.refused(403, "INSUFFICIENT_PERMISSIONS");
    assert!(detail.contains("s0000, s0001"), "{detail}");
    assert!(detail.ends_with("s0099, and 900 more"), "{detail}");
}

/// The library would take all that follows for another protocol, the next request with it.
#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_is_refused_and_ends_the_connection() {
    let server = Server::start().await;
    let key = server.key("a@example.com", Role::Basic).await;
    for connection in ["Connection: Upgrade\r\n", ""] {
        let request = format!(
            "POST /api/search HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\
             Content-Type: application/json\r\nContent-Length: 13\r\n{connection}\
             Upgrade: WebSocket\r\n\r\n{{\"query\":\"x\"}}"
        );
        let answer = server.raw(request.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
        assert!(answer.contains("BAD_REQUEST") && answer.contains("Upgrade"), "{answer}");
        assert!(answer.to_lowercase().contains("x-request-id"), "{answer}");
    }
    let other = format!(
        "GET /api/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nUpgrade: h2c\r\n\
         Connection: close\r\n\r\n"
    );
    assert!(server.raw(other.as_bytes()).await.starts_with("HTTP/1.1 200"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_for_an_old_client_has_no_chunks() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    admin.ingest(json!({"document": document("a", "A", "apple")})).await.ok();
    let key = server.key("b@example.com", Role::Admin).await;
    for path in ["/api/ingestion", "/api/ingestion/connector-docs/1"] {
        let request = format!("GET {path} HTTP/1.0\r\nAuthorization: Bearer {key}\r\n\r\n");
        let answer = server.raw(request.as_bytes()).await;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(!head.to_lowercase().contains("transfer-encoding"), "{head}");
        let list: Value = serde_json::from_str(body).unwrap();
        assert_eq!(list[0]["document_id"], "a");
    }
}

/// Told of each call; the text `stuck` is never done.
static ASKED: Notify = Notify::const_new();
static DROPPED: AtomicBool = AtomicBool::new(false);

struct Stuck(Arc<dyn EmbeddingModel>);

struct OnDrop;

impl Drop for OnDrop {
    fn drop(&mut self) {
        DROPPED.store(true, Ordering::SeqCst);
    }
}

#[async_trait]
impl EmbeddingModel for Stuck {
    fn info(&self) -> &EmbeddingModelInfo {
        self.0.info()
    }

    fn tokenizer(&self) -> &dyn Tokenizer {
        self.0.tokenizer()
    }

    async fn embed_passages(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        if texts.iter().any(|text| text.contains("stuck")) {
            let _dropped = OnDrop;
            ASKED.notify_one();
            std::future::pending::<()>().await;
        }
        self.0.embed_passages(texts).await
    }

    async fn embed_query(&self, text: &str) -> Result<Vec<f32>, EmbeddingError> {
        self.0.embed_query(text).await
    }
}

/// What nobody waits for holds up nobody.
#[tokio::test(flavor = "multi_thread")]
async fn work_for_a_client_that_left_ends() {
    let backends = |backends: Backends| {
        let model = backends.embedding_model.clone().unwrap();
        Backends { embedding_model: Some(Arc::new(Stuck(model))), ..backends }
    };
    let server = Server::with(Options { backends, ..Options::default() }).await;
    let key = server.key("a@example.com", Role::Admin).await;
    let admin = server.nobody().with("authorization", &format!("Bearer {key}"));
    admin.ingest(json!({"document": document("a", "A", "old")})).await.ok();

    let body = json!({"document": document("a", "A", "stuck")}).to_string();
    let request = format!(
        "POST /api/ingestion HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut connection = server.connect().await;
    connection.write_all(request.as_bytes()).await.unwrap();
    ASKED.notified().await;
    drop(connection);

    admin.ingest(json!({"document": document("a", "A", "new")})).await.ok();
    assert!(DROPPED.load(Ordering::SeqCst));
    assert_eq!(admin.search(json!({"query": "new"})).await.titles(), ["A"]);
    admin.remove("a").await.ok();
}
