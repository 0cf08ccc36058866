use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::rule::Rule;

/// `[embedding]`: the embedding model.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct EmbeddingSection {
    /// Whether a model is used when there is one. Default true; false saves its memory and
    /// searches by words alone.
    pub enabled: bool,
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
            model_dir: None,
            bulk_threads: 0,
            query_threads: 0,
            precision: EmbeddingPrecision::F32,
        }
    }
}

pub(super) const RULES: &[Rule] = &[
    Rule { key: "embedding.enabled", accepted: "true or false", holds: |_| true },
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
