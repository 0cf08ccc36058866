use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use tokio::task::spawn_blocking;
use trove_domain::port::{EmbeddingModel, LanguageModelEndpoint};
use trove_embedded::EmbeddedDocumentIndex;
use trove_local::{LoadError, LocalEmbeddingModel, MiniLm, MiniLmOptions, Precision};
use trove_openai::{EmbeddingSettings, OpenAiEmbeddingModel};

use super::language_model::{key, transport};
use crate::config::{Config, EmbeddingPrecision, EmbeddingProvider};

/// The embedding model of a deployment, or why it has none.
#[derive(Clone)]
pub enum Model {
    /// Loaded and ready.
    Loaded(Arc<LocalEmbeddingModel>),
    /// Behind an interface.
    Remote(Arc<OpenAiEmbeddingModel>),
    /// Its files are not there.
    Missing {
        /// Where they were looked for.
        dir: PathBuf,
    },
    /// The configuration does not want one.
    NotUsed,
}

impl Model {
    /// Loads the model as configured.
    ///
    /// # Errors
    ///
    /// When files are there that are not the model: the sentence names the file and the remedy.
    /// Files that are not there are no error. When a remote model refuses, or its vectors have
    /// another length than the configured one; one that does not answer is no error once the length
    /// of its vectors is known.
    pub async fn load(config: &Config) -> anyhow::Result<Self> {
        if !config.embedding.enabled || config.retrieval.disable_vector_db {
            return Ok(Self::NotUsed);
        }
        match config.embedding.provider {
            EmbeddingProvider::Local => Self::load_local(config).await,
            EmbeddingProvider::OpenAi => Self::open_remote(config).await,
        }
    }

    /// Checks the configuration as [`Self::load`] does, without asking a remote model.
    ///
    /// # Errors
    ///
    /// As [`Self::load`].
    pub async fn check(config: &Config) -> anyhow::Result<Self> {
        if config.embedding.provider == EmbeddingProvider::Local {
            return Self::load(config).await;
        }
        OpenAiEmbeddingModel::check(&endpoint(config)?).context(UNUSABLE)?;
        Ok(Self::NotUsed)
    }

    async fn open_remote(config: &Config) -> anyhow::Result<Self> {
        let settings = EmbeddingSettings {
            endpoint: endpoint(config)?,
            dimensions: Some(config.embedding.dimensions).filter(|length| *length > 0),
            window_tokens: config.embedding.window_tokens,
            batch_texts_max: config.embedding.batch_texts_max,
        };
        let indexed = EmbeddedDocumentIndex::dimensions_in(&config.index_dir())
            .context("the document index cannot be opened")?;
        let model = OpenAiEmbeddingModel::open(transport(config)?, settings, indexed).await;
        Ok(Self::Remote(Arc::new(model.context(UNUSABLE)?)))
    }

    async fn load_local(config: &Config) -> anyhow::Result<Self> {
        let dir = config.model_dir();
        let options = options(config);
        let from = dir.clone();
        let loaded = spawn_blocking(move || MiniLm::load(&from, options)).await;
        match loaded.context("loading the embedding model failed")? {
            Ok(model) => Ok(Self::Loaded(Arc::new(LocalEmbeddingModel::new(model)))),
            Err(LoadError::Missing { .. }) => Ok(Self::Missing { dir }),
            Err(error) => Err(error).context("the embedding model cannot be used"),
        }
    }

    /// What the index notes about where its vectors come from.
    #[must_use]
    pub fn noted_name(&self) -> Option<String> {
        match self {
            Self::Loaded(_) => Some(LocalEmbeddingModel::VECTORS.to_owned()),
            Self::Remote(model) => Some(model.info().name.clone()),
            Self::Missing { .. } | Self::NotUsed => None,
        }
    }

    /// Length of its vectors.
    #[must_use]
    pub fn dimensions(&self) -> Option<usize> {
        self.port().map(|model| model.info().dimensions)
    }

    /// The model as the engine takes it.
    #[must_use]
    pub fn port(&self) -> Option<Arc<dyn EmbeddingModel>> {
        match self {
            Self::Loaded(model) => Some(Arc::<LocalEmbeddingModel>::clone(model)),
            Self::Remote(model) => Some(Arc::<OpenAiEmbeddingModel>::clone(model)),
            Self::Missing { .. } | Self::NotUsed => None,
        }
    }

    /// Says in the log if searches are by words alone, and why. To be called once.
    pub fn announce(&self) {
        match self {
            Self::Loaded(model) => {
                tracing::info!(model = %model.info().name, "embedding model loaded");
            }
            Self::Remote(model) => {
                let info = model.info();
                tracing::info!(
                    model = %info.name,
                    dimensions = info.dimensions,
                    answers = model.is_verified(),
                    "embedding model configured"
                );
            }
            Self::Missing { dir } => tracing::warn!(
                dir = %dir.display(),
                "no embedding model: searches are by words alone until `trove model pull` has \
                 fetched it and the service is started again; documents that are indexed until \
                 then are found by meaning once they are indexed again"
            ),
            Self::NotUsed => tracing::info!("no embedding model is used, as configured"),
        }
    }
}

const UNUSABLE: &str = "the embedding model of the section `[embedding]` cannot be used";

/// Where a remote model is.
fn endpoint(config: &Config) -> anyhow::Result<LanguageModelEndpoint> {
    let embedding = &config.embedding;
    let (own, file) = (embedding.api_key.as_ref(), embedding.api_key_file.as_deref());
    Ok(LanguageModelEndpoint {
        provider: "the embedding service".to_owned(),
        kind: "openai".to_owned(),
        api_base: embedding.url.clone(),
        api_key: key("embedding.api_key_file", own, file)?,
        api_version: None,
        deployment: None,
        custom: BTreeMap::new(),
        model: embedding.model.clone().unwrap_or_default(),
        context_tokens: None,
    })
}

/// How many threads compute, and how exactly; 0 threads in the configuration leaves it to the
/// machine.
fn options(config: &Config) -> MiniLmOptions {
    let machine = MiniLmOptions::for_this_machine();
    let or = |wanted, automatic| NonZero::new(wanted).unwrap_or(automatic);
    MiniLmOptions {
        bulk_threads: or(config.embedding.bulk_threads, machine.bulk_threads),
        query_threads: or(config.embedding.query_threads, machine.query_threads),
        precision: match config.embedding.precision {
            EmbeddingPrecision::F32 => Precision::F32,
            EmbeddingPrecision::Int8 => Precision::Int8,
        },
    }
}
