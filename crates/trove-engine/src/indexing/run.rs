//! Works on a run until it ends, waits, or has had its time.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use futures::FutureExt;
use tokio_util::sync::CancellationToken;
use trove_domain::error::StoreError;
use trove_domain::id::DocumentId;
use trove_domain::indexing::{AttemptStatus, Progress, StopReason};
use trove_domain::port::{
    AttemptEnd, CHECKPOINT_BYTES_MAX, Checkpoint, ClaimedAttempt, Control, SourceError, SourceStep,
};

use super::reader::{Ahead, Reader};
use super::tally::{tally, with_causes};
use super::watch::{answer, beside, until_stop};
use super::{KEEP_DAYS, VALIDATION_PREFIX, left_out};
use crate::Engine;

/// Documents that are looked up at a time.
const PAGE: usize = 500;

/// What is read ahead where indexing is writing. It is written at once, which is what makes it quick.
const AHEAD: Ahead = Ahead { documents: 256, bytes: 4 << 20 };

/// What is read ahead where indexing is embedding: as much as takes a second or two, for it is done
/// again after a crash.
const AHEAD_OF_EMBEDDING: Ahead = Ahead { documents: 256, bytes: 128 << 10 };

/// Why the work on a run ends, for now or for good.
enum Ended {
    /// Everything was read.
    Complete,
    /// Somebody asked for it.
    Stopped(StopReason),
    /// It is another worker's, or gone.
    Lost,
    /// This process ends, or others have waited long enough.
    Yielded,
    /// The source or this deployment does not answer; the step is worth another try.
    Unavailable { told: String, after: Option<Duration> },
    /// It is pointless to go on.
    Failed(String),
    /// Configuration or credential do not work.
    Invalid(String),
}

impl From<SourceError> for Ended {
    fn from(error: SourceError) -> Self {
        let told = with_causes(&error);
        match error {
            SourceError::Invalid(_) => Self::Invalid(format!("{VALIDATION_PREFIX}{told}")),
            SourceError::Unavailable { retry_after, .. } => {
                Self::Unavailable { told, after: retry_after }
            }
            _ => Self::Failed(told),
        }
    }
}

/// Why the work ends after what the database has answered, if it does.
fn ended(control: Control) -> Option<Ended> {
    match control {
        Control::Go => None,
        Control::Stop(reason) => Some(Ended::Stopped(reason)),
        Control::Lost => Some(Ended::Lost),
    }
}

impl Engine {
    /// Works on a run that this process has claimed, until it ends, waits or has had its time.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; the run goes on when its lease has ended.
    pub(super) async fn work_on_run(
        &self,
        claimed: &ClaimedAttempt,
        stop: &CancellationToken,
    ) -> Result<(), StoreError> {
        let attempt = &claimed.attempt;
        let (progress, tries) = (attempt.progress, attempt.tries);
        let mut work = Work { engine: self, claimed, stop, progress, tries, carry: None };
        let ended = match attempt.stop {
            Some(reason) => Ended::Stopped(reason),
            None => work.steps().await?,
        };
        work.settle(ended).await
    }
}

/// A run that this worker has claimed.
struct Work<'a> {
    engine: &'a Engine,
    claimed: &'a ClaimedAttempt,
    stop: &'a CancellationToken,
    /// What all steps have done.
    progress: Progress,
    /// How often the step under way was tried in vain.
    tries: u32,
    /// Where the next run begins, once this one has succeeded.
    carry: Option<Checkpoint>,
}

impl Work<'_> {
    fn lease(&self) -> Duration {
        self.engine.config().indexing.lease
    }

    fn now(&self) -> DateTime<Utc> {
        self.engine.backends().clock.now()
    }

    async fn steps(&mut self) -> Result<Ended, StoreError> {
        let attempt = &self.claimed.attempt;
        let begun = self.now();
        let slice = TimeDelta::from_std(self.engine.config().indexing.slice).unwrap_or_default();
        let mut reader = match self.watch(self.open().boxed()).await? {
            Ok(reader) => reader,
            Err(ended) => return Ok(ended),
        };
        let mut is_carried = self.claimed.checkpoint.is_some();
        reader.begin(self.claimed.checkpoint.clone());
        loop {
            let step = match self.watch(reader.next().boxed()).await? {
                Ok(Some(step)) => step,
                Ok(None) => return Ok(Ended::Complete),
                Err(ended) => return Ok(ended),
            };
            if !self.knows(&step.unchanged).await? {
                // What is gone here has not changed there, so that only reading everything helps.
                if !is_carried {
                    let told = "the source names documents as unchanged that it never sent";
                    return Ok(Ended::Failed(told.to_owned()));
                }
                tracing::info!(pair = %attempt.pair, "documents are missing: everything is read");
                is_carried = false;
                if let Some(ended) = self.begin_anew().await? {
                    return Ok(ended);
                }
                reader.begin(None);
                continue;
            }
            let is_last = step.next.is_none();
            if let Some(ended) = self.take(step, &mut reader).await? {
                return Ok(ended);
            }
            if is_last {
                return Ok(Ended::Complete);
            }
            if self.stop.is_cancelled() || self.now() - begun >= slice {
                return Ok(Ended::Yielded);
            }
        }
    }

    /// Opens the source, and asks it whether it can be read.
    async fn open(&self) -> Result<Reader, SourceError> {
        let (engine, attempt) = (self.engine, &self.claimed.attempt);
        let limit = engine.config().indexing.step_timeout;
        let open = async {
            let source = engine.open_pair(attempt.pair).await?;
            // What is wrong is told before anything is read, and costs no step. Where something was
            // read before, reading on tells it.
            if self.claimed.checkpoint.is_none() && attempt.steps == 0 {
                source.check().await?;
            }
            Ok(source)
        };
        let source = answer(open, limit).await?;
        let embeds = engine.backends().embedding_model.is_some();
        let ahead = if embeds { AHEAD_OF_EMBEDDING } else { AHEAD };
        Ok(Reader::new(source, attempt.window, limit, ahead))
    }

    /// Whether all of them are in the index for this pair, as they would be indexed now.
    async fn knows(&self, ids: &[DocumentId]) -> Result<bool, StoreError> {
        let backends = self.engine.backends();
        let model = self.engine.embedding_model_name();
        for ids in ids.chunks(PAGE) {
            let records = backends.documents.get(ids).await?;
            let are_known = records.iter().all(|record| {
                record.as_ref().is_some_and(|record| {
                    record.content_hash.is_some()
                        && record.indexed_for.contains(&self.claimed.attempt.pair)
                        && (model.is_none() || record.embedding_model == model)
                })
            });
            if !are_known {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Forgets what this run has done.
    async fn begin_anew(&mut self) -> Result<Option<Ended>, StoreError> {
        let attempts = &self.engine.backends().attempts;
        let control = attempts.restart(self.claimed, self.now(), self.lease()).await?;
        self.progress = Progress::default();
        Ok(ended(control))
    }

    /// Asks the source for something, says meanwhile that the run goes on, and learns whether it
    /// shall.
    async fn watch<T>(
        &self,
        work: impl Future<Output = Result<T, SourceError>>,
    ) -> Result<Result<T, Ended>, StoreError> {
        let work = async { work.await.map_err(Ended::from) };
        let work = until_stop(work, self.stop, Ended::Yielded);
        Ok(beside(work, || self.beat().boxed()).await?.unwrap_or_else(Err))
    }

    async fn beat(&self) -> Result<Option<Ended>, StoreError> {
        let attempts = &self.engine.backends().attempts;
        let control = attempts.heartbeat(self.claimed, self.now(), self.lease()).await?;
        Ok(ended(control))
    }

    /// Indexes what a step has read, and records it. The source is read on meanwhile.
    ///
    /// A run that is to end leaves off in the middle: whatever was written then is found to be
    /// known, or is written again, as after a crash.
    async fn take(
        &mut self,
        mut step: SourceStep,
        reader: &mut Reader,
    ) -> Result<Option<Ended>, StoreError> {
        let size = |kept: Option<&Checkpoint>| kept.map_or(0, |kept| kept.0.to_string().len());
        self.carry = step.carry.take().filter(|carry| size(Some(carry)) <= CHECKPOINT_BYTES_MAX);
        let size = size(step.next.as_ref());
        if size > CHECKPOINT_BYTES_MAX {
            let told = format!("the source keeps {size} bytes to go on with, more than is kept");
            return Ok(Some(Ended::Failed(told)));
        }
        let index = reader.beside(self.index(step));
        let (control, done) = match beside(index, || self.beat().boxed()).await? {
            Ok(Ok(recorded)) => recorded?,
            Ok(Err(told)) => return Ok(Some(Ended::Unavailable { told, after: None })),
            Err(ended) => return Ok(Some(ended)),
        };
        if control != Control::Lost {
            self.progress += done;
            self.tries = 0;
        }
        let Progress { failed, enumerated, .. } = self.progress;
        let hopeless = self.progress.is_hopeless().then(|| {
            Ended::Failed(format!(
                "{failed} of {enumerated} documents failed, more than a tenth; the errors of the \
                 run say why"
            ))
        });
        Ok(ended(control).or(hopeless))
    }

    /// Indexes a step and records what has come of it; why not, where it is this deployment that
    /// fails.
    async fn index(
        &self,
        mut step: SourceStep,
    ) -> Result<Result<(Control, Progress), StoreError>, String> {
        let documents = std::mem::take(&mut step.documents);
        let links: Vec<(DocumentId, Option<String>)> = documents
            .iter()
            .map(|document| {
                let link = document.sections.iter().find_map(|section| section.link.clone());
                (document.id.clone(), link)
            })
            .collect();
        let outcomes = self.engine.ingest_batch(self.claimed.attempt.pair, documents).await;
        left_out::tell(self.claimed, self.progress.skipped, &step, &links, &outcomes);
        let record = tally(step, &links, outcomes)?;
        let done = record.progress;
        let attempts = &self.engine.backends().attempts;
        let recorded = attempts.record_step(self.claimed, record, self.now(), self.lease()).await;
        Ok(recorded.map(|control| (control, done)))
    }

    /// Writes down how the work has ended.
    async fn settle(self, ended: Ended) -> Result<(), StoreError> {
        let attempts = &self.engine.backends().attempts;
        let now = self.now();
        let end = match ended {
            Ended::Lost => return Ok(()),
            Ended::Yielded => return attempts.release(self.claimed, now).await,
            Ended::Unavailable { told, after } => {
                if self.tries + 1 < self.engine.config().indexing.tries_max {
                    return self.put_back(&told, after).await;
                }
                end(AttemptStatus::Failed, told)
            }
            Ended::Failed(told) => end(AttemptStatus::Failed, told),
            Ended::Invalid(told) => {
                AttemptEnd { is_invalid: true, ..end(AttemptStatus::Canceled, told) }
            }
            Ended::Stopped(reason) => end(AttemptStatus::Canceled, reason.told().to_owned()),
            Ended::Complete if self.progress.failed == 0 => {
                let carry = self.carry.clone();
                AttemptEnd { status: AttemptStatus::Success, error: None, is_invalid: false, carry }
            }
            Ended::Complete => {
                let told = format!("{} documents or parts failed", self.progress.failed);
                end(AttemptStatus::CompletedWithErrors, told)
            }
        };
        let (pair, attempt) = (self.claimed.attempt.pair, self.claimed.attempt.id);
        let (status, told) = (end.status.as_str(), end.error.as_deref().unwrap_or_default());
        tracing::info!(%pair, %attempt, status, told, "a run of indexing has ended");
        attempts.finish(self.claimed, end, now, now - TimeDelta::days(KEEP_DAYS)).await?;
        Ok(())
    }

    /// Gives the run back, to be tried again later.
    async fn put_back(&self, told: &str, after: Option<Duration>) -> Result<(), StoreError> {
        let wait = self.engine.config().indexing.wait(self.tries, after);
        let (attempts, now) = (&self.engine.backends().attempts, self.now());
        let retry_at = now + TimeDelta::from_std(wait).unwrap_or_default();
        let control = attempts.put_back(self.claimed, told, retry_at, now).await?;
        if let Control::Stop(reason) = control {
            // Nobody holds it any more who could end it.
            attempts.request_stop(self.claimed.attempt.pair, reason, now).await?;
        }
        Ok(())
    }
}

fn end(status: AttemptStatus, told: String) -> AttemptEnd {
    AttemptEnd { status, error: Some(told), is_invalid: false, carry: None }
}
