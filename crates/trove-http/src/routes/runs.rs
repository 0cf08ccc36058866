//! Runs of indexing: asked for, listed, and summed up.

pub(crate) mod attempts;
pub(crate) mod failing;
pub(crate) mod run_once;
pub(crate) mod statuses;
