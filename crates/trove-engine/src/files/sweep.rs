//! Removes what uploads have left behind, and what nobody names.

use std::collections::HashSet;
use std::time::Duration;

use chrono::TimeDelta;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;
use trove_domain::error::StoreError;
use trove_domain::port::FileKey;

use super::FileError;
use super::rights::named;
use crate::{Engine, log};

/// Files, and connectors, that are looked at at a time.
const PAGE: u32 = 500;

/// How long a file waits for a connector that names it.
const IDLE: TimeDelta = TimeDelta::days(1);

/// How often files are looked for that nobody names.
const SWEEP_INTERVAL: Duration = Duration::from_hours(1);

impl Engine {
    /// For the start, before anything is uploaded: removes the files of uploads that did not come to
    /// their end because the process did; answers how many.
    ///
    /// # Errors
    ///
    /// [`FileError`]; the rest is for the next start.
    pub async fn sweep_files(&self) -> Result<u64, FileError> {
        let mut removed = 0;
        loop {
            let page = self.backends().stored_files.list_unfinished(None, PAGE).await?;
            if page.is_empty() {
                return Ok(removed);
            }
            removed += self.remove_files(&page).await?;
        }
    }

    /// Removes files that no connector names, in the hours after they have waited for one for a day,
    /// until `stop`.
    pub async fn run_file_sweeps(&self, stop: &CancellationToken) {
        let mut ticks = interval(SWEEP_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                _ = ticks.tick() => {}
            }
            match self.remove_unnamed_files().await {
                Ok(0) => {}
                Ok(files) => tracing::info!(files, "removed uploaded files that nothing names"),
                Err(error) => {
                    log::warn(&error, "uploaded files that nothing names could not be removed");
                }
            }
        }
    }

    /// Removes the files that no connector has named for a day; answers how many.
    ///
    /// A file whose content is not in the store of this process is another process's to remove.
    ///
    /// # Errors
    ///
    /// [`FileError`]; the rest is for the next time.
    pub async fn remove_unnamed_files(&self) -> Result<u64, FileError> {
        let Some(files) = &self.backends().files else { return Ok(0) };
        let stored = &self.backends().stored_files;
        let before = self.backends().clock.now() - IDLE;
        let (mut removed, mut after, mut all_named) = (0, None, None);
        loop {
            let page = stored.list_idle(before, after.as_ref(), PAGE).await?;
            let Some(last) = page.last().cloned() else { return Ok(removed) };
            // Whoever names a file from here on has kept it before.
            let all_named = match &mut all_named {
                Some(named) => named,
                none => none.insert(self.all_named_files().await?),
            };
            let mut unnamed = Vec::new();
            for key in page {
                if !all_named.contains(key.as_str()) && files.size(&key).await?.is_some() {
                    unnamed.push(key);
                }
            }
            let retired = stored.retire(&unnamed, before).await?;
            removed += self.remove_files(&retired).await?;
            after = Some(last);
        }
    }

    /// The ids of all files that connectors name.
    async fn all_named_files(&self) -> Result<HashSet<String>, StoreError> {
        let (mut all, mut after) = (HashSet::new(), None);
        loop {
            let page = self.backends().connectors.list(None, after, PAGE).await?;
            let Some(last) = page.last() else { return Ok(all) };
            after = Some(last.id);
            for connector in &page {
                all.extend(named(&connector.details).into_iter().map(str::to_owned));
            }
        }
    }

    /// Removes files whether they are finished or not.
    async fn remove_files(&self, keys: &[FileKey]) -> Result<u64, FileError> {
        if keys.is_empty() {
            return Ok(0);
        }
        let files = self.backends().files.as_ref().ok_or(FileError::NoStore)?;
        // The row last: as long as it is there the content is found.
        for key in keys {
            files.remove(key).await?;
        }
        self.backends().stored_files.forget(keys).await?;
        Ok(u64::try_from(keys.len()).unwrap_or(u64::MAX))
    }

    /// The same, for whoever cannot do anything about a failure.
    pub(super) async fn discard_files(&self, keys: &[FileKey]) {
        if let Err(error) = self.remove_files(keys).await {
            log::warn(
                &error,
                "files that nobody needs could not be removed; the next start does it",
            );
        }
    }
}
