//! What an agent adds to a search.

use std::sync::Arc;

use trove_domain::access::Caller;
use trove_domain::agent::RetrievalScope;
use trove_domain::id::AgentId;
use trove_domain::port::LanguageModel;
use trove_domain::query::Knowledge;

use super::SearchError;
use crate::language_models::{AgentModel, ModelChoice};
use crate::{Engine, log};

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

    /// The model that helps with a search, see [`Engine::language_model`]. One that nobody asked
    /// for by name and that is not to be had is done without.
    pub(super) async fn helping_model(
        &self,
        caller: &Caller,
        agent: Option<(i32, &RetrievalScope)>,
        choice: Option<&ModelChoice>,
    ) -> Result<Option<Arc<dyn LanguageModel>>, SearchError> {
        let agent = agent.map(|(id, scope)| AgentModel {
            agent: AgentId(id),
            provider: scope.model.provider.clone(),
            model: scope.model.model.clone(),
        });
        match self.language_model(caller, agent.as_ref(), choice).await {
            Ok(model) => Ok(model),
            Err(error) if choice.is_some() => Err(error.into()),
            Err(error) => {
                log::warn(&error, "no language model helps with a search");
                Ok(None)
            }
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
