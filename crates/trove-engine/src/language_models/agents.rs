//! Which agents there are, as far as providers want to know.

use std::collections::BTreeSet;

use trove_domain::access::Caller;
use trove_domain::error::StoreError;
use trove_domain::id::AgentId;

use crate::Engine;

/// The agent that every deployment has, and the only one so far.
const DEFAULT_AGENT: AgentId = AgentId(0);

impl Engine {
    /// Those of `agents` that there are and that the caller may talk to.
    ///
    /// The one place where providers look at agents.
    #[expect(clippy::unused_async, reason = "agents will come from a store")]
    pub(crate) async fn agents_of(
        &self,
        _caller: &Caller,
        agents: &BTreeSet<AgentId>,
    ) -> Result<BTreeSet<AgentId>, StoreError> {
        Ok(agents.iter().copied().filter(|agent| *agent == DEFAULT_AGENT).collect())
    }
}
