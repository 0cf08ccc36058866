//! Searches of a large index by a caller in five groups, a hundred hits with all they show.
//!
//! `BENCH_CHUNKS` (100,000) says how large; loading takes a minute or two before the first figure.
#![expect(clippy::unwrap_used, reason = "failing is panicking here")]

mod corpus;

use std::hint::black_box;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use corpus::{CHUNKS_PER_DOCUMENT, Corpus, DIMENSIONS};
use criterion::{Criterion, criterion_group, criterion_main};
use tokio::runtime::Runtime;
use trove_domain::port::DocumentIndex;
use trove_embedded::{EmbeddedDocumentIndex, EmbeddedIndexConfig};

#[expect(clippy::disallowed_methods, reason = "a benchmark is configured by its environment")]
fn chunks() -> usize {
    std::env::var("BENCH_CHUNKS").ok().and_then(|text| text.parse().ok()).unwrap_or(100_000)
}

async fn load(directory: &Path, corpus: &Corpus) -> EmbeddedDocumentIndex {
    let config = EmbeddedIndexConfig {
        // One reorganisation at the end, so that all runs measure the same shape.
        optimize_after: usize::MAX,
        ..EmbeddedIndexConfig::with_dimensions(Some(DIMENSIONS))
    };
    let index = EmbeddedDocumentIndex::open(directory, config.clone()).unwrap();
    let documents = chunks() / usize::try_from(CHUNKS_PER_DOCUMENT).unwrap();
    for first in (0..documents).step_by(500) {
        let last = (first + 500).min(documents);
        index.replace((first..last).map(|n| corpus.document(n)).collect()).await.unwrap();
    }
    index.flush().await.unwrap();
    drop(index);
    let index = EmbeddedDocumentIndex::open(directory, config).unwrap();
    index.optimize().await.unwrap();
    index
}

fn search(criterion: &mut Criterion) {
    let runtime = Runtime::new().unwrap();
    let corpus = Corpus::new(true);
    let directory = tempfile::tempdir().unwrap();
    let index = runtime.block_on(load(directory.path(), &corpus));
    let mut group = criterion.benchmark_group(format!("search/{}", chunks()));
    for (name, alpha) in [("lexical", 0.0), ("hybrid", 0.5), ("dense", 1.0)] {
        // Another caller and other words each time.
        let number = AtomicUsize::new(0);
        group.bench_function(name, |bencher| {
            bencher.iter_batched(
                || corpus.query(number.fetch_add(1, Ordering::Relaxed), alpha),
                |query| black_box(runtime.block_on(index.search(&query)).unwrap()),
                criterion::BatchSize::SmallInput,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, search);
criterion_main!(benches);
