//! What a query asks for.

use crate::analyzer::{AskedWord, WordClass, asked_terms, asked_words};
use crate::language::{Language, LanguageSet, Script};

/// A word of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryTerm {
    /// The terms by which texts hold the word, each once; never empty. Nearly always a text holds
    /// at most one of them: they are the word in different languages.
    pub alternatives: Vec<String>,
    /// How often the query names the word.
    pub count: u16,
}

/// What a query asks for: words with how often each occurs, in order of first occurrence.
///
/// In which language a query is written is not asked: a word or two do not tell. It is read in
/// every language that texts are written in, and each text is searched for what the query says in
/// the language of the text. In a language in which the query has content words its function words
/// are not asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryTerms {
    /// Words to look for among the content words of texts.
    pub content: Vec<QueryTerm>,
    /// Words to look for among the function words of texts.
    pub function: Vec<QueryTerm>,
}

/// A word of the query in one language.
struct Reading {
    language: Option<Language>,
    class: WordClass,
    terms: Vec<String>,
}

/// A word of the query, in all languages that its script may stand for.
struct Word {
    script: Script,
    readings: Vec<Reading>,
}

impl QueryTerms {
    /// What `text` asks of texts in any language.
    ///
    /// Punctuation has no meaning: any text is a list of words, perhaps an empty one.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self::among(text, LanguageSet::all())
    }

    /// What `text` asks of texts in the default languages of all scripts and in `languages`; see
    /// [`Profile::special_languages`](crate::Profile::special_languages). For an index that knows
    /// what its texts are written in.
    #[must_use]
    pub fn among(text: &str, languages: LanguageSet) -> Self {
        let words: Vec<Word> =
            asked_words(text).into_iter().map(|word| Word::of(word, languages)).collect();
        let mut query = Self::default();
        for word in &words {
            let (mut content, mut function) = (Vec::new(), Vec::new());
            for reading in &word.readings {
                match reading.class {
                    WordClass::Content => content.extend_from_slice(&reading.terms),
                    WordClass::Function if has_content(&words, word.script, reading.language) => {}
                    WordClass::Function => function.extend_from_slice(&reading.terms),
                }
            }
            count(&mut query.content, content);
            count(&mut query.function, function);
        }
        query
    }

    /// Whether it names no word.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.content.is_empty() && self.function.is_empty()
    }
}

impl Word {
    fn of(word: AskedWord, languages: LanguageSet) -> Self {
        let word = match word {
            AskedWord::Word(word) => word,
            AskedWord::Piece(term) => {
                let reading =
                    Reading { language: None, class: WordClass::Content, terms: vec![term] };
                return Self { script: Script::Other, readings: vec![reading] };
            }
        };
        let script = Script::of(&word);
        let default = script.default_language();
        let special = languages
            .iter()
            .filter(|language| language.script() == script && Some(*language) != default)
            .map(Some);
        let readings = std::iter::once(default)
            .chain(special)
            .map(|language| {
                let (class, terms) = asked_terms(&word, language);
                Reading { language, class, terms }
            })
            .collect();
        Self { script, readings }
    }
}

/// Whether the query says something to a text that takes its words of `script` from `language`.
fn has_content(words: &[Word], script: Script, language: Option<Language>) -> bool {
    let is_content = |reading: &Reading| reading.class == WordClass::Content;
    words.iter().any(|word| {
        if word.script == script {
            word.readings.iter().any(|reading| reading.language == language && is_content(reading))
        } else {
            word.readings.iter().any(is_content)
        }
    })
}

/// Words with the same first term are forms of one word.
fn count(terms: &mut Vec<QueryTerm>, alternatives: Vec<String>) {
    let Some(first) = alternatives.first() else { return };
    match terms.iter_mut().find(|known| known.alternatives[0] == *first) {
        Some(known) => {
            known.count = known.count.saturating_add(1);
            for term in alternatives {
                if !known.alternatives.contains(&term) {
                    known.alternatives.push(term);
                }
            }
        }
        None => terms.push(QueryTerm { alternatives, count: 1 }),
    }
}

#[cfg(test)]
mod tests {
    use super::{QueryTerm, QueryTerms};
    use crate::language::{Language, LanguageSet};

    fn flat(terms: Vec<QueryTerm>) -> Vec<(String, u16)> {
        terms.into_iter().map(|term| (term.alternatives.join(" "), term.count)).collect()
    }

    fn names(terms: Vec<QueryTerm>) -> Vec<String> {
        flat(terms).into_iter().map(|(term, _)| term).collect()
    }

    fn english(text: &str) -> QueryTerms {
        QueryTerms::among(text, LanguageSet::EMPTY)
    }

    #[test]
    fn forms_of_a_word_are_one_term() {
        let check = |text: &str, terms: &[&str]| {
            let query = english(text);
            assert_eq!(names(query.content), terms, "{text}");
            assert_eq!(query.function, [], "{text}");
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
        check("файлов файлы", &["файл"]);
        check("the 東京都", &["東京", "京都"]);
    }

    #[test]
    fn repeated_words_are_counted() {
        assert_eq!(
            flat(english("big disk, bigger DISK").content),
            [("big".to_owned(), 1), ("disk".to_owned(), 2), ("bigger".to_owned(), 1)]
        );
    }

    #[test]
    fn a_query_of_function_words_alone_asks_for_them() {
        let check = |text: &str, terms: &[&str]| {
            let query = english(text);
            assert_eq!(names(query.function), terms, "{text}");
            assert_eq!(query.content, [], "{text}");
        };
        check("who does what", &["who", "does", "what"]);
        check("The Who", &["the", "who"]);
        check("To be, or not to be?", &["to", "be", "or", "not"]);
        check("IT", &["it"]);
        check("  \n", &[]);
        check("?!", &[]);
    }

    #[test]
    fn a_query_is_read_in_every_language() {
        let languages = LanguageSet::from_iter([Language::German, Language::Spanish]);
        let query = QueryTerms::among("die Rechnungen", languages);
        assert_eq!(
            names(query.content),
            ["die es:die", "rechnungen de:rechnung es:rechnung"],
            "`die` is a function word in German"
        );
        assert_eq!(query.function, []);
        let query = QueryTerms::among("facturacion", languages);
        assert_eq!(names(query.content), ["facturacion de:facturacion es:factur"]);
        assert_eq!(names(QueryTerms::among("東京", languages).content), ["東京"]);
    }

    #[test]
    fn each_language_decides_whether_there_is_more_than_function_words() {
        let languages = LanguageSet::from_iter([Language::German]);
        let query = QueryTerms::among("The Who", languages);
        assert_eq!(names(query.function), ["the", "who"]);
        assert_eq!(names(query.content), ["de:the", "de:who"]);
        let query = QueryTerms::among("nicht файл", languages);
        assert_eq!(names(query.content), ["nicht", "файл"]);
        assert_eq!(query.function, []);
    }
}
