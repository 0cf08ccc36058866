use std::collections::BTreeSet;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::access::Caller;
use crate::document_set::DocumentSet;
use crate::error::StoreError;
use crate::id::{CcPairId, DocumentSetId, GroupId, UserId};
use crate::job::NewJob;
use crate::page::Page;
use crate::port::Reach;

/// What a document set is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDocumentSet {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Visible to everybody.
    pub public: bool,
    /// Groups that see it when it is not public.
    pub groups: BTreeSet<GroupId>,
    /// Users that see it when it is not public.
    pub users: BTreeSet<UserId>,
    /// Its pairs.
    pub cc_pairs: BTreeSet<CcPairId>,
}

/// What became of a change to a document set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetChange {
    /// It is done.
    Done(DocumentSetId),
    /// There is no such set that the caller may change; nothing changed.
    NoSuchSet,
    /// Another set has the name; nothing changed.
    NameTaken,
    /// A pair, group or user does not exist; nothing changed.
    Unknown,
    /// The set is not up to date; nothing changed.
    Syncing,
}

/// A document set as a caller sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenDocumentSet {
    /// The set.
    pub set: DocumentSet,
    /// Whether the caller may change it.
    pub editable: bool,
}

/// A set as it was when somebody began to bring the index in line with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SetRevision {
    /// The set.
    pub id: DocumentSetId,
    /// Grows with every change that the index must know of.
    pub revision: i64,
}

/// Named sets of pairs.
///
/// # Contract
///
/// * A set is visible to everybody when it is public, else to its owner, its users, the members of
///   its groups, and administrators. Whatever a caller may not see is answered like what does not
///   exist.
/// * A set is `New` until the index knows of it. A later change of its pairs makes the documents of
///   these pairs dirty and the set `Syncing`. Whoever writes dirty documents to the index asks for `unsynced` first, writes every
///   document that is dirty, and then calls `finish_sync` with that answer: a change that came
///   meanwhile has another revision, and its set waits for the next time.
/// * A deleted set keeps its name and is listed until `finish_sync`.
#[async_trait]
pub trait DocumentSetStore: Send + Sync + 'static {
    /// Adds a set, marks the documents of its pairs as changed and enqueues `job`, in one step.
    async fn insert(
        &self,
        set: NewDocumentSet,
        owner: Option<UserId>,
        now: DateTime<Utc>,
        job: NewJob,
    ) -> Result<SetChange, StoreError>;

    /// Replaces everything of a set that the caller may change, but its owner, in one step. When
    /// its pairs change, the documents of those that come and of those that go are marked as
    /// changed and `job` is enqueued; otherwise the set stays up to date.
    async fn update(
        &self,
        caller: &Caller,
        id: DocumentSetId,
        set: NewDocumentSet,
        now: DateTime<Utc>,
        job: NewJob,
    ) -> Result<SetChange, StoreError>;

    /// Takes the pairs out of a set that the caller may change, marks their documents as changed
    /// and enqueues `job`, in one step; the set is `Deleting` then.
    async fn begin_removal(
        &self,
        caller: &Caller,
        id: DocumentSetId,
        now: DateTime<Utc>,
        job: NewJob,
    ) -> Result<SetChange, StoreError>;

    /// The sets among `names` that the caller may see and that the index knows of: those that are up
    /// to date, and those that are `Syncing`, of which it knows what they were. Others and unknown
    /// names are left out. By rising id.
    async fn find_by_name(
        &self,
        caller: &Caller,
        names: &[String],
    ) -> Result<Vec<DocumentSet>, StoreError>;

    /// Those of the sets that the caller may see, in any state, by rising id.
    async fn find(
        &self,
        caller: &Caller,
        ids: &BTreeSet<DocumentSetId>,
    ) -> Result<Vec<SeenDocumentSet>, StoreError>;

    /// Sets that the caller sees, or that it may change, by rising id; at most `limit` after
    /// `after`.
    async fn list(
        &self,
        caller: &Caller,
        reach: Reach,
        after: Option<DocumentSetId>,
        limit: u32,
    ) -> Result<Page<SeenDocumentSet, DocumentSetId>, StoreError>;

    /// Every set that is not up to date, by rising id.
    async fn unsynced(&self) -> Result<Vec<SetRevision>, StoreError>;

    /// Records that the index knows of the sets as they were at these revisions: they are up to
    /// date, and those that are to go are gone. Sets that changed since are left alone.
    async fn finish_sync(&self, sets: &[SetRevision]) -> Result<(), StoreError>;
}
