//! A language model that says what a test tells it to.

use std::sync::Mutex;

use async_trait::async_trait;
use futures::stream;
use trove_domain::llm::{FinishReason, LanguageModelInfo, LlmEvent, LlmRequest};
use trove_domain::port::{LanguageModel, LanguageModelError, LlmStream};

type Script = Box<dyn Fn(&LlmRequest) -> Result<String, LanguageModelError> + Send + Sync>;

/// Answers each request with what its script says, word by word, and keeps the requests.
pub struct ScriptedLanguageModel {
    info: LanguageModelInfo,
    script: Script,
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
        Self { info, script: Box::new(script), requests: Mutex::default() }
    }

    /// Always gives the same answer.
    pub fn saying(answer: impl Into<String>) -> Self {
        let answer = answer.into();
        Self::new(move |_| Ok(answer.clone()))
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
        let answer = (self.script)(&request);
        self.requests.lock().unwrap().push(request);
        let answer = answer?;
        let words: Vec<_> = answer
            .split_inclusive(' ')
            .filter(|word| !word.is_empty())
            .map(|word| Ok(LlmEvent::Text(word.to_owned())))
            .chain([Ok(LlmEvent::Finished { reason: FinishReason::Stop, usage: None })])
            .collect();
        Ok(Box::pin(stream::iter(words)))
    }
}
