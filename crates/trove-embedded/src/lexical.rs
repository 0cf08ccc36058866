//! The words and everything that a result shows, in tantivy: the system of record.

pub(crate) mod allowed;
pub(crate) mod analysis;
pub(crate) mod record;
pub(crate) mod schema;
pub(crate) mod scoring;
mod word_weight;
