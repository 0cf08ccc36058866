//! `cargo +nightly fuzz run html` in `crates/trove-extract`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trove_domain::port::TextExtractor;
use trove_extract::{Budget, InProcessExtractor};

fuzz_target!(|content: &[u8]| {
    let extractor = InProcessExtractor::new(Budget { chars: 100_000, ..Budget::default() });
    let _html = extractor.extract("a.html", content);
    let _xhtml = extractor.extract("a.xhtml", content);
});
