//! One Edge shard behind an interface that cannot panic or deadlock.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use qdrant_edge::{
    EdgeShard, NamedQuery, OperationError, PointId, PointInsertOperations, PointOperations,
    QueryEnum, ScrollRequest, SearchRequest, UpdateOperation, VectorInternal, WithPayloadInterface,
    WithVector,
};

use super::schema;
use crate::tokens::{TermFilter, TermNumbers};

/// Points per operation: one record of Edge's log, held in memory as a whole.
const POINTS_PER_OPERATION: usize = 256;
/// Length of the log in bytes from which it is worth a pause to get rid of it.
const LOG_BYTES_MAX: u64 = 256_000_000;

/// A vector with what filters ask of it.
#[derive(Clone, Debug)]
pub(crate) struct DensePoint {
    pub key: u64,
    pub vector: Vec<f32>,
    pub terms: Arc<TermNumbers>,
    pub updated_at: Option<i64>,
    pub created_at: Option<i64>,
}

/// A failure of Edge, which reports some of them by panicking.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DenseError {
    #[error(transparent)]
    Operation(#[from] OperationError),
    #[error("cannot access `{}`", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("the vector engine gave up in {0}")]
    Panicked(&'static str),
    #[error("the vectors could not be opened again")]
    Closed,
}

/// A shard. Searches run beside everything else; updates and flushes take turns, because a flush
/// panics while an update runs.
pub(crate) struct DenseShard {
    path: PathBuf,
    dimensions: usize,
    /// `None` while it is opened again, for good when that failed.
    shard: RwLock<Option<EdgeShard>>,
    turn: Mutex<()>,
}

impl DenseShard {
    /// Opens the shard in `path`; `None` when there is none.
    pub(crate) fn open(path: &Path, dimensions: usize) -> Result<Option<Self>, DenseError> {
        if !path.join("edge_config.json").exists() {
            return Ok(None);
        }
        let shard = load(path, dimensions)?;
        Ok(Some(Self::of(path, dimensions, shard)))
    }

    /// Makes an empty shard in `path`, whatever was there.
    pub(crate) fn create(path: &Path, dimensions: usize) -> Result<Self, DenseError> {
        if path.exists() {
            fs::remove_dir_all(path).map_err(io(path))?;
        }
        fs::create_dir_all(path).map_err(io(path))?;
        let shard = guarded("create", || EdgeShard::new(path, schema::config(dimensions)))??;
        let this = Self::of(path, dimensions, shard);
        for operation in schema::payload_indexes() {
            this.update(operation)?;
        }
        this.flush()?;
        Ok(this)
    }

    fn of(path: &Path, dimensions: usize, shard: EdgeShard) -> Self {
        Self {
            path: path.to_owned(),
            dimensions,
            shard: RwLock::new(Some(shard)),
            turn: Mutex::default(),
        }
    }

    pub(crate) fn upsert(&self, points: Vec<DensePoint>) -> Result<(), DenseError> {
        let mut points = points.into_iter().map(schema::point).peekable();
        while points.peek().is_some() {
            let some: Vec<_> = points.by_ref().take(POINTS_PER_OPERATION).collect();
            self.update(UpdateOperation::PointOperation(PointOperations::UpsertPoints(
                PointInsertOperations::PointsList(some),
            )))?;
        }
        Ok(())
    }

    pub(crate) fn remove(&self, keys: &[u64]) -> Result<(), DenseError> {
        for keys in keys.chunks(POINTS_PER_OPERATION * 16) {
            let ids = keys.iter().copied().map(PointId::NumId).collect();
            self.update(UpdateOperation::PointOperation(PointOperations::DeletePoints { ids }))?;
        }
        Ok(())
    }

    /// The keys of the nearest points that pass `filter` with their similarities, best first.
    pub(crate) fn search(
        &self,
        vector: &[f32],
        filter: &TermFilter,
        limit: usize,
    ) -> Result<Vec<(u64, f32)>, DenseError> {
        let request = SearchRequest {
            query: QueryEnum::Nearest(NamedQuery {
                query: VectorInternal::Dense(vector.to_vec()),
                using: None,
            }),
            filter: Some(schema::filter(filter)),
            params: Some(schema::search_params()),
            limit,
            offset: 0,
            with_payload: Some(WithPayloadInterface::Bool(false)),
            with_vector: Some(WithVector::Bool(false)),
            score_threshold: None,
        };
        let points = self.with("search", |shard| shard.search(request))??;
        Ok(points.into_iter().filter_map(|point| Some((key(point.id)?, point.score))).collect())
    }

    /// Up to `limit` keys from `first` on, in order, and where to go on.
    pub(crate) fn keys(
        &self,
        first: u64,
        limit: usize,
    ) -> Result<(Vec<u64>, Option<u64>), DenseError> {
        let request = ScrollRequest {
            offset: Some(PointId::NumId(first)),
            limit: Some(limit),
            filter: None,
            with_payload: Some(WithPayloadInterface::Bool(false)),
            with_vector: WithVector::Bool(false),
            order_by: None,
        };
        let (records, next) = self.with("list", |shard| shard.scroll(request))??;
        let keys = records.into_iter().filter_map(|record| key(record.id)).collect();
        Ok((keys, next.and_then(key)))
    }

    /// How many points there are.
    pub(crate) fn points(&self) -> Result<u64, DenseError> {
        let points = self.with("count", |shard| shard.info().points_count)?;
        Ok(u64::try_from(points).unwrap_or(u64::MAX))
    }

    /// Writes everything to disk.
    pub(crate) fn flush(&self) -> Result<(), DenseError> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.with("flush", EdgeShard::flush)
    }

    /// Merges segments and builds graphs where that pays; searches and updates go on meanwhile.
    pub(crate) fn optimize(&self) -> Result<bool, DenseError> {
        Ok(self.with("optimize", EdgeShard::optimize)??)
    }

    /// Gets rid of the log when it has become long. Searches and updates wait for it, about a
    /// second for a million points.
    ///
    /// Edge appends every operation to a log that it never reads and never shortens while it is
    /// open, so the shard is closed and opened again.
    pub(crate) fn shorten_log(&self) -> Result<(), DenseError> {
        if log_bytes(&self.path).map_err(io(&self.path))? < LOG_BYTES_MAX {
            return Ok(());
        }
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut shard = self.shard.write().unwrap_or_else(PoisonError::into_inner);
        let open = shard.take();
        guarded("close", || drop(open))?;
        *shard = Some(load(&self.path, self.dimensions)?);
        Ok(())
    }

    fn update(&self, operation: UpdateOperation) -> Result<(), DenseError> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(self.with("update", |shard| shard.update(operation))??)
    }

    fn with<T>(
        &self,
        operation: &'static str,
        run: impl FnOnce(&EdgeShard) -> T,
    ) -> Result<T, DenseError> {
        let shard = self.shard.read().unwrap_or_else(PoisonError::into_inner);
        let shard = shard.as_ref().ok_or(DenseError::Closed)?;
        guarded(operation, || run(shard))
    }
}

impl Drop for DenseShard {
    fn drop(&mut self) {
        let shard = self.shard.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        // The shard writes itself to disk when it is dropped, and panics when that fails.
        if let Err(error) = guarded("close", || drop(shard)) {
            tracing::error!(%error, "the vectors could not be written to disk");
        }
    }
}

fn load(path: &Path, dimensions: usize) -> Result<EdgeShard, DenseError> {
    remove_old_log(path).map_err(io(path))?;
    Ok(guarded("open", || EdgeShard::load(path, Some(schema::config(dimensions))))??)
}

fn key(id: PointId) -> Option<u64> {
    match id {
        PointId::NumId(key) => Some(key),
        PointId::Uuid(_) => None,
    }
}

fn log_bytes(path: &Path) -> std::io::Result<u64> {
    fs::read_dir(path.join("wal"))?.map(|entry| Ok(entry?.metadata()?.len())).sum()
}

/// Edge keeps its whole log, reads none of it, and only needs the last file to go on numbering.
fn remove_old_log(path: &Path) -> std::io::Result<()> {
    let mut closed: Vec<(u64, PathBuf)> = Vec::new();
    for entry in fs::read_dir(path.join("wal"))? {
        let path = entry?.path();
        let start = path.file_name().and_then(|name| name.to_str()?.strip_prefix("closed-"));
        if let Some(start) = start.and_then(|start| start.parse().ok()) {
            closed.push((start, path));
        }
    }
    closed.sort_unstable();
    closed.pop();
    for (_, path) in closed {
        fs::remove_file(path)?;
    }
    Ok(())
}

fn io(path: &Path) -> impl FnOnce(std::io::Error) -> DenseError {
    let path = path.to_owned();
    move |source| DenseError::Io { path, source }
}

fn guarded<T>(operation: &'static str, run: impl FnOnce() -> T) -> Result<T, DenseError> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|_| DenseError::Panicked(operation))
}
