//! What an agent adds to a search.

use std::sync::Arc;

use trove_domain::access::Caller;
use trove_domain::agent::RetrievalScope;
use trove_domain::id::AgentId;
use trove_domain::port::LanguageModel;
use trove_domain::query::Knowledge;

use super::{ModelChoice, SearchError};
use crate::Engine;

impl Engine {
    /// What the agent `id` does to a search, when there is one and the caller sees it.
    pub(super) async fn agent_scope(
        &self,
        caller: &Caller,
        id: Option<i32>,
    ) -> Result<RetrievalScope, SearchError> {
        let Some(id) = id else { return Ok(RetrievalScope::default()) };
        let scope = self.backends().agents.retrieval_scope(caller, AgentId(id)).await?;
        scope.ok_or(SearchError::Agent { id })
    }

    /// The model that helps with a search: the one that is asked for, or the deployment's.
    pub(super) fn helping_model(
        &self,
        _caller: &Caller,
        choice: Option<&ModelChoice>,
    ) -> Result<Option<Arc<dyn LanguageModel>>, SearchError> {
        match choice {
            None => Ok(self.backends().language_model.clone()),
            Some(choice) => Err(SearchError::Provider { name: choice.provider.clone() }),
        }
    }
}

/// The documents that the agent knows; `None` for all.
pub(super) fn knowledge(agent: &RetrievalScope) -> Option<Knowledge> {
    agent.restricts_knowledge().then(|| Knowledge {
        document_sets: agent.document_sets.iter().copied().collect(),
        documents: agent.documents.iter().cloned().collect(),
    })
}
