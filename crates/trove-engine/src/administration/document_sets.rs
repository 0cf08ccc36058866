//! Document sets: who makes and changes which, and what others see of them.

use std::collections::{BTreeMap, BTreeSet};

use trove_domain::access::Caller;
use trove_domain::cc_pair::{AccessType, CcPair, PairReader};
use trove_domain::document_set::{DocumentSet, DocumentSetState};
use trove_domain::error::{Classify, ErrorKind, StoreError};
use trove_domain::id::{CcPairId, DocumentSetId, GroupId};
use trove_domain::page::Page;
use trove_domain::port::{NewDocumentSet, Reach, SeenDocumentSet, SetChange};

use super::curators::{CuratorError, Proposal};
use crate::Engine;

/// A document set as a caller sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentSetView {
    /// The set.
    pub set: DocumentSet,
    /// Those of its pairs that the caller may see, by rising id.
    pub pairs: Vec<CcPair>,
    /// Whether the caller may change it.
    pub editable: bool,
}

/// New contents of a document set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentSetUpdate {
    /// Its name; `None` keeps it.
    pub name: Option<String>,
    /// What it is for.
    pub description: String,
    /// Visible to everybody.
    pub public: bool,
    /// Groups that see it when it is not public.
    pub groups: BTreeSet<GroupId>,
    /// Users that see it when it is not public.
    pub users: BTreeSet<trove_domain::id::UserId>,
    /// Its pairs. Those that the caller may not see stay, whatever is said here.
    pub cc_pairs: BTreeSet<CcPairId>,
}

/// Why a document set was not made, changed or deleted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentSetError {
    /// There is no such set that the caller may see.
    #[error("there is no document set {0}")]
    NoSuchSet(DocumentSetId),
    /// The caller sees the set and may not change it.
    #[error("you may not change document set {0}")]
    Forbidden(DocumentSetId),
    /// Another set has the name.
    #[error("name: there is a document set `{0}` already; names are unique")]
    NameTaken(String),
    /// The set has nothing in it.
    #[error("cc_pair_ids: a document set needs at least one connector-credential pair")]
    Empty,
    /// There is no such pair that the caller may see.
    #[error("cc_pair_ids: there is no connector-credential pair {0}")]
    NoSuchPair(CcPairId),
    /// A set would show a group what belongs to another one.
    #[error(
        "cc_pair_ids: the connector-credential pair {0} is not owned by the specified groups; \
         share it with all of them, or make the document set public"
    )]
    PairNotOwned(CcPairId),
    /// A curator has to say whose the set is.
    #[error("groups: curators must specify at least one group, or make the document set public")]
    NoGroups,
    /// A curator may not act for a group.
    #[error("groups: curators cannot control group {0}, which they do not curate")]
    ForeignGroup(GroupId),
    /// A user or group does not exist.
    #[error("users, groups: one of them does not exist")]
    UnknownShare,
    /// The request names federated connectors.
    #[error("federated_connectors: there are no federated connectors; leave it empty")]
    NoFederatedConnectors,
    /// The index has to catch up first.
    #[error("document set {0} cannot be changed while it is syncing; try again in a moment")]
    Syncing(DocumentSetId),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Classify for DocumentSetError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoSuchSet(_) => ErrorKind::NotFound,
            Self::Forbidden(_) => ErrorKind::Forbidden,
            Self::Store(error) => error.kind(),
            Self::NameTaken(_)
            | Self::Empty
            | Self::NoSuchPair(_)
            | Self::PairNotOwned(_)
            | Self::NoGroups
            | Self::ForeignGroup(_)
            | Self::UnknownShare
            | Self::NoFederatedConnectors
            | Self::Syncing(_) => ErrorKind::Invalid,
        }
    }

    fn code(&self) -> Option<&'static str> {
        matches!(self, Self::NoSuchSet(_)).then_some("DOCUMENT_SET_NOT_FOUND")
    }
}

impl Engine {
    pub(super) async fn create_document_set_unrecorded(
        &self,
        caller: &Caller,
        set: NewDocumentSet,
    ) -> Result<DocumentSetId, DocumentSetError> {
        self.check_curator(caller, set.public, true, &set.groups).await?;
        self.check_pairs(caller, &set.cc_pairs, set.public, &set.groups).await?;
        let (sets, now) = (&self.backends().document_sets, self.backends().clock.now());
        let name = set.name.clone();
        let change = sets.insert(set, Some(caller.user), now, self.sync_job()).await?;
        self.shared.jobs_enqueued.notify_one();
        done(change, DocumentSetId(0), name)
    }

    pub(super) async fn update_document_set_unrecorded(
        &self,
        caller: &Caller,
        id: DocumentSetId,
        update: DocumentSetUpdate,
    ) -> Result<(), DocumentSetError> {
        let present = self.editable_document_set(caller, id).await?;
        let DocumentSetUpdate { name, description, public, groups, users, mut cc_pairs } = update;
        let own = present.owner == Some(caller.user);
        self.check_curator(caller, public, own, &groups).await?;
        self.check_pairs(caller, &cc_pairs, public, &groups).await?;
        let seen = self.visible_pairs(caller, &present.cc_pairs).await?;
        cc_pairs.extend(present.cc_pairs.into_iter().filter(|pair| !seen.contains_key(pair)));
        let name = name.unwrap_or(present.name);
        let set = NewDocumentSet { name, description, public, groups, users, cc_pairs };
        let (sets, now) = (&self.backends().document_sets, self.backends().clock.now());
        let name = set.name.clone();
        let change = sets.update(caller, id, set, now, self.sync_job()).await?;
        self.shared.jobs_enqueued.notify_one();
        done(change, id, name).map(drop)
    }

    pub(super) async fn delete_document_set_unrecorded(
        &self,
        caller: &Caller,
        id: DocumentSetId,
    ) -> Result<(), DocumentSetError> {
        self.editable_document_set(caller, id).await?;
        let (sets, now) = (&self.backends().document_sets, self.backends().clock.now());
        let change = sets.begin_removal(caller, id, now, self.sync_job()).await?;
        self.shared.jobs_enqueued.notify_one();
        done(change, id, String::new()).map(drop)
    }

    /// A page of the document sets that `caller` may see, or that it may change, by rising id.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when they cannot be read.
    pub async fn list_document_sets(
        &self,
        caller: &Caller,
        reach: Reach,
        after: Option<DocumentSetId>,
        limit: u32,
    ) -> Result<Page<DocumentSetView, DocumentSetId>, StoreError> {
        let page = self.backends().document_sets.list(caller, reach, after, limit).await?;
        Ok(Page { items: self.set_views(caller, page.items).await?, next: page.next })
    }

    /// Whether all of the sets are there for `caller`, and everybody may read what is in them.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when they cannot be read.
    pub async fn document_sets_are_public(
        &self,
        caller: &Caller,
        ids: &BTreeSet<DocumentSetId>,
    ) -> Result<bool, StoreError> {
        let sets = self.backends().document_sets.find(caller, ids).await?;
        let pairs: BTreeSet<CcPairId> =
            sets.iter().flat_map(|seen| seen.set.cc_pairs.iter().copied()).collect();
        let seen = self.visible_pairs(caller, &pairs).await?;
        let public = seen.values().filter(|pair| pair.access_type == AccessType::Public).count();
        Ok(sets.len() == ids.len() && public == pairs.len())
    }

    /// Those of the sets that `caller` may see.
    pub(super) async fn document_set_views(
        &self,
        caller: &Caller,
        ids: &BTreeSet<DocumentSetId>,
    ) -> Result<BTreeMap<DocumentSetId, DocumentSetView>, StoreError> {
        if ids.is_empty() {
            return Ok(BTreeMap::new());
        }
        let sets = self.backends().document_sets.find(caller, ids).await?;
        let views = self.set_views(caller, sets).await?;
        Ok(views.into_iter().map(|view| (view.set.id, view)).collect())
    }

    async fn set_views(
        &self,
        caller: &Caller,
        sets: Vec<SeenDocumentSet>,
    ) -> Result<Vec<DocumentSetView>, StoreError> {
        let pairs: BTreeSet<CcPairId> =
            sets.iter().flat_map(|seen| seen.set.cc_pairs.iter().copied()).collect();
        let pairs = self.visible_pairs(caller, &pairs).await?;
        let view = |seen: SeenDocumentSet| {
            let own = seen.set.cc_pairs.iter().filter_map(|id| pairs.get(id).cloned());
            DocumentSetView { pairs: own.collect(), set: seen.set, editable: seen.editable }
        };
        Ok(sets.into_iter().map(view).collect())
    }

    /// Those of the pairs that `caller` may see.
    pub(super) async fn visible_pairs(
        &self,
        caller: &Caller,
        ids: &BTreeSet<CcPairId>,
    ) -> Result<BTreeMap<CcPairId, CcPair>, StoreError> {
        if ids.is_empty() {
            return Ok(BTreeMap::new());
        }
        let pairs = self.backends().cc_pairs.find_visible(ids, PairReader::of(caller)).await?;
        Ok(pairs.into_iter().map(|pair| (pair.id, pair)).collect())
    }

    /// A set that `caller` may change now.
    async fn editable_document_set(
        &self,
        caller: &Caller,
        id: DocumentSetId,
    ) -> Result<DocumentSet, DocumentSetError> {
        let found = self.backends().document_sets.find(caller, &[id].into()).await?;
        match found.into_iter().next() {
            None => Err(DocumentSetError::NoSuchSet(id)),
            Some(seen) if !seen.editable => Err(DocumentSetError::Forbidden(id)),
            Some(seen) if seen.set.state != DocumentSetState::UpToDate => {
                Err(DocumentSetError::Syncing(id))
            }
            Some(seen) => Ok(seen.set),
        }
    }

    /// Whether a curator may give a set to these groups; `own` when the set is new or its own.
    async fn check_curator(
        &self,
        caller: &Caller,
        public: bool,
        own: bool,
        groups: &BTreeSet<GroupId>,
    ) -> Result<(), DocumentSetError> {
        let proposal = Proposal { synced: false, public, own, groups };
        self.check_proposal(caller, proposal).await.map_err(|refusal| match refusal {
            CuratorError::NotPublic | CuratorError::NoGroups => DocumentSetError::NoGroups,
            CuratorError::ForeignGroup(group) => DocumentSetError::ForeignGroup(group),
            CuratorError::Store(error) => DocumentSetError::Store(error),
        })
    }

    /// Whether a set may hold these pairs: there must be some, the caller must see them, and what
    /// is private must belong to every group that sees the set.
    async fn check_pairs(
        &self,
        caller: &Caller,
        ids: &BTreeSet<CcPairId>,
        public: bool,
        groups: &BTreeSet<GroupId>,
    ) -> Result<(), DocumentSetError> {
        if ids.is_empty() {
            return Err(DocumentSetError::Empty);
        }
        let pairs = self.visible_pairs(caller, ids).await?;
        if let Some(missing) = ids.iter().find(|id| !pairs.contains_key(id)) {
            return Err(DocumentSetError::NoSuchPair(*missing));
        }
        let owned = |pair: &&CcPair| {
            public || pair.access_type != AccessType::Private || groups.is_subset(&pair.groups)
        };
        match pairs.values().find(|pair| !owned(pair)) {
            Some(pair) => Err(DocumentSetError::PairNotOwned(pair.id)),
            None => Ok(()),
        }
    }
}

/// What a change came to; `id` and `name` are for the refusal.
fn done(
    change: SetChange,
    id: DocumentSetId,
    name: String,
) -> Result<DocumentSetId, DocumentSetError> {
    match change {
        SetChange::Done(id) => Ok(id),
        SetChange::NoSuchSet => Err(DocumentSetError::NoSuchSet(id)),
        SetChange::NameTaken => Err(DocumentSetError::NameTaken(name)),
        SetChange::Unknown => Err(DocumentSetError::UnknownShare),
        SetChange::Syncing => Err(DocumentSetError::Syncing(id)),
    }
}
