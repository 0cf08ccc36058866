//! Models on this machine, without a model server: sentence embeddings of all-MiniLM-L6-v2, and
//! answers that quote.
//!
//! [`MiniLm`] runs the model, [`LocalEmbeddingModel`] is the port's adapter around it, and
//! [`pull()`] brings the model's files to the machine. [`ExtractiveLanguageModel`] is the language
//! model of a deployment that has none.
//!
//! The encoder is written out here over the matrix kernels of `rten-gemm`, rather than run from a
//! graph: no text is padded, three matrices become one, biases and activations are applied while
//! their rows are still in the cache, and indexing can pause in the middle of a batch for a query.
//! `benches/compare_onnxruntime.py` compares it with ONNX Runtime.

mod embedding_model;
mod encoder;
mod error;
mod extractive;
mod mini_lm;
mod model_files;
mod pull;
mod threads;
mod weights;
mod word_pieces;

pub use embedding_model::LocalEmbeddingModel;
pub use encoder::Precision;
pub use error::LoadError;
pub use extractive::ExtractiveLanguageModel;
pub use mini_lm::{MiniLm, MiniLmOptions};
pub use pull::{DEFAULT_HUB, PullError, PullOptions, PullOrigin, PullReport, PullSource, pull};
pub use word_pieces::WordPieces;
