//! Works on whatever runs there are, in one process.

use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;
use trove_domain::error::StoreError;

use super::TASKS_MAX;
use super::running::Running;
use crate::{Engine, log};

/// How often the worker looks for runs that are due, or that others have begun.
pub(super) const POLL_INTERVAL: Duration = Duration::from_secs(1);

impl Engine {
    /// Begins the runs and prunings that are due and works on all that wait, and on deletions, some
    /// of them at the same time, and fetches permissions where they are due, until `stop`. What is
    /// under way then is given back.
    pub async fn run_indexing(&self, stop: &CancellationToken) {
        tokio::join!(self.run_attempts(stop), self.run_permission_syncs(stop));
    }

    async fn run_attempts(&self, stop: &CancellationToken) {
        let mut runs = Running::default();
        let mut tasks: JoinSet<()> = JoinSet::new();
        let mut poll = interval(POLL_INTERVAL);
        poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                Some(()) = runs.ended() => {}
                Some(_) = tasks.join_next() => {}
                () = self.shared.runs_wanted.notified() => {}
                _ = poll.tick() => {}
            }
            let filled = async {
                // Before the runs: a pair is not pruned while it is indexed.
                self.begin_due_prunes().await?;
                self.begin_due_runs().await?;
                self.fill_tasks(&mut tasks, stop).await?;
                self.fill_runs(&mut runs, stop).await
            };
            if let Err(error) = filled.await {
                log::warn(&error, "runs of indexing could not be looked for; trying again");
            }
        }
        while runs.ended().await.is_some() {}
        while tasks.join_next().await.is_some() {}
    }

    /// Has tasks of pairs done wherever there is room.
    async fn fill_tasks(
        &self,
        tasks: &mut JoinSet<()>,
        stop: &CancellationToken,
    ) -> Result<(), StoreError> {
        let room = u32::try_from(TASKS_MAX.saturating_sub(tasks.len())).unwrap_or(u32::MAX);
        if room == 0 {
            return Ok(());
        }
        let (now, lease) = (self.backends().clock.now(), self.config().indexing.lease);
        for claimed in self.backends().tasks.claim(now, lease, room).await? {
            let (engine, stop) = (self.clone(), stop.clone());
            tasks.spawn(async move {
                if let Err(error) = engine.work_on_task(&claimed, &stop).await {
                    log::warn(&error, "a task of a pair could not be recorded; it goes on later");
                }
            });
        }
        Ok(())
    }

    /// Has runs done wherever there is room.
    async fn fill_runs(
        &self,
        runs: &mut Running,
        stop: &CancellationToken,
    ) -> Result<(), StoreError> {
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
