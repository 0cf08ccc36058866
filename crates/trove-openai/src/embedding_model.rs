//! The port's adapter for embeddings.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::{StreamExt, TryStreamExt, stream};
use tokio::sync::Semaphore;
use tokio::time::Instant;
use trove_domain::port::{
    EmbeddingError, EmbeddingModel, EmbeddingModelInfo, LanguageModelEndpoint, LanguageModelError,
    Tokenizer,
};

use crate::embedding_request::{body, vectors};
use crate::endpoint::Endpoint;
use crate::failure::{Failure, Said};
use crate::tokens::{ApproximateTokenizer, head};
use crate::transport::{Transport, Within, last_cause, read, unavailable};

/// Tokens that models put around every text.
const SPECIAL_TOKENS: usize = 2;
/// Most bytes of text in a request, far below what servers take.
const BATCH_BYTES_MAX: usize = 256 << 10;
/// Requests of one call at the same time, and of all calls: more queue up at the server anyway,
/// where queries would have to wait behind them.
const REQUESTS_PER_CALL: usize = 2;
const REQUESTS_MAX: usize = 4;
/// How often a text that is too long for the server is halved.
const HALVINGS_MAX: u32 = 5;
/// Longest wait for a batch: servers on a processor without accelerator are slow.
const BATCH_WITHIN: Duration = Duration::from_mins(5);
/// Longest wait for a query: the search goes on without a vector then.
const QUERY_WITHIN: Duration = Duration::from_secs(10);
const QUERY_ATTEMPTS_MAX: u32 = 2;
/// Longest wait for the length of the vectors: a server may have to load the model first.
const PROBE_WITHIN: Duration = Duration::from_mins(1);
/// Most bytes of a number in JSON, and of what is around the vectors.
const NUMBER_BYTES_MAX: usize = 32;
const BYTES_ASIDE: usize = 64 << 10;
/// Longest vector that is taken from a model that is not known yet.
const DIMENSIONS_MAX: usize = 65_536;

/// What embeds, and within which bounds.
#[derive(Clone, Debug)]
pub struct EmbeddingSettings {
    /// Where; its context is not used.
    pub endpoint: LanguageModelEndpoint,
    /// Length of the vectors. Models that can shorten theirs are asked to; the model's own length
    /// when absent.
    pub dimensions: Option<usize>,
    /// Most tokens of a text.
    pub window_tokens: usize,
    /// Most texts in a request.
    pub batch_texts_max: usize,
}

/// Why an embedding model cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenEmbeddingModelError {
    /// A setting cannot work, or the provider refuses.
    #[error(transparent)]
    Endpoint(LanguageModelError),
    /// The provider does not answer, and nothing else says how long the vectors are.
    #[error(
        "the length of the vectors is not known, because the model could not be asked; start it, \
         or say how long they are"
    )]
    Unreachable(#[source] LanguageModelError),
    /// The vectors are not as long as they should be.
    #[error("the model {model} answers with vectors of {got} elements, expected {want}")]
    Dimensions {
        /// The model.
        model: String,
        /// Length that was asked for.
        want: usize,
        /// Length that came.
        got: usize,
    },
}

/// An embedding model behind an interface that speaks the protocol of OpenAI.
///
/// A text that the server finds too long although the tokenizer did not is cut in half until it
/// fits; a batch that it refuses is cut in half, too.
pub struct OpenAiEmbeddingModel {
    info: EmbeddingModelInfo,
    endpoint: Endpoint,
    transport: Transport,
    /// Length to ask for, if the model's own is another.
    shortened: Option<u32>,
    shortens: AtomicBool,
    batch_texts_max: AtomicUsize,
    bulk: Semaphore,
    is_verified: bool,
}

impl std::fmt::Debug for OpenAiEmbeddingModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenAiEmbeddingModel").field("info", &self.info).finish_non_exhaustive()
    }
}

impl OpenAiEmbeddingModel {
    /// Whether the settings can work. Nothing is sent.
    ///
    /// # Errors
    ///
    /// [`LanguageModelError::Invalid`] names the setting that cannot.
    pub fn check(endpoint: &LanguageModelEndpoint) -> Result<(), LanguageModelError> {
        Endpoint::resolve(endpoint, "embeddings").map(drop)
    }

    /// Asks the model once, for the length of its vectors. When it does not answer, `indexed`, the
    /// length of the vectors that are already indexed, or the configured one is believed, and each
    /// answer is compared with it.
    ///
    /// # Errors
    ///
    /// [`OpenEmbeddingModelError`].
    pub async fn open(
        transport: Transport,
        settings: EmbeddingSettings,
        indexed: Option<usize>,
    ) -> Result<Self, OpenEmbeddingModelError> {
        let endpoint = Endpoint::resolve(&settings.endpoint, "embeddings")
            .map_err(OpenEmbeddingModelError::Endpoint)?;
        let expected = settings.dimensions.or(indexed);
        let mut model = Self {
            info: EmbeddingModelInfo {
                name: endpoint.model.clone(),
                dimensions: settings.dimensions.unwrap_or(0),
                window_tokens: settings.window_tokens.max(SPECIAL_TOKENS + 1),
            },
            endpoint,
            transport,
            shortened: settings.dimensions.and_then(|length| u32::try_from(length).ok()),
            shortens: AtomicBool::new(false),
            batch_texts_max: AtomicUsize::new(settings.batch_texts_max.max(1)),
            bulk: Semaphore::new(REQUESTS_MAX),
            is_verified: true,
        };
        let probe = ["length".to_owned()];
        match model.ask(&probe, within(PROBE_WITHIN, QUERY_ATTEMPTS_MAX)).await {
            Ok(vectors) => {
                model.info.dimensions = vectors.first().map_or(0, Vec::len);
                Ok(model)
            }
            Err(Refusal::Length { got }) => Err(OpenEmbeddingModelError::Dimensions {
                model: model.info.name,
                want: model.info.dimensions,
                got,
            }),
            Err(Refusal::Failed(error)) if error.is_retryable() => match expected {
                Some(dimensions) => {
                    let error: &(dyn std::error::Error + 'static) = &error;
                    tracing::warn!(
                        error,
                        model = model.info.name,
                        "the embedding model does not answer: searches are by words alone and \
                         nothing is indexed until it does"
                    );
                    model.info.dimensions = dimensions;
                    model.is_verified = false;
                    Ok(model)
                }
                None => Err(OpenEmbeddingModelError::Unreachable(error)),
            },
            Err(Refusal::Failed(error)) => Err(OpenEmbeddingModelError::Endpoint(error)),
        }
    }

    /// Whether the model answered when it was opened.
    #[must_use]
    pub fn is_verified(&self) -> bool {
        self.is_verified
    }

    /// What is sent of a text: as much as fits, and never nothing, which servers refuse.
    fn prepared(&self, text: &str) -> String {
        let text = head(text, self.info.window_tokens - SPECIAL_TOKENS).replace('\0', " ");
        if text.trim().is_empty() { ".".to_owned() } else { text }
    }

    /// One request.
    async fn ask(&self, texts: &[String], within: Within) -> Result<Vec<Vec<f32>>, Refusal> {
        let shortens = self.shortens.load(Ordering::Relaxed);
        let answered = self.ask_for(texts, shortens, within).await;
        match answered {
            // The model's own length is another; perhaps it can do the one that is wanted.
            Err(Refusal::Length { got }) if !shortens && self.shortened.is_some() => {
                let answered = self.ask_for(texts, true, within).await;
                if answered.is_ok() {
                    self.shortens.store(true, Ordering::Relaxed);
                }
                answered.map_err(|refusal| match refusal {
                    // It cannot.
                    Refusal::Failed(error) if !error.is_retryable() => Refusal::Length { got },
                    other => other,
                })
            }
            answered => answered,
        }
    }

    async fn ask_for(
        &self,
        texts: &[String],
        shortens: bool,
        within: Within,
    ) -> Result<Vec<Vec<f32>>, Refusal> {
        let protocol = |detail: String| LanguageModelError::Protocol {
            provider: self.endpoint.provider.clone(),
            detail: self.endpoint.secrets.scrub(&detail),
        };
        let body = body(&self.info.name, texts, self.shortened.filter(|_| shortens))
            .map_err(|error| protocol(format!("the request cannot be written: {error}")))?;
        let response = self.transport.post(&self.endpoint, body, within).await;
        let response = response.map_err(|failure| Refusal::Failed(failure.error))?;
        let wanted = self.info.dimensions;
        let length = if wanted > 0 { wanted } else { DIMENSIONS_MAX };
        let bytes_max = texts.len() * length * NUMBER_BYTES_MAX + BYTES_ASIDE;
        let answer = read(response, bytes_max, within.deadline).await.map_err(|error| {
            let error = error.without_url();
            let cause = self.endpoint.secrets.scrub(&last_cause(&error));
            let detail = format!("the connection broke in the middle of the answer: {cause}");
            unavailable(&self.endpoint, &detail, Some(error.into()))
        })?;
        if Instant::now() >= within.deadline {
            let detail = "the answer was not complete in time";
            return Err(unavailable(&self.endpoint, detail, None).into());
        }
        let vectors = vectors(&answer, texts.len()).map_err(|problem| {
            let value = serde_json::from_slice::<serde_json::Value>(&answer).unwrap_or_default();
            if value["error"].is_null() {
                return protocol(problem);
            }
            Failure::of_answer(&self.endpoint, None, Said::from_value(&value), None).error
        })?;
        let other = vectors.iter().map(Vec::len).find(|got| wanted > 0 && *got != wanted);
        match other {
            Some(got) => Err(Refusal::Length { got }),
            None => Ok(vectors),
        }
    }

    /// Vectors of a batch, in smaller pieces where the server wants it so.
    async fn batch(&self, mut texts: Vec<String>) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        // Never closed.
        let _permit = self.bulk.acquire().await;
        let mut vectors = Vec::with_capacity(texts.len());
        let mut halvings = 0;
        let mut todo: Vec<Range<usize>> = std::iter::once(0..texts.len()).collect();
        while let Some(part) = todo.pop() {
            let within = within(BATCH_WITHIN, u32::MAX);
            let error = match self.ask(&texts[part.clone()], within).await {
                Ok(found) => {
                    halvings = 0;
                    vectors.extend(found);
                    continue;
                }
                Err(refusal) => refusal,
            };
            let (is_too_long, is_refused) = match &error {
                Refusal::Failed(LanguageModelError::ContextLength { .. }) => (true, false),
                Refusal::Failed(LanguageModelError::Refused { .. }) => (false, true),
                _ => (false, false),
            };
            if (is_too_long || is_refused) && part.len() > 1 {
                let middle = part.start + part.len() / 2;
                if error.is_about_batches() {
                    self.batch_texts_max.fetch_min(part.len() / 2, Ordering::Relaxed);
                }
                todo.extend([middle..part.end, part.start..middle]);
            } else if is_too_long && halvings < HALVINGS_MAX {
                halvings += 1;
                halve(&mut texts[part.start]);
                todo.push(part);
            } else {
                return Err(self.failed(error));
            }
        }
        Ok(vectors)
    }

    fn failed(&self, refusal: Refusal) -> EmbeddingError {
        match refusal {
            Refusal::Failed(error) if error.is_retryable() => {
                EmbeddingError::Unavailable(error.into())
            }
            Refusal::Failed(error) => EmbeddingError::Backend(error.into()),
            Refusal::Length { got } => {
                let (model, want) = (self.info.name.clone(), self.info.dimensions);
                let error = OpenEmbeddingModelError::Dimensions { model, want, got };
                EmbeddingError::Backend(error.into())
            }
        }
    }
}

/// Why there are no vectors.
enum Refusal {
    Failed(LanguageModelError),
    Length { got: usize },
}

impl Refusal {
    /// Whether a server wants fewer texts at a time.
    fn is_about_batches(&self) -> bool {
        matches!(
            self,
            Self::Failed(LanguageModelError::Refused { detail, .. })
                if detail.to_lowercase().contains("batch")
        )
    }
}

impl From<LanguageModelError> for Refusal {
    fn from(error: LanguageModelError) -> Self {
        Self::Failed(error)
    }
}

fn within(time: Duration, attempts_max: u32) -> Within {
    let deadline = Instant::now() + time;
    Within { deadline, first_byte: time, attempts_max, pause_max: Duration::MAX }
}

fn halve(text: &mut String) {
    text.truncate(text.floor_char_boundary(text.len() / 2));
    if text.trim().is_empty() {
        ".".clone_into(text);
    }
}

/// Neighbouring texts that go into one request.
fn batches(texts: Vec<String>, texts_max: usize) -> Vec<Vec<String>> {
    let mut batches: Vec<Vec<String>> = Vec::new();
    let mut bytes = 0;
    for text in texts {
        bytes += text.len();
        match batches.last_mut() {
            Some(batch) if batch.len() < texts_max && bytes <= BATCH_BYTES_MAX => batch.push(text),
            _ => {
                bytes = text.len();
                batches.push(vec![text]);
            }
        }
    }
    batches
}

#[async_trait]
impl EmbeddingModel for OpenAiEmbeddingModel {
    fn info(&self) -> &EmbeddingModelInfo {
        &self.info
    }

    fn tokenizer(&self) -> &dyn Tokenizer {
        &ApproximateTokenizer
    }

    #[tracing::instrument(name = "embed.passages", skip_all, fields(count = texts.len()))]
    async fn embed_passages(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        let texts = texts.iter().map(|text| self.prepared(text)).collect();
        let batches = batches(texts, self.batch_texts_max.load(Ordering::Relaxed));
        let requests = batches.into_iter().map(|batch| self.batch(batch));
        stream::iter(requests).buffered(REQUESTS_PER_CALL).try_concat().await
    }

    #[tracing::instrument(name = "embed.query", skip_all)]
    async fn embed_query(&self, text: &str) -> Result<Vec<f32>, EmbeddingError> {
        let mut text = [self.prepared(text)];
        let within = within(QUERY_WITHIN, QUERY_ATTEMPTS_MAX);
        for _ in 0..HALVINGS_MAX {
            match self.ask(&text, within).await {
                Ok(vectors) => return Ok(vectors.into_iter().next().unwrap_or_default()),
                Err(Refusal::Failed(LanguageModelError::ContextLength { .. })) => {
                    halve(&mut text[0]);
                }
                Err(refusal) => return Err(self.failed(refusal)),
            }
        }
        let vectors = self.ask(&text, within).await.map_err(|refusal| self.failed(refusal))?;
        Ok(vectors.into_iter().next().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::{BATCH_BYTES_MAX, batches, halve};

    #[test]
    fn batches_are_bounded_in_texts_and_bytes() {
        let lengths = |texts: Vec<String>, max| -> Vec<usize> {
            batches(texts, max).iter().map(Vec::len).collect()
        };
        assert_eq!(lengths(vec!["a".to_owned(); 7], 3), [3, 3, 1]);
        let half = "x".repeat(BATCH_BYTES_MAX / 2);
        assert_eq!(lengths(vec![half; 5], 100), [2, 2, 1]);
        assert_eq!(lengths(vec!["x".repeat(BATCH_BYTES_MAX * 2); 2], 100), [1, 1]);
        assert!(lengths(Vec::new(), 3).is_empty());
    }

    #[test]
    fn a_half_is_text_and_not_blank() {
        for (text, half) in [("abcd", "ab"), ("世界", "世"), ("世", "."), ("  ab", "."), ("", ".")]
        {
            let mut text = text.to_owned();
            halve(&mut text);
            assert_eq!(text, half);
        }
    }
}
