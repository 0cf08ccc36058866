//! Runs of indexing: reads, and the port. What workers do is in `work`, how runs begin and end in
//! `change`.

mod change;
mod work;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use trove_domain::error::StoreError;
use trove_domain::id::{CcPairId, DocumentId, IndexAttemptId};
use trove_domain::indexing::schedule::{LastRun, RunPlan, Schedule};
use trove_domain::indexing::{
    AttemptError, AttemptStatus, IndexAttempt, IndexingTrigger, Progress, StopReason,
};
use trove_domain::page::NumberedPage;
use trove_domain::port::{
    AttemptEnd, ClaimedAttempt, Control, FailedPart, IndexAttemptStore, PairRuns, ReadWindow,
    SourceFailure, StepRecord,
};
use trove_domain::source::DocumentSource;

use crate::Store;
use crate::backend::{KEYS_MAX, read};
use crate::error::{Failure, corrupt};
use crate::pairs::SCHEDULE;
use crate::schema::{cc_pair, connector, document_cc_pair, index_attempt, index_attempt_error};
use crate::sql::Time;

pub(crate) use change::{stop_unfinished, unfinished};

/// Columns of an attempt, but for its checkpoint.
#[derive(Queryable, Selectable)]
#[diesel(table_name = index_attempt)]
struct AttemptRow {
    id: i32,
    cc_pair_id: i32,
    from_beginning: bool,
    status: String,
    window_start: Time,
    window_end: Time,
    stop_reason: Option<String>,
    steps: i32,
    documents_enumerated: i64,
    documents_new: i64,
    documents_updated: i64,
    documents_unchanged: i64,
    documents_skipped: i64,
    documents_failed: i64,
    tries: i32,
    retry_at: Option<Time>,
    error: Option<String>,
    created_at: Time,
    started_at: Option<Time>,
    updated_at: Time,
}

fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

impl TryFrom<AttemptRow> for IndexAttempt {
    type Error = Failure;

    fn try_from(row: AttemptRow) -> Result<Self, Failure> {
        let damaged = || corrupt("index attempt", row.id);
        Ok(Self {
            id: IndexAttemptId(row.id),
            pair: CcPairId(row.cc_pair_id),
            from_beginning: row.from_beginning,
            status: row.status.parse().map_err(damaged())?,
            window: ReadWindow { start: row.window_start.0, end: row.window_end.0 },
            stop: row.stop_reason.map(|r| r.parse().map_err(damaged())).transpose()?,
            steps: u32::try_from(row.steps).unwrap_or(0),
            progress: Progress {
                enumerated: count(row.documents_enumerated),
                new: count(row.documents_new),
                updated: count(row.documents_updated),
                unchanged: count(row.documents_unchanged),
                skipped: count(row.documents_skipped),
                failed: count(row.documents_failed),
            },
            tries: u32::try_from(row.tries).unwrap_or(0),
            retry_at: row.retry_at.map(|at| at.0),
            error: row.error,
            created_at: row.created_at.0,
            started_at: row.started_at.map(|at| at.0),
            updated_at: row.updated_at.0,
        })
    }
}

/// Columns of an error.
#[derive(Queryable, Selectable)]
#[diesel(table_name = index_attempt_error)]
struct ErrorRow {
    id: i32,
    index_attempt_id: i32,
    cc_pair_id: i32,
    document_id: Option<String>,
    document_link: Option<String>,
    entity_id: Option<String>,
    window_start: Option<Time>,
    window_end: Option<Time>,
    message: String,
    resolved: bool,
    created_at: Time,
}

impl TryFrom<ErrorRow> for AttemptError {
    type Error = Failure;

    fn try_from(row: ErrorRow) -> Result<Self, Failure> {
        let part = match row.document_id {
            Some(id) => {
                let id = DocumentId::new(id).map_err(corrupt("index attempt error", row.id))?;
                FailedPart::Document { id, link: row.document_link }
            }
            None => FailedPart::Entity {
                id: row.entity_id.unwrap_or_default(),
                window: row
                    .window_start
                    .zip(row.window_end)
                    .map(|(start, end)| ReadWindow { start: start.0, end: end.0 }),
            },
        };
        Ok(Self {
            id: row.id,
            attempt: IndexAttemptId(row.index_attempt_id),
            pair: CcPairId(row.cc_pair_id),
            failure: SourceFailure { part, message: row.message },
            resolved: row.resolved,
            created_at: row.created_at.0,
        })
    }
}

/// What a pair and its connector say of the schedule.
type PairRow = (i32, String, String, Option<String>, Option<i32>, Option<Time>, bool);

/// The schedules of the pairs of a query over `cc_pair` joined with `connector`, in its order.
macro_rules! load_schedules {
    ($conn:expr, $query:expr) => {{
        let rows: Vec<PairRow> = $query
            .select((
                cc_pair::id,
                cc_pair::status,
                cc_pair::run_by,
                cc_pair::indexing_trigger,
                connector::refresh_freq_s,
                connector::indexing_start,
                cc_pair::in_repeated_error_state,
            ))
            .load($conn)
            .await?;
        let ids: Vec<i32> = rows.iter().map(|row| row.0).collect();
        let mut last = latest!($conn, ids, index_attempt::status.is_not_null());
        let success = AttemptStatus::Success.as_str();
        let mut success = latest!($conn, ids, index_attempt::status.eq(success));
        let mut schedules: Vec<(CcPairId, Schedule)> = Vec::with_capacity(rows.len());
        for row in rows {
            let id = row.0;
            let (last, success) = (last.remove(&id), success.remove(&id));
            schedules.push((CcPairId(id), schedule(row, last, success)?));
        }
        schedules
    }};
}
use load_schedules;

/// The latest attempt of each of some pairs that fits, by pair.
macro_rules! latest {
    ($conn:expr, $pairs:expr, $fits:expr) => {{
        let mut latest: BTreeMap<i32, IndexAttempt> = BTreeMap::new();
        for pairs in $pairs.chunks(KEYS_MAX) {
            let ids: Vec<Option<i32>> = index_attempt::table
                .filter(index_attempt::cc_pair_id.eq_any(pairs))
                .filter($fits)
                .group_by(index_attempt::cc_pair_id)
                .select(diesel::dsl::max(index_attempt::id))
                .load($conn)
                .await?;
            let ids: Vec<i32> = ids.into_iter().flatten().collect();
            let rows: Vec<AttemptRow> = index_attempt::table
                .filter(index_attempt::id.eq_any(ids))
                .select(AttemptRow::as_select())
                .load($conn)
                .await?;
            for row in rows {
                latest.insert(row.cc_pair_id, row.try_into()?);
            }
        }
        latest
    }};
}
use latest;

fn schedule(
    row: PairRow,
    last: Option<IndexAttempt>,
    success: Option<IndexAttempt>,
) -> Result<Schedule, Failure> {
    let (id, status, run_by, trigger, refresh_freq_s, indexing_start, failing) = row;
    let damaged = || corrupt("cc pair", id);
    Ok(Schedule {
        status: status.parse().map_err(damaged())?,
        is_scheduled: run_by == SCHEDULE,
        trigger: trigger.map(|trigger| trigger.parse().map_err(damaged())).transpose()?,
        refresh_freq_s: refresh_freq_s.and_then(|seconds| u32::try_from(seconds).ok()),
        indexing_start: indexing_start.map(|at| at.0),
        in_repeated_error_state: failing,
        last: last.map(|last| LastRun {
            status: last.status,
            window: last.window,
            updated_at: last.updated_at,
        }),
        last_success_end: success.map(|success| success.window.end),
    })
}

#[async_trait]
impl IndexAttemptStore for Store {
    #[tracing::instrument(name = "db.index_attempt.schedules", level = "debug", skip_all)]
    async fn schedules(
        &self,
        after: Option<CcPairId>,
        limit: u32,
    ) -> Result<Vec<(CcPairId, Schedule)>, StoreError> {
        read!(self, "index_attempt.schedules", |conn| {
            let query = cc_pair::table
                .inner_join(connector::table)
                .filter(cc_pair::run_by.eq(SCHEDULE))
                .filter(cc_pair::id.gt(after.map_or(i32::MIN, |id| id.0)))
                .order(cc_pair::id)
                .limit(i64::from(limit));
            Ok(load_schedules!(conn, query))
        })
    }

    #[tracing::instrument(name = "db.index_attempt.begin", skip_all)]
    async fn begin(
        &self,
        pair: CcPairId,
        expected: &Schedule,
        plan: RunPlan,
        now: DateTime<Utc>,
    ) -> Result<Option<IndexAttemptId>, StoreError> {
        self.begin_attempt(pair, expected, plan, now).await
    }

    #[tracing::instrument(name = "db.index_attempt.claim", level = "debug", skip_all)]
    async fn claim(
        &self,
        now: DateTime<Utc>,
        lease: Duration,
        limit: u32,
        busy: &BTreeSet<DocumentSource>,
    ) -> Result<Vec<ClaimedAttempt>, StoreError> {
        self.claim_attempts(now, lease, limit, busy).await
    }

    #[tracing::instrument(name = "db.index_attempt.heartbeat", level = "debug", skip_all)]
    async fn heartbeat(
        &self,
        claimed: &ClaimedAttempt,
        now: DateTime<Utc>,
        lease: Duration,
    ) -> Result<Control, StoreError> {
        self.prolong_attempt(claimed, now, lease).await
    }

    #[tracing::instrument(name = "db.index_attempt.record_step", skip_all)]
    async fn record_step(
        &self,
        claimed: &ClaimedAttempt,
        step: StepRecord,
        now: DateTime<Utc>,
        lease: Duration,
    ) -> Result<Control, StoreError> {
        self.write_step(claimed, step, now, lease).await
    }

    #[tracing::instrument(name = "db.index_attempt.restart", skip_all)]
    async fn restart(
        &self,
        claimed: &ClaimedAttempt,
        now: DateTime<Utc>,
        lease: Duration,
    ) -> Result<Control, StoreError> {
        self.restart_attempt(claimed, now, lease).await
    }

    #[tracing::instrument(name = "db.index_attempt.put_back", skip_all)]
    async fn put_back(
        &self,
        claimed: &ClaimedAttempt,
        error: &str,
        retry_at: DateTime<Utc>,
        now: DateTime<Utc>,
    ) -> Result<Control, StoreError> {
        self.put_attempt_back(claimed, error, retry_at, now).await
    }

    #[tracing::instrument(name = "db.index_attempt.release", skip_all)]
    async fn release(
        &self,
        claimed: &ClaimedAttempt,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        self.release_attempt(claimed, now).await
    }

    #[tracing::instrument(name = "db.index_attempt.finish", skip_all)]
    async fn finish(
        &self,
        claimed: &ClaimedAttempt,
        end: AttemptEnd,
        now: DateTime<Utc>,
        keep_after: DateTime<Utc>,
    ) -> Result<Control, StoreError> {
        self.finish_attempt(claimed, end, now, keep_after).await
    }

    #[tracing::instrument(name = "db.index_attempt.set_trigger", skip_all)]
    async fn set_trigger(
        &self,
        pairs: &[CcPairId],
        trigger: IndexingTrigger,
    ) -> Result<u64, StoreError> {
        self.write_trigger(pairs, trigger).await
    }

    #[tracing::instrument(name = "db.index_attempt.request_stop", skip_all)]
    async fn request_stop(
        &self,
        pair: CcPairId,
        reason: StopReason,
        now: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        self.stop_attempt(pair, reason, now).await
    }

    #[tracing::instrument(name = "db.index_attempt.list", skip_all)]
    async fn list(
        &self,
        pair: CcPairId,
        offset: u64,
        limit: u32,
    ) -> Result<NumberedPage<IndexAttempt>, StoreError> {
        let offset = i64::try_from(offset).unwrap_or(i64::MAX);
        read!(self, "index_attempt.list", |conn| {
            let of_pair = index_attempt::table.filter(index_attempt::cc_pair_id.eq(pair.0));
            let total: i64 = of_pair.count().get_result(conn).await?;
            let rows: Vec<AttemptRow> = of_pair
                .order(index_attempt::id.desc())
                .limit(i64::from(limit))
                .offset(offset)
                .select(AttemptRow::as_select())
                .load(conn)
                .await?;
            let items = rows.into_iter().map(IndexAttempt::try_from).collect::<Result<_, _>>()?;
            Ok(NumberedPage { items, total: count(total) })
        })
    }

    #[tracing::instrument(name = "db.index_attempt.list_errors", skip_all)]
    async fn list_errors(
        &self,
        pair: CcPairId,
        with_resolved: bool,
        offset: u64,
        limit: u32,
    ) -> Result<NumberedPage<AttemptError>, StoreError> {
        let offset = i64::try_from(offset).unwrap_or(i64::MAX);
        read!(self, "index_attempt.list_errors", |conn| {
            let unresolved = index_attempt_error::resolved.eq(false);
            let of_pair = index_attempt_error::table
                .filter(index_attempt_error::cc_pair_id.eq(pair.0))
                .filter(unresolved.or(with_resolved.into_sql::<diesel::sql_types::Bool>()));
            let total: i64 = of_pair.count().get_result(conn).await?;
            let rows: Vec<ErrorRow> = of_pair
                .order(index_attempt_error::id.desc())
                .limit(i64::from(limit))
                .offset(offset)
                .select(ErrorRow::as_select())
                .load(conn)
                .await?;
            let items = rows.into_iter().map(AttemptError::try_from).collect::<Result<_, _>>()?;
            Ok(NumberedPage { items, total: count(total) })
        })
    }

    #[tracing::instrument(name = "db.index_attempt.latest", skip_all)]
    async fn latest(&self, pairs: &[CcPairId]) -> Result<Vec<PairRuns>, StoreError> {
        let ids: Vec<i32> = pairs.iter().map(|pair| pair.0).collect();
        read!(self, "index_attempt.latest", |conn| {
            let status = |status: AttemptStatus| index_attempt::status.eq(status.as_str());
            let unfinished = [AttemptStatus::NotStarted, AttemptStatus::InProgress];
            let unfinished = unfinished.map(AttemptStatus::as_str);
            let mut last = latest!(conn, ids, index_attempt::status.is_not_null());
            let mut finished = latest!(conn, ids, index_attempt::status.ne_all(unfinished));
            let mut success = latest!(conn, ids, status(AttemptStatus::Success));
            let mut failed = latest!(conn, ids, status(AttemptStatus::Failed));
            let mut documents: BTreeMap<i32, i64> = BTreeMap::new();
            for ids in ids.chunks(KEYS_MAX) {
                let counts: Vec<(i32, i64)> = document_cc_pair::table
                    .filter(document_cc_pair::cc_pair_id.eq_any(ids))
                    .filter(document_cc_pair::indexed.eq(true))
                    .group_by(document_cc_pair::cc_pair_id)
                    .select((document_cc_pair::cc_pair_id, diesel::dsl::count_star()))
                    .load(conn)
                    .await?;
                documents.extend(counts);
            }
            let runs = ids.iter().map(|id| PairRuns {
                pair: CcPairId(*id),
                last: last.remove(id),
                last_finished: finished.remove(id),
                last_success: success.remove(id),
                last_failed: failed.remove(id),
                documents: documents.get(id).map_or(0, |documents| count(*documents)),
            });
            Ok(runs.collect())
        })
    }
}
