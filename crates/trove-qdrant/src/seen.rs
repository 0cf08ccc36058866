//! Which version of a document was current at some time: evidence, not truth.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use uuid::Uuid;

use crate::payload::Version;

/// Documents that are remembered; beyond, everything is forgotten, which costs a search two more
/// calls.
const DOCUMENTS_MAX: usize = 100_000;

/// Heads that this process has read, with when.
///
/// A version is drawn once and never becomes current again after another one was. So if it was
/// current before a ranking and is current after it, it was current all the time between, with all
/// its chunks. This is what remembers the "before".
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// Counts searches: a clock that needs no clock.
    searches: AtomicU64,
    heads: Mutex<HashMap<Uuid, Sighting>>,
}

#[derive(Clone, Copy, Debug)]
struct Sighting {
    version: Version,
    /// Searches that had begun when it was first seen.
    at: u64,
}

/// The instant a search began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start(u64);

impl Seen {
    /// Has to be called before anything is ranked.
    pub(crate) fn start(&self) -> Start {
        Start(self.searches.fetch_add(1, Ordering::SeqCst))
    }

    /// Remembers that `version` was current for the head `head` at some time before this call.
    pub(crate) fn note(&self, heads: impl IntoIterator<Item = (Uuid, Version)>) {
        let at = self.searches.load(Ordering::SeqCst);
        let mut known = self.heads.lock().unwrap_or_else(PoisonError::into_inner);
        for (head, version) in heads {
            if known.get(&head).is_some_and(|sighting| sighting.version == version) {
                // The first sighting is worth most.
                continue;
            }
            if known.len() >= DOCUMENTS_MAX {
                known.clear();
            }
            known.insert(head, Sighting { version, at });
        }
    }

    /// The version of `head` that was current at some time before `start`, if one is remembered.
    pub(crate) fn before(&self, start: Start, head: Uuid) -> Option<Version> {
        let known = self.heads.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&head).filter(|sighting| sighting.at <= start.0).map(|sighting| sighting.version)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::Seen;

    const HEAD: Uuid = Uuid::from_u128(1);
    const OLD: Uuid = Uuid::from_u128(2);
    const NEW: Uuid = Uuid::from_u128(3);

    #[test]
    fn what_was_seen_after_the_start_is_no_evidence() {
        let seen = Seen::default();
        let early = seen.start();
        assert_eq!(seen.before(early, HEAD), None);
        seen.note([(HEAD, OLD)]);
        assert_eq!(seen.before(early, HEAD), None);
        let late = seen.start();
        assert_eq!(seen.before(late, HEAD), Some(OLD));
    }

    #[test]
    fn the_first_sighting_of_a_version_counts_and_the_latest_version_stays() {
        let seen = Seen::default();
        seen.note([(HEAD, OLD)]);
        let start = seen.start();
        seen.note([(HEAD, OLD)]);
        assert_eq!(seen.before(start, HEAD), Some(OLD));
        seen.note([(HEAD, NEW)]);
        assert_eq!(seen.before(start, HEAD), None);
        assert_eq!(seen.before(seen.start(), HEAD), Some(NEW));
    }
}
