//! From text to terms.

use std::borrow::Cow;
use std::ops::Range;

use frostem::{Algorithm, Stemmer};
use unicode_normalization::char::{canonical_combining_class, is_combining_mark};
use unicode_normalization::{IsNormalized, is_nfkc_quick};

use crate::folding::{fold, fold_latin};
use crate::function_words::is_function_word;
use crate::hash::fnv1a;
use crate::segmentation::{Kind, next_run};

/// Longest term in bytes. A longer word is cut, and told from others that begin like it by a hash.
pub const TERM_BYTES_MAX: usize = 100;
/// What is left of an overlong word; sixteen digits of its hash follow.
const TERM_PREFIX_BYTES: usize = TERM_BYTES_MAX - 16;

/// What a word contributes to a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordClass {
    /// What the text is about.
    Content,
    /// What sentences and questions are made of: "the", "who", "does".
    Function,
}

/// Takes texts apart without a dictionary. Keeps its buffers from text to text.
///
/// * Letters and digits make a word, marks on them included. Whatever else stands between two
///   words has no meaning, except pictographs, each of which is a word.
/// * Scripts that put no spaces between words (and Korean, whose particles are written onto the
///   word) give a term for each character and one for each two neighbours. Of a query only the
///   pairs count, unless a character stands alone.
/// * Spelling that makes no difference is dropped: case, compatibility forms, accents.
/// * Content words are stemmed, function words are not.
#[derive(Clone)]
pub struct Analyzer {
    of_queries: bool,
    wanted: Option<WordClass>,
    stemmer: Stemmer,
    term: String,
    buffer: String,
    run: Run,
}

impl Analyzer {
    /// For text that is to be found.
    #[must_use]
    pub fn of_texts() -> Self {
        Self {
            of_queries: false,
            wanted: None,
            stemmer: Stemmer::new(Algorithm::English),
            term: String::new(),
            buffer: String::new(),
            run: Run::default(),
        }
    }

    /// For text that says what to find.
    #[must_use]
    pub fn of_queries() -> Self {
        Self { of_queries: true, ..Self::of_texts() }
    }

    /// Passes over the words of other classes.
    #[must_use]
    pub fn only(self, class: WordClass) -> Self {
        Self { wanted: Some(class), ..self }
    }

    /// The terms of `text`, in the order of the text. Linear in the text.
    pub fn terms<'a>(&'a mut self, text: &'a str) -> Terms<'a> {
        self.term.clear();
        self.run.clear();
        Terms { text, at: 0, word: 0..0, class: WordClass::Content, analyzer: self }
    }
}

/// The terms of one text, one after the other.
///
/// ```
/// use trove_analysis::{Analyzer, WordClass};
///
/// let text = "The invoices!";
/// let mut analyzer = Analyzer::of_texts().only(WordClass::Content);
/// let mut terms = analyzer.terms(text);
/// assert!(terms.advance());
/// assert_eq!((terms.term(), &text[terms.range()]), ("invoic", "invoices"));
/// assert!(!terms.advance());
/// ```
pub struct Terms<'a> {
    text: &'a str,
    /// What lies before has been read.
    at: usize,
    /// Where the present word, or stretch without spaces, is.
    word: Range<usize>,
    class: WordClass,
    analyzer: &'a mut Analyzer,
}

impl Terms<'_> {
    /// Goes to the next term; `false` when there is none.
    pub fn advance(&mut self) -> bool {
        while self.read_word() {
            let term = &mut self.analyzer.term;
            self.class =
                if is_function_word(term) { WordClass::Function } else { WordClass::Content };
            if self.analyzer.wanted.is_some_and(|wanted| wanted != self.class) {
                continue;
            }
            if self.class == WordClass::Content {
                self.stem();
            }
            return true;
        }
        false
    }

    /// The present term: not empty, at most [`TERM_BYTES_MAX`] bytes.
    #[must_use]
    pub fn term(&self) -> &str {
        &self.analyzer.term
    }

    /// The present term as a buffer that may be exchanged for another.
    pub fn term_mut(&mut self) -> &mut String {
        &mut self.analyzer.term
    }

    /// The class of the present term.
    #[must_use]
    pub fn class(&self) -> WordClass {
        self.class
    }

    /// Where the present term stands in the text, in bytes; never empty, at characters.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        let run = &self.analyzer.run;
        if run.text.is_empty() { self.word.clone() } else { run.source_of(&self.word) }
    }

    /// Makes the next word the term, without case and marks; `false` when there is none.
    fn read_word(&mut self) -> bool {
        let Analyzer { of_queries, term, run, .. } = &mut *self.analyzer;
        term.clear();
        loop {
            if let Some(piece) = run.next_term() {
                term.push_str(piece);
                break;
            }
            run.clear();
            let Some((kind, range)) = next_run(self.text, self.at) else { return false };
            self.at = range.end;
            let source = &self.text[range.clone()];
            self.word = range;
            if kind == Kind::Unspaced {
                run.start(source, *of_queries);
            } else {
                fold(source, term);
                break;
            }
        }
        shorten(term);
        true
    }

    fn stem(&mut self) {
        let Analyzer { term, buffer, stemmer, .. } = &mut *self.analyzer;
        if !term.is_ascii() {
            buffer.clear();
            fold_latin(term, buffer);
            std::mem::swap(term, buffer);
        }
        match stemmer.stem(term) {
            Cow::Owned(stem) => *term = stem,
            Cow::Borrowed(stem) => {
                if stem.len() < term.len() {
                    buffer.clear();
                    buffer.push_str(stem);
                    std::mem::swap(term, buffer);
                }
            }
        }
    }
}

/// A stretch of a script without spaces, handed out piece by piece.
#[derive(Clone, Default)]
struct Run {
    text: String,
    /// Where the parts of `text` come from that do not depend on their neighbours: offset in
    /// `text`, offset in the source.
    origins: Vec<(usize, usize)>,
    source_len: usize,
    /// Where the next character begins.
    at: usize,
    /// What was handed out last.
    last: Range<usize>,
    /// Whether characters are terms, not only pairs.
    singles: bool,
    /// Whether the character at `at` was handed out.
    single_done: bool,
}

impl Run {
    fn clear(&mut self) {
        self.text.clear();
        self.origins.clear();
        self.at = 0;
    }

    fn start(&mut self, source: &str, of_query: bool) {
        self.clear();
        self.source_len = source.len();
        let mut rest = 0;
        while rest < source.len() {
            let mut characters = source[rest..].char_indices().skip(1);
            let end = characters
                .find(|(_, c)| is_independent(*c))
                .map_or(source.len(), |(offset, _)| rest + offset);
            self.origins.push((self.text.len(), rest));
            fold(&source[rest..end], &mut self.text);
            rest = end;
        }
        self.singles = !of_query || self.character_end(0) == self.text.len();
        self.single_done = false;
    }

    fn next_term(&mut self) -> Option<&str> {
        if self.at >= self.text.len() {
            return None;
        }
        let (start, end) = (self.at, self.character_end(self.at));
        if self.singles && !self.single_done {
            self.single_done = true;
            self.last = start..end;
            return Some(&self.text[start..end]);
        }
        (self.at, self.single_done) = (end, false);
        if end == self.text.len() {
            return None;
        }
        self.last = start..self.character_end(end);
        Some(&self.text[self.last.clone()])
    }

    /// The end of the character that begins at `start`, with the marks on it.
    fn character_end(&self, start: usize) -> usize {
        let mut characters = self.text[start..].char_indices().skip(1);
        characters
            .find(|(_, c)| !is_combining_mark(*c))
            .map_or(self.text.len(), |(offset, _)| start + offset)
    }

    /// Where the last term comes from, when the run stands at `word` in its text.
    fn source_of(&self, word: &Range<usize>) -> Range<usize> {
        let after_start = self.origins.partition_point(|(at, _)| *at <= self.last.start);
        let from_end = self.origins.partition_point(|(at, _)| *at < self.last.end);
        let start = self.origins.get(after_start.saturating_sub(1)).map_or(0, |(_, from)| *from);
        let end = self.origins.get(from_end).map_or(self.source_len, |(_, from)| *from);
        word.start + start..word.start + end
    }
}

/// Whether `c` never becomes one character with what stands before it.
fn is_independent(c: char) -> bool {
    canonical_combining_class(c) == 0 && is_nfkc_quick(std::iter::once(c)) == IsNormalized::Yes
}

/// Bounds a term; words that differ stay different.
fn shorten(term: &mut String) {
    if term.len() > TERM_BYTES_MAX {
        let hash = fnv1a(term.as_bytes());
        term.truncate(term.floor_char_boundary(TERM_PREFIX_BYTES));
        term.push_str(&format!("{hash:016x}"));
    }
}

#[cfg(test)]
mod tests;
