//! Queries go first.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Longest pause of a thread for passages between two steps (of about 4 ms), so that indexing
/// crawls instead of stopping under an unbroken stream of queries.
const PAUSE_MAX: Duration = Duration::from_millis(20);

/// Counts the queries that are waiting or under way.
#[derive(Debug, Default)]
pub(crate) struct Priority {
    queries: AtomicUsize,
    lock: Mutex<()>,
    idle: Condvar,
}

/// One query, until it is dropped.
#[derive(Debug)]
pub(crate) struct InFlight(Arc<Priority>);

impl Priority {
    /// Announces a query.
    pub(crate) fn query(self: &Arc<Self>) -> InFlight {
        self.queries.fetch_add(1, Ordering::SeqCst);
        InFlight(Arc::clone(self))
    }

    /// Called by threads for passages between two steps.
    pub(crate) fn let_queries_pass(&self) {
        if self.queries.load(Ordering::SeqCst) == 0 {
            return;
        }
        // The lock guards nothing, so a poisoned one is as good as any.
        let guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = self
            .idle
            .wait_timeout_while(guard, PAUSE_MAX, |()| self.queries.load(Ordering::SeqCst) > 0);
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        if self.0.queries.fetch_sub(1, Ordering::SeqCst) == 1 {
            // Taken so that the notification cannot fall between a waiter's look and its sleep.
            drop(self.0.lock.lock());
            self.0.idle.notify_all();
        }
    }
}
