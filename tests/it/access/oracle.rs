//! What should be true.

use std::collections::{BTreeMap, BTreeSet};

use trove_domain::access::{Caller, Role};
use trove_domain::cc_pair::AccessType;
use trove_domain::id::{AgentId, CcPairId, DocumentId, DocumentSetId, GroupId, UserId};
use trove_domain::source::DocumentSource;

#[derive(Clone, Debug)]
pub(super) struct KnownDocument {
    pub(super) words: BTreeSet<&'static str>,
    pub(super) source: DocumentSource,
    pub(super) tag: String,
    pub(super) pairs: BTreeSet<CcPairId>,
}

/// A document set or an agent: administrators see all, others what is public or shared with them.
#[derive(Clone, Debug)]
pub(super) struct Shared<T> {
    pub(super) what: T,
    pub(super) public: bool,
    pub(super) users: BTreeSet<UserId>,
}

impl<T> Shared<T> {
    pub(super) fn visible(&self, caller: &Caller) -> bool {
        self.public || self.users.contains(&caller.user) || caller.role == Role::Admin
    }
}

#[derive(Clone, Debug)]
pub(super) struct KnownSet {
    pub(super) id: DocumentSetId,
    pub(super) pairs: BTreeSet<CcPairId>,
}

#[derive(Clone, Debug)]
pub(super) struct KnownAgent {
    pub(super) id: AgentId,
    pub(super) sets: BTreeSet<DocumentSetId>,
    pub(super) documents: BTreeSet<DocumentId>,
}

/// A search that has been recorded: its query and what a model made of it.
pub(super) type Recorded = (String, Vec<String>);

/// Who may read by what a source says: people, its groups, and whether everybody may.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Told {
    pub(super) users: BTreeSet<UserId>,
    pub(super) groups: BTreeSet<usize>,
    pub(super) public: bool,
}

#[derive(Default)]
pub(super) struct Oracle {
    pub(super) documents: BTreeMap<DocumentId, KnownDocument>,
    pub(super) pairs: BTreeMap<CcPairId, (AccessType, BTreeSet<GroupId>)>,
    /// What the source of a pair has said of a document that the pair holds.
    pub(super) told: BTreeMap<(CcPairId, DocumentId), Told>,
    /// Who is in the groups of sources, by what the source of a pair has said: everybody, or some.
    pub(super) external: BTreeMap<(CcPairId, usize), (bool, BTreeSet<UserId>)>,
    pub(super) members: BTreeMap<GroupId, BTreeSet<UserId>>,
    /// By place.
    pub(super) sets: BTreeMap<usize, Shared<KnownSet>>,
    /// By place.
    pub(super) agents: BTreeMap<usize, Shared<KnownAgent>>,
    /// Oldest first.
    pub(super) searches: BTreeMap<UserId, Vec<Recorded>>,
}

impl Oracle {
    pub(super) fn readable(&self, user: UserId, id: &DocumentId, document: &KnownDocument) -> bool {
        document.pairs.iter().any(|pair| match &self.pairs[pair] {
            (AccessType::Public, _) => true,
            (AccessType::Private, groups) => {
                groups.iter().any(|g| self.members.get(g).is_some_and(|m| m.contains(&user)))
            }
            (AccessType::Sync, _) => self.told.get(&(*pair, id.clone())).is_some_and(|told| {
                told.public
                    || told.users.contains(&user)
                    || told.groups.iter().any(|group| self.is_in(*pair, *group, user))
            }),
        })
    }

    /// Whether the source of a pair says that a user is in a group of it.
    fn is_in(&self, pair: CcPairId, group: usize, user: UserId) -> bool {
        let told = self.external.get(&(pair, group));
        told.is_some_and(|(everybody, members)| *everybody || members.contains(&user))
    }

    pub(super) fn in_set(&self, set: DocumentSetId, document: &KnownDocument) -> bool {
        let set = self.sets.values().find(|known| known.what.id == set);
        set.is_some_and(|set| !set.what.pairs.is_disjoint(&document.pairs))
    }

    pub(super) fn known_to(
        &self,
        agent: &KnownAgent,
        id: &DocumentId,
        document: &KnownDocument,
    ) -> bool {
        let everything = agent.sets.is_empty() && agent.documents.is_empty();
        everything
            || agent.documents.contains(id)
            || agent.sets.iter().any(|set| self.in_set(*set, document))
    }
}
