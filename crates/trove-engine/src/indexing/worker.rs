//! Works on whatever runs there are, in one process.

use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;
use trove_domain::error::StoreError;

use super::running::Running;
use crate::{Engine, log};

/// How often the worker looks for runs that are due, or that others have begun.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

impl Engine {
    /// Begins the runs that are due and works on all that wait, some of them at the same time, until
    /// `stop`. Runs that are under way then are given back.
    pub async fn run_indexing(&self, stop: &CancellationToken) {
        let mut runs = Running::default();
        let mut poll = interval(POLL_INTERVAL);
        poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                Some(()) = runs.ended() => {}
                () = self.shared.runs_wanted.notified() => {}
                _ = poll.tick() => {}
            }
            if let Err(error) = self.fill(&mut runs, stop).await {
                log::warn(&error, "runs of indexing could not be looked for; trying again");
            }
        }
        while runs.ended().await.is_some() {}
    }

    /// Has something done wherever there is room.
    async fn fill(&self, runs: &mut Running, stop: &CancellationToken) -> Result<(), StoreError> {
        self.begin_due_runs().await?;
        let config = self.config().indexing;
        while runs.len() < config.runs_max {
            let (now, busy) = (self.backends().clock.now(), runs.busy(config.runs_per_source_max));
            let claimed = self.backends().attempts.claim(now, config.lease, 1, &busy).await?;
            let Some(claimed) = claimed.into_iter().next() else { break };
            let (engine, stop, source) = (self.clone(), stop.clone(), claimed.source);
            runs.add(source, async move {
                if let Err(error) = engine.work_on_run(&claimed, &stop).await {
                    log::warn(&error, "a run of indexing could not be recorded; it goes on later");
                }
            });
        }
        Ok(())
    }
}
