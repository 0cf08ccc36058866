//! The tokenizer of a deployment without an embedding model.

use std::ops::Range;

use trove_domain::port::Tokenizer;
use unicode_segmentation::UnicodeSegmentation;

/// Tokens that a chunk may have when there is no model whose window decides.
pub(crate) const WINDOW_TOKENS: usize = 256;

/// One token per word or punctuation mark, and one per character in scripts without spaces
/// (UAX #29 word boundaries).
#[derive(Clone, Copy, Debug)]
pub(crate) struct WordTokenizer;

impl Tokenizer for WordTokenizer {
    fn spans(&self, text: &str) -> Vec<Range<usize>> {
        text.split_word_bound_indices()
            .filter(|(_, word)| !word.chars().all(char::is_whitespace))
            .map(|(start, word)| start..start + word.len())
            .collect()
    }
}
