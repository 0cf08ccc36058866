use std::ops::Range;

use async_trait::async_trait;

use crate::error::{Classify, ErrorKind, Source};

/// What an embedding model is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddingModelInfo {
    /// Name and version; vectors of models with different names are not comparable.
    pub name: String,
    /// Length of its vectors.
    pub dimensions: usize,
    /// Longest input in tokens of its tokenizer, special tokens included; the rest is cut off.
    pub window_tokens: usize,
}

/// Turns text into vectors whose inner product says how alike two texts are.
///
/// # Contract
///
/// * Vectors have [`EmbeddingModelInfo::dimensions`] finite elements and unit length.
/// * The same text gives the same vector, whatever else is in the batch (up to rounding).
/// * Text beyond the window is ignored; empty text has a vector, too.
/// * Queries do not wait for passages.
/// * Cancel-safe: dropping a future gives up the work and changes nothing.
#[async_trait]
pub trait EmbeddingModel: Send + Sync + 'static {
    /// What the model is.
    fn info(&self) -> &EmbeddingModelInfo;

    /// The tokenizer that measures the window.
    fn tokenizer(&self) -> &dyn Tokenizer;

    /// Embeds texts to be found, one vector for each, in input order. No upper bound on the number
    /// of texts; an empty slice gives an empty list.
    async fn embed_passages(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbeddingError>;

    /// Embeds a text to search with.
    async fn embed_query(&self, text: &str) -> Result<Vec<f32>, EmbeddingError>;
}

/// Cuts text into the units that a model's window is measured in.
///
/// # Contract
///
/// * Spans are byte ranges on character boundaries of `text`, one for each token, in order and
///   without overlap. A character that is several tokens is covered by the last of them; the
///   others are empty and stand where it begins.
/// * Nothing is truncated and special tokens are not counted.
/// * Cost is linear in the text, and any text is accepted.
pub trait Tokenizer: Send + Sync {
    /// Where the tokens of `text` are. Characters that carry no token (blanks) are in no span.
    fn spans(&self, text: &str) -> Vec<Range<usize>>;

    /// Number of tokens of `text`.
    fn count(&self, text: &str) -> usize {
        self.spans(text).len()
    }
}

/// Why a text was not embedded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbeddingError {
    /// The model is not there at present; trying again may help.
    #[error("the embedding model is unavailable")]
    Unavailable(#[source] Source),
    /// The model failed; trying again will not help.
    #[error("the embedding model failed")]
    Backend(#[source] Source),
}

impl Classify for EmbeddingError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Unavailable(_) => ErrorKind::Unavailable,
            Self::Backend(_) => ErrorKind::Internal,
        }
    }
}
