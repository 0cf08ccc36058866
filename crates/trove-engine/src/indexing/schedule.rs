//! Begins the runs that are due.

use trove_domain::error::StoreError;

use crate::Engine;

/// Pairs that are looked at at a time.
const PAGE: u32 = 500;

impl Engine {
    /// Begins every run that is due, of all pairs that the schedule runs; answers how many. Safe
    /// beside itself, in this process and in others.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; the runs that have begun go on.
    pub async fn begin_due_runs(&self) -> Result<u64, StoreError> {
        let attempts = &self.backends().attempts;
        let (mut begun, mut after) = (0, None);
        loop {
            let page = attempts.schedules(after, PAGE).await?;
            let Some((last, _)) = page.last() else { return Ok(begun) };
            after = Some(*last);
            for (pair, schedule) in page {
                let now = self.backends().clock.now();
                let Some(plan) = schedule.due(now) else { continue };
                if let Some(attempt) = attempts.begin(pair, &schedule, plan, now).await? {
                    tracing::info!(%pair, %attempt, "a run of indexing begins");
                    begun += 1;
                }
            }
        }
    }
}
