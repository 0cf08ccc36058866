//! `cargo +nightly fuzz run formats` in `crates/trove-extract`: the first byte says which of the
//! formats follows.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trove_domain::port::TextExtractor;
use trove_extract::{Budget, InProcessExtractor};

const NAMES: [&str; 8] =
    ["a.csv", "a.json", "a.xml", "a.eml", "a.zip", "a.msg", "a.pdf", "a.txt"];

fuzz_target!(|content: &[u8]| {
    let Some((first, content)) = content.split_first() else { return };
    let budget = Budget { chars: 100_000, unpacked_bytes: 10_000_000, ..Budget::default() };
    let name = NAMES[usize::from(*first) % NAMES.len()];
    let _answer = InProcessExtractor::new(budget).extract(name, content);
});
