//! What workers do with an attempt that is theirs.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl};
use trove_domain::error::StoreError;
use trove_domain::id::{DocumentId, IndexAttemptId};
use trove_domain::indexing::{AttemptStatus, IndexAttempt, StopReason};
use trove_domain::port::{Checkpoint, ClaimedAttempt, Control, FailedPart, StepRecord};
use trove_domain::source::DocumentSource;

use super::AttemptRow;
use crate::Store;
use crate::backend::{KEYS_MAX, Sqlite, read, transact};
use crate::documents::distinct;
use crate::error::{Failure, corrupt};
use crate::jobs::after;
use crate::locks::Locks;
use crate::pair_tasks::{mark_listed, pruning};
use crate::schema::{cc_pair, connector, index_attempt, index_attempt_error};
use crate::sql::Time;

/// Most errors of one attempt that are kept; its progress counts the others, too.
const ERRORS_KEPT: i64 = 10_000;

/// Attempts that a worker may take, those first that nothing happened to for longest.
macro_rules! claimable {
    ($now:expr, $limit:expr, $busy:expr) => {{
        let busy: Vec<&str> = $busy.iter().map(|source| source.as_str()).collect();
        let of_busy = cc_pair::table
            .inner_join(connector::table)
            .filter(connector::source.eq_any(busy))
            .select(cc_pair::id);
        let unfinished = [AttemptStatus::NotStarted, AttemptStatus::InProgress];
        let free =
            index_attempt::leased_until.is_null().or(index_attempt::leased_until.lt(Time($now)));
        let due = index_attempt::retry_at.is_null().or(index_attempt::retry_at.le(Time($now)));
        index_attempt::table
            .filter(index_attempt::status.eq_any(unfinished.map(AttemptStatus::as_str)))
            .filter(free)
            .filter(due)
            .filter(index_attempt::cc_pair_id.ne_all(of_busy))
            .order((index_attempt::updated_at, index_attempt::id))
            .limit(i64::from($limit))
            .select(index_attempt::id)
    }};
}

/// Attempts that nobody else can claim before the transaction ends.
trait Claimable {
    async fn claimable(
        &mut self,
        now: DateTime<Utc>,
        limit: u32,
        busy: &BTreeSet<DocumentSource>,
    ) -> QueryResult<Vec<i32>>;
}

impl Claimable for Sqlite {
    async fn claimable(
        &mut self,
        now: DateTime<Utc>,
        limit: u32,
        busy: &BTreeSet<DocumentSource>,
    ) -> QueryResult<Vec<i32>> {
        claimable!(now, limit, busy).load(self).await
    }
}

impl Claimable for AsyncPgConnection {
    async fn claimable(
        &mut self,
        now: DateTime<Utc>,
        limit: u32,
        busy: &BTreeSet<DocumentSource>,
    ) -> QueryResult<Vec<i32>> {
        // Other workers take theirs at the same time.
        claimable!(now, limit, busy).for_update().skip_locked().load(self).await
    }
}

/// The row of an attempt as long as it is this worker's: every claim counts up.
macro_rules! held {
    ($claimed:expr) => {
        index_attempt::table
            .find($claimed.attempt.id.0)
            .filter(
                index_attempt::status
                    .eq(trove_domain::indexing::AttemptStatus::InProgress.as_str()),
            )
            .filter(index_attempt::claims.eq(i32::try_from($claimed.claim).unwrap_or(i32::MAX)))
    };
}
pub(super) use held;

/// Ends the step unless the attempt is this worker's, and keeps others from it; answers whether it
/// is to stop.
macro_rules! hold {
    ($conn:expr, $claimed:expr) => {{
        // A change that changes nothing takes the row on both databases.
        let stop: Option<Option<String>> = diesel::update(held!($claimed))
            .set(index_attempt::claims.eq(index_attempt::claims))
            .returning(index_attempt::stop_reason)
            .get_result($conn)
            .await
            .optional()?;
        match stop {
            None => return Ok(Control::Lost),
            Some(None) => Control::Go,
            Some(Some(reason)) => {
                let reason: StopReason =
                    reason.parse().map_err(corrupt("index attempt", $claimed.attempt.id))?;
                Control::Stop(reason)
            }
        }
    }};
}
pub(super) use hold;

fn more(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn checkpoint(id: i32, text: Option<String>) -> Result<Option<Checkpoint>, Failure> {
    let Some(text) = text else { return Ok(None) };
    let value = serde_json::from_str(&text).map_err(corrupt("checkpoint of index attempt", id))?;
    Ok(Some(Checkpoint(value)))
}

impl Store {
    pub(super) async fn claim_attempts(
        &self,
        now: DateTime<Utc>,
        lease: Duration,
        limit: u32,
        busy: &BTreeSet<DocumentSource>,
    ) -> Result<Vec<ClaimedAttempt>, StoreError> {
        // Polling must not take SQLite's write lock while there is nothing to do.
        let idle = read!(self, "index_attempt.claim", |conn| {
            let one: Vec<i32> = claimable!(now, limit.min(1), busy).load(conn).await?;
            Ok(one.is_empty())
        })?;
        if idle {
            return Ok(Vec::new());
        }
        let until = after(now, lease);
        transact!(self, "index_attempt.claim", |conn| {
            let ids = conn.claimable(now, limit, busy).await?;
            diesel::update(index_attempt::table.filter(index_attempt::id.eq_any(&ids)))
                .set((
                    index_attempt::status.eq(AttemptStatus::InProgress.as_str()),
                    index_attempt::claims.eq(index_attempt::claims + 1),
                    index_attempt::leased_until.eq(Some(Time(until))),
                    index_attempt::retry_at.eq(None::<Time>),
                    index_attempt::updated_at.eq(Time(now)),
                ))
                .execute(conn)
                .await?;
            diesel::update(
                index_attempt::table
                    .filter(index_attempt::id.eq_any(&ids))
                    .filter(index_attempt::started_at.is_null()),
            )
            .set(index_attempt::started_at.eq(Some(Time(now))))
            .execute(conn)
            .await?;
            let rows: Vec<(AttemptRow, Option<String>, i32)> = index_attempt::table
                .filter(index_attempt::id.eq_any(&ids))
                .select((AttemptRow::as_select(), index_attempt::checkpoint, index_attempt::claims))
                .load(conn)
                .await?;
            let sources: Vec<(i32, String)> = index_attempt::table
                .inner_join(cc_pair::table.inner_join(connector::table))
                .filter(index_attempt::id.eq_any(&ids))
                .select((index_attempt::id, connector::source))
                .load(conn)
                .await?;
            let mut sources: BTreeMap<i32, String> = sources.into_iter().collect();
            let mut claimed = Vec::with_capacity(rows.len());
            for (row, text, claims) in rows {
                let source = sources.remove(&row.id).unwrap_or_default();
                let source = source.parse().map_err(corrupt("index attempt", row.id))?;
                let checkpoint = checkpoint(row.id, text)?;
                let (attempt, claim) =
                    (IndexAttempt::try_from(row)?, u32::try_from(claims).unwrap_or(0));
                claimed.push(ClaimedAttempt { attempt, source, checkpoint, claim });
            }
            claimed.sort_unstable_by_key(|claimed: &ClaimedAttempt| {
                ids.iter().position(|id| IndexAttemptId(*id) == claimed.attempt.id)
            });
            Ok(claimed)
        })
    }

    pub(super) async fn prolong_attempt(
        &self,
        claimed: &ClaimedAttempt,
        now: DateTime<Utc>,
        lease: Duration,
    ) -> Result<Control, StoreError> {
        transact!(self, "index_attempt.heartbeat", |conn| {
            let control = hold!(conn, claimed);
            diesel::update(held!(claimed))
                .set((
                    index_attempt::leased_until.eq(Some(Time(after(now, lease)))),
                    index_attempt::updated_at.eq(Time(now)),
                ))
                .execute(conn)
                .await?;
            Ok(control)
        })
    }

    pub(super) async fn write_step(
        &self,
        claimed: &ClaimedAttempt,
        step: StepRecord,
        now: DateTime<Utc>,
        lease: Duration,
    ) -> Result<Control, StoreError> {
        let StepRecord { progress, failures, indexed, checkpoint } = step;
        let attempt = &claimed.attempt;
        let checkpoint = checkpoint.map(|Checkpoint(value)| value.to_string());
        let distinct = distinct(&indexed);
        let indexed: Vec<&str> = indexed.iter().map(DocumentId::as_str).collect();
        transact!(self, "index_attempt.record_step", |conn| {
            // What has not changed was not registered, and is there all the same. Documents come
            // before attempts.
            if let Some(pruning) = pruning!(conn, attempt.pair.0) {
                for indexed in distinct.chunks(KEYS_MAX) {
                    conn.lock_documents(indexed).await?;
                    mark_listed!(conn, attempt.pair.0, indexed, pruning);
                }
            }
            let control = hold!(conn, claimed);
            diesel::update(held!(claimed))
                .set((
                    index_attempt::steps.eq(index_attempt::steps + 1),
                    index_attempt::checkpoint.eq(&checkpoint),
                    index_attempt::documents_enumerated
                        .eq(index_attempt::documents_enumerated + more(progress.enumerated)),
                    index_attempt::documents_new
                        .eq(index_attempt::documents_new + more(progress.new)),
                    index_attempt::documents_updated
                        .eq(index_attempt::documents_updated + more(progress.updated)),
                    index_attempt::documents_unchanged
                        .eq(index_attempt::documents_unchanged + more(progress.unchanged)),
                    index_attempt::documents_skipped
                        .eq(index_attempt::documents_skipped + more(progress.skipped)),
                    index_attempt::documents_failed
                        .eq(index_attempt::documents_failed + more(progress.failed)),
                    index_attempt::tries.eq(0),
                    index_attempt::error.eq(None::<String>),
                    index_attempt::leased_until.eq(Some(Time(after(now, lease)))),
                    index_attempt::updated_at.eq(Time(now)),
                ))
                .execute(conn)
                .await?;
            for indexed in indexed.chunks(KEYS_MAX) {
                diesel::update(index_attempt_error::table)
                    .filter(index_attempt_error::cc_pair_id.eq(attempt.pair.0))
                    .filter(index_attempt_error::resolved.eq(false))
                    .filter(index_attempt_error::document_id.eq_any(indexed))
                    .set(index_attempt_error::resolved.eq(true))
                    .execute(conn)
                    .await?;
            }
            let kept: i64 = index_attempt_error::table
                .filter(index_attempt_error::index_attempt_id.eq(attempt.id.0))
                .count()
                .get_result(conn)
                .await?;
            let room = usize::try_from(ERRORS_KEPT - kept).unwrap_or(0);
            for failure in failures.iter().take(room) {
                let (document, link, entity, window) = match &failure.part {
                    FailedPart::Document { id, link } => {
                        (Some(id.as_str()), link.as_deref(), None, None)
                    }
                    FailedPart::Entity { id, window } => (None, None, Some(id.as_str()), *window),
                };
                diesel::insert_into(index_attempt_error::table)
                    .values((
                        index_attempt_error::index_attempt_id.eq(attempt.id.0),
                        index_attempt_error::cc_pair_id.eq(attempt.pair.0),
                        index_attempt_error::document_id.eq(document),
                        index_attempt_error::document_link.eq(link),
                        index_attempt_error::entity_id.eq(entity),
                        index_attempt_error::window_start.eq(window.map(|w| Time(w.start))),
                        index_attempt_error::window_end.eq(window.map(|w| Time(w.end))),
                        index_attempt_error::message.eq(failure.message.replace('\0', "\u{fffd}")),
                        index_attempt_error::resolved.eq(false),
                        index_attempt_error::created_at.eq(Time(now)),
                    ))
                    .execute(conn)
                    .await?;
            }
            Ok(control)
        })
    }

    pub(super) async fn restart_attempt(
        &self,
        claimed: &ClaimedAttempt,
        now: DateTime<Utc>,
        lease: Duration,
    ) -> Result<Control, StoreError> {
        transact!(self, "index_attempt.restart", |conn| {
            let control = hold!(conn, claimed);
            diesel::update(held!(claimed))
                .set((
                    index_attempt::steps.eq(0),
                    index_attempt::checkpoint.eq(None::<String>),
                    index_attempt::documents_enumerated.eq(0),
                    index_attempt::documents_new.eq(0),
                    index_attempt::documents_updated.eq(0),
                    index_attempt::documents_unchanged.eq(0),
                    index_attempt::documents_skipped.eq(0),
                    index_attempt::documents_failed.eq(0),
                    index_attempt::leased_until.eq(Some(Time(after(now, lease)))),
                    index_attempt::updated_at.eq(Time(now)),
                ))
                .execute(conn)
                .await?;
            Ok(control)
        })
    }

    pub(super) async fn put_attempt_back(
        &self,
        claimed: &ClaimedAttempt,
        error: &str,
        retry_at: DateTime<Utc>,
        now: DateTime<Utc>,
    ) -> Result<Control, StoreError> {
        transact!(self, "index_attempt.put_back", |conn| {
            let control = hold!(conn, claimed);
            diesel::update(held!(claimed))
                .set((
                    index_attempt::tries.eq(index_attempt::tries + 1),
                    index_attempt::error.eq(Some(error.replace('\0', "\u{fffd}"))),
                    index_attempt::retry_at.eq(Some(Time(retry_at))),
                    index_attempt::leased_until.eq(None::<Time>),
                    index_attempt::updated_at.eq(Time(now)),
                ))
                .execute(conn)
                .await?;
            Ok(control)
        })
    }

    pub(super) async fn release_attempt(
        &self,
        claimed: &ClaimedAttempt,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        transact!(self, "index_attempt.release", |conn| {
            diesel::update(held!(claimed))
                .set((
                    index_attempt::leased_until.eq(None::<Time>),
                    index_attempt::updated_at.eq(Time(now)),
                ))
                .execute(conn)
                .await?;
            Ok(())
        })
    }
}
