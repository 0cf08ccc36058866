//! The audit log in files.
//!
//! * A folder holds the files, each named by the number of its first line. The last one grows; when
//!   it is large enough the next one begins.
//! * A line is a JSON object. Its `hash` is the SHA-256 of the line before (that one's hash) and of
//!   everything else that the line says, so that no line can be changed, removed, moved or added
//!   without breaking the chain from there on.
//! * The file `head` holds number and hash of the last line that was answered for: without it nobody
//!   would miss the last lines. It is also what writers lock, one at a time, whichever process they
//!   are in.
//! * Half a line at the end is what a crash leaves. It was never answered for: the next writer cuts
//!   it off and says so in the log itself.
//!
//! Whoever may write the files can make a whole new chain. Against that helps only what is kept
//! elsewhere: a copy of the files, or the hash of one line ([`Verified::head`]), which
//! [`verify`] looks for.
#![deny(missing_docs)]

mod error;
mod files;
mod line;
mod log;
mod tail;
mod verify;

pub use error::OpenError;
pub use line::Hash;
pub use log::{AuditConfig, FileAuditLog, Sync, read};
pub use verify::{Broken, Verified, verify};
