use std::collections::BTreeMap;
use std::ops::Range;

use proptest::prelude::*;
use trove_domain::document::{Document, Section};
use trove_domain::id::DocumentId;
use trove_domain::port::Tokenizer;
use trove_domain::source::DocumentSource;
use trove_testkit::fakes::WhitespaceTokenizer;

use super::{ChunkDraft, ChunkLimits, chunk};
use crate::ingestion::words::WordTokenizer;

fn document(title: Option<&str>, sections: &[(&str, Option<&str>)]) -> Document {
    Document {
        id: DocumentId::new("d").unwrap(),
        sections: sections
            .iter()
            .map(|(text, link)| Section { text: (*text).to_owned(), link: link.map(str::to_owned) })
            .collect(),
        source: DocumentSource::File,
        semantic_identifier: "name".to_owned(),
        title: title.map(str::to_owned),
        metadata: BTreeMap::new(),
        updated_at: None,
        created_at: None,
        primary_owners: Vec::new(),
        secondary_owners: Vec::new(),
        from_ingestion_api: false,
        external_access: None,
    }
}

fn words(count: usize) -> String {
    vec!["word"; count].join(" ")
}

fn run(document: &Document) -> Vec<ChunkDraft> {
    chunk(document, &WhitespaceTokenizer, ChunkLimits::for_window(102))
}

fn lengths(document: &Document) -> Vec<usize> {
    run(document).iter().map(|c| WhitespaceTokenizer.count(&c.text)).collect()
}

#[test]
fn small_sections_share_a_chunk_and_its_first_link() {
    let (a, b) = (words(20), words(30));
    let chunks = run(&document(Some(""), &[(&a, None), (&b, Some("l2")), (&a, Some("l3"))]));
    assert_eq!(chunks.len(), 1);
    assert_eq!(chunks[0].text, format!("{a}\n\n{b}\n\n{a}"));
    assert_eq!(chunks[0].link.as_deref(), Some("l2"));
    assert_eq!(chunks[0].embedded, chunks[0].text);
}

#[test]
fn the_tail_of_a_large_section_is_not_merged_with_the_next() {
    let (large, small) = (words(130), words(4));
    assert_eq!(lengths(&document(Some("t"), &[(&large, None), (&small, None)])), [72, 58, 4]);
}

#[test]
fn a_section_is_cut_at_sentence_ends_into_equal_pieces() {
    let sentence = format!("{} end. ", ["Word"; 29].join(" "));
    let text = sentence.repeat(6);
    assert_eq!(lengths(&document(Some("t"), &[(&text, None)])), [90, 90]);
}

#[test]
fn the_beginning_stands_in_for_a_missing_title() {
    let text = format!("alpha beta {}", words(140));
    let chunks = run(&document(Some(""), &[(&text, None)]));
    assert_eq!(chunks.len(), 2);
    assert_eq!(chunks[0].embedded, chunks[0].text);
    assert!(chunks[1].embedded.starts_with("alpha beta word"));
    assert!(!chunks[1].text.contains("alpha"));
}

#[test]
fn the_title_takes_its_share_of_the_window() {
    let chunks = run(&document(Some("two words"), &[(&words(130), None)]));
    assert!(chunks.iter().all(|c| c.embedded.starts_with("two words\nword")));
    assert!(!chunks[0].text.contains("two"));
    // A title longer than a quarter of the window is cut.
    let chunks = run(&document(Some(&words(90)), &[(&words(130), None)]));
    assert!(chunks.iter().all(|c| WhitespaceTokenizer.count(&c.embedded) <= 100));
    assert_eq!(WhitespaceTokenizer.count(&chunks[0].embedded[..25 * 5]), 25);
}

#[test]
fn a_title_alone_makes_one_chunk() {
    let chunks = run(&document(None, &[("  \n", Some("l"))]));
    assert_eq!(chunks.len(), 1);
    assert_eq!((chunks[0].text.as_str(), chunks[0].blurb.as_str()), ("", "name"));
    assert_eq!(chunks[0].embedded, "name");
    assert_eq!(chunks[0].link.as_deref(), Some("l"));
}

/// Three tokens for each character, as for syllables that are cut into their letters.
struct LetterTokenizer;

impl Tokenizer for LetterTokenizer {
    fn spans(&self, text: &str) -> Vec<Range<usize>> {
        let characters = text.char_indices().filter(|(_, c)| !c.is_whitespace());
        characters.flat_map(|(at, c)| [at..at, at..at, at..at + c.len_utf8()]).collect()
    }
}

#[test]
fn a_token_across_the_last_end_of_a_sentence_loses_nothing() {
    let text =
        "? a \u{301}\n中\n? \u{301} a\na\n😀\n中\n?\n. a 中\n\u{301} a 中 a\n\u{301}\na\n? a ?\n?a";
    let document = document(Some("a a a a"), &[(text, None)]);
    let chunks = chunk(&document, &WhitespaceTokenizer, ChunkLimits::for_window(19));
    let squeeze = |text: &str| text.split_whitespace().collect::<String>();
    let got: String = chunks.iter().map(|chunk| squeeze(&chunk.text)).collect();
    assert_eq!(got, squeeze(text));
}

#[test]
fn a_long_text_without_a_break_is_cut_into_bounded_chunks() {
    for piece in ["x", "ж", "\u{e01}", "\u{301}", "\u{200b}", "%", "😀"] {
        let text = piece.repeat((1 << 18) / piece.len());
        let tokenizers: [&dyn Tokenizer; 2] = [&WhitespaceTokenizer, &WordTokenizer];
        for tokenizer in tokenizers {
            let document = document(Some("title"), &[(&text, None)]);
            let chunks = chunk(&document, tokenizer, ChunkLimits::for_window(102));
            let longest = chunks.iter().map(|chunk| chunk.text.len()).max();
            assert!(longest <= Some(100 * 128), "{piece:?}: {longest:?}");
            assert!(chunks.iter().all(|chunk| chunk.blurb.len() <= 25 * 64), "{piece:?}");
            let got: String = chunks.iter().map(|chunk| chunk.text.as_str()).collect();
            assert_eq!(got, text, "{piece:?}");
        }
    }
}

#[test]
fn a_long_word_stays_whole_where_it_fits() {
    let word = "0123456789abcdef".repeat(64);
    let text = format!("{} {word} {}", words(60), words(60));
    let chunks = run(&document(Some(""), &[(&text, None)]));
    assert_eq!(chunks.len(), 2);
    assert!(chunks.iter().any(|chunk| chunk.text.contains(&word)));
}

#[test]
fn blank_stretches_make_no_chunks() {
    let text = format!("one{}two", "\n".repeat(1 << 20));
    let chunks = run(&document(Some(""), &[(&text, None)]));
    let texts: Vec<&str> = chunks.iter().map(|chunk| chunk.text.as_str()).collect();
    assert_eq!(texts, ["one", "two"]);
}

#[test]
fn sections_without_tokens_do_not_pile_up() {
    /// No tokens at all.
    struct DeafTokenizer;
    impl Tokenizer for DeafTokenizer {
        fn spans(&self, _text: &str) -> Vec<Range<usize>> {
            Vec::new()
        }
    }
    let sections = vec![("\u{200b}".to_owned(), None); 1000];
    let sections: Vec<_> = sections.iter().map(|(text, link)| (text.as_str(), *link)).collect();
    let document = document(Some(""), &sections);
    let chunks = chunk(&document, &DeafTokenizer, ChunkLimits::for_window(102));
    assert_eq!(chunks.len(), 10);
}

/// Words, gaps and marks of all lengths.
fn stretched() -> impl Strategy<Value = String> {
    let stretch = ("[a-z\u{4e2d}\u{301}. \n]{1,3}", 1..400_usize);
    proptest::collection::vec(stretch, 0..12)
        .prop_map(|parts| parts.iter().map(|(part, times)| part.repeat(*times)).collect())
}

proptest! {
    #[test]
    fn no_chunk_has_too_many_bytes(text in stretched(), window in 10_usize..60) {
        let document = document(Some("a title"), &[(&text, None)]);
        let tokenizers: [&dyn Tokenizer; 3] =
            [&WhitespaceTokenizer, &WordTokenizer, &LetterTokenizer];
        for tokenizer in tokenizers {
            let chunks = chunk(&document, tokenizer, ChunkLimits::for_window(window));
            let squeeze = |text: &str| text.split_whitespace().collect::<String>();
            let got: String = chunks.iter().map(|chunk| squeeze(&chunk.text)).collect();
            prop_assert_eq!(got, squeeze(&text));
            prop_assert!(chunks.iter().all(|chunk| chunk.text.len() <= window * 256));
        }
    }

    #[test]
    fn nothing_is_lost_and_no_chunk_is_too_long(
        sections in proptest::collection::vec("[ a-z.!?\n\u{4e2d}\u{1f600}\u{301}]{0,400}", 0..5),
        title in "[a-z ]{0,80}",
        window in 10_usize..60,
    ) {
        let sections: Vec<_> = sections.iter().map(|s| (s.as_str(), None)).collect();
        let document = document(Some(&title), &sections);
        let limits = ChunkLimits::for_window(window);
        let tokenizers: [&dyn Tokenizer; 3] =
            [&WhitespaceTokenizer, &WordTokenizer, &LetterTokenizer];
        for tokenizer in tokenizers {
            let chunks = chunk(&document, tokenizer, limits);
            let squeeze = |text: &str| text.split_whitespace().collect::<String>();
            let got: String = chunks.iter().map(|c| squeeze(&c.text)).collect();
            let expected: String = sections.iter().map(|(s, _)| squeeze(s)).collect();
            prop_assert_eq!(got, expected);
            for chunk in &chunks {
                // A mark that combines with what it is cut from can make a token of its own.
                prop_assert!(tokenizer.count(&chunk.embedded) <= window - 2 + 2);
            }
        }
    }
}
