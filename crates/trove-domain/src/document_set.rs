//! Named sets of credential pairs.

use std::collections::BTreeSet;

use crate::id::{CcPairId, DocumentSetId, GroupId, UserId};

/// A named set of credential pairs; its documents are those of the pairs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentSet {
    /// Its key.
    pub id: DocumentSetId,
    /// Its name, unique.
    pub name: String,
    /// Visible to everybody. A set never widens what a caller may read.
    pub public: bool,
    /// Groups that see a set that is not public.
    pub groups: BTreeSet<GroupId>,
    /// Users that see a set that is not public, its creator among them.
    pub users: BTreeSet<UserId>,
    /// Its pairs.
    pub cc_pairs: BTreeSet<CcPairId>,
}
