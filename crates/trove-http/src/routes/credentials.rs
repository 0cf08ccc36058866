//! Credentials: what sources are read with.

pub(crate) mod private_key;
pub(crate) mod read;
pub(crate) mod record;
pub(crate) mod write;
