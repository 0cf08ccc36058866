//! The seams: what the engine asks of the outside world.
//!
//! Every trait is object-safe and held as `Arc<dyn Port>`. Its documentation is its contract, and
//! `trove-testkit` holds the contract as a suite that every adapter runs. Two rules hold
//! everywhere: cancellation is drop (each method says what holds after its future is dropped), and
//! a store method is one business step, atomic as such.

mod access_filter;
mod access_token_store;
mod agent_store;
mod api_key_store;
mod audit_log;
mod cc_pair_store;
mod clock;
mod connector_store;
mod credential_store;
mod document_flag_store;
mod document_index;
mod document_set_store;
mod document_store;
mod embedding_model;
mod file_store;
mod group_store;
mod ids;
mod index_attempt_store;
mod invitation_store;
mod job_queue;
mod language_model;
mod llm_provider_store;
mod pair_task_store;
mod permission_sync_store;
mod profile_store;
mod search_history;
mod secret_cipher;
mod session_store;
mod source;
mod stored_file_store;
mod text_extractor;
mod token_limit_store;
mod unpacker;
mod user_store;
mod workspace_store;

pub use access_filter::AccessFilter;
pub use access_token_store::{ACCESS_TOKENS_KEPT, ACCESS_TOKENS_MAX, AccessTokenStore};
pub use agent_store::{
    AgentChange, AgentFilter, AgentFlags, AgentPlace, AgentReference, AgentSharing, AgentStore,
    AgentWrite, SeenAgent,
};
pub use api_key_store::{ApiKeyStore, SERVICE_ACCOUNTS_MAX};
pub use audit_log::{AuditLog, AuditLogError};
pub use cc_pair_store::{
    AccessChange, CcPairStore, NewCcPair, NewScheduledPair, PairRefusal, RunBy,
};
pub use clock::Clock;
pub use connector_store::{ConnectorRefusal, ConnectorRemoval, ConnectorStore, NewConnector};
pub use credential_store::{CredentialRefusal, CredentialRemoval, CredentialStore, NewCredential};
pub use document_flag_store::{DocumentFlag, DocumentFlagStore, FlaggedDocument, SyncState};
pub use document_index::{
    AttributeUpdate, ChunkRange, DocumentIndex, DocumentIndexError, IndexCapabilities,
    IndexStatistics, WriteOutcome,
};
pub use document_set_store::{
    DocumentSetStore, NewDocumentSet, SeenDocumentSet, SetChange, SetRevision,
};
pub use document_store::{
    DirtyDocument, DocumentRecord, DocumentStore, DocumentSummary, IndexedMark, PendingState,
    RegisteredAttributes, Registration, Unlinked,
};
pub use embedding_model::{EmbeddingError, EmbeddingModel, EmbeddingModelInfo, Tokenizer};
pub use file_store::{
    FileKey, FileStore, FileStoreError, IncomingContent, InvalidFileKey, OpenedFile, StoredContent,
};
pub use group_store::{GroupChange, GroupContents, GroupRevision, GroupStore};
pub use ids::IdGenerator;
pub use index_attempt_store::{
    ATTEMPTS_KEPT, AttemptEnd, ClaimedAttempt, Control, IndexAttemptStore, PairRuns, StepRecord,
};
pub use invitation_store::{INVITATIONS_MAX, InvitationStore, Invited};
pub use job_queue::JobQueue;
pub use language_model::{
    LanguageModel, LanguageModelEndpoint, LanguageModelError, LanguageModelFactory, LlmStream,
};
pub use llm_provider_store::{
    DefaultRefusal, LlmProviderStore, NewLlmProvider, ProviderRefusal, ProviderRemoval,
};
pub use pair_task_store::{ClaimedTask, PairTaskStore, TaskEnd};
pub use permission_sync_store::{
    ClaimedPermissionSync, PermissionRecord, PermissionSyncEnd, PermissionSyncStore,
};
pub use profile_store::ProfileStore;
pub use search_history::{SEARCHES_KEPT, SearchHistory};
pub use secret_cipher::{SecretCipher, SecretCipherError};
pub use session_store::{SESSIONS_KEPT, SessionStore};
pub use source::{
    CHECKPOINT_BYTES_MAX, Checkpoint, FailedPart, ListingStep, PermissionStep, ReadWindow, Skipped,
    Source, SourceClass, SourceError, SourceFactory, SourceFailure, SourceKind, SourceSettings,
    SourceStep,
};
pub use stored_file_store::{ConnectorReplacement, StoredFileStore, WantedOfPairs};
pub use text_extractor::{ExtractError, ExtractedText, FileFacts, Resource, TextExtractor};
pub use token_limit_store::{TokenLimitStore, UsageOf};
pub use unpacker::{ArchiveBytes, UnpackError, UnpackInto, UnpackLimits, Unpacker};
pub use user_store::{
    AddressChange, NewUser, Registered, RegistrationRule, Seats, SignUp, UserChange, UserCount,
    UserFilter, UserStore,
};
pub use workspace_store::WorkspaceStore;

/// Which objects of others a caller gets at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Those that the caller may see.
    Visible,
    /// Those that the caller may change: every one for an administrator, else its own, and for
    /// curators those that are shared with groups the caller controls and with no other. A curator
    /// controls the groups it curates, a global curator those it is a member of.
    Editable,
}
