use std::collections::BTreeSet;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::access::Caller;
use crate::error::StoreError;
use crate::group::{Group, GroupDelta, GroupRecord, Membership};
use crate::id::{CcPairId, GroupId, UserId};
use crate::job::NewJob;
use crate::page::Page;

/// Who is in a group, and which pairs are shared with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupContents {
    /// Its members.
    pub members: BTreeSet<UserId>,
    /// Its pairs.
    pub cc_pairs: BTreeSet<CcPairId>,
}

/// What became of a change to a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupChange {
    /// It is done.
    Done(GroupId, GroupDelta),
    /// There is no such group that the caller controls; nothing changed.
    NoSuchGroup,
    /// Another group has the name; nothing changed.
    NameTaken,
    /// A user does not exist, or is no member where it has to be one; nothing changed.
    NoSuchUser,
    /// The user does not become a curator: its role is not one that it could lose again. Nothing
    /// changed.
    NoCurator,
    /// There is no such pair that the caller may share with a group; nothing changed.
    NoSuchPair(CcPairId),
    /// The index does not know of the last change yet; nothing changed.
    Syncing,
    /// A provider of language models is bound to the group, and could be open to more people
    /// without it; nothing changed. These are their names, a few of them.
    Bound(Vec<String>),
}

/// A group as it was when somebody began to bring the index in line with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupRevision {
    /// The group.
    pub id: GroupId,
    /// Grows with every change that the index must know of.
    pub revision: i64,
}

/// Groups of users.
///
/// # Contract
///
/// * A caller controls every group as an administrator, those that it curates as a curator, and
///   those that it is in as a global curator. To others a group that exists is as good as none.
/// * Membership counts from the next look on. Pairs decide what the index holds: a change of those
///   that are private makes their documents dirty and the group `Syncing`. Whoever writes dirty
///   documents asks for `unsynced` first and calls `finish_sync` with that answer afterwards.
/// * Whoever begins to curate a group becomes a curator, and whoever ceases to curate the last one
///   a normal user, in the same step, however that comes about.
/// * A deleted group is empty at once, and no pair or provider is shared with it any more. It is listed,
///   and keeps its name, until `finish_sync`.
#[async_trait]
pub trait GroupStore: Send + Sync + 'static {
    /// Adds a group; `None` when the name is taken.
    async fn insert(&self, name: &str) -> Result<Option<Group>, StoreError>;

    /// Replaces the members of a group; `false` when the group or one of the users does not exist,
    /// and nothing changes. Roles stay as they are.
    async fn set_members(
        &self,
        group: GroupId,
        members: &[(UserId, bool)],
    ) -> Result<bool, StoreError>;

    /// The groups a user is in, by rising id.
    async fn memberships(&self, user: UserId) -> Result<Vec<Membership>, StoreError>;

    /// Adds a group with what is in it, in one step.
    async fn create(
        &self,
        name: &str,
        contents: GroupContents,
        now: DateTime<Utc>,
        job: NewJob,
    ) -> Result<GroupChange, StoreError>;

    /// Replaces members and pairs of a group, in one step. Who stays goes on curating it or not. A
    /// caller who is no administrator adds only pairs that it may change: those that it made, and
    /// those that are shared with groups it controls and with no other.
    async fn replace(
        &self,
        caller: &Caller,
        id: GroupId,
        contents: GroupContents,
        now: DateTime<Utc>,
        job: NewJob,
    ) -> Result<GroupChange, StoreError>;

    /// Adds members, in one step. Who is one already stays as it is.
    async fn add_members(
        &self,
        caller: &Caller,
        id: GroupId,
        users: &BTreeSet<UserId>,
    ) -> Result<GroupChange, StoreError>;

    /// Gives a group another name. Access goes by id and stays.
    async fn rename(
        &self,
        caller: &Caller,
        id: GroupId,
        name: &str,
    ) -> Result<GroupChange, StoreError>;

    /// Has a member curate a group, or no longer, and gives it the role that follows.
    async fn set_curator(
        &self,
        caller: &Caller,
        id: GroupId,
        user: UserId,
        curator: bool,
        now: DateTime<Utc>,
    ) -> Result<GroupChange, StoreError>;

    /// Empties a group, which then is `Deleting`, in one step.
    async fn begin_removal(
        &self,
        id: GroupId,
        now: DateTime<Utc>,
        job: NewJob,
    ) -> Result<GroupChange, StoreError>;

    /// A group that the caller controls; `None` when there is none.
    async fn find_controlled(
        &self,
        caller: &Caller,
        id: GroupId,
    ) -> Result<Option<GroupRecord>, StoreError>;

    /// Groups that the caller controls, by rising id; at most `limit` after `after`. However many
    /// there are, the number of queries is the same for each page.
    async fn list(
        &self,
        caller: &Caller,
        after: Option<GroupId>,
        limit: u32,
    ) -> Result<Page<GroupRecord, GroupId>, StoreError>;

    /// Groups that are not being deleted, by rising id: all of them for an administrator, and those
    /// that they are in for others. At most `limit` after `after`.
    async fn names(
        &self,
        caller: &Caller,
        after: Option<GroupId>,
        limit: u32,
    ) -> Result<Page<Group, GroupId>, StoreError>;

    /// Every group that is not up to date, by rising id.
    async fn unsynced(&self) -> Result<Vec<GroupRevision>, StoreError>;

    /// Records that the index knows of the groups as they were at these revisions: they are up to
    /// date, and those that are to go are gone, unless a provider was bound to one meanwhile.
    /// Groups that changed since are left alone.
    async fn finish_sync(&self, groups: &[GroupRevision]) -> Result<(), StoreError>;
}
