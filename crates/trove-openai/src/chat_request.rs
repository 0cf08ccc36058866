//! The body of a request for an answer, in the dialect of its server.

use async_openai::types::chat::{
    ChatCompletionRequestAssistantMessage, ChatCompletionRequestAssistantMessageContent,
    ChatCompletionRequestMessage, ChatCompletionRequestSystemMessage,
    ChatCompletionRequestSystemMessageContent, ChatCompletionRequestUserMessage,
    ChatCompletionRequestUserMessageContent, ChatCompletionStreamOptions,
    CreateChatCompletionRequest, ReasoningEffort,
};
use bytes::Bytes;
use trove_domain::llm::{LlmMessage, LlmRequest, Speaker};

use crate::endpoint::Endpoint;
use crate::failure::Said;

/// What a server calls the bound of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    /// OpenAI's present name; servers that do not know it may ignore it.
    MaxCompletionTokens,
    /// OpenAI's former name, which all others know.
    MaxTokens,
}

impl Bound {
    fn name(self) -> &'static str {
        match self {
            Self::MaxCompletionTokens => "max_completion_tokens",
            Self::MaxTokens => "max_tokens",
        }
    }

    fn other(self) -> Self {
        match self {
            Self::MaxCompletionTokens => Self::MaxTokens,
            Self::MaxTokens => Self::MaxCompletionTokens,
        }
    }
}

/// Which parameters a model takes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Dialect {
    bound: Bound,
    /// Whether the bound may still be tried under its other name.
    other_bound: bool,
    /// Whether the cost can be asked for.
    usage: bool,
    temperature: bool,
    effort: Option<ReasoningEffort>,
}

impl Dialect {
    /// As far as it is known before the first request.
    pub(crate) fn of(endpoint: &Endpoint) -> Self {
        let reasons = endpoint.is_openai && reasons(&endpoint.model);
        let effort = match endpoint.reasoning_effort.as_deref() {
            Some("none") => Some(ReasoningEffort::None),
            Some("minimal") => Some(ReasoningEffort::Minimal),
            Some("low") => Some(ReasoningEffort::Low),
            Some("medium") => Some(ReasoningEffort::Medium),
            Some("high") => Some(ReasoningEffort::High),
            // Passages are at hand: there is little to reason about, and it is paid for.
            _ => reasons.then_some(ReasoningEffort::Low),
        };
        Self {
            bound: if endpoint.is_openai { Bound::MaxCompletionTokens } else { Bound::MaxTokens },
            other_bound: true,
            usage: true,
            temperature: !reasons,
            effort,
        }
    }

    /// The dialect without the parameter that a server refused; `None` when it refused something
    /// else. Ends: each answer takes something away.
    pub(crate) fn without_refused(&self, said: &Said) -> Option<Self> {
        let mut changed = self.clone();
        if self.other_bound && said.refuses(self.bound.name()) {
            changed.bound = self.bound.other();
            changed.other_bound = false;
        } else if self.usage && said.refuses("stream_options") {
            changed.usage = false;
        } else if self.temperature && said.refuses("temperature") {
            changed.temperature = false;
        } else if self.effort.is_some() && said.refuses("reasoning_effort") {
            changed.effort = None;
        } else {
            return None;
        }
        Some(changed)
    }

    /// The body that asks `model`.
    pub(crate) fn body(
        &self,
        model: &str,
        request: &LlmRequest,
    ) -> Result<Bytes, serde_json::Error> {
        let bound = |name| (self.bound == name).then_some(request.output_tokens_max);
        #[expect(deprecated, reason = "`max_tokens` is the name that most other servers know")]
        let body = CreateChatCompletionRequest {
            model: model.to_owned(),
            messages: request.messages.iter().map(message).collect(),
            max_completion_tokens: bound(Bound::MaxCompletionTokens),
            max_tokens: bound(Bound::MaxTokens),
            temperature: request.temperature.filter(|_| self.temperature),
            reasoning_effort: self.effort.clone(),
            stream: Some(true),
            stream_options: self.usage.then(|| ChatCompletionStreamOptions {
                include_usage: Some(true),
                ..ChatCompletionStreamOptions::default()
            }),
            ..CreateChatCompletionRequest::default()
        };
        serde_json::to_vec(&body).map(Bytes::from)
    }
}

/// Whether a model of OpenAI thinks before it answers, takes an effort, and no temperature.
fn reasons(model: &str) -> bool {
    let model = model.rsplit('/').next().unwrap_or(model);
    let family = ["o1", "o3", "o4", "gpt-5"].iter().any(|family| model.starts_with(family));
    family && !["o1-mini", "o1-preview", "gpt-5-chat"].iter().any(|m| model.starts_with(m))
}

fn message(message: &LlmMessage) -> ChatCompletionRequestMessage {
    let text = message.text.clone();
    match message.speaker {
        Speaker::System => ChatCompletionRequestSystemMessage {
            content: ChatCompletionRequestSystemMessageContent::Text(text),
            name: None,
        }
        .into(),
        Speaker::User => ChatCompletionRequestUserMessage {
            content: ChatCompletionRequestUserMessageContent::Text(text),
            name: None,
        }
        .into(),
        Speaker::Assistant => ChatCompletionRequestAssistantMessage {
            content: Some(ChatCompletionRequestAssistantMessageContent::Text(text)),
            ..ChatCompletionRequestAssistantMessage::default()
        }
        .into(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use serde_json::{Value, json};
    use trove_domain::llm::{LlmMessage, LlmRequest};
    use trove_domain::port::LanguageModelEndpoint;

    use super::Dialect;
    use crate::endpoint::Endpoint;
    use crate::failure::Said;

    fn dialect(kind: &str, model: &str) -> Dialect {
        let endpoint = LanguageModelEndpoint {
            provider: "ours".to_owned(),
            kind: kind.to_owned(),
            api_base: None,
            api_key: None,
            api_version: None,
            deployment: None,
            custom: BTreeMap::new(),
            model: model.to_owned(),
            context_tokens: None,
        };
        Dialect::of(&Endpoint::resolve(&endpoint, "chat/completions").unwrap())
    }

    fn body(dialect: &Dialect) -> Value {
        let request = LlmRequest {
            messages: vec![
                LlmMessage::system("s"),
                LlmMessage::user("u"),
                LlmMessage::assistant("a"),
            ],
            output_tokens_max: 9,
            temperature: Some(0.5),
            deadline: Duration::from_secs(1),
            pause_max: Duration::MAX,
        };
        serde_json::from_slice(&dialect.body("m", &request).unwrap()).unwrap()
    }

    #[test]
    fn a_body_holds_what_is_asked_and_nothing_else() {
        assert_eq!(
            body(&dialect("ollama", "llama3.2")),
            json!({
                "model": "m",
                "messages": [
                    { "role": "system", "content": "s" },
                    { "role": "user", "content": "u" },
                    { "role": "assistant", "content": "a" },
                ],
                "max_tokens": 9,
                "temperature": 0.5,
                "stream": true,
                "stream_options": { "include_usage": true },
            })
        );
    }

    #[test]
    fn models_of_openai_that_reason_get_a_low_effort_and_no_temperature() {
        for (kind, model, expected) in [
            ("openai", "gpt-5-mini", true),
            ("openai", "o3", true),
            ("openai", "gpt-5-chat-latest", false),
            ("openai", "gpt-4o", false),
            ("ollama", "gpt-5-like", false),
        ] {
            let body = body(&dialect(kind, model));
            assert_eq!(body["reasoning_effort"] == "low", expected, "{model}");
            assert_eq!(body.get("temperature").is_none(), expected, "{model}");
            let name = if kind == "openai" { "max_completion_tokens" } else { "max_tokens" };
            assert_eq!(body[name], 9, "{model}");
        }
    }

    #[test]
    fn refused_parameters_go_one_by_one_and_the_bound_stays() {
        let refuse = |name: &str| {
            Said::from_value(
                &json!({ "error": { "message": format!("unknown parameter {name}") } }),
            )
        };
        let first = dialect("openai", "o3");
        let second = first.without_refused(&refuse("max_completion_tokens")).unwrap();
        assert_eq!(body(&second)["max_tokens"], 9);
        assert!(body(&second).get("max_completion_tokens").is_none());
        assert_eq!(second.without_refused(&refuse("max_tokens")), None);
        let third = second.without_refused(&refuse("stream_options")).unwrap();
        let fourth = third.without_refused(&refuse("reasoning_effort")).unwrap();
        let left = body(&fourth);
        assert!(left.get("stream_options").is_none() && left.get("reasoning_effort").is_none());
        assert_eq!(left["max_tokens"], 9);
        assert_eq!(fourth.without_refused(&refuse("stream_options")), None);
        assert_eq!(fourth.without_refused(&refuse("messages")), None);
    }
}
