//! Runs of indexing: what one is, and what comes of it.
//!
//! An **attempt** reads a source from its beginning or from a checkpoint, step by step, within a
//! **window** of changes. [`schedule`] decides when one begins and what it covers.
//!
//! Beside them a pair has **tasks** ([`task`]): it is pruned of what the source no longer has, when
//! [`pruning`] says so, and it is deleted.

mod pace;
pub mod pruning;
pub mod schedule;
pub mod task;

pub use pace::Pace;

use chrono::{DateTime, Utc};

use crate::cc_pair::{UnknownValue, wire_values};
use crate::id::{CcPairId, IndexAttemptId};
use crate::port::{ReadWindow, SourceFailure};

/// Where an attempt is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AttemptStatus {
    /// It waits for a worker.
    NotStarted,
    /// It reads, or waits to try a step again.
    InProgress,
    /// Everything was read, and everything that was read was indexed.
    Success,
    /// It was stopped: by somebody, or because configuration or credential do not work.
    Canceled,
    /// It gave up.
    Failed,
    /// Everything was read but for what is listed as failed.
    CompletedWithErrors,
}

wire_values!(
    AttemptStatus,
    "a status of an index attempt",
    NotStarted = "not_started",
    InProgress = "in_progress",
    Success = "success",
    Canceled = "canceled",
    Failed = "failed",
    CompletedWithErrors = "completed_with_errors",
);

impl AttemptStatus {
    /// Whether nothing more comes of it.
    #[must_use]
    pub const fn is_finished(self) -> bool {
        !matches!(self, Self::NotStarted | Self::InProgress)
    }

    /// Whether it read everything there was.
    #[must_use]
    pub const fn is_complete(self) -> bool {
        matches!(self, Self::Success | Self::CompletedWithErrors)
    }
}

/// What somebody asks a pair to do out of turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IndexingTrigger {
    /// To read what has changed.
    Update,
    /// To read everything.
    Reindex,
}

wire_values!(IndexingTrigger, "a trigger", Update = "update", Reindex = "reindex");

/// Why a running attempt is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StopReason {
    /// Somebody paused the pair.
    Paused,
    /// The pair is being deleted.
    Deleting,
}

wire_values!(StopReason, "a reason to stop", Paused = "paused", Deleting = "deleting");

impl StopReason {
    /// What the attempt says of it.
    #[must_use]
    pub const fn told(self) -> &'static str {
        match self {
            Self::Paused => "Connector paused",
            Self::Deleting => "Canceled by user",
        }
    }
}

/// What an attempt has done. What was enumerated is new, updated, unchanged, skipped or failed,
/// and nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// What the source named.
    pub enumerated: u64,
    /// Documents that the index did not know.
    pub new: u64,
    /// Documents that it knew otherwise.
    pub updated: u64,
    /// Documents that it knew as they are.
    pub unchanged: u64,
    /// What is no document by the rules of the source, or has nothing to find.
    pub skipped: u64,
    /// What was not read or not indexed; each has an error.
    pub failed: u64,
}

impl Progress {
    /// How many documents of it the index holds.
    #[must_use]
    pub const fn indexed(&self) -> u64 {
        self.new + self.updated + self.unchanged
    }

    /// Whether every enumerated thing is accounted for.
    #[must_use]
    pub const fn adds_up(&self) -> bool {
        self.enumerated == self.indexed() + self.skipped + self.failed
    }

    /// Whether so much fails that going on is pointless: more than three, and more than a tenth.
    #[must_use]
    pub const fn is_hopeless(&self) -> bool {
        self.failed > 3 && self.failed * 10 > self.indexed() + self.failed
    }
}

impl std::ops::AddAssign for Progress {
    fn add_assign(&mut self, other: Self) {
        self.enumerated += other.enumerated;
        self.new += other.new;
        self.updated += other.updated;
        self.unchanged += other.unchanged;
        self.skipped += other.skipped;
        self.failed += other.failed;
    }
}

/// A run of indexing.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexAttempt {
    /// Its key.
    pub id: IndexAttemptId,
    /// What it indexes.
    pub pair: CcPairId,
    /// Whether somebody asked for everything.
    pub from_beginning: bool,
    /// Where it is in its life.
    pub status: AttemptStatus,
    /// The changes that it is about.
    pub window: ReadWindow,
    /// Why it is to end, or ended, when somebody asked for it.
    pub stop: Option<StopReason>,
    /// Steps that are done.
    pub steps: u32,
    /// What it has done.
    pub progress: Progress,
    /// How often the present step was tried in vain.
    pub tries: u32,
    /// When the present step is tried again, if it waits.
    pub retry_at: Option<DateTime<Utc>>,
    /// What went wrong last.
    pub error: Option<String>,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When a worker first took it.
    pub started_at: Option<DateTime<Utc>>,
    /// When anything of it last changed.
    pub updated_at: DateTime<Utc>,
}

/// Something that an attempt could not read or index.
#[derive(Clone, Debug, PartialEq)]
pub struct AttemptError {
    /// Its number.
    pub id: i32,
    /// The attempt.
    pub attempt: IndexAttemptId,
    /// The pair.
    pub pair: CcPairId,
    /// What, and why.
    pub failure: SourceFailure,
    /// Whether it has been read and indexed since.
    pub resolved: bool,
    /// When it happened.
    pub created_at: DateTime<Utc>,
}

#[cfg(test)]
mod tests {
    use super::{AttemptStatus, Progress};

    #[test]
    fn rows_56_and_57_more_than_three_and_more_than_a_tenth_is_hopeless() {
        let of = |failed, all: u64| {
            let progress = Progress { failed, new: all - failed, ..Progress::default() };
            progress.is_hopeless()
        };
        assert!(!of(4, 40) && of(5, 40));
        assert!(!of(3, 3) && of(4, 4) && !of(0, 0));
        assert!(!of(100, 1000) && of(101, 1000));
    }

    #[test]
    fn what_is_enumerated_is_accounted_for() {
        let mut progress = Progress { enumerated: 3, new: 1, skipped: 2, ..Progress::default() };
        assert!(progress.adds_up());
        progress += Progress { enumerated: 2, failed: 1, unchanged: 1, ..Progress::default() };
        assert!(progress.adds_up());
        assert_eq!((progress.enumerated, progress.indexed()), (5, 2));
        progress.enumerated += 1;
        assert!(!progress.adds_up());
    }

    #[test]
    fn statuses_read_back() {
        use AttemptStatus::{
            Canceled, CompletedWithErrors, Failed, InProgress, NotStarted, Success,
        };
        for status in [NotStarted, InProgress, Success, Canceled, Failed, CompletedWithErrors] {
            assert_eq!(status.as_str().parse(), Ok(status));
        }
        assert!("cancelled".parse::<AttemptStatus>().is_err());
        assert!(Failed.is_finished() && !InProgress.is_finished());
        assert!(CompletedWithErrors.is_complete() && !Canceled.is_complete());
    }
}
