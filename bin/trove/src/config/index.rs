use std::time::Duration;

use serde::{Deserialize, Serialize};

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
}

impl Default for IndexSection {
    fn default() -> Self {
        Self {
            write_buffer_bytes: 32_000_000,
            optimize_after_vectors: 5_000,
            idle_after: Duration::from_secs(5),
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
];
