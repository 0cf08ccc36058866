use std::sync::Arc;

use proptest::prelude::*;
use tantivy::columnar::Column;
use tantivy::directory::RamDirectory;
use tantivy::merge_policy::NoMergePolicy;
use tantivy::{Searcher, TantivyDocument};
use trove_analysis::LanguageSet;

use super::super::allowed::allowed_entries;
use super::super::schema::{Fields, KEY, open_in};
use super::super::scoring::rank;
use super::Emphasis;
use crate::tokens::TermFilter;

/// What every entry carries here.
const EVERYBODY: &str = "everybody";

/// An index of titles and texts, each list in a segment of its own.
struct Fixture {
    fields: Fields,
    searcher: Searcher,
}

impl Fixture {
    fn of<S: AsRef<str>>(segments: &[Vec<(S, S)>]) -> Self {
        let (index, fields) = open_in(RamDirectory::create()).unwrap();
        let mut writer = index.writer_with_num_threads(1, 15_000_000).unwrap();
        writer.set_merge_policy(Box::new(NoMergePolicy));
        let mut key = 0;
        for entries in segments {
            for (title, text) in entries {
                let (title, searched) =
                    (title.as_ref(), format!("{}\n{}", title.as_ref(), text.as_ref()));
                let mut entry = TantivyDocument::new();
                entry.add_u64(fields.key, key);
                entry.add_text(fields.terms, EVERYBODY);
                entry.add_text(fields.title_words, title);
                entry.add_text(fields.function_words, &searched);
                entry.add_text(fields.words, searched);
                writer.add_document(entry).unwrap();
                key += 1;
            }
            writer.commit().unwrap();
        }
        let searcher = index.reader().unwrap().searcher();
        let filled = segments.iter().filter(|entries| !entries.is_empty()).count();
        assert_eq!(searcher.segment_readers().len(), filled);
        Self { fields, searcher }
    }

    /// The best entries, by their number over all segments, best first.
    fn rank(&self, query: &str, limit: usize) -> Vec<(u64, f32)> {
        let groups = vec![vec![EVERYBODY.to_owned()]];
        let filter = TermFilter { groups, updated_at: None, created_at: None };
        let segments = self.searcher.segment_readers();
        let (keys, allowed): (Vec<Column<u64>>, Vec<_>) = segments
            .iter()
            .map(|segment| {
                let allowed = allowed_entries(&self.fields, segment, &filter).unwrap();
                (segment.fast_fields().u64(KEY).unwrap(), Arc::new(allowed))
            })
            .unzip();
        let languages = LanguageSet::default();
        let ranked = rank(&self.fields, &self.searcher, query, languages, &allowed, limit);
        ranked
            .unwrap()
            .into_iter()
            .map(|(at, score)| {
                let segment = usize::try_from(at.segment_ord).unwrap();
                (keys[segment].first(at.doc_id).unwrap(), score)
            })
            .collect()
    }
}

#[track_caller]
fn assert_ranked(fixture: &Fixture, query: &str, expected: &[(u64, f64)]) {
    let ranked = fixture.rank(query, 1_000);
    let near = |(got, want): (&(u64, f32), &(u64, f64))| {
        got.0 == want.0 && (f64::from(got.1) - want.1).abs() < 1e-5
    };
    let agree = ranked.len() == expected.len() && ranked.iter().zip(expected).all(near);
    assert!(agree, "{query}: {ranked:?} instead of {expected:?}");
}

#[test]
fn factors() {
    let check = |emphasis: Emphasis, rarity, frequency, expected: f64| {
        let factor = emphasis.factor(rarity, frequency);
        assert!((factor - expected).abs() < 1e-12, "{emphasis:?} {rarity} {frequency}: {factor}");
    };
    check(Emphasis::None, 4.0, 8.0, 1.0);
    check(Emphasis::Rarity, 4.0, 8.0, 2.0);
    check(Emphasis::RarityAndBursts, 4.0, 8.0, 4.0);
    check(Emphasis::RarityAndBursts, 9.0, 1.0, 3.0);
    // No word is so frequent that it counts for nothing or against an entry.
    check(Emphasis::RarityAndBursts, 0.0, 1.0, 0.0);
}

/// With N = 4 entries, in which the lengths of title and text are 4, 3, 1, 2, of a title alone
/// 1, 0, 0, 0:
///
/// zebra: in 2 of 4, idf = ln(1 + 2.5 / 2.5) = 0.693147; 3 + 2 times, so the weight is
/// 0.693147^1.5 * 2.5^(1/3) = 0.783222. Entry 0: tf = 3 * 2.2 / (3 + 1.2 * (0.25 + 0.75 * 4 / 2.5))
/// = 1.392405. Entry 1: tf = 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 3 / 2.5)) = 1.301775.
/// In titles: in 1 of 4, idf = ln(1 + 3.5 / 1.5) = 1.203973, weight 1.203973^1.5 = 1.321057,
/// tf = 2.2 / (1 + 1.2 * (0.25 + 0.75 * 1 / 0.25)) = 0.448980, times 0.3.
///
/// lion: in 2 of 4, once each, weight 0.693147^1.5 = 0.577082.
#[test]
fn scores_are_those_worked_out_by_hand() {
    let entries = vec![
        ("zebra", "zebra zebra lion"),
        ("", "zebra zebra giraffe"),
        ("", "lion"),
        ("", "giraffe giraffe"),
    ];
    let fixture = Fixture::of(&[entries]);
    assert_ranked(&fixture, "zebra", &[(0, 1.090_562 + 0.177_940), (1, 1.019_579)]);
    assert_ranked(&fixture, "lion", &[(2, 0.764_809), (0, 0.463_351)]);
    // A word counts as often as the query names it, and words add up.
    let twice = [(0, 2.0 * 0.463_351 + 1.268_502), (2, 1.529_617), (1, 1.019_579)];
    assert_ranked(&fixture, "lion zebra lion", &twice);
    assert_ranked(&fixture, "elephant", &[]);
    assert_ranked(&fixture, "elephant lion", &[(2, 0.764_809), (0, 0.463_351)]);
}

/// In 1 of 2, so idf = ln 2; twice in 2 words, where 1 is the mean length: tf = 2 * 2.2 /
/// (2 + 1.2 * (0.25 + 0.75 * 2 / 1)) = 1.073171.
#[test]
fn function_words_are_scored_by_bm25_alone() {
    let fixture = Fixture::of(&[vec![("", "the the"), ("", "zebra")]]);
    assert_ranked(&fixture, "the", &[(0, 2.0_f64.ln() * 1.073_171)]);
}

/// By how much more than by its rarity alone entry 0, without a title, scores for its zebras.
fn burst_factor(segments: &[Vec<(String, String)>]) -> f64 {
    let fixture = Fixture::of(segments);
    let scores = fixture.rank("zebra", 1_000);
    let (_, score) = scores.iter().find(|(key, _)| *key == 0).unwrap();
    let oracle = Oracle::of(segments.iter().flatten().map(|(_, text)| text.as_str()));
    f64::from(*score) / (oracle.rarity("zebra").powf(1.5) * oracle.frequency_part("zebra", 0))
}

fn many(count: usize, text: &str) -> Vec<(String, String)> {
    vec![(String::new(), text.to_owned()); count]
}

#[test]
fn bursts_are_those_of_the_first_entries_of_each_segment() {
    let check = |segments: &[Vec<(String, String)>], frequency: f64| {
        let (factor, expected) = (burst_factor(segments), frequency.cbrt());
        assert!((factor - expected).abs() < 1e-4, "{factor} instead of {expected}");
    };
    let once = "zebra lion lion lion";
    let often = "zebra zebra zebra zebra";
    check(&[many(30, once)], 1.0);
    check(&[[many(30, once), many(10, often)].concat()], 1.75);
    // Segments count by how many of their entries hold the word.
    check(&[many(30, once), many(10, often)], 1.75);
    check(&[many(30, once), many(10, often), many(10, "lion")], 1.75);
    // 128 entries of a segment are asked.
    check(&[[many(127, once), many(1, often), many(100, often)].concat()], 131.0 / 128.0);
    check(&[many(150, once), many(50, often)], 1.75);
}

/// The parts of a score, counted text by text.
struct Oracle<'a> {
    texts: Vec<Vec<&'a str>>,
}

impl<'a> Oracle<'a> {
    fn of(texts: impl Iterator<Item = &'a str>) -> Self {
        Self { texts: texts.map(|text| text.split_whitespace().collect()).collect() }
    }

    fn count(&self, word: &str, at: usize) -> f64 {
        self.texts[at].iter().filter(|other| **other == word).map(|_| 1.0).sum()
    }

    fn total(&self) -> f64 {
        self.texts.iter().map(|_| 1.0).sum()
    }

    fn held(&self, word: &str) -> f64 {
        (0..self.texts.len()).map(|at| self.count(word, at).min(1.0)).sum()
    }

    fn rarity(&self, word: &str) -> f64 {
        let held = self.held(word);
        (1.0 + (self.total() - held + 0.5) / (held + 0.5)).ln()
    }

    fn burst(&self, word: &str) -> f64 {
        (0..self.texts.len()).map(|at| self.count(word, at)).sum::<f64>() / self.held(word)
    }

    fn frequency_part(&self, word: &str, at: usize) -> f64 {
        let length = |text: &Vec<&str>| text.iter().map(|_| 1.0).sum::<f64>();
        let mean = self.texts.iter().map(length).sum::<f64>() / self.total();
        let count = self.count(word, at);
        count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length(&self.texts[at]) / mean))
    }
}

const WORDS: [&str; 4] = ["zebra", "lion", "giraffe", "ostrich"];

fn words(max: usize) -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(&WORDS[..]), 0..max)
        .prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_index_is_scored_as_the_formula_says(
        segments in proptest::collection::vec(
            proptest::collection::vec((words(3), words(12)), 1..20), 1..4),
        query in proptest::sample::subsequence(&WORDS[..], 1..=4),
    ) {
        let fixture = Fixture::of(&segments);
        let entries: Vec<_> = segments.iter().flatten().collect();
        let searched: Vec<_> = entries.iter().map(|(title, text)| format!("{title} {text}")).collect();
        let text = Oracle::of(searched.iter().map(String::as_str));
        let titles = Oracle::of(entries.iter().map(|(title, _)| title.as_str()));
        let ranked = fixture.rank(&query.join(" "), 1_000);
        let mut found = 0;
        for at in 0..entries.len() {
            let mut expected = 0.0;
            for word in query.iter().filter(|word| text.count(word, at) > 0.0) {
                let weight = text.rarity(word).powf(1.5) * text.burst(word).cbrt();
                expected += weight * text.frequency_part(word, at);
                if titles.count(word, at) > 0.0 {
                    let part = titles.frequency_part(word, at);
                    expected += 0.3 * titles.rarity(word).powf(1.5) * part;
                }
            }
            let got = ranked.iter().find(|(key, _)| usize::try_from(*key).unwrap() == at);
            let got = got.map_or(0.0, |(_, score)| f64::from(*score));
            prop_assert!((got - expected).abs() < 1e-4, "{at}: {got} instead of {expected}");
            found += usize::from(expected > 0.0);
        }
        prop_assert_eq!(ranked.len(), found);
    }
}

/// Blocks of postings are skipped once the best are full, which must not change them.
#[test]
fn the_best_few_are_the_first_of_all() {
    let mut seed = 1_u64;
    let mut below = |end: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % end
    };
    let mut text = |most: u64| -> String {
        let last = below(most);
        let words = (0..=last).map(|_| {
            // Few are frequent and many are rare.
            let end = 1 + below(60);
            let rank = below(end);
            format!("w{rank} ")
        });
        words.collect()
    };
    let segments: Vec<Vec<(String, String)>> =
        [2_000, 700].map(|count| (0..count).map(|_| (text(3), text(40))).collect()).into();
    let fixture = Fixture::of(&segments);
    for query in ["w0", "w40", "w0 w1", "w3 w50 w59", "w2 w2 w20 w5", "w0 nowhere"] {
        let all = fixture.rank(query, 10_000);
        for limit in [1, 10, 100] {
            assert_eq!(fixture.rank(query, limit), all[..limit], "{limit} for {query}");
        }
    }
}
