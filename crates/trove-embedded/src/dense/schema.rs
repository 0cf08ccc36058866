//! How points look in Edge: vectors, payload, indexes, filters.

use qdrant_edge::external::ordered_float::OrderedFloat;
use qdrant_edge::external::serde_json::{Map, Number, Value};
use qdrant_edge::{
    AcornSearchParams, AnyVariants, Condition, CreateIndex, Distance, EdgeConfig,
    EdgeOptimizersConfig, EdgeVectorParams, FieldCondition, FieldIndexOperations, Filter,
    HnswIndexConfig, IntegerIndexParams, JsonPath, Match, Payload, PayloadFieldSchema,
    PayloadSchemaParams, PointId, PointStructPersisted, Range, ScalarQuantizationConfig,
    ScalarType, SearchParams, UpdateOperation, VectorStructPersisted, WalOptions,
};

use super::DensePoint;
use crate::tokens::{TermFilter, number_of};

/// Payload keys. Terms are numbers here: comparing them is most of the work of a filtered search.
const ACCESS: &str = "a";
const OTHER_TERMS: &str = "t";
const UPDATED_AT: &str = "u";
const CREATED_AT: &str = "c";

/// Kilobytes of vectors up to which all that pass a filter are compared, which is exact and as
/// quick as a walk through the graph: 26,000 vectors of 384 dimensions.
const FULL_SCAN_KB: usize = 40_000;

/// The shard's settings.
pub(super) fn config(dimensions: usize) -> EdgeConfig {
    let vector = EdgeVectorParams {
        size: dimensions,
        // Vectors are of unit length: the dot product is the cosine, and nothing is changed.
        distance: Distance::Dot,
        on_disk: Some(true),
        multivector_config: None,
        datatype: None,
        // A byte per dimension in memory finds the candidates, the vectors on disk rank them.
        quantization_config: Some(
            ScalarQuantizationConfig {
                r#type: ScalarType::Int8,
                quantile: Some(0.99),
                always_ram: Some(true),
            }
            .into(),
        ),
        hnsw_config: None,
    };
    EdgeConfig {
        on_disk_payload: true,
        vectors: [(String::new(), vector)].into(),
        hnsw_config: HnswIndexConfig {
            m: 16,
            ef_construct: 100,
            full_scan_threshold: FULL_SCAN_KB,
            // Building is background work: it leaves the other cores to searches.
            max_indexing_threads: 1,
            on_disk: Some(true),
            payload_m: None,
            inline_storage: None,
        },
        optimizers: EdgeOptimizersConfig {
            default_segment_number: Some(3),
            ..EdgeOptimizersConfig::default()
        },
        wal_options: Some(WalOptions {
            segment_capacity: 8 * 1024 * 1024,
            ..WalOptions::default()
        }),
        ..EdgeConfig::default()
    }
}

/// What makes the payload indexes of a new shard.
pub(super) fn payload_indexes() -> impl Iterator<Item = UpdateOperation> {
    let index = |lookup, on_disk| {
        PayloadSchemaParams::Integer(IntegerIndexParams {
            lookup: Some(lookup),
            range: Some(!lookup),
            on_disk: Some(on_disk),
            enable_hnsw: Some(false),
            ..IntegerIndexParams::default()
        })
    };
    // Access is asked for by every search, the rest by few.
    [
        (ACCESS, index(true, false)),
        (OTHER_TERMS, index(true, true)),
        (UPDATED_AT, index(false, true)),
        (CREATED_AT, index(false, true)),
    ]
    .into_iter()
    .map(|(field, schema)| {
        UpdateOperation::FieldIndexOperation(FieldIndexOperations::CreateIndex(CreateIndex {
            field_name: json_path(field),
            field_schema: Some(PayloadFieldSchema::FieldParams(schema)),
        }))
    })
}

pub(super) fn search_params() -> SearchParams {
    SearchParams {
        // Where a filter leaves too little of the graph to walk through, look one step further.
        acorn: Some(AcornSearchParams { enable: true, max_selectivity: None }),
        ..SearchParams::default()
    }
}

pub(super) fn point(point: DensePoint) -> PointStructPersisted {
    let DensePoint { key, vector, terms, updated_at, created_at } = point;
    let mut payload = Map::new();
    for (field, numbers) in [(ACCESS, &terms.access), (OTHER_TERMS, &terms.other)] {
        let numbers = numbers.iter().map(|number| Value::Number(Number::from(*number))).collect();
        payload.insert(field.to_owned(), Value::Array(numbers));
    }
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

pub(super) fn filter(filter: &TermFilter) -> Filter {
    let fields = std::iter::once(ACCESS).chain(std::iter::repeat(OTHER_TERMS));
    let mut must: Vec<Condition> = fields
        .zip(&filter.groups)
        .map(|(field, group)| any_of(field, group.iter().map(|term| number_of(term)).collect()))
        .collect();
    for (field, span) in [(UPDATED_AT, filter.updated_at), (CREATED_AT, filter.created_at)] {
        let Some(span) = span else { continue };
        let range = Range {
            gte: Some(OrderedFloat(float(span.start))),
            lte: Some(OrderedFloat(float(span.end))),
            gt: None,
            lt: None,
        };
        must.push(Condition::Field(FieldCondition::new_range(json_path(field), range)));
    }
    Filter { must: Some(must), ..Filter::default() }
}

fn any_of(field: &'static str, numbers: Vec<i64>) -> Condition {
    let any = AnyVariants::Integers(numbers.into_iter().collect());
    Condition::Field(FieldCondition::new_match(json_path(field), Match::new_any(any)))
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
