//! The terms of [`trove_analysis`], in the form tantivy takes.
//!
//! The analyzers are part of the format: a change of one needs a new name, or an old index does not
//! match its own terms any more.

use tantivy::tokenizer::{TextAnalyzer, Token, TokenStream, Tokenizer};
use trove_analysis::{Analyzer, Language, Profile, Terms, WordClass};

/// Name of [`words`] in the schema.
pub(crate) const WORDS: &str = trove_analysis::FORMAT;
/// Name of [`function_words`] in the schema.
pub(crate) const FUNCTION_WORDS: &str = "trove-function-words-3";

/// Content words: without case and accents, as stems.
pub(crate) fn words() -> TextAnalyzer {
    TextAnalyzer::from(TermTokenizer::of(WordClass::Content))
}

/// Function words alone, as they are.
pub(crate) fn function_words() -> TextAnalyzer {
    TextAnalyzer::from(TermTokenizer::of(WordClass::Function))
}

/// Stands before and after the languages of a text.
const MARK: char = '\u{1}';

/// `text` for one of the analyzers, which are handed nothing but text: it begins with the languages
/// of `profile`.
pub(crate) fn marked(profile: Profile, text: &str) -> String {
    let mut marked = String::with_capacity(text.len() + 8);
    marked.push(MARK);
    for language in profile.special_languages().iter() {
        marked.push_str(language.code());
    }
    marked.push(MARK);
    marked.push_str(text);
    marked
}

/// The languages of a [`marked`] text, and the text.
fn read_mark(text: &str) -> (Profile, &str) {
    let Some((codes, rest)) = text.strip_prefix(MARK).and_then(|rest| rest.split_once(MARK)) else {
        return (Profile::default(), text);
    };
    let starts = (0..codes.len()).step_by(2);
    let codes = starts.filter_map(|start| codes.get(start..start + 2));
    (codes.filter_map(Language::from_code).collect(), rest)
}

#[derive(Clone)]
struct TermTokenizer {
    class: WordClass,
    /// For texts of the profile beside it.
    analyzer: (Profile, Analyzer),
    token: Token,
}

impl TermTokenizer {
    fn of(class: WordClass) -> Self {
        let profile = Profile::default();
        let analyzer = (profile, Analyzer::new(profile).only(class));
        Self { class, analyzer, token: Token::default() }
    }
}

impl Tokenizer for TermTokenizer {
    type TokenStream<'a> = TermStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> TermStream<'a> {
        let Self { class, analyzer, token } = self;
        token.reset();
        let (profile, text) = read_mark(text);
        if analyzer.0 != profile {
            *analyzer = (profile, Analyzer::new(profile).only(*class));
        }
        TermStream { terms: analyzer.1.terms(text), token }
    }
}

struct TermStream<'a> {
    terms: Terms<'a>,
    token: &'a mut Token,
}

impl TokenStream for TermStream<'_> {
    fn advance(&mut self) -> bool {
        if !self.terms.advance() {
            return false;
        }
        // The buffers take turns; neither is copied. Where a term stands is not indexed.
        std::mem::swap(&mut self.token.text, self.terms.term_mut());
        self.token.position = self.token.position.wrapping_add(1);
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

#[cfg(test)]
mod tests {
    use trove_analysis::{Language, Profile};

    use super::{marked, read_mark};

    #[test]
    fn languages_are_handed_over_with_the_text() {
        for languages in [vec![], vec![Language::German], vec![Language::Polish, Language::Persian]]
        {
            let profile = Profile::from_iter(languages);
            for text in ["", "text", "\u{1}de\u{1}text"] {
                assert_eq!(read_mark(&marked(profile, text)), (profile, text));
            }
        }
        assert_eq!(read_mark("text"), (Profile::default(), "text"));
    }
}
