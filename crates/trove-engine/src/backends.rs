use std::sync::Arc;

use trove_domain::port::{
    AccessFilter, ApiKeyStore, CcPairStore, Clock, DocumentIndex, DocumentSetStore, DocumentStore,
    EmbeddingModel, GroupStore, IdGenerator, JobQueue, UserStore,
};

/// Everything outside that an engine works with. Replace any of them in a test with struct update
/// syntax.
#[derive(Clone)]
pub struct Backends {
    /// Where chunks are found.
    pub index: Arc<dyn DocumentIndex>,
    /// Embeds chunks and queries; without one, search is by words alone.
    pub embedding_model: Option<Arc<dyn EmbeddingModel>>,
    /// What is indexed, and for whom.
    pub documents: Arc<dyn DocumentStore>,
    /// Connector-credential pairs.
    pub cc_pairs: Arc<dyn CcPairStore>,
    /// Named sets of pairs.
    pub document_sets: Arc<dyn DocumentSetStore>,
    /// Users.
    pub users: Arc<dyn UserStore>,
    /// Groups of users.
    pub groups: Arc<dyn GroupStore>,
    /// API keys.
    pub api_keys: Arc<dyn ApiKeyStore>,
    /// What a caller may read.
    pub access: Arc<dyn AccessFilter>,
    /// Deferred work.
    pub jobs: Arc<dyn JobQueue>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Identifiers and secrets.
    pub ids: Arc<dyn IdGenerator>,
}
