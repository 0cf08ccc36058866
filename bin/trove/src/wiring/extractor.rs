//! What reads files: this program again, in processes of their own.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use trove_domain::port::TextExtractor;
use trove_extract::{Budget, IsolatedExtractor, WorkerProgram};

use crate::EXTRACT_WORKER;
use crate::config::IngestionSection;

/// An extractor within the configured bounds. It starts nothing until there is a file to read.
#[must_use]
pub fn extractor(limits: &IngestionSection) -> Arc<dyn TextExtractor> {
    let budget = Budget {
        chars: limits.document_chars_max,
        file_bytes: limits.file_bytes_max,
        time: Duration::from_secs(limits.extraction_seconds_max),
        memory: limits.extraction_memory_max,
        ..Budget::default()
    };
    let program = WorkerProgram { path: this_program(), arguments: vec![EXTRACT_WORKER.into()] };
    Arc::new(IsolatedExtractor::new(program, budget, limits.extraction_workers))
}

/// The program that runs, also when its file was replaced by a newer one.
fn this_program() -> PathBuf {
    let running = PathBuf::from("/proc/self/exe");
    if running.exists() { running } else { std::env::current_exe().unwrap_or(running) }
}
