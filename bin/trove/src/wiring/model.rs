use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use tokio::task::spawn_blocking;
use trove_domain::port::EmbeddingModel;
use trove_local::{LoadError, LocalEmbeddingModel, MiniLm, MiniLmOptions, Precision};

use crate::config::{Config, EmbeddingPrecision};

/// The embedding model of a deployment, or why it has none.
#[derive(Clone)]
pub enum Model {
    /// Loaded and ready.
    Loaded(Arc<LocalEmbeddingModel>),
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
    /// Files that are not there are no error.
    pub async fn load(config: &Config) -> anyhow::Result<Self> {
        if !config.embedding.enabled || config.retrieval.disable_vector_db {
            return Ok(Self::NotUsed);
        }
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
            Self::Missing { .. } | Self::NotUsed => None,
        }
    }

    /// Says in the log if searches are by words alone, and why. To be called once.
    pub fn announce(&self) {
        match self {
            Self::Loaded(model) => {
                tracing::info!(model = %model.info().name, "embedding model loaded");
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
