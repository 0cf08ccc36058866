//! The lexical ranking: the best entries by words in title and text.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tantivy::query::Weight;
use tantivy::schema::Field;
use tantivy::{DocAddress, DocId, Score, Searcher, SegmentReader, Term};
use trove_analysis::{LanguageSet, QueryTerm, QueryTerms};

use super::allowed::EntrySet;
use super::schema::Fields;
use super::word_weight::{Asked, Emphasis, weight};

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
/// The score is BM25 over title and text, plus [`TITLE_WEIGHT`] times BM25 over the title alone;
/// what [`Emphasis`] says multiplies both. A word is as rare as all its forms in all languages
/// together.
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
    let asked = |field, words, emphasis| Asked { field, words, emphasis };
    let words = [
        asked(fields.words, &content, Emphasis::RarityAndBursts),
        asked(fields.function_words, &function, Emphasis::None),
    ];
    let words = weight(searcher, &words)?;
    let titles = weight(searcher, &[asked(fields.title_words, &content, Emphasis::Rarity)])?;
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
