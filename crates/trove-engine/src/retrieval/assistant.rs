//! One question at a time to a language model that helps a search.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::TryStreamExt;
use tokio::time::{Instant, timeout_at};
use trove_domain::llm::{LlmEvent, LlmMessage, LlmRequest};
use trove_domain::port::{LanguageModel, LanguageModelError};

use crate::log;

/// A language model with the time that a search has for it.
#[derive(Clone)]
pub(super) struct Assistant {
    model: Arc<dyn LanguageModel>,
    until: Instant,
    /// Whether it has failed once: a search does not wait for it again.
    failed: Arc<AtomicBool>,
}

impl Assistant {
    /// A model that follows instructions, for all steps of one search together `allowance` long.
    pub(super) fn new(model: Arc<dyn LanguageModel>, allowance: Duration) -> Option<Self> {
        let until = Instant::now() + allowance;
        let failed = Arc::default();
        model.info().follows_instructions.then_some(Self { model, until, failed })
    }

    /// Tokens that a prompt may have, so that an answer fits beside it.
    pub(super) fn prompt_tokens_max(&self) -> usize {
        self.model.info().context_tokens / 4 * 3
    }

    /// The whole answer; `None` when there is none in time, which is logged as the failure of
    /// `step`, or when the model has failed before.
    pub(super) async fn ask(
        &self,
        step: &'static str,
        messages: Vec<LlmMessage>,
        output_tokens_max: u32,
    ) -> Option<String> {
        if self.failed.load(Ordering::Relaxed) {
            return None;
        }
        let deadline = self.until.saturating_duration_since(Instant::now());
        let request = LlmRequest { messages, output_tokens_max, temperature: Some(0.0), deadline };
        match timeout_at(self.until, self.answer(request)).await {
            Ok(Ok(text)) => Some(text),
            Ok(Err(error)) => {
                // What is too long or refused may be shorter or fine the next time.
                self.failed.fetch_or(is_lasting(&error), Ordering::Relaxed);
                log::warn(&error, step);
                None
            }
            Err(_elapsed) => {
                self.failed.store(true, Ordering::Relaxed);
                tracing::warn!(seconds = deadline.as_secs(), "{step}: no answer in time");
                None
            }
        }
    }

    async fn answer(&self, request: LlmRequest) -> Result<String, LanguageModelError> {
        let mut stream = self.model.stream(request).await?;
        let mut text = String::new();
        while let Some(event) = stream.try_next().await? {
            match event {
                LlmEvent::Text(piece) => text.push_str(&piece),
                LlmEvent::Reasoning(_) => {}
                LlmEvent::Finished { .. } => break,
            }
        }
        Ok(text)
    }
}

/// Whether the next question of the same search would fail, too.
fn is_lasting(error: &LanguageModelError) -> bool {
    !matches!(
        error,
        LanguageModelError::ContextLength { .. }
            | LanguageModelError::Refused { .. }
            | LanguageModelError::Protocol { .. }
    )
}

/// About how many tokens `text` has: four bytes each, the usual figure for English. Other scripts
/// have more bytes for each character, and more tokens.
pub(super) fn estimated_tokens(text: &str) -> usize {
    text.len().div_ceil(4)
}
