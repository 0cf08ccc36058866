//! Sentence embeddings on this machine: all-MiniLM-L6-v2, without a model server.
//!
//! [`MiniLm`] runs the model, [`LocalEmbeddingModel`] is the port's adapter around it, and
//! [`pull()`] brings the model's files to the machine.
//!
//! The encoder is written out here over the matrix kernels of `rten-gemm`, rather than run from a
//! graph: no text is padded, three matrices become one, biases and activations are applied while
//! their rows are still in the cache, and indexing can pause in the middle of a batch for a query.
//! `benches/compare_onnxruntime.py` compares it with ONNX Runtime.

mod embedding_model;
mod encoder;
mod error;
mod mini_lm;
mod model_files;
mod pull;
mod threads;
mod weights;
mod word_pieces;

pub use embedding_model::LocalEmbeddingModel;
pub use encoder::Precision;
pub use error::LoadError;
pub use mini_lm::{MiniLm, MiniLmOptions};
pub use pull::{DEFAULT_HUB, PullError, PullOptions, PullOrigin, PullReport, PullSource, pull};
pub use word_pieces::WordPieces;
