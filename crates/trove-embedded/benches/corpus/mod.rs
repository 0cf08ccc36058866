//! A deterministic corpus: words by Zipf's law, vectors in clusters, access by groups.
#![expect(clippy::unwrap_used, reason = "failing is panicking here")]

use std::collections::BTreeSet;
use std::fmt::Write as _;

use trove_domain::access::{AccessScope, AclTag, DocumentAccess};
use trove_domain::chunk::{Chunk, IndexableDocument};
use trove_domain::document::{DocumentAttributes, Metadata, MetadataValue};
use trove_domain::id::{DocumentId, DocumentSetId, GroupId};
use trove_domain::query::{HybridAlpha, IndexQuery, SearchFilters};
use trove_domain::source::DocumentSource;

pub(crate) const DIMENSIONS: usize = 384;
pub(crate) const CHUNKS_PER_DOCUMENT: u32 = 4;
const WORDS_PER_CHUNK: usize = 140;
const VOCABULARY: usize = 60_000;
/// Zipf's law without its first ranks: those are function words, which an analyzer drops. The most
/// frequent word is then in one chunk out of two, the hundredth in one out of eight.
const HEAD: usize = 25;
const CLUSTERS: usize = 300;
const GROUPS: usize = 100;

/// `SplitMix64`: small, fast, the same everywhere.
#[derive(Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// 0 to 1.
    #[expect(clippy::as_conversions, clippy::cast_precision_loss, reason = "53 bits are exact")]
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(end).unwrap()).unwrap()
    }

    /// Roughly normal.
    #[expect(clippy::as_conversions, clippy::cast_possible_truncation, reason = "noise")]
    fn noise(&mut self) -> f32 {
        (self.unit() + self.unit() + self.unit() + self.unit() - 2.0) as f32
    }
}

/// Makes documents and queries.
pub(crate) struct Corpus {
    words: Vec<String>,
    centers: Vec<Vec<f32>>,
    with_vectors: bool,
}

impl Corpus {
    pub(crate) fn new(with_vectors: bool) -> Self {
        let mut random = Random::new(1);
        let centers = (0..CLUSTERS).map(|_| direction(&mut random, None)).collect();
        Self { words: (0..VOCABULARY).map(word).collect(), centers, with_vectors }
    }

    /// The document with this number.
    pub(crate) fn document(&self, number: usize) -> IndexableDocument {
        let mut random = Random::new(0xd0c0_0000 + u64::try_from(number).unwrap());
        let groups = 1 + random.below(3);
        let tags: BTreeSet<AclTag> = (0..groups).map(|_| group(random.below(GROUPS))).collect();
        let name = format!("Document {number}");
        let center = random.below(CLUSTERS);
        IndexableDocument {
            id: DocumentId::new(format!("https://example.com/wiki/spaces/ENG/pages/{number}"))
                .unwrap(),
            revision: 1,
            title: Some(self.text(&mut random, 6)),
            attributes: DocumentAttributes {
                semantic_identifier: name,
                source: DocumentSource::ALL[random.below(12)],
                access: DocumentAccess { public: random.below(10) == 0, tags },
                document_sets: [DocumentSetId(i32::try_from(random.below(20)).unwrap())].into(),
                hidden: false,
                boost: 0,
                metadata: Metadata::from([(
                    "space".to_owned(),
                    MetadataValue::One(format!("space-{}", random.below(50))),
                )]),
                updated_at: chrono::DateTime::from_timestamp(
                    1_600_000_000 + i64::try_from(random.below(100_000_000)).unwrap(),
                    0,
                ),
                created_at: None,
                primary_owners: vec!["ann@example.com".to_owned()],
                secondary_owners: Vec::new(),
            },
            chunks: (0..CHUNKS_PER_DOCUMENT)
                .map(|ordinal| {
                    let text = self.text(&mut random, WORDS_PER_CHUNK);
                    let blurb = text[..120].to_owned();
                    let vector = self
                        .with_vectors
                        .then(|| direction(&mut random, Some(&self.centers[center])));
                    Chunk {
                        ordinal,
                        text,
                        blurb,
                        link: Some(format!("https://example.com/{number}#{ordinal}")),
                        vector,
                    }
                })
                .collect(),
        }
    }

    /// A query of a caller in five groups for the hundred best.
    pub(crate) fn query(&self, number: usize, alpha: f32) -> IndexQuery {
        let mut random = Random::new(0x9e37_0000 + u64::try_from(number).unwrap());
        let words = 2 + random.below(5);
        let text = self.text(&mut random, words);
        let center = random.below(CLUSTERS);
        let vector = direction(&mut random, Some(&self.centers[center]));
        IndexQuery {
            text,
            vector: self.with_vectors.then_some(vector),
            alpha: HybridAlpha::new(alpha).unwrap(),
            scope: AccessScope::public_and((0..5).map(|_| group(random.below(GROUPS)))),
            filters: SearchFilters::default(),
            limit: 100,
        }
    }

    #[expect(
        clippy::as_conversions,
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "a rank drawn from a smooth law"
    )]
    fn text(&self, random: &mut Random, words: usize) -> String {
        let mut text = String::with_capacity(words * 8);
        let span = ((VOCABULARY + HEAD) as f64 / HEAD as f64).ln();
        for _ in 0..words {
            // The inverse of the distribution function of 1 / (rank + HEAD).
            let rank = (HEAD as f64 * ((span * random.unit()).exp() - 1.0)) as usize;
            let _ = write!(text, "{} ", self.words[rank.min(VOCABULARY - 1)]);
        }
        text.pop();
        text
    }
}

fn group(number: usize) -> AclTag {
    AclTag::group(GroupId(i32::try_from(number).unwrap()))
}

/// Syllables, so that frequent words are short.
fn word(mut number: usize) -> String {
    const SYLLABLES: [&str; 40] = [
        "ka", "lo", "mi", "ne", "ru", "sta", "ven", "tor", "pla", "gri", "dum", "fex", "hul",
        "jan", "quo", "ber", "zin", "wol", "cha", "dre", "eth", "fli", "gon", "hes", "imp", "jor",
        "kel", "lun", "mor", "nyx", "oph", "pru", "ras", "sil", "tum", "urb", "vox", "wex", "yar",
        "zeb",
    ];
    let mut word = String::from("x");
    loop {
        word.push_str(SYLLABLES[number % SYLLABLES.len()]);
        number /= SYLLABLES.len();
        if number == 0 {
            return word;
        }
    }
}

/// A unit vector, near a center or anywhere.
fn direction(random: &mut Random, center: Option<&[f32]>) -> Vec<f32> {
    let mut vector: Vec<f32> = (0..DIMENSIONS)
        .map(|at| {
            random.noise() * if center.is_some() { 0.06 } else { 1.0 }
                + center.map_or(0.0, |c| c[at])
        })
        .collect();
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    for value in &mut vector {
        *value /= length;
    }
    vector
}
