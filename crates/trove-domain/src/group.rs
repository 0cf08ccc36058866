//! Groups of users.

use std::collections::BTreeSet;

use crate::access::Role;
use crate::id::{AgentId, CcPairId, DocumentSetId, GroupId, UserId};
use crate::user::User;

/// A group that documents can be shared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its key. Never that of another group, not even of a deleted one: access goes by it.
    pub id: GroupId,
    /// Its name, unique.
    pub name: String,
}

/// One user's place in one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Membership {
    /// The group.
    pub group: GroupId,
    /// The member.
    pub user: UserId,
    /// Whether the member curates the group.
    pub curator: bool,
}

/// Where a group is between a change of its pairs and the index that knows of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupState {
    /// The index knows which documents the group reads.
    UpToDate,
    /// The index does not know of a change to the pairs of the group yet.
    Syncing,
    /// The group has neither members nor pairs, and goes as soon as no document in the index names
    /// it.
    Deleting,
}

/// A member of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupMember {
    /// The member.
    pub user: User,
    /// Whether it curates the group.
    pub curator: bool,
}

/// A group with everything that belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupRecord {
    /// The group.
    pub group: Group,
    /// Whether the index knows.
    pub state: GroupState,
    /// Its members, by rising address.
    pub members: Vec<GroupMember>,
    /// Pairs that are shared with it.
    pub cc_pairs: BTreeSet<CcPairId>,
    /// Document sets that are shared with it.
    pub document_sets: BTreeSet<DocumentSetId>,
    /// Agents that are shared with it and not deleted.
    pub agents: BTreeSet<AgentId>,
}

/// What a change has done to a group and to its members.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupDelta {
    /// Who came.
    pub joined: BTreeSet<UserId>,
    /// Who went.
    pub left: BTreeSet<UserId>,
    /// Pairs that came.
    pub shared: BTreeSet<CcPairId>,
    /// Pairs that went.
    pub unshared: BTreeSet<CcPairId>,
    /// Who has another role now, by rising id.
    pub roles: Vec<(UserId, Role)>,
}
