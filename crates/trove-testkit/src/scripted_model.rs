//! A language model that says what a test tells it to.

use std::sync::Mutex;

use async_trait::async_trait;
use futures::stream;
use trove_domain::llm::{FinishReason, LanguageModelInfo, LlmEvent, LlmRequest};
use trove_domain::port::{LanguageModel, LanguageModelError, LlmStream};

type Script = Box<dyn Fn(&LlmRequest) -> Result<String, LanguageModelError> + Send + Sync>;

/// Answers each request with what its script says, word by word, and keeps the requests. A word
/// counts as one token.
pub struct ScriptedLanguageModel {
    info: LanguageModelInfo,
    script: Script,
    hangs: bool,
    requests: Mutex<Vec<LlmRequest>>,
}

impl ScriptedLanguageModel {
    /// Answers with what `script` says to a request.
    pub fn new(
        script: impl Fn(&LlmRequest) -> Result<String, LanguageModelError> + Send + Sync + 'static,
    ) -> Self {
        let info = LanguageModelInfo {
            provider: "scripted".to_owned(),
            model: "scripted-1".to_owned(),
            context_tokens: 32_000,
            follows_instructions: true,
        };
        Self { info, script: Box::new(script), hangs: false, requests: Mutex::default() }
    }

    /// The same, as another model.
    #[must_use]
    pub fn named(mut self, provider: &str, model: &str) -> Self {
        provider.clone_into(&mut self.info.provider);
        model.clone_into(&mut self.info.model);
        self
    }

    /// Always gives the same answer.
    pub fn saying(answer: impl Into<String>) -> Self {
        let answer = answer.into();
        Self::new(move |_| Ok(answer.clone()))
    }

    /// Repeats the last message.
    #[must_use]
    pub fn repeating() -> Self {
        Self::new(|request| Ok(request.messages.last().map(|m| m.text.clone()).unwrap_or_default()))
    }

    /// Never answers.
    #[must_use]
    pub fn unavailable() -> Self {
        Self::new(|_| {
            Err(LanguageModelError::Unavailable {
                provider: "scripted".to_owned(),
                detail: "as the test wants".to_owned(),
                source: None,
            })
        })
    }

    /// Begins an answer that never comes.
    #[must_use]
    pub fn hanging() -> Self {
        Self { hangs: true, ..Self::saying("") }
    }

    /// What was asked so far.
    pub fn requests(&self) -> Vec<LlmRequest> {
        self.requests.lock().unwrap().clone()
    }
}

#[async_trait]
impl LanguageModel for ScriptedLanguageModel {
    fn info(&self) -> &LanguageModelInfo {
        &self.info
    }

    async fn stream(&self, request: LlmRequest) -> Result<LlmStream, LanguageModelError> {
        let bound = usize::try_from(request.output_tokens_max).unwrap_or(usize::MAX);
        let answer = (self.script)(&request);
        self.requests.lock().unwrap().push(request);
        if self.hangs {
            return Ok(Box::pin(stream::pending()));
        }
        let answer = answer?;
        let mut words: Vec<&str> = answer.split_inclusive(char::is_whitespace).collect();
        // Blanks between two blanks are no words.
        let end = words
            .iter()
            .enumerate()
            .filter(|(_, word)| !word.trim().is_empty())
            .nth(bound)
            .map(|(position, _)| position);
        words.truncate(end.unwrap_or(words.len()));
        let reason = if end.is_some() { FinishReason::Length } else { FinishReason::Stop };
        let events: Vec<_> = words
            .into_iter()
            .map(|word| Ok(LlmEvent::Text(word.to_owned())))
            .chain([Ok(LlmEvent::Finished { reason, usage: None })])
            .collect();
        Ok(Box::pin(stream::iter(events)))
    }
}
