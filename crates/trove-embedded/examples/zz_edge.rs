#![allow(warnings)]
#[path = "../benches/corpus/mod.rs"]
mod corpus;
use qdrant_edge::external::serde_json::{Map, Value, json};
use qdrant_edge::*;
use std::collections::{HashMap, HashSet};
use std::time::Instant;
use trove_domain::access::ScopeFilter;
fn h(s: &str) -> i64 {
    (s.bytes().fold(0xcbf29ce484222325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100000001b3)))
        as i64
}
fn cpu() -> f64 {
    let s = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    s.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e6
}
fn config(on_disk: bool) -> EdgeConfig {
    EdgeConfig { on_disk_payload: true,
        vectors: [(String::new(), EdgeVectorParams { size: 384, distance: Distance::Dot, on_disk: Some(true), multivector_config: None, datatype: None, quantization_config: if std::env::args().any(|a| a == "sq") { Some(qdrant_edge::external::serde_json::from_value(json!({"scalar": {"type": "int8", "quantile": 0.99, "always_ram": true}})).unwrap()) } else { None }, hnsw_config: None })].into(),
        hnsw_config: HnswIndexConfig { m: 16, ef_construct: 100, full_scan_threshold: std::env::args().nth(5).unwrap().parse().unwrap(), max_indexing_threads: 2, on_disk: Some(true), payload_m: None, inline_storage: None },
        optimizers: EdgeOptimizersConfig { default_segment_number: Some(2), ..Default::default() },
        wal_options: Some(WalOptions { segment_capacity: 8 << 20, ..Default::default() }), ..Default::default() }
}
fn path(s: &str) -> JsonPath {
    JsonPath { first_key: s.into(), rest: vec![] }
}
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let dir = std::path::PathBuf::from(&a[1]);
    let n: usize = a[2].parse().unwrap();
    let disk = a[3] == "disk";
    let corpus = corpus::Corpus::new(true);
    if !dir.exists() {
        std::fs::create_dir_all(&dir).unwrap();
        let shard = EdgeShard::new(&dir, config(disk)).unwrap();
        for f in ["a", "t"] {
            shard
                .update(UpdateOperation::FieldIndexOperation(FieldIndexOperations::CreateIndex(
                    CreateIndex {
                        field_name: path(f),
                        field_schema: Some(PayloadFieldSchema::FieldParams(
                            PayloadSchemaParams::Integer(IntegerIndexParams {
                                lookup: Some(true),
                                range: Some(false),
                                on_disk: Some(disk),
                                enable_hnsw: Some(false),
                                ..Default::default()
                            }),
                        )),
                    },
                )))
                .unwrap();
        }
        let t = Instant::now();
        let mut key = 0;
        let mut batch = vec![];
        let mut up = 0.0;
        for d in 0..n / 4 {
            let doc = corpus.document(d);
            let mut acc: Vec<i64> =
                doc.attributes.access.tags.iter().map(|t| h(t.as_str())).collect();
            acc.push(1);
            if doc.attributes.access.public {
                acc.push(2);
            }
            for c in doc.chunks {
                let payload = json!({"a": acc, "t": [3, 4, 5]});
                let Value::Object(m) = payload else { panic!() };
                batch.push(PointStructPersisted {
                    id: PointId::NumId(key),
                    vector: VectorStructPersisted::Single(c.vector.unwrap()),
                    payload: Some(Payload(m)),
                });
                key += 1;
            }
            if batch.len() >= 256 {
                let t = Instant::now();
                shard
                    .update(UpdateOperation::PointOperation(PointOperations::UpsertPoints(
                        PointInsertOperations::PointsList(std::mem::take(&mut batch)),
                    )))
                    .unwrap();
                up += t.elapsed().as_secs_f64();
            }
        }
        shard
            .update(UpdateOperation::PointOperation(PointOperations::UpsertPoints(
                PointInsertOperations::PointsList(std::mem::take(&mut batch)),
            )))
            .unwrap();
        println!("upsert {up} of {:?}", t.elapsed());
        let t = Instant::now();
        shard.flush();
        println!("flush {:?}", t.elapsed());
        let t = Instant::now();
        println!("{:?} {:?}", shard.optimize().unwrap(), t.elapsed());
        println!("{:?}", shard.info().segments_count);
    }
    let t = Instant::now();
    let shard = EdgeShard::load(&dir, None).unwrap();
    println!("load {:?} {:?}", t.elapsed(), shard.info().segments_count);
    println!(
        "{}",
        std::fs::read_to_string("/proc/self/status")
            .unwrap()
            .lines()
            .filter(|l| l.starts_with("VmRSS") || l.starts_with("Rss"))
            .collect::<Vec<_>>()
            .join(" ")
    );
    let limit: usize = a[4].parse().unwrap();
    let mut truth: HashMap<usize, HashSet<PointId>> = HashMap::new();
    for (name, exact, acorn, ef) in [
        ("exact", true, false, None),
        ("hnsw", false, false, None),
        ("hnsw ef 500", false, false, Some(500)),
        ("acorn", false, true, None),
        ("acorn ef 500", false, true, Some(500)),
    ] {
        let mut times = vec![];
        let mut recall = 0.0;
        let mut found = 0;
        let c0 = cpu();
        let q = 500;
        for i in 0..q {
            let query = corpus.query(i, 1.0);
            let ScopeFilter::PublicOr(tags) = query.scope.filter() else { panic!() };
            let mut any: Vec<i64> = tags.iter().map(|t| h(t.as_str())).collect();
            any.push(2);
            let filter = Filter {
                must: Some(vec![Condition::Field(FieldCondition::new_match(
                    path("a"),
                    Match::new_any(AnyVariants::Integers(any.into_iter().collect())),
                ))]),
                ..Default::default()
            };
            let t = Instant::now();
            let r = shard
                .search(SearchRequest {
                    query: QueryEnum::Nearest(NamedQuery {
                        query: VectorInternal::Dense(query.vector.unwrap()),
                        using: None,
                    }),
                    filter: Some(filter),
                    params: Some(SearchParams {
                        hnsw_ef: ef,
                        exact,
                        acorn: Some(AcornSearchParams { enable: acorn, max_selectivity: None }),
                        ..Default::default()
                    }),
                    limit,
                    offset: 0,
                    with_payload: None,
                    with_vector: None,
                    score_threshold: None,
                })
                .unwrap();
            times.push(t.elapsed());
            found += r.len();
            let ids: HashSet<PointId> = r.iter().map(|p| p.id).collect();
            if exact {
                truth.insert(i, ids);
            } else {
                recall += ids.intersection(&truth[&i]).count() as f64 / truth[&i].len() as f64;
            }
        }
        let c = (cpu() - c0) / q as f64;
        times.sort();
        println!(
            "{name}: min {:?} p10 {:?} p50 {:?} p99 {:?} cpu {c:.3} ms recall {:.3} found {}",
            times[0],
            times[q / 10],
            times[q / 2],
            times[q * 99 / 100],
            recall / q as f64,
            found / q
        );
    }
}
