//! From text to terms: how words are told apart and which forms of one count as the same.
//!
//! Words of any script are found; stems and function words are English. The analyzers are part of
//! the format: a change of one needs a new name, or an old index does not match its own terms any
//! more.

use tantivy::tokenizer::{AsciiFoldingFilter, Language, Stemmer, TextAnalyzer, TokenStream};

use super::segmentation::WordTokenizer;

/// Name of [`words`] in the schema.
pub(crate) const WORDS: &str = "trove-en-2";
/// Name of [`function_words`] in the schema.
pub(crate) const FUNCTION_WORDS: &str = "trove-en-function-words-1";

/// Words that sentences and questions are made of, sorted: Lucene's stop words and more.
///
/// They have a field of their own. A query that has anything else to say is better off without
/// them, and so are the lengths of texts, which BM25 compares.
const FUNCTION_WORD_LIST: &[&str] = &[
    "a", "about", "also", "am", "an", "and", "are", "as", "at", "be", "been", "being", "but", "by",
    "can", "could", "did", "do", "does", "doing", "for", "from", "had", "has", "have", "having",
    "how", "i", "if", "in", "into", "is", "it", "its", "me", "my", "no", "not", "of", "on", "or",
    "our", "ours", "s", "should", "so", "such", "t", "than", "that", "the", "their", "then",
    "there", "these", "they", "this", "to", "was", "we", "were", "what", "when", "where", "which",
    "who", "whom", "why", "will", "with", "would", "you", "your", "yours",
];

/// The longest of them.
const FUNCTION_WORD_BYTES_MAX: usize = 6;

fn is_function_word(word: &str) -> bool {
    word.len() <= FUNCTION_WORD_BYTES_MAX && FUNCTION_WORD_LIST.binary_search(&word).is_ok()
}

fn is_content_word(word: &str) -> bool {
    !is_function_word(word)
}

/// Without case, accents and function words; English stems.
pub(crate) fn words() -> TextAnalyzer {
    stems_of(WordTokenizer::of_texts(is_content_word))
}

/// Function words alone, as they are.
pub(crate) fn function_words() -> TextAnalyzer {
    TextAnalyzer::from(WordTokenizer::of_texts(is_function_word))
}

fn stems_of(words: WordTokenizer) -> TextAnalyzer {
    TextAnalyzer::builder(words)
        .filter(AsciiFoldingFilter)
        .filter(Stemmer::new(Language::English))
        .build()
}

/// What a query asks for: terms with how often each occurs, in order of first occurrence.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum QueryTerms {
    /// Terms of [`words`].
    Words(Vec<(String, u16)>),
    /// Terms of [`function_words`], as there are no others.
    FunctionWords(Vec<(String, u16)>),
}

impl QueryTerms {
    /// Punctuation has no meaning: any text is a list of words, perhaps an empty one.
    pub(crate) fn of(text: &str) -> Self {
        let words = counted(stems_of(WordTokenizer::of_queries(is_content_word)), text);
        if words.is_empty() {
            Self::FunctionWords(counted(function_words(), text))
        } else {
            Self::Words(words)
        }
    }
}

fn counted(mut analyzer: TextAnalyzer, text: &str) -> Vec<(String, u16)> {
    let mut stream = analyzer.token_stream(text);
    let mut terms: Vec<(String, u16)> = Vec::new();
    while let Some(token) = stream.next() {
        match terms.iter_mut().find(|(term, _)| *term == token.text) {
            Some((_, count)) => *count = count.saturating_add(1),
            None => terms.push((token.text.clone(), 1)),
        }
    }
    terms
}

#[cfg(test)]
mod tests {
    use super::{FUNCTION_WORD_BYTES_MAX, FUNCTION_WORD_LIST, QueryTerms};

    fn words(text: &str) -> Vec<(String, u16)> {
        match QueryTerms::of(text) {
            QueryTerms::Words(terms) => terms,
            QueryTerms::FunctionWords(terms) => panic!("only {terms:?} in {text}"),
        }
    }

    fn names(terms: Vec<(String, u16)>) -> Vec<String> {
        terms.into_iter().map(|(term, _)| term).collect()
    }

    #[test]
    fn forms_of_a_word_are_one_term() {
        let check = |text: &str, terms: &[&str]| assert_eq!(names(words(text)), terms, "{text}");
        check("Invoices invoice INVOICED", &["invoic"]);
        check("What is the size of my disk?", &["size", "disk"]);
        check("IT department", &["depart"]);
        check("willing", &["will"]);
        check("Café CAFE", &["cafe"]);
        check("Straße STRASSE strasse", &["strass"]);
        check("Mu\u{308}ller Müller MULLER", &["muller"]);
        check("İzmir IZMIR ızmir", &["izmir"]);
        check("AND (title:\"x y\"~2) -z*", &["titl", "x", "y", "2", "z"]);
    }

    #[test]
    fn repeated_words_are_counted() {
        assert_eq!(
            words("big disk, bigger DISK"),
            [("big".to_owned(), 1), ("disk".to_owned(), 2), ("bigger".to_owned(), 1)]
        );
    }

    #[test]
    fn a_query_of_function_words_alone_searches_for_them() {
        let check = |text: &str, terms: &[&str]| match QueryTerms::of(text) {
            QueryTerms::FunctionWords(found) => assert_eq!(names(found), terms, "{text}"),
            QueryTerms::Words(found) => panic!("{found:?} in {text}"),
        };
        check("who does what", &["who", "does", "what"]);
        check("The Who", &["the", "who"]);
        check("To be, or not to be?", &["to", "be", "or", "not"]);
        check("IT", &["it"]);
        check("  \n", &[]);
        check("?!", &[]);
    }

    #[test]
    fn the_list_of_function_words_is_sorted_and_its_words_are_short() {
        assert!(FUNCTION_WORD_LIST.iter().all(|word| word.len() <= FUNCTION_WORD_BYTES_MAX));
        assert!(FUNCTION_WORD_LIST.is_sorted_by(|a, b| a < b));
    }
}
