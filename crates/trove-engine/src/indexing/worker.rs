//! Works on whatever runs there are, in one process.

use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;
use trove_domain::error::StoreError;

use super::LEASE;
use crate::{Engine, log};

/// How often the worker looks for runs that are due, or that others have begun.
pub(super) const POLL_INTERVAL: Duration = Duration::from_secs(1);

impl Engine {
    /// Begins the runs that are due and works on all that wait, some of them at the same time, and
    /// fetches permissions where they are due, until `stop`. What is under way then is given back.
    pub async fn run_indexing(&self, stop: &CancellationToken) {
        tokio::join!(self.run_attempts(stop), self.run_permission_syncs(stop));
    }

    async fn run_attempts(&self, stop: &CancellationToken) {
        let mut tasks: JoinSet<()> = JoinSet::new();
        let mut poll = interval(POLL_INTERVAL);
        poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                Some(_) = tasks.join_next() => {}
                () = self.shared.runs_wanted.notified() => {}
                _ = poll.tick() => {}
            }
            if let Err(error) = self.fill(&mut tasks, stop).await {
                log::warn(&error, "runs of indexing could not be looked for; trying again");
            }
        }
        while tasks.join_next().await.is_some() {}
    }

    /// Has something done wherever there is room.
    async fn fill(
        &self,
        tasks: &mut JoinSet<()>,
        stop: &CancellationToken,
    ) -> Result<(), StoreError> {
        self.begin_due_runs().await?;
        let room = self.config().indexing.runs_max.saturating_sub(tasks.len());
        let room = u32::try_from(room).unwrap_or(u32::MAX);
        if room == 0 {
            return Ok(());
        }
        let now = self.backends().clock.now();
        for claimed in self.backends().attempts.claim(now, LEASE, room).await? {
            let (engine, stop) = (self.clone(), stop.clone());
            tasks.spawn(async move {
                if let Err(error) = engine.work_on_run(&claimed, &stop).await {
                    log::warn(&error, "a run of indexing could not be recorded; it goes on later");
                }
            });
        }
        Ok(())
    }
}
