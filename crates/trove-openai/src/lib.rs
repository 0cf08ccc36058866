//! Language and embedding models behind interfaces that speak the protocol of OpenAI: OpenAI
//! itself, Azure, Ollama, vLLM, LiteLLM, llama.cpp and many others.
//!
//! [`OpenAiLanguageModels`] makes a language model from an endpoint, [`OpenAiEmbeddingModel`] is an
//! embedding model. Requests are the types of `async-openai`. Its client is not used: it reads
//! settings from the environment, panics on a key that no header can hold, buffers lines without
//! bound, logs answers that it cannot read, and its response types refuse what servers other than
//! OpenAI's leave out. So requests go through `reqwest`, the event stream is read here (`sse`),
//! and answers are read leniently (`chunk`).
//!
//! * **Redirects** are not followed: the key would go along.
//! * **Proxies** are those of `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`.
//! * **Retries** happen before the first byte of an answer only ([`RetryPolicy`]).
//! * **Parameters that a server refuses** are sent under their other name, or left out, and the
//!   model remembers that; the bound of the answer's length is never left out.

mod chat_request;
mod chunk;
mod embedding_model;
mod embedding_request;
mod endpoint;
mod failure;
mod guard;
mod language_model;
mod mask;
mod names;
mod reading;
mod retry;
mod secrets;
mod sse;
mod tokens;
mod transport;
mod veil;

pub use embedding_model::{EmbeddingSettings, OpenAiEmbeddingModel, OpenEmbeddingModelError};
pub use language_model::OpenAiLanguageModels;
pub use retry::RetryPolicy;
pub use tokens::ApproximateTokenizer;
pub use transport::{Timeouts, Transport};
