use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::access::Caller;
use crate::error::StoreError;
use crate::id::{CcPairId, DocumentId};
use crate::job::NewJob;
use crate::page::Page;

/// What is decided about a document by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlaggedDocument {
    /// The document.
    pub id: DocumentId,
    /// Name to display.
    pub semantic_identifier: String,
    /// First link.
    pub link: Option<String>,
    /// Its weight in rankings; 0 is neutral.
    pub boost: i32,
    /// Whether no search finds it.
    pub hidden: bool,
}

/// A decision about a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentFlag {
    /// Its weight in rankings.
    Boost(i32),
    /// Whether no search finds it.
    Hidden(bool),
}

/// Whether the index says of a document what the registry says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncState {
    /// The document.
    pub id: DocumentId,
    /// When anything of it last changed.
    pub changed_at: DateTime<Utc>,
    /// Whether the index knows.
    pub is_synced: bool,
}

/// What people decide about single documents.
///
/// # Contract
///
/// * A caller decides about the documents of the pairs that it may change; an administrator about
///   all of them. A document that is not the caller's to decide about is like none.
/// * A decision outlasts every ingestion of its document.
#[async_trait]
pub trait DocumentFlagStore: Send + Sync + 'static {
    /// Decides, marks the document as changed and enqueues `job`, in one step; `false` when there
    /// is no such document, and nothing changes.
    async fn set_flag(
        &self,
        editor: &Caller,
        id: &DocumentId,
        flag: DocumentFlag,
        now: DateTime<Utc>,
        job: NewJob,
    ) -> Result<bool, StoreError>;

    /// Documents by boost, then by name: the lowest first when `ascending`.
    async fn list_by_boost(
        &self,
        editor: &Caller,
        ascending: bool,
        limit: u32,
    ) -> Result<Vec<FlaggedDocument>, StoreError>;

    /// Indexed documents of a pair, by rising id.
    async fn list_sync_states(
        &self,
        pair: CcPairId,
        after: Option<&DocumentId>,
        limit: u32,
    ) -> Result<Page<SyncState, DocumentId>, StoreError>;
}
