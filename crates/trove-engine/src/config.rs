use std::collections::BTreeSet;
use std::time::Duration;

use trove_domain::query::HybridAlpha;
use trove_domain::source::DocumentSource;

use crate::accounts::AccountConfig;
use crate::files::UploadLimits;
use crate::indexing::IndexingConfig;

/// What an operator decides about an engine.
#[derive(Clone, Debug)]
pub struct EngineConfig {
    /// Weight of the vectors where a request does not say.
    pub hybrid_alpha: HybridAlpha,
    /// How long a language model may take for all that it does for one search.
    pub language_model_allowance: Duration,
    /// How long a search waits for the embedding of a query before words alone decide.
    pub query_embedding_timeout: Duration,
    /// `false` turns off search and ingestion (`DISABLE_VECTOR_DB`).
    pub vector_db: bool,
    /// Bounds on what is ingested.
    pub limits: IngestionLimits,
    /// Bounds on what is uploaded.
    pub uploads: UploadLimits,
    /// The sources that may be connected; `None` for all.
    pub enabled_sources: Option<BTreeSet<DocumentSource>>,
    /// How long a source may take to say whether it can be read.
    pub source_check_timeout: Duration,
    /// People.
    pub accounts: AccountConfig,
    /// Runs of indexing.
    pub indexing: IndexingConfig,
}

/// Bounds on what is ingested.
#[derive(Clone, Copy, Debug)]
pub struct IngestionLimits {
    /// Most characters of title and text that a document may have.
    pub document_chars_max: usize,
}

impl Default for EngineConfig {
    fn default() -> Self {
        Self {
            hybrid_alpha: HybridAlpha::BALANCED,
            language_model_allowance: Duration::from_mins(1),
            query_embedding_timeout: Duration::from_secs(10),
            vector_db: true,
            limits: IngestionLimits { document_chars_max: 5_000_000 },
            uploads: UploadLimits::default(),
            enabled_sources: None,
            source_check_timeout: Duration::from_secs(20),
            accounts: AccountConfig::default(),
            indexing: IndexingConfig::default(),
        }
    }
}
