//! `POST /search` with `persona_id`.

use serde_json::{Value, json};
use trove_domain::access::Role;
use trove_domain::id::CcPairId;

use crate::server::{Client, Server, document};

/// Makes an agent with these fields beside those that it must have; answers its id.
async fn agent(client: &Client<'_>, fields: Value) -> i64 {
    let mut body = json!({
        "name": client.me().await.ok()["id"], "description": "", "system_prompt": "",
        "task_prompt": "", "document_set_ids": [], "tool_ids": [], "datetime_aware": true,
    });
    let Value::Object(fields) = fields else { panic!("fields are an object") };
    body.as_object_mut().unwrap().extend(fields);
    client.post("/api/persona", body).await.ok()["id"].as_i64().unwrap()
}

/// `a` and `b` in the set "One", `c` and `d` in "Two".
async fn four(server: &Server) -> (i64, i64) {
    let admin = server.caller(Role::Admin).await;
    let pair = server.private_pair("two", &[]).await;
    let everyone = trove_domain::port::AccessChange {
        access_type: trove_domain::cc_pair::AccessType::Public,
        groups: std::collections::BTreeSet::new(),
    };
    assert!(server.engine.set_pair_access(pair, everyone).await.unwrap());
    for (id, day, pair) in [
        ("a", "2024-01-01", 1),
        ("b", "2025-01-01", 1),
        ("c", "2024-01-01", pair.0),
        ("d", "2025-01-01", pair.0),
    ] {
        let mut document = document(id, id, "apple");
        document["doc_updated_at"] = json!(day);
        admin.ingest(json!({"document": document, "cc_pair_id": pair})).await.ok();
    }
    server.document_set("One", true, &[CcPairId(1)]).await;
    server.document_set("Two", true, &[pair]).await;
    let sets = admin.get("/api/manage/document-set").await.ok();
    let id = |name: &str| {
        let sets = sets.as_array().unwrap();
        sets.iter().find(|set| set["name"] == name).unwrap()["id"].as_i64().unwrap()
    };
    (id("One"), id("Two"))
}

async fn titles(client: &Client<'_>, body: Value) -> Vec<String> {
    let mut body = body;
    body["query"] = json!("apple");
    let mut titles = client.search(body).await.titles();
    titles.sort();
    titles
}

#[tokio::test(flavor = "multi_thread")]
async fn row_131_an_agent_of_somebody_else_is_404_like_a_missing_one() {
    let server = Server::start().await;
    let owner = server.caller(Role::Basic).await;
    let other = server.caller(Role::Basic).await;
    let id = agent(&owner, json!({"is_public": false})).await;
    let body = |id: i64| json!({"query": "x", "persona_id": id});
    owner.search(body(id)).await.ok();
    let foreign = other.search(body(id)).await;
    let missing = other.search(body(id + 1)).await;
    foreign.refused(404, "PERSONA_NOT_FOUND");
    let plain = |text: &str, id: i64| text.replace(&id.to_string(), "N");
    assert_eq!(plain(&foreign.text, id), plain(&missing.text, id + 1));
    // Rule of 3.3.2: an administrator sees every agent.
    server.caller(Role::Admin).await.search(body(id)).await.ok();
    assert_eq!(owner.delete(&format!("/api/persona/{id}")).await.status, 200);
    owner.search(body(id)).await.refused(404, "PERSONA_NOT_FOUND");
}

#[tokio::test(flavor = "multi_thread")]
async fn row_137_the_later_of_start_date_and_cutoff_counts() {
    let server = Server::start().await;
    four(&server).await;
    let client = server.caller(Role::Basic).await;
    let id = agent(&client, json!({"search_start_date": "2024-06-01"})).await;
    assert_eq!(titles(&client, json!({"persona_id": id})).await, ["b", "d"]);
    for (cutoff, found) in [("2023-01-01", 2), ("2025-01-01", 2), ("2025-01-02", 0)] {
        let body = json!({"persona_id": id, "time_cutoff": cutoff});
        assert_eq!(titles(&client, body).await.len(), found, "{cutoff}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn decision_d7_d8_an_agents_knowledge_is_on_top_of_the_callers_filters() {
    let server = Server::start().await;
    let (one, two) = four(&server).await;
    let client = server.caller(Role::Basic).await;
    let sets = agent(&client, json!({"document_set_ids": [one]})).await;
    let other = server.caller(Role::Basic).await;
    let both = agent(
        &other,
        json!({"document_set_ids": [two], "document_ids": ["a"],
        "is_public": true}),
    )
    .await;
    let search = async |id: i64, sets: Value| {
        titles(&client, json!({"persona_id": id, "document_sets": sets})).await
    };
    assert_eq!(search(sets, Value::Null).await, ["a", "b"]);
    // Neither replaces the other.
    assert!(search(sets, json!(["Two"])).await.is_empty());
    assert_eq!(search(sets, json!([])).await, ["a", "b"]);
    // Sets and documents are alternatives.
    assert_eq!(search(both, Value::Null).await, ["a", "c", "d"]);
    assert_eq!(search(both, json!(["One"])).await, ["a"]);
    assert_eq!(search(0, Value::Null).await, ["a", "b", "c", "d"]);
}

/// Row 157 with an agent: what somebody else made cannot widen what a caller may read.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_opens_no_document() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let member = server.user("ann@example.com", Role::Basic).await;
    let group = server.group("G", &[("ann@example.com", false)]).await;
    let pair = server.private_pair("private", &[group]).await;
    let body = json!({"document": document("secret", "Secret", "apple"), "cc_pair_id": pair.0});
    admin.ingest(body).await.ok();
    let id = agent(&member, json!({"document_ids": ["secret"], "is_public": true})).await;
    assert_eq!(titles(&member, json!({"persona_id": id})).await, ["Secret"]);
    let other = server.caller(Role::Basic).await;
    assert!(titles(&other, json!({"persona_id": id})).await.is_empty());
}
