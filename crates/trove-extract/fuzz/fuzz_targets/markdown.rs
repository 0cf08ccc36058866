//! `cargo +nightly fuzz run markdown` in `crates/trove-extract`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trove_domain::port::TextExtractor;
use trove_extract::PlainTextExtractor;

fuzz_target!(|content: &[u8]| {
    let extractor = PlainTextExtractor::new(100_000);
    let _markdown = extractor.extract("a.md", content);
    let _mdx = extractor.extract("a.mdx", content);
});
