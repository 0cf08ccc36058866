//! Connectors with their credentials, which a schedule runs.

pub(crate) mod deletion;
pub(crate) mod prune;
pub(crate) mod read;
pub(crate) mod record;
pub(crate) mod write;
