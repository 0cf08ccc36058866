//! What an agent adds to a search.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use trove_domain::access::Caller;
use trove_domain::port::LanguageModel;
use trove_domain::query::Knowledge;

use super::{ModelChoice, SearchError};
use crate::Engine;

/// The agent that everybody has and that restricts nothing.
const DEFAULT_AGENT: i32 = 0;

/// What an agent restricts a search to, on top of what the caller asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct AgentScope {
    /// What it knows; everything when absent.
    pub knowledge: Option<Knowledge>,
    /// It knows nothing older.
    pub since: Option<DateTime<Utc>>,
}

impl Engine {
    /// The scope of the agent `id`, when there is one and the caller may see it.
    pub(super) fn agent_scope(
        &self,
        _caller: &Caller,
        id: Option<i32>,
    ) -> Result<AgentScope, SearchError> {
        match id {
            None | Some(DEFAULT_AGENT) => Ok(AgentScope::default()),
            Some(id) => Err(SearchError::Agent { id }),
        }
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
