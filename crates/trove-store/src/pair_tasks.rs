//! Prunings and deletions of pairs: the port, and how they begin. What workers do is in `work`, how
//! tasks end in `end`.

mod end;
mod work;

use std::collections::BTreeSet;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncConnection, RunQueryDsl};
use trove_domain::cc_pair::CcPairStatus;
use trove_domain::error::StoreError;
use trove_domain::id::{CcPairId, DocumentId, PairTaskId};
use trove_domain::indexing::StopReason;
use trove_domain::indexing::pruning::PruneSchedule;
use trove_domain::indexing::task::{PairTask, TaskKind};
use trove_domain::job::NewJob;
use trove_domain::port::{
    ClaimedTask, FileKey, ListingStep, PairRefusal, PairTaskStore, TaskEnd, Unlinked,
};

use crate::Store;
use crate::attempts::{stop_unfinished, unfinished};
use crate::backend::{KEYS_MAX, read, transact};
use crate::documents::mark_dirty;
use crate::error::{Failure, corrupt};
use crate::jobs::insert_job;
use crate::locks::Locks;
use crate::pairs::{SCHEDULE, scheduled_status};
use crate::schema::{cc_pair, connector, index_attempt, pair_task};
use crate::sql::Time;

/// The pruning of a pair that is under way.
macro_rules! pruning {
    ($conn:expr, $pair:expr) => {{
        use crate::schema::pair_task;
        use trove_domain::indexing::task::TaskKind;
        let pruning: Option<i32> = pair_task::table
            .filter(pair_task::cc_pair_id.eq($pair))
            .filter(pair_task::kind.eq(TaskKind::Prune.as_str()))
            .select(pair_task::id)
            .first($conn)
            .await
            .optional()?;
        pruning
    }};
}
pub(crate) use pruning;

/// Says of documents of a pair, which are locked, that a pruning has seen them.
macro_rules! mark_listed {
    ($conn:expr, $pair:expr, $ids:expr, $pruning:expr) => {{
        use crate::schema::document_cc_pair;
        let other =
            document_cc_pair::listed_by.is_null().or(document_cc_pair::listed_by.ne($pruning));
        diesel::update(document_cc_pair::table)
            .filter(document_cc_pair::cc_pair_id.eq($pair))
            .filter(document_cc_pair::document_id.eq_any($ids))
            .filter(other)
            .set(document_cc_pair::listed_by.eq(Some($pruning)))
            .execute($conn)
            .await?;
    }};
}
pub(crate) use mark_listed;

/// Ends the pruning of a pair, which is locked: its worker learns so with its next word. It is asked
/// for again when the pair is active.
macro_rules! end_pruning {
    ($conn:expr, $pair:expr) => {{
        use crate::schema::{cc_pair, pair_task};
        use trove_domain::indexing::task::TaskKind;
        let ended = diesel::delete(pair_task::table)
            .filter(pair_task::cc_pair_id.eq($pair))
            .filter(pair_task::kind.eq(TaskKind::Prune.as_str()))
            .execute($conn)
            .await?;
        if ended > 0 {
            diesel::update(cc_pair::table.find($pair))
                .set(cc_pair::prune_requested.eq(true))
                .execute($conn)
                .await?;
        }
    }};
}
pub(crate) use end_pruning;

/// Columns of a task that everybody sees.
#[derive(Queryable, Selectable)]
#[diesel(table_name = pair_task)]
struct TaskRow {
    id: i32,
    cc_pair_id: i32,
    kind: String,
    tries: i32,
    retry_at: Option<Time>,
    error: Option<String>,
    leased_until: Option<Time>,
    created_at: Time,
    updated_at: Time,
}

impl TryFrom<TaskRow> for PairTask {
    type Error = Failure;

    fn try_from(row: TaskRow) -> Result<Self, Failure> {
        Ok(Self {
            id: PairTaskId(row.id),
            pair: CcPairId(row.cc_pair_id),
            kind: row.kind.parse().map_err(corrupt("pair task", row.id))?,
            tries: u32::try_from(row.tries).unwrap_or(0),
            retry_at: row.retry_at.map(|at| at.0),
            error: row.error,
            leased_until: row.leased_until.map(|at| at.0),
            created_at: row.created_at.0,
            updated_at: row.updated_at.0,
        })
    }
}

/// What a pair and its connector say of pruning.
type PairRow = (i32, String, String, bool, Option<i32>, Option<Time>, Option<Time>, Time);

/// The schedules of the pairs of a query over `cc_pair` joined with `connector`, in its order.
macro_rules! load_prune_schedules {
    ($conn:expr, $query:expr) => {{
        let rows: Vec<PairRow> = $query
            .select((
                cc_pair::id,
                cc_pair::status,
                cc_pair::run_by,
                cc_pair::prune_requested,
                connector::prune_freq_s,
                cc_pair::last_successful_index_at,
                cc_pair::last_pruned_at,
                connector::created_at,
            ))
            .load($conn)
            .await?;
        let ids: Vec<i32> = rows.iter().map(|row| row.0).collect();
        let (mut indexing, mut busy) = (BTreeSet::new(), BTreeSet::new());
        for ids in ids.chunks(KEYS_MAX) {
            let found: Vec<i32> = index_attempt::table
                .filter(index_attempt::cc_pair_id.eq_any(ids))
                .filter(index_attempt::status.eq_any(unfinished()))
                .select(index_attempt::cc_pair_id)
                .load($conn)
                .await?;
            indexing.extend(found);
            let found: Vec<i32> = pair_task::table
                .filter(pair_task::cc_pair_id.eq_any(ids))
                .select(pair_task::cc_pair_id)
                .load($conn)
                .await?;
            busy.extend(found);
        }
        let mut schedules: Vec<(CcPairId, PruneSchedule)> = Vec::with_capacity(rows.len());
        for (id, status, run_by, is_requested, freq, indexed_at, pruned_at, made_at) in rows {
            let schedule = PruneSchedule {
                status: status.parse().map_err(corrupt("cc pair", id))?,
                is_scheduled: run_by == SCHEDULE,
                is_requested,
                prune_freq_s: freq.and_then(|seconds| u32::try_from(seconds).ok()),
                was_indexed: indexed_at.is_some(),
                last: pruned_at.unwrap_or(made_at).0,
                is_indexing: indexing.contains(&id),
                has_task: busy.contains(&id),
            };
            schedules.push((CcPairId(id), schedule));
        }
        schedules
    }};
}

#[async_trait]
impl PairTaskStore for Store {
    #[tracing::instrument(name = "db.pair_task.prune_schedules", level = "debug", skip_all)]
    async fn prune_schedules(
        &self,
        after: Option<CcPairId>,
        limit: u32,
    ) -> Result<Vec<(CcPairId, PruneSchedule)>, StoreError> {
        read!(self, "pair_task.prune_schedules", |conn| {
            let wanted =
                cc_pair::prune_requested.eq(true).or(connector::prune_freq_s.is_not_null());
            let query = cc_pair::table
                .inner_join(connector::table)
                .filter(cc_pair::run_by.eq(SCHEDULE))
                .filter(cc_pair::status.eq(CcPairStatus::Active.as_str()))
                .filter(wanted)
                .filter(cc_pair::id.gt(after.map_or(i32::MIN, |id| id.0)))
                .order(cc_pair::id)
                .limit(i64::from(limit));
            Ok(load_prune_schedules!(conn, query))
        })
    }

    #[tracing::instrument(name = "db.pair_task.begin_prune", skip_all)]
    async fn begin_prune(
        &self,
        pair: CcPairId,
        expected: &PruneSchedule,
        now: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        transact!(self, "pair_task.begin_prune", |conn| {
            conn.lock_pairs(&[pair.0]).await?;
            let query = cc_pair::table.inner_join(connector::table).filter(cc_pair::id.eq(pair.0));
            let present: Option<(CcPairId, PruneSchedule)> =
                load_prune_schedules!(conn, query).pop();
            if present.is_none_or(|(_, present)| present != *expected || present.has_task) {
                return Ok(false);
            }
            diesel::insert_into(pair_task::table)
                .values((
                    pair_task::cc_pair_id.eq(pair.0),
                    pair_task::kind.eq(TaskKind::Prune.as_str()),
                    pair_task::created_at.eq(Time(now)),
                    pair_task::updated_at.eq(Time(now)),
                ))
                .execute(conn)
                .await?;
            diesel::update(cc_pair::table.find(pair.0))
                .set(cc_pair::prune_requested.eq(false))
                .execute(conn)
                .await?;
            Ok(true)
        })
    }

    #[tracing::instrument(name = "db.pair_task.request_prune", skip_all)]
    async fn request_prune(
        &self,
        pair: CcPairId,
        anew: bool,
    ) -> Result<Result<(), PairRefusal>, StoreError> {
        transact!(self, "pair_task.request_prune", |conn| {
            let status = scheduled_status!(conn, pair.0);
            if status == CcPairStatus::Deleting.as_str() {
                return Ok(Err(PairRefusal::Deleting));
            }
            if !anew && pruning!(conn, pair.0).is_some() {
                return Ok(Err(PairRefusal::Pruning));
            }
            diesel::update(cc_pair::table.find(pair.0))
                .set(cc_pair::prune_requested.eq(true))
                .execute(conn)
                .await?;
            Ok(Ok(()))
        })
    }

    #[tracing::instrument(name = "db.pair_task.begin_deletion", skip_all)]
    async fn begin_deletion(
        &self,
        pair: CcPairId,
        now: DateTime<Utc>,
        job: NewJob,
    ) -> Result<Result<(), PairRefusal>, StoreError> {
        let job_id = self.ids().uuid();
        transact!(self, "pair_task.begin_deletion", |conn| {
            scheduled_status!(conn, pair.0);
            let present: Option<(String, Option<String>)> = pair_task::table
                .filter(pair_task::cc_pair_id.eq(pair.0))
                .select((pair_task::kind, pair_task::unlinked))
                .first(conn)
                .await
                .optional()?;
            if present.as_ref().is_some_and(|(kind, _)| kind == TaskKind::Deletion.as_str()) {
                diesel::update(pair_task::table.filter(pair_task::cc_pair_id.eq(pair.0)))
                    .set(pair_task::retry_at.eq(None::<Time>))
                    .execute(conn)
                    .await?;
                return Ok(Ok(()));
            }
            diesel::update(cc_pair::table.find(pair.0))
                .set((
                    cc_pair::status.eq(CcPairStatus::Deleting.as_str()),
                    cc_pair::indexing_trigger.eq(None::<String>),
                    cc_pair::prune_requested.eq(false),
                    cc_pair::deletion_failure.eq(None::<String>),
                ))
                .execute(conn)
                .await?;
            let _stopped = stop_unfinished!(conn, pair.0, StopReason::Deleting, now);
            diesel::delete(pair_task::table.filter(pair_task::cc_pair_id.eq(pair.0)))
                .execute(conn)
                .await?;
            diesel::insert_into(pair_task::table)
                .values((
                    pair_task::cc_pair_id.eq(pair.0),
                    pair_task::kind.eq(TaskKind::Deletion.as_str()),
                    // What a pruning took away the index may still hold.
                    pair_task::unlinked.eq(present.and_then(|(_, unlinked)| unlinked)),
                    pair_task::created_at.eq(Time(now)),
                    pair_task::updated_at.eq(Time(now)),
                ))
                .execute(conn)
                .await?;
            // Their turn to be taken away may come much later.
            mark_dirty!(conn, &[pair.0], now);
            insert_job!(conn, job_id, job);
            Ok(Ok(()))
        })
    }

    #[tracing::instrument(name = "db.pair_task.claim", level = "debug", skip_all)]
    async fn claim(
        &self,
        now: DateTime<Utc>,
        lease: Duration,
        limit: u32,
    ) -> Result<Vec<ClaimedTask>, StoreError> {
        self.claim_tasks(now, lease, limit).await
    }

    #[tracing::instrument(name = "db.pair_task.heartbeat", level = "debug", skip_all)]
    async fn heartbeat(
        &self,
        claimed: &ClaimedTask,
        now: DateTime<Utc>,
        lease: Duration,
    ) -> Result<bool, StoreError> {
        self.prolong_task(claimed, now, lease).await
    }

    #[tracing::instrument(name = "db.pair_task.record_listing", skip_all)]
    async fn record_listing(
        &self,
        claimed: &ClaimedTask,
        step: &ListingStep,
        now: DateTime<Utc>,
        lease: Duration,
    ) -> Result<bool, StoreError> {
        self.write_listing(claimed, step, now, lease).await
    }

    #[tracing::instrument(name = "db.pair_task.to_unlink", skip_all)]
    async fn to_unlink(
        &self,
        claimed: &ClaimedTask,
        after: Option<&DocumentId>,
        limit: u32,
    ) -> Result<Vec<DocumentId>, StoreError> {
        self.task_documents(claimed, after, limit).await
    }

    #[tracing::instrument(name = "db.pair_task.unlink", skip_all)]
    async fn unlink(
        &self,
        claimed: &ClaimedTask,
        ids: &[DocumentId],
        now: DateTime<Utc>,
        lease: Duration,
    ) -> Result<Option<Vec<Unlinked>>, StoreError> {
        self.unlink_for_task(claimed, ids, now, lease).await
    }

    #[tracing::instrument(name = "db.pair_task.put_back", skip_all)]
    async fn put_back(
        &self,
        claimed: &ClaimedTask,
        error: &str,
        retry_at: DateTime<Utc>,
        now: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        self.put_task_back(claimed, error, retry_at, now).await
    }

    #[tracing::instrument(name = "db.pair_task.release", skip_all)]
    async fn release(&self, claimed: &ClaimedTask, now: DateTime<Utc>) -> Result<(), StoreError> {
        self.release_task(claimed, now).await
    }

    #[tracing::instrument(name = "db.pair_task.files_to_remove", skip_all)]
    async fn files_to_remove(&self, pair: CcPairId) -> Result<Vec<FileKey>, StoreError> {
        self.files_of_last_pair(pair).await
    }

    #[tracing::instrument(name = "db.pair_task.finish", skip_all)]
    async fn finish(
        &self,
        claimed: &ClaimedTask,
        files: &[FileKey],
        now: DateTime<Utc>,
    ) -> Result<TaskEnd, StoreError> {
        match claimed.task.kind {
            TaskKind::Prune => self.end_prune(claimed, now).await,
            TaskKind::Deletion => self.end_deletion(claimed, files).await,
        }
    }

    #[tracing::instrument(name = "db.pair_task.find", skip_all)]
    async fn find(&self, pairs: &[CcPairId]) -> Result<Vec<PairTask>, StoreError> {
        let ids: BTreeSet<i32> = pairs.iter().map(|pair| pair.0).collect();
        let ids: Vec<i32> = ids.into_iter().collect();
        read!(self, "pair_task.find", |conn| {
            let mut tasks = Vec::new();
            for ids in ids.chunks(KEYS_MAX) {
                let rows: Vec<TaskRow> = pair_task::table
                    .filter(pair_task::cc_pair_id.eq_any(ids))
                    .order(pair_task::cc_pair_id)
                    .select(TaskRow::as_select())
                    .load(conn)
                    .await?;
                for row in rows {
                    tasks.push(PairTask::try_from(row)?);
                }
            }
            Ok(tasks)
        })
    }
}
