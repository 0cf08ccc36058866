//! Takes from pairs what their sources no longer have.

use chrono::{DateTime, Utc};
use trove_domain::access::Caller;
use trove_domain::audit::AuditAction;
use trove_domain::error::StoreError;
use trove_domain::id::CcPairId;
use trove_domain::port::{CHECKPOINT_BYTES_MAX, TaskEnd};

use super::tasks::{Ended, Work};
use crate::Engine;
use crate::administration::PairError;
use crate::audit::details;

/// Pairs that are looked at at a time.
const PAIRS: u32 = 500;

impl Engine {
    /// Begins every pruning that is due; answers how many. Safe beside itself, in this process and
    /// in others.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; the prunings that have begun go on.
    pub async fn begin_due_prunes(&self) -> Result<u64, StoreError> {
        let tasks = &self.backends().tasks;
        let (mut begun, mut after) = (0, None);
        loop {
            let page = tasks.prune_schedules(after, PAIRS).await?;
            let Some((last, _)) = page.last() else { return Ok(begun) };
            after = Some(*last);
            for (pair, schedule) in page {
                let now = self.backends().clock.now();
                if schedule.is_due(now) && tasks.begin_prune(pair, &schedule, now).await? {
                    tracing::info!(%pair, "a pruning begins");
                    begun += 1;
                }
            }
        }
    }

    /// Asks for a pruning of a pair, after the one that is under way, for whoever has made its
    /// source smaller. It begins when the pair is active and no run of it is under way.
    ///
    /// # Errors
    ///
    /// [`PairError`]; nothing is asked for then.
    pub async fn request_prune(&self, pair: CcPairId) -> Result<(), PairError> {
        self.request_prune_of(pair, true).await
    }

    /// Asks for a pruning of a pair that `caller` may change.
    ///
    /// # Errors
    ///
    /// [`PairError`]; nothing is asked for then. [`PairError::Pruning`] when one is under way.
    pub async fn prune_pair(&self, caller: &Caller, pair: CcPairId) -> Result<(), PairError> {
        let ask = async {
            self.require_editable_pair(caller, pair).await?;
            self.request_prune_of(pair, false).await
        };
        let wanted = details([("prune", true.to_string())]);
        self.recorded(AuditAction::ChangePair, format!("cc_pair {pair}"), wanted, ask).await
    }

    async fn request_prune_of(&self, pair: CcPairId, anew: bool) -> Result<(), PairError> {
        let asked = self.backends().tasks.request_prune(pair, anew).await?;
        self.shared.runs_wanted.notify_one();
        asked.map_err(|refusal| PairError::of(refusal, pair))
    }

    /// When a pair that `caller` may see was last pruned.
    ///
    /// # Errors
    ///
    /// [`PairError`]; a pair that the caller may not see is like none.
    pub async fn last_pruned(
        &self,
        caller: &Caller,
        pair: CcPairId,
    ) -> Result<Option<DateTime<Utc>>, PairError> {
        let seen = self.backends().cc_pairs.find_seen(caller, pair).await?;
        Ok(seen.ok_or(PairError::NoSuchPair(pair))?.last_pruned_at)
    }
}

impl Work<'_> {
    /// Lists the source to its end, and takes away what is missing then. Whatever fails before,
    /// nothing was taken away.
    pub(super) async fn prune(&mut self) -> Result<Ended, StoreError> {
        if !self.claimed.listed
            && let Some(ended) = self.list().await?
        {
            return Ok(ended);
        }
        let tasks = &self.engine.backends().tasks;
        let mut after = None;
        loop {
            let page = tasks.to_unlink(self.claimed, after.as_ref(), self.page()).await?;
            let Some(last) = page.last().cloned() else { break };
            if let Some(ended) = self.take_away(&page).await? {
                return Ok(ended);
            }
            if self.is_over() {
                return Ok(Ended::Yielded);
            }
            after = Some(last);
        }
        Ok(match tasks.finish(self.claimed, &[], self.now()).await? {
            TaskEnd::Done => Ended::Done,
            TaskEnd::Lost | TaskEnd::Unfinished => Ended::Lost,
        })
    }

    /// Has the source list what there is; why the work ends, if it does before everything was
    /// listed.
    async fn list(&mut self) -> Result<Option<Ended>, StoreError> {
        let (engine, claimed) = (self.engine, self.claimed);
        let source = match self.ask(engine.open_pair(self.pair())).await? {
            Ok(source) => source,
            Err(ended) => return Ok(Some(ended)),
        };
        let mut checkpoint = claimed.checkpoint.clone();
        loop {
            let step = match self.ask(source.list(checkpoint.as_ref())).await? {
                Ok(step) => step,
                Err(ended) => return Ok(Some(ended)),
            };
            let size = step.next.as_ref().map_or(0, |next| next.0.to_string().len());
            if size > CHECKPOINT_BYTES_MAX {
                let told =
                    format!("the source keeps {size} bytes to go on with, more than is kept");
                return Ok(Some(Ended::Failed { told, after: None }));
            }
            let tasks = &engine.backends().tasks;
            if !tasks.record_listing(claimed, &step, self.now(), self.lease()).await? {
                return Ok(Some(Ended::Lost));
            }
            self.tries = 0;
            checkpoint = step.next;
            if checkpoint.is_none() {
                return Ok(None);
            }
            if self.is_over() {
                return Ok(Some(Ended::Yielded));
            }
        }
    }
}
