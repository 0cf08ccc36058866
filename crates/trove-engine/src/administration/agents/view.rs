//! What a caller sees of agents: no set, document or pair that it may not see otherwise.

use std::collections::{BTreeMap, BTreeSet};

use trove_domain::access::Caller;
use trove_domain::agent::Agent;
use trove_domain::error::StoreError;
use trove_domain::id::{AgentId, DocumentId, DocumentSetId};
use trove_domain::page::{NumberedPage, Page};
use trove_domain::port::{AgentFilter, AgentPlace, DocumentRecord, SeenAgent};

use super::AgentError;
use crate::Engine;
use crate::administration::DocumentSetView;

/// An agent as a caller sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentView {
    /// The agent. Its scope is complete; what may be shown of it is beside it.
    pub agent: Agent,
    /// Whether the caller may change it.
    pub editable: bool,
    /// Those of its document sets that the caller may see, by rising id.
    pub document_sets: Vec<DocumentSetView>,
    /// Those of its documents that the caller may read, by rising id.
    pub documents: Vec<DocumentRecord>,
}

impl Engine {
    /// An agent that `caller` may see.
    ///
    /// # Errors
    ///
    /// [`AgentError::NoSuchAgent`], also when it is deleted or the caller may not see it.
    pub async fn agent(&self, caller: &Caller, id: AgentId) -> Result<AgentView, AgentError> {
        let found = self.backends().agents.find(caller, id, false).await?;
        let seen = found.ok_or(AgentError::NoSuchAgent(id))?;
        let views = self.agent_views(caller, vec![seen]).await?;
        views.into_iter().next().ok_or(AgentError::NoSuchAgent(id))
    }

    /// A page of agents, in the order of their places.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when they cannot be read.
    pub async fn list_agents(
        &self,
        caller: &Caller,
        filter: &AgentFilter,
        after: Option<AgentPlace>,
        limit: u32,
    ) -> Result<Page<AgentView, AgentPlace>, StoreError> {
        let page = self.backends().agents.list(caller, filter, after, limit).await?;
        Ok(Page { items: self.agent_views(caller, page.items).await?, next: page.next })
    }

    /// The same list from its `offset`th agent on.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when they cannot be read.
    pub async fn list_agents_numbered(
        &self,
        caller: &Caller,
        filter: &AgentFilter,
        offset: u64,
        limit: u32,
    ) -> Result<NumberedPage<AgentView>, StoreError> {
        let page = self.backends().agents.list_numbered(caller, filter, offset, limit).await?;
        let items = self.agent_views(caller, page.items).await?;
        Ok(NumberedPage { items, total: page.total })
    }

    async fn agent_views(
        &self,
        caller: &Caller,
        agents: Vec<SeenAgent>,
    ) -> Result<Vec<AgentView>, StoreError> {
        let scopes = || agents.iter().map(|seen| &seen.agent.definition.scope);
        let sets: BTreeSet<DocumentSetId> =
            scopes().flat_map(|scope| scope.document_sets.iter().copied()).collect();
        let sets = self.document_set_views(caller, &sets).await?;
        let documents: BTreeSet<DocumentId> =
            scopes().flat_map(|scope| scope.documents.iter().cloned()).collect();
        let (documents, _) = self.attached_documents(caller, &documents).await?;
        let view = |seen: SeenAgent| {
            let scope = &seen.agent.definition.scope;
            let own_sets = scope.document_sets.iter().filter_map(|id| sets.get(id).cloned());
            let own = scope.documents.iter().filter_map(|id| documents.get(id).cloned());
            let (document_sets, documents) = (own_sets.collect(), own.collect());
            let mut agent = seen.agent;
            if caller.is_anonymous() {
                // The world learns no address of anybody here.
                agent.owner = None;
            }
            AgentView { document_sets, documents, editable: seen.editable, agent }
        };
        Ok(agents.into_iter().map(view).collect())
    }

    /// Those of the documents that `caller` may read, and the keys of the others that are there.
    pub(super) async fn attached_documents(
        &self,
        caller: &Caller,
        ids: &BTreeSet<DocumentId>,
    ) -> Result<(BTreeMap<DocumentId, DocumentRecord>, Vec<DocumentId>), StoreError> {
        let (mut readable, mut hidden) = (BTreeMap::new(), Vec::new());
        if ids.is_empty() {
            return Ok((readable, hidden));
        }
        let ids: Vec<DocumentId> = ids.iter().cloned().collect();
        let scope = self.backends().access.scope_for(caller).await?;
        let attributes = self.backends().documents.attributes(&ids).await?;
        let records = self.backends().documents.get(&ids).await?;
        for ((id, attributes), record) in ids.into_iter().zip(attributes).zip(records) {
            let (Some(known), Some(record)) = (attributes, record) else { continue };
            let attributes = known.attributes;
            if attributes.access.is_readable_in(&scope) && !attributes.hidden {
                readable.insert(id, record);
            } else {
                hidden.push(id);
            }
        }
        Ok((readable, hidden))
    }
}
