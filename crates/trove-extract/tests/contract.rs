//! The extractors keep the port's contract.

use trove_extract::{Budget, InProcessExtractor};

trove_testkit::text_extractor_contract!(async {
    Some(Box::new(InProcessExtractor::new(Budget { chars: 1_000_000, ..Budget::default() })))
});

mod unpacker {
    use trove_extract::ZipUnpacker;

    trove_testkit::unpacker_contract!(async { Some(Box::new(ZipUnpacker)) });
}
