//! `/ingestion`, and the same under the reference's name.

use reqwest::Method;
use serde_json::{Value, json};
use trove_domain::access::Role;
use trove_domain::id::CcPairId;
use trove_engine::{EngineConfig, IngestionLimits};

use crate::server::{Client, Options, Server, document};

#[tokio::test(flavor = "multi_thread")]
async fn s7_a_document_is_posted_found_posted_again_and_removed() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let body = json!({"document": document("a", "A", "apple")});
    let first = admin.ingest(body.clone()).await.ok();
    assert_eq!(first, json!({"document_id": "a", "already_existed": false}));
    assert_eq!(admin.search(json!({"query": "apple"})).await.titles(), ["A"]);
    assert_eq!(admin.ingest(body).await.ok()["already_existed"], true);
    let removed = admin.remove("a").await;
    assert_eq!((removed.status, removed.text.as_str()), (200, "null"));
    assert!(admin.search(json!({"query": "apple"})).await.titles().is_empty());
    admin.remove("a").await.refused(404, "NOT_FOUND");
}

#[tokio::test(flavor = "multi_thread")]
async fn companion_paths_are_the_same_routes() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let body = json!({"document": document("a", "A", "apple"), "cc_pair_id": 1});
    admin.post("/api/onyx-api/ingestion", body).await.ok();
    let expected = json!([{"document_id": "a", "semantic_id": "A", "link": null}]);
    assert_eq!(admin.get("/api/onyx-api/ingestion").await.ok(), expected);
    assert_eq!(admin.ingested().await.ok(), expected);
    assert_eq!(admin.get("/api/onyx-api/connector-docs/1").await.ok(), expected);
    assert_eq!(admin.connector_docs(1).await.ok(), expected);
    let removed = admin.send(Method::DELETE, "/api/onyx-api/ingestion/a", None).await;
    assert_eq!((removed.status, removed.text.as_str()), (200, "null"));
}

/// No new date: the request's time is the date, and it has moved on.
#[tokio::test(flavor = "multi_thread")]
async fn row_64_undated_posts_are_dated_by_the_request() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let body = json!({"document": document("a", "A", "apple")});
    admin.ingest(body.clone()).await.ok();
    let date = async || {
        admin.search(json!({"query": "apple"})).await.ok()["results"][0]["updated_at"].clone()
    };
    assert_eq!(date().await, "2026-01-01T00:00:00+00:00");
    server.stack.clock.advance(chrono::TimeDelta::hours(1));
    assert_eq!(admin.ingest(body).await.ok()["already_existed"], true);
    assert_eq!(date().await, "2026-01-01T01:00:00+00:00");
}

#[tokio::test(flavor = "multi_thread")]
async fn row_65_new_metadata_of_unchanged_text_is_applied() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let body = |team: &str| {
        let mut document = document("a", "A", "apple");
        document["metadata"] = json!({"team": team});
        document["doc_updated_at"] = json!("2024-05-01");
        json!({"document": document})
    };
    admin.ingest(body("x")).await.ok();
    assert_eq!(admin.ingest(body("y")).await.ok()["already_existed"], true);
    assert_eq!(tagged(&admin, "team", "y").await, 1);
    assert_eq!(tagged(&admin, "team", "x").await, 0);
}

/// How many documents carry a tag.
async fn tagged(client: &Client<'_>, key: &str, value: &str) -> usize {
    let tags = json!([{"tag_key": key, "tag_value": value}]);
    client.search(json!({"query": "apple", "tags": tags})).await.titles().len()
}

#[tokio::test(flavor = "multi_thread")]
async fn row_66_ids_are_encoded_and_sent_encoded_again() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let posted = admin.ingest(json!({"document": document("team/a b", "A", "apple")})).await.ok();
    assert_eq!(posted["document_id"], "team%2Fa_b");
    // Decoded once, this names `team/a_b`, which is not stored.
    admin.remove("team%2Fa_b").await.refused(404, "NOT_FOUND");
    admin.remove("team%252Fa_b").await.ok();

    let strange = admin.ingest(json!({"document": document("ü\u{1}?#", "A", "x")})).await.ok();
    assert_eq!(strange["document_id"], "%C3%BC%01%3F%23");
    admin.remove("%25C3%25BC%2501%253F%2523").await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn without_an_id_the_name_makes_one() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    for id in [Value::Null, json!("")] {
        let mut document = document("", "My page/1", "apple");
        document["id"] = id;
        let posted = admin.ingest(json!({"document": document})).await.ok();
        assert_eq!(posted["document_id"], "ingestion_api_My_page%2F1");
    }
    // Even an empty name makes one, which is listed and can be removed.
    admin.ingest(json!({"document": document("", "", "pear")})).await.ok();
    assert_eq!(admin.ingested().await.ok()[0]["document_id"], "ingestion_api_");
    admin.remove("ingestion_api_").await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn ids_that_cannot_be_kept_or_named_are_422() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    // In its place among the failures.
    let mut long = document(&"/".repeat(2000), "A", "x");
    long["sections"] = json!("none");
    let answer = admin.ingest(json!({"document": long})).await;
    answer.invalid(&["body/document/id value_error", "body/document/sections list_type"]);
    // What was not sent is not to blame.
    let mut long = document("", &"x".repeat(5000), "x");
    long["title"] = json!(1);
    let answer = admin.ingest(json!({"document": long})).await;
    answer.invalid(&[
        "body/document/semantic_identifier value_error",
        "body/document/title string_type",
    ]);
    let msg = answer.json()["detail"][0]["msg"].as_str().unwrap().to_owned();
    assert!(msg.contains("4096 bytes") && msg.ends_with("send an id"), "{msg}");
    // No client sends these in a path as they are.
    for dots in [".", ".."] {
        let answer = admin.ingest(json!({"document": document(dots, "A", "x")})).await;
        answer.invalid(&["body/document/id value_error"]);
    }
    let fine = admin.ingest(json!({"document": document("...", "A", "x")})).await.ok();
    assert_eq!(fine["document_id"], "...");
    admin.remove("...").await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn row_67_access_in_a_post_is_ignored() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let pair = server.private_pair("private", &[]).await;
    let mut secret = document("a", "A", "apple");
    secret["external_access"] =
        json!({"is_public": true, "external_user_emails": [], "external_user_group_ids": []});
    secret["doc_metadata"] = json!({"a": 1});
    secret["chunk_count"] = json!("nonsense");
    secret["from_ingestion_api"] = json!(false);
    admin.ingest(json!({"document": secret, "cc_pair_id": pair.0})).await.ok();
    assert!(admin.search(json!({"query": "apple"})).await.titles().is_empty());
    // Still one of those that were posted.
    assert_eq!(admin.ingested().await.ok().as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_68_without_a_pair_everybody_may_read() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    for pair in [json!({}), json!({"cc_pair_id": null})] {
        let mut body = pair;
        body["document"] = document("a", "A", "apple");
        admin.ingest(body).await.ok();
    }
    let anybody = server.caller(Role::Basic).await;
    assert_eq!(anybody.search(json!({"query": "apple"})).await.titles(), ["A"]);
}

/// Access is the union over the pairs of a document, and no pair is the public one.
#[tokio::test(flavor = "multi_thread")]
async fn a_private_document_posted_again_without_its_pair_is_public() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let anybody = server.caller(Role::Basic).await;
    let pair = server.private_pair("private", &[]).await;
    let secret = document("a", "A", "apple");
    for _ in 0..2 {
        admin.ingest(json!({"document": secret, "cc_pair_id": pair.0})).await.ok();
        assert!(anybody.search(json!({"query": "apple"})).await.titles().is_empty());
    }
    admin.ingest(json!({"document": secret})).await.ok();
    assert_eq!(anybody.search(json!({"query": "apple"})).await.titles(), ["A"]);
    // The way back is to remove it.
    admin.remove("a").await.ok();
    admin.ingest(json!({"document": secret, "cc_pair_id": pair.0})).await.ok();
    assert!(anybody.search(json!({"query": "apple"})).await.titles().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn row_69_metadata_values_become_text() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let mut document = document("a", "A", "apple");
    document["metadata"] = json!({
        "n": 5, "l": [1, "x", null], "b": true, "f": 1.5, "o": {"k": [false]}, "z": null,
    });
    admin.ingest(json!({"document": document})).await.ok();
    let tags = [
        ("n", "5"),
        ("l", "1"),
        ("l", "x"),
        ("l", "null"),
        ("b", "true"),
        ("f", "1.5"),
        ("o", "{\"k\":[false]}"),
        ("z", "null"),
    ];
    for (key, value) in tags {
        assert_eq!(tagged(&admin, key, value).await, 1, "{key}={value}");
    }
    assert_eq!(tagged(&admin, "b", "True").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn metadata_keeps_all_digits_of_a_number() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let numbers = ["9223372036854775808", "-12345678901234567890123", "1e400"];
    let mut document = document("a", "A", "apple");
    document["metadata"] = json!({"one": "NUMBERS", "many": ["NUMBERS"]});
    for number in numbers {
        let body = json!({"document": document}).to_string().replace("\"NUMBERS\"", number);
        admin.send(Method::POST, "/api/ingestion", Some(body.into_bytes())).await.ok();
        assert_eq!(tagged(&admin, "one", number).await, 1, "{number}");
        assert_eq!(tagged(&admin, "many", number).await, 1, "{number}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn row_70_72_strange_tags_are_filterable() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let long = "v".repeat(400);
    let mut document = document("a", "A", "apple");
    document["metadata"] = json!({"long": &long, "k": "a===b", "x===y": "z", "": ""});
    admin.ingest(json!({"document": document})).await.ok();
    for (key, value) in [("long", long.as_str()), ("k", "a===b"), ("x===y", "z"), ("", "")] {
        assert_eq!(tagged(&admin, key, value).await, 1, "{key}");
    }
    // The separator of keys and values cannot be smuggled in.
    assert_eq!(tagged(&admin, "x", "y===z").await, 0);
    assert_eq!(tagged(&admin, "k===a", "b").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_73_an_empty_title_is_no_title() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    for (id, title) in [("null", Value::Null), ("empty", json!(""))] {
        let mut document = document(id, &format!("needle {id}"), "apple");
        document["title"] = title;
        admin.ingest(json!({"document": document})).await.ok();
    }
    // By words alone the name finds the one whose title it is.
    let titles = admin.search(json!({"query": "needle"})).await.titles();
    assert_eq!(titles.first().map(String::as_str), Some("needle null"));
}

#[tokio::test(flavor = "multi_thread")]
async fn row_74_79_a_title_alone_is_found_and_not_repeated_in_the_content() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    admin.ingest(json!({"document": document("a", "Needle", "")})).await.ok();
    let answer = admin.search(json!({"query": "needle"})).await;
    assert_eq!(answer.titles(), ["Needle"]);
    assert_eq!(answer.ok()["results"][0]["content"], "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_with_nothing_in_it_is_not_indexed() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let mut empty = document("a", "A", "  ");
    empty["title"] = json!("");
    assert_eq!(admin.ingest(json!({"document": empty})).await.ok()["already_existed"], true);
    assert_eq!(admin.ingested().await.ok(), json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn nul_characters_are_removed_everywhere() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let document = json!({
        "id": "a\u{0}b", "semantic_identifier": "N\u{0}ame", "title": "T\u{0}itle",
        "metadata": {"k\u{0}ey": "v\u{0}alue", "l": ["i\u{0}tem"]},
        "sections": [{"text": "app\u{0}le", "link": "https://\u{0}x"}],
        "primary_owners": [{"display_name": "A\u{0}da"}],
    });
    let posted = admin.ingest(json!({"document": document})).await.ok();
    assert_eq!(posted["document_id"], "ab");
    let result = admin.search(json!({"query": "apple"})).await.ok()["results"][0].clone();
    assert_eq!(result["title"], "Name");
    assert_eq!(result["content"], "apple");
    assert_eq!(result["link"], "https://x");
    assert_eq!(tagged(&admin, "key", "value").await, 1);
    assert_eq!(tagged(&admin, "l", "item").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_documents_are_422() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let check = async |body: Value, failures: &[&str]| admin.ingest(body).await.invalid(failures);
    check(json!({}), &["body/document missing"]).await;
    check(json!({"document": []}), &["body/document model_attributes_type"]).await;
    check(
        json!({"document": {}, "cc_pair_id": "x"}),
        &[
            "body/document/sections missing",
            "body/document/semantic_identifier missing",
            "body/document/metadata missing",
            "body/cc_pair_id int_parsing",
        ],
    )
    .await;
    let wrong = json!({"document": {
        "id": 5, "sections": [{"text": 5}, {"link": "x"}, "text", {"type": "x", "text": "a"}],
        "source": "nowhere", "semantic_identifier": null, "metadata": [],
        "doc_updated_at": "never", "doc_created_at": true, "primary_owners": [{"email": 1}],
        "secondary_owners": {}, "title": 1,
    }, "cc_pair_id": 1.5});
    check(
        wrong,
        &[
            "body/document/id string_type",
            "body/document/sections/0/text string_type",
            "body/document/sections/1/text missing",
            "body/document/sections/2 model_attributes_type",
            "body/document/sections/3/type enum",
            "body/document/source enum",
            "body/document/semantic_identifier string_type",
            "body/document/metadata dict_type",
            "body/document/doc_updated_at datetime_from_date_parsing",
            "body/document/doc_created_at datetime_type",
            "body/document/primary_owners/0/email string_type",
            "body/document/secondary_owners list_type",
            "body/document/title string_type",
            "body/cc_pair_id int_from_float",
        ],
    )
    .await;
}

/// Images and tables are refused, not dropped: the caller would miss their text.
#[tokio::test(flavor = "multi_thread")]
async fn sections_other_than_text_are_422() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let sections = [
        json!({"type": "image", "image_file_id": "f"}),
        json!({"type": "tabular", "csv_file_id": "f", "link": "x"}),
        json!({"image_file_id": "f", "text": null}),
    ];
    for section in sections {
        let mut document = document("a", "A", "");
        document["sections"] = json!([{"text": "fine"}, section]);
        let answer = admin.ingest(json!({"document": document})).await;
        answer.invalid(&["body/document/sections/1 value_error"]);
        assert!(answer.text.contains("only text sections are supported"));
    }
    let mut typed = document("a", "A", "");
    typed["sections"] = json!([{"type": "text", "text": "apple", "image_file_id": null}]);
    admin.ingest(json!({"document": typed})).await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_post_is_no_success() {
    let limits = IngestionLimits { document_chars_max: 10 };
    let engine = EngineConfig { limits, ..EngineConfig::default() };
    let server = Server::with(Options { engine, ..Options::default() }).await;
    let admin = server.caller(Role::Admin).await;
    let answer = admin.ingest(json!({"document": document("a", "A", "far too long")})).await;
    let detail = answer.refused(400, "INVALID_INPUT");
    assert_eq!(answer.json()["message"], detail);
    assert_eq!(admin.ingested().await.ok(), json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_pair_is_404() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    for pair in [0, 999, -1] {
        let body = json!({"document": document("a", "A", "x"), "cc_pair_id": pair});
        admin.ingest(body).await.refused(404, "NOT_FOUND");
        admin.connector_docs(pair).await.refused(404, "NOT_FOUND");
    }
    let body = json!({"document": document("a", "A", "x"), "cc_pair_id": 9_999_999_999_i64});
    admin.ingest(body).await.invalid(&["body/cc_pair_id less_than_equal"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn curators_post_to_their_own_pairs_only() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let curator = server.user("c@example.com", Role::Curator).await;
    let global = server.user("g@example.com", Role::GlobalCurator).await;
    let own = server.group("own", &[("c@example.com", true), ("g@example.com", false)]).await;
    let member = server.group("member", &[("c@example.com", false)]).await;
    let pair = server.private_pair("own", &[own]).await;
    let foreign = server.private_pair("member", &[member]).await;
    let post = async |client: &Client<'_>, id: &str, pair: CcPairId| {
        client.ingest(json!({"document": document(id, "A", "apple"), "cc_pair_id": pair.0})).await
    };
    post(&curator, "a", pair).await.ok();
    post(&global, "b", pair).await.ok();
    post(&curator, "c", foreign).await.refused(403, "INSUFFICIENT_PERMISSIONS");
    post(&curator, "c", CcPairId(1)).await.refused(403, "INSUFFICIENT_PERMISSIONS");
    // A pair that cannot be seen is as good as none.
    post(&global, "c", foreign).await.refused(404, "NOT_FOUND");
    // An id that another pair holds, too.
    post(&admin, "shared", foreign).await.ok();
    post(&curator, "shared", pair).await.refused(403, "INSUFFICIENT_PERMISSIONS");
    curator.remove("shared").await.refused(403, "INSUFFICIENT_PERMISSIONS");
    curator.remove("a").await.ok();
    let hidden = server.private_pair("hidden", &[]).await;
    post(&admin, "hidden", hidden).await.ok();
    let missing = post(&curator, "c", CcPairId(4711)).await.refused(404, "NOT_FOUND");
    let unseen = post(&curator, "c", hidden).await.refused(404, "NOT_FOUND");
    assert_eq!(unseen, missing.replace("4711", &hidden.to_string()));
    let missing = curator.remove("missed").await.refused(404, "NOT_FOUND");
    let unseen = curator.remove("hidden").await.refused(404, "NOT_FOUND");
    assert_eq!(unseen, missing.replace("missed", "hidden"));
    curator.connector_docs(hidden).await.refused(404, "NOT_FOUND");
    let ids = |list: Value| -> Vec<String> {
        let list = list.as_array().unwrap().iter();
        list.map(|document| document["document_id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(curator.connector_docs(foreign).await.ok()), ["shared"]);
    assert_eq!(curator.connector_docs(1).await.ok(), json!([]));
    post(&admin, "public", CcPairId(1)).await.ok();
    assert_eq!(ids(curator.ingested().await.ok()), ["b", "public", "shared"]);
    assert_eq!(ids(global.ingested().await.ok()), ["b", "public"]);
    assert_eq!(ids(admin.ingested().await.ok()), ["b", "hidden", "public", "shared"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connectors_document_is_not_removed_by_hand() {
    use trove_domain::document::{Document, Section};
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let document = Document {
        id: trove_domain::id::DocumentId::new("https://x/a b").unwrap(),
        sections: vec![Section { text: "apple".to_owned(), link: None }],
        source: trove_domain::source::DocumentSource::Web,
        semantic_identifier: "A".to_owned(),
        title: None,
        metadata: std::collections::BTreeMap::new(),
        updated_at: None,
        created_at: None,
        primary_owners: Vec::new(),
        secondary_owners: Vec::new(),
        from_ingestion_api: false,
        external_access: None,
    };
    server.engine.ingest_batch(CcPairId(1), vec![document]).await;
    let answer = admin.remove("https:%2F%2Fx%2Fa%20b").await;
    let detail = answer.refused(400, "INVALID_INPUT");
    assert_eq!(answer.json()["message"], detail);
    assert_eq!(admin.ingested().await.ok(), json!([]));
    assert_eq!(admin.connector_docs(1).await.ok()[0]["document_id"], "https://x/a b");
}

/// More than one internal page, in order and without a seam.
#[tokio::test(flavor = "multi_thread")]
async fn lists_are_complete() {
    use trove_domain::document::{Document, Section};
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let document = |n: u32| Document {
        id: trove_domain::id::DocumentId::new(format!("d{n:04}")).unwrap(),
        sections: vec![Section { text: "x".to_owned(), link: Some(format!("https://x/{n}")) }],
        source: trove_domain::source::DocumentSource::IngestionApi,
        semantic_identifier: format!("\"{n}\""),
        title: None,
        metadata: std::collections::BTreeMap::new(),
        updated_at: None,
        created_at: None,
        primary_owners: Vec::new(),
        secondary_owners: Vec::new(),
        from_ingestion_api: true,
        external_access: None,
    };
    for start in [0, 400, 800] {
        let documents = (start..start + 400).map(document).collect();
        server.engine.ingest_batch(CcPairId(1), documents).await;
    }
    for answer in [admin.ingested().await, admin.connector_docs(1).await] {
        assert_eq!(answer.header("content-type"), Some("application/json"));
        let list = answer.ok();
        let list = list.as_array().unwrap();
        assert_eq!(list.len(), 1200);
        for (n, item) in list.iter().enumerate() {
            let expected = json!({
                "document_id": format!("d{n:04}"), "semantic_id": format!("\"{n}\""),
                "link": format!("https://x/{n}"),
            });
            assert_eq!(*item, expected);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_document_is_answered_as_known_and_changes_nothing() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    admin.ingest(json!({"document": document("a", "A", "apple")})).await.ok();
    let mut empty = document("a", "A", "");
    empty["title"] = json!("");
    let answer = admin.ingest(json!({"document": empty})).await.ok();
    assert_eq!(answer, json!({"document_id": "a", "already_existed": true}));
    assert_eq!(admin.search(json!({"query": "apple"})).await.titles(), ["A"]);
}
