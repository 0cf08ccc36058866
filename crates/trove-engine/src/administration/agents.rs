//! Agents: who makes, changes and shares which.

mod error;
mod view;

use std::collections::{BTreeMap, BTreeSet};

use trove_domain::access::{Caller, Role};
use trove_domain::agent::{Agent, AgentLabel};
use trove_domain::error::StoreError;
use trove_domain::id::{AgentId, DocumentId, DocumentSetId, GroupId};
use trove_domain::port::{AgentChange, AgentFlags, AgentReference, AgentSharing, AgentWrite};
use trove_domain::tool::Tool;

use crate::Engine;
use crate::language_models::MissingModel;

pub use error::AgentError;
pub use view::AgentView;

/// An agent as an editor sends it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentRequest {
    /// What is to be stored. Document sets and documents that the agent has and the editor may not
    /// see stay, whatever is said here.
    pub write: AgentWrite,
    /// Folders of a source. There are none that could be attached.
    pub hierarchy_nodes: Vec<i32>,
    /// Files of users. There are none that could be attached.
    pub user_files: Vec<String>,
    /// An uploaded picture. There are none.
    pub image: Option<String>,
}

impl Engine {
    pub(super) async fn create_agent_unrecorded(
        &self,
        caller: &Caller,
        request: AgentRequest,
    ) -> Result<AgentView, AgentError> {
        let write = self.checked(caller, None, request).await?;
        let name = write.definition.name.clone();
        let now = self.backends().clock.now();
        let change = self.backends().agents.insert(caller, write, now).await?;
        let id = done(change, Agent::DEFAULT, &name)?;
        self.agent(caller, id).await
    }

    pub(super) async fn update_agent_unrecorded(
        &self,
        caller: &Caller,
        id: AgentId,
        request: AgentRequest,
    ) -> Result<AgentView, AgentError> {
        let agent = self.own_agent(caller, id).await?;
        let write = self.checked(caller, Some(&agent), request).await?;
        let name = write.definition.name.clone();
        let now = self.backends().clock.now();
        let change = self.backends().agents.update(caller, id, write, now).await?;
        done(change, id, &name)?;
        self.agent(caller, id).await
    }

    pub(super) async fn share_agent_unrecorded(
        &self,
        caller: &Caller,
        id: AgentId,
        sharing: AgentSharing,
    ) -> Result<(), AgentError> {
        let agent = self.own_agent(caller, id).await?;
        if agent.featured && sharing.public == Some(false) {
            return Err(AgentError::FeaturedPrivate);
        }
        self.check_groups(caller, Some(&agent), &sharing).await?;
        let now = self.backends().clock.now();
        let change = self.backends().agents.share(caller, id, sharing, now).await?;
        done(change, id, &agent.definition.name).map(drop)
    }

    pub(super) async fn delete_agent_unrecorded(
        &self,
        caller: &Caller,
        id: AgentId,
    ) -> Result<(), AgentError> {
        let agent = self.own_agent(caller, id).await?;
        let own = agent.owner.as_ref().is_some_and(|owner| owner.id == caller.user);
        if !own && caller.role != Role::Admin {
            return Err(AgentError::Forbidden(id));
        }
        let flags = AgentFlags { deleted: Some(true), ..AgentFlags::default() };
        self.switch(caller, &agent, flags).await
    }

    pub(super) async fn restore_agent_unrecorded(
        &self,
        caller: &Caller,
        id: AgentId,
    ) -> Result<(), AgentError> {
        let found = self.backends().agents.find(caller, id, true).await?;
        let seen = found.ok_or(AgentError::NoSuchAgent(id))?;
        if !seen.editable {
            return Err(AgentError::Forbidden(id));
        }
        let flags = AgentFlags { deleted: Some(false), ..AgentFlags::default() };
        self.switch(caller, &seen.agent, flags).await
    }

    pub(super) async fn set_agent_listed_unrecorded(
        &self,
        caller: &Caller,
        id: AgentId,
        listed: bool,
    ) -> Result<(), AgentError> {
        let agent = self.editable_agent(caller, id).await?;
        if agent.builtin && !listed {
            return Err(AgentError::BuiltinListed(id));
        }
        let flags = AgentFlags { listed: Some(listed), ..AgentFlags::default() };
        self.switch(caller, &agent, flags).await
    }

    pub(super) async fn set_agent_featured_unrecorded(
        &self,
        caller: &Caller,
        id: AgentId,
        featured: bool,
    ) -> Result<(), AgentError> {
        let agent = self.editable_agent(caller, id).await?;
        let public = featured.then_some(true);
        let flags = AgentFlags { featured: Some(featured), public, ..AgentFlags::default() };
        self.switch(caller, &agent, flags).await
    }

    pub(super) async fn set_display_priorities_unrecorded(
        &self,
        priorities: &BTreeMap<AgentId, Option<i32>>,
    ) -> Result<(), AgentError> {
        let now = self.backends().clock.now();
        let set = self.backends().agents.set_display_priorities(priorities, now).await?;
        if set { Ok(()) } else { Err(AgentError::NoSuchAgents) }
    }

    /// All labels, by rising id.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when they cannot be read.
    pub async fn agent_labels(&self) -> Result<Vec<AgentLabel>, StoreError> {
        self.backends().agents.labels().await
    }

    /// Makes a label.
    ///
    /// # Errors
    ///
    /// [`AgentError`]; nothing is made then.
    pub async fn create_agent_label(&self, name: &str) -> Result<AgentLabel, AgentError> {
        if let Some(label) = self.backends().agents.insert_label(name).await? {
            return Ok(label);
        }
        let labels = self.backends().agents.labels().await?;
        if labels.iter().any(|label| label.name == name) {
            Err(AgentError::LabelTaken(name.to_owned()))
        } else {
            Err(AgentError::TooManyLabels)
        }
    }

    /// An agent that `caller` may change.
    async fn editable_agent(&self, caller: &Caller, id: AgentId) -> Result<Agent, AgentError> {
        let found = self.backends().agents.find(caller, id, false).await?;
        match found {
            None => Err(AgentError::NoSuchAgent(id)),
            Some(seen) if !seen.editable => Err(AgentError::Forbidden(id)),
            Some(seen) => Ok(seen.agent),
        }
    }

    /// The same, and not one of the system's.
    async fn own_agent(&self, caller: &Caller, id: AgentId) -> Result<Agent, AgentError> {
        let agent = self.editable_agent(caller, id).await?;
        if agent.builtin { Err(AgentError::Builtin(id)) } else { Ok(agent) }
    }

    async fn switch(
        &self,
        caller: &Caller,
        agent: &Agent,
        flags: AgentFlags,
    ) -> Result<(), AgentError> {
        let now = self.backends().clock.now();
        let change = self.backends().agents.set_flags(caller, agent.id, flags, now).await?;
        done(change, agent.id, &agent.definition.name).map(drop)
    }

    /// What is to be stored for a request; `agent` is what it changes.
    async fn checked(
        &self,
        caller: &Caller,
        agent: Option<&Agent>,
        request: AgentRequest,
    ) -> Result<AgentWrite, AgentError> {
        let AgentRequest { mut write, hierarchy_nodes, user_files, image } = request;
        if !hierarchy_nodes.is_empty() {
            return Err(AgentError::nothing("hierarchy_node_ids", "folders"));
        }
        if !user_files.is_empty() {
            return Err(AgentError::nothing("user_file_ids", "files"));
        }
        if image.is_some() {
            return Err(AgentError::nothing("uploaded_image_id", "pictures"));
        }
        if let Some(tool) = write.definition.tools.iter().find(|id| Tool::find(**id).is_none()) {
            return Err(AgentError::unknown("tool_ids", format!("tool {tool}")));
        }
        self.check_featured(caller, agent, &write)?;
        self.check_groups(caller, agent, &write.sharing).await?;
        self.check_model(caller, agent, &write).await?;
        let scope = &mut write.definition.scope;
        if !self.config().vector_db && scope.restricts_knowledge() {
            return Err(AgentError::NeedsVectorDb);
        }
        let present = agent.map(|agent| agent.definition.scope.clone()).unwrap_or_default();
        let hidden = self.hidden_sets(caller, &present.document_sets).await?;
        self.check_sets(caller, &scope.document_sets).await?;
        scope.document_sets.extend(hidden);
        let hidden = self.hidden_documents(caller, &present.documents).await?;
        self.check_documents(caller, &scope.documents).await?;
        scope.documents.extend(hidden);
        Ok(write)
    }

    /// The model must be one that the editor may use with the agent. What the agent has already may
    /// stay: it is passed over when it is not to be had.
    async fn check_model(
        &self,
        caller: &Caller,
        agent: Option<&Agent>,
        write: &AgentWrite,
    ) -> Result<(), AgentError> {
        let wanted = &write.definition.scope.model;
        if agent.is_some_and(|agent| agent.definition.scope.model == *wanted) {
            return Ok(());
        }
        let missing = self.missing_model(caller, agent.map(|agent| agent.id), wanted).await?;
        Err(match missing {
            None => return Ok(()),
            Some(MissingModel::Provider(name)) => {
                AgentError::unknown("llm_model_provider_override", format!("LLM provider {name:?}"))
            }
            Some(MissingModel::Model(name)) => {
                AgentError::unknown("llm_model_version_override", format!("model {name:?}"))
            }
            Some(MissingModel::Configuration(id)) => AgentError::unknown(
                "default_model_configuration_id",
                format!("model configuration {id}"),
            ),
        })
    }

    /// Only administrators feature agents, and only public ones.
    fn check_featured(
        &self,
        caller: &Caller,
        agent: Option<&Agent>,
        write: &AgentWrite,
    ) -> Result<(), AgentError> {
        let was = agent.is_some_and(|agent| agent.featured);
        let featured = write.featured.unwrap_or(was);
        if featured != was && caller.role != Role::Admin {
            return Err(AgentError::FeaturedByAdministrators);
        }
        let public = write.sharing.public.or(agent.map(|agent| agent.public)).unwrap_or(false);
        if featured && !public { Err(AgentError::FeaturedPrivate) } else { Ok(()) }
    }

    /// Who is no administrator shares with its own groups only; those that an agent is shared with
    /// already may stay.
    async fn check_groups(
        &self,
        caller: &Caller,
        agent: Option<&Agent>,
        sharing: &AgentSharing,
    ) -> Result<(), AgentError> {
        let Some(groups) = sharing.groups.as_ref().filter(|groups| !groups.is_empty()) else {
            return Ok(());
        };
        if caller.role == Role::Admin {
            return Ok(());
        }
        let memberships = self.backends().groups.memberships(caller.user).await?;
        let mut allowed: BTreeSet<GroupId> =
            memberships.into_iter().map(|membership| membership.group).collect();
        allowed.extend(agent.into_iter().flat_map(|agent| agent.groups.iter().copied()));
        match groups.difference(&allowed).next() {
            Some(group) => Err(AgentError::unknown("groups", format!("group {group}"))),
            None => Ok(()),
        }
    }

    async fn check_sets(
        &self,
        caller: &Caller,
        ids: &BTreeSet<DocumentSetId>,
    ) -> Result<(), AgentError> {
        let seen = self.document_set_views(caller, ids).await?;
        match ids.iter().find(|id| !seen.contains_key(id)) {
            Some(id) => Err(AgentError::unknown("document_set_ids", format!("document set {id}"))),
            None => Ok(()),
        }
    }

    /// Those that `caller` may not see. The store drops those among them that are gone.
    async fn hidden_sets(
        &self,
        caller: &Caller,
        ids: &BTreeSet<DocumentSetId>,
    ) -> Result<Vec<DocumentSetId>, AgentError> {
        let seen = self.document_set_views(caller, ids).await?;
        Ok(ids.iter().filter(|id| !seen.contains_key(id)).copied().collect())
    }

    async fn check_documents(
        &self,
        caller: &Caller,
        ids: &BTreeSet<DocumentId>,
    ) -> Result<(), AgentError> {
        let (readable, _) = self.attached_documents(caller, ids).await?;
        match ids.iter().find(|id| !readable.contains_key(*id)) {
            // The id is what somebody sent, and may be long.
            Some(id) => {
                let id: String = id.as_str().chars().take(200).collect();
                Err(AgentError::unknown("document_ids", format!("document {id}")))
            }
            None => Ok(()),
        }
    }

    /// Those that are there and that `caller` may not read.
    async fn hidden_documents(
        &self,
        caller: &Caller,
        ids: &BTreeSet<DocumentId>,
    ) -> Result<Vec<DocumentId>, AgentError> {
        Ok(self.attached_documents(caller, ids).await?.1)
    }
}

/// What a change came to; `id` and `name` are for the refusal.
fn done(change: AgentChange, id: AgentId, name: &str) -> Result<AgentId, AgentError> {
    match change {
        AgentChange::Done(id) => Ok(id),
        AgentChange::NoSuchAgent => Err(AgentError::NoSuchAgent(id)),
        AgentChange::NameTaken => Err(AgentError::NameTaken(name.to_owned())),
        AgentChange::Unknown(AgentReference::User) => {
            Err(AgentError::unknown("users", "one of the users".to_owned()))
        }
        AgentChange::Unknown(AgentReference::Group) => {
            Err(AgentError::unknown("groups", "one of the groups".to_owned()))
        }
        AgentChange::Unknown(AgentReference::Label) => {
            Err(AgentError::unknown("label_ids", "one of the labels".to_owned()))
        }
    }
}
