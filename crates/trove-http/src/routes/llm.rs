//! Providers of language models.

pub(super) mod admin;
pub(super) mod defaults;
pub(super) mod options;
mod records;
pub(super) mod test;
pub(super) mod upsert;
pub(super) mod usable;
