//! What an answer says, read leniently: whatever is missing or of another type counts as absent.

use serde_json::Value;
use trove_domain::llm::{FinishReason, LlmUsage};

use crate::failure::Said;

/// A chunk of a stream, or a whole answer.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) reasoning: String,
    pub(crate) text: String,
    pub(crate) reason: Option<FinishReason>,
    pub(crate) usage: Option<LlmUsage>,
}

impl Chunk {
    /// Reads an object that the server sent.
    ///
    /// # Errors
    ///
    /// What the server said, when the object is an error.
    pub(crate) fn read(value: &Value) -> Result<Self, Said> {
        let choice = value["choices"].as_array().and_then(|choices| {
            choices.iter().find(|choice| choice["index"].as_u64().unwrap_or(0) == 0)
        });
        let errs = |value: &Value| !matches!(value, Value::Null);
        if errs(&value["error"]) || value["object"] == "error" {
            return Err(Said::from_value(value));
        }
        let mut chunk = Self { usage: usage(&value["usage"]), ..Self::default() };
        let Some(choice) = choice else { return Ok(chunk) };
        if errs(&choice["error"]) {
            return Err(Said::from_value(choice));
        }
        // Streams have deltas, whole answers a message.
        let said = if choice["delta"].is_object() { &choice["delta"] } else { &choice["message"] };
        chunk.text = text(&said["content"]);
        if chunk.text.is_empty() {
            chunk.text = text(&said["refusal"]);
        }
        // Some servers send both.
        chunk.reasoning = text(&said["reasoning_content"]);
        if chunk.reasoning.is_empty() {
            chunk.reasoning = text(&said["reasoning"]);
        }
        chunk.reason = choice["finish_reason"].as_str().and_then(reason);
        Ok(chunk)
    }
}

/// A text, or the texts of its parts.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

fn reason(name: &str) -> Option<FinishReason> {
    match name {
        "" => None,
        "length" | "max_tokens" | "max_output_tokens" | "model_length" => {
            Some(FinishReason::Length)
        }
        "content_filter" | "safety" | "SAFETY" => Some(FinishReason::ContentFilter),
        // `stop`, `eos_token`, `end_turn` …
        _ => Some(FinishReason::Stop),
    }
}

fn usage(value: &Value) -> Option<LlmUsage> {
    let count = |name: &str| {
        let tokens = value[name].as_u64()?;
        Some(u32::try_from(tokens).unwrap_or(u32::MAX))
    };
    let (input, output) = (count("prompt_tokens"), count("completion_tokens"));
    (input.is_some() || output.is_some())
        .then(|| LlmUsage { input_tokens: input.unwrap_or(0), output_tokens: output.unwrap_or(0) })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use trove_domain::llm::{FinishReason, LlmUsage};

    use super::Chunk;

    fn delta(delta: &Value) -> Chunk {
        Chunk::read(&json!({ "choices": [{ "delta": delta }] })).unwrap()
    }

    #[test]
    fn text_and_reasoning_have_several_names_and_forms() {
        assert_eq!(delta(&json!({ "content": "a" })).text, "a");
        assert_eq!(delta(&json!({ "content": null, "refusal": "no" })).text, "no");
        let parts = json!([{ "type": "text", "text": "a" }, { "type": "x" }, { "text": "b" }]);
        assert_eq!(delta(&json!({ "content": parts })).text, "ab");
        let both = json!({ "reasoning": "r", "reasoning_content": "r", "content": "" });
        assert_eq!(delta(&both).reasoning, "r");
        assert_eq!(delta(&json!({ "reasoning": "r" })).reasoning, "r");
        assert_eq!(delta(&json!({ "reasoning": { "effort": 1 } })).reasoning, "");
    }

    #[test]
    fn what_is_odd_counts_as_absent() {
        for value in [
            json!(null),
            json!([]),
            json!("text"),
            json!({}),
            json!({ "choices": [] }),
            json!({ "choices": null, "usage": null }),
            json!({ "choices": [{}] }),
            json!({ "choices": [{ "delta": null, "finish_reason": null }] }),
            json!({ "choices": [{ "delta": { "content": 5 }, "finish_reason": "" }] }),
            json!({ "choices": [{ "index": 1, "delta": { "content": "another" } }] }),
        ] {
            assert_eq!(Chunk::read(&value).unwrap(), Chunk::default(), "{value}");
        }
    }

    #[test]
    fn reasons_and_costs_are_read() {
        for (name, reason) in [
            ("stop", FinishReason::Stop),
            ("eos_token", FinishReason::Stop),
            ("length", FinishReason::Length),
            ("content_filter", FinishReason::ContentFilter),
        ] {
            let chunk = Chunk::read(&json!({ "choices": [{ "finish_reason": name }] })).unwrap();
            assert_eq!(chunk.reason, Some(reason), "{name}");
        }
        let usage = json!({ "prompt_tokens": 3, "completion_tokens": 5_000_000_000_u64 });
        let chunk = Chunk::read(&json!({ "choices": [], "usage": usage })).unwrap();
        assert_eq!(chunk.usage, Some(LlmUsage { input_tokens: 3, output_tokens: u32::MAX }));
    }

    #[test]
    fn errors_are_told_from_answers() {
        assert!(Chunk::read(&json!({ "error": { "message": "m" } })).is_err());
        assert!(Chunk::read(&json!({ "error": "m", "choices": [] })).is_err());
        assert!(Chunk::read(&json!({ "object": "error", "message": "m" })).is_err());
        assert!(Chunk::read(&json!({ "choices": [{ "error": { "message": "m" } }] })).is_err());
        assert!(Chunk::read(&json!({ "error": null, "choices": [] })).is_ok());
    }
}
