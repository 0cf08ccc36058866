//! `make bench`: the real service under load, against the limits of `docs/performance.md`.
//!
//! The service runs as a child process, built for release; clients and service share the machine,
//! so the figures are those of a machine that does both. Documents are made of words with the
//! frequencies of natural language, or taken from a collection (`--corpus FILE.jsonl`); their
//! vectors are sums of random vectors of their words, because embedding 100,000 chunks takes the
//! better part of an hour and searching does not know the difference.

mod client;
mod corpus;
mod dataset;
mod in_process;
mod service;
mod table;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use clap::Parser;
use trove_local::{MiniLm, MiniLmOptions};

use client::{Load, measure};
use corpus::Corpus;
use service::{Model, Service};
use table::{Bar, Table, median, percentile};

/// Measures the service.
#[derive(Parser)]
struct Arguments {
    /// Chunks to index
    #[arg(long, default_value_t = 100_000)]
    chunks: usize,
    /// JSON lines with `text`, used instead of made-up words
    #[arg(long)]
    corpus: Option<PathBuf>,
    /// Directory of the embedding model
    #[arg(long, env = "TROVE_MODEL_DIR")]
    model_dir: PathBuf,
    /// The program to measure [default: the one that was built beside this]
    #[arg(long)]
    trove: Option<PathBuf>,
    /// How long each load lasts, in seconds
    #[arg(long, default_value_t = 10)]
    seconds: u64,
}

/// Queries of one client, one after the other.
const SINGLE_QUERIES: usize = 500;
/// Clients at the same time.
const CLIENTS: usize = 8;
/// Starts that a time is the median of.
const STARTS: usize = 5;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let trove = match &arguments.trove {
        Some(path) => path.clone(),
        None => beside_us()?,
    };
    let corpus = match &arguments.corpus {
        Some(path) => Corpus::read(path)?,
        None => Corpus::made_up(),
    };
    let mut table = Table::default();
    let bench = Bench { trove, model: Model::In(arguments.model_dir.clone()), corpus };
    let with_model = bench.empty_starts(&mut table).await?;
    bench.lexical_indexing(arguments.chunks, &mut table).await?;
    bench.searches(&arguments, with_model, &mut table).await?;
    println!("{table}");
    Ok(())
}

fn beside_us() -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe().context("the path of this program is not known")?;
    let path = own.parent().and_then(Path::parent).map(|dir| dir.join("trove"));
    let path = path.filter(|path| path.exists());
    path.context("there is no trove beside this program; build it with `cargo build --release`")
}

struct Bench {
    trove: PathBuf,
    model: Model,
    corpus: Corpus,
}

impl Bench {
    /// Starts on empty directories; answers the resident size with model, in bytes.
    async fn empty_starts(&self, table: &mut Table) -> anyhow::Result<u64> {
        let (start, resident) = self.starts(&Model::None).await?;
        table.add("start, empty, without model", start, "ms", Bar::AtMost(300.0));
        table.add("resident after that", mega(resident), "MB", Bar::AtMost(60.0));
        let (start, resident) = self.starts(&self.model).await?;
        table.add("start, empty, with model", start, "ms", Bar::None);
        table.add("resident after that", mega(resident), "MB", Bar::AtMost(250.0));
        Ok(resident)
    }

    async fn starts(&self, model: &Model) -> anyhow::Result<(f64, u64)> {
        let mut times = Vec::new();
        let mut resident = 0;
        for _ in 0..STARTS {
            let dir = tempfile::tempdir()?;
            let began = Instant::now();
            let service = Service::start(&self.trove, dir.path(), model, None).await?;
            times.push(began.elapsed());
            resident = service.resident_bytes().await?;
            service.stop().await?;
        }
        Ok((milli(median(&mut times)), resident))
    }

    /// `trove index` on a folder, by words alone.
    async fn lexical_indexing(&self, chunks: usize, table: &mut Table) -> anyhow::Result<()> {
        let dir = tempfile::tempdir()?;
        let folder = dir.path().join("folder");
        self.corpus.write_folder(&folder, chunks)?;
        let data = dir.path().join("data");
        let began = Instant::now();
        service::index(&self.trove, &data, &folder).await?;
        let took = began.elapsed();
        let indexed = dataset::chunks(&data).await?;
        let rate = ratio(indexed, took);
        table.add(
            &format!("lexical indexing of {indexed} chunks"),
            rate,
            "/s",
            Bar::AtLeast(5000.0),
        );
        Ok(())
    }

    async fn searches(
        &self,
        arguments: &Arguments,
        empty_with_model: u64,
        table: &mut Table,
    ) -> anyhow::Result<()> {
        let dir = tempfile::tempdir()?;
        let data = dir.path().join("data");
        let dataset = dataset::build(&self.corpus, &data, arguments.chunks).await?;
        let queries = self.corpus.queries(2000);

        let began = Instant::now();
        let service = Service::start(&self.trove, &data, &self.model, None).await?;
        let what = format!("start, {} chunks, with model", dataset.chunks);
        table.add(&what, milli(began.elapsed()), "ms", Bar::AtMost(1500.0));
        let load = Load::new(&service.address, &dataset.key, &queries);

        measure(&load, 1, Until::Requests(50)).await?;
        let mut single = measure(&load, 1, Until::Requests(SINGLE_QUERIES)).await?;
        ensure!(single.failed == 0, "{} searches failed", single.failed);
        table.add(
            "search, hybrid, 1 client, p50",
            milli(percentile(&mut single.times, 50)),
            "ms",
            Bar::AtMost(10.0),
        );
        table.add(
            "search, hybrid, 1 client, p99",
            milli(percentile(&mut single.times, 99)),
            "ms",
            Bar::None,
        );
        let mut embedding =
            tokio::task::block_in_place(|| embedding_times(&arguments.model_dir, &queries))?;
        table.add(
            "  of which embedding the query, p50",
            milli(percentile(&mut embedding, 50)),
            "ms",
            Bar::None,
        );

        let long = Until::Elapsed(Duration::from_secs(arguments.seconds));
        let many = measure(&load, CLIENTS, long).await?;
        table.add(
            "search, hybrid, 8 clients",
            ratio(many.done(), many.took),
            "/s",
            Bar::AtLeast(200.0),
        );
        let resident = service.resident_bytes().await?;
        table.add("resident after that", mega(resident), "MB", Bar::None);
        let per_chunk =
            resident.saturating_sub(empty_with_model) / u64::try_from(dataset.chunks)?.max(1);
        table.add("resident for each chunk", float(per_chunk), "bytes", Bar::None);
        service.stop().await?;

        let service = Service::start(&self.trove, &data, &self.model, Some("0")).await?;
        let load = Load::new(&service.address, &dataset.key, &queries);
        measure(&load, CLIENTS, Until::Requests(200)).await?;
        let lexical = measure(&load, CLIENTS, long).await?;
        ensure!(lexical.failed == 0, "{} searches failed", lexical.failed);
        table.add(
            "search, by words alone, 8 clients",
            ratio(lexical.done(), lexical.took),
            "/s",
            Bar::AtLeast(1500.0),
        );
        service.stop().await?;
        document_searches(&data, &arguments.model_dir, &queries, table).await
    }
}

/// `POST /search/send-search-message` without its transport.
async fn document_searches(
    data: &Path,
    model_dir: &Path,
    queries: &[String],
    table: &mut Table,
) -> anyhow::Result<()> {
    let mut costs = in_process::measure(data, model_dir, queries).await?;
    let plain = milli(percentile(&mut costs.plain, 50));
    let expanded = milli(percentile(&mut costs.expanded, 50));
    table.add("search for documents, in process, p50", plain, "ms", Bar::None);
    let added = milli(percentile(&mut costs.added, 50));
    table.add("  added to embedding and index, p50", added, "ms", Bar::AtMost(1.0));
    table.add("  with 4 more queries, p50", expanded, "ms", Bar::None);
    let times = expanded / plain.max(f64::EPSILON);
    table.add("  with 4 more queries, to one", times, "times", Bar::AtMost(1.6));
    Ok(())
}

/// The embedding of queries by itself, while nothing else runs.
fn embedding_times(dir: &Path, queries: &[String]) -> anyhow::Result<Vec<Duration>> {
    let model = MiniLm::load(dir, MiniLmOptions::for_this_machine())?;
    let time = |query: &String| {
        let began = Instant::now();
        let _ = model.embed_query(query);
        began.elapsed()
    };
    for query in queries.iter().take(20) {
        let _ = time(query);
    }
    Ok(queries.iter().take(SINGLE_QUERIES).map(time).collect())
}

/// When a load ends.
#[derive(Clone, Copy)]
enum Until {
    Requests(usize),
    Elapsed(Duration),
}

fn milli(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

fn mega(bytes: u64) -> f64 {
    float(bytes) / 1e6
}

fn ratio(number: usize, took: Duration) -> f64 {
    float(u64::try_from(number).unwrap_or(u64::MAX)) / took.as_secs_f64().max(1e-9)
}

/// Exact up to 2^32, which nothing here exceeds by much.
fn float(number: u64) -> f64 {
    let high = u32::try_from(number >> 32).unwrap_or(u32::MAX);
    let low = u32::try_from(number & u64::from(u32::MAX)).unwrap_or(u32::MAX);
    f64::from(high) * 4_294_967_296.0 + f64::from(low)
}
