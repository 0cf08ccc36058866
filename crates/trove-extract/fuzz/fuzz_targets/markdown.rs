//! `cargo +nightly fuzz run markdown` in `crates/trove-extract`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trove_domain::port::TextExtractor;
use trove_extract::{Budget, InProcessExtractor};

fuzz_target!(|content: &[u8]| {
    let extractor = InProcessExtractor::new(Budget { chars: 100_000, ..Budget::default() });
    let _markdown = extractor.extract("a.md", content);
    let _mdx = extractor.extract("a.mdx", content);
});
