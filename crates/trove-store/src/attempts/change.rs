//! How runs begin and end, and what becomes of their pairs.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncConnection, RunQueryDsl};
use trove_domain::cc_pair::CcPairStatus;
use trove_domain::error::StoreError;
use trove_domain::id::{CcPairId, IndexAttemptId};
use trove_domain::indexing::schedule::{REPEATED_FAILURES, RunPlan, Schedule};
use trove_domain::indexing::{AttemptStatus, IndexAttempt, IndexingTrigger, StopReason};
use trove_domain::port::{ATTEMPTS_KEPT, AttemptEnd, Checkpoint, ClaimedAttempt, Control};

use super::work::{held, hold};
use super::{AttemptRow, PairRow, latest, load_schedules, schedule};
use crate::Store;
use crate::backend::{KEYS_MAX, transact};
use crate::error::corrupt;
use crate::locks::Locks;
use crate::pair_tasks::end_pruning;
use crate::schema::{cc_pair, connector, index_attempt, index_attempt_error};
use crate::sql::Time;

/// The statuses of an attempt that something may come of.
pub(crate) fn unfinished() -> [&'static str; 2] {
    [AttemptStatus::NotStarted, AttemptStatus::InProgress].map(AttemptStatus::as_str)
}

/// Ends the unfinished attempt of a pair that nobody works on, or asks its worker to; answers how
/// many there were.
macro_rules! stop_unfinished {
    ($conn:expr, $pair:expr, $reason:expr, $now:expr) => {{
        use crate::attempts::unfinished;
        use crate::schema::index_attempt;
        use crate::sql::Time;
        use trove_domain::indexing::AttemptStatus;
        let of_pair = || {
            index_attempt::table
                .filter(index_attempt::cc_pair_id.eq($pair))
                .filter(index_attempt::status.eq_any(unfinished()))
        };
        // What nobody works on has no need to be asked.
        let ended = diesel::update(of_pair().filter(index_attempt::leased_until.is_null()))
            .set((
                index_attempt::status.eq(AttemptStatus::Canceled.as_str()),
                index_attempt::stop_reason.eq(Some($reason.as_str())),
                index_attempt::error.eq(Some($reason.told())),
                index_attempt::retry_at.eq(None::<Time>),
                index_attempt::updated_at.eq(Time($now)),
                index_attempt::finished_at.eq(Some(Time($now))),
            ))
            .execute($conn)
            .await?;
        let asked = diesel::update(of_pair())
            .set(index_attempt::stop_reason.eq(Some($reason.as_str())))
            .execute($conn)
            .await?;
        ended + asked
    }};
}
pub(crate) use stop_unfinished;

impl Store {
    pub(super) async fn begin_attempt(
        &self,
        pair: CcPairId,
        expected: &Schedule,
        plan: RunPlan,
        now: DateTime<Utc>,
    ) -> Result<Option<IndexAttemptId>, StoreError> {
        transact!(self, "index_attempt.begin", |conn| {
            conn.lock_pairs(&[pair.0]).await?;
            let query = cc_pair::table.inner_join(connector::table).filter(cc_pair::id.eq(pair.0));
            let present: Option<(CcPairId, Schedule)> = load_schedules!(conn, query).pop();
            if present.is_none_or(|(_, present)| present != *expected) {
                return Ok(None);
            }
            // Of an interrupted one it is where it was; of one that succeeded, what it carries over.
            let last: Option<(String, Option<String>)> = index_attempt::table
                .filter(index_attempt::cc_pair_id.eq(pair.0))
                .order(index_attempt::id.desc())
                .select((index_attempt::status, index_attempt::checkpoint))
                .first(conn)
                .await
                .optional()?;
            let success = AttemptStatus::Success.as_str();
            let checkpoint = last
                .filter(|(status, _)| plan.resumes || (!plan.from_beginning && status == success))
                .and_then(|(_, checkpoint)| checkpoint);
            let id: i32 = diesel::insert_into(index_attempt::table)
                .values((
                    index_attempt::cc_pair_id.eq(pair.0),
                    index_attempt::from_beginning.eq(plan.from_beginning),
                    index_attempt::status.eq(AttemptStatus::NotStarted.as_str()),
                    index_attempt::window_start.eq(Time(plan.window.start)),
                    index_attempt::window_end.eq(Time(plan.window.end)),
                    index_attempt::checkpoint.eq(checkpoint),
                    index_attempt::created_at.eq(Time(now)),
                    index_attempt::updated_at.eq(Time(now)),
                ))
                .returning(index_attempt::id)
                .get_result(conn)
                .await?;
            diesel::update(cc_pair::table.find(pair.0))
                .set(cc_pair::indexing_trigger.eq(None::<String>))
                .execute(conn)
                .await?;
            diesel::update(cc_pair::table.find(pair.0))
                .filter(cc_pair::status.eq(CcPairStatus::Scheduled.as_str()))
                .set(cc_pair::status.eq(CcPairStatus::InitialIndexing.as_str()))
                .execute(conn)
                .await?;
            Ok(Some(IndexAttemptId(id)))
        })
    }

    #[expect(clippy::too_many_lines, reason = "one step of the database, told in order")]
    pub(super) async fn finish_attempt(
        &self,
        claimed: &ClaimedAttempt,
        end: AttemptEnd,
        now: DateTime<Utc>,
        keep_after: DateTime<Utc>,
    ) -> Result<Control, StoreError> {
        let pair = claimed.attempt.pair.0;
        let AttemptEnd { status, error, is_invalid, carry } = end;
        let carry = carry.map(|Checkpoint(value)| value.to_string());
        transact!(self, "index_attempt.finish", |conn| {
            conn.lock_pairs(&[pair]).await?;
            let control = hold!(conn, claimed);
            diesel::update(held!(claimed))
                .set((
                    index_attempt::status.eq(status.as_str()),
                    index_attempt::error.eq(error.map(|error| error.replace('\0', "\u{fffd}"))),
                    index_attempt::is_invalid.eq(is_invalid),
                    index_attempt::leased_until.eq(None::<Time>),
                    index_attempt::retry_at.eq(None::<Time>),
                    index_attempt::updated_at.eq(Time(now)),
                    index_attempt::finished_at.eq(Some(Time(now))),
                ))
                .execute(conn)
                .await?;
            if status.is_complete() {
                // Whoever begins anew needs no place to go on from, and earlier ones no longer do.
                diesel::update(index_attempt::table.filter(index_attempt::cc_pair_id.eq(pair)))
                    .set(index_attempt::checkpoint.eq(None::<String>))
                    .execute(conn)
                    .await?;
                if status == AttemptStatus::Success && carry.is_some() {
                    diesel::update(index_attempt::table.find(claimed.attempt.id.0))
                        .set(index_attempt::checkpoint.eq(carry))
                        .execute(conn)
                        .await?;
                }
                let first = [CcPairStatus::Scheduled, CcPairStatus::InitialIndexing]
                    .map(CcPairStatus::as_str);
                diesel::update(cc_pair::table.find(pair).filter(cc_pair::status.eq_any(first)))
                    .set(cc_pair::status.eq(CcPairStatus::Active.as_str()))
                    .execute(conn)
                    .await?;
                diesel::update(cc_pair::table.find(pair))
                    .set((
                        cc_pair::in_repeated_error_state.eq(false),
                        cc_pair::last_successful_index_at.eq(Some(Time(now))),
                    ))
                    .execute(conn)
                    .await?;
            }
            if status == AttemptStatus::Success {
                diesel::update(index_attempt_error::table)
                    .filter(index_attempt_error::cc_pair_id.eq(pair))
                    .filter(index_attempt_error::entity_id.is_not_null())
                    .set(index_attempt_error::resolved.eq(true))
                    .execute(conn)
                    .await?;
            }
            let last: Vec<(String, bool)> = index_attempt::table
                .filter(index_attempt::cc_pair_id.eq(pair))
                .filter(index_attempt::status.ne_all(unfinished()))
                .order(index_attempt::id.desc())
                .limit(i64::try_from(REPEATED_FAILURES).unwrap_or(i64::MAX))
                .select((index_attempt::status, index_attempt::is_invalid))
                .load(conn)
                .await?;
            if status == AttemptStatus::Failed {
                let refresh: Option<i32> = cc_pair::table
                    .inner_join(connector::table)
                    .filter(cc_pair::id.eq(pair))
                    .select(connector::refresh_freq_s)
                    .first(conn)
                    .await?;
                let needed = if refresh.is_some() { REPEATED_FAILURES } else { 1 };
                let failed = AttemptStatus::Failed.as_str();
                let failures = last.iter().take_while(|(status, _)| status == failed).count();
                if failures >= needed {
                    diesel::update(cc_pair::table.find(pair))
                        .set(cc_pair::in_repeated_error_state.eq(true))
                        .execute(conn)
                        .await?;
                }
            }
            if is_invalid && last.len() >= REPEATED_FAILURES && last.iter().all(|(_, bad)| *bad) {
                let running =
                    [CcPairStatus::Scheduled, CcPairStatus::InitialIndexing, CcPairStatus::Active];
                let running = running.map(CcPairStatus::as_str);
                diesel::update(cc_pair::table.find(pair).filter(cc_pair::status.eq_any(running)))
                    .set(cc_pair::status.eq(CcPairStatus::Invalid.as_str()))
                    .execute(conn)
                    .await?;
                end_pruning!(conn, pair);
            }
            let kept: Vec<i32> = index_attempt::table
                .filter(index_attempt::cc_pair_id.eq(pair))
                .order(index_attempt::id.desc())
                .limit(i64::from(ATTEMPTS_KEPT))
                .select(index_attempt::id)
                .load(conn)
                .await?;
            diesel::delete(index_attempt::table)
                .filter(index_attempt::cc_pair_id.eq(pair))
                .filter(index_attempt::finished_at.lt(Time(keep_after)))
                .filter(index_attempt::id.ne_all(kept))
                .execute(conn)
                .await?;
            Ok(control)
        })
    }

    pub(super) async fn write_trigger(
        &self,
        pairs: &[CcPairId],
        trigger: IndexingTrigger,
    ) -> Result<u64, StoreError> {
        let pairs: Vec<i32> = pairs.iter().map(|pair| pair.0).collect();
        transact!(self, "index_attempt.set_trigger", |conn| {
            let mut asked = 0;
            for pairs in pairs.chunks(KEYS_MAX) {
                conn.lock_pairs(pairs).await?;
                let running = index_attempt::table
                    .filter(index_attempt::status.eq_any(unfinished()))
                    .select(index_attempt::cc_pair_id);
                asked += diesel::update(cc_pair::table)
                    .filter(cc_pair::id.eq_any(pairs))
                    .filter(cc_pair::id.ne_all(running))
                    .set(cc_pair::indexing_trigger.eq(Some(trigger.as_str())))
                    .execute(conn)
                    .await?;
            }
            Ok(u64::try_from(asked).unwrap_or(u64::MAX))
        })
    }

    pub(super) async fn stop_attempt(
        &self,
        pair: CcPairId,
        reason: StopReason,
        now: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        transact!(self, "index_attempt.request_stop", |conn| {
            conn.lock_pairs(&[pair.0]).await?;
            let stopped = stop_unfinished!(conn, pair.0, reason, now);
            Ok(stopped > 0)
        })
    }
}
