//! Requests that are refused, made again, or made in another way.
#![expect(clippy::unwrap_used, reason = "failing is panicking here")]

mod fixture;

use std::collections::BTreeMap;
use std::time::Duration;

use fixture::{CANARY, assert_no_canary, endpoint, error, model, open, question};
use serde_json::json;
use trove_domain::llm::LlmRequest;
use trove_domain::port::{LanguageModelEndpoint, LanguageModelError};
use trove_openai::Timeouts;
use trove_testkit::language_model::answer;
use trove_testkit::model_server::{ModelServer, Reply};

fn fine() -> Reply {
    Reply::answer("fine", "stop")
}

#[tokio::test]
async fn what_passes_is_asked_again() {
    let slow_down = Reply::error(429, "rate_limit_exceeded", "slow down");
    for reply in [
        slow_down.clone(),
        slow_down.clone().header("Retry-After", "0"),
        // The clock of the tests stands at the beginning of 2026.
        slow_down.clone().header("Retry-After", "Wed, 31 Dec 2025 23:59:59 GMT"),
        Reply::text(503, "starting"),
        Reply::html(502, "<html>bad gateway</html>"),
        Reply::error(500, "", "oops"),
        Reply::text(503, "").then_break(),
    ] {
        let server = ModelServer::replaying([reply.clone(), reply, fine()]).await;
        assert_eq!(answer(&*model(&server), question()).await.unwrap().text, "fine");
        assert_eq!(server.requests().len(), 3);
    }
}

#[tokio::test]
async fn attempts_are_counted_and_the_last_error_is_told() {
    let server = ModelServer::start(|_| Reply::text(503, "starting")).await;
    let error = answer(&*model(&server), question()).await.unwrap_err();
    assert!(matches!(error, LanguageModelError::Unavailable { .. }), "{error:?}");
    assert!(error.to_string().contains("starting (status 503)"), "{error}");
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn a_wait_that_is_too_long_is_told_instead_of_waited() {
    for (wait, deadline) in [("60", 120), ("4", 2)] {
        let reply = Reply::error(429, "rate_limit_exceeded", "slow down");
        let server = ModelServer::replaying([reply.header("Retry-After", wait), fine()]).await;
        let request = LlmRequest { deadline: Duration::from_secs(deadline), ..question() };
        let error = answer(&*model(&server), request).await.unwrap_err();
        let LanguageModelError::Quota { retry_after: Some(asked), .. } = error else {
            panic!("{error:?}")
        };
        assert_eq!(asked, Duration::from_secs(wait.parse().unwrap()));
        assert_eq!(server.requests().len(), 1);
    }
}

/// Whatever its deadline leaves.
#[tokio::test]
async fn a_question_that_does_not_want_to_wait_is_told_at_once() {
    let reply = Reply::error(429, "rate_limit_exceeded", "slow down").header("Retry-After", "5");
    let server = ModelServer::replaying([reply, fine()]).await;
    let request = LlmRequest { pause_max: Duration::from_secs(1), ..question() };
    let error = answer(&*model(&server), request).await.unwrap_err();
    assert!(matches!(error, LanguageModelError::Quota { .. }), "{error:?}");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn what_does_not_pass_is_asked_once() {
    for (reply, expected) in [
        (Reply::error(401, "invalid_api_key", "no"), "does not accept the key"),
        (Reply::error(404, "model_not_found", "no"), "has no model test-model"),
        (Reply::error(429, "insufficient_quota", "no"), "takes no more requests"),
        (Reply::error(400, "context_length_exceeded", "no"), "too long for test-model"),
        (Reply::error(400, "invalid_value", "no"), "refused the request"),
    ] {
        let server = ModelServer::replaying([reply, fine()]).await;
        let error = answer(&*model(&server), question()).await.unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert_eq!(server.requests().len(), 1, "{expected}");
    }
}

#[tokio::test]
async fn nobody_at_the_address_is_unavailable() {
    let server = ModelServer::simulated().await;
    let url = server.url();
    drop(server);
    let model = open(endpoint(&url), Timeouts::default());
    let error = answer(&*model, question()).await.unwrap_err();
    assert!(matches!(error, LanguageModelError::Unavailable { .. }), "{error:?}");
    assert!(error.to_string().contains("there is no connection to 127.0.0.1:"), "{error}");
    assert_no_canary(&error);
}

#[tokio::test]
async fn a_redirect_does_not_get_the_key() {
    let elsewhere = ModelServer::simulated().await;
    let target = format!("{}/chat/completions", elsewhere.url());
    for status in [301, 302, 307, 308] {
        let error = error(Reply::text(status, "").header("Location", &target)).await;
        assert!(error.to_string().contains("redirects are not followed"), "{error}");
    }
    assert!(elsewhere.requests().is_empty());
}

#[tokio::test]
async fn the_words_of_a_provider_hold_no_key() {
    for reply in [
        Reply::error(401, "invalid_api_key", &format!("the key {CANARY} is wrong")),
        Reply::text(400, &format!("Authorization: Bearer {CANARY}")),
        Reply::json(422, &json!({ "detail": [{ "msg": CANARY }] })),
        Reply::events([json!({ "error": { "message": CANARY } })]),
        Reply::events([format!("{CANARY} is not JSON")]),
        Reply::text(400, &"x".repeat(1 << 20)),
    ] {
        let error = error(reply).await;
        assert!(error.to_string().len() < 600, "{error}");
    }
}

#[tokio::test]
async fn a_request_carries_what_is_configured() {
    let server = ModelServer::simulated().await;
    let custom = BTreeMap::from([
        ("organization".to_owned(), "org-1".into()),
        ("header:X-Team".to_owned(), "search".into()),
        ("reasoning_effort".to_owned(), "none".into()),
    ]);
    let at = LanguageModelEndpoint { custom, ..endpoint(&server.url()) };
    answer(&*open(at, Timeouts::default()), question()).await.unwrap();
    let request = &server.requests()[0];
    assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/v1/chat/completions"));
    assert_eq!(request.header("authorization"), Some(format!("Bearer {CANARY}").as_str()));
    assert_eq!(request.header("openai-organization"), Some("org-1"));
    assert_eq!(request.header("x-team"), Some("search"));
    assert_eq!(request.json()["model"], "test-model");
    assert_eq!(request.json()["max_tokens"], 100);
    assert_eq!(request.json()["reasoning_effort"], "none");

    let base = server.url().trim_end_matches("/v1").to_owned();
    let azure = LanguageModelEndpoint {
        kind: "azure".to_owned(),
        api_base: Some(base),
        api_version: Some("2024-10-21".to_owned()),
        deployment: Some("mine".to_owned()),
        ..endpoint("")
    };
    answer(&*open(azure, Timeouts::default()), question()).await.unwrap();
    let request = &server.requests()[1];
    let path = "/openai/deployments/mine/chat/completions?api-version=2024-10-21";
    assert_eq!(request.path, path);
    assert_eq!(request.header("api-key"), Some(CANARY));
    assert_eq!(request.header("authorization"), None);
    assert_eq!(request.json()["max_completion_tokens"], 100);
}

#[tokio::test]
async fn a_parameter_that_is_refused_is_left_out_from_then_on() {
    let server = ModelServer::start(|request| {
        let body = request.json();
        for name in ["max_tokens", "stream_options", "temperature"] {
            if body.get(name).is_some() {
                let message = format!("Unsupported parameter: '{name}' is not supported.");
                return Reply::error(400, "unsupported_parameter", &message);
            }
        }
        Reply::answer("fine", "stop")
    })
    .await;
    let model = model(&server);
    let request = LlmRequest { temperature: Some(0.0), ..question() };
    assert_eq!(answer(&*model, request.clone()).await.unwrap().text, "fine");
    assert_eq!(server.requests().len(), 4);
    assert_eq!(answer(&*model, request).await.unwrap().text, "fine");
    let requests = server.requests();
    assert_eq!(requests.len(), 5);
    assert_eq!(requests[4].json()["max_completion_tokens"], 100);
}

/// An answer without a bound is not asked for.
#[tokio::test]
async fn a_server_that_takes_no_bound_is_not_asked_without_one() {
    let server = ModelServer::start(|request| {
        let body = request.json();
        let bound = ["max_tokens", "max_completion_tokens"];
        match bound.iter().find(|name| body.get(**name).is_some()) {
            Some(name) => Reply::error(400, "unknown_parameter", &format!("unknown {name}")),
            None => Reply::answer("endless", "stop"),
        }
    })
    .await;
    let error = answer(&*model(&server), question()).await.unwrap_err();
    assert!(matches!(error, LanguageModelError::Refused { .. }), "{error:?}");
    assert_eq!(server.requests().len(), 2);
}
