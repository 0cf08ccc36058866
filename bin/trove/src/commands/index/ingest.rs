//! The pipeline: files are read beside the engine's work on what was read before.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, anyhow};
use tokio::sync::mpsc;
use tokio::task::{JoinSet, spawn_blocking};
use tokio_util::sync::CancellationToken;
use trove_domain::document::Document;
use trove_domain::error::{Classify, ErrorKind};
use trove_domain::id::{CcPairId, DocumentId};
use trove_domain::port::TextExtractor;
use trove_engine::Engine;
use trove_engine::ingestion::IngestOutcome;

use super::progress::Progress;
use super::read::{FromDisk, Unread, read};
use super::report::Report;
use super::walk::Found;
use crate::config::IngestionSection;
use crate::wiring::extractor;

/// Documents that wait to be taken; each may be as large as a document can be.
const QUEUE: usize = 32;
/// A batch is this many documents, or fewer when they are long.
const BATCH_DOCUMENTS: usize = 64;
const BATCH_BYTES: usize = 2_000_000;
/// Batches that the engine works on: while one waits for the disk, the other one computes.
const BATCHES_IN_WORK: usize = 2;
/// Batches in a row of which nothing could be stored: then the index or database is to blame.
const FAILED_BATCHES_MAX: usize = 3;

struct FromFile {
    path: PathBuf,
    document: Result<FromDisk, Unread>,
}

struct Batch {
    paths: Vec<PathBuf>,
    ids: Vec<DocumentId>,
    outcomes: Vec<IngestOutcome>,
}

/// Indexes the files; answers the documents that are to stay. Stops after the current batches
/// when `stop` is cancelled.
///
/// # Errors
///
/// When the index or the database fails for batch after batch.
pub(super) async fn ingest(
    engine: &Engine,
    pair: CcPairId,
    found: Found,
    limits: &IngestionSection,
    stop: &CancellationToken,
    report: &mut Report,
) -> anyhow::Result<HashSet<DocumentId>> {
    let progress = Progress::start(found.files.len());
    let mut documents = start_readers(found.files, limits, stop);
    let mut sink = Sink { report, progress, kept: HashSet::new(), failed_batches: 0 };
    let mut in_work = JoinSet::new();
    let mut batch: Vec<(PathBuf, Document)> = Vec::new();
    let mut bytes = 0;
    while let Some(FromFile { path, document }) = documents.recv().await {
        match document {
            Ok(FromDisk { document, warnings }) => {
                for warning in warnings {
                    sink.report.warn(path.clone(), warning);
                }
                bytes += document.sections.iter().map(|section| section.text.len()).sum::<usize>();
                batch.push((path, document));
            }
            Err(unread) => sink.unread(path, unread),
        }
        if batch.len() >= BATCH_DOCUMENTS || bytes >= BATCH_BYTES {
            while in_work.len() >= BATCHES_IN_WORK {
                sink.join(&mut in_work).await?;
            }
            bytes = 0;
            in_work.spawn(store(engine.clone(), pair, std::mem::take(&mut batch)));
        }
        if stop.is_cancelled() {
            break;
        }
    }
    if !batch.is_empty() && !stop.is_cancelled() {
        in_work.spawn(store(engine.clone(), pair, batch));
    }
    while !in_work.is_empty() {
        sink.join(&mut in_work).await?;
    }
    sink.progress.finish();
    Ok(sink.kept)
}

fn start_readers(
    files: Vec<PathBuf>,
    limits: &IngestionSection,
    stop: &CancellationToken,
) -> mpsc::Receiver<FromFile> {
    let extractor: Arc<dyn TextExtractor> = extractor(limits);
    let files = Arc::new(Mutex::new(files.into_iter()));
    let (sender, receiver) = mpsc::channel(QUEUE);
    // More would only wait for a worker.
    for _ in 0..limits.extraction_workers {
        let (files, sender, stop) = (Arc::clone(&files), sender.clone(), stop.clone());
        let extractor = Arc::clone(&extractor);
        // Not joined: a reader ends when there are no more files, or nobody listens.
        drop(spawn_blocking(move || {
            while !stop.is_cancelled() {
                let next = files.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some(path) = next else { break };
                let document = read(&path, &*extractor);
                if sender.blocking_send(FromFile { path, document }).is_err() {
                    break;
                }
            }
        }));
    }
    receiver
}

async fn store(engine: Engine, pair: CcPairId, batch: Vec<(PathBuf, Document)>) -> Batch {
    let (paths, documents): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
    let ids = documents.iter().map(|document| document.id.clone()).collect();
    let outcomes = engine.ingest_batch(pair, documents).await;
    Batch { paths, ids, outcomes }
}

/// Where outcomes go.
struct Sink<'a> {
    report: &'a mut Report,
    progress: Progress,
    kept: HashSet<DocumentId>,
    failed_batches: usize,
}

impl Sink<'_> {
    fn unread(&mut self, path: PathBuf, unread: Unread) {
        match unread {
            Unread::Unsupported(reason) => self.report.skip(path, reason),
            Unread::Failed(reason) => {
                // Whatever the index holds of it stays until the file can be read again.
                self.kept
                    .extend(super::read::file_url(&path).and_then(|url| DocumentId::new(url).ok()));
                self.progress.failed(&path, &reason);
                self.report.fail(path, reason);
            }
        }
        self.progress.advance(1);
    }

    async fn join(&mut self, in_work: &mut JoinSet<Batch>) -> anyhow::Result<()> {
        let Some(batch) = in_work.join_next().await else { return Ok(()) };
        let Batch { paths, ids, outcomes } = batch.context("indexing failed")?;
        let size = paths.len();
        let mut ours_to_blame = 0;
        let mut last_error = None;
        for ((path, id), outcome) in paths.into_iter().zip(ids).zip(outcomes) {
            match outcome {
                IngestOutcome::Indexed { new: true } => self.report.indexed += 1,
                IngestOutcome::Indexed { new: false } | IngestOutcome::AttributesUpdated => {
                    self.report.updated += 1;
                }
                IngestOutcome::Unchanged => self.report.unchanged += 1,
                IngestOutcome::Empty => {
                    // There is nothing to find in it any more.
                    self.report.empty += 1;
                    continue;
                }
                IngestOutcome::Failed(error) => {
                    if matches!(error.kind(), ErrorKind::Internal | ErrorKind::Unavailable) {
                        ours_to_blame += 1;
                    }
                    let reason = format!("{:#}", anyhow!(error));
                    self.progress.failed(&path, &reason);
                    self.report.fail(path, reason.clone());
                    last_error = Some(reason);
                }
            }
            self.kept.insert(id);
        }
        self.progress.advance(size);
        self.failed_batches = if ours_to_blame == size { self.failed_batches + 1 } else { 0 };
        match last_error {
            Some(reason) if self.failed_batches >= FAILED_BATCHES_MAX => {
                Err(anyhow!("nothing could be stored any more, so indexing was given up: {reason}"))
            }
            _ => Ok(()),
        }
    }
}
