//! Cuts a document into chunks that fit the window of the embedding model.

use std::ops::Range;

use trove_domain::document::Document;
use trove_domain::port::Tokenizer;
use unicode_segmentation::UnicodeSegmentation;

/// Names the rules below: a document is cut again when they change.
pub(crate) const CHUNKER_VERSION: &str = "1";

/// Tokens that a model puts around every text ([CLS] and [SEP] in the BERT family).
const SPECIAL_TOKENS: usize = 2;

/// Tokens of the pieces that a sentence is cut into when it is too long for a chunk.
const PIECE_TOKENS: usize = 24;

/// What a window is divided into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChunkLimits {
    /// Most tokens of title and text together.
    total: usize,
    /// Most tokens of the title; the rest of a longer one is not embedded.
    title: usize,
    /// Tokens from the beginning of a document that stand in for its missing title.
    lead: usize,
    /// Most tokens of a blurb.
    blurb: usize,
}

impl ChunkLimits {
    /// For a model whose window holds `window_tokens`, special tokens included.
    pub(crate) fn for_window(window_tokens: usize) -> Self {
        let total = window_tokens.saturating_sub(SPECIAL_TOKENS).max(8);
        Self { total, title: total / 4, lead: total / 8, blurb: total / 4 }
    }
}

/// A chunk before it is embedded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChunkDraft {
    pub(crate) text: String,
    pub(crate) blurb: String,
    pub(crate) link: Option<String>,
    /// Title and text, as the model sees them.
    pub(crate) embedded: String,
}

/// Cuts `document` into chunks; at least one.
///
/// * Small sections are collected, separated by blank lines, until the next one does not fit; a
///   section that is too large alone is cut into pieces of about the same size, and its tail is
///   not merged with the next section. Cuts are between sentences, and between words in a
///   sentence that is too long alone.
/// * The title is part of what is embedded in every chunk and takes its share of the window; it is
///   not part of the text. Without a title the beginning of the document takes its place, from the
///   second chunk on: a passage out of context is hard to find by meaning.
/// * Chunks do not overlap.
///
/// Linear in the text. `docs/adr` has the figures behind the rules.
pub(crate) fn chunk(
    document: &Document,
    tokenizer: &dyn Tokenizer,
    limits: ChunkLimits,
) -> Vec<ChunkDraft> {
    let sections: Vec<Measured<'_>> = document
        .sections
        .iter()
        .map(|section| Measured::new(&section.text, section.link.as_deref(), tokenizer))
        .filter(|section| !section.text.is_empty())
        .collect();
    let title = document.searchable_title();
    let embedded_title = title.as_deref().map(|title| head(title, tokenizer, limits.title));
    let title_tokens = embedded_title.as_deref().map_or(0, |title| tokenizer.count(title));
    let mut text_tokens = limits.total - title_tokens.min(limits.title);
    let mut context = Context::Title(embedded_title);
    if title.is_none() && sections.iter().map(|s| s.spans.len()).sum::<usize>() > text_tokens {
        let first = sections.first().map_or("", |section| &section.text);
        context = Context::Lead(first_tokens(first, tokenizer, limits.lead).to_owned());
        text_tokens -= limits.lead;
    }
    let mut drafts = Drafts {
        tokenizer,
        limits,
        context,
        document_link: document.link().map(str::to_owned),
        text_tokens,
        buffer: Buffer::default(),
        done: Vec::new(),
    };
    for section in &sections {
        drafts.add(section);
    }
    drafts.flush();
    if drafts.done.is_empty() {
        let name = title.unwrap_or_else(|| document.semantic_identifier.clone());
        let link = drafts.document_link.clone();
        drafts.push(String::new(), link);
        if let Some(only) = drafts.done.first_mut() {
            only.blurb = name;
        }
    }
    drafts.done
}

/// A section and where its tokens are.
struct Measured<'a> {
    text: String,
    spans: Vec<Range<usize>>,
    link: Option<&'a str>,
}

impl<'a> Measured<'a> {
    fn new(text: &str, link: Option<&'a str>, tokenizer: &dyn Tokenizer) -> Self {
        let text = clean(text).trim().to_owned();
        let spans = tokenizer.spans(&text);
        Self { text, spans, link }
    }
}

/// What is embedded in front of a chunk's text.
enum Context {
    /// The title, in every chunk; nothing when there is none.
    Title(Option<String>),
    /// The beginning of the document, from the second chunk on.
    Lead(String),
}

struct Drafts<'a> {
    tokenizer: &'a dyn Tokenizer,
    limits: ChunkLimits,
    context: Context,
    document_link: Option<String>,
    /// What is left of the window for text.
    text_tokens: usize,
    buffer: Buffer,
    done: Vec<ChunkDraft>,
}

/// Small sections waiting to fill a chunk.
#[derive(Default)]
struct Buffer {
    text: String,
    tokens: usize,
    link: Option<String>,
}

impl Drafts<'_> {
    fn add(&mut self, section: &Measured<'_>) {
        let Measured { text, spans, link } = section;
        if spans.len() > self.text_tokens {
            self.flush();
            for piece in split(text, spans, self.text_tokens) {
                self.push(text[piece].trim().to_owned(), link.map(str::to_owned));
            }
            return;
        }
        if self.buffer.tokens + spans.len() > self.text_tokens {
            self.flush();
        }
        if !self.buffer.text.is_empty() {
            self.buffer.text.push_str("\n\n");
        }
        self.buffer.text.push_str(text);
        self.buffer.tokens += spans.len();
        if self.buffer.link.is_none() {
            self.buffer.link = link.map(str::to_owned);
        }
    }

    fn flush(&mut self) {
        let Buffer { text, tokens: _, link } = std::mem::take(&mut self.buffer);
        if !text.is_empty() {
            self.push(text, link);
        }
    }

    fn push(&mut self, text: String, link: Option<String>) {
        let context = match &self.context {
            Context::Title(title) => title.as_deref(),
            Context::Lead(lead) => (!self.done.is_empty()).then_some(lead.as_str()),
        };
        let embedded = match context {
            Some(context) if text.is_empty() => context.to_owned(),
            Some(context) => format!("{context}\n{text}"),
            None => text.clone(),
        };
        let blurb = head(&text, self.tokenizer, self.limits.blurb);
        let link = link.or_else(|| self.document_link.clone());
        self.done.push(ChunkDraft { text, blurb, link, embedded });
    }
}

/// The first sentences of `text` that have at most `max_tokens` tokens; the first tokens of it when
/// the first sentence alone has more.
fn head(text: &str, tokenizer: &dyn Tokenizer, max_tokens: usize) -> String {
    // Far more than the tokens need; the whole of a long text need not be looked at.
    let beginning = prefix(text, max_tokens.saturating_mul(64));
    let spans = tokenizer.spans(beginning);
    if spans.len() <= max_tokens && beginning.len() == text.len() {
        return text.trim().to_owned();
    }
    let mut end = 0;
    let mut tokens = 0;
    for unit in units(beginning, &spans, max_tokens) {
        if tokens + unit.tokens > max_tokens {
            break;
        }
        tokens += unit.tokens;
        end = unit.end;
    }
    beginning[..end].trim().to_owned()
}

/// The first `max_tokens` tokens of `text`.
fn first_tokens<'a>(text: &'a str, tokenizer: &dyn Tokenizer, max_tokens: usize) -> &'a str {
    let beginning = prefix(text, max_tokens.saturating_mul(64));
    let spans = tokenizer.spans(beginning);
    spans.get(..max_tokens).and_then(<[_]>::last).map_or(beginning, |last| &beginning[..last.end])
}

/// At most the first `max_bytes` bytes, cut at a character.
fn prefix(text: &str, max_bytes: usize) -> &str {
    &text[..text.floor_char_boundary(max_bytes)]
}

/// Byte ranges of at most `max_tokens` tokens each, of about the same size.
fn split(text: &str, spans: &[Range<usize>], max_tokens: usize) -> Vec<Range<usize>> {
    let pieces = spans.len().div_ceil(max_tokens.max(1)).max(1);
    let target = spans.len().div_ceil(pieces);
    let mut ranges = Vec::with_capacity(pieces);
    let (mut start, mut end, mut tokens) = (0, 0, 0);
    for unit in units(text, spans, max_tokens) {
        // A unit goes where more than half of it fits.
        let full = tokens + unit.tokens > max_tokens || tokens + unit.tokens / 2 > target;
        if full && tokens > 0 {
            ranges.push(start..end);
            start = end;
            tokens = 0;
        }
        tokens += unit.tokens;
        end = unit.end;
    }
    // Not by tokens: one that reaches across the end of a sentence counts before it, which can
    // leave the last sentence without any.
    if !text[start..].trim().is_empty() {
        ranges.push(start..text.len());
    }
    ranges
}

/// A part of a text that is not cut: a sentence, or a piece of one that is too long.
struct Unit {
    /// Where it ends, in bytes.
    end: usize,
    tokens: usize,
}

/// Cuts `text` into units of at most `max_tokens` tokens, without gaps (UAX #29 sentences).
fn units(text: &str, spans: &[Range<usize>], max_tokens: usize) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut rest = spans;
    for (start, sentence) in text.split_sentence_bound_indices() {
        let sentence_end = start + sentence.len();
        let (mut own, others) = rest.split_at(rest.partition_point(|t| t.start < sentence_end));
        rest = others;
        let unit_tokens =
            if own.len() > max_tokens { PIECE_TOKENS.min(max_tokens) } else { own.len() };
        while own.len() > unit_tokens {
            let (piece, remaining) = own.split_at(word_end(text, own, unit_tokens, max_tokens));
            let end = remaining.first().map_or(sentence_end, |token| token.start);
            units.push(Unit { end, tokens: piece.len() });
            own = remaining;
        }
        units.push(Unit { end: sentence_end, tokens: own.len() });
    }
    units
}

/// Number of tokens up to the first end of a word after `wanted` tokens; `max` when there is none.
fn word_end(text: &str, tokens: &[Range<usize>], wanted: usize, max: usize) -> usize {
    (wanted..=max)
        .find(|n| match (tokens.get(n - 1), tokens.get(*n)) {
            (Some(before), Some(after)) => {
                before.end < after.start || !text.is_char_boundary(before.end)
            }
            _ => true,
        })
        .unwrap_or(max)
}

/// Without control characters other than line feed and tab.
fn clean(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}

#[cfg(test)]
mod tests {
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
                .map(|(text, link)| Section {
                    text: (*text).to_owned(),
                    link: link.map(str::to_owned),
                })
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
        let text = "? a \u{301}\n中\n? \u{301} a\na\n😀\n中\n?\n. a 中\n\u{301} a 中 a\n\u{301}\na\n? a ?\n?a";
        let document = document(Some("a a a a"), &[(text, None)]);
        let chunks = chunk(&document, &WhitespaceTokenizer, ChunkLimits::for_window(19));
        let squeeze = |text: &str| text.split_whitespace().collect::<String>();
        let got: String = chunks.iter().map(|chunk| squeeze(&chunk.text)).collect();
        assert_eq!(got, squeeze(text));
    }

    proptest! {
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
}
