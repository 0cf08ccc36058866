//! The relational ports together, and short ways to what their cases start from.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::json;
use trove_domain::access::{Caller, Proof, Role};
use trove_domain::access_token::{AccessToken, NewAccessToken};
use trove_domain::api_key::{ApiKey, NewApiKey};
use trove_domain::cc_pair::AccessType;
use trove_domain::document::Metadata;
use trove_domain::error::StoreError;
use trove_domain::id::{CcPairId, DocumentId, GroupId, UserId};
use trove_domain::job::{ClaimedJob, NewJob};
use trove_domain::port::{
    AccessFilter, AccessTokenStore, AgentStore, ApiKeyStore, CcPairStore, ConnectorStore,
    CredentialStore, DocumentFlagStore, DocumentSetStore, DocumentStore, GroupStore,
    IndexAttemptStore, IndexedMark, InvitationStore, JobQueue, LlmProviderStore, NewCcPair,
    NewDocumentSet, NewUser, PairTaskStore, PermissionSyncStore, ProfileStore, Registration,
    SearchHistory, SessionStore, StoredFileStore, TokenLimitStore, UserChange, UserStore,
    WorkspaceStore,
};
use trove_domain::source::DocumentSource;
use trove_domain::user::TokenHash;
use uuid::Uuid;

use crate::builders::{document_id, instant};

/// When everything is made, unless a case says otherwise.
#[must_use]
pub fn start_of_time() -> DateTime<Utc> {
    instant(1_767_225_600)
}

/// So many seconds after [`start_of_time`].
#[must_use]
pub fn at(seconds: i64) -> DateTime<Utc> {
    start_of_time() + TimeDelta::seconds(seconds)
}

/// What the suites of the relational ports run on: all ports over one database.
///
/// The database is new; a case sees nothing of another one.
pub struct Stores {
    /// Users.
    pub users: Arc<dyn UserStore>,
    /// API keys.
    pub keys: Arc<dyn ApiKeyStore>,
    /// Personal access tokens.
    pub tokens: Arc<dyn AccessTokenStore>,
    /// Sessions.
    pub sessions: Arc<dyn SessionStore>,
    /// Who may register.
    pub invitations: Arc<dyn InvitationStore>,
    /// What users set for themselves.
    pub profiles: Arc<dyn ProfileStore>,
    /// Scopes of callers.
    pub access: Arc<dyn AccessFilter>,
    /// Groups of users.
    pub groups: Arc<dyn GroupStore>,
    /// Connectors.
    pub connectors: Arc<dyn ConnectorStore>,
    /// Credentials.
    pub credentials: Arc<dyn CredentialStore>,
    /// Pairs.
    pub pairs: Arc<dyn CcPairStore>,
    /// Runs of indexing.
    pub attempts: Arc<dyn IndexAttemptStore>,
    /// Prunings and deletions of pairs.
    pub tasks: Arc<dyn PairTaskStore>,
    /// What sources say of who may read.
    pub permissions: Arc<dyn PermissionSyncStore>,
    /// Agents.
    pub agents: Arc<dyn AgentStore>,
    /// Document sets.
    pub sets: Arc<dyn DocumentSetStore>,
    /// The registry.
    pub documents: Arc<dyn DocumentStore>,
    /// What people decide about documents.
    pub flags: Arc<dyn DocumentFlagStore>,
    /// What users searched for.
    pub searches: Arc<dyn SearchHistory>,
    /// Deferred work.
    pub jobs: Arc<dyn JobQueue>,
    /// Stored files.
    pub files: Arc<dyn StoredFileStore>,
    /// Limits of tokens.
    pub token_limits: Arc<dyn TokenLimitStore>,
    /// Providers of language models.
    pub providers: Arc<dyn LlmProviderStore>,
    /// What administrators decide for everybody.
    pub workspace: Arc<dyn WorkspaceStore>,
    made: AtomicU64,
}

impl Stores {
    /// All ports of one adapter.
    pub fn new<S>(store: Arc<S>) -> Self
    where
        S: UserStore
            + ApiKeyStore
            + AccessTokenStore
            + SessionStore
            + InvitationStore
            + ProfileStore
            + AccessFilter
            + AgentStore
            + GroupStore
            + IndexAttemptStore
            + CcPairStore
            + ConnectorStore
            + CredentialStore
            + DocumentFlagStore
            + DocumentSetStore
            + DocumentStore
            + JobQueue
            + PairTaskStore
            + PermissionSyncStore
            + SearchHistory
            + StoredFileStore
            + TokenLimitStore
            + LlmProviderStore
            + WorkspaceStore,
    {
        Self {
            users: store.clone(),
            keys: store.clone(),
            tokens: store.clone(),
            sessions: store.clone(),
            invitations: store.clone(),
            profiles: store.clone(),
            access: store.clone(),
            groups: store.clone(),
            connectors: store.clone(),
            credentials: store.clone(),
            pairs: store.clone(),
            agents: store.clone(),
            attempts: store.clone(),
            tasks: store.clone(),
            permissions: store.clone(),
            sets: store.clone(),
            documents: store.clone(),
            flags: store.clone(),
            searches: store.clone(),
            jobs: store.clone(),
            files: store.clone(),
            token_limits: store.clone(),
            providers: store.clone(),
            workspace: store,
            made: AtomicU64::new(0),
        }
    }

    /// A number that this method has not answered before.
    pub fn next(&self) -> u64 {
        self.made.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// A user to insert, with a new id.
    pub fn new_user(&self, email: &str, role: Role) -> NewUser {
        let id = UserId(Uuid::from_u64_pair(0x0190_0000_0000_7000, self.next()));
        NewUser::person(id, email, role, start_of_time())
    }

    /// Inserts a user with a role.
    pub async fn user_with(&self, email: &str, role: Role) -> UserId {
        let user = self.new_user(email, role);
        let id = user.id;
        assert!(self.users.insert(user).await.unwrap(), "{email} is taken");
        id
    }

    /// Lets a user in or keeps it out; whether there is one.
    ///
    /// # Errors
    ///
    /// As the port.
    pub async fn set_active(
        &self,
        id: UserId,
        active: bool,
        now: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        let changed = if active {
            self.users.activate(id, None, now).await?
        } else {
            self.users.deactivate(id, now).await?
        };
        Ok(changed == UserChange::Done)
    }

    /// Inserts a normal user.
    pub async fn user(&self, email: &str) -> UserId {
        self.user_with(email, Role::Basic).await
    }

    /// Inserts a group with these members, none of whom curates it.
    pub async fn group(&self, name: &str, members: &[UserId]) -> GroupId {
        let group = self.groups.insert(name).await.unwrap().unwrap().id;
        self.members(group, members).await;
        group
    }

    /// Replaces the members of a group by these, none of whom curates it.
    pub async fn members(&self, group: GroupId, members: &[UserId]) {
        let members: Vec<_> = members.iter().map(|user| (*user, false)).collect();
        assert!(self.groups.set_members(group, &members).await.unwrap());
    }

    /// Makes a pair that is not there yet.
    pub async fn pair(&self, name: &str, access: AccessType, groups: &[GroupId]) -> CcPairId {
        self.pairs.get_or_insert(new_pair(name, access, groups)).await.unwrap().id
    }

    /// Registers new content of documents for a pair; answers their revisions.
    pub async fn register(&self, pair: CcPairId, ids: &[&str]) -> Vec<i64> {
        let documents: Vec<_> = ids.iter().map(|id| registration(id)).collect();
        self.documents.register(pair, &documents, start_of_time()).await.unwrap().unwrap()
    }

    /// Registers documents for a pair and marks them as indexed.
    pub async fn index(&self, pair: CcPairId, ids: &[&str]) {
        let revisions = self.register(pair, ids).await;
        let marks: Vec<_> =
            ids.iter().zip(revisions).map(|(id, revision)| mark(id, revision)).collect();
        self.documents.mark_indexed(pair, &marks, start_of_time()).await.unwrap();
    }

    /// Forgets those of the documents that are to be removed.
    pub async fn finish_removal(&self, ids: &[&str]) {
        let due = self.documents.due_removals(&document_ids(ids)).await.unwrap();
        self.documents.finish_removal(&due).await.unwrap();
    }

    /// Ids of the documents with unfinished work.
    pub async fn dirty(&self) -> Vec<String> {
        let dirty = self.documents.list_dirty(None, 10_000).await.unwrap();
        dirty.into_iter().map(|document| document.id.into_string()).collect()
    }

    /// The revision of a document that is there.
    pub async fn revision(&self, id: &str) -> i64 {
        self.documents.get(&[document_id(id)]).await.unwrap()[0].as_ref().unwrap().revision
    }

    /// Takes one job for a minute.
    pub async fn claim(&self, queue: &str, now: DateTime<Utc>) -> Option<ClaimedJob> {
        let minute = Duration::from_mins(1);
        self.jobs.claim(queue, now, minute, 1).await.unwrap().pop()
    }

    /// Inserts an API key.
    pub async fn key(&self, user: UserId, byte: u8) -> ApiKey {
        self.keys.insert(new_key(user, byte)).await.unwrap().unwrap()
    }

    /// Inserts a personal access token that never ends.
    pub async fn token(&self, user: UserId, byte: u8) -> AccessToken {
        self.tokens.insert(new_access_token(user, byte)).await.unwrap().unwrap()
    }
}

/// A caller who signed in as this user.
#[must_use]
pub fn caller(user: UserId, email: &str, role: Role) -> Caller {
    Caller { user, email: email.to_owned(), role, proof: Proof::Trusted }
}

/// A hash of nothing but this byte.
#[must_use]
pub fn token_hash(byte: u8) -> TokenHash {
    TokenHash([byte; 32])
}

/// A key to insert, with the hash of [`token_hash`].
#[must_use]
pub fn new_key(user: UserId, byte: u8) -> NewApiKey {
    NewApiKey {
        name: Some(format!("key {byte}")),
        display: format!("tr_{byte}…"),
        hash: token_hash(byte),
        user,
        created_at: start_of_time(),
    }
}

/// A personal access token to insert that never ends, with the hash of [`token_hash`].
#[must_use]
pub fn new_access_token(user: UserId, byte: u8) -> NewAccessToken {
    NewAccessToken {
        name: format!("token {byte}"),
        display: format!("trove_pat_{byte}…"),
        hash: token_hash(byte),
        user,
        scopes: None,
        created_at: start_of_time(),
        expires_at: None,
    }
}

/// A pair over files to insert.
#[must_use]
pub fn new_pair(name: &str, access_type: AccessType, groups: &[GroupId]) -> NewCcPair {
    NewCcPair {
        name: name.to_owned(),
        source: DocumentSource::File,
        config: json!({ "folder": name }),
        access_type,
        groups: groups.iter().copied().collect(),
        creator: None,
        created_at: start_of_time(),
    }
}

/// A document set to insert that is shared with nobody.
#[must_use]
pub fn new_set(name: &str, pairs: &[CcPairId]) -> NewDocumentSet {
    NewDocumentSet {
        name: name.to_owned(),
        description: String::new(),
        public: false,
        groups: BTreeSet::new(),
        users: BTreeSet::new(),
        cc_pairs: pairs.iter().copied().collect(),
    }
}

/// New content of a document that says nothing but its id.
#[must_use]
pub fn registration(id: &str) -> Registration {
    Registration {
        id: document_id(id),
        source: DocumentSource::File,
        semantic_identifier: id.to_owned(),
        link: None,
        metadata: Metadata::new(),
        updated_at: None,
        created_at: None,
        primary_owners: Vec::new(),
        secondary_owners: Vec::new(),
        from_ingestion_api: false,
        external_access: None,
        content_changes: true,
    }
}

/// Content of one chunk that reached the index, with a hash made of id and revision.
#[must_use]
pub fn mark(id: &str, revision: i64) -> IndexedMark {
    IndexedMark {
        id: document_id(id),
        revision,
        content_hash: format!("{id} at {revision}"),
        chunk_count: 1,
        embedding_model: Some("model".to_owned()),
    }
}

/// The ids.
#[must_use]
pub fn document_ids(ids: &[&str]) -> Vec<DocumentId> {
    ids.iter().map(|id| document_id(id)).collect()
}

/// A job that is due at the start of time, without a deduplication key.
#[must_use]
pub fn new_job(queue: &str, kind: &str) -> NewJob {
    NewJob {
        queue: queue.to_owned(),
        kind: kind.to_owned(),
        deduplication_key: None,
        payload: json!({}),
        run_at: start_of_time(),
    }
}
