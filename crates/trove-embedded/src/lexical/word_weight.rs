//! How much a word of a query counts.
//!
//! BM25 multiplies how often a chunk holds a word by how rare the word is. Here the rarity of
//! content words has a higher power, and words that come in bursts count more: a word that is
//! named several times where it is named at all is what a text is about. What BM25 says is
//! multiplied by one factor for each word of a search, so that blocks of postings are skipped as
//! they are for plain BM25.

use tantivy::query::{
    Bm25StatisticsProvider, BooleanWeight, BoostWeight, EnableScoring, Occur, Query, SumCombiner,
    TermQuery, Weight,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{Score, Searcher, Term};
use trove_analysis::QueryTerm;

/// What multiplies the BM25 of the words of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Emphasis {
    /// Nothing.
    None,
    /// The square root of the rarity, which thereby gets the power 1.5.
    Rarity,
    /// The same, and the cube root of how often the word stands in the chunks that hold it.
    RarityAndBursts,
}

impl Emphasis {
    /// The factor for a word of so much rarity, of which chunks that hold it hold `frequency` on
    /// average.
    fn factor(self, rarity: f64, frequency: f64) -> f64 {
        match self {
            Self::None => 1.0,
            Self::Rarity => rarity.sqrt(),
            Self::RarityAndBursts => rarity.sqrt() * frequency.cbrt(),
        }
    }
}

/// Words of a query, and how they are looked for.
pub(super) struct Asked<'a> {
    pub(super) field: Field,
    pub(super) words: &'a [QueryTerm],
    pub(super) emphasis: Emphasis,
}

/// The sum over all that is asked for: BM25 times how often the query names the word, times the
/// factor of [`Emphasis`].
///
/// All statistics are those of the whole index as the searcher sees it, whoever asks.
pub(super) fn weight(searcher: &Searcher, asked: &[Asked<'_>]) -> tantivy::Result<Box<dyn Weight>> {
    let total = Bm25StatisticsProvider::total_num_docs(searcher)?;
    let mut weights: Vec<(Occur, Box<dyn Weight>)> = Vec::new();
    for Asked { field, words, emphasis } in asked {
        let tokens = Bm25StatisticsProvider::total_num_tokens(searcher, *field)?;
        for QueryTerm { alternatives, count } in *words {
            let mut forms = Vec::with_capacity(alternatives.len());
            let mut all = Held::default();
            for form in alternatives {
                let term = Term::from_field_text(*field, form);
                let held = Held::by(searcher, &term, *emphasis)?;
                if held.entries > 0 {
                    all.entries += held.entries;
                    all.occurrences += held.occurrences;
                    forms.push(term);
                }
            }
            let frequency = all.frequency();
            // A word is as rare as all its forms together. An entry may hold two forms.
            let entries = all.entries.min(total);
            let factor = emphasis.factor(rarity(entries, total), frequency) * f64::from(*count);
            let statistics = Statistics { tokens, total, entries };
            let scoring = EnableScoring::enabled_from_statistics_provider(&statistics, searcher);
            for form in forms {
                let plain = TermQuery::new(form, IndexRecordOption::WithFreqs).weight(scoring)?;
                weights.push((Occur::Should, Box::new(BoostWeight::new(plain, score(factor)))));
            }
        }
    }
    // With a minimum of 1 a single word would become one that must be there, for which no blocks
    // are skipped. Nothing but these words finds an entry, so one of them is there anyway.
    let sum = Box::new(SumCombiner::default);
    Ok(Box::new(BooleanWeight::with_minimum_number_should_match(weights, 0, true, sum)))
}

/// How rare a word is that so many of all entries hold, as BM25 has it.
fn rarity(entries: u64, total: u64) -> f64 {
    let (entries, total) = (float(entries), float(total));
    ((total - entries + 0.5) / (entries + 0.5)).ln_1p()
}

/// What holds a word.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    entries: u64,
    /// How often all of these hold it, estimated; 0 when nobody wants to know.
    occurrences: f64,
}

impl Held {
    /// In the segments of `searcher`.
    ///
    /// The index does not keep how often a word occurs. A segment is taken to hold it as often as
    /// the first block of its postings does, which is 128 entries or all there are: reading it
    /// costs little, for ranking reads it as well.
    fn by(searcher: &Searcher, term: &Term, emphasis: Emphasis) -> tantivy::Result<Self> {
        let mut held = Self::default();
        for segment in searcher.segment_readers() {
            let index = segment.inverted_index(term.field())?;
            let Some(info) = index.get_term_info(term)? else { continue };
            held.entries += u64::from(info.doc_freq);
            if emphasis == Emphasis::RarityAndBursts {
                let option = IndexRecordOption::WithFreqs;
                let first = index.read_block_postings_from_terminfo(&info, option)?;
                held.occurrences += f64::from(info.doc_freq) * mean(first.freqs());
            }
        }
        Ok(held)
    }

    /// How often an entry that holds the word holds it.
    fn frequency(self) -> f64 {
        if self.entries == 0 { 0.0 } else { self.occurrences / float(self.entries) }
    }
}

fn mean(numbers: &[u32]) -> f64 {
    let count = u32::try_from(numbers.len()).unwrap_or(u32::MAX).max(1);
    numbers.iter().copied().map(f64::from).sum::<f64>() / f64::from(count)
}

/// What BM25 asks, for the forms of one word.
struct Statistics {
    tokens: u64,
    total: u64,
    entries: u64,
}

impl Bm25StatisticsProvider for Statistics {
    fn total_num_tokens(&self, _: Field) -> tantivy::Result<u64> {
        Ok(self.tokens)
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Ok(self.total)
    }

    fn doc_freq(&self, _: &Term) -> tantivy::Result<u64> {
        Ok(self.entries)
    }
}

#[expect(
    clippy::as_conversions,
    clippy::cast_precision_loss,
    reason = "exact below 2^53, and an index has fewer entries"
)]
fn float(number: u64) -> f64 {
    number as f64
}

#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    reason = "scores have seven digits, and none is near the end of the range"
)]
fn score(number: f64) -> Score {
    number as Score
}

#[cfg(test)]
mod tests;
