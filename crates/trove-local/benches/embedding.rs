//! Passages and queries through the whole path: text in, vector out.
//!
//! `cargo bench -p trove-local`; the model is expected in `target/models/all-MiniLM-L6-v2`.

use std::hint::black_box;
use std::num::NonZero;
use std::path::Path;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use trove_local::{MiniLm, MiniLmOptions};

fn embedding(criterion: &mut Criterion) {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/models/all-MiniLM-L6-v2");
    for threads in [1, 2] {
        let threads = NonZero::new(threads).expect("not zero");
        let options = MiniLmOptions {
            bulk_threads: threads,
            query_threads: threads,
            ..MiniLmOptions::for_this_machine()
        };
        let model = MiniLm::load(&dir, options).expect("run `make model` first");

        let mut group = criterion.benchmark_group("embedding");
        group.sample_size(10);
        let passages = vec!["word ".repeat(254); 16];
        let mixed: Vec<_> = (1..=32).map(|n| "word ".repeat(n * 254 / 32)).collect();
        for (name, texts) in [("256-token passages", passages), ("mixed lengths", mixed)] {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            group.throughput(Throughput::Elements(texts.len().try_into().expect("small")));
            group.bench_function(BenchmarkId::new(name, threads), |bencher| {
                bencher.iter(|| black_box(model.embed_batch(&texts)));
            });
        }
        group.throughput(Throughput::Elements(1));
        group.bench_function(BenchmarkId::new("short query", threads), |bencher| {
            bencher.iter(|| black_box(model.embed_query("how do I reset my password")));
        });
        group.finish();
    }
}

criterion_group!(benches, embedding);
criterion_main!(benches);
