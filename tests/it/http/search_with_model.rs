//! Both searches with a language model at hand.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chrono::TimeDelta;
use serde_json::{Value, json};
use trove_domain::access::Role;
use trove_domain::llm::LlmRequest;
use trove_domain::port::LanguageModelError;
use trove_engine::Backends;
use trove_testkit::fakes::FakeClock;
use trove_testkit::scripted_model::ScriptedLanguageModel;

use crate::server::{Client, Server, document};

/// What a question to the model is for.
fn step(request: &LlmRequest) -> &'static str {
    let instruction = &request.messages[0].text;
    [
        ("Rewrite the last message", "rephrase"),
        ("last message of the user asks for", "keywords"),
        ("keyword queries that find what the user searches for", "expand"),
        ("You choose which sections", "select"),
        ("how much of a document", "widen"),
    ]
    .into_iter()
    .find(|(said, _)| instruction.contains(said))
    .map_or_else(|| panic!("an unknown step: {instruction}"), |(_, step)| step)
}

/// A model that answers each step as the table says, and nothing to the others.
fn model(answers: &'static [(&'static str, &'static str)]) -> Arc<ScriptedLanguageModel> {
    Arc::new(ScriptedLanguageModel::new(move |request| {
        let step = step(request);
        let answer = answers.iter().find(|(known, _)| *known == step);
        Ok(answer.map_or("", |(_, answer)| answer).to_owned())
    }))
}

fn steps(model: &ScriptedLanguageModel) -> Vec<&'static str> {
    let mut steps: Vec<_> = model.requests().iter().map(step).collect();
    steps.sort_unstable();
    steps
}

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

fn long(id: &str, count: usize, with_apple: &[usize]) -> Value {
    let sections: Vec<Value> = (0..count)
        .map(|chunk| {
            let word = if with_apple.contains(&chunk) { "apple" } else { "" };
            json!({"text": format!("{word} {}", format!("filler{chunk} ").repeat(200))})
        })
        .collect();
    json!({"id": id, "semantic_identifier": id, "metadata": {}, "sections": sections})
}

/// Which of its chunks a passage holds.
fn shown(result: &Value) -> Vec<usize> {
    let content = result["content"].as_str().unwrap();
    (0..20).filter(|chunk| content.contains(&format!("filler{chunk} "))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn row_147_expansions_are_searched_for_and_merged() {
    let model = model(&[("expand", "1. stone\n- \"granite\"")]);
    let server = Server::assisted(&model).await;
    let client = three(&server).await;
    let body = json!({"search_query": "apple", "hybrid_alpha": 0, "run_query_expansion": true});
    let reply = client.send_search(body).await;
    assert_eq!(reply.ok()["all_executed_queries"], json!(["apple", "stone", "granite"]));
    // 2/51 and 2/52 of the query against 1/51 of an expansion.
    assert_eq!(reply.found(), ["a", "b", "c"]);
    assert_eq!(steps(&model), ["expand"]);
    assert!(model.requests()[0].output_tokens_max <= 150);
    let history = client.history("").await.ok();
    assert_eq!(history["search_queries"][0]["query_expansions"], json!(["stone", "granite"]));
}

/// What two queries find stands before what one finds, and keeps the score of its own ranking.
#[tokio::test(flavor = "multi_thread")]
async fn row_161_the_fused_order_is_not_that_of_the_scores() {
    let model = model(&[("expand", "river")]);
    let server = Server::assisted(&model).await;
    post(&server, document("one", "A", "apple apple apple")).await;
    post(&server, document("both", "B", "apple and river among many other words")).await;
    let client = server.caller(Role::Basic).await;
    let body = json!({"search_query": "apple", "hybrid_alpha": 0, "run_query_expansion": true});
    let reply = client.send_search(body).await;
    assert_eq!(reply.found(), ["both", "one"]);
    let reply = reply.ok();
    let score = |place: usize| reply["search_docs"][place]["score"].as_f64().unwrap();
    assert!(score(0) < score(1), "{reply}");
}

#[tokio::test(flavor = "multi_thread")]
async fn row_146_expansions_that_say_the_same_are_dropped() {
    let model = model(&[("expand", "APPLE\n\"apple\"\n")]);
    let server = Server::assisted(&model).await;
    let client = three(&server).await;
    let body = json!({"search_query": "apple", "run_query_expansion": true});
    assert_eq!(client.send_search(body).await.ok()["all_executed_queries"], json!(["apple"]));
    let history = client.history("").await.ok();
    assert_eq!(history["search_queries"][0]["query_expansions"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_148_expansions_alone_may_find_something() {
    let model = model(&[("expand", "stone")]);
    let server = Server::assisted(&model).await;
    let client = three(&server).await;
    let body = json!({"search_query": "zzz", "hybrid_alpha": 0, "run_query_expansion": true});
    assert_eq!(client.send_search(body).await.found(), ["c"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_145_selection_removes_nothing() {
    let model = model(&[("select", "[1, 0, 1]")]);
    let server = Server::assisted(&model).await;
    let client = three(&server).await;
    let body = json!({
        "search_query": "apple", "num_docs_fed_to_llm_selection": 2, "stream": true,
        "hybrid_alpha": 0.5,
    });
    let lines = client.send_search(body).await.lines();
    let types: Vec<&Value> = lines.iter().map(|line| &line["type"]).collect();
    assert_eq!(types, ["search_queries", "search_docs", "llm_selected_docs"]);
    let found: Vec<&Value> =
        lines[1]["search_docs"].as_array().unwrap().iter().map(|d| &d["document_id"]).collect();
    assert_eq!(found.len(), 3);
    assert_eq!(lines[2]["llm_selected_doc_ids"], json!([found[1], found[0]]));
    let question = &model.requests()[0].messages[1].text;
    assert!(question.contains("\"section_id\":1") && !question.contains("\"section_id\":2"));
}

#[tokio::test(flavor = "multi_thread")]
async fn row_143_nothing_found_needs_no_selection() {
    let model = model(&[]);
    let server = Server::assisted(&model).await;
    let client = three(&server).await;
    let body = json!({
        "search_query": "zzz", "hybrid_alpha": 0, "num_docs_fed_to_llm_selection": 5,
    });
    assert_eq!(client.send_search(body).await.ok()["llm_selected_doc_ids"], json!([]));
    assert!(model.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn section_3_4_5_choosing_nothing_is_not_failing() {
    for (answer, selected) in [
        ("[]", json!([])),
        ("None of them.", json!([])),
        ("I am a teapot.", Value::Null),
        ("", Value::Null),
        ("[99]", Value::Null),
    ] {
        let model = Arc::new(ScriptedLanguageModel::saying(answer));
        let server = Server::assisted(&model).await;
        let client = three(&server).await;
        let body = json!({"search_query": "apple", "num_docs_fed_to_llm_selection": 5});
        let reply = client.send_search(body).await.ok();
        assert_eq!(reply["llm_selected_doc_ids"], selected, "{answer}");
        assert_eq!(reply["search_docs"].as_array().unwrap().len(), 3);
        assert_eq!(reply["error"], Value::Null);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_fails_costs_what_it_would_have_added() {
    let model = Arc::new(ScriptedLanguageModel::unavailable());
    let server = Server::assisted(&model).await;
    let client = three(&server).await;
    let body = json!({
        "search_query": "apple", "hybrid_alpha": 0, "run_query_expansion": true,
        "num_docs_fed_to_llm_selection": 5,
    });
    let reply = client.send_search(body).await;
    assert_eq!(reply.found(), ["a", "b"]);
    assert_eq!(reply.ok()["all_executed_queries"], json!(["apple"]));
    assert_eq!(reply.ok()["llm_selected_doc_ids"], Value::Null);
    let body = json!({"query": "apple", "sources": ["ingestion_api"]});
    let mut titles = client.search(body).await.titles();
    titles.sort();
    assert_eq!(titles, ["A", "B", "C"]);
    // It is asked once; when that fails, nothing more is asked, in the next search neither.
    assert_eq!(steps(&model), ["expand"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_failed_is_tried_again_by_one_search_after_a_while() {
    let works = Arc::new(AtomicBool::new(false));
    let model = {
        let works = Arc::clone(&works);
        Arc::new(ScriptedLanguageModel::new(move |_| {
            if works.load(Ordering::Relaxed) {
                return Ok("stone".to_owned());
            }
            let (provider, detail) = ("scripted".to_owned(), "slow down".to_owned());
            Err(LanguageModelError::Quota { provider, detail, retry_after: None })
        }))
    };
    let clock = Arc::new(FakeClock::default());
    let server = {
        let (model, clock) = (Arc::clone(&model), Arc::clone(&clock));
        Server::changed(|backends| Backends { language_model: Some(model), clock, ..backends })
            .await
    };
    let admin = server.caller(Role::Admin).await;
    let client = three(&server).await;
    let search = async || {
        let body = json!({"search_query": "apple", "run_query_expansion": true});
        client.send_search(body).await.ok()["all_executed_queries"].clone()
    };
    for _ in 0..3 {
        assert_eq!(search().await, json!(["apple"]));
    }
    assert_eq!(model.requests().len(), 1);
    // It is searches that do without.
    admin.post("/api/admin/llm/test/default", json!({})).await.refused(400, "INVALID_INPUT");
    assert_eq!(model.requests().len(), 2);

    works.store(true, Ordering::Relaxed);
    assert_eq!(search().await, json!(["apple"]));
    clock.advance(TimeDelta::seconds(30));
    assert_eq!(search().await, json!(["apple", "stone"]));
    assert_eq!(search().await, json!(["apple", "stone"]));
    assert_eq!(model.requests().len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn passages_are_expanded_selected_and_widened() {
    let model = model(&[
        ("rephrase", "Which stones are there?"),
        ("keywords", "stone\ngranite"),
        ("select", "[1, 0]"),
    ]);
    let server = Server::assisted(&model).await;
    let client = three(&server).await;
    let titles = client.search(json!({"query": "those"})).await.titles();
    assert_eq!(titles.len(), 2, "what was selected");
    // The documents have one chunk each: there is nothing to widen.
    assert_eq!(steps(&model), ["keywords", "rephrase", "select"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn skipping_expansion_still_selects() {
    let model = model(&[("select", "[0]")]);
    let server = Server::assisted(&model).await;
    let client = three(&server).await;
    let body = json!({"query": "apple", "skip_query_expansion": true});
    assert_eq!(client.search(body).await.titles(), ["A"]);
    assert_eq!(steps(&model), ["select"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn earlier_turns_are_shown_before_the_query() {
    let model = model(&[]);
    let server = Server::assisted(&model).await;
    let client = three(&server).await;
    let history = json!([
        {"message": "be brief", "message_type": "system"},
        {"message": "who grows apples?", "message_type": "user"},
        {"message": "Ada does.", "message_type": "assistant"},
    ]);
    client.search(json!({"query": "and her team?", "message_history": history})).await.ok();
    for request in model.requests().iter().filter(|request| step(request) != "select") {
        let said: Vec<&str> = request.messages[1..].iter().map(|m| m.text.as_str()).collect();
        assert_eq!(said, ["who grows apples?", "Ada does.", "and her team?"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn row_139_distant_sections_share_their_citation() {
    let server = Server::start().await;
    post(&server, long("long", 12, &[2, 8])).await;
    let client = server.caller(Role::Basic).await;
    let results = client.search(json!({"query": "apple", "sources": ["ingestion_api"]})).await;
    // Vectors bring the whole document in; only words tell its sections apart.
    assert!(results.ok()["results"].as_array().unwrap().iter().all(|r| r["citation_id"] == 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn section_3_7_a_digit_says_how_far_a_section_is_widened() {
    for (digit, expected) in [
        ("0", vec![vec![6]]),
        ("1", vec![vec![6]]),
        ("so 2", vec![vec![4, 5, 6, 7, 8]]),
        ("3", vec![(1..=11).collect::<Vec<_>>()]),
        ("what?", vec![vec![6]]),
    ] {
        let model = Arc::new(ScriptedLanguageModel::new(move |request| {
            Ok(match step(request) {
                "select" => "[0]",
                "widen" => digit,
                _ => "",
            }
            .to_owned())
        }));
        let server = Server::assisted_by_words(&model).await;
        post(&server, long("long", 14, &[6])).await;
        let client = server.caller(Role::Basic).await;
        let reply =
            client.search(json!({"query": "apple", "skip_query_expansion": true})).await.ok();
        let results: Vec<Vec<usize>> =
            reply["results"].as_array().unwrap().iter().map(shown).collect();
        assert_eq!(results, expected, "{digit}");
        let asked = model.requests().into_iter().find(|request| step(request) == "widen").unwrap();
        let question = &asked.messages[1].text;
        assert!(question.contains("filler4") && question.contains("filler8"));
        assert!(!question.contains("filler3") && !question.contains("filler9"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn widened_sections_that_touch_become_one() {
    let model = model(&[("select", "[1, 0]"), ("widen", "2")]);
    let server = Server::assisted_by_words(&model).await;
    post(&server, long("long", 14, &[4, 8])).await;
    let client = server.caller(Role::Basic).await;
    let reply = client.search(json!({"query": "apple", "skip_query_expansion": true})).await.ok();
    let results: Vec<Vec<usize>> = reply["results"].as_array().unwrap().iter().map(shown).collect();
    assert_eq!(results, [(2..=10).collect::<Vec<_>>()]);
}
