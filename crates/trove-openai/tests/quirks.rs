//! What servers do that the protocol does not say, byte by byte.
#![expect(clippy::unwrap_used, reason = "failing is panicking here")]

mod fixture;

use std::time::Duration;

use fixture::{CANARY, error, model, open, question, said};
use futures::StreamExt;
use serde_json::json;
use trove_domain::llm::{FinishReason, LlmEvent, LlmUsage};
use trove_domain::port::LanguageModelError;
use trove_openai::Timeouts;
use trove_testkit::language_model::answer;
use trove_testkit::model_server::{ModelServer, Reply, event};

fn text(text: &str) -> String {
    json!({ "choices": [{ "index": 0, "delta": { "content": text } }] }).to_string()
}

fn finish(reason: &str) -> String {
    json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] }).to_string()
}

#[tokio::test]
async fn a_whole_answer_is_read_with_its_cost() {
    let answer = said(Reply::answer("The answer is 42.", "stop")).await.unwrap();
    assert_eq!(answer.text, "The answer is 42.");
    assert_eq!(answer.reason, FinishReason::Stop);
    assert_eq!(answer.usage, Some(LlmUsage { input_tokens: 7, output_tokens: 4 }));
}

/// Whoever may ask a question must not learn the key.
#[tokio::test]
async fn an_answer_that_repeats_the_key_is_given_without_it() {
    let thought = json!({ "choices": [{ "delta": { "reasoning_content": CANARY } }] });
    let (first, second) = CANARY.split_at(7);
    let pieces = [thought.to_string(), text("Bearer "), text(first), text(second), finish("stop")];
    let server = ModelServer::replaying([Reply::events(pieces)]).await;
    let stream = model(&server).stream(question()).await.unwrap();
    let events: Vec<LlmEvent> = stream.map(Result::unwrap).collect().await;
    let shown = format!("{events:?}");
    assert!(!shown.contains("canary") && !shown.contains("0123456789"), "{shown}");
    let answer = said(Reply::answer(&format!("It is {CANARY}."), "stop")).await.unwrap();
    assert_eq!(answer.text, "It is ********.");
}

#[tokio::test]
async fn bytes_may_be_cut_anywhere() {
    let stream = Reply::stream(
        [
            ": ping\r\n\r\n".to_owned(),
            event(text("Zoë says 世界 🦀")).replace('\n', "\r\n"),
            event(text(" and \"more\"\n")),
            event(finish("length")),
            event("[DONE]"),
        ]
        .concat(),
    );
    for bytes in [1, 2, 3, 5, 7, 64] {
        let answer = said(stream.clone().in_pieces_of(bytes)).await.unwrap();
        assert_eq!(answer.text, "Zoë says 世界 🦀 and \"more\"\n", "{bytes}");
        assert_eq!(answer.reason, FinishReason::Length);
    }
}

#[tokio::test]
async fn an_end_without_done_is_an_end() {
    let events = || Reply::events([text("yes"), finish("stop")]);
    for reply in [events(), events().then_close(), events().then_break(), events().then_hold()] {
        let answer = said(reply).await.unwrap();
        assert_eq!((answer.text.as_str(), answer.reason), ("yes", FinishReason::Stop));
    }
}

#[tokio::test]
async fn done_is_the_end_whatever_comes_after_it() {
    let done = || vec![text("yes"), finish("stop"), "[DONE]".to_owned()];
    assert_eq!(said(Reply::events(done()).then_hold()).await.unwrap().text, "yes");
    let more = done().into_iter().chain([text(" and no"), "garbage".to_owned()]);
    assert_eq!(said(Reply::events(more)).await.unwrap().text, "yes");
}

#[tokio::test]
async fn a_reason_may_be_missing_where_there_is_done() {
    let answer = said(Reply::events([text("yes"), "[DONE]".to_owned()])).await.unwrap();
    assert_eq!((answer.text.as_str(), answer.reason), ("yes", FinishReason::Stop));
}

#[tokio::test]
async fn an_answer_without_any_end_is_broken() {
    for reply in [
        Reply::events([text("half of")]),
        Reply::events([text("half of")]).then_close(),
        Reply::events([text("half of")]).then_break(),
    ] {
        let error = error(reply).await;
        assert!(matches!(error, LanguageModelError::Unavailable { .. }), "{error:?}");
        assert!(error.is_retryable());
    }
}

#[tokio::test]
async fn empty_chunks_are_passed_over() {
    let answer = said(Reply::events([
        json!({ "choices": [], "prompt_filter_results": [{}] }).to_string(),
        json!({ "choices": [{ "delta": { "role": "assistant", "content": "" } }] }).to_string(),
        json!({ "choices": [{ "delta": { "content": null } }], "usage": null }).to_string(),
        String::new(),
        text("yes"),
        json!({}).to_string(),
        finish("stop"),
        json!({ "choices": [{ "delta": {}, "finish_reason": null }] }).to_string(),
        json!({ "choices": [], "usage": { "prompt_tokens": 1, "completion_tokens": 2 } })
            .to_string(),
        "[DONE]".to_owned(),
    ]))
    .await
    .unwrap();
    assert_eq!((answer.text.as_str(), answer.reason), ("yes", FinishReason::Stop));
    assert_eq!(answer.usage, Some(LlmUsage { input_tokens: 1, output_tokens: 2 }));
}

#[tokio::test]
async fn a_cost_that_comes_with_the_reason_is_kept() {
    let last = json!({
        "choices": [{ "delta": { "content": "es" }, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 1, "completion_tokens": 2 },
    });
    let answer = said(Reply::events([text("y"), last.to_string()])).await.unwrap();
    assert_eq!(answer.text, "yes");
    assert_eq!(answer.usage.map(|usage| usage.output_tokens), Some(2));
}

#[tokio::test]
async fn reasoning_is_told_from_the_answer() {
    let delta = |delta: serde_json::Value| json!({ "choices": [{ "delta": delta }] }).to_string();
    let answer = said(Reply::events([
        delta(json!({ "reasoning_content": "Let me ", "content": null })),
        delta(json!({ "reasoning": "think." })),
        text("yes"),
        finish("stop"),
    ]))
    .await
    .unwrap();
    assert_eq!((answer.reasoning.as_str(), answer.text.as_str()), ("Let me think.", "yes"));
}

#[tokio::test]
async fn an_error_in_the_middle_ends_the_answer() {
    for stream in [
        event(json!({ "error": { "message": "out of memory", "code": 500 } })),
        event(json!({ "error": "out of memory" })),
        "event: error\ndata: {\"message\": \"out of memory\"}\n\n".to_owned(),
        "error: {\"message\": \"out of memory\"}\n\n".to_owned(),
        "{\"error\": {\"message\": \"out of memory\"}}\n".to_owned(),
    ] {
        let server = ModelServer::replaying([Reply::stream(event(text("half")) + &stream)]).await;
        let mut events = model(&server).stream(question()).await.unwrap();
        assert_eq!(events.next().await.unwrap().unwrap(), LlmEvent::Text("half".to_owned()));
        let error = events.next().await.unwrap().unwrap_err();
        assert!(matches!(error, LanguageModelError::Unavailable { .. }), "{stream} {error:?}");
        assert!(error.to_string().contains("out of memory"), "{error}");
        assert!(events.next().await.is_none());
    }
}

#[tokio::test]
async fn an_error_in_the_stream_is_sorted_like_one_before_it() {
    let long = json!({ "error": { "message": "maximum context length is 10", "code": 400 } });
    let error = error(Reply::events([long])).await;
    assert!(matches!(error, LanguageModelError::ContextLength { .. }), "{error:?}");
}

#[tokio::test]
async fn json_that_is_cut_off_is_no_answer() {
    let cut = &text("yes")[..20];
    let closed = error(Reply::stream(event(text("y")) + "data: " + cut).then_close()).await;
    assert!(matches!(closed, LanguageModelError::Protocol { .. }), "{closed:?}");
    let inside = error(Reply::events([cut, "[DONE]"])).await;
    assert!(matches!(inside, LanguageModelError::Protocol { .. }), "{inside:?}");
    // After the end of the answer it is not missed.
    let late = Reply::stream(event(text("yes")) + &event(finish("stop")) + "data: " + cut);
    assert_eq!(said(late.then_close()).await.unwrap().text, "yes");
}

#[tokio::test]
async fn events_without_a_blank_line_between_them_are_read() {
    let lines = [text("y"), text("es"), finish("stop"), "[DONE]".to_owned()];
    let lines = lines.map(|line| format!("data: {line}\n"));
    assert_eq!(said(Reply::stream(lines.concat())).await.unwrap().text, "yes");
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_understood() {
    let whole = json!({
        "object": "chat.completion",
        "choices": [{ "index": 0, "message": { "role": "assistant", "content": "yes" },
            "finish_reason": "length" }],
        "usage": { "prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3 },
    });
    let answer = said(Reply::json(200, &whole).in_pieces_of(1)).await.unwrap();
    assert_eq!((answer.text.as_str(), answer.reason), ("yes", FinishReason::Length));
    assert_eq!(answer.usage.map(|usage| usage.output_tokens), Some(2));
    let bare = json!({ "choices": [{ "message": { "content": "yes" } }] });
    assert_eq!(said(Reply::json(200, &bare)).await.unwrap().reason, FinishReason::Stop);
}

#[tokio::test]
async fn what_is_no_answer_at_all_is_a_protocol_error() {
    for reply in [
        Reply::html(200, "<html><body>Sign in to the network</body></html>"),
        Reply::stream("\n\n<!DOCTYPE html><p>oops"),
        Reply::json(200, &json!({ "status": "fine" })),
        Reply::text(200, "{\"choices\": ["),
        Reply::text(200, ""),
        Reply::stream("\n\n"),
        Reply::events(["oops"]),
    ] {
        let error = error(reply.clone()).await;
        assert!(matches!(error, LanguageModelError::Protocol { .. }), "{reply:?} {error:?}");
    }
    let error = error(Reply::json(200, &json!({ "error": "model is loading" }))).await;
    assert!(matches!(error, LanguageModelError::Unavailable { .. }), "{error:?}");
}

#[tokio::test]
async fn an_answer_that_does_not_keep_its_bound_is_cut() {
    let server = ModelServer::replaying([
        Reply::events(vec![text("word "); 1000]).then_hold(),
        Reply::events(vec![text("世世世世世世世世"); 1000]).then_hold(),
    ])
    .await;
    let model = model(&server);
    let words = answer(&*model, question()).await.unwrap();
    assert_eq!(words.text.split_whitespace().count(), 100);
    assert_eq!(words.reason, FinishReason::Length);
    let long = answer(&*model, question()).await.unwrap();
    assert_eq!((long.text.len(), long.reason), (12_798, FinishReason::Length));
    // The connections are closed, so that the server stops.
    server.hang_ups(2).await;
}

#[tokio::test]
async fn an_event_without_end_is_refused() {
    let error = error(Reply::stream("data: ".to_owned() + &"x".repeat(2 << 20)).then_hold()).await;
    assert!(matches!(error, LanguageModelError::Protocol { .. }), "{error:?}");
}

#[tokio::test]
async fn comments_without_end_are_refused() {
    let error = error(Reply::stream(": ping\n".repeat(400_000)).then_hold()).await;
    assert!(error.to_string().contains("no end"), "{error:?}");
}

#[tokio::test]
async fn dropping_an_answer_closes_the_connection() {
    let server = ModelServer::replaying([Reply::events([text("half")]).then_hold()]).await;
    let mut events = model(&server).stream(question()).await.unwrap();
    assert_eq!(events.next().await.unwrap().unwrap(), LlmEvent::Text("half".to_owned()));
    drop(events);
    server.hang_ups(1).await;
}

#[tokio::test]
async fn silence_has_an_end() {
    let short = Duration::from_millis(200);
    let long = Duration::from_mins(5);
    for (reply, timeouts) in [
        (Reply::stream("").then_hold(), Timeouts { first_token: short, idle: long, connect: long }),
        (
            Reply::stream(": ping\n\n").then_hold(),
            Timeouts { first_token: short, idle: long, connect: long },
        ),
        (
            Reply::events([text("half")]).then_hold(),
            Timeouts { first_token: long, idle: short, connect: long },
        ),
    ] {
        let server = ModelServer::replaying([reply]).await;
        let model = open(fixture::endpoint(&server.url()), timeouts);
        let error = answer(&*model, question()).await.unwrap_err();
        // On a busy machine the stub may not even begin.
        let words = error.to_string();
        assert!(words.contains("silent") || words.contains("in time"), "{error:?}");
        assert!(matches!(error, LanguageModelError::Unavailable { .. }));
        server.hang_ups(1).await;
    }
}

#[tokio::test]
async fn the_deadline_is_the_end() {
    let server = ModelServer::replaying([Reply::events([text("half")]).then_hold()]).await;
    let request =
        trove_domain::llm::LlmRequest { deadline: Duration::from_millis(300), ..question() };
    let error = answer(&*model(&server), request).await.unwrap_err();
    assert!(error.to_string().contains("in time"), "{error:?}");
    server.hang_ups(1).await;
}
