use serde::{Deserialize, Serialize};

use super::rule::Rule;

/// `[ingestion]`: bounds on what is taken in.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct IngestionSection {
    /// Most characters of title and text of one document. Default 5,000,000: some ten long novels.
    pub document_chars_max: usize,
    /// Largest file that `trove index` reads, in bytes. Default 32 MiB; markup is larger than the
    /// text in it.
    pub file_bytes_max: u64,
}

impl Default for IngestionSection {
    fn default() -> Self {
        Self { document_chars_max: 5_000_000, file_bytes_max: 32 * 1024 * 1024 }
    }
}

pub(super) const RULES: &[Rule] = &[
    Rule {
        key: "ingestion.document_chars_max",
        accepted: "a whole number from 1000 to 100000000",
        holds: |config| (1000..=100_000_000).contains(&config.ingestion.document_chars_max),
    },
    Rule {
        key: "ingestion.file_bytes_max",
        accepted: "a whole number from 1024 to 1073741824",
        holds: |config| (1024..=1024 * 1024 * 1024).contains(&config.ingestion.file_bytes_max),
    },
];
