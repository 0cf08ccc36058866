//! The contract of the port.

use trove_extract::PlainTextExtractor;

trove_testkit::text_extractor_contract!(async {
    Some(Box::new(PlainTextExtractor::new(1_000_000)))
});
