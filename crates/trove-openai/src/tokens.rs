//! Tokens without a vocabulary.

use std::ops::Range;

use trove_domain::port::Tokenizer;

/// Letters and digits of a token.
const WORD_BYTES: usize = 3;

/// Counts tokens of a model whose vocabulary is not at hand, and rather too many than too few.
///
/// A token is three ASCII letters or digits of one word, any other character that is not blank, or
/// a third of one that is four bytes long. Vocabularies of today's models have four to five letters
/// in a token of English prose, two or three in other languages written in Latin letters, and about
/// one character of Chinese or Japanese. Random letters and digits may be more tokens than are
/// counted here, so a server may still find a text too long.
#[derive(Clone, Copy, Debug, Default)]
pub struct ApproximateTokenizer;

impl Tokenizer for ApproximateTokenizer {
    fn spans(&self, text: &str) -> Vec<Range<usize>> {
        let mut spans: Vec<Range<usize>> = Vec::new();
        // Where a token of letters that may still grow ends.
        let mut open = None;
        for (at, character) in text.char_indices() {
            let end = at + character.len_utf8();
            if character.is_ascii_alphanumeric() {
                match spans.last_mut() {
                    Some(span) if open == Some(at) && span.len() < WORD_BYTES => span.end = end,
                    _ => spans.push(at..end),
                }
                open = Some(end);
            } else if !character.is_whitespace() {
                if character.len_utf8() == 4 {
                    spans.extend([at..at, at..at]);
                }
                spans.push(at..end);
            }
        }
        spans
    }
}

/// The beginning of `text` that has `tokens_max` tokens.
pub(crate) fn head(text: &str, tokens_max: usize) -> &str {
    // No token is longer than four bytes; blanks between them are not counted.
    let spans = ApproximateTokenizer.spans(text);
    match spans.get(..tokens_max) {
        Some(kept) if kept.len() < spans.len() => &text[..kept.last().map_or(0, |span| span.end)],
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use trove_domain::port::Tokenizer;

    use super::{ApproximateTokenizer, head};

    #[test]
    fn tokens_are_short() {
        for (text, count) in [
            ("", 0),
            (" \n", 0),
            ("the", 1),
            ("garden gate", 4),
            ("a-b", 3),
            ("世界", 2),
            ("🦀", 3),
        ] {
            assert_eq!(ApproximateTokenizer.count(text), count, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn a_head_has_no_more_tokens_than_asked(text in "[a-z 世🦀.]{0,40}", tokens in 0_usize..20) {
            let head = head(&text, tokens);
            prop_assert!(text.starts_with(head));
            prop_assert!(ApproximateTokenizer.count(head) <= tokens);
        }
    }
}
