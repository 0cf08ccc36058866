use std::collections::BTreeSet;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::document_set::DocumentSet;
use crate::error::StoreError;
use crate::id::{CcPairId, GroupId, UserId};
use crate::job::NewJob;

/// A document set to store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDocumentSet {
    /// Its name.
    pub name: String,
    /// Visible to everybody.
    pub public: bool,
    /// Groups that see it when it is not public.
    pub groups: BTreeSet<GroupId>,
    /// Users that see it when it is not public.
    pub users: BTreeSet<UserId>,
    /// Its pairs.
    pub cc_pairs: BTreeSet<CcPairId>,
}

/// Named sets of pairs.
#[async_trait]
pub trait DocumentSetStore: Send + Sync + 'static {
    /// Adds a set, marks the documents of its pairs as changed and enqueues `job`, in one step;
    /// `None` when the name is taken or a pair, group or user does not exist.
    async fn insert(
        &self,
        set: NewDocumentSet,
        now: DateTime<Utc>,
        job: NewJob,
    ) -> Result<Option<DocumentSet>, StoreError>;

    /// The sets among `names` that the user may see: public ones, ones shared with the user and
    /// ones shared with a group of the user. Unknown and invisible names are both left out. By
    /// rising id.
    async fn find_visible(
        &self,
        names: &[String],
        user: UserId,
    ) -> Result<Vec<DocumentSet>, StoreError>;
}
