use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl};
use trove_domain::error::StoreError;
use trove_domain::id::JobId;
use trove_domain::job::{AfterFailure, ClaimedJob, NewJob, ParkedJob};
use trove_domain::port::JobQueue;

use crate::Store;
use crate::backend::{KEYS_MAX, Sqlite, read, transact};
use crate::error::{Failure, corrupt, is_taken};
use crate::schema::job;
use crate::sql::{Id, Time};

const WAITING: &str = "waiting";
const RUNNING: &str = "running";
const PARKED: &str = "parked";

/// Adds a job unless a waiting one has its key; answers the id of the one that waits.
///
/// The waiting one is kept from being claimed until the transaction ends: a run that begins before
/// would not see what the transaction changes.
macro_rules! insert_job {
    ($conn:expr, $id:expr, $job:expr) => {{
        use crate::schema::job;
        let waiting: crate::sql::Id = diesel::insert_into(job::table)
            .values((
                job::id.eq(crate::sql::Id($id)),
                job::queue.eq(&$job.queue),
                job::kind.eq(&$job.kind),
                job::deduplication_key.eq(&$job.deduplication_key),
                job::payload.eq($job.payload.to_string()),
                job::state.eq("waiting"),
                job::run_at.eq(crate::sql::Time($job.run_at)),
                job::attempt.eq(0),
            ))
            // In the words of the partial index: PostgreSQL recognises it by those only.
            .on_conflict(diesel::dsl::sql::<diesel::sql_types::Text>(
                "(queue, deduplication_key) WHERE state = 'waiting'",
            ))
            .do_update()
            .set(job::state.eq("waiting"))
            .returning(job::id)
            .get_result($conn)
            .await?;
        waiting.0
    }};
}
pub(crate) use insert_job;

/// When it was to run, id, kind, payload and attempts so far.
type DueRow = (Time, Id, String, String, i32);

/// Jobs of a queue in one state, in the order of claims. Asked for one state at a time they come
/// in the order of the index.
macro_rules! in_state {
    ($queue:expr, $state:expr, $limit:expr) => {
        job::table
            .filter(job::queue.eq($queue))
            .filter(job::state.eq($state))
            .order((job::run_at, job::id))
            .limit(i64::from($limit))
            .select((job::run_at, job::id, job::kind, job::payload, job::attempt))
    };
}

/// Jobs that wait and are due.
macro_rules! waiting {
    ($queue:expr, $now:expr, $limit:expr) => {
        in_state!($queue, WAITING, $limit).filter(job::run_at.le(Time($now)))
    };
}

/// Jobs whose worker let the lease end.
macro_rules! abandoned {
    ($queue:expr, $now:expr, $limit:expr) => {
        in_state!($queue, RUNNING, $limit)
            .filter(job::leased_until.assume_not_null().lt(Time($now)))
    };
}

/// Jobs that nobody else can claim before the transaction ends, of each kind up to `limit`.
trait DueJobs {
    async fn due(
        &mut self,
        queue: &str,
        now: DateTime<Utc>,
        limit: u32,
    ) -> QueryResult<Vec<DueRow>>;
}

impl DueJobs for Sqlite {
    async fn due(
        &mut self,
        queue: &str,
        now: DateTime<Utc>,
        limit: u32,
    ) -> QueryResult<Vec<DueRow>> {
        let mut rows: Vec<DueRow> = waiting!(queue, now, limit).load(self).await?;
        rows.extend(abandoned!(queue, now, limit).load::<DueRow>(self).await?);
        Ok(rows)
    }
}

impl DueJobs for AsyncPgConnection {
    async fn due(
        &mut self,
        queue: &str,
        now: DateTime<Utc>,
        limit: u32,
    ) -> QueryResult<Vec<DueRow>> {
        // Other workers take theirs at the same time.
        let waiting = waiting!(queue, now, limit).for_update().skip_locked();
        let abandoned = abandoned!(queue, now, limit).for_update().skip_locked();
        let mut rows: Vec<DueRow> = waiting.load(self).await?;
        rows.extend(abandoned.load::<DueRow>(self).await?);
        Ok(rows)
    }
}

/// The row of a job as long as its worker holds it: every claim counts the attempts up.
macro_rules! held {
    ($job:expr) => {
        job::table
            .find(Id($job.id.0))
            .filter(job::state.eq(RUNNING))
            .filter(job::attempt.eq(i32::try_from($job.attempt).unwrap_or(i32::MAX)))
    };
}

/// The end of a lease. One without end ends where years have five digits.
pub(crate) fn after(now: DateTime<Utc>, lease: Duration) -> DateTime<Utc> {
    let end =
        chrono::TimeDelta::from_std(lease).ok().and_then(|lease| now.checked_add_signed(lease));
    let last = DateTime::from_timestamp(253_402_300_799, 0).unwrap_or(now);
    end.map_or(last, |end| end.min(last))
}

#[async_trait]
impl JobQueue for Store {
    #[tracing::instrument(name = "db.job.enqueue", skip_all)]
    async fn enqueue(&self, new: NewJob) -> Result<Option<JobId>, StoreError> {
        let id = self.ids().uuid();
        transact!(self, "job.enqueue", |conn| {
            Ok((insert_job!(conn, id, new) == id).then_some(JobId(id)))
        })
    }

    #[tracing::instrument(name = "db.job.claim", level = "debug", skip_all)]
    async fn claim(
        &self,
        queue: &str,
        now: DateTime<Utc>,
        lease: Duration,
        limit: u32,
    ) -> Result<Vec<ClaimedJob>, StoreError> {
        // Polling must not take SQLite's write lock while there is nothing to do.
        let idle = read!(self, "job.claim", |conn| {
            let one = limit.min(1);
            let waiting: Vec<DueRow> = waiting!(queue, now, one).load(conn).await?;
            let abandoned: Vec<DueRow> = abandoned!(queue, now, one).load(conn).await?;
            Ok(waiting.is_empty() && abandoned.is_empty())
        })?;
        if idle {
            return Ok(Vec::new());
        }
        let until = after(now, lease);
        transact!(self, "job.claim", |conn| {
            let mut rows = conn.due(queue, now, limit).await?;
            rows.sort_unstable_by_key(|row| (row.0.0, row.1.0));
            rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
            let ids: Vec<Id> = rows.iter().map(|row| row.1).collect();
            for ids in ids.chunks(KEYS_MAX) {
                diesel::update(job::table.filter(job::id.eq_any(ids)))
                    .set((
                        job::state.eq(RUNNING),
                        job::attempt.eq(job::attempt + 1),
                        job::leased_until.eq(Some(Time(until))),
                    ))
                    .execute(conn)
                    .await?;
            }
            rows.into_iter().map(|row| claimed(row, until)).collect()
        })
    }

    #[tracing::instrument(name = "db.job.heartbeat", skip_all)]
    async fn heartbeat(
        &self,
        claimed: &ClaimedJob,
        now: DateTime<Utc>,
        lease: Duration,
    ) -> Result<bool, StoreError> {
        let until = after(now, lease);
        transact!(self, "job.heartbeat", |conn| {
            let prolonged = diesel::update(held!(claimed))
                .set(job::leased_until.eq(Some(Time(until))))
                .execute(conn)
                .await?;
            Ok(prolonged == 1)
        })
    }

    #[tracing::instrument(name = "db.job.complete", skip_all)]
    async fn complete(&self, claimed: &ClaimedJob) -> Result<bool, StoreError> {
        transact!(self, "job.complete", |conn| {
            Ok(diesel::delete(held!(claimed)).execute(conn).await? == 1)
        })
    }

    #[tracing::instrument(name = "db.job.fail", skip_all)]
    async fn fail(
        &self,
        claimed: &ClaimedJob,
        error: &str,
        then: AfterFailure,
    ) -> Result<bool, StoreError> {
        // PostgreSQL has no text with NUL.
        let text = error.replace('\0', " ");
        let failed = self.end_attempt(claimed, &text, then).await;
        match failed {
            // A twin was enqueued at the same instant. It is there now, and found.
            Err(error) if is_taken(&error) => self.end_attempt(claimed, &text, then).await,
            failed => failed,
        }
    }

    #[tracing::instrument(name = "db.job.list_parked", skip_all)]
    async fn list_parked(&self, queue: &str, limit: u32) -> Result<Vec<ParkedJob>, StoreError> {
        read!(self, "job.list_parked", |conn| {
            let rows: Vec<(Id, String, i32, Option<String>)> = job::table
                .filter(job::queue.eq(queue))
                .filter(job::state.eq(PARKED))
                .order(job::id)
                .limit(i64::from(limit))
                .select((job::id, job::kind, job::attempt, job::error))
                .load(conn)
                .await?;
            rows.into_iter()
                .map(|(id, kind, attempt, error)| {
                    Ok(ParkedJob {
                        id: JobId(id.0),
                        kind,
                        attempt: u32::try_from(attempt).map_err(corrupt("job", id.0))?,
                        error: error.unwrap_or_default(),
                    })
                })
                .collect()
        })
    }

    #[tracing::instrument(name = "db.job.depth", skip_all)]
    async fn depth(&self, queue: &str) -> Result<u64, StoreError> {
        read!(self, "job.depth", |conn| {
            let depth: i64 = job::table
                .filter(job::queue.eq(queue))
                .filter(job::state.ne(PARKED))
                .count()
                .get_result(conn)
                .await?;
            Ok(u64::try_from(depth).unwrap_or(0))
        })
    }
}

impl Store {
    async fn end_attempt(
        &self,
        claimed: &ClaimedJob,
        error: &str,
        then: AfterFailure,
    ) -> Result<bool, StoreError> {
        transact!(self, "job.fail", |conn| {
            let row: Option<(String, Option<String>)> = held!(claimed)
                .select((job::queue, job::deduplication_key))
                .first(conn)
                .await
                .optional()?;
            let Some((queue, key)) = row else { return Ok(false) };
            let AfterFailure::RetryAt(run_at) = then else {
                let parked = diesel::update(held!(claimed))
                    .set((job::state.eq(PARKED), job::error.eq(Some(error))))
                    .execute(conn)
                    .await?;
                return Ok(parked == 1);
            };
            let mut twins: i64 = 0;
            if let Some(key) = &key {
                twins = job::table
                    .filter(job::queue.eq(&queue))
                    .filter(job::deduplication_key.eq(key))
                    .filter(job::state.eq(WAITING))
                    .count()
                    .get_result(conn)
                    .await?;
            }
            let ended = if twins > 0 {
                // A waiting job does the same work.
                diesel::delete(held!(claimed)).execute(conn).await?
            } else {
                diesel::update(held!(claimed))
                    .set((
                        job::state.eq(WAITING),
                        job::run_at.eq(Time(run_at)),
                        job::leased_until.eq(None::<Time>),
                        job::error.eq(Some(error)),
                    ))
                    .execute(conn)
                    .await?
            };
            Ok(ended == 1)
        })
    }
}

fn claimed(row: DueRow, leased_until: DateTime<Utc>) -> Result<ClaimedJob, Failure> {
    let (_, id, kind, payload, attempt) = row;
    Ok(ClaimedJob {
        id: JobId(id.0),
        kind,
        payload: serde_json::from_str(&payload).map_err(corrupt("job", id.0))?,
        attempt: u32::try_from(attempt + 1).map_err(corrupt("job", id.0))?,
        leased_until,
    })
}
