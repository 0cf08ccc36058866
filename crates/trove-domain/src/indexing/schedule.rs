//! When a run begins, and what it covers.

use chrono::{DateTime, TimeDelta, Utc};

use super::{AttemptStatus, IndexingTrigger};
use crate::cc_pair::CcPairStatus;
use crate::port::ReadWindow;

/// Runs that fail in a row make a pair that is refreshed a failing one.
pub const REPEATED_FAILURES: usize = 5;

/// A window begins so long before the end of the last one: clocks differ, and sources index late.
const OVERLAP: TimeDelta = TimeDelta::minutes(30);

/// The last run of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastRun {
    /// What came of it.
    pub status: AttemptStatus,
    /// The changes that it was about.
    pub window: ReadWindow,
    /// When anything of it last changed.
    pub updated_at: DateTime<Utc>,
}

/// What decides about the next run of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Where the pair is in its life.
    pub status: CcPairStatus,
    /// Whether the schedule runs it at all.
    pub is_scheduled: bool,
    /// What somebody asks for.
    pub trigger: Option<IndexingTrigger>,
    /// How long after a run the next one is due, in seconds; never, when `None`.
    pub refresh_freq_s: Option<u32>,
    /// No change before this is read.
    pub indexing_start: Option<DateTime<Utc>>,
    /// Whether the last runs all failed.
    pub in_repeated_error_state: bool,
    /// The last run, whatever came of it.
    pub last: Option<LastRun>,
    /// Where the window of the last successful run ended.
    pub last_success_end: Option<DateTime<Utc>>,
}

/// A run to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunPlan {
    /// Whether somebody asked for everything.
    pub from_beginning: bool,
    /// The changes that it is about.
    pub window: ReadWindow,
    /// Whether it goes on where the last one ended.
    pub resumes: bool,
}

impl Schedule {
    /// The run that is due now, if one is.
    #[must_use]
    pub fn due(&self, now: DateTime<Utc>) -> Option<RunPlan> {
        if self.last.is_some_and(|last| !last.status.is_finished()) || !self.is_scheduled {
            return None;
        }
        match self.status {
            CcPairStatus::Scheduled | CcPairStatus::InitialIndexing | CcPairStatus::Active => {}
            CcPairStatus::Paused | CcPairStatus::Deleting | CcPairStatus::Invalid => return None,
        }
        let is_due = self.trigger.is_some() || self.last.is_none_or(|last| self.again(last, now));
        is_due.then(|| self.plan(now))
    }

    fn again(&self, last: LastRun, now: DateTime<Utc>) -> bool {
        let Some(refresh) = self.refresh_freq_s else { return false };
        if self.status == CcPairStatus::InitialIndexing && !self.in_repeated_error_state {
            return true;
        }
        now - last.updated_at >= TimeDelta::seconds(i64::from(refresh))
    }

    fn plan(&self, now: DateTime<Utc>) -> RunPlan {
        let from_beginning = self.trigger == Some(IndexingTrigger::Reindex);
        let epoch = DateTime::UNIX_EPOCH;
        let earliest = self.indexing_start.unwrap_or(epoch);
        let base =
            if from_beginning { earliest } else { self.last_success_end.unwrap_or(earliest) };
        let start = (base - OVERLAP).max(epoch);
        // What was not read to its end is read to the same end.
        let interrupted = self.last.filter(|last| !last.status.is_complete());
        let resumes = !from_beginning && interrupted.is_some();
        let end = interrupted.filter(|_| resumes).map_or(now, |last| last.window.end);
        RunPlan { from_beginning, window: ReadWindow { start, end: end.max(start) }, resumes }
    }
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, TimeDelta, Utc};

    use super::{LastRun, RunPlan, Schedule};
    use crate::cc_pair::CcPairStatus;
    use crate::indexing::AttemptStatus::{
        self, Canceled, CompletedWithErrors, Failed, InProgress, NotStarted, Success,
    };
    use crate::indexing::IndexingTrigger;
    use crate::port::ReadWindow;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp_secs(1_767_225_600 + seconds).unwrap()
    }

    /// A pair that is refreshed every hour and never ran.
    fn new() -> Schedule {
        Schedule {
            status: CcPairStatus::Scheduled,
            is_scheduled: true,
            trigger: None,
            refresh_freq_s: Some(3600),
            indexing_start: None,
            in_repeated_error_state: false,
            last: None,
            last_success_end: None,
        }
    }

    /// The same after a run that ended at 0.
    fn after(status: AttemptStatus) -> Schedule {
        let window = ReadWindow { start: DateTime::UNIX_EPOCH, end: at(-60) };
        let last = Some(LastRun { status, window, updated_at: at(0) });
        let last_success_end = (status == Success).then_some(at(-60));
        Schedule { status: CcPairStatus::Active, last, last_success_end, ..new() }
    }

    fn window(start: DateTime<Utc>, end: DateTime<Utc>) -> ReadWindow {
        ReadWindow { start, end }
    }

    #[test]
    fn a_pair_runs_at_once_and_then_when_it_is_refreshed() {
        let expected = RunPlan {
            from_beginning: false,
            window: window(DateTime::UNIX_EPOCH, at(5)),
            resumes: false,
        };
        assert_eq!(new().due(at(5)), Some(expected));
        for status in [Success, CompletedWithErrors, Failed, Canceled] {
            assert_eq!(after(status).due(at(3599)), None, "{status:?}");
            assert!(after(status).due(at(3600)).is_some(), "{status:?}");
        }
        for status in [NotStarted, InProgress] {
            assert_eq!(after(status).due(at(9_999_999)), None, "{status:?}");
        }
        let once = Schedule { refresh_freq_s: None, ..after(Failed) };
        assert_eq!(once.due(at(9_999_999)), None, "row 52: nothing tries it again");
    }

    #[test]
    fn row_12_what_is_stopped_runs_for_nothing() {
        use CcPairStatus::{Deleting, Invalid, Paused};
        let asked = Schedule { trigger: Some(IndexingTrigger::Update), ..after(Success) };
        assert!(asked.due(at(1)).is_some());
        for status in [Deleting, Invalid, Paused] {
            assert_eq!(Schedule { status, ..asked }.due(at(1)), None, "{status:?}");
            assert_eq!(Schedule { status, ..new() }.due(at(1)), None, "{status:?}");
        }
        assert_eq!(Schedule { is_scheduled: false, ..asked }.due(at(1)), None);
        let running = Schedule { last: after(InProgress).last, ..asked };
        assert_eq!(running.due(at(1)), None, "row 11");
    }

    #[test]
    fn the_first_run_is_tried_again_at_once_until_it_fails_for_good() {
        let initial = Schedule { status: CcPairStatus::InitialIndexing, ..after(Failed) };
        assert!(initial.due(at(1)).is_some());
        let failing = Schedule { in_repeated_error_state: true, ..initial };
        assert_eq!(failing.due(at(1)), None);
        assert!(failing.due(at(3600)).is_some());
    }

    #[test]
    fn row_54_a_window_begins_before_the_last_one_ended() {
        let plan = after(Success).due(at(3600)).unwrap();
        assert_eq!(plan.window, window(at(-60) - TimeDelta::minutes(30), at(3600)));
        assert!(!plan.resumes);
    }

    #[test]
    fn row_53_errors_do_not_move_the_window() {
        let mut schedule = after(CompletedWithErrors);
        schedule.last_success_end = Some(at(-9000));
        let plan = schedule.due(at(3600)).unwrap();
        assert_eq!(plan.window, window(at(-9000) - TimeDelta::minutes(30), at(3600)));
        assert!(!plan.resumes, "everything was read");
        schedule.last_success_end = None;
        assert_eq!(schedule.due(at(3600)).unwrap().window.start, DateTime::UNIX_EPOCH);
    }

    #[test]
    fn row_55_what_was_interrupted_goes_on_to_the_same_end() {
        for status in [Failed, Canceled] {
            let plan = after(status).due(at(3600)).unwrap();
            assert!(plan.resumes, "{status:?}");
            assert_eq!(plan.window.end, at(-60), "{status:?}");
            let reindex = Schedule { trigger: Some(IndexingTrigger::Reindex), ..after(status) };
            let plan = reindex.due(at(1)).unwrap();
            assert!(!plan.resumes && plan.from_beginning, "{status:?}");
            assert_eq!(plan.window, window(DateTime::UNIX_EPOCH, at(1)), "{status:?}");
        }
    }

    #[test]
    fn nothing_before_the_start_is_read() {
        let start = Some(at(-100_000));
        let plan = Schedule { indexing_start: start, ..new() }.due(at(0)).unwrap();
        assert_eq!(plan.window.start, at(-100_000) - TimeDelta::minutes(30));
        let future = Schedule { indexing_start: Some(at(100_000)), ..new() }.due(at(0)).unwrap();
        assert!(future.window.start <= future.window.end);
    }
}
