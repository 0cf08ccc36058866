//! Embeddings at servers of all kinds.
#![expect(clippy::unwrap_used, reason = "failing is panicking here")]

mod fixture;

use std::sync::Arc;

use fixture::{CANARY, endpoint};
use serde_json::{Value, json};
use trove_domain::port::{EmbeddingError, EmbeddingModel};
use trove_openai::{EmbeddingSettings, OpenAiEmbeddingModel, OpenEmbeddingModelError, Timeouts};
use trove_testkit::model_server::{Captured, ModelServer, Reply, simulate};

fn settings(server: &ModelServer) -> EmbeddingSettings {
    EmbeddingSettings {
        endpoint: endpoint(&server.url()),
        dimensions: None,
        window_tokens: 128,
        batch_texts_max: 16,
    }
}

async fn open(
    settings: EmbeddingSettings,
    indexed: Option<usize>,
) -> Result<OpenAiEmbeddingModel, OpenEmbeddingModelError> {
    let transport = fixture::transport(Timeouts::default());
    let opened = OpenAiEmbeddingModel::open(transport, settings, indexed).await;
    if let Err(error) = &opened {
        assert!(!format!("{error} {error:?}").contains("canary"), "{error:?}");
    }
    opened
}

fn texts(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("text number {n}")).collect()
}

fn inputs(request: &Captured) -> Vec<String> {
    serde_json::from_value(request.json()["input"].clone()).unwrap()
}

/// Vectors of a length for each input.
fn vectors(request: &Captured, length: usize) -> Reply {
    let vector: Vec<f32> = vec![0.5; length];
    let item = |index| json!({ "index": index, "embedding": vector });
    let data: Vec<Value> = (0..inputs(request).len()).map(item).collect();
    Reply::json(200, &json!({ "data": data }))
}

#[tokio::test]
async fn the_length_is_asked_for_at_the_start() {
    let server = ModelServer::simulated().await;
    let model = open(settings(&server), None).await.unwrap();
    assert_eq!((model.info().name.as_str(), model.info().dimensions), ("test-model", 64));
    assert!(model.is_verified());
    let requests = server.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].path, "/v1/embeddings");
    assert_eq!(requests[0].header("authorization"), Some(format!("Bearer {CANARY}").as_str()));
    assert_eq!(requests[0].json().get("dimensions"), None);
}

#[tokio::test]
async fn another_length_than_the_configured_one_is_refused() {
    let server = ModelServer::start(|request| vectors(request, 8)).await;
    let wanted = EmbeddingSettings { dimensions: Some(4), ..settings(&server) };
    let error = open(wanted, None).await.unwrap_err();
    let text = "the model test-model answers with vectors of 8 elements, expected 4";
    assert_eq!(error.to_string(), text);
}

#[tokio::test]
async fn a_model_that_shortens_its_vectors_is_asked_to() {
    let server = ModelServer::start(|request| {
        vectors(request, request.json()["dimensions"].as_u64().map_or(8, |_| 4))
    })
    .await;
    let wanted = EmbeddingSettings { dimensions: Some(4), ..settings(&server) };
    let model = open(wanted, None).await.unwrap();
    assert_eq!(model.info().dimensions, 4);
    assert_eq!(model.embed_query("text").await.unwrap().len(), 4);
    assert_eq!(server.requests().len(), 3);
    let own = EmbeddingSettings { dimensions: Some(8), ..settings(&server) };
    assert_eq!(open(own, None).await.unwrap().info().dimensions, 8);
    assert_eq!(server.requests()[3].json().get("dimensions"), None);
}

#[tokio::test]
async fn a_model_that_is_down_starts_when_its_length_is_known() {
    let server = ModelServer::start(|_| Reply::text(503, "starting")).await;
    let error = open(settings(&server), None).await.unwrap_err();
    assert!(matches!(error, OpenEmbeddingModelError::Unreachable(_)), "{error:?}");
    let model = open(settings(&server), Some(64)).await.unwrap();
    assert_eq!((model.info().dimensions, model.is_verified()), (64, false));
    let error = model.embed_query("text").await.unwrap_err();
    assert!(matches!(error, EmbeddingError::Unavailable(_)), "{error:?}");
}

/// Otherwise the index would hold vectors that nothing can be compared with.
#[tokio::test]
async fn another_length_later_on_is_refused() {
    let server = ModelServer::start(|request| {
        let later = inputs(request).iter().any(|text| text.contains("later"));
        vectors(request, if later { 9 } else { 8 })
    })
    .await;
    let model = open(settings(&server), None).await.unwrap();
    assert!(model.embed_passages(&texts(2)).await.is_ok());
    let error = model.embed_passages(&["later".to_owned()]).await.unwrap_err();
    assert!(matches!(error, EmbeddingError::Backend(_)), "{error:?}");
    assert!(model.embed_query("later").await.is_err());
}

#[tokio::test]
async fn a_wrong_key_or_model_is_told_at_the_start() {
    for (reply, words) in [
        (Reply::error(401, "invalid_api_key", CANARY), "does not accept the key"),
        (Reply::error(404, "", "model not found"), "has no model test-model"),
        (Reply::html(200, "<html>"), "not understood"),
    ] {
        let server = ModelServer::start(move |_| reply.clone()).await;
        let opened = open(settings(&server), None).await;
        // An answer that is not understood may be a proxy's of this moment.
        let error = opened.unwrap_err();
        let source = std::error::Error::source(&error).map(ToString::to_string);
        let shown = format!("{error} {}", source.unwrap_or_default());
        assert!(shown.contains(words), "{shown}");
    }
}

#[tokio::test]
async fn batches_are_as_large_as_configured() {
    let server = ModelServer::simulated().await;
    let model = open(settings(&server), None).await.unwrap();
    assert_eq!(model.embed_passages(&texts(40)).await.unwrap().len(), 40);
    let mut sizes: Vec<usize> =
        server.requests()[1..].iter().map(|request| inputs(request).len()).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [8, 16, 16]);
}

#[tokio::test]
async fn a_server_with_a_smaller_batch_gets_smaller_ones() {
    let server = ModelServer::start(|request| {
        if inputs(request).len() > 4 {
            return Reply::error(422, "validation", "batch size 16 > maximum allowed batch size 4");
        }
        simulate(request)
    })
    .await;
    let model = open(settings(&server), None).await.unwrap();
    let all = texts(16);
    let found = model.embed_passages(&all).await.unwrap();
    assert_eq!(found[9], model.embed_query(&all[9]).await.unwrap());
    let before = server.requests().len();
    model.embed_passages(&all).await.unwrap();
    assert_eq!(server.requests().len() - before, 4, "the size is remembered");
}

#[tokio::test]
async fn a_text_that_is_too_long_for_the_server_is_cut() {
    let server = ModelServer::start(|request| {
        if inputs(request).iter().any(|text| text.len() > 100) {
            return Reply::error(400, "context_length_exceeded", "too long");
        }
        simulate(request)
    })
    .await;
    let model = open(settings(&server), None).await.unwrap();
    let mut all = texts(3);
    all[1] = "word ".repeat(60);
    let found = model.embed_passages(&all).await.unwrap();
    assert_eq!(found.len(), 3);
    assert_eq!(found[2], model.embed_query(&all[2]).await.unwrap());
    assert_eq!(model.embed_query(&all[1]).await.unwrap().len(), 64);
}

#[tokio::test]
async fn what_passes_is_asked_again() {
    let server = ModelServer::replaying([
        Reply::error(429, "rate_limit_exceeded", "slow down").header("Retry-After", "0"),
        Reply::json(200, &json!({ "data": [{ "index": 0, "embedding": [1.0, 1.0] }] })),
        Reply::text(503, ""),
        Reply::json(200, &json!({ "data": [{ "index": 0, "embedding": [0.0, 2.0] }] })),
    ])
    .await;
    let model = open(settings(&server), None).await.unwrap();
    assert_eq!(model.embed_query("text").await.unwrap(), [0.0, 1.0]);
}

/// The server never answers the passages; the query has its own connection.
#[tokio::test]
async fn a_query_passes_by_any_number_of_passages() {
    let server = ModelServer::start(|request| {
        let bulk = inputs(request).iter().any(|text| text.contains("number"));
        if bulk { Reply::text(200, "").then_hold() } else { simulate(request) }
    })
    .await;
    let model = Arc::new(open(settings(&server), None).await.unwrap());
    let all = texts(200);
    let calls = (0..8).map(|_| model.embed_passages(&all));
    let mut bulk = std::pin::pin!(futures::future::join_all(calls));
    assert!(futures::poll!(&mut bulk).is_pending());
    tokio::select! {
        _ = &mut bulk => panic!("the server holds them"),
        query = model.embed_query("question") => assert_eq!(query.unwrap().len(), 64),
    }
}
