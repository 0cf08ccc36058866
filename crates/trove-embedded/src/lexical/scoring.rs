//! The lexical ranking: BM25 over title and text.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use tantivy::query::{
    Bm25StatisticsProvider, BooleanQuery, BoostQuery, EnableScoring, Query, TermQuery, Weight,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocAddress, DocId, Score, Searcher, SegmentReader, Term};
use trove_analysis::{LanguageSet, QueryTerm, QueryTerms};

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

/// Entries that hold a function word, above which it is not looked for beside a rarer one: it would
/// take most of the time of the search and say next to nothing.
const COMMON_ENTRIES_MIN: u64 = 20_000;

/// The best `limit` live entries that hold a word of `text` in one of their languages, which are
/// the default ones and `languages`, and are in `allowed`, which has a set for each segment; best
/// first.
///
/// The score is BM25 over title and text, plus [`TITLE_WEIGHT`] times BM25 over the title alone. A
/// word is as rare as all its forms in all languages together.
///
/// The filter is tested while ranking, entry by entry, so that blocks of postings that cannot
/// reach the worst score kept so far are skipped as they are without a filter.
pub(crate) fn rank(
    fields: &Fields,
    searcher: &Searcher,
    text: &str,
    languages: LanguageSet,
    allowed: &[impl AsRef<EntrySet>],
    limit: usize,
) -> tantivy::Result<Vec<(DocAddress, Score)>> {
    let query = QueryTerms::among(text, languages);
    if query.is_empty() || limit == 0 {
        return Ok(Vec::new());
    }
    let QueryTerms { content, mut function } = query;
    leave_common_out(fields.function_words, searcher, &mut function)?;
    let words = weight(searcher, &[(fields.words, &content), (fields.function_words, &function)])?;
    let titles = weight(searcher, &[(fields.title_words, &content)])?;
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

/// Leaves out the words of a query that nearly every entry holds, unless all are such.
fn leave_common_out(
    field: Field,
    searcher: &Searcher,
    words: &mut Vec<QueryTerm>,
) -> tantivy::Result<()> {
    if words.len() < 2 {
        return Ok(());
    }
    let mut entries = Vec::with_capacity(words.len());
    for word in &*words {
        let mut holding = 0u64;
        for term in &word.alternatives {
            holding += searcher.doc_freq(&Term::from_field_text(field, term))?;
        }
        entries.push(holding);
    }
    let mut keep = worth_looking_for(&entries).into_iter();
    words.retain(|_| keep.next().unwrap_or(true));
    Ok(())
}

/// Which of several words to look for, from how many entries hold each. The rarest one that is
/// there at all is among them.
fn worth_looking_for(entries: &[u64]) -> Vec<bool> {
    let rarest = entries.iter().copied().filter(|held| *held > 0).min().unwrap_or(0);
    entries.iter().map(|held| *held <= rarest.max(COMMON_ENTRIES_MIN)).collect()
}

/// How rare a word is, whatever its form.
struct WordStatistics<'a> {
    searcher: &'a Searcher,
    /// Entries that hold any form of a word, for the forms of words that have several.
    entries: HashMap<Term, u64>,
}

impl Bm25StatisticsProvider for WordStatistics<'_> {
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        Bm25StatisticsProvider::total_num_tokens(self.searcher, field)
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Bm25StatisticsProvider::total_num_docs(self.searcher)
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        match self.entries.get(term) {
            Some(entries) => Ok(*entries),
            None => self.searcher.doc_freq(term),
        }
    }
}

/// The sum of BM25 over `words`, each looked for in its field.
fn weight(
    searcher: &Searcher,
    words: &[(Field, &[QueryTerm])],
) -> tantivy::Result<Box<dyn Weight>> {
    let mut statistics = WordStatistics { searcher, entries: HashMap::new() };
    let mut queries: Vec<Box<dyn Query>> = Vec::new();
    for (field, words) in words {
        for QueryTerm { alternatives, count } in *words {
            for term in forms(*field, alternatives, &mut statistics)? {
                let query: Box<dyn Query> =
                    Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs));
                // Blocks can only be skipped for plain terms, so single words stay plain.
                queries.push(if *count > 1 {
                    Box::new(BoostQuery::new(query, Score::from(*count)))
                } else {
                    query
                });
            }
        }
    }
    let scoring = EnableScoring::enabled_from_statistics_provider(&statistics, searcher);
    BooleanQuery::union(queries).weight(scoring)
}

/// The forms of a word that the index holds, made equally rare.
fn forms(
    field: Field,
    alternatives: &[String],
    statistics: &mut WordStatistics<'_>,
) -> tantivy::Result<Vec<Term>> {
    let terms = alternatives.iter().map(|term| Term::from_field_text(field, term));
    if alternatives.len() == 1 {
        return Ok(terms.collect());
    }
    let mut held = Vec::new();
    let mut entries = 0u64;
    for term in terms {
        let holding = statistics.searcher.doc_freq(&term)?;
        if holding > 0 {
            entries = entries.saturating_add(holding);
            held.push(term);
        }
    }
    // An entry may hold two forms.
    let entries = entries.min(statistics.total_num_docs()?);
    statistics.entries.extend(held.iter().cloned().map(|term| (term, entries)));
    Ok(held)
}

#[cfg(test)]
mod tests {
    use super::worth_looking_for;

    #[test]
    fn common_function_words_are_looked_for_only_where_there_is_no_rarer_one() {
        assert_eq!(worth_looking_for(&[5, 80_000, 19_000]), [true, false, true]);
        assert_eq!(worth_looking_for(&[90_000, 80_000]), [false, true]);
        assert_eq!(worth_looking_for(&[0, 80_000]), [true, true], "one word is not there at all");
        assert!(worth_looking_for(&[]).is_empty());
    }
}
