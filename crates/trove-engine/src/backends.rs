use std::sync::Arc;

use crate::system::{SystemClock, SystemIds};
use trove_domain::port::{
    AccessFilter, AccessTokenStore, AgentStore, ApiKeyStore, AuditLog, CcPairStore, Clock,
    ConnectorStore, CredentialStore, DocumentFlagStore, DocumentIndex, DocumentSetStore,
    DocumentStore, EmbeddingModel, FileStore, GroupStore, IdGenerator, IndexAttemptStore,
    InvitationStore, JobQueue, LanguageModel, LanguageModelFactory, LlmProviderStore,
    PairTaskStore, PermissionSyncStore, ProfileStore, SearchHistory, SecretCipher, SessionStore,
    SourceFactory, StoredFileStore, TokenLimitStore, Unpacker, UserStore, WorkspaceStore,
};

/// Everything outside that an engine works with. Replace any of them in a test with struct update
/// syntax.
#[derive(Clone)]
pub struct Backends {
    /// Where chunks are found.
    pub index: Arc<dyn DocumentIndex>,
    /// Embeds chunks and queries; without one, search is by words alone.
    pub embedding_model: Option<Arc<dyn EmbeddingModel>>,
    /// The language model of whoever names none. Without one, or with one that does not follow
    /// instructions, no query is rewritten and nothing is selected.
    pub language_model: Option<Arc<dyn LanguageModel>>,
    /// Reaches the models of the providers that administrators add; without it there are none.
    pub language_models: Option<Arc<dyn LanguageModelFactory>>,
    /// The providers that administrators add.
    pub llm_providers: Arc<dyn LlmProviderStore>,
    /// Encrypts what is secret in the database; without it no secret is stored or read.
    pub secrets: Option<Arc<dyn SecretCipher>>,
    /// What is indexed, and for whom.
    pub documents: Arc<dyn DocumentStore>,
    /// Runs of indexing.
    pub attempts: Arc<dyn IndexAttemptStore>,
    /// Prunings and deletions of pairs.
    pub tasks: Arc<dyn PairTaskStore>,
    /// Who may read what by what sources say, and the fetching of it.
    pub permissions: Arc<dyn PermissionSyncStore>,
    /// Descriptions of what is read.
    pub connectors: Arc<dyn ConnectorStore>,
    /// What sources are read with.
    pub credentials: Arc<dyn CredentialStore>,
    /// Opens sources; without it there are none to connect.
    pub sources: Option<Arc<dyn SourceFactory>>,
    /// Contents of files that were uploaded; without it none can be.
    pub files: Option<Arc<dyn FileStore>>,
    /// What people decide about single documents.
    pub document_flags: Arc<dyn DocumentFlagStore>,
    /// What is known about those files.
    pub stored_files: Arc<dyn StoredFileStore>,
    /// Takes archives apart that were uploaded; without it they are files.
    pub unpacker: Option<Arc<dyn Unpacker>>,
    /// Connector-credential pairs.
    pub cc_pairs: Arc<dyn CcPairStore>,
    /// Named sets of pairs.
    pub document_sets: Arc<dyn DocumentSetStore>,
    /// Agents.
    pub agents: Arc<dyn AgentStore>,
    /// Users.
    pub users: Arc<dyn UserStore>,
    /// Groups of users.
    pub groups: Arc<dyn GroupStore>,
    /// Who may register.
    pub invitations: Arc<dyn InvitationStore>,
    /// What users set for themselves.
    pub profiles: Arc<dyn ProfileStore>,
    /// Sessions.
    pub sessions: Arc<dyn SessionStore>,
    /// API keys.
    pub api_keys: Arc<dyn ApiKeyStore>,
    /// Personal access tokens.
    pub access_tokens: Arc<dyn AccessTokenStore>,
    /// What a caller may read.
    pub access: Arc<dyn AccessFilter>,
    /// What users searched for.
    pub search_history: Arc<dyn SearchHistory>,
    /// Limits of tokens.
    pub token_limits: Arc<dyn TokenLimitStore>,
    /// What administrators decide for everybody.
    pub workspace: Arc<dyn WorkspaceStore>,
    /// Who did what; without one nothing is recorded, as in a program that keeps records of its own.
    pub audit: Option<Arc<dyn AuditLog>>,
    /// Deferred work.
    pub jobs: Arc<dyn JobQueue>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Identifiers and secrets.
    pub ids: Arc<dyn IdGenerator>,
}

impl Backends {
    /// One store for everything relational, an index, a model, and the clock and the randomness of
    /// this machine.
    #[must_use]
    pub fn new<S>(
        store: &Arc<S>,
        index: Arc<dyn DocumentIndex>,
        embedding_model: Option<Arc<dyn EmbeddingModel>>,
    ) -> Self
    where
        S: AccessFilter
            + AccessTokenStore
            + AgentStore
            + ApiKeyStore
            + CcPairStore
            + ConnectorStore
            + CredentialStore
            + DocumentFlagStore
            + DocumentSetStore
            + DocumentStore
            + GroupStore
            + IndexAttemptStore
            + InvitationStore
            + JobQueue
            + PairTaskStore
            + PermissionSyncStore
            + ProfileStore
            + SessionStore
            + SearchHistory
            + LlmProviderStore
            + StoredFileStore
            + TokenLimitStore
            + UserStore
            + WorkspaceStore,
    {
        Self {
            index,
            embedding_model,
            language_model: None,
            language_models: None,
            llm_providers: Arc::<S>::clone(store),
            secrets: None,
            documents: Arc::<S>::clone(store),
            document_flags: Arc::<S>::clone(store),
            attempts: Arc::<S>::clone(store),
            tasks: Arc::<S>::clone(store),
            permissions: Arc::<S>::clone(store),
            connectors: Arc::<S>::clone(store),
            credentials: Arc::<S>::clone(store),
            sources: None,
            files: None,
            stored_files: Arc::<S>::clone(store),
            unpacker: None,
            cc_pairs: Arc::<S>::clone(store),
            document_sets: Arc::<S>::clone(store),
            agents: Arc::<S>::clone(store),
            users: Arc::<S>::clone(store),
            groups: Arc::<S>::clone(store),
            invitations: Arc::<S>::clone(store),
            profiles: Arc::<S>::clone(store),
            sessions: Arc::<S>::clone(store),
            api_keys: Arc::<S>::clone(store),
            access_tokens: Arc::<S>::clone(store),
            access: Arc::<S>::clone(store),
            search_history: Arc::<S>::clone(store),
            token_limits: Arc::<S>::clone(store),
            workspace: Arc::<S>::clone(store),
            audit: None,
            jobs: Arc::<S>::clone(store),
            clock: Arc::new(SystemClock),
            ids: Arc::new(SystemIds),
        }
    }
}
