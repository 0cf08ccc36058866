use serde::{Deserialize, Serialize};

use super::rule::Rule;

/// `[ingestion]`: bounds on what is taken in.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct IngestionSection {
    /// Most characters of title and text of one document. Default 5,000,000: some ten long novels.
    pub document_chars_max: usize,
    /// Largest file that `trove index` reads or that is uploaded, in bytes. Default 250 MiB;
    /// documents with pictures are far larger than the text in them.
    pub file_bytes_max: u64,
    /// Most bytes of one upload, all its files together, and of what an archive in it holds.
    /// Default 1 GiB.
    pub upload_bytes_max: u64,
    /// Longest time that reading one file may take, in seconds. Default 30.
    pub extraction_seconds_max: u64,
    /// Most memory that reading one file may take, in bytes, in a process of its own. Default 768
    /// MiB: a file of 250 MiB and what is unpacked of it.
    pub extraction_memory_max: u64,
    /// Most processes that read files. Default 2; they are started as they are needed.
    pub extraction_workers: usize,
}

impl Default for IngestionSection {
    fn default() -> Self {
        Self {
            document_chars_max: 5_000_000,
            file_bytes_max: 250 * 1024 * 1024,
            upload_bytes_max: 1024 * 1024 * 1024,
            extraction_seconds_max: 30,
            extraction_memory_max: 768 * 1024 * 1024,
            extraction_workers: 2,
        }
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
    Rule {
        key: "ingestion.upload_bytes_max",
        accepted: "a whole number from 1024 to 68719476736",
        holds: |config| {
            (1024..=64 * 1024 * 1024 * 1024).contains(&config.ingestion.upload_bytes_max)
        },
    },
    Rule {
        key: "ingestion.extraction_seconds_max",
        accepted: "a whole number from 1 to 3600",
        holds: |config| (1..=3600).contains(&config.ingestion.extraction_seconds_max),
    },
    Rule {
        key: "ingestion.extraction_memory_max",
        accepted: "a whole number from 67108864 to 17179869184",
        holds: |config| {
            (64 * 1024 * 1024..=16 * 1024 * 1024 * 1024)
                .contains(&config.ingestion.extraction_memory_max)
        },
    },
    Rule {
        key: "ingestion.extraction_workers",
        accepted: "a whole number from 1 to 64",
        holds: |config| (1..=64).contains(&config.ingestion.extraction_workers),
    },
];
