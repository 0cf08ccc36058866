//! One Edge shard behind an interface that cannot panic or deadlock.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use qdrant_edge::external::ordered_float::OrderedFloat;
use qdrant_edge::external::serde_json::{Map, Number, Value};
use qdrant_edge::{
    AnyVariants, Condition, CreateIndex, Distance, EdgeConfig, EdgeOptimizersConfig, EdgeShard,
    EdgeVectorParams, FieldCondition, FieldIndexOperations, Filter, HnswIndexConfig,
    IntegerIndexParams, JsonPath, KeywordIndexParams, Match, NamedQuery, OperationError, Payload,
    PayloadFieldSchema, PayloadSchemaParams, PointId, PointInsertOperations, PointOperations,
    PointStructPersisted, QueryEnum, Range, ScrollRequest, SearchParams, SearchRequest,
    UpdateOperation, VectorInternal, VectorStructPersisted, WalOptions, WithPayloadInterface,
    WithVector,
};

use crate::tokens::TermFilter;

/// Payload keys.
const TERMS: &str = "t";
const UPDATED_AT: &str = "u";
const CREATED_AT: &str = "c";

/// Points per operation: one record of Edge's log, held in memory as a whole.
const POINTS_PER_OPERATION: usize = 256;

/// A vector with what filters ask of it.
#[derive(Clone, Debug)]
pub(crate) struct DensePoint {
    pub key: u64,
    pub vector: Vec<f32>,
    pub terms: std::sync::Arc<[String]>,
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
}

/// A shard. Searches run beside everything else; updates and flushes take turns, because a flush
/// panics while an update runs.
pub(crate) struct DenseShard {
    shard: EdgeShard,
    turn: Mutex<()>,
}

impl DenseShard {
    /// Opens the shard in `path`; `None` when there is none.
    pub(crate) fn open(path: &Path, dimensions: usize) -> Result<Option<Self>, DenseError> {
        if !path.join("edge_config.json").exists() {
            return Ok(None);
        }
        remove_old_log(path).map_err(io(path))?;
        let shard = guarded("open", || EdgeShard::load(path, Some(config(dimensions))))??;
        Ok(Some(Self { shard, turn: Mutex::default() }))
    }

    /// Makes an empty shard in `path`, whatever was there.
    pub(crate) fn create(path: &Path, dimensions: usize) -> Result<Self, DenseError> {
        if path.exists() {
            fs::remove_dir_all(path).map_err(io(path))?;
        }
        fs::create_dir_all(path).map_err(io(path))?;
        let shard = guarded("create", || EdgeShard::new(path, config(dimensions)))??;
        let this = Self { shard, turn: Mutex::default() };
        let keyword = PayloadSchemaParams::Keyword(KeywordIndexParams {
            on_disk: Some(true),
            enable_hnsw: Some(false),
            ..KeywordIndexParams::default()
        });
        let integer = PayloadSchemaParams::Integer(IntegerIndexParams {
            lookup: Some(false),
            range: Some(true),
            on_disk: Some(true),
            enable_hnsw: Some(false),
            ..IntegerIndexParams::default()
        });
        for (field, schema) in
            [(TERMS, keyword), (UPDATED_AT, integer.clone()), (CREATED_AT, integer)]
        {
            this.update(UpdateOperation::FieldIndexOperation(FieldIndexOperations::CreateIndex(
                CreateIndex {
                    field_name: json_path(field),
                    field_schema: Some(PayloadFieldSchema::FieldParams(schema)),
                },
            )))?;
        }
        this.flush()?;
        Ok(this)
    }

    pub(crate) fn upsert(&self, points: Vec<DensePoint>) -> Result<(), DenseError> {
        let mut points = points.into_iter().map(point).peekable();
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
            filter: Some(edge_filter(filter)),
            params: Some(SearchParams::default()),
            limit,
            offset: 0,
            with_payload: Some(WithPayloadInterface::Bool(false)),
            with_vector: Some(WithVector::Bool(false)),
            score_threshold: None,
        };
        let points = guarded("search", || self.shard.search(request))??;
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
        let (records, next) = guarded("list", || self.shard.scroll(request))??;
        let keys = records.into_iter().filter_map(|record| key(record.id)).collect();
        Ok((keys, next.and_then(key)))
    }

    /// Writes everything to disk.
    pub(crate) fn flush(&self) -> Result<(), DenseError> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        guarded("flush", || self.shard.flush())
    }

    /// Merges segments and builds graphs where that pays; searches and updates go on meanwhile.
    pub(crate) fn optimize(&self) -> Result<bool, DenseError> {
        Ok(guarded("optimize", || self.shard.optimize())??)
    }

    fn update(&self, operation: UpdateOperation) -> Result<(), DenseError> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(guarded("update", || self.shard.update(operation))??)
    }
}

fn config(dimensions: usize) -> EdgeConfig {
    let vector = EdgeVectorParams {
        size: dimensions,
        // Vectors are of unit length: the dot product is the cosine, and nothing is changed.
        distance: Distance::Dot,
        on_disk: Some(true),
        multivector_config: None,
        datatype: None,
        quantization_config: None,
        hnsw_config: None,
    };
    EdgeConfig {
        on_disk_payload: true,
        vectors: [(String::new(), vector)].into(),
        hnsw_config: HnswIndexConfig {
            m: 16,
            ef_construct: 100,
            full_scan_threshold: 10_000,
            max_indexing_threads: 1,
            on_disk: Some(true),
            payload_m: None,
            inline_storage: None,
        },
        optimizers: EdgeOptimizersConfig {
            default_segment_number: Some(2),
            ..EdgeOptimizersConfig::default()
        },
        wal_options: Some(WalOptions {
            segment_capacity: 8 * 1024 * 1024,
            ..WalOptions::default()
        }),
        ..EdgeConfig::default()
    }
}

fn point(point: DensePoint) -> PointStructPersisted {
    let DensePoint { key, vector, terms, updated_at, created_at } = point;
    let mut payload = Map::new();
    let terms = terms.iter().map(|term| Value::String(term.clone())).collect();
    payload.insert(TERMS.to_owned(), Value::Array(terms));
    for (field, instant) in [(UPDATED_AT, updated_at), (CREATED_AT, created_at)] {
        if let Some(instant) = instant {
            payload.insert(field.to_owned(), Value::Number(Number::from(instant)));
        }
    }
    PointStructPersisted {
        id: PointId::NumId(key),
        vector: VectorStructPersisted::Single(vector),
        payload: Some(Payload(payload)),
    }
}

fn edge_filter(filter: &TermFilter) -> Filter {
    let mut must: Vec<Condition> = filter
        .groups
        .iter()
        .map(|group| {
            let any = AnyVariants::Strings(group.iter().cloned().collect());
            Condition::Field(FieldCondition::new_match(json_path(TERMS), Match::new_any(any)))
        })
        .collect();
    for (field, range) in [(UPDATED_AT, filter.updated_at), (CREATED_AT, filter.created_at)] {
        if let Some((start, end)) = range {
            must.push(Condition::Field(FieldCondition::new_range(
                json_path(field),
                Range {
                    gte: Some(OrderedFloat(float(start))),
                    lte: Some(OrderedFloat(float(end))),
                    gt: None,
                    lt: None,
                },
            )));
        }
    }
    Filter { must: Some(must), ..Filter::default() }
}

#[expect(
    clippy::as_conversions,
    clippy::cast_precision_loss,
    reason = "microseconds are exact in 53 bits up to the year 2255; beyond, hits are checked again"
)]
fn float(micros: i64) -> f64 {
    micros as f64
}

fn json_path(field: &'static str) -> JsonPath {
    JsonPath { first_key: field.to_owned(), rest: Vec::new() }
}

fn key(id: PointId) -> Option<u64> {
    match id {
        PointId::NumId(key) => Some(key),
        PointId::Uuid(_) => None,
    }
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
