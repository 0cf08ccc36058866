//! What every [`Clock`] does.

#![expect(clippy::missing_panics_doc, reason = "a case fails by panicking")]
#![expect(clippy::unused_async, reason = "the cases of all suites have one shape")]

use chrono::{Datelike, TimeDelta, Timelike};
use trove_domain::port::Clock;

/// Turns the suite into one test for each obligation.
///
/// `$start` is a future of an `Option` of something that dereferences to a clock.
#[macro_export]
macro_rules! clock_contract {
    ($start:expr) => {
        $crate::contract_suite!(
            clock,
            $start,
            [
                readings_do_not_go_backwards,
                readings_have_whole_microseconds,
                readings_are_of_our_time,
            ]
        );
    };
}

/// A second is what a correction of the machine's clock may take back while the test runs.
pub async fn readings_do_not_go_backwards(clock: &dyn Clock) {
    let mut last = clock.now();
    for _ in 0..10_000 {
        let now = clock.now();
        assert!(now >= last - TimeDelta::seconds(1), "{now} after {last}");
        last = now;
    }
}

/// `PostgreSQL` keeps microseconds: what is finer would change on its way through a store.
pub async fn readings_have_whole_microseconds(clock: &dyn Clock) {
    for _ in 0..10_000 {
        let now = clock.now();
        assert_eq!(now.nanosecond() % 1000, 0, "{now}");
    }
}

/// Seconds are taken for seconds and counted from 1970.
pub async fn readings_are_of_our_time(clock: &dyn Clock) {
    let year = clock.now().year();
    assert!((2024..2200).contains(&year), "{year}");
}
