//! Dates as spreadsheets count them.

use std::fmt;

use chrono::{NaiveDate, NaiveDateTime, NaiveTime, TimeDelta};

/// The day that a spreadsheet counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Epoch {
    /// 30 December 1899, so that 1 March 1900 has its number in spite of a leap day that never was.
    Year1900,
    /// 1 January 1904.
    Year1904,
}

/// A number of days that is shown as a date, a time or both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Serial {
    at: NaiveDateTime,
    has_day: bool,
    has_time: bool,
}

impl Serial {
    pub(crate) fn new(days: f64, epoch: Epoch) -> Option<Self> {
        // The last day of the year 9999.
        if !(0.0..2_958_466.0).contains(&days) {
            return None;
        }
        let start = match epoch {
            Epoch::Year1900 => NaiveDate::from_ymd_opt(1899, 12, 30)?,
            Epoch::Year1904 => NaiveDate::from_ymd_opt(1904, 1, 1)?,
        };
        #[expect(
            clippy::as_conversions,
            clippy::cast_possible_truncation,
            reason = "checked above"
        )]
        let seconds = (days * 86_400.0).round() as i64;
        let at =
            start.and_hms_opt(0, 0, 0)?.checked_add_signed(TimeDelta::try_seconds(seconds)?)?;
        Some(Self::of(at, seconds >= 86_400))
    }

    /// A date that is known already; the first day is only a place for a time.
    pub(crate) fn of(at: NaiveDateTime, has_day: bool) -> Self {
        Self { at, has_day, has_time: at.time() != NaiveTime::MIN }
    }
}

impl fmt::Display for Serial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let format = match (self.has_day, self.has_time) {
            (true, false) => "%Y-%m-%d",
            (true, true) => "%Y-%m-%d %H:%M:%S",
            (false, _) => "%H:%M:%S",
        };
        write!(f, "{}", self.at.format(format))
    }
}

#[cfg(test)]
mod tests {
    use super::{Epoch, Serial};

    #[test]
    fn days_are_dates() {
        let check = |days, epoch, expected| {
            let serial: Serial = Serial::new(days, epoch).unwrap();
            assert_eq!(serial.to_string(), expected, "{days}");
        };
        check(45_351.0, Epoch::Year1900, "2024-02-29");
        check(45_351.5, Epoch::Year1900, "2024-02-29 12:00:00");
        check(0.25, Epoch::Year1900, "06:00:00");
        check(43_889.0, Epoch::Year1904, "2024-02-29");
        for wrong in [-1.0, 1e12, f64::NAN, f64::INFINITY] {
            assert_eq!(Serial::new(wrong, Epoch::Year1900), None, "{wrong}");
        }
    }
}
