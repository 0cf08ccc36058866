//! The threads that compute, away from those of the async runtime.
//!
//! Queries and passages have a thread and a queue of their own each. While a query is under way,
//! the threads for passages pause, at the latest after a few milliseconds.

mod bulk;
mod priority;
mod query;

use std::io;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::{self, JoinHandle};

use rayon::ThreadPoolBuilder;

pub(crate) use bulk::Bulk;
pub(crate) use priority::Priority;
pub(crate) use query::Query;

/// Starts a thread for work of this crate.
fn start(name: String, work: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().name(name).spawn(work)
}

/// Makes the matrix products of the current thread use `threads` threads, this one included.
///
/// Without this they would all use rayon's global pool, however many callers there are.
fn keep_products_to(threads: NonZero<usize>) -> Option<rayon::ThreadPool> {
    ThreadPoolBuilder::new()
        .num_threads(threads.get())
        .thread_name(|index| format!("embed-helper-{index}"))
        .use_current_thread()
        .build()
        .inspect_err(|err| tracing::warn!(%err, "matrix products share a global thread pool"))
        .ok()
}

/// Runs `work`; a panic in it is logged, and ends the work instead of the thread.
///
/// The panic's message has been printed by the panic hook by then.
fn contained<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work))
        .inspect_err(|_| tracing::error!("the embedding model panicked; the text gets no vector"))
        .ok()
}
