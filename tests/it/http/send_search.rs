//! `POST /search/send-search-message`, without a language model.

use serde_json::{Value, json};
use trove_domain::access::Role;

use crate::server::{Client, Server, document};

async fn post(server: &Server, document: Value) {
    let admin = server.caller(Role::Admin).await;
    admin.ingest(json!({"document": document})).await.ok();
}

async fn three(server: &Server) -> Client<'_> {
    post(server, document("a", "A", "apple apple apple")).await;
    post(server, document("b", "B", "apple and river")).await;
    post(server, document("c", "C", "stone")).await;
    server.caller(Role::Basic).await
}

/// A document of `count` chunks, the one at `place` of which holds `word`.
fn chunks(id: &str, count: usize, words: &[(usize, &str)]) -> Value {
    let sections: Vec<Value> = (0..count)
        .map(|chunk| {
            let word = words.iter().find(|(place, _)| *place == chunk).map_or("", |found| found.1);
            json!({"text": format!("{word} {}", format!("filler{chunk} ").repeat(200))})
        })
        .collect();
    json!({"id": id, "semantic_identifier": id, "metadata": {}, "sections": sections})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_has_exactly_the_fields_of_the_contract() {
    let server = Server::start().await;
    let page = json!({
        "id": "wiki/keys", "semantic_identifier": "Key rotation", "source": "confluence",
        "metadata": {"team": "platform", "tags": ["a", "b"]},
        "doc_updated_at": "2024-01-02T03:04:05.678900Z",
        "primary_owners": [{"email": "ann@example.com"}],
        "sections": [{"text": "Keys rotate every ninety days.", "link": "https://wiki/keys"}],
    });
    post(&server, page).await;
    let basic = server.caller(Role::Basic).await;
    let body = json!({"search_query": "rotation", "include_content": true, "hybrid_alpha": 0});
    let answer = basic.send_search(body).await;
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let mut reply = answer.ok();
    let score = reply["search_docs"][0]["score"].take();
    assert!(score.as_f64().is_some_and(|score| score > 0.0), "{score}");
    let expected = json!({
        "all_executed_queries": ["rotation"],
        "search_docs": [{
            "document_id": "wiki%2Fkeys", "chunk_ind": 0, "semantic_identifier": "Key rotation",
            "link": "https://wiki/keys", "blurb": "Keys rotate every ninety days.",
            "source_type": "confluence", "boost": 0, "hidden": false,
            "metadata": {"team": "platform", "tags": ["a", "b"]}, "score": null,
            "is_relevant": null, "relevance_explanation": null,
            "match_highlights": ["Keys <hi>rotate</hi> every ninety days."],
            "updated_at": "2024-01-02T03:04:05.678900+00:00",
            "primary_owners": ["ann@example.com"], "secondary_owners": null,
            "is_internet": false, "file_id": null, "content": "Keys rotate every ninety days.",
        }],
        "doc_selection_reasoning": null, "llm_selected_doc_ids": null, "error": null,
    });
    assert_eq!(reply, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_141_alpha_0_is_words_alone_and_alpha_1_vectors_alone() {
    let server = Server::start().await;
    let client = three(&server).await;
    let found = async |alpha: Value| {
        client.send_search(json!({"search_query": "apple", "hybrid_alpha": alpha})).await.found()
    };
    // Words alone find what holds one of them; vectors rank everything.
    assert_eq!(found(json!(0.0)).await, ["a", "b"]);
    assert_eq!(found(json!(0)).await, ["a", "b"]);
    for alpha in [json!(1.0), json!(0.5), json!("0.7"), Value::Null] {
        let mut found = found(alpha).await;
        found.sort();
        assert_eq!(found, ["a", "b", "c"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn row_144_content_is_null_unless_asked_for_and_a_blurb_always_there() {
    let server = Server::start().await;
    let client = three(&server).await;
    for (asked, content) in
        [(json!({}), Value::Null), (json!({"include_content": true}), json!("stone"))]
    {
        let mut body = json!({"search_query": "stone", "hybrid_alpha": 0});
        body.as_object_mut().unwrap().extend(asked.as_object().unwrap().clone());
        let doc = client.send_search(body).await.ok()["search_docs"][0].clone();
        assert_eq!(doc.as_object().unwrap().get("content"), Some(&content));
        assert_eq!(doc["blurb"], "stone");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn row_149_adjacent_chunks_are_one_section_at_the_place_of_the_best() {
    let server = Server::start().await;
    post(&server, chunks("long", 8, &[(4, "apple"), (5, "apple apple apple")])).await;
    post(&server, chunks("other", 1, &[(0, "apple apple")])).await;
    let client = server.caller(Role::Basic).await;
    let body = json!({"search_query": "apple", "hybrid_alpha": 0, "include_content": true});
    let reply = client.send_search(body).await;
    assert_eq!(reply.found(), ["long", "other"]);
    let section = reply.ok()["search_docs"][0].clone();
    assert_eq!(section["chunk_ind"], 5, "the best chunk");
    let content = section["content"].as_str().unwrap();
    let place = |word: &str| content.find(word).unwrap();
    assert!(place("filler4") < place("filler5"), "in document order");
    assert!(!content.contains("filler3") && !content.contains("filler6"));
}

#[tokio::test(flavor = "multi_thread")]
async fn distant_sections_of_a_document_stay_apart() {
    let server = Server::start().await;
    post(&server, chunks("long", 8, &[(0, "apple"), (5, "apple apple")])).await;
    let client = server.caller(Role::Basic).await;
    let body = json!({"search_query": "apple", "hybrid_alpha": 0});
    assert_eq!(client.send_search(body).await.found(), ["long", "long"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_150_num_hits_1_is_one_document() {
    let server = Server::start().await;
    let client = three(&server).await;
    let body = json!({"search_query": "apple", "num_hits": 1});
    assert_eq!(client.send_search(body).await.found(), ["a"]);
    let body = json!({"search_query": "apple", "num_hits": "2"});
    assert_eq!(client.send_search(body).await.found().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_142_selection_from_none_is_not_requested() {
    let server = Server::start().await;
    let client = three(&server).await;
    for count in [json!(0), json!(-3), Value::Null] {
        let mut body = json!({"search_query": "apple", "num_docs_fed_to_llm_selection": count});
        assert_eq!(
            client.send_search(body.clone()).await.ok()["llm_selected_doc_ids"],
            Value::Null
        );
        body["stream"] = json!(true);
        let lines = client.send_search(body).await.lines();
        assert_eq!(lines.len(), 2);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn row_151_152_a_stream_has_a_line_for_each_step() {
    let server = Server::start().await;
    let client = three(&server).await;
    let body = json!({"search_query": "Äpfel apple", "hybrid_alpha": 0});
    assert_eq!(
        client.send_search(body.clone()).await.header("content-type"),
        Some("application/json")
    );
    let mut streamed = body.clone();
    streamed["stream"] = json!(true);
    let answer = client.send_search(streamed).await;
    assert_eq!(answer.header("content-type"), Some("text/event-stream; charset=utf-8"));
    assert_eq!(answer.header("content-encoding"), Some("identity"));
    let first =
        "{\"type\": \"search_queries\", \"all_executed_queries\": [\"\\u00c4pfel apple\"]}\n";
    assert!(answer.text.starts_with(first), "{}", answer.text);
    let lines = answer.lines();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[1]["type"], "search_docs");
    // The same documents as in one piece.
    assert_eq!(lines[1]["search_docs"], client.send_search(body).await.ok()["search_docs"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_finds_nothing_says_so() {
    let server = Server::start().await;
    let client = three(&server).await;
    let body = json!({"search_query": "", "stream": true});
    let lines = client.send_search(body).await.lines();
    assert_eq!(lines[0], json!({"type": "search_queries", "all_executed_queries": [""]}));
    assert_eq!(lines[1], json!({"type": "search_docs", "search_docs": []}));
    assert_eq!(lines.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_159_160_filters_narrow_the_search() {
    let server = Server::start().await;
    let dated = |id: &str, source: &str, day: &str| {
        json!({
            "id": id, "semantic_identifier": id, "metadata": {"k": id}, "source": source,
            "doc_updated_at": day, "sections": [{"text": "apple"}],
        })
    };
    post(&server, dated("old", "web", "2024-01-01")).await;
    post(&server, dated("new", "slack", "2025-01-01")).await;
    let client = server.caller(Role::Basic).await;
    let found = async |filters: Value| {
        let body = json!({"search_query": "apple", "filters": filters});
        let mut found = client.send_search(body).await.found();
        found.sort();
        found
    };
    assert_eq!(found(Value::Null).await, ["new", "old"]);
    assert_eq!(found(json!({})).await, ["new", "old"]);
    assert_eq!(found(json!({"source_type": ["slack"], "unknown": 1})).await, ["new"]);
    assert_eq!(found(json!({"tags": [{"tag_key": "k", "tag_value": "old"}]})).await, ["old"]);
    let range = |start: &str, end: &str| json!({"updated_at_range": {"start": start, "end": end}});
    assert_eq!(found(range("2024-01-01", "2024-06-01")).await, ["old"]);
    assert!(found(range("2024-06-01", "2024-01-01")).await.is_empty());
    assert_eq!(found(json!({"time_cutoff": "2024-06-01"})).await, ["new"]);
    // Row 159: the range wins; row 160: an empty one is none.
    let both = json!({"time_cutoff": "2024-06-01", "updated_at_range": {"end": "2024-06-01"}});
    assert_eq!(found(both).await, ["old"]);
    assert_eq!(found(json!({"updated_at_range": {}})).await, ["new", "old"]);
    let empty = json!({"time_cutoff": "2024-06-01", "updated_at_range": {}});
    assert_eq!(found(empty).await, ["new", "old"]);
    // What has no date of creation was not created in any span.
    assert!(found(json!({"created_at_range": {"start": "0001-01-01"}})).await.is_empty());
    assert_eq!(found(json!({"source_type": [], "tags": [], "document_set": []})).await.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forbidden_document_set_is_403_in_both_modes_and_not_recorded() {
    let server = Server::start().await;
    let client = three(&server).await;
    for stream in [false, true] {
        let filters = json!({"document_set": ["NoSuchSet"]});
        let body = json!({"search_query": "apple", "filters": filters, "stream": stream});
        let detail = client.send_search(body).await.refused(403, "INSUFFICIENT_PERMISSIONS");
        assert!(detail.contains("NoSuchSet"), "{detail}");
    }
    assert_eq!(client.history("").await.ok(), json!({"search_queries": []}));
}

#[tokio::test(flavor = "multi_thread")]
async fn fields_out_of_range_are_422() {
    let server = Server::start().await;
    let client = server.caller(Role::Basic).await;
    client.send_search(json!({})).await.invalid(&["body/search_query missing"]);
    let body = json!({
        "search_query": "x".repeat(10_001), "num_hits": 0, "hybrid_alpha": 1.5,
        "filters": {
            "source_type": ["nowhere"], "document_set": "all",
            "created_at_range": {"start": "x"}, "updated_at_range": 1, "tags": [{}],
            "time_cutoff": true,
        },
        "include_content": null, "run_query_expansion": 2, "num_docs_fed_to_llm_selection": 1.5,
        "stream": "x",
    });
    client.send_search(body).await.invalid(&[
        "body/search_query string_too_long",
        "body/filters/source_type/0 enum",
        "body/filters/document_set list_type",
        "body/filters/created_at_range/start datetime_from_date_parsing",
        "body/filters/updated_at_range model_attributes_type",
        "body/filters/tags/0/tag_key missing",
        "body/filters/tags/0/tag_value missing",
        "body/filters/time_cutoff datetime_type",
        "body/num_hits greater_than_equal",
        "body/hybrid_alpha less_than_equal",
        "body/include_content bool_type",
        "body/run_query_expansion bool_parsing",
        "body/num_docs_fed_to_llm_selection int_from_float",
        "body/stream bool_parsing",
    ]);
    for (alpha, failure) in [
        (json!(-0.1), "greater_than_equal"),
        (json!("half"), "float_parsing"),
        (json!("NaN"), "greater_than_equal"),
        (json!([]), "float_type"),
    ] {
        let answer = client.send_search(json!({"search_query": "x", "hybrid_alpha": alpha})).await;
        answer.invalid(&[&format!("body/hybrid_alpha {failure}")]);
    }
    let answer = client.send_search(json!({"search_query": "x", "num_hits": 1001})).await;
    answer.invalid(&["body/num_hits less_than_equal"]);
}
