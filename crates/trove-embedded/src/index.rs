//! The adapter: opens a directory, starts the threads, answers the port.

use std::fs::{self, File};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use async_trait::async_trait;
use tantivy::ReloadPolicy;
use tokio::sync::{Semaphore, oneshot};
use tokio::task::spawn_blocking;
use trove_domain::access::AccessScope;
use trove_domain::chunk::IndexableDocument;
use trove_domain::hit::{IndexedChunk, ScoredChunk};
use trove_domain::id::DocumentId;
use trove_domain::port::{
    AttributeUpdate, ChunkRange, DocumentIndex, DocumentIndexError, IndexCapabilities,
    IndexStatistics, WriteOutcome,
};
use trove_domain::query::IndexQuery;

use crate::config::EmbeddedIndexConfig;
use crate::dense::{Dense, vectors_from};
use crate::error::{IndexDirectoryError, backend, stopped};
use crate::format::Layout;
use crate::lexical::schema;
use crate::maintenance::{Comparison, Maintenance};
use crate::search::{Search, fetch_ranges};
use crate::snapshot::{Published, SnapshotMaker};
use crate::tokens::TermFilter;
use crate::writer::{Command, Write, Writer, closed};

/// Writes that wait at most; more callers wait for their turn to queue up.
const QUEUE_MAX: usize = 64;
/// Vectors that are restored before the index opens; more are restored in the background.
const RESTORE_AT_ONCE_MAX: u64 = 20_000;
/// Blocks of stored fields that are kept per segment: the chunks of a document are neighbours.
const STORE_BLOCKS_KEPT: usize = 8;
/// How long dropping the index waits for work in the background.
const STOP_WITHIN: Duration = Duration::from_secs(5);

/// A [`DocumentIndex`] in this process: words in tantivy, vectors in Qdrant Edge.
///
/// One directory is used by one index at a time. Methods have to be called on a tokio runtime.
/// Dropping the index loses nothing that was acknowledged; `flush` before makes the next start
/// quick.
pub struct EmbeddedDocumentIndex {
    config: EmbeddedIndexConfig,
    published: Arc<Published>,
    dense: Option<Arc<Dense>>,
    /// `None` once the index is being dropped.
    commands: Option<Sender<Command>>,
    queue: Arc<Semaphore>,
    searches: Semaphore,
    _lock: Arc<File>,
    stopping: Arc<AtomicBool>,
    threads: Mutex<Vec<Thread>>,
}

struct Thread {
    handle: JoinHandle<()>,
    /// Disconnected when the thread ends.
    ended: Receiver<()>,
}

impl EmbeddedDocumentIndex {
    /// Length of the vectors of the index in `dir`; `None` when there is none, or nobody knows.
    ///
    /// # Errors
    ///
    /// When the directory cannot be read.
    pub fn dimensions_in(dir: &Path) -> Result<Option<usize>, IndexDirectoryError> {
        Ok(Layout::new(dir).read_description()?.and_then(|description| description.dimensions))
    }

    /// Opens the index in `dir`; creates it when there is none.
    ///
    /// Blocks for as long as reading the directory takes: well below a second for 100,000 chunks.
    ///
    /// # Errors
    ///
    /// [`DocumentIndexError::DimensionMismatch`] when the index holds vectors of another length.
    /// [`DocumentIndexError::Backend`] with an [`IndexDirectoryError`] as its source when the
    /// directory is damaged, holds vectors of another model, was written by another release or is
    /// not accessible.
    /// [`DocumentIndexError::Unavailable`] when another index uses the directory.
    #[tracing::instrument(name = "index.open", skip_all, fields(path = %dir.display()))]
    pub fn open(dir: &Path, config: EmbeddedIndexConfig) -> Result<Self, DocumentIndexError> {
        let layout = Layout::new(dir);
        let directory = backend::<IndexDirectoryError>;
        let lock = Arc::new(layout.lock().map_err(|error| match error {
            in_use @ IndexDirectoryError::InUse { .. } => {
                DocumentIndexError::Unavailable { operation: "index.open", source: in_use.into() }
            }
            error => directory("index.open")(error),
        })?);
        prepare_directory(&layout, &config)?;
        let (index, fields) = schema::open_or_create(&layout).map_err(directory("index.open"))?;
        describe(&layout, &config)?;

        let reader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .doc_store_cache_num_blocks(STORE_BLOCKS_KEPT)
            .try_into()
            .map_err(|error: tantivy::TantivyError| damaged(&layout.lexical(), &error))?;
        let metas = index.load_metas().map_err(|error| damaged(&layout.lexical(), &error))?;
        let mut snapshots = SnapshotMaker::default();
        let snapshot = snapshots
            .make(fields, reader.searcher())
            .map_err(|error| damaged(&layout.lexical(), &error))?;
        let next_key = match metas.payload.as_deref() {
            Some(payload) => payload
                .parse()
                .map_err(|_| damaged_by(&layout.lexical(), "its last commit has no key"))?,
            None => 0,
        };
        let published = Arc::new(Published::new(snapshot));

        let (dense, comparison) = match config.dimensions {
            Some(dimensions) => {
                let (dense, comparison) =
                    open_dense(&layout, dimensions, metas.opstamp, next_key, &published)?;
                (Some(dense), comparison)
            }
            None => (None, None),
        };

        let stopping = Arc::new(AtomicBool::new(false));
        let (commands, queued) = mpsc::channel();
        let (wake, woken) = mpsc::channel();
        let mut threads = Vec::new();
        if let Some(dense) = &dense {
            let maintenance = Maintenance {
                dense: Arc::clone(dense),
                optimize_after: config.optimize_after,
                stopping: Arc::clone(&stopping),
            };
            let lock = Arc::clone(&lock);
            threads.push(start("trove-index-care", move || {
                maintenance.run(comparison, &woken);
                // The shard writes a last time when it is dropped; only then may another be opened.
                drop(maintenance);
                drop(lock);
            })?);
        }
        let writer = Writer {
            index,
            reader,
            fields,
            layout,
            published: Arc::clone(&published),
            snapshots,
            dense: dense.clone(),
            write_buffer_bytes: config.write_buffer_bytes,
            languages: config.languages.clone(),
            idle_after: config.idle_after,
            next_key,
            tantivy: None,
            retired: std::collections::VecDeque::new(),
            stale: false,
            wake,
        };
        threads.insert(0, start("trove-index-write", move || writer.run(&queued))?);
        Ok(Self {
            config,
            published,
            dense,
            commands: Some(commands),
            queue: Arc::new(Semaphore::new(QUEUE_MAX)),
            searches: Semaphore::new(searches_at_once()),
            _lock: lock,
            stopping,
            threads: Mutex::new(threads),
        })
    }

    /// Reorganises the vectors now and waits for it, which the index otherwise does in the
    /// background as it sees fit. For tools and measurements; searches and writes go on meanwhile.
    ///
    /// # Errors
    ///
    /// [`DocumentIndexError::Backend`] when that fails; the index works on as it was.
    pub async fn optimize(&self) -> Result<(), DocumentIndexError> {
        match self.dense.clone() {
            Some(dense) => {
                let optimize = move || dense.optimize().map_err(backend("index.optimize"));
                blocking("index.optimize", optimize).await
            }
            None => Ok(()),
        }
    }

    async fn write(
        &self,
        operation: &'static str,
        write: Write,
    ) -> Result<Vec<WriteOutcome>, DocumentIndexError> {
        let permit = Arc::clone(&self.queue).acquire_owned().await.map_err(closed(operation))?;
        let (reply, outcome) = oneshot::channel();
        self.commands
            .as_ref()
            .ok_or_else(|| stopped(operation))?
            .send(Command { write, reply, permit })
            .map_err(closed(operation))?;
        outcome.await.map_err(closed(operation))?
    }

    fn check_batch(&self, got: usize) -> Result<(), DocumentIndexError> {
        let max = self.config.batch_max;
        if got > max { Err(DocumentIndexError::BatchTooLarge { got, max }) } else { Ok(()) }
    }

    fn check_dimensions(&self, vector: Option<&Vec<f32>>) -> Result<(), DocumentIndexError> {
        match (self.config.dimensions, vector) {
            (Some(want), Some(vector)) if vector.len() != want => {
                Err(DocumentIndexError::DimensionMismatch { got: vector.len(), want })
            }
            _ => Ok(()),
        }
    }
}

#[async_trait]
impl DocumentIndex for EmbeddedDocumentIndex {
    fn capabilities(&self) -> IndexCapabilities {
        IndexCapabilities { dimensions: self.config.dimensions, batch_max: self.config.batch_max }
    }

    #[tracing::instrument(name = "index.replace", skip_all, fields(documents = documents.len()))]
    async fn replace(
        &self,
        mut documents: Vec<IndexableDocument>,
    ) -> Result<Vec<WriteOutcome>, DocumentIndexError> {
        self.check_batch(documents.len())?;
        for chunk in documents.iter_mut().flat_map(|document| &mut document.chunks) {
            self.check_dimensions(chunk.vector.as_ref())?;
            if self.config.dimensions.is_none() {
                // An index without vectors does not know their length, so it keeps none.
                chunk.vector = None;
            }
        }
        if documents.is_empty() {
            return Ok(Vec::new());
        }
        self.write("index.replace", Write::Replace(documents)).await
    }

    #[tracing::instrument(name = "index.update_attributes", skip_all, fields(documents = updates.len()))]
    async fn update_attributes(
        &self,
        updates: Vec<AttributeUpdate>,
    ) -> Result<Vec<WriteOutcome>, DocumentIndexError> {
        self.check_batch(updates.len())?;
        if updates.is_empty() {
            return Ok(Vec::new());
        }
        self.write("index.update_attributes", Write::UpdateAttributes(updates)).await
    }

    #[tracing::instrument(name = "index.remove", skip_all, fields(documents = documents.len()))]
    async fn remove(&self, documents: &[(DocumentId, i64)]) -> Result<(), DocumentIndexError> {
        if documents.is_empty() {
            return Ok(());
        }
        self.write("index.remove", Write::Remove(documents.to_vec())).await.map(drop)
    }

    #[tracing::instrument(name = "index.search", skip_all, fields(limit = query.limit))]
    async fn search(&self, query: &IndexQuery) -> Result<Vec<ScoredChunk>, DocumentIndexError> {
        self.check_dimensions(query.vector.as_ref())?;
        if query.limit == 0 {
            return Ok(Vec::new());
        }
        // More at once would only take turns on the cores, with a thread each.
        let _permit = self.searches.acquire().await.map_err(closed("index.search"))?;
        let by_vector = query.vector.is_some() && !query.alpha.is_lexical();
        let dense = self.dense.as_ref().filter(|_| by_vector);
        let search = Arc::new(Search {
            snapshot: self.published.current(),
            filter: Arc::new(TermFilter::of(query)),
            candidates: if dense.is_none() || query.alpha.is_dense() {
                EmbeddedIndexConfig::candidates_alone(query.limit)
            } else {
                self.config.candidates_for(query.limit)
            },
            query: query.clone(),
        });
        let dense = dense.map(|dense| {
            let (search, dense) = (Arc::clone(&search), Arc::clone(dense));
            spawn_blocking(move || {
                search.rank_by_vector(&dense, search.query.vector.as_deref().unwrap_or(&[]))
            })
        });
        let Some(dense) = dense else {
            return blocking("index.search", move || search.fetch(search.rank_by_words()?)).await;
        };
        if query.alpha.is_dense() {
            let dense = dense.await.map_err(backend("index.search"))??;
            return blocking("index.search", move || search.fetch(dense)).await;
        }
        let words = Arc::clone(&search);
        let (lexical, dense) =
            futures::join!(blocking("index.search", move || words.rank_by_words()), dense);
        let (lexical, dense) = (lexical?, dense.map_err(backend("index.search"))??);
        blocking("index.search", move || search.fuse(&lexical, &dense)).await
    }

    #[tracing::instrument(name = "index.fetch", skip_all, fields(ranges = ranges.len()))]
    async fn fetch(
        &self,
        ranges: &[ChunkRange],
        scope: &AccessScope,
    ) -> Result<Vec<Vec<IndexedChunk>>, DocumentIndexError> {
        let _permit = self.searches.acquire().await.map_err(closed("index.fetch"))?;
        let (snapshot, ranges, scope) = (self.published.current(), ranges.to_vec(), scope.clone());
        blocking("index.fetch", move || fetch_ranges(&snapshot, &ranges, &scope)).await
    }

    async fn statistics(&self) -> Result<IndexStatistics, DocumentIndexError> {
        let snapshot = self.published.current();
        blocking("index.statistics", move || {
            let (documents, chunks) = snapshot.count();
            Ok(IndexStatistics { documents, chunks })
        })
        .await
    }

    #[tracing::instrument(name = "index.flush", skip_all)]
    async fn flush(&self) -> Result<(), DocumentIndexError> {
        self.write("index.flush", Write::Settle).await?;
        match self.dense.clone() {
            Some(dense) => {
                blocking("index.flush", move || dense.flush().map_err(backend("index.flush"))).await
            }
            None => Ok(()),
        }
    }
}

impl Drop for EmbeddedDocumentIndex {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::Relaxed);
        self.commands = None;
        let threads = self.threads.get_mut().unwrap_or_else(PoisonError::into_inner);
        for Thread { handle, ended } in threads.drain(..) {
            // Writes that were accepted are finished, which is quick. Reorganising the vectors
            // can take a minute and cannot be interrupted; it is left alone then, and harmless.
            match ended.recv_timeout(STOP_WITHIN) {
                Err(mpsc::RecvTimeoutError::Timeout) => tracing::warn!(
                    thread = handle.thread().name(),
                    "background work of the index goes on after it was closed"
                ),
                Ok(()) | Err(mpsc::RecvTimeoutError::Disconnected) => {
                    if handle.join().is_err() {
                        tracing::error!("a thread of the index panicked");
                    }
                }
            }
        }
    }
}

fn searches_at_once() -> usize {
    std::thread::available_parallelism().map_or(2, std::num::NonZero::get) * 4
}

fn start(name: &str, run: impl FnOnce() + Send + 'static) -> Result<Thread, DocumentIndexError> {
    let (alive, ended) = mpsc::channel();
    let handle = std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(move || {
            let _alive: Sender<()> = alive;
            run();
        })
        .map_err(backend("index.open"))?;
    Ok(Thread { handle, ended })
}

/// Runs `work` beside the runtime: searching is a matter of milliseconds of computation.
async fn blocking<T: Send + 'static>(
    operation: &'static str,
    work: impl FnOnce() -> Result<T, DocumentIndexError> + Send + 'static,
) -> Result<T, DocumentIndexError> {
    spawn_blocking(work).await.map_err(backend(operation))?
}

/// Makes the directories of a new index; tells a damaged one from a new one, and one with vectors
/// of another model.
fn prepare_directory(
    layout: &Layout,
    config: &EmbeddedIndexConfig,
) -> Result<(), DocumentIndexError> {
    let directory = backend::<IndexDirectoryError>("index.open");
    let lexical = layout.lexical();
    let prepare = || -> Result<Option<(usize, usize)>, IndexDirectoryError> {
        let Some(description) = layout.read_description()? else {
            fs::create_dir_all(&lexical).map_err(IndexDirectoryError::io(&lexical))?;
            return Ok(None);
        };
        if !lexical.join("meta.json").exists() {
            let problem = "`lexical/meta.json` is missing";
            return Err(IndexDirectoryError::damaged(layout.root(), problem));
        }
        match description.model.zip(config.model.clone()) {
            Some((want, got)) if want != got => {
                let path = layout.root().to_owned();
                return Err(IndexDirectoryError::OtherModel { path, want, got });
            }
            _ => {}
        }
        Ok(description.dimensions.zip(config.dimensions).filter(|(want, got)| want != got))
    };
    match prepare().map_err(directory)? {
        Some((want, got)) => Err(DocumentIndexError::DimensionMismatch { got, want }),
        None => Ok(()),
    }
}

/// Notes the model and the length of its vectors the first time that they are known.
fn describe(layout: &Layout, config: &EmbeddedIndexConfig) -> Result<(), DocumentIndexError> {
    let directory = || backend::<IndexDirectoryError>("index.open");
    let noted = layout.read_description().map_err(directory())?;
    let known = noted.as_ref().map(|noted| (noted.dimensions, noted.model.clone()));
    let (dimensions, model) = known.unwrap_or_default();
    let (dimensions, model) =
        (dimensions.or(config.dimensions), model.or_else(|| config.model.clone()));
    let is_noted =
        noted.is_some_and(|noted| noted.dimensions == dimensions && noted.model == model);
    if is_noted { Ok(()) } else { layout.write_description(dimensions, model).map_err(directory()) }
}

fn open_dense(
    layout: &Layout,
    dimensions: usize,
    opstamp: u64,
    next_key: u64,
    published: &Published,
) -> Result<(Arc<Dense>, Option<Comparison>), DocumentIndexError> {
    let (dense, trusted) =
        Dense::open(layout, dimensions, opstamp).map_err(backend("index.open"))?;
    let dense = Arc::new(dense);
    if !dense.is_unverified() {
        return Ok((dense, None));
    }
    let snapshot = published.current();
    let mut comparison = Comparison { snapshot, trusted, end: next_key };
    if next_key.saturating_sub(trusted) <= RESTORE_AT_ONCE_MAX {
        vectors_from(&comparison.snapshot, &dense.shard, dimensions, trusted)
            .map_err(backend("index.open"))?;
        comparison.trusted = next_key;
    }
    Ok((dense, Some(comparison)))
}

fn damaged(path: &Path, error: &tantivy::TantivyError) -> DocumentIndexError {
    damaged_by(path, &crate::error::chain(error))
}

fn damaged_by(path: &Path, problem: &str) -> DocumentIndexError {
    backend("index.open")(IndexDirectoryError::damaged(path, problem))
}
