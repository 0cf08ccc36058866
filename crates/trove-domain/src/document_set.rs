//! Named sets of credential pairs.

use std::collections::BTreeSet;

use crate::id::{CcPairId, DocumentSetId, GroupId, UserId};

/// Where a document set is between a change and the index that knows of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentSetState {
    /// Every document says in the index whether it belongs to the set.
    UpToDate,
    /// The set is new, and the index does not know of it yet.
    New,
    /// The index does not know of a change to the pairs of the set yet: it still holds the
    /// documents that the set had before.
    Syncing,
    /// The set goes as soon as no document in the index names it.
    Deleting,
}

/// A named set of credential pairs; its documents are those of the pairs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentSet {
    /// Its key. Never that of another set, not even of a deleted one.
    pub id: DocumentSetId,
    /// Its name, unique.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Visible to everybody. A set never widens what a caller may read.
    pub public: bool,
    /// Groups that see a set that is not public.
    pub groups: BTreeSet<GroupId>,
    /// Users that see a set that is not public.
    pub users: BTreeSet<UserId>,
    /// Who made it and always sees it; `None` for the system, and when that user is gone.
    pub owner: Option<UserId>,
    /// Its pairs.
    pub cc_pairs: BTreeSet<CcPairId>,
    /// Whether the index knows.
    pub state: DocumentSetState,
}
