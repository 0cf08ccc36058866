//! `GET /search/search-history`, and what is recorded.

use chrono::TimeDelta;
use serde_json::{Value, json};
use trove_domain::access::Role;
use trove_engine::EngineConfig;

use crate::server::{Client, Options, Server};

async fn search(client: &Client<'_>, query: &str) {
    client.send_search(json!({"search_query": query})).await.ok();
}

async fn queries(client: &Client<'_>, parameters: &str) -> Vec<String> {
    let reply = client.history(parameters).await.ok();
    let list = reply["search_queries"].as_array().unwrap().clone();
    list.iter().map(|search| search["query"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_has_exactly_the_fields_of_the_contract() {
    let server = Server::start().await;
    let client = server.caller(Role::Basic).await;
    search(&client, "key rotation").await;
    let expected = json!({"search_queries": [{
        "query": "key rotation", "query_expansions": null, "created_at": "2026-01-01T00:00:00Z",
    }]});
    assert_eq!(client.history("").await.ok(), expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_156_searches_are_kept_as_they_are_newest_first() {
    let server = Server::start().await;
    let client = server.caller(Role::Basic).await;
    for query in ["a", "b", "a", ""] {
        search(&client, query).await;
        server.stack.clock.advance(TimeDelta::seconds(1));
    }
    let streamed = json!({"search_query": "streamed", "stream": true});
    client.send_search(streamed).await.lines();
    assert_eq!(queries(&client, "").await, ["streamed", "", "a", "b", "a"]);
    assert_eq!(queries(&client, "?limit=2").await, ["streamed", ""]);
    let other = server.caller(Role::Admin).await;
    assert!(queries(&other, "").await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn row_140_searches_for_passages_are_not_recorded() {
    let server = Server::start().await;
    let client = server.caller(Role::Basic).await;
    client.search(json!({"query": "apple"})).await.ok();
    client
        .send_search(json!({"search_query": 1}))
        .await
        .invalid(&["body/search_query string_type"]);
    assert!(queries(&client, "").await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn row_154_numbers_out_of_range_are_422_like_any_others() {
    let server = Server::start().await;
    let client = server.caller(Role::Basic).await;
    for bad in ["limit=0", "limit=-1", "filter_days=0", "filter_days=-7"] {
        let (name, _) = bad.split_once('=').unwrap();
        let rejected = format!("query/{name} greater_than_equal");
        client.history(&format!("?{bad}")).await.invalid(&[rejected.as_str()]);
    }
    client
        .history("?limit=1001&filter_days=0")
        .await
        .invalid(&["query/limit less_than_equal", "query/filter_days greater_than_equal"]);
    client
        .history("?limit=abc&filter_days=1.5")
        .await
        .invalid(&["query/limit int_parsing", "query/filter_days int_parsing"]);
    for good in ["?limit=1", "?limit=1000", "?filter_days=1", "?filter_days=999999999999"] {
        client.history(good).await.ok();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn filter_days_narrows_the_window() {
    let server = Server::start().await;
    let client = server.caller(Role::Basic).await;
    search(&client, "old").await;
    server.stack.clock.advance(TimeDelta::days(3));
    search(&client, "new").await;
    assert_eq!(queries(&client, "?filter_days=2").await, ["new"]);
    assert_eq!(queries(&client, "?filter_days=3").await, ["new", "old"]);
    assert_eq!(queries(&client, "?filter_days=4000000000").await, ["new", "old"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_155_history_is_read_without_a_vector_database() {
    let engine = EngineConfig { vector_db: false, ..EngineConfig::default() };
    let server = Server::with(Options { engine, ..Options::default() }).await;
    let client = server.caller(Role::Basic).await;
    let answer = client.send_search(json!({"search_query": "x"})).await;
    answer.refused(501, "NOT_IMPLEMENTED");
    assert_eq!(client.history("").await.ok(), json!({"search_queries": Value::Array(vec![])}));
}
