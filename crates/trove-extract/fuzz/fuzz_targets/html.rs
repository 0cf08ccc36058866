//! `cargo +nightly fuzz run html` in `crates/trove-extract`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trove_domain::port::TextExtractor;
use trove_extract::PlainTextExtractor;

fuzz_target!(|content: &[u8]| {
    let extractor = PlainTextExtractor::new(100_000);
    let _html = extractor.extract("a.html", content);
    let _xhtml = extractor.extract("a.xhtml", content);
});
