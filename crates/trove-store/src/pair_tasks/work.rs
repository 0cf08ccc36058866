//! What workers do with a task that is theirs.

use std::collections::HashMap;
use std::time::Duration;

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl};
use trove_domain::error::StoreError;
use trove_domain::id::{DocumentId, PairTaskId};
use trove_domain::indexing::task::{PairTask, TaskKind};
use trove_domain::port::{Checkpoint, ClaimedTask, ListingStep, Unlinked};

use super::{TaskRow, mark_listed};
use crate::Store;
use crate::backend::{KEYS_MAX, Sqlite, read, transact};
use crate::documents::{distinct, document_id, present, unlink_documents};
use crate::error::{Failure, corrupt};
use crate::jobs::after;
use crate::locks::Locks;
use crate::schema::{cc_pair, document_cc_pair, pair_task};
use crate::sql::Time;

/// Tasks that a worker may take, those first that nothing happened to for longest.
macro_rules! claimable {
    ($now:expr, $limit:expr) => {{
        let free = pair_task::leased_until.is_null().or(pair_task::leased_until.lt(Time($now)));
        let due = pair_task::retry_at.is_null().or(pair_task::retry_at.le(Time($now)));
        pair_task::table
            .filter(free)
            .filter(due)
            .order((pair_task::updated_at, pair_task::id))
            .limit(i64::from($limit))
            .select(pair_task::id)
    }};
}

/// Tasks that nobody else can claim before the transaction ends.
trait Claimable {
    async fn claimable(&mut self, now: DateTime<Utc>, limit: u32) -> QueryResult<Vec<i32>>;
}

impl Claimable for Sqlite {
    async fn claimable(&mut self, now: DateTime<Utc>, limit: u32) -> QueryResult<Vec<i32>> {
        claimable!(now, limit).load(self).await
    }
}

impl Claimable for AsyncPgConnection {
    async fn claimable(&mut self, now: DateTime<Utc>, limit: u32) -> QueryResult<Vec<i32>> {
        // Other workers take theirs at the same time.
        claimable!(now, limit).for_update().skip_locked().load(self).await
    }
}

/// The row of a task as long as it is this worker's: every claim counts up, and whoever gives it
/// back has no lease.
macro_rules! held {
    ($claimed:expr) => {
        pair_task::table
            .find($claimed.task.id.0)
            .filter(pair_task::claims.eq(i32::try_from($claimed.claim).unwrap_or(i32::MAX)))
            .filter(pair_task::leased_until.is_not_null())
    };
}
pub(super) use held;

/// Ends the step with `$lost` unless the task is this worker's, and keeps others from it.
macro_rules! hold {
    ($conn:expr, $claimed:expr, $lost:expr) => {{
        // A change that changes nothing takes the row on both databases.
        let held = diesel::update(held!($claimed))
            .set(pair_task::claims.eq(pair_task::claims))
            .execute($conn)
            .await?;
        if held == 0 {
            return Ok($lost);
        }
    }};
}
pub(super) use hold;

/// A step that succeeded: nothing is wrong any more, and the lease begins anew.
macro_rules! succeeded {
    ($claimed:expr, $now:expr, $lease:expr) => {
        (
            pair_task::tries.eq(0),
            pair_task::error.eq(None::<String>),
            pair_task::leased_until.eq(Some(Time(after($now, $lease)))),
            pair_task::updated_at.eq(Time($now)),
        )
    };
}

/// The rest of a claimed task: checkpoint, whether all is listed, what was unlinked, claims.
type WorkRow = (Option<String>, bool, Option<String>, i32);

fn claimed(row: TaskRow, work: WorkRow) -> Result<ClaimedTask, Failure> {
    let (checkpoint, listed, unlinked, claims) = work;
    let damaged = || corrupt("work of pair task", row.id);
    let checkpoint = checkpoint
        .map(|text| serde_json::from_str(&text).map(Checkpoint))
        .transpose()
        .map_err(damaged())?;
    let unlinked: Vec<String> =
        unlinked.map_or(Ok(Vec::new()), |text| serde_json::from_str(&text)).map_err(damaged())?;
    let unlinked = unlinked.into_iter().map(document_id).collect::<Result<_, _>>()?;
    let claim = u32::try_from(claims).unwrap_or(0);
    Ok(ClaimedTask { task: PairTask::try_from(row)?, checkpoint, listed, unlinked, claim })
}

impl Store {
    pub(super) async fn claim_tasks(
        &self,
        now: DateTime<Utc>,
        lease: Duration,
        limit: u32,
    ) -> Result<Vec<ClaimedTask>, StoreError> {
        // Polling must not take SQLite's write lock while there is nothing to do.
        let idle = read!(self, "pair_task.claim", |conn| {
            let one: Vec<i32> = claimable!(now, limit.min(1)).load(conn).await?;
            Ok(one.is_empty())
        })?;
        if idle {
            return Ok(Vec::new());
        }
        let until = after(now, lease);
        transact!(self, "pair_task.claim", |conn| {
            let ids = conn.claimable(now, limit).await?;
            diesel::update(pair_task::table.filter(pair_task::id.eq_any(&ids)))
                .set((
                    pair_task::claims.eq(pair_task::claims + 1),
                    pair_task::leased_until.eq(Some(Time(until))),
                    pair_task::retry_at.eq(None::<Time>),
                    pair_task::updated_at.eq(Time(now)),
                ))
                .execute(conn)
                .await?;
            let work =
                (pair_task::checkpoint, pair_task::listed, pair_task::unlinked, pair_task::claims);
            let rows: Vec<(TaskRow, WorkRow)> = pair_task::table
                .filter(pair_task::id.eq_any(&ids))
                .select((TaskRow::as_select(), work))
                .load(conn)
                .await?;
            let mut tasks = Vec::with_capacity(rows.len());
            for (row, work) in rows {
                tasks.push(claimed(row, work)?);
            }
            tasks.sort_unstable_by_key(|claimed: &ClaimedTask| {
                ids.iter().position(|id| PairTaskId(*id) == claimed.task.id)
            });
            Ok(tasks)
        })
    }

    pub(super) async fn prolong_task(
        &self,
        claimed: &ClaimedTask,
        now: DateTime<Utc>,
        lease: Duration,
    ) -> Result<bool, StoreError> {
        transact!(self, "pair_task.heartbeat", |conn| {
            let held = diesel::update(held!(claimed))
                .set((
                    pair_task::leased_until.eq(Some(Time(after(now, lease)))),
                    pair_task::updated_at.eq(Time(now)),
                ))
                .execute(conn)
                .await?;
            Ok(held > 0)
        })
    }

    pub(super) async fn write_listing(
        &self,
        claimed: &ClaimedTask,
        step: &ListingStep,
        now: DateTime<Utc>,
        lease: Duration,
    ) -> Result<bool, StoreError> {
        let ids = distinct(&step.ids);
        let checkpoint = step.next.as_ref().map(|Checkpoint(value)| value.to_string());
        let (task, pair) = (claimed.task.id.0, claimed.task.pair.0);
        transact!(self, "pair_task.record_listing", |conn| {
            hold!(conn, claimed, false);
            diesel::update(held!(claimed))
                .set((
                    pair_task::checkpoint.eq(&checkpoint),
                    pair_task::listed.eq(checkpoint.is_none()),
                    succeeded!(claimed, now, lease),
                ))
                .execute(conn)
                .await?;
            for ids in ids.chunks(KEYS_MAX) {
                conn.lock_documents(ids).await?;
                mark_listed!(conn, pair, ids, task);
            }
            Ok(true)
        })
    }

    pub(super) async fn task_documents(
        &self,
        claimed: &ClaimedTask,
        after: Option<&DocumentId>,
        limit: u32,
    ) -> Result<Vec<DocumentId>, StoreError> {
        let (task, pair) = (claimed.task.id.0, claimed.task.pair.0);
        read!(self, "pair_task.to_unlink", |conn| {
            let of_pair = document_cc_pair::table
                .filter(document_cc_pair::cc_pair_id.eq(pair))
                .filter(document_cc_pair::document_id.gt(after.map_or("", DocumentId::as_str)))
                .order(document_cc_pair::document_id)
                .limit(i64::from(limit))
                .select(document_cc_pair::document_id);
            let ids: Vec<String> = match claimed.task.kind {
                TaskKind::Deletion => of_pair.load(conn).await?,
                TaskKind::Prune => {
                    let unseen = document_cc_pair::listed_by
                        .is_null()
                        .or(document_cc_pair::listed_by.ne(task));
                    let listed = pair_task::table
                        .filter(pair_task::id.eq(task))
                        .filter(pair_task::listed.eq(true));
                    of_pair.filter(unseen).filter(diesel::dsl::exists(listed)).load(conn).await?
                }
            };
            ids.into_iter().map(document_id).collect()
        })
    }

    pub(super) async fn unlink_for_task(
        &self,
        claimed: &ClaimedTask,
        ids: &[DocumentId],
        now: DateTime<Utc>,
        lease: Duration,
    ) -> Result<Option<Vec<Unlinked>>, StoreError> {
        let all = distinct(ids);
        let (task, pair) = (claimed.task.id.0, claimed.task.pair.0);
        let outcomes: Option<HashMap<String, Unlinked>> =
            transact!(self, "pair_task.unlink", |conn| {
                conn.lock_pairs(&[pair]).await?;
                hold!(conn, claimed, None);
                let listed: bool =
                    pair_task::table.find(task).select(pair_task::listed).first(conn).await?;
                let mut outcomes = HashMap::new();
                for ids in all.chunks(KEYS_MAX) {
                    let of_pair = document_cc_pair::cc_pair_id.eq(pair);
                    match claimed.task.kind {
                        TaskKind::Deletion => {
                            let links = document_cc_pair::table.filter(of_pair);
                            unlink_documents!(conn, links, ids, now, outcomes);
                        }
                        TaskKind::Prune if listed => {
                            let unseen = document_cc_pair::listed_by
                                .is_null()
                                .or(document_cc_pair::listed_by.ne(task));
                            let links = document_cc_pair::table.filter(of_pair).filter(unseen);
                            unlink_documents!(conn, links, ids, now, outcomes);
                        }
                        // Nothing is known about what is missing.
                        TaskKind::Prune => {}
                    }
                }
                let unlinked: Vec<&str> =
                    all.iter().copied().filter(|id| outcomes.contains_key(*id)).collect();
                let unlinked = serde_json::Value::from(unlinked).to_string();
                diesel::update(held!(claimed))
                    .set((pair_task::unlinked.eq(Some(unlinked)), succeeded!(claimed, now, lease)))
                    .execute(conn)
                    .await?;
                diesel::update(cc_pair::table.find(pair))
                    .set(cc_pair::deletion_failure.eq(None::<String>))
                    .execute(conn)
                    .await?;
                Ok(Some(outcomes))
            })?;
        let in_order = |mut outcomes: HashMap<String, Unlinked>| {
            let taken = |id: &DocumentId| outcomes.remove(id.as_str());
            ids.iter().map(taken).map(|found| found.unwrap_or(Unlinked::NotLinked)).collect()
        };
        Ok(outcomes.map(in_order))
    }

    pub(super) async fn put_task_back(
        &self,
        claimed: &ClaimedTask,
        error: &str,
        retry_at: DateTime<Utc>,
        now: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        let error = error.replace('\0', "\u{fffd}");
        let pair = claimed.task.pair.0;
        transact!(self, "pair_task.put_back", |conn| {
            conn.lock_pairs(&[pair]).await?;
            hold!(conn, claimed, false);
            diesel::update(held!(claimed))
                .set((
                    pair_task::tries.eq(pair_task::tries + 1),
                    pair_task::error.eq(Some(&error)),
                    pair_task::retry_at.eq(Some(Time(retry_at))),
                    pair_task::leased_until.eq(None::<Time>),
                    pair_task::updated_at.eq(Time(now)),
                ))
                .execute(conn)
                .await?;
            if claimed.task.kind == TaskKind::Deletion {
                diesel::update(cc_pair::table.find(pair))
                    .set(cc_pair::deletion_failure.eq(Some(&error)))
                    .execute(conn)
                    .await?;
            }
            Ok(true)
        })
    }

    pub(super) async fn release_task(
        &self,
        claimed: &ClaimedTask,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        transact!(self, "pair_task.release", |conn| {
            diesel::update(held!(claimed))
                .set((
                    pair_task::leased_until.eq(None::<Time>),
                    pair_task::updated_at.eq(Time(now)),
                ))
                .execute(conn)
                .await?;
            Ok(())
        })
    }
}
