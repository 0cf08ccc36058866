//! Background care for the vectors: comparing after a crash, writing to disk, reorganising.
//!
//! None of it is needed for correct answers, so failures are logged and nothing else.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::dense::{Dense, reconcile};
use crate::error::chain;
use crate::snapshot::Snapshot;

/// Longest time between a write and the note on disk that its vectors need not be restored.
const FLUSH_EVERY: Duration = Duration::from_secs(3);

/// What the thread works with.
pub(crate) struct Maintenance {
    pub dense: Arc<Dense>,
    pub optimize_after: usize,
    /// Set when the index is dropped: long work is not begun any more.
    pub stopping: Arc<AtomicBool>,
}

/// The state to compare the shard with.
pub(crate) struct Comparison {
    pub snapshot: Arc<Snapshot>,
    /// Keys from here on are restored in any case.
    pub trusted: u64,
    /// Keys from here on were not assigned when the snapshot was made.
    pub end: u64,
}

impl Maintenance {
    /// Runs until the sender of `wake` is gone.
    pub(crate) fn run(&self, comparison: Option<Comparison>, wake: &Receiver<()>) {
        if let Some(comparison) = comparison {
            self.compare(&comparison);
        }
        // What was written before the last stop may not have been reorganised yet.
        self.optimize();
        let mut flushed_at = Instant::now();
        loop {
            let connected = match wake.recv_timeout(FLUSH_EVERY) {
                Ok(()) => {
                    while wake.try_recv().is_ok() {}
                    true
                }
                Err(RecvTimeoutError::Timeout) => true,
                Err(RecvTimeoutError::Disconnected) => false,
            };
            if !connected {
                break;
            }
            if self.dense.take_churn(self.optimize_after) {
                self.optimize();
            }
            if flushed_at.elapsed() >= FLUSH_EVERY {
                self.flush();
                flushed_at = Instant::now();
            }
        }
        self.flush();
    }

    #[tracing::instrument(name = "index.dense.compare", skip_all)]
    fn compare(&self, comparison: &Comparison) {
        let Comparison { snapshot, trusted, end } = comparison;
        let carry_on = || !self.stopping.load(Ordering::Relaxed);
        let Dense { shard, dimensions, .. } = &*self.dense;
        match reconcile(snapshot, shard, *dimensions, *trusted, *end, carry_on) {
            Ok((restored, removed)) => {
                if carry_on() {
                    self.dense.verified();
                }
                if restored + removed > 0 {
                    tracing::info!(
                        restored,
                        removed,
                        "vectors were brought in line with the words"
                    );
                }
            }
            Err(error) => tracing::error!(
                error = chain(&*error),
                "the vectors could not be compared with the words; some may not be found"
            ),
        }
    }

    #[tracing::instrument(name = "index.dense.optimize", skip_all)]
    fn optimize(&self) {
        if self.stopping.load(Ordering::Relaxed) {
            return;
        }
        if let Err(error) = self.dense.optimize() {
            tracing::error!(error = chain(&error), "the vectors could not be reorganised");
        }
    }

    fn flush(&self) {
        if let Err(error) = self.dense.flush() {
            tracing::error!(error = chain(&error), "the vectors could not be written to disk");
        }
    }
}
