//! Where a word begins and ends, and what of its spelling does not matter, in any script.

use std::ops::Range;

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};
use unicode_normalization::char::is_combining_mark;

use super::folding::{fold, is_invisible};
use crate::tokens::fnv1a;

/// Longest term in bytes. A longer word is cut, and told from others that begin like it by a hash.
const TERM_BYTES_MAX: usize = 100;
/// What is left of an overlong word; sixteen digits of its hash follow.
const TERM_PREFIX_BYTES: usize = TERM_BYTES_MAX - 16;

/// Cuts text into terms without a dictionary.
///
/// * Letters and digits make a word, marks on them included. Whatever else stands between two
///   words has no meaning, except pictographs, each of which is a word.
/// * Scripts that put no spaces between words (and Korean, whose particles are written onto the
///   word) give a term for each character and one for each two neighbours. Of a query only the
///   pairs count, unless a character stands alone.
/// * Spelling that makes no difference is dropped, see [`fold`].
#[derive(Clone)]
pub(crate) struct WordTokenizer {
    of_queries: bool,
    wanted: fn(&str) -> bool,
    token: Token,
    run: Run,
}

impl WordTokenizer {
    /// For text that is to be found, without terms that are not `wanted`.
    pub(crate) fn of_texts(wanted: fn(&str) -> bool) -> Self {
        Self { of_queries: false, wanted, token: Token::default(), run: Run::default() }
    }

    /// For text that says what to find.
    pub(crate) fn of_queries(wanted: fn(&str) -> bool) -> Self {
        Self { of_queries: true, ..Self::of_texts(wanted) }
    }
}

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        self.token.reset();
        self.run.clear();
        WordStream { text, at: 0, tokenizer: self }
    }
}

/// The terms of one text.
pub(crate) struct WordStream<'a> {
    text: &'a str,
    /// What lies before has been read.
    at: usize,
    tokenizer: &'a mut WordTokenizer,
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        while self.read_term() {
            if (self.tokenizer.wanted)(&self.tokenizer.token.text) {
                return true;
            }
        }
        false
    }

    fn token(&self) -> &Token {
        &self.tokenizer.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.tokenizer.token
    }
}

impl WordStream<'_> {
    /// Makes the next term the token; `false` when there is none.
    fn read_term(&mut self) -> bool {
        let WordTokenizer { of_queries, token, run, .. } = &mut *self.tokenizer;
        token.text.clear();
        token.position = token.position.wrapping_add(1);
        loop {
            if let Some(term) = run.next_term() {
                token.text.push_str(term);
                break;
            }
            let Some((kind, range)) = next_run(self.text, self.at) else { return false };
            self.at = range.end;
            (token.offset_from, token.offset_to) = (range.start, range.end);
            let source = &self.text[range];
            if kind == Kind::Unspaced {
                run.start(source, *of_queries);
            } else {
                fold(source, &mut token.text);
                break;
            }
        }
        shorten(&mut token.text);
        true
    }
}

/// A stretch of a script without spaces, handed out piece by piece.
#[derive(Clone, Default)]
struct Run {
    text: String,
    /// Where the next character begins.
    at: usize,
    /// Whether characters are terms, not only pairs.
    singles: bool,
    /// Whether the character at `at` was handed out.
    single_done: bool,
}

impl Run {
    fn clear(&mut self) {
        self.text.clear();
        self.at = 0;
    }

    fn start(&mut self, source: &str, of_query: bool) {
        self.clear();
        fold(source, &mut self.text);
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
            return Some(&self.text[start..end]);
        }
        (self.at, self.single_done) = (end, false);
        (end < self.text.len()).then(|| &self.text[start..self.character_end(end)])
    }

    /// The end of the character that begins at `start`, with the marks on it.
    fn character_end(&self, start: usize) -> usize {
        let mut characters = self.text[start..].char_indices().skip(1);
        characters
            .find(|(_, c)| !is_combining_mark(*c))
            .map_or(self.text.len(), |(offset, _)| start + offset)
    }
}

/// What a character is to the words around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A letter or digit of a script with spaces between its words.
    Spaced,
    /// A letter of any other.
    Unspaced,
    /// A word by itself.
    Pictograph,
    /// Belongs to the character before it.
    Mark,
    /// Stands between words.
    Other,
}

fn kind_of(c: char) -> Kind {
    if c.is_ascii() {
        return if c.is_ascii_alphanumeric() { Kind::Spaced } else { Kind::Other };
    }
    match c {
        // Signs of flags come in pairs.
        '\u{1f1e6}'..='\u{1f1ff}' => Kind::Unspaced,
        // Tones of skin.
        '\u{1f3fb}'..='\u{1f3ff}' => Kind::Mark,
        _ if c.is_alphabetic() && is_unspaced(c) => Kind::Unspaced,
        _ if c.is_alphanumeric() => Kind::Spaced,
        _ if is_invisible(c) || is_combining_mark(c) => Kind::Mark,
        '\u{231a}'
        | '\u{231b}'
        | '\u{23e9}'..='\u{23fa}'
        | '\u{2600}'..='\u{27bf}'
        | '\u{2b1b}'
        | '\u{2b1c}'
        | '\u{2b50}'
        | '\u{2b55}'
        | '\u{1f000}'..='\u{1faff}' => Kind::Pictograph,
        _ => Kind::Other,
    }
}

/// Blocks of scripts that are written without spaces, and Korean.
fn is_unspaced(c: char) -> bool {
    matches!(c,
        // Thai, Lao
        '\u{0e00}'..='\u{0eff}'
        // Myanmar, Khmer, Tai Le, New Tai Lue, Tai Tham, Tai Viet
        | '\u{1000}'..='\u{109f}' | '\u{a9e0}'..='\u{a9ff}' | '\u{aa60}'..='\u{aadf}'
        | '\u{1780}'..='\u{17ff}' | '\u{1950}'..='\u{19df}' | '\u{1a20}'..='\u{1aaf}'
        // Hangul
        | '\u{1100}'..='\u{11ff}' | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7ff}'
        // Kana, Bopomofo and what they share with Han; half-width forms
        | '\u{2e80}'..='\u{31ff}' | '\u{ff66}'..='\u{ffdc}' | '\u{1aff0}'..='\u{1b16f}'
        // Han
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

/// The first run of one kind in `text` from `start` on.
fn next_run(text: &str, start: usize) -> Option<(Kind, Range<usize>)> {
    let mut characters = text[start..].char_indices();
    let (kind, from) = characters.find_map(|(offset, c)| match kind_of(c) {
        Kind::Mark | Kind::Other => None,
        kind => Some((kind, start + offset)),
    })?;
    let end = characters
        .find(|(_, c)| match kind_of(*c) {
            Kind::Mark => false,
            // Each is a word of its own.
            Kind::Pictograph => true,
            other => other != kind,
        })
        .map_or(text.len(), |(offset, _)| start + offset);
    Some((kind, from..end))
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
mod tests {
    use proptest::prelude::*;
    use tantivy::tokenizer::{TokenStream, Tokenizer};

    use super::{TERM_BYTES_MAX, WordTokenizer};

    fn terms(mut tokenizer: WordTokenizer, text: &str) -> Vec<String> {
        let mut stream = tokenizer.token_stream(text);
        let mut terms = Vec::new();
        while stream.advance() {
            terms.push(stream.token().text.clone());
        }
        terms
    }

    fn indexed(text: &str) -> Vec<String> {
        terms(WordTokenizer::of_texts(|_| true), text)
    }

    fn asked(text: &str) -> Vec<String> {
        terms(WordTokenizer::of_queries(|_| true), text)
    }

    #[test]
    fn words_are_runs_of_letters_and_digits() {
        let check = |text: &str, words: &[&str]| {
            assert_eq!(indexed(text), words, "{text}");
            assert_eq!(asked(text), words, "{text}");
        };
        check("", &[]);
        check(" -- !? ", &[]);
        check(
            "Don't snake_case x86_64, v3.14",
            &["don", "t", "snake", "case", "x86", "64", "v3", "14"],
        );
        check("Kubernetes™ → 2²", &["kubernetes", "22"]);
        check("हिन्दी भाषा", &["हिन्दी", "भाषा"]);
        check("сла́вный Ёж", &["славный", "еж"]);
        check("๒๕๖๗", &["๒๕๖๗"]);
    }

    #[test]
    fn scripts_without_spaces_give_characters_and_pairs() {
        let check = |text: &str, words: &[&str]| assert_eq!(indexed(text), words, "{text}");
        check("世", &["世"]);
        check("東京都", &["東", "東京", "京", "京都", "都"]);
        check("iPhone手机15", &["iphone", "手", "手机", "机", "15"]);
        check("サーバー", &["サ", "サー", "ー", "ーバ", "バ", "バー", "ー"]);
        check("회사는", &["회", "회사", "사", "사는", "는"]);
        check("ที่ดี", &["ที่", "ที่ดี", "ดี"]);
        check("中。国", &["中", "国"]);
        check("🇩🇪", &["🇩", "🇩🇪", "🇪"]);
    }

    #[test]
    fn a_query_asks_for_pairs_where_there_are_any() {
        let check = |text: &str, words: &[&str]| assert_eq!(asked(text), words, "{text}");
        check("世", &["世"]);
        check("東京都", &["東京", "京都"]);
        check("iPhone手机15", &["iphone", "手机", "15"]);
        check("中 国", &["中", "国"]);
        check("ดี", &["ดี"]);
    }

    #[test]
    fn each_pictograph_is_a_word() {
        assert_eq!(indexed("done🎉🎉✅ok"), ["done", "🎉", "🎉", "✅", "ok"]);
        assert_eq!(indexed("👩\u{200d}💻"), ["👩", "💻"]);
    }

    #[test]
    fn overlong_words_are_cut_and_told_apart() {
        let word = "x".repeat(100);
        assert_eq!(indexed(&word).concat(), word);
        let (one, other) = (indexed(&format!("{word}y")), indexed(&format!("{word}z")));
        assert_eq!((one.len(), one[0].len()), (1, TERM_BYTES_MAX));
        assert_ne!(one, other);
        assert_eq!(one, indexed(&format!("{word}Y")));
        assert!(indexed(&"ш".repeat(500))[0].len() <= TERM_BYTES_MAX);
        assert!(indexed(&format!("中{}", "\u{0e31}".repeat(500)))[0].len() <= TERM_BYTES_MAX);
    }

    proptest! {
        /// What is asked for in the words of a text is in the text.
        #[test]
        fn a_text_finds_itself(text in "[a-zA-Z0-9 .,üßİς中国かガ한국ทีด่ក្မန်🎉🇩🇪\u{300}\u{200d}]{0,60}") {
            let indexed = indexed(&text);
            for term in asked(&text) {
                prop_assert!(indexed.contains(&term), "{} in {:?}", term, indexed);
                prop_assert!(!term.is_empty());
            }
        }

        #[test]
        fn any_text_has_bounded_terms(text in any::<String>()) {
            for term in indexed(&text) {
                prop_assert!(term.len() <= TERM_BYTES_MAX);
            }
        }
    }
}
