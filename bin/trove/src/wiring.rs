//! Which adapter stands behind which port.

mod audit;
mod extractor;
mod identity;
mod index;
mod language_model;
mod model;
mod readiness;
mod secrets;
mod sources;
mod store;
mod unindexed;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use tokio::task::spawn_blocking;
use trove_domain::audit::AuditAction;
use trove_domain::port::DocumentIndex;
use trove_engine::files::UploadLimits;
use trove_engine::indexing::IndexingConfig;
use trove_engine::{Backends, Engine, EngineConfig, IngestionLimits};
use trove_extract::ZipUnpacker;
use trove_http::{HttpConfig, ReadinessProbe};
use trove_store::Store;

use crate::config::Config;

pub use extractor::extractor;
pub use index::check_index;
pub use language_model::LanguageModels;
pub use model::Model;
pub use readiness::Stopping;
pub use secrets::{KeyChange, check_secrets_key};
use unindexed::Unindexed;

/// An engine with everything behind it, open.
pub struct Deployment {
    /// The engine.
    pub engine: Engine,
    /// The embedding model, or why there is none.
    pub model: Model,
    /// The language models; `None` where only the database is open.
    pub language_models: Option<LanguageModels>,
    store: Arc<Store>,
    data_dir: PathBuf,
}

impl Deployment {
    /// Opens database, model and index as configured. The data directory must be ours.
    ///
    /// # Errors
    ///
    /// A sentence that names what cannot be opened, and what to do.
    pub async fn open(config: &Config) -> anyhow::Result<Self> {
        let language_models = LanguageModels::open(config)?;
        let (store, model) = tokio::try_join!(store::open(config), Model::load(config))?;
        let index: Arc<dyn DocumentIndex> = if config.retrieval.disable_vector_db {
            Arc::new(Unindexed)
        } else {
            index::open(config, &store, &model).await?
        };
        let language_models = Some(language_models);
        // After the identity: a start that is refused leaves the database as it is.
        let secrets = secrets::open(config, &store).await?;
        let outside = sources::open(config).await?;
        let backends = Backends {
            language_model: language_models.as_ref().map(|models| Arc::clone(&models.default)),
            language_models: language_models.as_ref().map(|models| Arc::clone(&models.factory)),
            secrets: Some(secrets),
            sources: Some(outside.sources),
            files: Some(outside.files),
            unpacker: Some(Arc::new(ZipUnpacker)),
            audit: Some(audit::open(config)?),
            ..Backends::new(&store, index, model.port())
        };
        let engine = Engine::new(backends, engine_config(config));
        let swept = engine.sweep_files().await;
        let swept = swept.context("what uploads have left behind cannot be removed")?;
        if swept > 0 {
            tracing::info!(files = swept, "removed files of uploads that did not end");
        }
        if !config.retrieval.disable_vector_db {
            let lost = engine.notice_lost_index().await;
            let lost = lost.context("the registry cannot be compared with the index")?;
            if lost > 0 {
                tracing::warn!(
                    documents = lost,
                    "the document index is empty: documents are found again once they are \
                     indexed again, by `trove index` or by posting them"
                );
            }
        }
        Ok(Self { engine, model, language_models, store, data_dir: config.data_dir.clone() })
    }

    /// Opens the database alone: enough for users and keys, and harmless while the service runs.
    ///
    /// # Errors
    ///
    /// A sentence that names what cannot be opened, and what to do.
    pub async fn open_database(config: &Config) -> anyhow::Result<Self> {
        let store = store::open_existing(config).await?;
        let model = Model::NotUsed;
        let audit = Some(audit::open(config)?);
        let backends = Backends { audit, ..Backends::new(&store, Arc::new(Unindexed), None) };
        let engine = Engine::new(backends, engine_config(config));
        Ok(Self { engine, model, language_models: None, store, data_dir: config.data_dir.clone() })
    }

    /// Makes the configured index the one of the database, whichever was before. The data directory
    /// must be ours.
    ///
    /// # Errors
    ///
    /// When the index belongs to another database, or one of the two cannot be written.
    pub async fn adopt_database(config: &Config) -> anyhow::Result<()> {
        let store = store::open_existing(config).await?;
        let adopted = index::adopt(config, &store).await;
        store.close().await;
        adopted
    }

    /// Removes the configured index with all that is in it: for measurements on one of their own.
    ///
    /// # Errors
    ///
    /// When the server that it is on does not do it.
    pub async fn destroy_index(config: &Config) -> anyhow::Result<()> {
        index::destroy(config).await
    }

    /// Gives the secrets in the database a new key. The data directory must be ours.
    ///
    /// # Errors
    ///
    /// A sentence that says what failed; the next run goes on from there.
    pub async fn rotate_secrets(config: &Config) -> anyhow::Result<KeyChange> {
        let store = store::open_existing(config).await?;
        let rotate = secrets::rotate(config, &store);
        let changed = audit::recorded(config, AuditAction::RotateSecrets, rotate).await;
        store.close().await;
        changed
    }

    /// Removes the secrets in the database, whose key is lost. The data directory must be ours.
    ///
    /// # Errors
    ///
    /// A sentence that says why not; nothing is removed then.
    pub async fn discard_secrets(config: &Config) -> anyhow::Result<KeyChange> {
        let store = store::open_existing(config).await?;
        let discard = secrets::discard(config, &store);
        let changed = audit::recorded(config, AuditAction::DiscardSecrets, discard).await;
        store.close().await;
        changed
    }

    /// Answers how the components are, for as long as they live.
    #[must_use]
    pub fn readiness(&self, stopping: &Stopping) -> ReadinessProbe {
        readiness::probe(&self.engine, &self.model, &self.store, &self.data_dir, stopping)
    }

    /// Writes down what speeds up the next start, and lets go of everything.
    ///
    /// # Errors
    ///
    /// When the index or the database cannot be closed in order; nothing that was acknowledged is
    /// lost then.
    pub async fn close(self) -> anyhow::Result<()> {
        let flushed = self.engine.backends().index.flush().await;
        self.store.close().await;
        // Dropping the index waits for its threads.
        spawn_blocking(move || drop(self)).await.context("closing failed")?;
        flushed.context("the document index could not be flushed")
    }
}

/// How long a source may take to say whether it can be read: there must be time left to tell it.
fn source_check_timeout(config: &Config) -> Duration {
    config.indexing.source_check_timeout.min(config.http.request_timeout * 3 / 4)
}

fn engine_config(config: &Config) -> EngineConfig {
    EngineConfig {
        hybrid_alpha: config.retrieval.hybrid_alpha,
        vector_db: !config.retrieval.disable_vector_db,
        language_model_allowance: config.retrieval.language_model_allowance,
        query_embedding_timeout: config.retrieval.query_embedding_timeout,
        limits: IngestionLimits { document_chars_max: config.ingestion.document_chars_max },
        uploads: UploadLimits {
            file_bytes_max: config.ingestion.file_bytes_max,
            upload_bytes_max: config.ingestion.upload_bytes_max,
            ..UploadLimits::default()
        },
        enabled_sources: config.indexing.enabled_sources.clone(),
        source_check_timeout: source_check_timeout(config),
        accounts: config.auth.accounts(),
        indexing: IndexingConfig {
            runs_max: config.indexing.runs_max,
            runs_per_source_max: config.indexing.runs_per_source_max,
            lease: config.indexing.lease,
            permission_interval: Duration::from_secs(config.indexing.permission_interval_seconds),
            ..IndexingConfig::default()
        },
    }
}

/// The settings of the HTTP interface.
#[must_use]
pub fn http_config(config: &Config) -> HttpConfig {
    let http = &config.http;
    HttpConfig {
        prefix: http.prefix.clone(),
        body_limit_bytes: http.body_limit_bytes,
        body_timeout: http.body_timeout,
        request_timeout: http.request_timeout,
        ingestion_timeout: http.ingestion_timeout,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        docs: http.docs,
        public_origin: http.public_origin(),
        proxies: http.proxies,
    }
}
