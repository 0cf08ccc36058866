//! How quickly a run goes on, and how long it will take.

use chrono::{DateTime, Utc};

use super::IndexAttempt;

/// The pace of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pace {
    /// What was enumerated, in documents per minute since a worker first took the run.
    pub documents_per_minute: Option<f64>,
    /// Seconds until a run that goes on has enumerated as much as the last complete one; `None`
    /// where there was none, or it had less.
    pub seconds_left: Option<f64>,
}

impl Pace {
    /// The pace of a run, seen at `now`. `complete` is the last run that read everything.
    #[must_use]
    pub fn of(run: &IndexAttempt, complete: Option<&IndexAttempt>, now: DateTime<Utc>) -> Self {
        let Some(started) = run.started_at else { return Self::default() };
        let end = if run.status.is_finished() { run.updated_at } else { now };
        let seconds = (end - started).as_seconds_f64();
        if seconds <= 0.0 || run.progress.enumerated == 0 {
            return Self::default();
        }
        let per_second = number(run.progress.enumerated) / seconds;
        let expected = complete.map(|run| run.progress.enumerated);
        let left = expected.and_then(|all| all.checked_sub(run.progress.enumerated));
        let left = left.filter(|left| *left > 0 && !run.status.is_finished());
        Self {
            documents_per_minute: Some(per_second * 60.0),
            seconds_left: left.map(|left| number(left) / per_second),
        }
    }
}

/// Counts are far below the whole numbers that a float has not.
#[expect(
    clippy::cast_precision_loss,
    clippy::as_conversions,
    reason = "a pace needs no more digits"
)]
const fn number(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, TimeDelta, Utc};

    use super::Pace;
    use crate::id::{CcPairId, IndexAttemptId};
    use crate::indexing::{AttemptStatus, IndexAttempt, Progress};
    use crate::port::ReadWindow;

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds)
    }

    fn run(status: AttemptStatus, enumerated: u64) -> IndexAttempt {
        IndexAttempt {
            id: IndexAttemptId(1),
            pair: CcPairId(1),
            from_beginning: false,
            status,
            window: ReadWindow { start: at(0), end: at(0) },
            stop: None,
            steps: 1,
            progress: Progress { enumerated, ..Progress::default() },
            tries: 0,
            retry_at: None,
            error: None,
            created_at: at(0),
            started_at: Some(at(10)),
            updated_at: at(40),
        }
    }

    #[test]
    fn a_run_is_measured_from_its_start_and_compared_with_the_last_complete_one() {
        let complete = run(AttemptStatus::Success, 90);
        let pace = Pace::of(&complete, None, at(1000));
        assert_eq!(pace, Pace { documents_per_minute: Some(180.0), seconds_left: None });
        let going = run(AttemptStatus::InProgress, 30);
        let pace = Pace::of(&going, Some(&complete), at(70));
        assert_eq!(pace, Pace { documents_per_minute: Some(30.0), seconds_left: Some(120.0) });
        assert_eq!(Pace::of(&going, None, at(70)).seconds_left, None);
        // More than last time: nobody knows.
        let more = run(AttemptStatus::InProgress, 91);
        assert_eq!(Pace::of(&more, Some(&complete), at(70)).seconds_left, None);
        assert_eq!(Pace::of(&run(AttemptStatus::InProgress, 0), None, at(70)), Pace::default());
        let waiting = IndexAttempt { started_at: None, ..run(AttemptStatus::NotStarted, 0) };
        assert_eq!(Pace::of(&waiting, Some(&complete), at(70)), Pace::default());
        assert_eq!(Pace::of(&going, None, at(10)), Pace::default(), "no time has passed");
    }
}
