//! What an operator decides: defaults, then a file, then the environment, then flags.
//!
//! Every setting is a field of a section below, with its unit, default and reason in its
//! documentation; `docs/configuration.md` is the operator's view of the same. An empty
//! configuration is the embedded deployment. Unknown settings are refused.

mod audit;
mod auth;
mod database;
mod embedding;
mod environment;
mod http;
mod index;
mod indexing;
mod ingestion;
mod layers;
mod listen;
mod llm;
mod load;
mod log;
mod problem;
mod qdrant;
mod retrieval;
mod rule;
mod secret;
mod secrets;
mod show;
mod shutdown;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use audit::{AuditSection, AuditSync};
pub use auth::{AuthSection, Registration};
pub use database::{DatabaseSection, DatabaseUrl};
pub use embedding::{EmbeddingPrecision, EmbeddingProvider, EmbeddingSection};
pub use http::HttpSection;
pub use index::IndexSection;
pub use indexing::IndexingSection;
pub use ingestion::IngestionSection;
pub use listen::ListenAddress;
pub use llm::LlmSection;
pub use load::{Flags, Loaded, Sources, load};
pub use log::{LogFormat, LogSection};
pub use problem::ConfigError;
pub use qdrant::QdrantSection;
pub use retrieval::RetrievalSection;
pub use rule::{keys, rules};
pub use secret::Secret;
pub use secrets::{SecretsKey, SecretsSection};
pub use show::show;
pub use shutdown::ShutdownSection;

/// Name of the configuration file that is looked for in the data directory.
pub const FILE_NAME: &str = "trove.toml";

/// All settings. [`Config::default`] is what an empty configuration gives.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Config {
    /// Where everything is kept: database, index, files, model. Default `./trove-data`, so that a
    /// first try leaves everything in one place that is easy to remove.
    pub data_dir: PathBuf,
    /// Address and port of the HTTP interface. Default `127.0.0.1:8080`: reachable from this
    /// machine only, until somebody decides otherwise.
    pub listen: ListenAddress,
    /// The HTTP interface.
    pub http: HttpSection,
    /// Who may register, and how people sign in.
    pub auth: AuthSection,
    /// The audit log.
    pub audit: AuditSection,
    /// The relational database.
    pub database: DatabaseSection,
    /// The key that encrypts secrets in the database.
    pub secrets: SecretsSection,
    /// The embedded document index.
    pub index: IndexSection,
    /// A Qdrant server in place of the embedded document index.
    pub qdrant: QdrantSection,
    /// The embedding model.
    pub embedding: EmbeddingSection,
    /// The language model.
    pub llm: LlmSection,
    /// How searches work.
    pub retrieval: RetrievalSection,
    /// What is read from other systems.
    pub indexing: IndexingSection,
    /// Bounds on what is taken in.
    pub ingestion: IngestionSection,
    /// The log.
    pub log: LogSection,
    /// How the service stops.
    pub shutdown: ShutdownSection,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            data_dir: PathBuf::from("./trove-data"),
            listen: ListenAddress::default(),
            http: HttpSection::default(),
            auth: AuthSection::default(),
            audit: AuditSection::default(),
            database: DatabaseSection::default(),
            secrets: SecretsSection::default(),
            index: IndexSection::default(),
            qdrant: QdrantSection::default(),
            embedding: EmbeddingSection::default(),
            llm: LlmSection::default(),
            retrieval: RetrievalSection::default(),
            indexing: IndexingSection::default(),
            ingestion: IngestionSection::default(),
            log: LogSection::default(),
            shutdown: ShutdownSection::default(),
        }
    }
}

impl Config {
    /// Where the embedding model's files are.
    #[must_use]
    pub fn model_dir(&self) -> PathBuf {
        match &self.embedding.model_dir {
            Some(dir) => dir.clone(),
            None => default_model_dir(&self.data_dir),
        }
    }

    /// Where the audit log is.
    #[must_use]
    pub fn audit_dir(&self) -> PathBuf {
        self.data_dir.join("audit")
    }

    /// Where the embedded database is.
    #[must_use]
    pub fn sqlite_path(&self) -> PathBuf {
        self.data_dir.join("trove.db")
    }

    /// Where the embedded document index is.
    #[must_use]
    pub fn index_dir(&self) -> PathBuf {
        self.data_dir.join("index")
    }
}

fn default_model_dir(data_dir: &Path) -> PathBuf {
    data_dir.join("models").join("all-MiniLM-L6-v2")
}
