//! From text to terms: how words are told apart and which forms of one count as the same.
//!
//! English for now. The analyzer is part of the format: a change of it needs a new name, or an old
//! index does not match its own terms any more.

use std::collections::HashSet;
use std::sync::OnceLock;

use tantivy::tokenizer::{
    AsciiFoldingFilter, Language, LowerCaser, RemoveLongFilter, SimpleTokenizer, Stemmer,
    StopWordFilter, TextAnalyzer, TokenStream,
};

/// Name of the analyzer in the schema.
pub(crate) const ANALYZER: &str = "trove-en-1";

/// Longest word in bytes; what is longer is no word (base64, hashes of hashes).
const WORD_BYTES_MAX: usize = 100;

/// Lower case, no accents, no function words, English stems.
pub(crate) fn analyzer() -> TextAnalyzer {
    let words = TextAnalyzer::builder(SimpleTokenizer::default())
        .filter(RemoveLongFilter::limit(WORD_BYTES_MAX + 1))
        .filter(LowerCaser)
        .filter(AsciiFoldingFilter);
    match StopWordFilter::new(Language::English) {
        Some(stop_words) => {
            words.filter(stop_words).filter(Stemmer::new(Language::English)).build()
        }
        None => words.filter(Stemmer::new(Language::English)).build(),
    }
}

/// Words that questions are made of. They are indexed, so that a query of nothing else still finds
/// them, and left out of a query that has anything else to say.
const QUESTION_WORDS: &[&str] = &[
    "about", "also", "am", "been", "being", "can", "could", "did", "do", "does", "from", "had",
    "has", "have", "having", "how", "i", "its", "me", "my", "our", "s", "should", "so", "t",
    "than", "we", "were", "what", "when", "where", "which", "who", "whom", "why", "would", "you",
    "your",
];

/// [`QUESTION_WORDS`] as the analyzer leaves them.
fn question_stems() -> &'static HashSet<String> {
    static STEMS: OnceLock<HashSet<String>> = OnceLock::new();
    STEMS.get_or_init(|| {
        let mut analyzer = analyzer();
        let text = QUESTION_WORDS.join(" ");
        let mut stream = analyzer.token_stream(&text);
        let mut stems = HashSet::new();
        while let Some(token) = stream.next() {
            stems.insert(token.text.clone());
        }
        stems
    })
}

/// The terms of a query with how often each occurs, in order of first occurrence.
///
/// Punctuation has no meaning: any text is a list of words, perhaps an empty one.
pub(crate) fn query_terms(text: &str) -> Vec<(String, u16)> {
    let mut analyzer = analyzer();
    let mut stream = analyzer.token_stream(text);
    let mut terms: Vec<(String, u16)> = Vec::new();
    let mut asking: Vec<(String, u16)> = Vec::new();
    let question_stems = question_stems();
    while let Some(token) = stream.next() {
        let list = if question_stems.contains(&token.text) { &mut asking } else { &mut terms };
        match list.iter_mut().find(|(term, _)| *term == token.text) {
            Some((_, count)) => *count = count.saturating_add(1),
            None => list.push((token.text.clone(), 1)),
        }
    }
    if terms.is_empty() { asking } else { terms }
}

#[cfg(test)]
mod tests {
    use super::query_terms;

    #[test]
    fn forms_of_a_word_are_one_term() {
        let check = |text: &str, terms: &[&str]| {
            let got: Vec<String> = query_terms(text).into_iter().map(|(term, _)| term).collect();
            assert_eq!(got, terms, "{text}");
        };
        check("Invoices invoice INVOICED", &["invoic"]);
        check("What is the size of my disk?", &["size", "disk"]);
        check("who are you", &["who", "you"]);
        check("Café CAFE", &["cafe"]);
        check("the of and", &[]);
        check("  \n", &[]);
        check("AND (title:\"x y\"~2) -z*", &["titl", "x", "y", "2", "z"]);
    }

    #[test]
    fn repeated_words_are_counted() {
        assert_eq!(
            query_terms("big disk, bigger DISK"),
            [("big".to_owned(), 1), ("disk".to_owned(), 2), ("bigger".to_owned(), 1)]
        );
    }

    #[test]
    fn a_query_of_question_words_alone_searches_for_them() {
        let check = |text: &str, count: usize| assert_eq!(query_terms(text).len(), count, "{text}");
        check("who does what", 3);
        check("who does accounting", 1);
        check("what was having been", 3);
    }

    #[test]
    fn overlong_words_are_dropped() {
        assert!(query_terms(&"x".repeat(101)).is_empty());
        assert_eq!(query_terms(&"x".repeat(100)).len(), 1);
    }
}
