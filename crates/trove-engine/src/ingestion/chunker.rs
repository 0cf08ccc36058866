//! Cuts a document into chunks that fit the window of the embedding model.

use std::ops::Range;

use trove_domain::document::Document;
use trove_domain::port::Tokenizer;
use unicode_segmentation::UnicodeSegmentation;

/// Names the rules below: a document is cut again when they change.
pub(crate) const CHUNKER_VERSION: &str = "2";

/// Tokens that a model puts around every text ([CLS] and [SEP] in the BERT family).
const SPECIAL_TOKENS: usize = 2;

/// Tokens of the pieces that a sentence is cut into when it is too long for a chunk.
const PIECE_TOKENS: usize = 24;

/// Most bytes of text that count as one token. Word pieces are far shorter, but a word that no
/// piece fits is one token whatever its length, and what is between words is none.
const TOKEN_BYTES_MAX: usize = 128;

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
/// * A chunk has at most 256 bytes for each token of the window: a word or a gap that is longer
///   than any model's word counts as several tokens, and is cut where it must be.
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
        let spans = bounded(&text, tokenizer.spans(&text));
        Self { text, spans, link }
    }
}

/// The tokens of `text`, those and the gaps between them that are too long cut into several.
fn bounded(text: &str, spans: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let short = |start: usize, end: usize| end.saturating_sub(start) <= TOKEN_BYTES_MAX;
    let mut parts = Vec::with_capacity(spans.len());
    let mut at = 0;
    for span in spans {
        // Tokens of one character can share a place.
        if !short(at, span.start) {
            parts.extend(stretches(text, at..span.start));
        }
        at = at.max(span.end);
        if short(span.start, span.end) {
            parts.push(span);
        } else {
            parts.extend(stretches(text, span));
        }
    }
    if !short(at, text.len()) {
        parts.extend(stretches(text, at..text.len()));
    }
    parts
}

/// `range` in pieces of at most [`TOKEN_BYTES_MAX`] bytes, cut between characters.
fn stretches(text: &str, range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut at = range.start;
    std::iter::from_fn(move || {
        let end = text.floor_char_boundary(at + TOKEN_BYTES_MAX).min(range.end);
        let stretch = at..end;
        at = end;
        (!stretch.is_empty()).then_some(stretch)
    })
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
        // Text without any token takes its place, too.
        let tokens = spans.len().max(1);
        if self.buffer.tokens + tokens > self.text_tokens {
            self.flush();
        }
        if !self.buffer.text.is_empty() {
            self.buffer.text.push_str("\n\n");
        }
        self.buffer.text.push_str(text);
        self.buffer.tokens += tokens;
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
            if !text[start..end].trim().is_empty() {
                ranges.push(start..end);
            }
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
mod tests;
