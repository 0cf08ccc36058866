//! Groups that several pairs tell by the same name.

use serde_json::{Value, json};
use trove_domain::access::Role;
use trove_engine::{Backends, Engine};
use trove_testkit::model_server::{ModelServer, Reply};

use super::permissions::{finds, mock_pair, sources};
use super::scripted::Worker;
use crate::server::Client;

/// A document for a group, and who is in that group.
fn script(document: &str, member: &str) -> Value {
    json!([{
        "documents": [{"id": document, "semantic_identifier": document,
            "sections": [{"text": format!("word{document}")}],
            "external_access": {"external_user_group_ids": ["engineering"]}}],
        "external_groups": [{"id": "engineering", "user_emails": [member]}],
        "checkpoint": {"has_more": false},
    }])
}

async fn mock(document: &'static str, member: &'static str) -> ModelServer {
    ModelServer::start(move |request| match request.path.as_str() {
        "/get-documents" => Reply::json(200, &script(document, member)),
        _ => Reply::json(200, &json!({})),
    })
    .await
}

/// Whoever makes a pair of the same kind of source lets nobody in to what the first one reads, and
/// a document that both read is for the members that each of them tells.
#[tokio::test(flavor = "multi_thread")]
async fn a_group_that_another_pair_tells_opens_nothing() {
    let server = super::start().await;
    let backends = Backends { sources: Some(sources(&server)), ..server.engine.backends().clone() };
    let engine = Engine::new(backends, server.engine.config().clone());
    let first_owner = server.user("first-owner@example.com", Role::Admin).await;
    let second_owner = server.user("second-owner@example.com", Role::Admin).await;
    let first = server.user("first@example.com", Role::Basic).await;
    let second = server.user("second@example.com", Role::Basic).await;
    let third = server.user("third@example.com", Role::Basic).await;
    let mocks = [
        mock("one", "first@example.com").await,
        mock("two", "second@example.com").await,
        mock("one", "third@example.com").await,
    ];
    let mut pairs = Vec::new();
    for ((owner, mock), name) in
        [&first_owner, &second_owner, &second_owner].into_iter().zip(&mocks).zip(["a", "b", "c"])
    {
        pairs.push(mock_pair(owner, mock, name).await);
    }
    let status = async |pair: i64| {
        let shown = first_owner.get(&format!("/api/manage/admin/cc-pair/{pair}")).await.ok();
        (shown["last_permission_sync_attempt_status"].clone(), shown["num_docs_indexed"].clone())
    };
    let worker = Worker::with(&server, engine.clone());
    let all_synced = async || {
        for (pair, _) in &pairs {
            if status(*pair).await != (json!("success"), json!(1)) {
                return false;
            }
        }
        true
    };
    worker.until(all_synced).await;
    engine.sync_documents().await.unwrap();
    let found =
        async |client: &Client<'_>| [finds(client, "one").await, finds(client, "two").await];
    assert_eq!(found(&first).await, [true, false]);
    assert_eq!(found(&second).await, [false, true]);
    assert_eq!(found(&third).await, [true, false], "the document of two pairs");

    // What the third pair told goes with it, and nothing else does.
    let (_, (connector, credential)) = &pairs[2];
    let body = json!({"connector_id": connector, "credential_id": credential});
    second_owner.post("/api/manage/admin/deletion-attempt", body).await.ok();
    engine.sync_documents().await.unwrap();
    assert_eq!(found(&first).await, [true, false]);
    assert_eq!(found(&second).await, [false, true]);
    assert_eq!(found(&third).await, [false, false]);
}
