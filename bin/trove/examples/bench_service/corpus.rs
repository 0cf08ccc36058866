//! Text to index and to search for.

use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// Words of a chunk: less than fit, so that a section is one chunk.
const CHUNK_WORDS: usize = 140;
/// Chunks of a document.
const DOCUMENT_CHUNKS: usize = 10;
const VOCABULARY: usize = 50_000;
/// The first ranks of natural language are function words, which neither are indexed nor asked for.
const FUNCTION_WORDS: u32 = 25;
const SEED: u64 = 7;

/// A source of sections, each of which becomes a chunk.
pub(crate) enum Corpus {
    /// Words that occur as often as in natural language: the n-th with a frequency of 1/n, without
    /// the first ones.
    MadeUp {
        /// Running sums of the frequencies.
        cumulative: Vec<f64>,
    },
    /// Words of real texts, in their order.
    Real { words: Vec<String> },
}

impl Corpus {
    pub(crate) fn made_up() -> Self {
        let mut sum = 0.0;
        let cumulative = (1..=u32::try_from(VOCABULARY).unwrap_or(u32::MAX))
            .map(|rank| {
                sum += 1.0 / f64::from(rank + FUNCTION_WORDS);
                sum
            })
            .collect();
        Self::MadeUp { cumulative }
    }

    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let lines = fs::read_to_string(path)
            .with_context(|| format!("{} cannot be read", path.display()))?;
        let mut words = Vec::new();
        for line in lines.lines() {
            let value: serde_json::Value = serde_json::from_str(line)?;
            let text = value["text"].as_str().unwrap_or_default();
            words.extend(text.split_whitespace().map(str::to_owned));
        }
        ensure!(words.len() > 10 * CHUNK_WORDS, "{} holds too little text", path.display());
        Ok(Self::Real { words })
    }

    /// Sections of the document with this number; always the same ones.
    pub(crate) fn sections(&self, document: usize) -> Vec<String> {
        let mut random = StdRng::seed_from_u64(SEED + u64::try_from(document).unwrap_or(0));
        (0..DOCUMENT_CHUNKS).map(|_| self.words(&mut random, CHUNK_WORDS)).collect()
    }

    /// How many documents make so many chunks.
    pub(crate) fn documents_for(chunks: usize) -> usize {
        chunks.div_ceil(DOCUMENT_CHUNKS)
    }

    /// Queries of three to six words that occur.
    pub(crate) fn queries(&self, number: usize) -> Vec<String> {
        let mut random = StdRng::seed_from_u64(SEED ^ u64::MAX);
        let mut query = || {
            let length = random.random_range(3..=6);
            self.words(&mut random, length)
        };
        (0..number).map(|_| query()).collect()
    }

    fn words(&self, random: &mut StdRng, number: usize) -> String {
        let words: Vec<String> = match self {
            Self::MadeUp { cumulative } => (0..number)
                .map(|_| {
                    let total = cumulative.last().copied().unwrap_or(1.0);
                    let drawn = random.random_range(0.0..total);
                    spell(cumulative.partition_point(|sum| *sum < drawn))
                })
                .collect(),
            Self::Real { words } => {
                let start = random.random_range(0..words.len() - number);
                words[start..start + number].to_vec()
            }
        };
        words.join(" ")
    }

    /// Files of so many chunks altogether, some hundred in each folder.
    pub(crate) fn write_folder(&self, folder: &Path, chunks: usize) -> anyhow::Result<()> {
        for document in 0..Self::documents_for(chunks) {
            let dir = folder.join(format!("{:03}", document / 200));
            fs::create_dir_all(&dir)?;
            fs::write(dir.join(format!("{document}.txt")), self.sections(document).join("\n\n"))?;
        }
        Ok(())
    }
}

/// A word for a rank: short for frequent ones, and made of syllables, as a tokenizer expects.
fn spell(rank: usize) -> String {
    const SYLLABLES: [&str; 20] = [
        "ba", "ko", "ri", "ten", "mu", "sal", "ve", "dor", "lin", "pa", "gre", "fo", "chi", "nar",
        "we", "tu", "sha", "zo", "bel", "qui",
    ];
    let mut rest = rank + 1;
    let mut word = String::new();
    while rest > 0 {
        word.push_str(SYLLABLES[rest % SYLLABLES.len()]);
        rest /= SYLLABLES.len();
    }
    word
}
