//! A server without quirks.

use serde_json::{Value, json};

use super::{Captured, Reply};
use crate::fakes::HashingEmbedder;

/// Length of its vectors.
const DIMENSIONS: usize = 64;

/// Repeats the last message of a conversation, word by word and within `max_tokens`; embeds texts
/// as [`HashingEmbedder`] does, in reverse order and not of unit length.
#[must_use]
pub fn simulate(request: &Captured) -> Reply {
    let body = request.json();
    match request.path.split('?').next().unwrap_or_default().rsplit('/').next() {
        Some("completions") => converse(&body),
        Some("embeddings") => embed(&body),
        _ => Reply::error(404, "not_found", "there is no such address"),
    }
}

fn converse(body: &Value) -> Reply {
    let text = body["messages"]
        .as_array()
        .and_then(|messages| messages.last())
        .and_then(|message| message["content"].as_str());
    let Some(text) = text else {
        return Reply::error(400, "invalid_request_error", "there is no message");
    };
    let cap = body["max_tokens"].as_u64().or_else(|| body["max_completion_tokens"].as_u64());
    let Some(cap) = cap.and_then(|cap| usize::try_from(cap).ok()) else {
        return Reply::error(400, "invalid_request_error", "the answer has no bound");
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    let reason = if words.len() > cap { "length" } else { "stop" };
    Reply::answer(&words[..words.len().min(cap)].join(" "), reason)
}

fn embed(body: &Value) -> Reply {
    let embedder = HashingEmbedder::new(DIMENSIONS);
    let texts: Vec<&str> = match &body["input"] {
        Value::String(text) => vec![text],
        Value::Array(texts) => texts.iter().filter_map(Value::as_str).collect(),
        _ => return Reply::error(400, "invalid_request_error", "there is no input"),
    };
    if texts.iter().any(|text| text.trim().is_empty()) {
        return Reply::error(400, "invalid_request_error", "input cannot be an empty string");
    }
    let vectors = texts.iter().enumerate().rev().map(|(index, text)| {
        let vector: Vec<f32> = embedder.embed(text).into_iter().map(|x| x * 3.0).collect();
        json!({ "object": "embedding", "index": index, "embedding": vector })
    });
    let data: Vec<Value> = vectors.collect();
    Reply::json(200, &json!({ "object": "list", "model": body["model"], "data": data }))
}
