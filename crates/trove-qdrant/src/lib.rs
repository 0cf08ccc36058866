//! [`QdrantDocumentIndex`]: the document index on a Qdrant server.
//!
//! One collection holds everything: chunks with a dense and a sparse vector, and one head for each
//! document, which names the version of it that counts. `docs/adr` says how documents change as a
//! whole on a server without transactions.
//!
//! * `connection`: the channel, the key, timeouts and retries;
//! * `collection`: what is made, checked and brought up to date at the start;
//! * `head`, `chunk`, `intent`: the three kinds of points, the only files that know their form;
//! * `words`: text as sparse vectors; `filter`: access and filters as conditions;
//! * `write`: stage, publish, retire; `sweep`: what lost writers left behind;
//! * `search`: rank, prove that what was ranked is current, fetch; `ranges`: fetch alone.

mod candidates;
mod chunk;
mod collection;
mod config;
mod connection;
mod contents;
mod error;
mod filter;
mod head;
mod index;
mod intent;
mod payload;
mod ranges;
mod search;
mod seen;
mod sweep;
mod words;
mod write;

pub use config::QdrantIndexConfig;
pub use error::OpenError;
pub use index::QdrantDocumentIndex;
