//! Tells whether the content of a document is what the index holds.

use sha2::{Digest, Sha256};
use trove_domain::document::Document;

use super::chunker::CHUNKER_VERSION;

/// Hash of everything that chunks are made of: title, texts and links, and the rules for cutting.
///
/// Metadata, owners, dates and names are attributes: they change without a new hash.
pub(crate) fn content_hash(document: &Document) -> String {
    let mut hash = Sha256::new();
    let mut field = |bytes: &[u8]| {
        // Length first, so that no two lists of fields run together to the same bytes.
        hash.update(u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_le_bytes());
        hash.update(bytes);
    };
    field(CHUNKER_VERSION.as_bytes());
    field(document.searchable_title().unwrap_or_default().as_bytes());
    for section in &document.sections {
        field(section.text.as_bytes());
        field(section.link.as_deref().unwrap_or_default().as_bytes());
    }
    hash.finalize().iter().fold(String::with_capacity(64), |mut hex, byte| {
        hex.push(char::from_digit(u32::from(byte >> 4), 16).unwrap_or('0'));
        hex.push(char::from_digit(u32::from(byte & 15), 16).unwrap_or('0'));
        hex
    })
}
