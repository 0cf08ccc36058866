//! When a pair is pruned.

use chrono::{DateTime, TimeDelta, Utc};

use crate::cc_pair::CcPairStatus;

/// No pair is pruned more often, whatever its connector says.
const PAUSE_MIN_S: u32 = 60;

/// What decides whether a pair is pruned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each decides by itself, and is read by itself")]
pub struct PruneSchedule {
    /// Where the pair is in its life.
    pub status: CcPairStatus,
    /// Whether the schedule runs it at all.
    pub is_scheduled: bool,
    /// Whether somebody asks for it.
    pub is_requested: bool,
    /// How long after a pruning the next one is due, in seconds; never, when `None`.
    pub prune_freq_s: Option<u32>,
    /// Whether it was ever indexed.
    pub was_indexed: bool,
    /// When it was last pruned; when its connector was made, if it never was.
    pub last: DateTime<Utc>,
    /// Whether a run is under way. What it reads with an older configuration would come back.
    pub is_indexing: bool,
    /// Whether it is being pruned or deleted.
    pub has_task: bool,
}

impl PruneSchedule {
    /// Whether it is to be pruned now.
    #[must_use]
    pub fn is_due(&self, now: DateTime<Utc>) -> bool {
        let may = self.is_scheduled && self.status == CcPairStatus::Active && !self.is_indexing;
        let again = self.was_indexed
            && self.prune_freq_s.is_some_and(|seconds| {
                now - self.last >= TimeDelta::seconds(i64::from(seconds.max(PAUSE_MIN_S)))
            });
        may && !self.has_task && (self.is_requested || again)
    }
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, Utc};

    use super::PruneSchedule;
    use crate::cc_pair::CcPairStatus;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp_secs(1_767_225_600 + seconds).unwrap()
    }

    /// A pair that was indexed and pruned, and is pruned every hour.
    fn pruned() -> PruneSchedule {
        PruneSchedule {
            status: CcPairStatus::Active,
            is_scheduled: true,
            is_requested: false,
            prune_freq_s: Some(3600),
            was_indexed: true,
            last: at(0),
            is_indexing: false,
            has_task: false,
        }
    }

    fn asked() -> PruneSchedule {
        PruneSchedule { is_requested: true, prune_freq_s: None, was_indexed: false, ..pruned() }
    }

    #[test]
    fn a_pair_is_pruned_again_when_its_time_has_come_and_when_somebody_asks() {
        assert!(!pruned().is_due(at(3599)));
        assert!(pruned().is_due(at(3600)));
        assert!(asked().is_due(at(0)));
        let never = PruneSchedule { prune_freq_s: None, ..pruned() };
        assert!(!never.is_due(at(9_999_999)));
        let unread = PruneSchedule { was_indexed: false, ..pruned() };
        assert!(!unread.is_due(at(9_999_999)));
    }

    #[test]
    fn no_frequency_makes_it_go_on_without_a_pause() {
        let always = PruneSchedule { prune_freq_s: Some(0), ..pruned() };
        assert!(!always.is_due(at(59)));
        assert!(always.is_due(at(60)));
    }

    #[test]
    fn row_60_what_is_not_active_is_not_pruned() {
        use CcPairStatus::{Deleting, InitialIndexing, Invalid, Paused, Scheduled};
        for due in [pruned(), asked()] {
            for status in [Deleting, InitialIndexing, Invalid, Paused, Scheduled] {
                assert!(!PruneSchedule { status, ..due }.is_due(at(9999)), "{status:?}");
            }
            assert!(!PruneSchedule { is_scheduled: false, ..due }.is_due(at(9999)));
            assert!(!PruneSchedule { is_indexing: true, ..due }.is_due(at(9999)));
            assert!(!PruneSchedule { has_task: true, ..due }.is_due(at(9999)));
        }
    }
}
