//! What sources say of who may read: of documents in `access`, its fetching in `sync`, and what a step
//! of that has told in `record`.

mod access;
mod forget;
mod record;
mod statements;
mod sync;

pub(crate) use access::{AccessRow, StoredAccess, external_access, write_access};
pub(crate) use forget::{forget_access, forget_members};
pub(crate) use statements::UpsertAccess;

/// What stands for everybody among the members of a group. It is nobody's address.
pub(crate) const EVERYBODY: &str = "";
