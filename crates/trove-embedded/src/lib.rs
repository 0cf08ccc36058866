//! [`EmbeddedDocumentIndex`]: the document index inside this process, with no other service.
//!
//! Words and everything that a result shows are in tantivy, which is the system of record; vectors
//! are in Qdrant Edge as well, which finds the nearest ones and can be rebuilt at any time.
//! `docs/adr` says why, with figures.
//!
//! * `writer`: the one thread that changes anything, and the commit that makes it true;
//! * `snapshot`: one consistent state, what a search sees;
//! * `search`: filter, rank, fuse, fetch;
//! * `lexical`, `dense`: the two engines behind a narrow interface each;
//! * `tokens`: access and filters as terms, the same for both;
//! * `format`: what is in the directory.

mod config;
mod dense;
mod error;
mod format;
mod index;
mod lexical;
mod maintenance;
mod search;
mod snapshot;
mod tokens;
mod writer;

pub use config::EmbeddedIndexConfig;
pub use error::IndexDirectoryError;
pub use index::EmbeddedDocumentIndex;
