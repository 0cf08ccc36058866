//! Groups of users.

pub(crate) mod read;
pub(crate) mod record;
pub(crate) mod write;
