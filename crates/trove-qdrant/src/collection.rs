//! The collection: made when there is none, checked, and brought up to date.
#![expect(deprecated, reason = "servers before 1.20 know where to keep data by these names only")]

use std::collections::HashMap;

use qdrant_client::qdrant::create_vector_name_request::VectorConfig;
use qdrant_client::qdrant::payload_index_params::IndexParams;
use qdrant_client::qdrant::quantization_config::Quantization;
use qdrant_client::qdrant::value::Kind;
use qdrant_client::qdrant::vectors_config::Config as VectorsConfigKind;
use qdrant_client::qdrant::{
    CollectionInfo, CreateCollection, CreateFieldIndexCollection, CreateVectorNameRequest,
    DeleteCollection, DenseVectorCreationConfig, Distance, FieldType, GetCollectionInfoRequest,
    HnswConfigDiff, IntegerIndexParams, KeywordIndexParams, Modifier, PayloadIndexParams,
    QuantizationConfig, QuantizationType, ScalarQuantization, SparseIndexConfig,
    SparseVectorConfig, SparseVectorParams, UpdateCollection, Value, VectorParams, VectorParamsMap,
    VectorsConfig,
};
use tonic::{Code, Status};
use uuid::Uuid;

use crate::chunk::{DENSE, WORDS};
use crate::config::QdrantIndexConfig;
use crate::connection::Connection;
use crate::error::{Answer, OpenError};
use crate::payload::{Payload, field};
use crate::words;

/// The format that this release writes.
const FORMAT: i64 = 1;
/// The first server that can do all that is asked of it.
const SERVER_WANTED: &str = "1.18.0";

/// Keys of the collection's metadata.
const KEY_FORMAT: &str = "trove_format";
const KEY_WORDS: &str = "trove_words";
const KEY_INDEX: &str = "trove_index";
const KEY_REGISTRY: &str = "trove_registry";
const KEY_MODEL: &str = "trove_embedding_model";

/// Kilobytes of vectors up to which all that pass a filter are compared, which is exact and as
/// quick as a walk through the graph: 26,000 vectors of 384 dimensions.
const FULL_SCAN_KB: u64 = 40_000;

/// What a collection says of itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Description {
    /// Its own id, drawn when it was made.
    pub index: Uuid,
    /// The registry whose documents it holds, once one has claimed it.
    pub registry: Option<Uuid>,
}

/// Makes, checks and updates the collection. `new` becomes its id if it is made.
pub(crate) async fn prepare(
    connection: &Connection,
    config: &QdrantIndexConfig,
    new: Uuid,
) -> Result<Description, OpenError> {
    check_server(connection).await?;
    let info = match info(connection).await.map_err(failed(connection))? {
        Some(info) => info,
        None => {
            create(connection, config, new).await?;
            let made = info_of_made(connection).await.map_err(failed(connection))?;
            tracing::info!(collection = connection.collection, "collection made on Qdrant");
            made
        }
    };
    let description = check(connection, config, &info)?;
    if let (Some(model), None) = (&config.model, text(&info, KEY_MODEL)) {
        note(connection, KEY_MODEL, model).await.map_err(failed(connection))?;
    }
    if let (Some(dimensions), None) = (config.dimensions, dimensions_of(&info)) {
        add_vectors(connection, dimensions).await.map_err(failed(connection))?;
    }
    for (name, kind, params) in payload_indexes() {
        if !info.payload_schema.contains_key(name) {
            add_index(connection, name, kind, params).await.map_err(failed(connection))?;
        }
    }
    Ok(description)
}

/// Writes into the collection whose documents it holds.
pub(crate) async fn set_registry(connection: &Connection, registry: Uuid) -> Result<(), Status> {
    note(connection, KEY_REGISTRY, &registry.to_string()).await
}

/// Adds an entry to the metadata, or replaces it.
async fn note(connection: &Connection, key: &str, value: &str) -> Result<(), Status> {
    let request = UpdateCollection {
        collection_name: connection.collection.clone(),
        metadata: HashMap::from([(key.to_owned(), value.to_owned().into())]),
        ..UpdateCollection::default()
    };
    connection.collections().update(request).await.map(drop)
}

/// An entry of the metadata.
fn text<'a>(info: &'a CollectionInfo, key: &str) -> Option<&'a str> {
    match info.config.as_ref()?.metadata.get(key)?.kind.as_ref()? {
        Kind::StringValue(text) => Some(text),
        _ => None,
    }
}

/// Removes the collection.
pub(crate) async fn destroy(connection: &Connection) -> Result<(), Status> {
    let request = DeleteCollection {
        collection_name: connection.collection.clone(),
        ..DeleteCollection::default()
    };
    connection.collections().delete(request).await.map(drop)
}

async fn check_server(connection: &Connection) -> Result<(), OpenError> {
    let url = || connection.url.clone();
    let found = connection.server_version().await.map_err(|status| match status.code() {
        Code::Unauthenticated | Code::PermissionDenied => {
            OpenError::Refused { url: url(), source: Answer::from(status).into() }
        }
        _ => OpenError::Unreachable { url: url(), source: Answer::from(status).into() },
    })?;
    if is_older(&found, SERVER_WANTED) {
        return Err(OpenError::TooOld { url: url(), found, wanted: SERVER_WANTED });
    }
    Ok(())
}

/// Whether a version comes before another. What is no version, a build from source for example,
/// comes before none.
fn is_older(found: &str, wanted: &str) -> bool {
    let numbers = |version: &str| -> Option<Vec<u64>> {
        let release = version.split(['-', '+']).next()?;
        release.split('.').map(|number| number.parse().ok()).collect()
    };
    match (numbers(found), numbers(wanted)) {
        (Some(found), Some(wanted)) => found < wanted,
        _ => false,
    }
}

async fn info(connection: &Connection) -> Result<Option<CollectionInfo>, Status> {
    let request = GetCollectionInfoRequest { collection_name: connection.collection.clone() };
    match connection.collections().get(request).await {
        Ok(response) => Ok(response.into_inner().result),
        Err(status) if status.code() == Code::NotFound => Ok(None),
        Err(status) => Err(status),
    }
}

async fn info_of_made(connection: &Connection) -> Result<CollectionInfo, Status> {
    info(connection).await?.ok_or_else(|| Status::not_found("the collection that was just made"))
}

async fn create(
    connection: &Connection,
    config: &QdrantIndexConfig,
    new: Uuid,
) -> Result<(), OpenError> {
    let dense = config.dimensions.map(|dimensions| VectorsConfig {
        config: Some(VectorsConfigKind::ParamsMap(VectorParamsMap {
            map: HashMap::from([(DENSE.to_owned(), dense_params(dimensions))]),
        })),
    });
    let sparse = SparseVectorParams {
        index: Some(SparseIndexConfig { on_disk: Some(false), ..SparseIndexConfig::default() }),
        modifier: Some(Modifier::Idf.into()),
    };
    let metadata: Payload = Payload::from([
        (KEY_FORMAT.to_owned(), FORMAT.into()),
        (KEY_WORDS.to_owned(), words::parameters().into()),
        (KEY_INDEX.to_owned(), new.to_string().into()),
    ]);
    let request = CreateCollection {
        collection_name: connection.collection.clone(),
        vectors_config: dense,
        sparse_vectors_config: Some(SparseVectorConfig {
            map: HashMap::from([(WORDS.to_owned(), sparse)]),
        }),
        hnsw_config: Some(HnswConfigDiff {
            full_scan_threshold: Some(FULL_SCAN_KB),
            ..HnswConfigDiff::default()
        }),
        on_disk_payload: Some(true),
        replication_factor: Some(config.replicas),
        write_consistency_factor: Some(config.replicas),
        metadata,
        ..CreateCollection::default()
    };
    match connection.collections().create(request).await {
        Ok(_) => Ok(()),
        // Another process was quicker.
        Err(status) if status.code() == Code::AlreadyExists => Ok(()),
        Err(status) => match info(connection).await {
            Ok(Some(_)) => Ok(()),
            _ => Err(failed(connection)(status)),
        },
    }
}

fn dense_params(dimensions: usize) -> VectorParams {
    VectorParams {
        size: u64::try_from(dimensions).unwrap_or(u64::MAX),
        // Vectors are of unit length: the dot product is the cosine, and nothing is changed.
        distance: Distance::Dot.into(),
        on_disk: Some(true),
        // A byte per dimension in memory finds the candidates, the vectors on disk rank them.
        quantization_config: Some(QuantizationConfig {
            quantization: Some(Quantization::Scalar(ScalarQuantization {
                r#type: QuantizationType::Int8.into(),
                quantile: Some(0.99),
                always_ram: Some(true),
                ..ScalarQuantization::default()
            })),
        }),
        ..VectorParams::default()
    }
}

/// Gives vectors to a collection that was made while there was no model.
async fn add_vectors(connection: &Connection, dimensions: usize) -> Result<(), Status> {
    let params = dense_params(dimensions);
    let request = CreateVectorNameRequest {
        collection_name: connection.collection.clone(),
        wait: Some(true),
        vector_name: DENSE.to_owned(),
        vector_config: Some(VectorConfig::DenseConfig(DenseVectorCreationConfig {
            size: params.size,
            distance: params.distance,
            ..DenseVectorCreationConfig::default()
        })),
        ..CreateVectorNameRequest::default()
    };
    connection.points().create_vector_name(request).await.map(drop)
}

fn check(
    connection: &Connection,
    config: &QdrantIndexConfig,
    info: &CollectionInfo,
) -> Result<Description, OpenError> {
    let collection = || connection.collection.clone();
    let foreign = || OpenError::Foreign { collection: collection() };
    let metadata = info.config.as_ref().map(|config| &config.metadata).ok_or_else(foreign)?;
    let id = |key: &str| text(info, key).and_then(|text| text.parse::<Uuid>().ok());
    let Some(Value { kind: Some(Kind::IntegerValue(format)) }) = metadata.get(KEY_FORMAT) else {
        return Err(foreign());
    };
    if *format > FORMAT {
        return Err(OpenError::Newer { collection: collection(), found: *format, known: FORMAT });
    }
    let found = text(info, KEY_WORDS).unwrap_or_default();
    let wanted = words::parameters();
    if found != wanted {
        return Err(OpenError::OtherWords {
            collection: collection(),
            found: found.to_owned(),
            wanted,
        });
    }
    if let (Some(wanted), Some(found)) = (config.dimensions, dimensions_of(info))
        && wanted != found
    {
        return Err(OpenError::Dimensions { collection: collection(), found, wanted });
    }
    if let (Some(wanted), Some(found)) = (&config.model, text(info, KEY_MODEL))
        && wanted != found
    {
        let (found, wanted) = (found.to_owned(), wanted.clone());
        return Err(OpenError::Model { collection: collection(), found, wanted });
    }
    Ok(Description { index: id(KEY_INDEX).ok_or_else(foreign)?, registry: id(KEY_REGISTRY) })
}

/// Length of the dense vectors; `None` when the collection has none.
fn dimensions_of(info: &CollectionInfo) -> Option<usize> {
    let vectors = info.config.as_ref()?.params.as_ref()?.vectors_config.as_ref()?;
    match vectors.config.as_ref()? {
        VectorsConfigKind::ParamsMap(map) => usize::try_from(map.map.get(DENSE)?.size).ok(),
        VectorsConfigKind::Params(_) => None,
    }
}

/// What filters, conditions of writes, counts and sweeps ask for. Servers in strict mode refuse to
/// look at anything else.
fn payload_indexes() -> [(&'static str, FieldType, IndexParams); 10] {
    let keyword = |on_disk| {
        let params = KeywordIndexParams {
            on_disk: Some(on_disk),
            enable_hnsw: Some(false),
            ..KeywordIndexParams::default()
        };
        (FieldType::Keyword, IndexParams::KeywordIndexParams(params))
    };
    let integer = |lookup| {
        let params = IntegerIndexParams {
            lookup: Some(lookup),
            range: Some(!lookup),
            on_disk: Some(!lookup),
            enable_hnsw: Some(false),
            ..IntegerIndexParams::default()
        };
        (FieldType::Integer, IndexParams::IntegerIndexParams(params))
    };
    let index = |name, (kind, params)| (name, kind, params);
    // Access is asked for by every search, the rest by few.
    [
        index(field::ACCESS, keyword(false)),
        index(field::SOURCE, keyword(true)),
        index(field::TAGS, keyword(true)),
        index(field::DOCUMENT, keyword(true)),
        index(field::VERSION, keyword(true)),
        index(field::DOCUMENT_SETS, integer(true)),
        index(field::CHUNKS, integer(true)),
        index(field::UPDATED_AT, integer(false)),
        index(field::CREATED_AT, integer(false)),
        index(field::BEGAN_AT, integer(false)),
    ]
}

async fn add_index(
    connection: &Connection,
    name: &str,
    kind: FieldType,
    params: IndexParams,
) -> Result<(), Status> {
    let request = CreateFieldIndexCollection {
        collection_name: connection.collection.clone(),
        wait: Some(true),
        field_name: name.to_owned(),
        field_type: Some(kind.into()),
        field_index_params: Some(PayloadIndexParams { index_params: Some(params) }),
        ..CreateFieldIndexCollection::default()
    };
    connection.points().create_field_index(request).await.map(drop)
}

/// For `map_err`.
fn failed(connection: &Connection) -> impl FnOnce(Status) -> OpenError {
    let (url, collection) = (connection.url.clone(), connection.collection.clone());
    move |status| match status.code() {
        Code::Unavailable | Code::DeadlineExceeded => {
            OpenError::Unreachable { url, source: Answer::from(status).into() }
        }
        Code::Unauthenticated | Code::PermissionDenied => {
            OpenError::Refused { url, source: Answer::from(status).into() }
        }
        _ => OpenError::Failed { url, collection, source: Answer::from(status).into() },
    }
}

#[cfg(test)]
mod tests {
    use super::is_older;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        assert!(is_older("1.9.5", "1.18.0"));
        assert!(is_older("1.17.1", "1.18.0"));
        assert!(!is_older("1.18.0", "1.18.0"));
        assert!(!is_older("1.18.0-dev", "1.18.0"));
        assert!(!is_older("2.0", "1.18.0"));
        assert!(!is_older("unknown", "1.18.0"));
    }
}
