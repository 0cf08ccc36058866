//! Connectors: descriptions of what is read.

pub(crate) mod files;
pub(crate) mod read;
pub(crate) mod record;
pub(crate) mod write;
