//! From text to terms.

use std::ops::Range;

use unicode_normalization::char::{canonical_combining_class, is_combining_mark};
use unicode_normalization::{IsNormalized, is_nfkc_quick};

use crate::folding::{fold, fold_latin};
use crate::function_words::languages_of;
use crate::hash::fnv1a;
use crate::language::{Language, LanguageSet, Script};
use crate::profile::Profile;
use crate::segmentation::{Kind, next_run};
use crate::stems::Stems;

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
/// * Content words are stemmed, function words are not. What is which depends on the language, see
///   [`Profile`]. The terms of a language that is not the default one of its script begin with its
///   code: `de:rechnung`.
#[derive(Clone)]
pub struct Analyzer {
    wanted: Option<WordClass>,
    /// How the words of each language of the profile are treated: Latin script first.
    stems: [(Script, Stems, LanguageSet); Script::KNOWN.len()],
    term: String,
    buffer: String,
    run: Run,
}

impl Analyzer {
    /// For a text with words of the languages of `profile`.
    #[must_use]
    pub fn new(profile: Profile) -> Self {
        let of = |script: Script| match profile.language(script) {
            Some(language) => (script, Stems::of(language), LanguageSet::from_iter([language])),
            None => (script, Stems::NONE, LanguageSet::EMPTY),
        };
        Self {
            wanted: None,
            stems: Script::KNOWN.map(of),
            term: String::new(),
            buffer: String::new(),
            run: Run::default(),
        }
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
/// use trove_analysis::{Analyzer, Profile, WordClass};
///
/// let text = "The invoices!";
/// let mut analyzer = Analyzer::new(Profile::detect(text)).only(WordClass::Content);
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
            let Analyzer { wanted, stems, term, buffer, run } = &mut *self.analyzer;
            if run.text.is_empty() {
                let script = Script::of(term);
                let known = stems.iter().find(|(known, ..)| *known == script);
                let (_, stems, languages) =
                    known.copied().unwrap_or((script, Stems::NONE, LanguageSet::EMPTY));
                self.class = class_of(term, buffer, languages);
                if wanted.is_some_and(|wanted| wanted != self.class) {
                    continue;
                }
                match self.class {
                    WordClass::Content => stems.term(term, buffer),
                    WordClass::Function => stems.function_term(term, buffer),
                }
            } else {
                self.class = WordClass::Content;
                if *wanted == Some(WordClass::Function) {
                    continue;
                }
            }
            shorten(term);
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
        let Analyzer { term, run, .. } = &mut *self.analyzer;
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
                run.start(source, false);
            } else {
                fold(source, term);
                // Nothing is left of signs that only lengthen a line.
                if !term.is_empty() {
                    break;
                }
            }
        }
        true
    }
}

/// What `word`, which is folded, is in texts in one of `languages`.
fn class_of(word: &str, buffer: &mut String, languages: LanguageSet) -> WordClass {
    let found = if word.is_ascii() {
        languages_of(word)
    } else {
        buffer.clear();
        fold_latin(word, buffer);
        languages_of(buffer)
    };
    if found.intersects(languages) { WordClass::Function } else { WordClass::Content }
}

/// A word of a query before it is known what to look for.
pub(crate) enum AskedWord {
    /// Of a script with spaces: folded.
    Word(String),
    /// Of any other: a term as it is in texts.
    Piece(String),
}

/// The words of a query, in order. Of a script without spaces only the pairs count, unless a
/// character stands alone.
pub(crate) fn asked_words(text: &str) -> Vec<AskedWord> {
    let mut words = Vec::new();
    let (mut at, mut run) = (0, Run::default());
    while let Some((kind, range)) = next_run(text, at) {
        at = range.end;
        let source = &text[range];
        if kind == Kind::Unspaced {
            run.start(source, true);
            while let Some(piece) = run.next_term() {
                let mut term = piece.to_owned();
                shorten(&mut term);
                words.push(AskedWord::Piece(term));
            }
        } else {
            let mut word = String::new();
            fold(source, &mut word);
            if !word.is_empty() {
                words.push(AskedWord::Word(word));
            }
        }
    }
    words
}

/// What `word` of a query is to texts in `language`: its class and the terms by which they hold it.
pub(crate) fn asked_terms(word: &str, language: Option<Language>) -> (WordClass, Vec<String>) {
    let stems = language.map_or(Stems::NONE, Stems::of);
    let languages: LanguageSet = language.into_iter().collect();
    let mut buffer = String::new();
    let class = class_of(word, &mut buffer, languages);
    let mut terms = match class {
        WordClass::Content => stems.alternatives(word),
        WordClass::Function => {
            let mut term = word.to_owned();
            stems.function_term(&mut term, &mut buffer);
            vec![term]
        }
    };
    terms.iter_mut().for_each(shorten);
    (class, terms)
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
