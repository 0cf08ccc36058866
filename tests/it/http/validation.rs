//! Requests that are wrong, on `POST /search` as the example.

use serde_json::json;
use trove_domain::access::Role;
use trove_http::HttpConfig;

use crate::server::{Options, Server};

#[tokio::test(flavor = "multi_thread")]
async fn row_11_unknown_fields_are_ignored() {
    let server = Server::start().await;
    let client = server.caller(Role::Basic).await;
    client.search(json!({"query": "x", "foo": 1, "results": {"a": []}})).await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn row_12_a_number_is_no_query() {
    let server = Server::start().await;
    let client = server.caller(Role::Basic).await;
    client.search(json!({"query": 5})).await.invalid(&["body/query string_type"]);
}

/// The default agent is the only one there is.
#[tokio::test(flavor = "multi_thread")]
async fn row_13_persona_id_may_be_a_numeric_string() {
    let server = Server::start().await;
    let client = server.caller(Role::Basic).await;
    client.search(json!({"query": "x", "persona_id": "0"})).await.ok();
    let answer = client.search(json!({"query": "x", "persona_id": "7"})).await;
    answer.refused(404, "PERSONA_NOT_FOUND");
}

#[tokio::test(flavor = "multi_thread")]
async fn row_14_persona_id_with_a_fraction_is_422() {
    let server = Server::start().await;
    let client = server.caller(Role::Basic).await;
    let answer = client.search(json!({"query": "x", "persona_id": 7.5})).await;
    answer.invalid(&["body/persona_id int_from_float"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_15_a_content_type_that_is_not_json_is_422() {
    let server = Server::start().await;
    let client = server.caller(Role::Basic).await;
    let send = async |content_type: Option<&str>| {
        let client = match content_type {
            Some(value) => client.with("content-type", value),
            None => client.clone(),
        };
        let body = json!({"query": "x"}).to_string().into_bytes();
        client.send(reqwest::Method::POST, "/api/search", Some(body)).await
    };
    for wrong in ["text/plain", "application/x-www-form-urlencoded", "text/json"] {
        send(Some(wrong)).await.invalid(&["body model_attributes_type"]);
    }
    for right in ["application/json", "application/json; charset=utf-8", "application/x+json"] {
        send(Some(right)).await.ok();
    }
    send(None).await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn row_18_all_failures_are_reported_together() {
    let server = Server::start().await;
    let client = server.caller(Role::Basic).await;
    let body = json!({
        "skip_query_expansion": null,
        "message_history": [
            {"message": "a"}, {"message_type": "user", "message": 1}, 5,
            {"message_type": "bot", "message": "a"}, {"message_type": "system", "message": "a"},
        ],
        "tags": [{"tag_key": "k"}, "k"],
        "sources": ["slack", "nowhere", 1],
        "time_cutoff": "yesterday",
        "document_sets": "all",
        "persona_id": "x",
        "provider": 1,
        "model": [],
    });
    client.search(body).await.invalid(&[
        "body/query missing",
        "body/sources/1 enum",
        "body/sources/2 enum",
        "body/document_sets list_type",
        "body/tags/0/tag_value missing",
        "body/tags/1 model_attributes_type",
        "body/time_cutoff datetime_from_date_parsing",
        "body/persona_id int_parsing",
        "body/provider string_type",
        "body/model string_type",
        "body/skip_query_expansion bool_type",
        "body/message_history/0/message_type missing",
        "body/message_history/1/message string_type",
        "body/message_history/2 model_attributes_type",
        "body/message_history/3/message_type enum",
    ]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_body_of_a_422_is_exactly_the_contract() {
    let server = Server::start().await;
    let client = server.caller(Role::Basic).await;
    let answer = client.search(json!({"sources": ["x"]})).await;
    assert_eq!(answer.status, 422);
    let detail = answer.json()["detail"].clone();
    let missing = json!({"loc": ["body", "query"], "msg": "Field required", "type": "missing"});
    assert_eq!(detail[0], missing);
    assert_eq!(detail[1]["loc"], json!(["body", "sources", "0"]));
    let msg = detail[1]["msg"].as_str().unwrap();
    assert!(msg.starts_with("Input should be 'ingestion_api', 'slack', 'web'"), "{msg}");
    assert!(msg.ends_with("'mock_connector' or 'user_file'"), "{msg}");
}

#[tokio::test(flavor = "multi_thread")]
async fn row_128_query_of_2049_characters_is_422() {
    let server = Server::start().await;
    let client = server.caller(Role::Basic).await;
    let search = async |query: String| client.search(json!({"query": query})).await;
    search("x".repeat(2049)).await.invalid(&["body/query string_too_long"]);
    search("😀".repeat(2049)).await.invalid(&["body/query string_too_long"]);
    search(String::new()).await.invalid(&["body/query string_too_short"]);
    search("😀".repeat(2048)).await.ok();
    search("x".repeat(2048)).await.ok();
    search(" ".to_owned()).await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn row_129_a_model_needs_its_provider() {
    let server = Server::start().await;
    let client = server.caller(Role::Basic).await;
    let answer = client.search(json!({"query": "x", "model": "m"})).await;
    answer.invalid(&["body value_error"]);
    let msg = answer.json()["detail"][0]["msg"].as_str().unwrap().to_owned();
    assert!(msg.starts_with("Value error, "), "{msg}");
    let answer = client.search(json!({"query": "x", "provider": "p", "model": null})).await;
    answer.invalid(&["body value_error"]);
    client
        .search(json!({"query": "x", "provider": "p", "model": ""}))
        .await
        .invalid(&["body value_error"]);
    client.search(json!({"query": "x", "provider": "", "model": ""})).await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_bodies_are_422_with_the_place() {
    let server = Server::start().await;
    let client = server.caller(Role::Basic).await;
    let table: &[(&[u8], &str)] = &[
        (b"", "body missing"),
        (b"null", "body missing"),
        (b"{", "body/1 json_invalid"),
        (b"{\"query\": x}", "body/10 json_invalid"),
        (b"{'query': 'x'}", "body/1 json_invalid"),
        (b"{\"query\": \"x\"} {}", "body/15 json_invalid"),
        (b"{\"query\": NaN}", "body/10 json_invalid"),
        (b"[]", "body model_attributes_type"),
        (b"\"x\"", "body model_attributes_type"),
        (b"5", "body model_attributes_type"),
        (b"\xff\xfe{\0", "body/0 json_invalid"),
    ];
    for (body, failure) in table {
        client.search_raw(*body).await.invalid(&[failure]);
    }
    // Bytes that are no UTF-8, and half of a surrogate pair.
    for body in [&b"{\"query\": \"\xff\"}"[..], &b"{\"query\": \"\\ud800\"}"[..]] {
        let answer = client.search_raw(body).await;
        assert_eq!(answer.json()["detail"][0]["type"], "json_invalid");
    }
    // Of equal keys the last one counts.
    client.search_raw("{\"query\": 5, \"query\": \"x\"}").await.ok();
    client
        .search_raw("{\"query\": \"x\", \"query\": 5}")
        .await
        .invalid(&["body/query string_type"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_without_bounds_and_a_byte_order_mark_are_json() {
    let server = Server::start().await;
    let client = server.caller(Role::Basic).await;
    let digits = "9".repeat(4300);
    for ignored in ["1e400", "-1E+999", "18446744073709551616", &digits, "[[1e400]]"] {
        client.search_raw(format!("{{\"query\":\"x\",\"pad\":{ignored}}}")).await.ok();
    }
    for number in ["1e400", "18446744073709551616"] {
        let body = format!("{{\"query\":\"x\",\"persona_id\":{number},\"time_cutoff\":{number}}}");
        let failures = ["body/time_cutoff datetime_parsing", "body/persona_id int_parsing_size"];
        client.search_raw(body).await.invalid(&failures);
    }
    // As the reference's parser: reading digits costs the square of their number.
    let answer = client.search_raw(format!("{{\"query\":\"x\",\"pad\":9{digits}}}")).await;
    assert_eq!(answer.json()["detail"][0]["type"], "json_invalid");
    client.search_raw("\u{feff}{\"query\": \"x\"}").await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn deep_nesting_is_422_and_harmless() {
    let server = Server::start().await;
    let client = server.caller(Role::Basic).await;
    for deep in [
        "[".repeat(1_000_000),
        "{\"a\":".repeat(1_000_000),
        format!("{{\"query\":{}", "[".repeat(200)),
    ] {
        let answer = client.search_raw(deep).await;
        assert_eq!(
            (answer.status, &answer.json()["detail"][0]["type"]),
            (422, &json!("json_invalid"))
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_body_is_413_however_its_length_is_told() {
    let http = HttpConfig { body_limit_bytes: 1000, ..HttpConfig::default() };
    let server = Server::with(Options { http, ..Options::default() }).await;
    let key = server.key("a@example.com", Role::Basic).await;
    let client = server.nobody().with("authorization", &format!("Bearer {key}"));
    let fits =
        |length: usize| format!("{{\"query\":\"x\",\"pad\":\"{}\"}}", "p".repeat(length - 22));
    client.search_raw(fits(1000)).await.ok();
    client.search_raw(fits(1001)).await.refused(413, "PAYLOAD_TOO_LARGE");

    let head = format!(
        "POST /api/search HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer {key}\r\n"
    );
    // Refused by its announcement: not a byte of it is sent.
    let announced = format!("{head}Content-Length: 99999999999\r\n\r\n");
    assert!(server.raw(announced.as_bytes()).await.starts_with("HTTP/1.1 413"));
    // In pieces without an announcement.
    let piece = format!("190\r\n{}\r\n", " ".repeat(0x190));
    let chunked = format!("{head}Transfer-Encoding: chunked\r\n\r\n{}0\r\n\r\n", piece.repeat(3));
    assert!(server.raw(chunked.as_bytes()).await.starts_with("HTTP/1.1 413"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_of_very_many_values_is_413() {
    let server = Server::start().await;
    let client = server.caller(Role::Basic).await;
    let body = format!("{{\"query\":\"x\",\"pad\":[{}0]}}", "{\"\":0},".repeat(600_000));
    client.search_raw(body).await.refused(413, "PAYLOAD_TOO_LARGE");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_failures_make_a_short_answer() {
    let server = Server::start().await;
    let client = server.caller(Role::Basic).await;
    let answer = client.search(json!({"query": "x", "message_history": vec![0; 1000]})).await;
    assert_eq!(answer.status, 422);
    assert_eq!(answer.json()["detail"].as_array().unwrap().len(), 100);
}

/// A compressed body of some kilobytes can stand for gigabytes.
#[tokio::test(flavor = "multi_thread")]
async fn compressed_bodies_are_415() {
    let server = Server::start().await;
    let client = server.caller(Role::Basic).await;
    for coding in ["gzip", "br", "deflate", "zstd", "gzip, gzip", "x"] {
        let answer = client.with("content-encoding", coding).search(json!({"query": "x"})).await;
        answer.refused(415, "UNSUPPORTED_MEDIA_TYPE");
        assert_eq!(answer.header("accept-encoding"), Some("identity"));
    }
    client.with("content-encoding", "identity").search(json!({"query": "x"})).await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_get_ignores_its_body() {
    let server = Server::start().await;
    let client = server.caller(Role::Basic).await;
    let body = Some(b"{\"broken\"".to_vec());
    client.send(reqwest::Method::GET, "/api/me", body).await.ok();
}
