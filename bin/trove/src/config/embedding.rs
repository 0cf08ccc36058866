use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::llm::{BASE_ADDRESS, KEY, is_base_address};
use super::rule::Rule;
use super::secret::Secret;

/// `[embedding]`: the embedding model.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct EmbeddingSection {
    /// Whether a model is used when there is one. Default true; false saves its memory and
    /// searches by words alone.
    pub enabled: bool,
    /// `local` for the built-in model, or `openai` for a model behind an interface that speaks the
    /// protocol of OpenAI. Default `local`.
    pub provider: EmbeddingProvider,
    /// Base address of that interface. Not set by default: OpenAI's own.
    pub url: Option<String>,
    /// The model there. Needed with `openai`.
    pub model: Option<String>,
    /// Key for the interface.
    pub api_key: Option<Secret>,
    /// File that holds the key, as container platforms provide secrets.
    pub api_key_file: Option<PathBuf>,
    /// Length of the vectors. Default 0: the model's own, which is asked for at the start.
    pub dimensions: usize,
    /// Most tokens of a text that the model takes. Default 512: what small models have, and a good
    /// size of a passage for larger ones.
    pub window_tokens: usize,
    /// Most texts in a request. Default 64: large enough to be quick, and small enough for most
    /// servers.
    pub batch_texts_max: usize,
    /// Directory of the model's files. Not set by default: `models/all-MiniLM-L6-v2` in the data
    /// directory then. Set it to share one copy between data directories.
    pub model_dir: Option<PathBuf>,
    /// Threads that embed documents. Default 0: one for each core.
    pub bulk_threads: usize,
    /// Threads that share the embedding of one query. Default 0: one, because a second one gains
    /// little on a short query and loses when cores are busy.
    pub query_threads: usize,
    /// `f32` as the model was trained, or `int8`, which embeds about twice as fast with
    /// vectors that deviate a little. Default `f32`. A change embeds each document again when it
    /// is next ingested.
    pub precision: EmbeddingPrecision,
}

/// Where the model is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EmbeddingProvider {
    /// In this process.
    Local,
    /// Behind an interface that speaks the protocol of OpenAI.
    OpenAi,
}

/// How the model computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EmbeddingPrecision {
    /// In 32-bit floats.
    F32,
    /// In 8-bit integers.
    Int8,
}

impl Default for EmbeddingSection {
    fn default() -> Self {
        Self {
            enabled: true,
            provider: EmbeddingProvider::Local,
            url: None,
            model: None,
            api_key: None,
            api_key_file: None,
            dimensions: 0,
            window_tokens: 512,
            batch_texts_max: 64,
            model_dir: None,
            bulk_threads: 0,
            query_threads: 0,
            precision: EmbeddingPrecision::F32,
        }
    }
}

pub(super) const RULES: &[Rule] = &[
    Rule { key: "embedding.enabled", accepted: "true or false", holds: |_| true },
    Rule { key: "embedding.provider", accepted: "local or openai", holds: |_| true },
    Rule {
        key: "embedding.url",
        accepted: BASE_ADDRESS,
        holds: |config| config.embedding.url.as_deref().is_none_or(is_base_address),
    },
    Rule {
        key: "embedding.model",
        accepted: "the name of a model, if and only if `embedding.provider` is openai",
        holds: |config| match &config.embedding.model {
            Some(model) => {
                !model.trim().is_empty() && config.embedding.provider == EmbeddingProvider::OpenAi
            }
            None => config.embedding.provider == EmbeddingProvider::Local,
        },
    },
    Rule {
        key: "embedding.api_key",
        accepted: KEY,
        holds: |config| config.embedding.api_key.as_ref().is_none_or(Secret::is_key),
    },
    Rule {
        key: "embedding.api_key_file",
        accepted: "the path of a file, while `embedding.api_key` is not set",
        holds: |config| match &config.embedding.api_key_file {
            Some(file) => !file.as_os_str().is_empty() && config.embedding.api_key.is_none(),
            None => true,
        },
    },
    Rule {
        key: "embedding.dimensions",
        accepted: "a whole number from 0 (the model's own) to 65536",
        holds: |config| config.embedding.dimensions <= 65_536,
    },
    Rule {
        key: "embedding.window_tokens",
        accepted: "a whole number from 32 to 100000",
        holds: |config| (32..=100_000).contains(&config.embedding.window_tokens),
    },
    Rule {
        key: "embedding.batch_texts_max",
        accepted: "a whole number from 1 to 512",
        holds: |config| (1..=512).contains(&config.embedding.batch_texts_max),
    },
    Rule {
        key: "embedding.model_dir",
        accepted: "the path of a directory",
        holds: |config| {
            config.embedding.model_dir.as_ref().is_none_or(|dir| !dir.as_os_str().is_empty())
        },
    },
    Rule {
        key: "embedding.bulk_threads",
        accepted: "a whole number from 0 (one for each core) to 256",
        holds: |config| config.embedding.bulk_threads <= 256,
    },
    Rule {
        key: "embedding.query_threads",
        accepted: "a whole number from 0 (one) to 16",
        holds: |config| config.embedding.query_threads <= 16,
    },
    Rule { key: "embedding.precision", accepted: "f32 or int8", holds: |_| true },
];
