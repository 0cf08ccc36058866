//! What is done with a pair beside its runs.

use chrono::{DateTime, Utc};

use crate::cc_pair::{UnknownValue, wire_values};
use crate::id::{CcPairId, PairTaskId};

/// What a task does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TaskKind {
    /// Takes from the pair what its source no longer has.
    Prune,
    /// Takes everything from the pair, and removes it.
    Deletion,
}

wire_values!(TaskKind, "a task of a pair", Prune = "prune", Deletion = "deletion");

/// A task of a pair, which has at most one.
#[derive(Clone, Debug, PartialEq)]
pub struct PairTask {
    /// Its key, which no other task ever had or will have.
    pub id: PairTaskId,
    /// The pair.
    pub pair: CcPairId,
    /// What it does.
    pub kind: TaskKind,
    /// How often the present step was tried in vain.
    pub tries: u32,
    /// When the present step is tried again, if it waits.
    pub retry_at: Option<DateTime<Utc>>,
    /// What went wrong last, until a step succeeds.
    pub error: Option<String>,
    /// Until when a worker has it.
    pub leased_until: Option<DateTime<Utc>>,
    /// When it began.
    pub created_at: DateTime<Utc>,
    /// When anything of it last changed.
    pub updated_at: DateTime<Utc>,
}

impl PairTask {
    /// Whether a worker is at it.
    #[must_use]
    pub fn is_held(&self, now: DateTime<Utc>) -> bool {
        self.leased_until.is_some_and(|until| until >= now)
    }
}
