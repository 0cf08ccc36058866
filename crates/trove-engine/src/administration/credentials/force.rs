//! Deletes credentials that pairs are read with.

use trove_domain::access::Caller;
use trove_domain::audit::AuditAction;
use trove_domain::id::{CcPairId, CredentialId};
use trove_domain::port::PairRefusal;

use crate::Engine;
use crate::administration::PairError;
use crate::audit::Details;

/// Connectors that are read at a time.
const PAGE: u32 = 100;

impl Engine {
    /// Deletes a credential that `caller` may change, with the pairs that are read with it, all of
    /// which the caller may change; documents that no other pair holds are removed.
    ///
    /// # Errors
    ///
    /// [`PairError`]; nothing is deleted when the caller may not.
    pub async fn force_delete_credential(
        &self,
        caller: &Caller,
        id: CredentialId,
    ) -> Result<(), PairError> {
        let delete = async {
            self.deletable_credential(caller, id).await?;
            let (store, connectors) = (&self.backends().cc_pairs, &self.backends().connectors);
            let mut read = Vec::new();
            let mut after = None;
            loop {
                let page = connectors.list(Some(id), after, PAGE).await?;
                let Some(last) = page.last() else { break };
                after = Some(last.id);
                read.extend(page.into_iter().map(|connector| connector.id));
            }
            for connector in &read {
                if let Some(pair) = store.get_by_parts(*connector, id).await? {
                    self.require_editable_pair(caller, pair.id).await?;
                }
            }
            for connector in read {
                let (now, job) = (self.backends().clock.now(), self.sync_job());
                match store.dissociate(connector, id, now, job).await? {
                    Ok(_) | Err(PairRefusal::Missing) => {}
                    Err(refusal) => return Err(PairError::of(refusal, CcPairId(0))),
                }
                self.shared.jobs_enqueued.notify_one();
            }
            Ok(self.remove_credential(id).await?)
        };
        let subject = format!("credential {id}");
        self.recorded(AuditAction::DeleteCredential, subject, Details::new(), delete).await
    }
}
