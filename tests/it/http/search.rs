//! `POST /search`

use serde_json::{Value, json};
use trove_domain::access::Role;
use trove_domain::document::{Document, Section};
use trove_domain::id::{CcPairId, DocumentId};
use trove_domain::source::DocumentSource;

use crate::server::{Client, Server, document};

async fn post(admin: &Client<'_>, document: Value) {
    admin.ingest(json!({"document": document})).await.ok();
}

/// A document with further fields.
fn with(mut document: Value, fields: Value) -> Value {
    let Value::Object(fields) = fields else { panic!("fields are an object") };
    document.as_object_mut().unwrap().extend(fields);
    document
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_has_exactly_the_fields_of_the_contract() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let page = json!({
        "id": "wiki/keys", "semantic_identifier": "Key rotation", "source": "confluence",
        "metadata": {}, "doc_updated_at": "2024-01-02T03:04:05.678900Z",
        "sections": [{"text": "Keys rotate every ninety days.", "link": "https://wiki/keys"}],
    });
    post(&admin, page).await;
    let basic = server.caller(Role::Basic).await;
    let answer = basic.search(json!({"query": "keys rotate"})).await;
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let expected = json!({"results": [{
        "citation_id": 1, "title": "Key rotation", "content": "Keys rotate every ninety days.",
        "link": "https://wiki/keys", "source_type": "confluence",
        "updated_at": "2024-01-02T03:04:05.678900+00:00",
    }]});
    assert_eq!(answer.ok(), expected);
    // Without a match in words it may still be near in meaning; with a filter it is not there.
    let nothing = basic.search(json!({"query": "keys", "sources": ["slack"]})).await;
    assert_eq!(nothing.ok(), json!({"results": []}));
}

#[tokio::test(flavor = "multi_thread")]
async fn link_and_date_are_null_when_there_are_none() {
    let server = Server::start().await;
    ingest_undated(&server, "undated").await;
    let basic = server.caller(Role::Basic).await;
    let result = basic.search(json!({"query": "undated"})).await.ok()["results"][0].clone();
    assert_eq!(result["link"], Value::Null);
    assert_eq!(result["updated_at"], Value::Null);
}

/// A posted document is dated; a connector's need not be.
async fn ingest_undated(server: &Server, word: &str) {
    let document = Document {
        id: DocumentId::new(word).unwrap(),
        sections: vec![Section { text: format!("{word} words"), link: None }],
        source: DocumentSource::Web,
        semantic_identifier: word.to_owned(),
        title: None,
        metadata: std::collections::BTreeMap::new(),
        updated_at: None,
        created_at: None,
        primary_owners: Vec::new(),
        secondary_owners: Vec::new(),
        from_ingestion_api: false,
        external_access: None,
    };
    let outcomes = server.engine.ingest_batch(CcPairId(1), vec![document]).await;
    assert!(matches!(
        outcomes[..],
        [trove_engine::ingestion::IngestOutcome::Indexed { new: true }]
    ));
}

#[tokio::test(flavor = "multi_thread")]
async fn row_130_an_unknown_provider_is_404() {
    let server = Server::start().await;
    let client = server.caller(Role::Basic).await;
    let body = json!({"query": "x", "provider": "Nowhere", "model": "m"});
    let detail = client.search(body).await.refused(404, "NOT_FOUND");
    assert!(detail.contains("Nowhere"), "{detail}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_persona_is_404() {
    let server = Server::start().await;
    let client = server.caller(Role::Basic).await;
    for id in [7, -1, i32::MAX] {
        let answer = client.search(json!({"query": "x", "persona_id": id})).await;
        let detail = answer.refused(404, "PERSONA_NOT_FOUND");
        assert!(detail.contains(&id.to_string()), "{detail}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn optional_fields_may_be_null_or_empty() {
    let server = Server::start().await;
    let client = server.caller(Role::Basic).await;
    let absent = json!({
        "query": "x", "persona_id": null, "provider": "", "model": "", "message_history": [],
        "sources": null, "document_sets": null, "tags": null, "time_cutoff": null,
        "skip_query_expansion": true,
    });
    client.search(absent).await.ok();
    client.search(json!({"query": "x", "message_history": null})).await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn row_132_persona_0_restricts_nothing() {
    let server = Server::start().await;
    post(&server.caller(Role::Admin).await, document("a", "A", "apple")).await;
    let client = server.caller(Role::Basic).await;
    assert_eq!(client.search(json!({"query": "apple", "persona_id": 0})).await.titles(), ["A"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_133_an_unknown_document_set_is_403_and_named() {
    let server = Server::start().await;
    let client = server.caller(Role::Basic).await;
    server.document_set("Hidden", false, &[CcPairId(1)]).await;
    let sets = json!({"query": "x", "document_sets": ["NoSuchSet", "Hidden"]});
    let answer = client.search(sets).await;
    let detail = answer.refused(403, "INSUFFICIENT_PERMISSIONS");
    // Sorted; a set that exists is not told from one that does not.
    assert!(detail.ends_with("Hidden, NoSuchSet"), "{detail}");
}

#[tokio::test(flavor = "multi_thread")]
async fn document_sets_narrow_the_search() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let pair = server.private_pair("pair", &[]).await;
    post(&admin, document("a", "A", "apple")).await;
    server.document_set("Default", true, &[CcPairId(1)]).await;
    server.document_set("Other", true, &[pair]).await;
    let client = server.caller(Role::Basic).await;
    let titles = async |sets: Value| {
        client.search(json!({"query": "apple", "document_sets": sets})).await.titles()
    };
    assert_eq!(titles(json!(["Default"])).await, ["A"]);
    assert_eq!(titles(json!(["Other", "Default"])).await, ["A"]);
    assert!(titles(json!(["Other"])).await.is_empty());
    assert_eq!(titles(json!([])).await, ["A"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_134_empty_sources_are_no_filter() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    post(&admin, with(document("a", "A", "apple"), json!({"source": "slack"}))).await;
    post(&admin, with(document("b", "B", "apple"), json!({"source": "web"}))).await;
    let client = server.caller(Role::Basic).await;
    let titles = async |sources: Value| {
        let mut titles =
            client.search(json!({"query": "apple", "sources": sources})).await.titles();
        titles.sort();
        titles
    };
    assert_eq!(titles(json!([])).await, ["A", "B"]);
    assert_eq!(titles(json!(["slack"])).await, ["A"]);
    assert_eq!(titles(json!(["slack", "web"])).await, ["A", "B"]);
    assert!(titles(json!(["jira"])).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn row_135_a_cutoff_without_zone_is_utc_and_inclusive() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let dated = json!({"doc_updated_at": "2024-05-01T00:00:00Z"});
    post(&admin, with(document("a", "A", "apple"), dated)).await;
    let client = server.caller(Role::Basic).await;
    let found = async |cutoff: Value| {
        !client.search(json!({"query": "apple", "time_cutoff": cutoff})).await.titles().is_empty()
    };
    assert!(found(json!("2024-05-01T00:00:00")).await);
    assert!(found(json!("2024-05-01")).await);
    assert!(found(json!("2024-05-01T02:00:00+02:00")).await);
    assert!(found(json!(1_714_521_600)).await);
    assert!(!found(json!("2024-05-01T00:00:00.000001")).await);
    assert!(!found(json!("2024-05-01T00:00:00-00:01")).await);
    assert!(found(json!("0001-01-01")).await);
    assert!(!found(json!("9999-12-31")).await);
}

/// Rows 80 and 81 of the other list are the same.
#[tokio::test(flavor = "multi_thread")]
async fn row_136_undated_documents_are_found_by_no_cutoff() {
    let server = Server::start().await;
    ingest_undated(&server, "undated").await;
    let client = server.caller(Role::Basic).await;
    assert_eq!(client.search(json!({"query": "undated"})).await.titles().len(), 1);
    for cutoff in ["2025-12-02", "2025-06-15", "0001-01-01"] {
        let body = json!({"query": "undated", "time_cutoff": cutoff});
        assert!(client.search(body).await.titles().is_empty(), "{cutoff}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn row_138_there_are_never_more_than_ten_results() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    for n in 0..12 {
        post(&admin, document(&format!("d{n}"), &format!("D{n}"), "apple")).await;
    }
    let answer = admin.search(json!({"query": "apple"})).await.ok();
    let results = answer["results"].as_array().unwrap();
    assert_eq!(results.len(), 10);
    let ids: Vec<u64> = results.iter().map(|r| r["citation_id"].as_u64().unwrap()).collect();
    assert_eq!(ids, (1..=10).collect::<Vec<u64>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn row_139_distant_sections_of_a_document_share_their_citation_id() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let filler = |word: &str| format!("{word} ").repeat(600);
    let long = json!({
        "id": "long", "semantic_identifier": "Long", "title": "", "metadata": {},
        "sections": [
            {"text": "zebra here", "link": "https://x/1"},
            {"text": filler("grass"), "link": "https://x/2"},
            {"text": "zebra there", "link": "https://x/3"},
        ],
    });
    post(&admin, long).await;
    // Vectors aside, only two of its chunks hold the word.
    let answer = admin.search(json!({"query": "zebra"})).await.ok();
    let results = answer["results"].as_array().unwrap();
    let zebras: Vec<&Value> =
        results.iter().filter(|r| r["content"].as_str().unwrap().contains("zebra")).collect();
    assert!(!zebras.is_empty());
    assert!(results.iter().all(|result| result["citation_id"] == 1), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn row_157_158_two_users_find_what_each_may_read() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let a = server.user("a@example.com", Role::Basic).await;
    let b = server.user("b@example.com", Role::Basic).await;
    let group = server.group("G", &[("a@example.com", false)]).await;
    let pair = server.private_pair("private", &[group]).await;
    post(&admin, document("open", "Open", "apple")).await;
    let secret = json!({"document": document("secret", "Secret", "apple"), "cc_pair_id": pair.0});
    admin.ingest(secret).await.ok();
    let titles = async |client: &Client<'_>| {
        let mut titles = client.search(json!({"query": "apple"})).await.titles();
        titles.sort();
        titles
    };
    assert_eq!(titles(&a).await, ["Open", "Secret"]);
    assert_eq!(titles(&b).await, ["Open"]);
    // What b sees is exactly what b would see if the document did not exist.
    let answer = b.search(json!({"query": "apple"})).await;
    assert!(!answer.text.contains("ecret"));
    assert_eq!(answer.ok()["results"][0]["citation_id"], 1);
    // Row 158: an administrator has no other rights in a search.
    assert_eq!(titles(&admin).await, ["Open"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_162_all_tags_must_match() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let tagged =
        |id: &str, metadata: Value| with(document(id, id, "apple"), json!({"metadata": metadata}));
    post(&admin, tagged("both", json!({"k": ["a", "b"], "team": "x"}))).await;
    post(&admin, tagged("one", json!({"k": "a"}))).await;
    let found = async |tags: &[(&str, &str)]| {
        let tags: Vec<Value> =
            tags.iter().map(|(key, value)| json!({"tag_key": key, "tag_value": value})).collect();
        let mut titles = admin.search(json!({"query": "apple", "tags": tags})).await.titles();
        titles.sort();
        titles
    };
    assert_eq!(found(&[]).await, ["both", "one"]);
    assert_eq!(found(&[("k", "a")]).await, ["both", "one"]);
    assert_eq!(found(&[("k", "a"), ("team", "x")]).await, ["both"]);
    // Row 71 of the other list: both values of one key.
    assert_eq!(found(&[("k", "a"), ("k", "b")]).await, ["both"]);
    assert!(found(&[("k", "A")]).await.is_empty());
    assert!(found(&[("k", "a"), ("k", "c")]).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn hidden_words_of_query_syntax_are_plain_text() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    post(&admin, document("a", "A", "apple")).await;
    for query in
        ["*:*", "acl:public", "NOT apple", "\"", "apple AND (", "a:b^2~", "\\", "\u{0}apple"]
    {
        admin.search(json!({"query": query})).await.ok();
    }
}
