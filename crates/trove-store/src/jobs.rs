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
use crate::backend::{Backend, Sqlite, read, transact};
use crate::error::{Failure, corrupt, failed, unavailable};
use crate::schema::job;
use crate::sql::{Id, Time};

const WAITING: &str = "waiting";
const RUNNING: &str = "running";
const PARKED: &str = "parked";

/// Adds a job unless a waiting one has its key; answers how many it added.
macro_rules! insert_job {
    ($conn:expr, $id:expr, $job:expr) => {{
        use crate::schema::job;
        diesel::insert_into(job::table)
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
            .on_conflict_do_nothing()
            .execute($conn)
            .await?
    }};
}
pub(crate) use insert_job;

/// The jobs of a queue that may be claimed, in order.
macro_rules! due {
    ($queue:expr, $now:expr, $limit:expr) => {
        job::table
            .filter(job::queue.eq($queue))
            .filter(
                job::state.eq(WAITING).and(job::run_at.le(Time($now))).or(job::state
                    .eq(RUNNING)
                    .and(job::leased_until.assume_not_null().lt(Time($now)))),
            )
            .order((job::run_at, job::id))
            .limit(i64::from($limit))
            .select((job::id, job::kind, job::payload, job::attempt))
    };
}

macro_rules! take {
    ($conn:expr, $rows:expr, $until:expr) => {{
        let rows: Vec<(Id, String, String, i32)> = $rows;
        let mut claimed = Vec::with_capacity(rows.len());
        for (id, kind, payload, attempt) in rows {
            diesel::update(job::table.find(id))
                .set((
                    job::state.eq(RUNNING),
                    job::attempt.eq(attempt + 1),
                    job::leased_until.eq(Some(Time($until))),
                ))
                .execute($conn)
                .await?;
            claimed.push(ClaimedJob {
                id: JobId(id.0),
                kind,
                payload: serde_json::from_str(&payload).map_err(corrupt("job", id.0))?,
                attempt: u32::try_from(attempt + 1).map_err(corrupt("job", id.0))?,
                leased_until: $until,
            });
        }
        Ok(claimed)
    }};
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

fn after(now: DateTime<Utc>, lease: Duration) -> DateTime<Utc> {
    now + chrono::TimeDelta::from_std(lease).unwrap_or(chrono::TimeDelta::MAX)
}

#[async_trait]
impl JobQueue for Store {
    #[tracing::instrument(name = "db.job.enqueue", skip_all)]
    async fn enqueue(&self, new: NewJob) -> Result<Option<JobId>, StoreError> {
        let id = self.ids().uuid();
        transact!(self, "job.enqueue", |conn| {
            let inserted = insert_job!(conn, id, new);
            Ok((inserted == 1).then_some(JobId(id)))
        })
    }

    // Two bodies: PostgreSQL has to skip rows that other workers are taking, SQLite has one writer.
    #[tracing::instrument(name = "db.job.claim", level = "debug", skip_all)]
    async fn claim(
        &self,
        queue: &str,
        now: DateTime<Utc>,
        lease: Duration,
        limit: u32,
    ) -> Result<Vec<ClaimedJob>, StoreError> {
        let until = after(now, lease);
        match self.backend() {
            Backend::Sqlite(sqlite) => {
                // Polling must not take the write lock while there is nothing to do.
                let waiting: i64 = read!(self, "job.claim", |conn| {
                    let rows: Vec<(Id, String, String, i32)> =
                        due!(queue, now, 1_u32).load(conn).await?;
                    Ok(i64::try_from(rows.len()).unwrap_or(i64::MAX))
                })?;
                if waiting == 0 || limit == 0 {
                    return Ok(Vec::new());
                }
                let mut slot = sqlite.writer.lock().await;
                let mut connection = match slot.take() {
                    Some(connection) => connection,
                    None => sqlite.connect().await.map_err(unavailable("job.claim"))?,
                };
                let claimed = connection
                    .immediate_transaction(async |conn: &mut Sqlite| -> Result<_, Failure> {
                        let rows = due!(queue, now, limit).load(conn).await?;
                        take!(conn, rows, until)
                    })
                    .await;
                *slot = Some(connection);
                claimed.map_err(failed("job.claim"))
            }
            Backend::Postgres(pool) => {
                let mut connection = pool.get().await.map_err(unavailable("job.claim"))?;
                let connection: &mut AsyncPgConnection = &mut connection;
                connection
                    .transaction(async |conn: &mut AsyncPgConnection| -> Result<_, Failure> {
                        let rows =
                            due!(queue, now, limit).for_update().skip_locked().load(conn).await?;
                        take!(conn, rows, until)
                    })
                    .await
                    .map_err(failed("job.claim"))
            }
        }
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
        transact!(self, "job.fail", |conn| {
            let row: Option<(String, Option<String>)> = held!(claimed)
                .select((job::queue, job::deduplication_key))
                .first(conn)
                .await
                .optional()?;
            let Some((queue, key)) = row else { return Ok(false) };
            let AfterFailure::RetryAt(run_at) = then else {
                diesel::update(held!(claimed))
                    .set((job::state.eq(PARKED), job::error.eq(Some(error))))
                    .execute(conn)
                    .await?;
                return Ok(true);
            };
            let mut successors: i64 = 0;
            if let Some(key) = &key {
                successors = job::table
                    .filter(job::queue.eq(&queue))
                    .filter(job::deduplication_key.eq(key))
                    .filter(job::state.eq(WAITING))
                    .count()
                    .get_result(conn)
                    .await?;
            }
            if successors > 0 {
                // A waiting job does the same work.
                diesel::delete(held!(claimed)).execute(conn).await?;
            } else {
                diesel::update(held!(claimed))
                    .set((
                        job::state.eq(WAITING),
                        job::run_at.eq(Time(run_at)),
                        job::leased_until.eq(None::<Time>),
                        job::error.eq(Some(error)),
                    ))
                    .execute(conn)
                    .await?;
            }
            Ok(true)
        })
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
