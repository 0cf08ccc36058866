//! Deletes pairs with their documents.

use trove_domain::access::Caller;
use trove_domain::audit::AuditAction;
use trove_domain::error::StoreError;
use trove_domain::id::{ConnectorId, CredentialId};
use trove_domain::port::TaskEnd;

use super::tally::with_causes;
use super::tasks::{Ended, Work};
use crate::Engine;
use crate::administration::PairError;
use crate::audit::details;

impl Engine {
    /// Begins to delete the pair of a connector and a credential: nothing is indexed for it any
    /// more, it gives nobody access, and its documents go in the background, then the pair itself,
    /// and the connector with its last pair.
    ///
    /// Asking again is fine, and tries again at once what has failed.
    ///
    /// # Errors
    ///
    /// [`PairError`]; nothing changes then. A pair that the caller may not change is like none.
    pub async fn delete_pair(
        &self,
        caller: &Caller,
        connector: ConnectorId,
        credential: CredentialId,
    ) -> Result<(), PairError> {
        let delete = async {
            let backends = self.backends();
            let gone = PairError::Gone { connector, credential };
            let Some(pair) = backends.cc_pairs.get_by_parts(connector, credential).await? else {
                return Err(gone);
            };
            match self.require_editable_pair(caller, pair.id).await {
                Err(PairError::NoSuchPair(_) | PairError::Forbidden(_)) => return Err(gone),
                other => other?,
            }
            let (now, job) = (backends.clock.now(), self.sync_job());
            let begun = backends.tasks.begin_deletion(pair.id, now, job).await?;
            // Who reads them through it alone stops at once, however long taking them away takes.
            self.shared.jobs_enqueued.notify_one();
            self.shared.runs_wanted.notify_one();
            begun.map_err(|refusal| match PairError::of(refusal, pair.id) {
                PairError::NoSuchPair(_) => gone,
                other => other,
            })
        };
        let subject = format!("connector {connector}");
        let wanted = details([("credential", credential.to_string())]);
        self.recorded(AuditAction::RemovePair, subject, wanted, delete).await
    }
}

impl Work<'_> {
    /// Takes every document from the pair, then the pair away.
    pub(super) async fn delete(&mut self) -> Result<Ended, StoreError> {
        let backends = self.engine.backends();
        loop {
            let page = backends.tasks.to_unlink(self.claimed, None, self.page()).await?;
            if !page.is_empty() {
                if let Some(ended) = self.take_away(&page).await? {
                    return Ok(ended);
                }
                if self.is_over() {
                    return Ok(Ended::Yielded);
                }
                continue;
            }
            // Nobody can have stored any where there is no place for them.
            let files = match &backends.files {
                Some(_) => backends.tasks.files_to_remove(self.pair()).await?,
                None => Vec::new(),
            };
            for (file, store) in files.iter().zip(backends.files.iter().cycle()) {
                if let Err(error) = self.beside_heartbeats(store.remove(file)).await? {
                    return Ok(Ended::Failed { told: with_causes(&error), after: None });
                }
            }
            match backends.tasks.finish(self.claimed, &files, self.now()).await? {
                TaskEnd::Done => return Ok(Ended::Done),
                TaskEnd::Lost => return Ok(Ended::Lost),
                // Something was on its way when the deletion began.
                TaskEnd::Unfinished => {}
            }
        }
    }
}
