//! What another process over the same database and index takes away is gone with the next request.

use std::sync::Arc;

use serde_json::json;
use trove_domain::access::Role;
use trove_domain::id::DocumentId;
use trove_domain::port::{AccessChange, IdGenerator, UserChange};
use trove_engine::{Backends, Engine, EngineConfig};
use trove_store::{SqliteConfig, Store};
use trove_testkit::fakes::SequentialIds;

use crate::server::{Client, Server, document};

/// An engine as a second process has it: its own connections, and no memory of the first.
async fn other_process(server: &Server) -> Engine {
    let ids: Arc<dyn IdGenerator> = Arc::new(SequentialIds::default());
    let sqlite = SqliteConfig::new(server.stack.directory.path().join("trove.db"));
    let store = Arc::new(Store::open_sqlite(sqlite, Arc::clone(&ids)).await.unwrap());
    let first = server.engine.backends();
    let index = Arc::clone(&first.index);
    let backends = Backends {
        clock: Arc::clone(&first.clock),
        ids,
        ..Backends::new(&store, index, first.embedding_model.clone())
    };
    Engine::new(backends, EngineConfig::default())
}

/// Whether both searches, in one piece and as a stream, find `word`.
async fn finds(client: &Client<'_>, word: &str) -> bool {
    let passages = !client.search(json!({"query": word})).await.titles().is_empty();
    let body = json!({"search_query": word});
    let documents = client.send_search(body).await.ok();
    let documents = !documents["search_docs"].as_array().unwrap().is_empty();
    let stream = client.send_search(json!({"search_query": word, "stream": true})).await;
    let streamed = stream.text.contains("\"document_id\"");
    assert!(passages == documents && documents == streamed, "{passages} {documents} {streamed}");
    passages
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_process_revokes_is_gone_with_the_next_request() {
    let server = Server::start().await;
    let reader = server.user("reader@example.com", Role::Basic).await;
    let admin = server.caller(Role::Admin).await;
    let group = server.group("readers", &[("reader@example.com", false)]).await;
    let pair = server.private_pair("private", &[group]).await;
    for id in ["a", "b"] {
        let body = json!({"document": document(id, id, "apple"), "cc_pair_id": pair.0});
        admin.ingest(body).await.ok();
    }
    let other = other_process(&server).await;
    let (groups, users) = (&other.backends().groups, &other.backends().users);
    let user = users.get_by_email("reader@example.com").await.unwrap().unwrap().id;
    assert!(finds(&reader, "apple").await);

    groups.set_members(group, &[]).await.unwrap();
    assert!(!finds(&reader, "apple").await, "after leaving the group");
    groups.set_members(group, &[(user, false)]).await.unwrap();
    assert!(finds(&reader, "apple").await);

    let before = other.backends().cc_pairs.get(pair).await.unwrap().unwrap();
    let nobody = AccessChange { access_type: before.access_type, groups: [].into() };
    other.set_pair_access(pair, nobody).await.unwrap();
    other.sync_documents().await.unwrap();
    assert!(!finds(&reader, "apple").await, "after the pair was closed");
    let again = AccessChange { access_type: before.access_type, groups: [group].into() };
    other.set_pair_access(pair, again).await.unwrap();
    other.sync_documents().await.unwrap();
    assert!(finds(&reader, "apple").await);

    let id = |id: &str| DocumentId::new(id).unwrap();
    other.remove_documents(&[id("a"), id("b")]).await.unwrap();
    assert!(!finds(&reader, "apple").await, "after the documents were removed");

    let now = other.backends().clock.now();
    assert_eq!(users.deactivate(user, now).await.unwrap(), UserChange::Done);
    reader.search(json!({"query": "apple"})).await.refused(401, "UNAUTHENTICATED");
    assert_eq!(users.activate(user, None, now).await.unwrap(), UserChange::Done);
    reader.search(json!({"query": "apple"})).await.ok();

    for listed in other.backends().api_keys.list(None, 100).await.unwrap() {
        if listed.holder.user.id == user {
            assert!(other.backends().api_keys.revoke(listed.key.id, now).await.unwrap());
        }
    }
    let body = json!({"search_query": "apple", "stream": true});
    reader.send_search(body).await.refused(401, "UNAUTHENTICATED");
}
