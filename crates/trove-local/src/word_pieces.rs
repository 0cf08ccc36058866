//! The model's tokenizer.

use std::ops::Range;

use tokenizers::Tokenizer as Pieces;
use trove_domain::port::Tokenizer;

use crate::encoder::WINDOW;

/// What can be in the window at most: 254 words of 100 characters, the longest that are not cut
/// out as unknown, and room for blanks. Longer text is not looked at.
const WINDOW_MAX_BYTES: usize = 1 << 17;

/// Cuts text into the word pieces of the model's vocabulary.
#[derive(Debug)]
pub struct WordPieces {
    pieces: Pieces,
    start: u32,
    end: u32,
}

/// Why a tokenizer file is of no use.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WordPiecesError {
    #[error("it does not describe a tokenizer")]
    Format(#[source] tokenizers::Error),
    #[error("its vocabulary lacks {0}")]
    MissingToken(&'static str),
}

impl WordPieces {
    /// Reads the contents of `tokenizer.json`.
    pub(crate) fn from_json(json: &[u8]) -> Result<Self, WordPiecesError> {
        let mut pieces = Pieces::from_bytes(json).map_err(WordPiecesError::Format)?;
        // The file pads and cuts at 128; here nothing is padded, and the cut is the caller's.
        pieces.with_padding(None);
        pieces.with_truncation(None).map_err(WordPiecesError::Format)?;
        let id = |token| pieces.token_to_id(token).ok_or(WordPiecesError::MissingToken(token));
        let (start, end) = (id("[CLS]")?, id("[SEP]")?);
        Ok(Self { pieces, start, end })
    }

    /// Ids of the first pieces of `text` between the two special tokens, 2 to [`WINDOW`] in all.
    pub(crate) fn window(&self, text: &str) -> Vec<u32> {
        let text = &text[..text.floor_char_boundary(WINDOW_MAX_BYTES)];
        let mut ids = Vec::with_capacity(WINDOW);
        ids.push(self.start);
        // The pipeline (lower case, blanks, vocabulary with an entry for the unknown) has no
        // text that it refuses.
        if let Ok(encoding) = self.pieces.encode_fast(text, false) {
            ids.extend(encoding.get_ids().iter().take(WINDOW - 2));
        }
        ids.push(self.end);
        ids
    }
}

impl Tokenizer for WordPieces {
    fn spans(&self, text: &str) -> Vec<Range<usize>> {
        let Ok(encoding) = self.pieces.encode(text, false) else { return Vec::new() };
        let mut spans: Vec<Range<usize>> = Vec::with_capacity(encoding.len());
        let mut end = 0;
        for (from, to) in encoding.get_offsets() {
            let from = (*from).max(end);
            if from < *to {
                spans.push(from..*to);
                end = *to;
            } else {
                // Another piece of the character before, as of most in scripts that decompose
                // (Hangul): the last piece covers it.
                let last = spans.pop().unwrap_or(end..end);
                spans.push(last.start..last.start);
                spans.push(last);
            }
        }
        spans
    }

    fn count(&self, text: &str) -> usize {
        self.pieces.encode_fast(text, false).map_or(0, |encoding| encoding.len())
    }
}
