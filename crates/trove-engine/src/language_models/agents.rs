//! Which agents there are, as far as providers want to know.

use std::collections::BTreeSet;

use trove_domain::access::{Caller, Role};
use trove_domain::error::StoreError;
use trove_domain::id::AgentId;

use crate::Engine;

impl Engine {
    /// Those of `agents` that there are and that the caller may talk to.
    ///
    /// The one place where providers look at agents.
    pub(crate) async fn agents_of(
        &self,
        caller: &Caller,
        agents: &BTreeSet<AgentId>,
    ) -> Result<BTreeSet<AgentId>, StoreError> {
        let store = &self.backends().agents;
        let existing = store.existing(agents).await?;
        if caller.role == Role::Admin {
            return Ok(existing);
        }
        // Whoever is no administrator asks for one.
        let mut seen = BTreeSet::new();
        for agent in existing {
            if store.retrieval_scope(caller, agent).await?.is_some() {
                seen.insert(agent);
            }
        }
        Ok(seen)
    }
}
