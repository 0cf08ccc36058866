//! The vectors, in Qdrant Edge: a derivative of the words.
//!
//! Edge 0.7 writes a log and never reads it: what it holds after a crash is what the last flush
//! wrote, or more. It is therefore never the only place of anything. Vectors are stored with the
//! words too, a flush is only a head start for the next start, and an unreadable shard is built
//! again.

mod reconcile;
mod schema;
mod shard;

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) use reconcile::{reconcile, vectors_from};
pub(crate) use shard::{DenseError, DensePoint, DenseShard};

use crate::error::{IndexDirectoryError, chain};
use crate::format::{DenseState, Layout};

/// Form of the points; a shard of another form is built again from the words.
const DENSE_FORMAT: u32 = 2;

/// The shard and how far it follows the words.
pub(crate) struct Dense {
    layout: Layout,
    pub shard: DenseShard,
    pub dimensions: usize,
    progress: Mutex<Progress>,
    /// Held while the shard is reorganised, which is done once at a time.
    reorganising: Mutex<()>,
}

/// How far the shard follows the words.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    /// All vectors with a smaller key were handed to the shard.
    next_key: u64,
    /// The commit that the shard follows.
    opstamp: u64,
    /// Points written or removed since the last optimisation.
    churn: usize,
    /// Whether the shard holds something that is not on disk.
    unflushed: bool,
    /// Points that are replaced, yet still there.
    garbage: usize,
    /// Whether the shard may hold or miss other points than that.
    unverified: bool,
    /// Whether the shard refused an update: what it holds is not what it was told.
    failed: bool,
}

impl Dense {
    /// Opens the shard of an index whose latest commit is `opstamp`; a shard that cannot be opened
    /// is replaced by an empty one, to be filled from the words.
    ///
    /// Returns from which key on the shard has to be given its vectors again.
    pub(crate) fn open(
        layout: &Layout,
        dimensions: usize,
        opstamp: u64,
    ) -> Result<(Self, u64), DenseError> {
        let path = layout.dense();
        let mut state = layout.read_dense_state();
        let opened = match open_shard(&path, dimensions, state, opstamp) {
            Ok(opened) => opened,
            Err(error) => {
                tracing::warn!(
                    error = chain(&error),
                    path = %path.display(),
                    "the vectors cannot be opened and are restored from the words"
                );
                None
            }
        };
        let shard = if let Some(shard) = opened {
            shard
        } else {
            state = DenseState::default();
            DenseShard::create(&path, dimensions)?
        };
        let progress = Progress {
            next_key: state.flushed_key,
            opstamp,
            unverified: state.settled_at != Some(opstamp),
            ..Progress::default()
        };
        let this = Self {
            layout: layout.clone(),
            shard,
            dimensions,
            progress: Mutex::new(progress),
            reorganising: Mutex::default(),
        };
        Ok((this, state.flushed_key))
    }

    /// Whether the shard has to be compared with the words.
    pub(crate) fn is_unverified(&self) -> bool {
        self.progress().unverified
    }

    /// The comparison is done.
    pub(crate) fn verified(&self) {
        let mut progress = self.progress();
        progress.unverified = false;
        progress.unflushed = true;
    }

    /// Adds the vectors of a commit.
    pub(crate) fn follow(
        &self,
        points: Vec<DensePoint>,
        next_key: u64,
        opstamp: u64,
    ) -> Result<(), DenseError> {
        let written = points.len();
        let outcome = self.shard.upsert(points);
        let mut progress = self.progress();
        progress.churn += written;
        progress.unflushed = true;
        progress.failed |= outcome.is_err();
        progress.next_key = next_key;
        progress.opstamp = opstamp;
        outcome
    }

    /// Removes points that no search can find any more.
    pub(crate) fn forget(&self, keys: &[u64]) -> Result<(), DenseError> {
        let outcome = self.shard.remove(keys);
        let mut progress = self.progress();
        progress.churn += keys.len();
        progress.unflushed = true;
        progress.garbage = progress.garbage.saturating_sub(keys.len());
        outcome
    }

    /// Points that [`Self::forget`] will be asked for.
    pub(crate) fn expect_garbage(&self, keys: usize) {
        self.progress().garbage += keys;
    }

    /// Merges segments, builds graphs, shortens the log.
    pub(crate) fn optimize(&self) -> Result<(), DenseError> {
        let _alone = self.reorganising.lock().unwrap_or_else(PoisonError::into_inner);
        self.shard.optimize()?;
        self.shard.shorten_log()
    }

    /// Whether so much has changed that an optimisation pays; asking resets the count.
    pub(crate) fn take_churn(&self, threshold: usize) -> bool {
        let mut progress = self.progress();
        let due = progress.churn >= threshold;
        if due {
            progress.churn = 0;
        }
        due
    }

    /// Writes the shard to disk and notes how far it is.
    pub(crate) fn flush(&self) -> Result<(), FlushError> {
        // Before the flush: what is written meanwhile may be on disk, this much certainly is.
        let before = {
            let mut progress = self.progress();
            let before = *progress;
            progress.unflushed = false;
            before
        };
        if !before.unflushed || before.failed {
            return Ok(());
        }
        let settled = before.garbage == 0 && !before.unverified;
        let written = self.shard.flush().map_err(FlushError::from).and_then(|()| {
            let state = DenseState {
                format: DENSE_FORMAT,
                flushed_key: before.next_key,
                settled_at: settled.then_some(before.opstamp),
                points: self.shard.points()?,
            };
            self.layout.write_dense_state(state).map_err(FlushError::from)
        });
        if written.is_err() {
            self.progress().unflushed = true;
        }
        written
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The shard in `path`, if there is one and it is what `state` says.
fn open_shard(
    path: &Path,
    dimensions: usize,
    state: DenseState,
    opstamp: u64,
) -> Result<Option<DenseShard>, DenseError> {
    let Some(shard) = DenseShard::open(path, dimensions)? else { return Ok(None) };
    if state.format != DENSE_FORMAT {
        return Ok(None);
    }
    let points = shard.points()?;
    if state.describes(points, opstamp) {
        return Ok(Some(shard));
    }
    tracing::warn!(
        points,
        expected = state.points,
        path = %path.display(),
        "vectors are missing and are restored from the words"
    );
    Ok(None)
}

/// Why the vectors could not be written to disk.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FlushError {
    #[error(transparent)]
    Shard(#[from] DenseError),
    #[error(transparent)]
    State(#[from] IndexDirectoryError),
}
