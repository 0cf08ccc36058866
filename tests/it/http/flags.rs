//! What administrators and curators decide about single documents.

use serde_json::{Value, json};
use trove_domain::access::Role;
use trove_domain::cc_pair::CcPair;

use crate::server::{Client, Server, document};

const ADMIN: &str = "/api/manage/admin";

async fn boosts(client: &Client<'_>, query: &str) -> Value {
    client.get(&format!("{ADMIN}/doc-boosts{query}")).await.ok()
}

async fn hide(client: &Client<'_>, id: &str, hidden: bool) -> Value {
    let body = json!({"document_id": id, "hidden": hidden});
    client.post(&format!("{ADMIN}/doc-hidden"), body).await.ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn row_91_a_hidden_document_is_found_by_no_search_until_it_is_shown_again() {
    let server = Server::start().await;
    let admin = server.user("admin@example.com", Role::Admin).await;
    let ingest = async || {
        admin.ingest(json!({"document": document("a", "Zebra", "the zebra stays")})).await.ok()
    };
    ingest().await;
    let found = async || admin.search(json!({"query": "zebra"})).await.titles();
    assert_eq!(found().await, ["Zebra"]);
    assert_eq!(hide(&admin, "a", true).await, Value::Null);
    let path = format!("{ADMIN}/cc-pair/{}/get-docs-sync-status", CcPair::DEFAULT);
    let state = admin.get(&path).await.ok()[0].clone();
    assert_eq!((&state["doc_id"], &state["last_synced"]), (&json!("a"), &Value::Null));
    server.engine.sync_documents().await.unwrap();
    let state = admin.get(&path).await.ok()[0].clone();
    assert_eq!(state["last_synced"], state["last_modified"]);
    assert!(found().await.is_empty());
    ingest().await;
    assert!(found().await.is_empty(), "it stays hidden");
    hide(&admin, "a", false).await;
    server.engine.sync_documents().await.unwrap();
    assert_eq!(found().await, ["Zebra"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_108_a_document_with_more_weight_comes_first() {
    let server = Server::start().await;
    let admin = server.user("admin@example.com", Role::Admin).await;
    for id in ["a", "b", "c"] {
        admin
            .ingest(json!({"document": document(id, id, "the same words in all of them")}))
            .await
            .ok();
    }
    for (id, boost) in [("c", 9), ("a", -9)] {
        let body = json!({"document_id": id, "boost": boost});
        admin.post(&format!("{ADMIN}/doc-boosts"), body).await.ok();
    }
    server.engine.sync_documents().await.unwrap();
    assert_eq!(admin.search(json!({"query": "same words"})).await.titles(), ["c", "b", "a"]);
    let heaviest = boosts(&admin, "?ascending=false&limit=1").await;
    let expected =
        json!([{"document_id": "c", "semantic_id": "c", "link": "", "boost": 9, "hidden": false}]);
    assert_eq!(heaviest, expected);
    assert_eq!(boosts(&admin, "?ascending=true&limit=10").await[0]["document_id"], "a");
    assert_eq!(boosts(&admin, "?limit=1").await, heaviest, "the heaviest unless asked otherwise");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_is_decided_about_by_who_may_change_a_pair_of_it() {
    let server = Server::start().await;
    let admin = server.user("admin@example.com", Role::Admin).await;
    let curator = server.user("curator@example.com", Role::GlobalCurator).await;
    let group = server.group("g", &[("curator@example.com", true)]).await;
    let own = server.private_pair("own", &[group]).await;
    let posted =
        |id: &str, pair: i32| json!({"document": document(id, id, "words"), "cc_pair_id": pair});
    admin.ingest(posted("mine", own.0)).await.ok();
    admin.ingest(posted("other", CcPair::DEFAULT.0)).await.ok();
    assert_eq!(hide(&curator, "mine", true).await, Value::Null);
    // Foreign and missing look the same.
    let path = format!("{ADMIN}/doc-hidden");
    let told = async |id: &str| {
        let answer = curator.post(&path, json!({"document_id": id, "hidden": true})).await;
        answer.refused(404, "NOT_FOUND").replace(id, "ID")
    };
    assert_eq!(told("other").await, told("nothing").await);
    let listed = boosts(&curator, "?ascending=true&limit=10").await;
    let ids: Vec<&Value> = listed.as_array().unwrap().iter().map(|d| &d["document_id"]).collect();
    assert_eq!(ids, ["mine"]);
    let basic = server.user("basic@example.com", Role::Basic).await;
    let refused = basic.post(&path, json!({"document_id": "mine", "hidden": false})).await;
    refused.refused(403, "INSUFFICIENT_PERMISSIONS");
    admin
        .post(&path, json!({}))
        .await
        .invalid(&["body/document_id missing", "body/hidden missing"]);
    let boost = json!({"document_id": "", "boost": 99_999_999_999_i64});
    admin
        .post(&format!("{ADMIN}/doc-boosts"), boost)
        .await
        .invalid(&["body/document_id string_too_short", "body/boost less_than_equal"]);
    admin
        .get(&format!("{ADMIN}/doc-boosts?ascending=up&limit=0"))
        .await
        .invalid(&["query/ascending bool_parsing", "query/limit greater_than_equal"]);
}
