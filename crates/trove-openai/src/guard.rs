//! The bound of an answer, for servers that do not keep it.

/// Longest token of a known vocabulary, in bytes.
const TOKEN_BYTES_MAX: u64 = 128;

/// What may still come. A word is a token at least, and a token has so many bytes at most; so an
/// answer beyond either is longer than was asked for.
#[derive(Debug)]
pub(crate) struct OutputGuard {
    words_left: u64,
    bytes_left: u64,
    in_word: bool,
}

impl OutputGuard {
    /// For an answer of `tokens_max`.
    pub(crate) fn new(tokens_max: u32) -> Self {
        let tokens_max = u64::from(tokens_max);
        Self {
            words_left: tokens_max,
            bytes_left: tokens_max.saturating_mul(TOKEN_BYTES_MAX),
            in_word: false,
        }
    }

    /// As much of the next piece as is allowed, and whether that is all of it.
    pub(crate) fn admit<'a>(&mut self, piece: &'a str) -> (&'a str, bool) {
        for (at, character) in piece.char_indices() {
            let starts = !character.is_whitespace() && !self.in_word;
            self.in_word = !character.is_whitespace();
            let bytes = u64::try_from(character.len_utf8()).unwrap_or(4);
            if starts && self.words_left == 0 || self.bytes_left < bytes {
                return (&piece[..at], false);
            }
            self.words_left -= u64::from(starts);
            self.bytes_left -= bytes;
        }
        (piece, true)
    }
}

#[cfg(test)]
mod tests {
    use super::OutputGuard;

    #[test]
    fn words_are_counted_across_pieces() {
        let mut guard = OutputGuard::new(3);
        assert_eq!(guard.admit("one tw"), ("one tw", true));
        assert_eq!(guard.admit("o  thr"), ("o  thr", true));
        assert_eq!(guard.admit("ee four"), ("ee ", false));
    }

    #[test]
    fn bytes_are_counted_where_there_are_no_blanks() {
        let mut guard = OutputGuard::new(1);
        let text = "世".repeat(1000);
        let (admitted, whole) = guard.admit(&text);
        assert_eq!((admitted.len(), whole), (126, false));
    }
}
