//! Text as sparse vectors, so that their product is BM25.
//!
//! A term is a dimension. A chunk's weight there is the part of BM25 that depends on how often it
//! holds the term and how long it is; the server multiplies with how rare the term is (its `idf`
//! modifier). The words of the text, the words of the title and function words are dimensions of
//! their own, all in one vector: a query asks for the dimensions that it wants.
//!
//! The dimension is a hash of 32 bits. Two terms that share one count as the same word. In a
//! vocabulary of a million terms that happens to a given term with a chance of 1 in 4,000, and it
//! costs a wrong hit, not a missing one.

use std::collections::{BTreeMap, HashMap};

use qdrant_client::qdrant::SparseVector;
use trove_analysis::{Analyzer, FORMAT, Language, Profile, QueryTerms, WordClass, fnv1a};

/// How soon further occurrences of a term stop to count.
const K1: f32 = 1.2;
/// How much the length of a text counts.
const B: f32 = 0.75;
/// Share of a match in the title that is added to the match in title and text.
const TITLE_WEIGHT: f32 = 0.3;

/// Lengths, in terms, that count as neither short nor long. BM25 takes the averages of the
/// collection, which a client does not know; a constant costs little, as all that matters is the
/// relation of two chunks.
const TEXT_TERMS: f32 = 100.0;
const TITLE_TERMS: f32 = 8.0;
const FUNCTION_TERMS: f32 = 60.0;

/// The constants, as part of the format: weights that were made with others do not compare.
pub(crate) fn parameters() -> String {
    format!(
        "{FORMAT} bm25 k1={K1} b={B} title={TITLE_WEIGHT} lengths={TEXT_TERMS}/{TITLE_TERMS}/{FUNCTION_TERMS}"
    )
}

/// Name spaces of dimensions.
#[derive(Clone, Copy)]
enum Space {
    Text,
    Title,
    Function,
}

/// The vector of a chunk, whose texts are in some of `languages`; in any when there are none.
pub(crate) fn of_chunk(
    title: Option<&str>,
    text: &str,
    keywords: &str,
    languages: &[Language],
) -> SparseVector {
    let title = title.unwrap_or_default();
    let searched = format!("{title}\n{text}\n{keywords}");
    let profile = Profile::detect_among(&searched, languages);
    let counts = |text: &str, class| counts(Analyzer::new(profile).only(class), text);
    let mut weights = BTreeMap::new();
    let (content, function) = (WordClass::Content, WordClass::Function);
    add(&mut weights, Space::Text, &counts(&searched, content), TEXT_TERMS, 1.0);
    add(&mut weights, Space::Title, &counts(title, content), TITLE_TERMS, TITLE_WEIGHT);
    add(&mut weights, Space::Function, &counts(&searched, function), FUNCTION_TERMS, 1.0);
    vector(weights)
}

/// The vector of a query, in all languages; `None` when there is no word in it.
pub(crate) fn of_query(text: &str) -> Option<SparseVector> {
    let QueryTerms { content, function } = QueryTerms::of(text);
    let asked: [(&[Space], _); 2] =
        [(&[Space::Text, Space::Title], content), (&[Space::Function], function)];
    let mut weights = BTreeMap::new();
    for (spaces, terms) in &asked {
        for term in terms {
            for alternative in &term.alternatives {
                for space in *spaces {
                    *weights.entry(dimension(*space, alternative)).or_insert(0.0) +=
                        f32::from(term.count);
                }
            }
        }
    }
    (!weights.is_empty()).then(|| vector(weights))
}

/// Terms with how often each occurs.
fn counts(mut analyzer: Analyzer, text: &str) -> HashMap<String, u32> {
    let mut terms = analyzer.terms(text);
    let mut counts: HashMap<String, u32> = HashMap::new();
    while terms.advance() {
        match counts.get_mut(terms.term()) {
            Some(count) => *count = count.saturating_add(1),
            None => {
                counts.insert(terms.term().to_owned(), 1);
            }
        }
    }
    counts
}

fn add(
    weights: &mut BTreeMap<u32, f32>,
    space: Space,
    terms: &HashMap<String, u32>,
    usual: f32,
    share: f32,
) {
    let length = float(terms.values().sum());
    for (term, count) in terms {
        let count = float(*count);
        let weight = count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length / usual));
        *weights.entry(dimension(space, term)).or_insert(0.0) += share * weight;
    }
}

fn vector(weights: BTreeMap<u32, f32>) -> SparseVector {
    let (indices, values) = weights.into_iter().unzip();
    SparseVector { indices, values }
}

/// A hash, folded to 32 bits: stored in indexes, so it must never change.
fn dimension(space: Space, term: &str) -> u32 {
    let space = match space {
        Space::Text => b't',
        Space::Title => b'h',
        Space::Function => b'f',
    };
    let bytes: Vec<u8> = std::iter::once(space).chain(term.bytes()).collect();
    let hash = fnv1a(&bytes);
    u32::try_from((hash >> 32) ^ (hash & 0xffff_ffff)).unwrap_or(u32::MAX)
}

#[expect(
    clippy::as_conversions,
    clippy::cast_precision_loss,
    reason = "counts of terms are far below 2^24, and beyond it a rounded one is as good"
)]
fn float(count: u32) -> f32 {
    count as f32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use qdrant_client::qdrant::SparseVector;

    use super::{of_chunk, of_query, parameters};

    /// What the server computes where every term is equally rare.
    fn product(a: &SparseVector, b: &SparseVector) -> f32 {
        let pairs = a.indices.iter().zip(&a.values);
        pairs
            .filter_map(|(index, value)| {
                let at = b.indices.iter().position(|other| other == index)?;
                Some(value * b.values[at])
            })
            .sum()
    }

    fn score(query: &str, title: Option<&str>, text: &str) -> f32 {
        of_query(query).map_or(0.0, |query| product(&query, &of_chunk(title, text, "", &[])))
    }

    #[test]
    fn a_term_counts_more_in_a_title_more_often_and_in_a_shorter_text() {
        let once = score("zebra", None, "zebra crossing");
        assert!(once > 0.0);
        assert!(score("zebra", None, "zebra zebra") > once);
        assert!(score("zebra", None, &format!("zebra{}", " crossing".repeat(200))) < once);
        assert!(score("zebra", Some("zebra"), "crossing") > once);
        assert!(score("zebra crossing", None, "zebra crossing") > once);
        assert_eq!(score("giraffe", Some("zebra"), "crossing"), 0.0);
    }

    #[test]
    fn metadata_is_searched_too() {
        let chunk = of_chunk(None, "text", "okapi", &[]);
        assert!(product(&of_query("okapi").unwrap(), &chunk) > 0.0);
    }

    #[test]
    fn a_query_without_words_asks_for_nothing() {
        for text in ["", " ", "?!", "\u{0}"] {
            assert!(of_query(text).is_none(), "{text:?}");
        }
    }

    /// Whoever changes a dimension or a weight has to change the name of the analysis.
    #[test]
    fn the_stored_form_is_pinned() {
        assert_eq!(parameters(), "trove-3 bm25 k1=1.2 b=0.75 title=0.3 lengths=100/8/60");
        let vector = of_chunk(Some("zebra"), "crossing", "", &[]);
        assert_eq!(vector.indices, [2_298_141_576, 2_322_032_325, 3_747_332_767]);
    }

    proptest! {
        /// The server takes sorted, distinct dimensions and finite weights only.
        #[test]
        fn vectors_are_well_formed(title in any::<Option<String>>(), text in any::<String>()) {
            let vector = of_chunk(title.as_deref(), &text, "", &[]);
            prop_assert!(vector.indices.is_sorted_by(|a, b| a < b));
            prop_assert_eq!(vector.indices.len(), vector.values.len());
            prop_assert!(vector.values.iter().all(|value| value.is_finite() && *value > 0.0));
        }
    }
}
