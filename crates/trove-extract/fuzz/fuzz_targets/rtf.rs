//! `cargo +nightly fuzz run rtf` in `crates/trove-extract`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trove_domain::port::TextExtractor;
use trove_extract::{Budget, InProcessExtractor};

fuzz_target!(|content: &[u8]| {
    let budget = Budget { chars: 100_000, ..Budget::default() };
    let rtf = [b"{\\rtf1", content].concat();
    let _answer = InProcessExtractor::new(budget).extract("a.rtf", &rtf);
});
