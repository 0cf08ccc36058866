//! Groups of users: who makes and changes which, and what others see of them.

use std::collections::{BTreeMap, BTreeSet};

use trove_domain::access::{Caller, Role};
use trove_domain::audit::AuditAction;
use trove_domain::cc_pair::CcPair;
use trove_domain::error::{Classify, ErrorKind, StoreError};
use trove_domain::group::{Group, GroupDelta, GroupRecord};
use trove_domain::id::{AgentId, CcPairId, DocumentSetId, GroupId, UserId};
use trove_domain::page::Page;
use trove_domain::port::{AgentFilter, GroupChange, GroupContents, Reach};

use super::{AgentView, DocumentSetView};
use crate::Engine;
use crate::audit::{Details, details, ids};

/// A group as somebody sees it who controls it.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupView {
    /// The group.
    pub record: GroupRecord,
    /// Those of its pairs that the caller may see, by rising id.
    pub pairs: Vec<CcPair>,
    /// Those of its document sets that the caller may see, by rising id.
    pub document_sets: Vec<DocumentSetView>,
    /// Those of its agents that the caller may see, by rising id.
    pub agents: Vec<AgentView>,
}

/// Why a group was not made, changed or deleted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GroupError {
    /// There is no such group that the caller controls.
    #[error("there is no user group {0}")]
    NoSuchGroup(GroupId),
    /// Another group has the name.
    #[error("name: there is a user group `{0}` already; names are unique")]
    NameTaken(String),
    /// A user that is named does not exist.
    #[error("user_ids: one of the users does not exist")]
    NoSuchUser,
    /// There is no such pair that the caller may share.
    #[error(
        "cc_pair_ids: there is no connector-credential pair {0} that you may share with a group"
    )]
    NoSuchPair(CcPairId),
    /// The user is no member of the group, or none that could curate it.
    #[error("user {user} is no member of user group {group} whose curating could be decided here")]
    NoCandidate {
        /// The group.
        group: GroupId,
        /// The user.
        user: UserId,
    },
    /// The index has to catch up first.
    #[error("user group {0} cannot be changed while it is syncing; try again in a moment")]
    Syncing(GroupId),
    /// Something else would be open to more people.
    #[error(
        "user group {id} is what keeps these providers of language models from others: {providers}; \
         take it from them first"
    )]
    Bound {
        /// The group.
        id: GroupId,
        /// Names of a few of them.
        providers: String,
    },
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Classify for GroupError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoSuchGroup(_) | Self::NoCandidate { .. } => ErrorKind::NotFound,
            Self::NameTaken(_) | Self::NoSuchUser | Self::NoSuchPair(_) | Self::Syncing(_) => {
                ErrorKind::Invalid
            }
            Self::Bound { .. } => ErrorKind::Conflict,
            Self::Store(error) => error.kind(),
        }
    }
}

impl Engine {
    /// Makes a group. Private documents of its pairs are read by its members as soon as the index
    /// knows.
    ///
    /// # Errors
    ///
    /// [`GroupError`]; nothing is made then.
    pub async fn create_group(
        &self,
        caller: &Caller,
        name: &str,
        contents: GroupContents,
    ) -> Result<GroupView, GroupError> {
        let wanted = described(&contents);
        let subject = format!("group {name:?}");
        let make = async {
            let (groups, now) = (&self.backends().groups, self.backends().clock.now());
            let change = groups.create(name, contents, now, self.sync_job()).await?;
            self.shared.jobs_enqueued.notify_one();
            done(change, GroupId(0), name)
        };
        let action = AuditAction::CreateGroup;
        let (id, _) = self.recorded_as(action, Some(subject), wanted, make, told).await?;
        self.group(caller, id).await
    }

    /// Replaces members and pairs of a group. What its members may read of other groups and what
    /// they are stays; who curated no other group than this one is a normal user when it leaves.
    ///
    /// # Errors
    ///
    /// [`GroupError`]; nothing changes then.
    pub async fn replace_group(
        &self,
        caller: &Caller,
        id: GroupId,
        contents: GroupContents,
    ) -> Result<GroupView, GroupError> {
        let wanted = described(&contents);
        let change = async {
            let (groups, now) = (&self.backends().groups, self.backends().clock.now());
            let change = groups.replace(caller, id, contents, now, self.sync_job()).await?;
            self.shared.jobs_enqueued.notify_one();
            done(change, id, "")
        };
        self.record_group(AuditAction::ReplaceGroup, id, wanted, change).await?;
        self.group(caller, id).await
    }

    /// Adds members to a group.
    ///
    /// # Errors
    ///
    /// [`GroupError`]; nothing changes then.
    pub async fn add_group_members(
        &self,
        caller: &Caller,
        id: GroupId,
        users: &BTreeSet<UserId>,
    ) -> Result<GroupView, GroupError> {
        let wanted = details([("users", ids(users))]);
        let change =
            async { done(self.backends().groups.add_members(caller, id, users).await?, id, "") };
        self.record_group(AuditAction::AddMembers, id, wanted, change).await?;
        self.group(caller, id).await
    }

    /// Gives a group another name.
    ///
    /// # Errors
    ///
    /// [`GroupError`]; nothing changes then.
    pub async fn rename_group(
        &self,
        caller: &Caller,
        id: GroupId,
        name: &str,
    ) -> Result<GroupView, GroupError> {
        let wanted = details([("name", name.to_owned())]);
        let change =
            async { done(self.backends().groups.rename(caller, id, name).await?, id, name) };
        self.record_group(AuditAction::RenameGroup, id, wanted, change).await?;
        self.group(caller, id).await
    }

    /// Has a member curate a group, or no longer.
    ///
    /// # Errors
    ///
    /// [`GroupError`]; nothing changes then.
    pub async fn set_group_curator(
        &self,
        caller: &Caller,
        id: GroupId,
        user: UserId,
        curator: bool,
    ) -> Result<(), GroupError> {
        let wanted = details([("user", user.to_string()), ("curator", curator.to_string())]);
        let change = async {
            let (groups, now) = (&self.backends().groups, self.backends().clock.now());
            match groups.set_curator(caller, id, user, curator, now).await? {
                GroupChange::NoSuchUser | GroupChange::NoCurator => {
                    Err(GroupError::NoCandidate { group: id, user })
                }
                change => done(change, id, ""),
            }
        };
        self.record_group(AuditAction::SetCurator, id, wanted, change).await
    }

    /// Deletes a group: it is empty at once, and gone when the index does not name it any more.
    ///
    /// # Errors
    ///
    /// [`GroupError`]; nothing changes then.
    pub async fn delete_group(&self, id: GroupId) -> Result<(), GroupError> {
        let change = async {
            let (groups, now) = (&self.backends().groups, self.backends().clock.now());
            let change = groups.begin_removal(id, now, self.sync_job()).await?;
            self.shared.jobs_enqueued.notify_one();
            done(change, id, "")
        };
        self.record_group(AuditAction::DeleteGroup, id, Details::new(), change).await
    }

    /// A page of the groups that `caller` controls, by rising id.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when they cannot be read.
    pub async fn list_groups(
        &self,
        caller: &Caller,
        after: Option<GroupId>,
        limit: u32,
    ) -> Result<Page<GroupView, GroupId>, StoreError> {
        let page = self.backends().groups.list(caller, after, limit).await?;
        Ok(Page { items: self.group_views(caller, page.items).await?, next: page.next })
    }

    /// A page of the names of groups: of all for an administrator, of those that they are in for
    /// others. By rising id.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when they cannot be read.
    pub async fn list_group_names(
        &self,
        caller: &Caller,
        after: Option<GroupId>,
        limit: u32,
    ) -> Result<Page<Group, GroupId>, StoreError> {
        self.backends().groups.names(caller, after, limit).await
    }

    /// A group that `caller` has just changed, and perhaps controls no longer.
    async fn group(&self, caller: &Caller, id: GroupId) -> Result<GroupView, GroupError> {
        let whoever = Caller { role: Role::Admin, ..caller.clone() };
        let found = self.backends().groups.find_controlled(&whoever, id).await?;
        let views = self.group_views(caller, found.into_iter().collect()).await?;
        views.into_iter().next().ok_or(GroupError::NoSuchGroup(id))
    }

    async fn record_group(
        &self,
        action: AuditAction,
        id: GroupId,
        wanted: Details,
        change: impl Future<Output = Result<(GroupId, GroupDelta), GroupError>>,
    ) -> Result<(), GroupError> {
        let subject = Some(format!("group {id}"));
        self.recorded_as(action, subject, wanted, change, told).await.map(drop)
    }

    /// What belongs to groups is looked up for all of them together.
    async fn group_views(
        &self,
        caller: &Caller,
        records: Vec<GroupRecord>,
    ) -> Result<Vec<GroupView>, StoreError> {
        let pairs: BTreeSet<CcPairId> =
            records.iter().flat_map(|record| record.cc_pairs.iter().copied()).collect();
        let pairs = self.visible_pairs(caller, &pairs).await?;
        let sets: BTreeSet<DocumentSetId> =
            records.iter().flat_map(|record| record.document_sets.iter().copied()).collect();
        let sets = self.document_set_views(caller, &sets).await?;
        let agents: BTreeSet<AgentId> =
            records.iter().flat_map(|record| record.agents.iter().copied()).collect();
        let agents = self.agent_views_of(caller, agents).await?;
        let view = |record: GroupRecord| GroupView {
            pairs: record.cc_pairs.iter().filter_map(|id| pairs.get(id).cloned()).collect(),
            document_sets: record
                .document_sets
                .iter()
                .filter_map(|id| sets.get(id).cloned())
                .collect(),
            agents: record.agents.iter().filter_map(|id| agents.get(id).cloned()).collect(),
            record,
        };
        Ok(records.into_iter().map(view).collect())
    }

    /// Those of the agents that `caller` may see.
    async fn agent_views_of(
        &self,
        caller: &Caller,
        ids: BTreeSet<AgentId>,
    ) -> Result<BTreeMap<AgentId, AgentView>, StoreError> {
        let mut views = BTreeMap::new();
        if ids.is_empty() {
            return Ok(views);
        }
        let limit = u32::try_from(ids.len()).unwrap_or(u32::MAX);
        let filter = AgentFilter {
            reach: Reach::Visible,
            deleted: false,
            builtin: true,
            unlisted: true,
            ids: Some(ids),
        };
        let page = self.list_agents(caller, &filter, None, limit).await?;
        views.extend(page.items.into_iter().map(|view| (view.agent.id, view)));
        Ok(views)
    }
}

/// What was asked for, for the audit log.
fn described(contents: &GroupContents) -> Details {
    details([("users", ids(&contents.members)), ("cc_pairs", ids(&contents.cc_pairs))])
}

/// What has changed, for the audit log.
fn told((id, delta): &(GroupId, GroupDelta)) -> Details {
    let GroupDelta { joined, left, shared, unshared, roles } = delta;
    let roles = roles.iter().map(|(user, role)| format!("{user}={role}"));
    let all = details([
        ("group", id.to_string()),
        ("joined", ids(joined)),
        ("left", ids(left)),
        ("shared", ids(shared)),
        ("unshared", ids(unshared)),
        ("roles", ids(roles)),
    ]);
    all.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}

/// What a change came to; `id` and `name` are for the refusal.
fn done(change: GroupChange, id: GroupId, name: &str) -> Result<(GroupId, GroupDelta), GroupError> {
    match change {
        GroupChange::Done(id, delta) => Ok((id, delta)),
        GroupChange::NoSuchGroup => Err(GroupError::NoSuchGroup(id)),
        GroupChange::NameTaken => Err(GroupError::NameTaken(name.to_owned())),
        GroupChange::NoSuchUser | GroupChange::NoCurator => Err(GroupError::NoSuchUser),
        GroupChange::NoSuchPair(pair) => Err(GroupError::NoSuchPair(pair)),
        GroupChange::Syncing => Err(GroupError::Syncing(id)),
        GroupChange::Bound(names) => Err(GroupError::Bound { id, providers: names.join(", ") }),
    }
}
