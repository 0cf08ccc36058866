//! The port's adapter.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream;
use tokio::time::Instant;
use trove_domain::llm::{FinishReason, LanguageModelInfo, LlmEvent, LlmRequest};
use trove_domain::port::{
    LanguageModel, LanguageModelEndpoint, LanguageModelError, LanguageModelFactory, LlmStream,
};

use crate::chat_request::Dialect;
use crate::endpoint::Endpoint;
use crate::reading::Reading;
use crate::transport::{Transport, Within, unavailable};
use crate::veil::Veil;

/// Longer than any answer takes; later instants may not exist.
const DEADLINE_MAX: Duration = Duration::from_hours(24);
/// Context of a model that nobody knows anything about.
const CONTEXT_TOKENS: usize = 8_192;
/// What Ollama cuts a conversation to unless it is told otherwise, without a word.
const CONTEXT_TOKENS_OLLAMA: usize = 4_096;
/// Context by the beginning of a model's name, the longest first.
const CONTEXT_TOKENS_BY_MODEL: &[(&str, usize)] = &[
    ("gpt-3.5", 16_385),
    ("gpt-4.1", 1_000_000),
    ("gpt-4o", 128_000),
    ("gpt-4-turbo", 128_000),
    ("gpt-4", 8_192),
    ("gpt-5", 128_000),
    ("o1", 128_000),
    ("o3", 128_000),
    ("o4", 128_000),
];

/// Makes language models of endpoints that speak the protocol of OpenAI.
#[derive(Clone)]
pub struct OpenAiLanguageModels {
    transport: Transport,
}

impl OpenAiLanguageModels {
    /// All models share `transport`.
    #[must_use]
    pub fn new(transport: Transport) -> Self {
        Self { transport }
    }
}

impl LanguageModelFactory for OpenAiLanguageModels {
    fn open(
        &self,
        endpoint: LanguageModelEndpoint,
    ) -> Result<Arc<dyn LanguageModel>, LanguageModelError> {
        let resolved = Endpoint::resolve(&endpoint, "chat/completions")?;
        let context_tokens = endpoint.context_tokens.filter(|tokens| *tokens > 0);
        let info = LanguageModelInfo {
            provider: resolved.provider.clone(),
            model: resolved.model.clone(),
            context_tokens: context_tokens
                .unwrap_or_else(|| context_tokens_of(&endpoint.kind, &resolved)),
            follows_instructions: true,
        };
        Ok(Arc::new(OpenAiLanguageModel {
            dialect: Mutex::new(Dialect::of(&resolved)),
            endpoint: Arc::new(resolved),
            transport: self.transport.clone(),
            info,
        }))
    }
}

fn context_tokens_of(kind: &str, endpoint: &Endpoint) -> usize {
    let known = CONTEXT_TOKENS_BY_MODEL.iter().find(|(name, _)| endpoint.model.starts_with(name));
    match known {
        Some((_, tokens)) if endpoint.is_openai => *tokens,
        _ if kind.trim().to_ascii_lowercase().starts_with("ollama") => CONTEXT_TOKENS_OLLAMA,
        _ => CONTEXT_TOKENS,
    }
}

/// An answer without the secrets of the endpoint.
struct Veiled {
    reading: Reading,
    reasoning: Veil,
    text: Veil,
    /// What comes after what was waited with.
    next: VecDeque<Result<LlmEvent, LanguageModelError>>,
}

impl Veiled {
    fn new(reading: Reading, endpoint: &Endpoint) -> Self {
        let (reasoning, text) = (endpoint.secrets.veil(), endpoint.secrets.veil());
        Self { reading, reasoning, text, next: VecDeque::new() }
    }

    async fn next(&mut self) -> Option<Result<LlmEvent, LanguageModelError>> {
        loop {
            if let Some(event) = self.next.pop_front() {
                return Some(event);
            }
            let event = self.reading.next().await?;
            let event = match event {
                Ok(LlmEvent::Reasoning(piece)) => LlmEvent::Reasoning(self.reasoning.push(piece)),
                Ok(LlmEvent::Text(piece)) => LlmEvent::Text(self.text.push(piece)),
                end => {
                    let reasoning = LlmEvent::Reasoning(self.reasoning.finish());
                    let text = LlmEvent::Text(self.text.finish());
                    self.next.extend([reasoning, text].into_iter().filter(says_something).map(Ok));
                    self.next.push_back(end);
                    continue;
                }
            };
            if says_something(&event) {
                return Some(Ok(event));
            }
        }
    }
}

fn says_something(event: &LlmEvent) -> bool {
    match event {
        LlmEvent::Reasoning(text) | LlmEvent::Text(text) => !text.is_empty(),
        LlmEvent::Finished { .. } => true,
    }
}

/// One model at one endpoint.
struct OpenAiLanguageModel {
    info: LanguageModelInfo,
    endpoint: Arc<Endpoint>,
    transport: Transport,
    /// What the model has been found to take.
    dialect: Mutex<Dialect>,
}

impl OpenAiLanguageModel {
    /// Asks until the server takes the parameters.
    async fn ask(
        &self,
        request: &LlmRequest,
        within: Within,
    ) -> Result<reqwest::Response, LanguageModelError> {
        let mut dialect = self.dialect.lock().unwrap_or_else(PoisonError::into_inner).clone();
        loop {
            let body = dialect.body(&self.endpoint.model, request).map_err(|error| {
                LanguageModelError::Refused {
                    provider: self.info.provider.clone(),
                    detail: format!("the request cannot be written as JSON: {error}"),
                }
            })?;
            let failure = match self.transport.post(&self.endpoint, body, within).await {
                Ok(response) => return Ok(response),
                Err(failure) => failure,
            };
            let LanguageModelError::Refused { .. } = failure.error else {
                return Err(failure.error);
            };
            let Some(changed) = dialect.without_refused(&failure.said) else {
                return Err(failure.error);
            };
            tracing::info!(
                provider = self.info.provider,
                model = self.info.model,
                error = %failure.error,
                "the provider refuses a parameter; the model is asked without it from now on"
            );
            self.dialect.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&changed);
            dialect = changed;
        }
    }
}

#[async_trait]
impl LanguageModel for OpenAiLanguageModel {
    fn info(&self) -> &LanguageModelInfo {
        &self.info
    }

    #[tracing::instrument(
        name = "llm.stream",
        skip_all,
        fields(provider = self.info.provider, model = self.info.model)
    )]
    async fn stream(&self, request: LlmRequest) -> Result<LlmStream, LanguageModelError> {
        if request.messages.iter().all(|message| message.text.is_empty()) {
            return Err(LanguageModelError::Refused {
                provider: self.info.provider.clone(),
                detail: "there is no question".to_owned(),
            });
        }
        if request.output_tokens_max == 0 {
            let end = LlmEvent::Finished { reason: FinishReason::Length, usage: None };
            return Ok(Box::pin(stream::iter([Ok(end)])));
        }
        if request.deadline.is_zero() {
            return Err(unavailable(&self.endpoint, "there was no time left to ask", None));
        }
        let deadline = Instant::now() + request.deadline.min(DEADLINE_MAX);
        let timeouts = self.transport.timeouts;
        let within = Within {
            deadline,
            first_byte: timeouts.first_token,
            attempts_max: u32::MAX,
            pause_max: request.pause_max,
        };
        let response = self.ask(&request, within).await?;
        let reading = Reading::new(
            Arc::clone(&self.endpoint),
            timeouts,
            deadline,
            request.output_tokens_max,
            response,
        );
        Ok(Box::pin(stream::unfold(
            Veiled::new(reading, &self.endpoint),
            |mut veiled| async move {
                let event = veiled.next().await?;
                Some((event, veiled))
            },
        )))
    }
}
