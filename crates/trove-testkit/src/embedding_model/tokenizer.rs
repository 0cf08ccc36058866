//! The tokenizer's half of the suite.

#![expect(clippy::missing_panics_doc, reason = "a case fails by panicking")]
#![expect(clippy::unused_async, reason = "the cases of all suites have one shape")]

use std::time::{Duration, Instant};

use trove_domain::port::EmbeddingModel;

use super::awkward_texts;

/// Each token is after the one before; only a character of several tokens has empty spans.
pub async fn spans_are_in_order(model: &dyn EmbeddingModel) {
    for text in awkward_texts() {
        let mut end = 0;
        let spans = model.tokenizer().spans(&text);
        for (position, span) in spans.iter().enumerate() {
            assert!(span.start >= end, "{span:?} begins before {end} in {text:?}");
            let next = spans.get(position + 1);
            assert!(
                span.start < span.end || next.is_some_and(|next| next.start == span.start),
                "{span:?} stands before no character of {text:?}"
            );
            end = span.end;
        }
        assert!(end <= text.len(), "{end} is behind the end of {text:?}");
    }
}

/// A chunk that is cut at a span is text.
pub async fn spans_lie_on_character_boundaries(model: &dyn EmbeddingModel) {
    for text in awkward_texts() {
        for span in model.tokenizer().spans(&text) {
            assert!(text.get(span.clone()).is_some(), "{span:?} cuts a character of {text:?}");
        }
    }
}

/// No word is lost between two chunks.
pub async fn spans_cover_every_word(model: &dyn EmbeddingModel) {
    let texts = [
        "The quick brown fox jumps over the lazy dog.",
        "Grüße aus Köln, naïve café",
        "snake_case camelCase kebab-case 3.14 x86_64",
        "  spaces\taround\n\nlines  ",
        "世界 こんにちは 안녕하세요",
    ];
    for text in texts {
        let spans = model.tokenizer().spans(text);
        for (at, character) in text.char_indices() {
            let covered = spans.iter().any(|span| span.contains(&at));
            assert!(covered || !character.is_alphanumeric(), "{character:?} at {at} of {text:?}");
        }
    }
}

/// Blanks carry no token, and special tokens are not counted.
pub async fn blank_text_has_no_tokens(model: &dyn EmbeddingModel) {
    for text in ["", " ", "\n\t \r\n"] {
        assert!(model.tokenizer().spans(text).is_empty(), "{text:?}");
        assert_eq!(model.tokenizer().count(text), 0, "{text:?}");
    }
}

/// An implementation may count faster, not differently.
pub async fn count_is_the_number_of_spans(model: &dyn EmbeddingModel) {
    for text in awkward_texts() {
        let tokenizer = model.tokenizer();
        assert_eq!(tokenizer.count(&text), tokenizer.spans(&text).len(), "{text:?}");
    }
}

/// The tokenizer measures; it does not truncate.
pub async fn text_beyond_the_window_has_spans_too(model: &dyn EmbeddingModel) {
    let words = 3 * model.info().window_tokens;
    let text = "garden ".repeat(words);
    let spans = model.tokenizer().spans(&text);
    assert!(spans.len() >= words);
    assert_eq!(spans.last().map(|span| span.end), Some(text.trim_end().len()));
}

/// The chunker measures paragraph by paragraph.
pub async fn appending_text_changes_no_earlier_span(model: &dyn EmbeddingModel) {
    let (first, second) = ("The first paragraph, with café.", "The second one, of 世界.");
    let mut expected = model.tokenizer().spans(first);
    let offset = first.len() + 2;
    let rest = model.tokenizer().spans(second).into_iter();
    expected.extend(rest.map(|span| span.start + offset..span.end + offset));
    assert_eq!(model.tokenizer().spans(&format!("{first}\n\n{second}")), expected);
}

/// Whatever the text is made of: a document may be one long word.
pub async fn a_megabyte_takes_linear_time(model: &dyn EmbeddingModel) {
    const MEGABYTE: usize = 1 << 20;
    for piece in ["some words and more ", "a", "世", "\u{301}", " ", "!", "\u{0}", "ab1 "] {
        let time = |bytes: usize| {
            let text = piece.repeat(bytes / piece.len());
            let start = Instant::now();
            let _spans = model.tokenizer().spans(&text);
            start.elapsed()
        };
        let (small, large) = (time(MEGABYTE / 16), time(MEGABYTE));
        // Sixteen times the text; quadratic work would take 256 times as long. The rest is for
        // other work on the machine.
        assert!(
            large < small * 48 + Duration::from_secs(1),
            "{piece:?}: {small:?}, then {large:?}"
        );
    }
}
