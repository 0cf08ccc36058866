//! The terms of [`trove_analysis`], in the form tantivy takes.
//!
//! The analyzers are part of the format: a change of one needs a new name, or an old index does not
//! match its own terms any more.

use tantivy::tokenizer::{TextAnalyzer, Token, TokenStream, Tokenizer};
use trove_analysis::{Analyzer, Terms, WordClass};

/// Name of [`words`] in the schema.
pub(crate) const WORDS: &str = trove_analysis::FORMAT;
/// Name of [`function_words`] in the schema.
pub(crate) const FUNCTION_WORDS: &str = "trove-en-function-words-1";

/// Content words: without case and accents, as stems.
pub(crate) fn words() -> TextAnalyzer {
    TextAnalyzer::from(TermTokenizer::of(WordClass::Content))
}

/// Function words alone, as they are.
pub(crate) fn function_words() -> TextAnalyzer {
    TextAnalyzer::from(TermTokenizer::of(WordClass::Function))
}

#[derive(Clone)]
struct TermTokenizer {
    analyzer: Analyzer,
    token: Token,
}

impl TermTokenizer {
    fn of(class: WordClass) -> Self {
        Self { analyzer: Analyzer::of_texts().only(class), token: Token::default() }
    }
}

impl Tokenizer for TermTokenizer {
    type TokenStream<'a> = TermStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> TermStream<'a> {
        self.token.reset();
        TermStream { terms: self.analyzer.terms(text), token: &mut self.token }
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
