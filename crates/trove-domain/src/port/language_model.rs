use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_core::Stream;
use secrecy::SecretString;

use crate::error::{Classify, ErrorKind, Source};
use crate::llm::{LanguageModelInfo, LlmEvent, LlmRequest};

/// An answer as it comes in.
pub type LlmStream = Pin<Box<dyn Stream<Item = Result<LlmEvent, LanguageModelError>> + Send>>;

/// A large language model that answers.
///
/// # Contract
///
/// * A stream that does not fail ends with exactly one [`LlmEvent::Finished`]; one that fails ends
///   with the error. Nothing follows either.
/// * Text comes in the order it is to be read; joined, it is the answer. Pieces are not empty.
/// * Never more than [`LlmRequest::output_tokens_max`] tokens, never longer than
///   [`LlmRequest::deadline`]. A bound of 0 gives an empty answer that ended for its length.
/// * A conversation without a word may be refused ([`LanguageModelError::Refused`]); nothing else
///   about a text is.
/// * Cancel-safe: dropping the future or the stream ends the work at the provider, too.
/// * Errors and their chains hold no secret.
///
/// The suite `trove_testkit::language_model` is the executable form of this list.
#[async_trait]
pub trait LanguageModel: Send + Sync + 'static {
    /// What the model is.
    fn info(&self) -> &LanguageModelInfo;

    /// Asks the model; the answer begins with the first element of the stream.
    ///
    /// # Errors
    ///
    /// [`LanguageModelError`], when the provider refuses before it answers.
    async fn stream(&self, request: LlmRequest) -> Result<LlmStream, LanguageModelError>;
}

/// Where and how a model is reached.
#[derive(Clone, Debug)]
pub struct LanguageModelEndpoint {
    /// Name of the provider, for messages.
    pub provider: String,
    /// What kind of provider it is: `openai`, `azure`, `ollama` …
    pub kind: String,
    /// Base address of the interface; the kind's own when absent.
    pub api_base: Option<String>,
    /// Key for it.
    pub api_key: Option<SecretString>,
    /// Version of the interface, where the kind has some.
    pub api_version: Option<String>,
    /// Name of the deployment, where the kind has some.
    pub deployment: Option<String>,
    /// Settings of the kind: `organization`, `project`, `reasoning_effort`, `header:<name>`. They
    /// may be secrets. One that the adapter does not know is refused.
    pub custom: BTreeMap<String, SecretString>,
    /// The model.
    pub model: String,
    /// Most tokens of prompt and answer together; the adapter's guess when absent.
    pub context_tokens: Option<usize>,
}

/// Makes models from what an administrator configured.
pub trait LanguageModelFactory: Send + Sync + 'static {
    /// The model at `endpoint`. Nothing is sent.
    ///
    /// # Errors
    ///
    /// [`LanguageModelError::Invalid`] names the setting that cannot work.
    fn open(
        &self,
        endpoint: LanguageModelEndpoint,
    ) -> Result<Arc<dyn LanguageModel>, LanguageModelError>;
}

/// Why a model did not answer, or not to the end. The words are fit for a user.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LanguageModelError {
    /// A setting cannot work.
    #[error("the language model is not configured well: {detail}")]
    Invalid {
        /// Which, and what is wrong with it.
        detail: String,
    },
    /// The provider does not accept the key, or not for this model.
    #[error("{provider} does not accept the key: {detail}")]
    Authentication {
        /// The provider.
        provider: String,
        /// What it said.
        detail: String,
    },
    /// There is no such model, or no such address.
    #[error("{provider} has no model {model}: {detail}")]
    UnknownModel {
        /// The provider.
        provider: String,
        /// The model.
        model: String,
        /// What it said.
        detail: String,
    },
    /// Too many requests, or nothing left to pay them with.
    #[error("{provider} takes no more requests at present: {detail}")]
    Quota {
        /// The provider.
        provider: String,
        /// What it said.
        detail: String,
        /// When it wants to be asked again.
        retry_after: Option<Duration>,
    },
    /// The conversation is too long for the model.
    #[error("the conversation is too long for {model}: {detail}")]
    ContextLength {
        /// The model.
        model: String,
        /// What the provider said.
        detail: String,
    },
    /// The provider refuses the request as it is.
    #[error("{provider} refused the request: {detail}")]
    Refused {
        /// The provider.
        provider: String,
        /// What it said.
        detail: String,
    },
    /// The provider does not answer, or not in time; trying again may help.
    #[error("{provider} is unavailable: {detail}")]
    Unavailable {
        /// The provider.
        provider: String,
        /// What happened.
        detail: String,
        /// Why.
        #[source]
        source: Option<Source>,
    },
    /// The provider answers in a way that is not understood.
    #[error("{provider} gave an answer that is not understood: {detail}")]
    Protocol {
        /// The provider.
        provider: String,
        /// What is wrong with it.
        detail: String,
    },
}

impl LanguageModelError {
    /// Whether the same request may succeed when it is made again.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Quota { .. } | Self::Unavailable { .. } | Self::Protocol { .. })
    }
}

impl Classify for LanguageModelError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Invalid { .. }
            | Self::Authentication { .. }
            | Self::UnknownModel { .. }
            | Self::ContextLength { .. }
            | Self::Refused { .. } => ErrorKind::Invalid,
            Self::Quota { .. } => ErrorKind::RateLimited,
            Self::Unavailable { .. } | Self::Protocol { .. } => ErrorKind::Unavailable,
        }
    }
}
