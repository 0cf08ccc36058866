//! What a query asks for.

use crate::analyzer::{Analyzer, WordClass};

/// A word of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryTerm {
    /// The terms by which texts hold the word, each once; never empty. A text that holds several of
    /// them holds the word as often as all of them together.
    pub alternatives: Vec<String>,
    /// How often the query names the word.
    pub count: u16,
}

/// What a query asks for: words with how often each occurs, in order of first occurrence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryTerms {
    /// The class of all of them. Function words are asked for only when there is nothing else.
    pub class: WordClass,
    /// The words; empty when the query names none.
    pub terms: Vec<QueryTerm>,
}

impl QueryTerms {
    /// Punctuation has no meaning: any text is a list of words, perhaps an empty one.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let counted = |class: WordClass| Self { class, terms: counted(class, text) };
        let content = counted(WordClass::Content);
        if content.terms.is_empty() { counted(WordClass::Function) } else { content }
    }
}

fn counted(class: WordClass, text: &str) -> Vec<QueryTerm> {
    let mut analyzer = Analyzer::of_queries().only(class);
    let mut found = analyzer.terms(text);
    let mut terms: Vec<QueryTerm> = Vec::new();
    while found.advance() {
        match terms.iter_mut().find(|known| known.alternatives[0] == found.term()) {
            Some(known) => known.count = known.count.saturating_add(1),
            None => terms.push(QueryTerm { alternatives: vec![found.term().to_owned()], count: 1 }),
        }
    }
    terms
}

#[cfg(test)]
mod tests {
    use super::QueryTerms;
    use crate::analyzer::WordClass;

    fn counts(text: &str, class: WordClass) -> Vec<(String, u16)> {
        let query = QueryTerms::of(text);
        assert_eq!(query.class, class, "{text}");
        query.terms.into_iter().map(|term| (term.alternatives.concat(), term.count)).collect()
    }

    fn names(text: &str, class: WordClass) -> Vec<String> {
        counts(text, class).into_iter().map(|(term, _)| term).collect()
    }

    #[test]
    fn forms_of_a_word_are_one_term() {
        let check = |text: &str, terms: &[&str]| {
            assert_eq!(names(text, WordClass::Content), terms, "{text}");
        };
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
            counts("big disk, bigger DISK", WordClass::Content),
            [("big".to_owned(), 1), ("disk".to_owned(), 2), ("bigger".to_owned(), 1)]
        );
    }

    #[test]
    fn a_query_of_function_words_alone_asks_for_them() {
        let check = |text: &str, terms: &[&str]| {
            assert_eq!(names(text, WordClass::Function), terms, "{text}");
        };
        check("who does what", &["who", "does", "what"]);
        check("The Who", &["the", "who"]);
        check("To be, or not to be?", &["to", "be", "or", "not"]);
        check("IT", &["it"]);
        check("  \n", &[]);
        check("?!", &[]);
    }
}
