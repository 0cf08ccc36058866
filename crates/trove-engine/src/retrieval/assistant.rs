//! One question at a time to a language model that helps a search.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::TryStreamExt;
use tokio::time::{Instant, timeout_at};
use trove_domain::llm::{LlmEvent, LlmMessage, LlmRequest};
use trove_domain::port::{Clock, LanguageModel, LanguageModelError};

use crate::language_models::Circuits;
use crate::{Engine, log};

/// Longest wait for a provider that refuses for the moment: an answer that helps a search is not
/// worth more.
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// A language model with the time that a search has for it.
#[derive(Clone)]
pub(super) struct Assistant {
    model: Arc<dyn LanguageModel>,
    allowance: Duration,
    until: Instant,
    /// Whether it has failed once: a search does not wait for it again.
    failed: Arc<AtomicBool>,
    /// Whether it has failed other searches.
    circuits: Arc<Circuits>,
    clock: Arc<dyn Clock>,
}

impl Assistant {
    /// A model that follows instructions, for all steps of one search together as long as the
    /// deployment allows.
    pub(super) fn new(engine: &Engine, model: Arc<dyn LanguageModel>) -> Option<Self> {
        let circuits = Arc::clone(&engine.shared.circuits);
        let clock = Arc::clone(&engine.backends().clock);
        let allowance = engine.config().language_model_allowance;
        let follows_instructions = model.info().follows_instructions;
        follows_instructions.then(|| Self::within(allowance, model, circuits, clock))
    }

    fn within(
        allowance: Duration,
        model: Arc<dyn LanguageModel>,
        circuits: Arc<Circuits>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let until = Instant::now() + allowance;
        Self { model, allowance, until, failed: Arc::default(), circuits, clock }
    }

    /// Tokens that a prompt may have, so that an answer fits beside it.
    pub(super) fn prompt_tokens_max(&self) -> usize {
        self.model.info().context_tokens / 4 * 3
    }

    /// The whole answer; `None` when there is none in time, which is logged as the failure of
    /// `step`, or when the model has failed before, in this search or in another one of late.
    pub(super) async fn ask(
        &self,
        step: &'static str,
        messages: Vec<LlmMessage>,
        output_tokens_max: u32,
    ) -> Option<String> {
        let deadline = self.until.saturating_duration_since(Instant::now());
        if deadline.is_zero() || self.failed.load(Ordering::Relaxed) {
            return None;
        }
        let Some(admission) = self.circuits.admit(&self.model, self.clock.now()) else {
            tracing::debug!("{step}: the language model has failed a short while ago");
            return None;
        };
        let request = LlmRequest {
            messages,
            output_tokens_max,
            temperature: Some(0.0),
            deadline,
            pause_max: PAUSE_MAX,
        };
        // The little that earlier steps have left proves nothing.
        let is_telling = || Instant::now() < self.until || deadline >= self.allowance / 2;
        match timeout_at(self.until, self.answer(request)).await {
            Ok(Ok(text)) => {
                admission.answered();
                Some(text)
            }
            Ok(Err(error)) => {
                // What is too long or refused may be shorter or fine the next time.
                self.failed.fetch_or(is_lasting(&error), Ordering::Relaxed);
                log::warn(&error, step);
                match error {
                    LanguageModelError::Quota { retry_after, .. } => {
                        admission.failed(retry_after, self.clock.now());
                    }
                    LanguageModelError::Unavailable { .. } if is_telling() => {
                        admission.failed(None, self.clock.now());
                    }
                    _ => {}
                }
                None
            }
            Err(_elapsed) => {
                self.failed.store(true, Ordering::Relaxed);
                tracing::warn!(seconds = deadline.as_secs(), "{step}: no answer in time");
                if is_telling() {
                    admission.failed(None, self.clock.now());
                }
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

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use trove_testkit::fakes::FakeClock;
    use trove_testkit::scripted_model::ScriptedLanguageModel;

    use super::*;

    const ALLOWANCE: Duration = Duration::from_mins(1);
    /// What a question that hangs costs here.
    const SHORT: Duration = Duration::from_millis(100);

    /// Searches with one model, one after the other.
    struct Searches {
        model: Arc<ScriptedLanguageModel>,
        circuits: Arc<Circuits>,
        clock: Arc<FakeClock>,
    }

    impl Searches {
        fn with(model: ScriptedLanguageModel) -> Self {
            Self { model: Arc::new(model), circuits: Arc::default(), clock: Arc::default() }
        }

        fn begin(&self, allowance: Duration) -> Assistant {
            let model = Arc::clone(&self.model);
            Assistant::within(allowance, model, self.circuits.clone(), self.clock.clone())
        }

        /// One question of another search.
        async fn ask(&self, allowance: Duration) -> Option<String> {
            ask(&self.begin(allowance)).await
        }

        fn asked(&self) -> usize {
            self.model.requests().len()
        }
    }

    async fn ask(assistant: &Assistant) -> Option<String> {
        assistant.ask("a test", vec![LlmMessage::user("?")], 10).await
    }

    fn quota() -> LanguageModelError {
        let (provider, detail) = ("p".to_owned(), String::new());
        LanguageModelError::Quota { provider, detail, retry_after: None }
    }

    fn refused() -> LanguageModelError {
        LanguageModelError::Refused { provider: "p".to_owned(), detail: String::new() }
    }

    #[tokio::test]
    async fn a_model_that_hangs_costs_one_search_and_not_the_next() {
        let searches = Searches::with(ScriptedLanguageModel::hanging());
        assert_eq!(searches.ask(SHORT).await, None);
        // Would not end.
        assert_eq!(searches.ask(ALLOWANCE).await, None);
        assert_eq!(searches.asked(), 1);
        searches.clock.advance(TimeDelta::seconds(30));
        assert_eq!(searches.ask(SHORT).await, None);
        assert_eq!(searches.asked(), 2);
    }

    #[tokio::test]
    async fn a_model_without_quota_or_that_is_unavailable_is_left_alone() {
        for model in
            [ScriptedLanguageModel::unavailable(), ScriptedLanguageModel::new(|_| Err(quota()))]
        {
            let searches = Searches::with(model);
            assert_eq!(searches.ask(ALLOWANCE).await, None);
            assert_eq!(searches.ask(ALLOWANCE).await, None);
            assert_eq!(searches.asked(), 1);
        }
    }

    #[tokio::test]
    async fn a_question_that_is_refused_says_nothing_of_the_next() {
        let searches = Searches::with(ScriptedLanguageModel::new(|_| Err(refused())));
        assert_eq!(searches.ask(ALLOWANCE).await, None);
        assert_eq!(searches.ask(ALLOWANCE).await, None);
        assert_eq!(searches.asked(), 2);
    }

    /// A slow model answers the first step and is cut off in the last.
    #[tokio::test]
    async fn the_rest_of_the_time_of_a_search_proves_nothing() {
        let searches = Searches::with(ScriptedLanguageModel::hanging());
        let late = Assistant { allowance: ALLOWANCE, ..searches.begin(SHORT) };
        assert_eq!(ask(&late).await, None);
        let other = searches.begin(SHORT);
        assert_eq!(ask(&other).await, None);
        assert_eq!(searches.asked(), 2);
    }

    #[tokio::test]
    async fn nothing_is_asked_when_the_time_is_up() {
        let searches = Searches::with(ScriptedLanguageModel::saying("yes"));
        assert_eq!(searches.ask(Duration::ZERO).await, None);
        assert_eq!(searches.asked(), 0);
    }

    #[tokio::test]
    async fn nobody_waits_long_for_a_provider_that_refuses_for_the_moment() {
        let searches = Searches::with(ScriptedLanguageModel::saying("yes"));
        assert_eq!(searches.ask(ALLOWANCE).await.as_deref(), Some("yes"));
        assert!(searches.model.requests()[0].pause_max <= Duration::from_secs(1));
    }
}
