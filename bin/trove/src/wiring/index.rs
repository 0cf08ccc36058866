//! Where the documents are: in the data directory, or on a Qdrant server.

use std::sync::Arc;

use anyhow::{Context, ensure};
use secrecy::SecretString;
use tokio::task::spawn_blocking;
use trove_domain::port::{DocumentIndex, DocumentIndexError, IdGenerator};
use trove_embedded::{EmbeddedDocumentIndex, EmbeddedIndexConfig};
use trove_engine::{SystemClock, SystemIds};
use trove_qdrant::{QdrantDocumentIndex, QdrantIndexConfig};
use trove_store::Store;

use super::{Model, identity};
use crate::config::{Config, IndexSection, QdrantSection, Secret};

/// Opens the index that holds the documents of `store`.
///
/// # Errors
///
/// A sentence that says what cannot be opened, or whose documents it holds, and what to do.
pub(super) async fn open(
    config: &Config,
    store: &Store,
    model: &Model,
) -> anyhow::Result<Arc<dyn DocumentIndex>> {
    if let Some(url) = &config.qdrant.url {
        let index = open_qdrant(url, config, Some(model)).await?;
        identity::bind_qdrant(&index, &config.qdrant.collection, store).await?;
        Ok(Arc::new(index))
    } else {
        identity::bind(&config.data_dir, store, SystemIds.uuid()).await?;
        open_embedded(config, model).await
    }
}

/// Makes the configured index the one of `store`, whichever was before.
///
/// # Errors
///
/// As [`open`]; nothing changes when the index belongs to another database, or holds documents.
pub(super) async fn adopt(config: &Config, store: &Store) -> anyhow::Result<()> {
    if let Some(url) = &config.qdrant.url {
        let index = open_qdrant(url, config, None).await?;
        identity::adopt_qdrant(&index, &config.qdrant.collection, store).await
    } else {
        let index = open_embedded(config, &Model::NotUsed).await?;
        identity::adopt(&config.data_dir, store, SystemIds.uuid(), index.as_ref()).await
    }
}

/// Removes the configured index with all that is in it: for measurements, which have their own.
///
/// # Errors
///
/// When the server does not do it. An embedded index goes with its data directory.
pub(super) async fn destroy(config: &Config) -> anyhow::Result<()> {
    if let Some(url) = &config.qdrant.url {
        let index = open_qdrant(url, config, None).await?;
        index.destroy().await.context("the collection could not be removed")?;
    }
    Ok(())
}

async fn open_embedded(config: &Config, model: &Model) -> anyhow::Result<Arc<dyn DocumentIndex>> {
    let dir = config.index_dir();
    let IndexSection { write_buffer_bytes, optimize_after_vectors, idle_after, .. } = config.index;
    let index_config = EmbeddedIndexConfig {
        write_buffer_bytes,
        optimize_after: optimize_after_vectors,
        idle_after,
        // The configuration was checked when it was read.
        languages: config.index.languages().unwrap_or_default(),
        model: model.noted_name(),
        ..EmbeddedIndexConfig::with_dimensions(model.dimensions())
    };
    let opened = spawn_blocking(move || EmbeddedDocumentIndex::open(&dir, index_config)).await;
    let opened = opened.context("opening the document index failed")?;
    let remedy = match &opened {
        Err(DocumentIndexError::DimensionMismatch { .. }) => {
            " with this embedding model (configure the one that made its vectors, or remove the \
             directory and index the documents again)"
        }
        _ => "",
    };
    let index = opened.with_context(|| {
        format!("the document index in {} cannot be opened{remedy}", config.index_dir().display())
    })?;
    Ok(Arc::new(index))
}

async fn open_qdrant(
    url: &str,
    config: &Config,
    model: Option<&Model>,
) -> anyhow::Result<QdrantDocumentIndex> {
    let section = &config.qdrant;
    let index_config = QdrantIndexConfig {
        // The configuration was checked when it was read.
        languages: config.index.languages().unwrap_or_default(),
        api_key: api_key(section).await?,
        collection: section.collection.clone(),
        replicas: section.replicas,
        connect_timeout: section.connect_timeout,
        request_timeout: section.request_timeout,
        model: model.and_then(Model::noted_name),
        ..QdrantIndexConfig::new(url, model.and_then(Model::dimensions))
    };
    let (ids, clock) = (Arc::new(SystemIds), Arc::new(SystemClock));
    Ok(QdrantDocumentIndex::open(index_config, ids, clock).await?)
}

/// Reads what `trove serve` would read to reach the index, and connects to nothing.
///
/// # Errors
///
/// A sentence that names the file and the setting.
pub async fn check_index(config: &Config) -> anyhow::Result<()> {
    match config.qdrant.url {
        Some(_) => api_key(&config.qdrant).await.map(drop),
        None => Ok(()),
    }
}

async fn api_key(section: &QdrantSection) -> anyhow::Result<Option<SecretString>> {
    let Some(path) = &section.api_key_file else {
        return Ok(section.api_key.as_ref().map(Secret::expose));
    };
    let text = tokio::fs::read_to_string(path).await.with_context(|| {
        format!("the file {} (`qdrant.api_key_file`) cannot be read", path.display())
    })?;
    let key = text.trim();
    ensure!(!key.is_empty(), "the file {} (`qdrant.api_key_file`) is empty", path.display());
    Ok(Some(key.into()))
}
