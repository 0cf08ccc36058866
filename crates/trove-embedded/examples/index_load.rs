//! Loads a synthetic corpus while searching it, and prints what that took.
//!
//! ```text
//! cargo run --release -p trove-embedded --example index_load -- [chunks] [lexical|hybrid] [directory]
//! ```

#[path = "../benches/corpus/mod.rs"]
mod corpus;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use corpus::{CHUNKS_PER_DOCUMENT, Corpus, DIMENSIONS};
use trove_domain::port::{AttributeUpdate, DocumentIndex};
use trove_embedded::{EmbeddedDocumentIndex, EmbeddedIndexConfig};

const BATCH: usize = 100;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let chunks: usize = arguments.next().map_or(Ok(100_000), |text| text.parse())?;
    let vectors = arguments.next().as_deref() == Some("hybrid");
    let kept = arguments.next().map(PathBuf::from);
    let temporary = tempfile::tempdir()?;
    let directory = kept.unwrap_or_else(|| temporary.path().to_owned());
    let dimensions = vectors.then_some(DIMENSIONS);
    let config = EmbeddedIndexConfig::with_dimensions(dimensions);
    let corpus = Arc::new(Corpus::new(vectors));

    let began = Instant::now();
    let index = Arc::new(EmbeddedDocumentIndex::open(&directory, config.clone())?);
    println!("opened empty in {:?}, rss {} MB", began.elapsed(), rss_mb());
    load(&index, &corpus, chunks).await?;

    println!("after load: rss {} MB, on disk {} MB", rss_mb(), size_mb(&directory));
    for alpha in [0.0, 0.5] {
        measure(&index, &corpus, alpha, "right after").await?;
    }
    let began = Instant::now();
    index.flush().await?;
    println!("flush {:?}", began.elapsed());
    single_writes(&index, &corpus).await?;
    index.flush().await?;
    drop(index);

    let began = Instant::now();
    let index = EmbeddedDocumentIndex::open(&directory, config)?;
    println!("reopened in {:?}: rss {} MB", began.elapsed(), rss_mb());
    println!("{:?}", index.statistics().await?);
    for alpha in [0.0, 0.5, 1.0] {
        measure(&index, &corpus, alpha, "reopened").await?;
    }
    println!("rss {} MB, on disk {} MB", rss_mb(), size_mb(&directory));
    Ok(())
}

async fn load(
    index: &Arc<EmbeddedDocumentIndex>,
    corpus: &Arc<Corpus>,
    chunks: usize,
) -> anyhow::Result<()> {
    let done = Arc::new(AtomicBool::new(false));
    let reader = {
        let (index, corpus, done) = (Arc::clone(index), Arc::clone(corpus), Arc::clone(&done));
        async move {
            let mut latencies = Vec::new();
            let mut number = 0;
            while !done.load(Ordering::Relaxed) {
                let query = corpus.query(number, 0.5);
                let began = Instant::now();
                index.search(&query).await?;
                latencies.push(began.elapsed());
                number += 1;
                // One search every ten milliseconds: a busy service, not a load test.
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            anyhow::Ok(latencies)
        }
    };
    let documents = chunks / usize::try_from(CHUNKS_PER_DOCUMENT)?;
    let writer = async {
        let mut spent = Duration::ZERO;
        let mut latencies = Vec::new();
        for first in (0..documents).step_by(BATCH) {
            let batch = {
                let corpus = Arc::clone(corpus);
                let last = (first + BATCH).min(documents);
                tokio::task::spawn_blocking(move || {
                    (first..last).map(|number| corpus.document(number)).collect::<Vec<_>>()
                })
                .await?
            };
            let began = Instant::now();
            index.replace(batch).await?;
            spent += began.elapsed();
            latencies.push(began.elapsed());
        }
        done.store(true, Ordering::Relaxed);
        anyhow::Ok((spent, latencies))
    };
    let (written, searched) = futures::join!(writer, reader);
    let (spent, batches) = written?;
    println!(
        "{chunks} chunks written in {spent:?}: {:.0} chunks/s",
        f64::from(u32::try_from(chunks)?) / spent.as_secs_f64()
    );
    print_percentiles("batches of 100 documents", batches);
    print_percentiles("searches meanwhile", searched?);
    Ok(())
}

async fn measure(
    index: &EmbeddedDocumentIndex,
    corpus: &Corpus,
    alpha: f32,
    when: &str,
) -> anyhow::Result<()> {
    let mut latencies = Vec::new();
    for number in 0..1000 {
        let query = corpus.query(number, alpha);
        let began = Instant::now();
        index.search(&query).await?;
        latencies.push(began.elapsed());
    }
    print_percentiles(&format!("{when}, alpha {alpha}"), latencies);
    Ok(())
}

async fn single_writes(index: &EmbeddedDocumentIndex, corpus: &Corpus) -> anyhow::Result<()> {
    let mut replaces = Vec::new();
    let mut updates = Vec::new();
    for number in 0..100 {
        let mut document = corpus.document(number);
        document.revision = 2;
        let update = AttributeUpdate {
            id: document.id.clone(),
            revision: 3,
            attributes: document.attributes.clone(),
        };
        let began = Instant::now();
        index.replace(vec![document]).await?;
        replaces.push(began.elapsed());
        let began = Instant::now();
        index.update_attributes(vec![update]).await?;
        updates.push(began.elapsed());
    }
    print_percentiles("replace one document", replaces);
    print_percentiles("update attributes of one document", updates);
    Ok(())
}

fn print_percentiles(what: &str, mut latencies: Vec<Duration>) {
    latencies.sort_unstable();
    let at = |percent: usize| latencies[(latencies.len() * percent / 100).min(latencies.len() - 1)];
    println!(
        "{what}: n {} p10 {:?} p50 {:?} p90 {:?} p99 {:?} max {:?}",
        latencies.len(),
        at(10),
        at(50),
        at(90),
        at(99),
        at(100)
    );
}

fn rss_mb() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        status
            .lines()
            .find_map(|line| line.strip_prefix(name))
            .and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<u64>().ok())
            .unwrap_or(0)
            / 1024
    };
    format!(
        "{} (anonymous {}, mapped files {})",
        field("VmRSS:"),
        field("RssAnon:"),
        field("RssFile:")
    )
}

fn size_mb(directory: &Path) -> u64 {
    fn size(directory: &Path) -> u64 {
        std::fs::read_dir(directory).map_or(0, |entries| {
            entries
                .flatten()
                .map(|entry| match entry.metadata() {
                    Ok(metadata) if metadata.is_dir() => size(&entry.path()),
                    Ok(metadata) => metadata.len(),
                    Err(_) => 0,
                })
                .sum()
        })
    }
    size(directory) / 1_000_000
}
