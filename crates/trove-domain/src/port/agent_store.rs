use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::access::Caller;
use crate::agent::{Agent, AgentDefinition, AgentLabel, RetrievalScope};
use crate::error::StoreError;
use crate::id::{AgentId, GroupId, LabelId, UserId};
use crate::page::{NumberedPage, Page};
use crate::port::Reach;

/// Who else sees an agent; `None` keeps what is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentSharing {
    /// Visible to everybody.
    pub public: Option<bool>,
    /// Users it is shared with.
    pub users: Option<BTreeSet<UserId>>,
    /// Groups it is shared with.
    pub groups: Option<BTreeSet<GroupId>>,
}

/// Everything an editor says of an agent, in one step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentWrite {
    /// Replaces what was there.
    pub definition: AgentDefinition,
    /// Who else sees it.
    pub sharing: AgentSharing,
    /// Labels; `None` keeps what is.
    pub labels: Option<BTreeSet<LabelId>>,
    /// Whether user interfaces show it first; `None` keeps what is.
    pub featured: Option<bool>,
    /// Place in lists; `None` keeps what is.
    pub display_priority: Option<i32>,
}

/// Switches of an agent; `None` keeps what is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgentFlags {
    /// Whether lists show it.
    pub listed: Option<bool>,
    /// Whether user interfaces show it first.
    pub featured: Option<bool>,
    /// Visible to everybody.
    pub public: Option<bool>,
    /// Out of use.
    pub deleted: Option<bool>,
}

/// What became of a change to an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentChange {
    /// It is done.
    Done(AgentId),
    /// There is no such agent that the caller may change; nothing changed.
    NoSuchAgent,
    /// Another agent that the caller sees has the name; nothing changed.
    NameTaken,
    /// Something that the change names does not exist; nothing changed.
    Unknown(AgentReference),
}

/// What an agent can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentReference {
    /// A user it is shared with.
    User,
    /// A group it is shared with.
    Group,
    /// A label.
    Label,
}

/// Which agents a list holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentFilter {
    /// Those that the caller sees, or those that it may change.
    pub reach: Reach,
    /// Deleted ones that the caller may change, too.
    pub deleted: bool,
    /// Built-in ones, too.
    pub builtin: bool,
    /// Those, too, that are not listed and that the caller sees only because they are public.
    pub unlisted: bool,
    /// None but these; `None` for all.
    pub ids: Option<BTreeSet<AgentId>>,
}

/// Where an agent stands in a list: by display priority, those without one last, then by id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentPlace {
    /// Its display priority.
    pub display_priority: Option<i32>,
    /// Its key.
    pub id: AgentId,
}

/// An agent as a caller sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenAgent {
    /// The agent.
    pub agent: Agent,
    /// Whether the caller may change it.
    pub editable: bool,
}

/// Agents.
///
/// # Contract
///
/// The default agent ([`Agent::DEFAULT`]: built in, public, listed, without restrictions) always
/// exists and is never deleted. Whatever a caller may not see is answered like what does not exist. Document
/// sets that are gone by the time an agent is written are left out of it.
#[async_trait]
pub trait AgentStore: Send + Sync + 'static {
    /// Adds an agent that belongs to the caller. It is listed.
    async fn insert(
        &self,
        caller: &Caller,
        agent: AgentWrite,
        now: DateTime<Utc>,
    ) -> Result<AgentChange, StoreError>;

    /// Replaces what an editor writes of an agent that the caller may change. Neither built-in nor
    /// deleted ones.
    async fn update(
        &self,
        caller: &Caller,
        id: AgentId,
        agent: AgentWrite,
        now: DateTime<Utc>,
    ) -> Result<AgentChange, StoreError>;

    /// Changes who sees an agent that the caller may change. Neither built-in nor deleted ones.
    async fn share(
        &self,
        caller: &Caller,
        id: AgentId,
        sharing: AgentSharing,
        now: DateTime<Utc>,
    ) -> Result<AgentChange, StoreError>;

    /// Switches an agent that the caller may change; deleted ones only to bring them back, built-in
    /// ones neither deleted nor made private nor left out of lists.
    async fn set_flags(
        &self,
        caller: &Caller,
        id: AgentId,
        flags: AgentFlags,
        now: DateTime<Utc>,
    ) -> Result<AgentChange, StoreError>;

    /// Changes the places of agents in lists, `None` for none, in one step; `false` when one of
    /// them does not exist, and nothing changes. Deleted ones do.
    async fn set_display_priorities(
        &self,
        priorities: &BTreeMap<AgentId, Option<i32>>,
        now: DateTime<Utc>,
    ) -> Result<bool, StoreError>;

    /// The agent, as the caller sees it; `None` when it does not exist, the caller does not see it,
    /// or it is deleted, unless deleted ones are asked for.
    async fn find(
        &self,
        caller: &Caller,
        id: AgentId,
        deleted: bool,
    ) -> Result<Option<SeenAgent>, StoreError>;

    /// Agents, in the order of their places; at most `limit` after `after`.
    async fn list(
        &self,
        caller: &Caller,
        filter: &AgentFilter,
        after: Option<AgentPlace>,
        limit: u32,
    ) -> Result<Page<SeenAgent, AgentPlace>, StoreError>;

    /// The same list from its `offset`th agent on, with how many there are.
    async fn list_numbered(
        &self,
        caller: &Caller,
        filter: &AgentFilter,
        offset: u64,
        limit: u32,
    ) -> Result<NumberedPage<SeenAgent>, StoreError>;

    /// What an agent does to a search; `None` when it does not exist, is deleted, or the caller
    /// does not see it.
    async fn retrieval_scope(
        &self,
        caller: &Caller,
        id: AgentId,
    ) -> Result<Option<RetrievalScope>, StoreError>;

    /// Those of the agents that exist and are not deleted, whoever sees them.
    async fn existing(&self, ids: &BTreeSet<AgentId>) -> Result<BTreeSet<AgentId>, StoreError>;

    /// All labels, by rising id; at most [`Agent::LABELS_MAX`].
    async fn labels(&self) -> Result<Vec<AgentLabel>, StoreError>;

    /// Adds a label; `None` when the name is taken, or there are as many labels as there may be.
    async fn insert_label(&self, name: &str) -> Result<Option<AgentLabel>, StoreError>;
}
