//! The lexical ranking: BM25 over title and text.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tantivy::query::{BooleanQuery, BoostQuery, EnableScoring, Query, TermQuery, Weight};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocAddress, DocId, Score, Searcher, SegmentReader, Term};
use trove_analysis::{QueryTerm, QueryTerms, WordClass};

use super::allowed::EntrySet;
use super::schema::Fields;

/// A ranked entry. Ordered by score, at equal scores earlier entries first.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ranked {
    score: Score,
    entry: DocAddress,
}

impl Eq for Ranked {}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.score.total_cmp(&other.score).then_with(|| other.entry.cmp(&self.entry))
    }
}

/// Share of a match in the title that is added to the match in title and text.
const TITLE_WEIGHT: Score = 0.3;

/// The best `limit` live entries that hold a word of `text` and are in `allowed`, which has a set
/// for each segment; best first.
///
/// The score is BM25 over title and text, plus [`TITLE_WEIGHT`] times BM25 over the title alone.
///
/// The filter is tested while ranking, entry by entry, so that blocks of postings that cannot
/// reach the worst score kept so far are skipped as they are without a filter.
pub(crate) fn rank(
    fields: &Fields,
    searcher: &Searcher,
    text: &str,
    allowed: &[impl AsRef<EntrySet>],
    limit: usize,
) -> tantivy::Result<Vec<(DocAddress, Score)>> {
    let QueryTerms { class, terms } = QueryTerms::of(text);
    let field = match class {
        WordClass::Content => fields.words,
        WordClass::Function => fields.function_words,
    };
    if terms.is_empty() || limit == 0 {
        return Ok(Vec::new());
    }
    let words = weight(field, searcher, &terms)?;
    let titles = weight(fields.title_words, searcher, &terms)?;
    let mut best: BinaryHeap<Reverse<Ranked>> = BinaryHeap::with_capacity(limit + 1);
    let mut threshold = Score::MIN;
    for ((segment_ord, segment), allowed) in (0u32..).zip(searcher.segment_readers()).zip(allowed) {
        let allowed = allowed.as_ref();
        let titles = TitleScores::of(titles.as_ref(), segment, allowed)?;
        // An entry below the threshold by words can still make it by its title.
        let words_threshold = |threshold: Score| threshold - titles.max;
        words.for_each_pruning(words_threshold(threshold), segment, &mut |doc, score| {
            if allowed.contains(doc) && !segment.is_deleted(doc) {
                let score = score + titles.of_entry(doc);
                best.push(Reverse(Ranked { score, entry: DocAddress::new(segment_ord, doc) }));
                if best.len() > limit {
                    best.pop();
                }
                if best.len() == limit {
                    threshold = best.peek().map_or(threshold, |worst| worst.0.score);
                }
            }
            words_threshold(threshold)
        })?;
    }
    let ranked = best.into_sorted_vec();
    Ok(ranked.into_iter().map(|Reverse(ranked)| (ranked.entry, ranked.score)).collect())
}

/// What the titles of a segment add, by rising entry. Title matches are few: they are collected
/// first and looked up while the text is ranked.
struct TitleScores {
    scores: Vec<(DocId, Score)>,
    max: Score,
}

impl TitleScores {
    fn of(
        titles: &dyn Weight,
        segment: &SegmentReader,
        allowed: &EntrySet,
    ) -> tantivy::Result<Self> {
        let mut scores = Vec::new();
        let mut max: Score = 0.0;
        titles.for_each(segment, &mut |doc, score| {
            if allowed.contains(doc) {
                let score = score * TITLE_WEIGHT;
                max = max.max(score);
                scores.push((doc, score));
            }
        })?;
        scores.sort_unstable_by_key(|(doc, _)| *doc);
        Ok(Self { scores, max })
    }

    fn of_entry(&self, entry: DocId) -> Score {
        match self.scores.binary_search_by_key(&entry, |(doc, _)| *doc) {
            Ok(at) => self.scores[at].1,
            Err(_) => 0.0,
        }
    }
}

fn weight(
    field: Field,
    searcher: &Searcher,
    terms: &[QueryTerm],
) -> tantivy::Result<Box<dyn Weight>> {
    let words: Vec<Box<dyn Query>> = terms
        .iter()
        .flat_map(|QueryTerm { alternatives, count }| {
            alternatives.iter().map(move |term| (term, count))
        })
        .map(|(word, count)| {
            let term = Term::from_field_text(field, word);
            let query: Box<dyn Query> =
                Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs));
            // Blocks can only be skipped for plain terms, so single words stay plain.
            if *count > 1 { Box::new(BoostQuery::new(query, Score::from(*count))) } else { query }
        })
        .collect();
    BooleanQuery::union(words).weight(EnableScoring::enabled_from_searcher(searcher))
}
