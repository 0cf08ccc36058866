//! The model as the engine sees it.

use async_trait::async_trait;
use trove_domain::port::{EmbeddingError, EmbeddingModel, EmbeddingModelInfo, Tokenizer};

use crate::encoder::{HIDDEN, Precision, WINDOW};
use crate::error::GaveUp;
use crate::mini_lm::MiniLm;

/// all-MiniLM-L6-v2 on the cores of this machine.
#[derive(Debug)]
pub struct LocalEmbeddingModel {
    model: MiniLm,
    info: EmbeddingModelInfo,
}

impl LocalEmbeddingModel {
    /// Name of the vectors: that of the model, and what is made of the states of its tokens.
    /// Vectors of both precisions can be compared, those of another name cannot.
    pub const VECTORS: &str = "all-MiniLM-L6-v2+opening";

    /// Serves `model`.
    #[must_use]
    pub fn new(model: MiniLm) -> Self {
        let info = EmbeddingModelInfo {
            // Vectors of one document must not come from both.
            name: match model.precision() {
                Precision::F32 => Self::VECTORS.to_owned(),
                Precision::Int8 => format!("{}-int8", Self::VECTORS),
            },
            dimensions: HIDDEN,
            window_tokens: WINDOW,
        };
        Self { model, info }
    }
}

#[async_trait]
impl EmbeddingModel for LocalEmbeddingModel {
    fn info(&self) -> &EmbeddingModelInfo {
        &self.info
    }

    fn tokenizer(&self) -> &dyn Tokenizer {
        self.model.tokenizer()
    }

    #[tracing::instrument(name = "embed.passages", skip_all, fields(count = texts.len()))]
    async fn embed_passages(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        self.model.passages(texts.to_vec()).await.map_err(backend)
    }

    #[tracing::instrument(name = "embed.query", skip_all)]
    async fn embed_query(&self, text: &str) -> Result<Vec<f32>, EmbeddingError> {
        self.model.query(text).await.map_err(backend)
    }
}

fn backend(err: GaveUp) -> EmbeddingError {
    EmbeddingError::Backend(err.into())
}
