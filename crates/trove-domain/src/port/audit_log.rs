use async_trait::async_trait;

use crate::audit::{AuditEntry, NumberedEntry};
use crate::error::Source;

/// Why the audit log was not written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditLogError {
    /// It cannot be written or read at present.
    #[error("the audit log cannot be {done}")]
    Unavailable {
        /// `written` or `read`.
        done: &'static str,
        /// Why.
        #[source]
        source: Source,
    },
    /// What is there is not what was written.
    #[error("the audit log is damaged: {0}")]
    Damaged(String),
}

/// What is done by whom, in order and for good.
///
/// # Contract
///
/// * Entries are numbered from 1 without a gap, in the order of their calls that answer.
/// * An entry that was answered for is kept, also after the process is killed in the next instant.
///   An adapter may let an operator decide that this holds only for what has to be recorded.
/// * Nothing is changed or removed.
/// * A call that is dropped leaves its entry whole or not at all.
#[async_trait]
pub trait AuditLog: Send + Sync + 'static {
    /// Adds an entry; answers its number.
    async fn append(&self, entry: AuditEntry) -> Result<u64, AuditLogError>;

    /// Entries by rising number, at most `limit` after number `after`.
    async fn list(&self, after: u64, limit: u32) -> Result<Vec<NumberedEntry>, AuditLogError>;
}
