//! Runs of indexing: begun by the schedule, worked on step by step.
//!
//! A run is a row of the database that a worker holds by a lease. After each step, what the step has
//! done and where the source goes on are recorded together. Meanwhile the source is read on, a
//! little ahead. So a crash, a restart or another process costs what was not recorded, which is read
//! again, and reading a document twice changes nothing. A source that does not answer gives its place to others and is
//! tried again later; one that is large gives it up after a while.
//!
//! Prunings and deletions of pairs are worked on in the same manner, beside the runs.

mod deletion;
mod left_out;
mod open;
mod permissions;
mod prune;
mod reader;
mod run;
mod running;
mod schedule;
mod tally;
mod tasks;
mod watch;
mod worker;

use std::time::Duration;

/// What an operator decides about runs.
#[derive(Clone, Copy, Debug)]
pub struct IndexingConfig {
    /// Most runs of this process at the same time. Most of what they do is waiting for sources.
    pub runs_max: usize,
    /// Most of them that read the same kind of system.
    pub runs_per_source_max: usize,
    /// A run that is silent for this long is taken over.
    pub lease: Duration,
    /// How long a source may take for one step.
    pub step_timeout: Duration,
    /// How long a run goes on before another one may have its place.
    pub slice: Duration,
    /// How often a step is tried before its run has failed.
    pub tries_max: u32,
    /// How long the first wait is after a step that failed. Each further one is twice as long.
    pub retry_first: Duration,
    /// How long such a wait is at most.
    pub retry_max: Duration,
    /// How long after permissions were fetched they are fetched again.
    pub permission_interval: Duration,
}

/// The longest pause that a source is given.
const PAUSE_MAX: Duration = Duration::from_hours(24);

impl IndexingConfig {
    /// How long to wait after a step has failed so many times before this one, for a source that may
    /// have asked for a pause.
    fn wait(&self, tries: u32, asked: Option<Duration>) -> Duration {
        let doubled = 1_u32.checked_shl(tries).unwrap_or(u32::MAX);
        let wait = self.retry_first.saturating_mul(doubled).min(self.retry_max);
        // A source that asks for a pause gets it, within reason.
        wait.max(asked.unwrap_or_default().min(PAUSE_MAX))
    }
}

impl Default for IndexingConfig {
    fn default() -> Self {
        Self {
            runs_max: 16,
            runs_per_source_max: 8,
            lease: Duration::from_secs(15),
            step_timeout: Duration::from_mins(5),
            slice: Duration::from_secs(30),
            tries_max: 5,
            retry_first: Duration::from_secs(5),
            retry_max: Duration::from_mins(5),
            permission_interval: Duration::from_mins(5),
        }
    }
}

/// Most prunings and deletions of this process at the same time.
const TASKS_MAX: usize = 4;

/// How often a run says that it goes on.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// Days for which finished runs are kept, but for the latest.
const KEEP_DAYS: i64 = 8;

/// What the errors of runs begin with whose configuration or credential does not work.
pub const VALIDATION_PREFIX: &str = "Connector validation error: ";
