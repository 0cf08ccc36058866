use std::time::Duration;

use serde::{Deserialize, Serialize};
use trove_analysis::Language;

use super::load::millis;
use super::rule::Rule;

/// `[index]`: the embedded document index.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct IndexSection {
    /// Text that is buffered while documents are written, in bytes. Default 32 MB, returned when
    /// writing pauses; more makes bulk loads a little faster.
    pub write_buffer_bytes: usize,
    /// Vectors that are written before the vector index is reorganised in the background, a
    /// number. Default 5,000: less often makes searches slower meanwhile, more often costs work.
    pub optimize_after_vectors: usize,
    /// How long no write arrives before buffers are returned, in milliseconds. Default 5 s.
    #[serde(rename = "idle_after_ms", with = "millis")]
    pub idle_after: Duration,
    /// Languages of the documents, as codes of ISO 639-1 separated by commas, the most common
    /// first. Default none, which detects the language of each passage; naming them makes short
    /// passages sure.
    pub languages: String,
}

impl IndexSection {
    /// `languages` as a list; `None` when one of them is unknown.
    pub fn languages(&self) -> Option<Vec<Language>> {
        let codes = self.languages.split(',').map(str::trim).filter(|code| !code.is_empty());
        codes.map(Language::from_code).collect()
    }
}

impl Default for IndexSection {
    fn default() -> Self {
        Self {
            write_buffer_bytes: 32_000_000,
            optimize_after_vectors: 5_000,
            idle_after: Duration::from_secs(5),
            languages: String::new(),
        }
    }
}

pub(super) const RULES: &[Rule] = &[
    Rule {
        key: "index.write_buffer_bytes",
        accepted: "a whole number from 15000000 to 4000000000",
        holds: |config| (15_000_000..=4_000_000_000).contains(&config.index.write_buffer_bytes),
    },
    Rule {
        key: "index.optimize_after_vectors",
        accepted: "a whole number from 100 to 1000000",
        holds: |config| (100..=1_000_000).contains(&config.index.optimize_after_vectors),
    },
    Rule {
        key: "index.idle_after_ms",
        accepted: "a whole number of milliseconds from 100 to 3600000",
        holds: |config| {
            (Duration::from_millis(100)..=Duration::from_hours(1))
                .contains(&config.index.idle_after)
        },
    },
    Rule {
        key: "index.languages",
        accepted: "codes separated by commas, of ar, bg, ca, cs, da, de, el, en, es, fa, fi, fr, hi, hu, id, it, ne, nl, no, pl, pt, ro, ru, sv, ta, tr and uk, or nothing",
        holds: |config| config.index.languages().is_some(),
    },
];
