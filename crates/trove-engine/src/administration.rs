//! What administrators do: the first administrator, API keys, access of pairs, document sets,
//! providers of language models; and agents, which everybody makes.

mod agents;
mod api_keys;
mod connectors;
pub mod credentials;
mod curators;
mod document_sets;
mod documents;
mod groups;
mod key_name;
pub mod llm_providers;
mod pairs;
mod recorded;
mod runs;
mod statuses;
mod token_limits;

use trove_domain::audit::AuditAction;
use trove_domain::error::StoreError;
use trove_domain::id::CcPairId;
use trove_domain::port::AccessChange;

use crate::Engine;
use crate::audit::{Details, details, ids};

pub use agents::{AgentError, AgentRequest, AgentView};
pub use api_keys::{
    FIRST_ADMIN_EMAIL, IssueKeyError, IssuedKey, ServiceKeyError, ServiceKeyRequest,
};
pub use connectors::{ConnectorError, ConnectorRequest};
pub use curators::CuratorError;
pub use document_sets::{DocumentSetError, DocumentSetUpdate, DocumentSetView};
pub use documents::FlagError;
pub use groups::{GroupError, GroupView};
pub use key_name::{InvalidKeyName, KEY_NAME_CHARS_MAX, check_key_name, is_printable};
pub use pairs::{PairError, PairRequest, PairView};
pub use runs::{FailingPair, PairProgress, RunError, RunView};
pub use statuses::{Comparison, LastRunView, PairStatusView, SourceStatusView, StatusFilter};
pub use token_limits::{SpentBudget, TokenBudgetError, TokenLimitError};

impl Engine {
    /// Removes a pair, and the documents that no other pair holds; `false` when there is no such
    /// pair, or it is the default one.
    ///
    /// The registry knows at once, and the index follows in the background;
    /// [`Engine::sync_documents`] waits for it.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; nothing changes then.
    pub async fn remove_pair(&self, pair: CcPairId) -> Result<bool, StoreError> {
        let backends = self.backends();
        let remove = async {
            let now = backends.clock.now();
            let removed = backends.cc_pairs.remove(pair, now, self.sync_job()).await?;
            self.shared.jobs_enqueued.notify_one();
            Ok(removed)
        };
        let subject = format!("cc_pair {pair}");
        self.recorded(AuditAction::RemovePair, subject, Details::new(), remove).await
    }

    /// Changes who may read the documents of a pair; `false` when there is no such pair.
    ///
    /// The registry knows at once. The index follows in the background, without embedding anything
    /// again; [`Engine::sync_documents`] waits for it.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; nothing changes then.
    pub async fn set_pair_access(
        &self,
        pair: CcPairId,
        change: AccessChange,
    ) -> Result<bool, StoreError> {
        let backends = self.backends();
        let (access, groups) = (change.access_type.as_str(), ids(&change.groups));
        let wanted = details([("access_type", access.to_owned()), ("groups", groups)]);
        let set = async {
            let now = backends.clock.now();
            let changed = backends.cc_pairs.set_access(pair, change, now, self.sync_job()).await?;
            self.shared.jobs_enqueued.notify_one();
            Ok(changed)
        };
        let subject = format!("cc_pair {pair}");
        self.recorded(AuditAction::SetPairAccess, subject, wanted, set).await
    }
}
