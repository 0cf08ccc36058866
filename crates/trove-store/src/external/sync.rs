//! The fetching of permissions, and the memberships that it tells.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use diesel::dsl::exists;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer, Text};
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl};
use trove_domain::cc_pair::{AccessType, CcPairStatus};
use trove_domain::error::StoreError;
use trove_domain::id::CcPairId;
use trove_domain::indexing::StopReason;
use trove_domain::job::NewJob;
use trove_domain::permission_sync::{PermissionSync, PermissionSyncStatus};
use trove_domain::port::{
    Checkpoint, ClaimedPermissionSync, Control, PermissionRecord, PermissionSyncEnd,
    PermissionSyncStore,
};

use crate::Store;
use crate::backend::{KEYS_MAX, Sqlite, read, transact};
use crate::error::{Failure, corrupt};
use crate::jobs::after;
use crate::locks::Locks;
use crate::pairs::SCHEDULE;
use crate::schema::{cc_pair, external_group_member, permission_sync};
use crate::sql::{Instant, Time};

/// Pairs whose permissions are fetched.
macro_rules! fetched {
    () => {
        cc_pair::table
            .filter(cc_pair::run_by.eq(SCHEDULE))
            .filter(cc_pair::access_type.eq(AccessType::Sync.as_str()))
            .filter(cc_pair::status.eq(CcPairStatus::Active.as_str()))
    };
}

/// Syncs that a worker may take, those first that are due for longest.
macro_rules! claimable {
    ($now:expr, $limit:expr) => {{
        let free = permission_sync::leased_until
            .is_null()
            .or(permission_sync::leased_until.lt(Time($now)));
        permission_sync::table
            .filter(permission_sync::due_at.le(Time($now)))
            .filter(free)
            .filter(permission_sync::cc_pair_id.eq_any(fetched!().select(cc_pair::id)))
            .order((permission_sync::due_at, permission_sync::cc_pair_id))
            .limit(i64::from($limit))
            .select(permission_sync::cc_pair_id)
    }};
}

/// Syncs that nobody else can claim before the transaction ends.
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
        claimable!(now, limit).for_update().skip_locked().load(self).await
    }
}

/// The row of a sync as long as it is this worker's: every claim counts up.
macro_rules! held {
    ($claimed:expr) => {
        permission_sync::table
            .find($claimed.pair.0)
            .filter(permission_sync::status.eq(PermissionSyncStatus::InProgress.as_str()))
            .filter(permission_sync::claims.eq(i32::try_from($claimed.claim).unwrap_or(i32::MAX)))
    };
}

pub(super) use held;

/// Ends the step unless the sync is this worker's and its pair is still fetched, and keeps both so;
/// answers the number of the run.
macro_rules! hold {
    ($conn:expr, $claimed:expr) => {{
        // Pairs come before what belongs to them.
        if !$conn.keep_pair($claimed.pair.0).await? {
            return Ok(Control::Lost);
        }
        let pair: Option<(String, String)> = cc_pair::table
            .find($claimed.pair.0)
            .select((cc_pair::status, cc_pair::access_type))
            .first($conn)
            .await
            .optional()?;
        // A change that changes nothing takes the row on both databases.
        let run: Option<i64> = diesel::update(held!($claimed))
            .set(permission_sync::claims.eq(permission_sync::claims))
            .returning(permission_sync::run)
            .get_result($conn)
            .await
            .optional()?;
        match (run, pair) {
            (Some(run), Some((status, access)))
                if status == CcPairStatus::Active.as_str()
                    && access == AccessType::Sync.as_str() =>
            {
                run
            }
            (Some(_), Some((status, _))) if status == CcPairStatus::Deleting.as_str() => {
                return Ok(Control::Stop(StopReason::Deleting));
            }
            (Some(_), Some(_)) => return Ok(Control::Stop(StopReason::Paused)),
            (None, _) | (_, None) => return Ok(Control::Lost),
        }
    }};
}

pub(super) use hold;

/// Pair, checkpoint, claims, tries and failures.
type ClaimedRow = (i32, Option<String>, i32, i32, Option<String>);

fn claimed(row: ClaimedRow) -> Result<ClaimedPermissionSync, Failure> {
    let (pair, checkpoint, claims, tries, error) = row;
    let checkpoint = checkpoint
        .map(|text| serde_json::from_str(&text))
        .transpose()
        .map_err(corrupt("checkpoint of permission sync", pair))?;
    Ok(ClaimedPermissionSync {
        pair: CcPairId(pair),
        checkpoint: checkpoint.map(Checkpoint),
        claim: u32::try_from(claims).unwrap_or(0),
        tries: u32::try_from(tries).unwrap_or(0),
        error,
    })
}

pub(super) fn stored(text: Option<String>) -> Option<String> {
    text.map(|text| text.replace('\0', "\u{fffd}"))
}

#[async_trait]
impl PermissionSyncStore for Store {
    #[tracing::instrument(name = "db.permission_sync.claim", level = "debug", skip_all)]
    async fn claim(
        &self,
        now: DateTime<Utc>,
        lease: Duration,
        limit: u32,
    ) -> Result<Vec<ClaimedPermissionSync>, StoreError> {
        // Polling must not take SQLite's write lock while there is nothing to do.
        let (new, idle) = read!(self, "permission_sync.claim", |conn| {
            let known = permission_sync::table.filter(permission_sync::cc_pair_id.eq(cc_pair::id));
            let new: Vec<i32> = fetched!()
                .filter(diesel::dsl::not(exists(known)))
                .order(cc_pair::id)
                .limit(i64::from(limit))
                .select(cc_pair::id)
                .load(conn)
                .await?;
            let one: Vec<i32> = claimable!(now, limit.min(1)).load(conn).await?;
            let idle = one.is_empty() && new.is_empty();
            Ok((new, idle))
        })?;
        if idle {
            return Ok(Vec::new());
        }
        let until = after(now, lease);
        transact!(self, "permission_sync.claim", |conn| {
            cc_pair::table
                .filter(cc_pair::id.eq_any(&new))
                .select((
                    cc_pair::id,
                    PermissionSyncStatus::NotStarted.as_str().into_sql::<Text>(),
                    0_i64.into_sql::<BigInt>(),
                    0_i32.into_sql::<Integer>(),
                    0_i32.into_sql::<Integer>(),
                    Time(now).into_sql::<Instant>(),
                ))
                .insert_into(permission_sync::table)
                .into_columns((
                    permission_sync::cc_pair_id,
                    permission_sync::status,
                    permission_sync::run,
                    permission_sync::tries,
                    permission_sync::claims,
                    permission_sync::due_at,
                ))
                .on_conflict_do_nothing()
                .execute(conn)
                .await?;
            let ids = conn.claimable(now, limit).await?;
            let of_ids = || permission_sync::table.filter(permission_sync::cc_pair_id.eq_any(&ids));
            let in_progress = PermissionSyncStatus::InProgress.as_str();
            // One that was abandoned goes on where it was.
            diesel::update(of_ids().filter(permission_sync::status.ne(in_progress)))
                .set((
                    permission_sync::status.eq(in_progress),
                    permission_sync::run.eq(permission_sync::run + 1),
                    permission_sync::checkpoint.eq(None::<String>),
                    permission_sync::tries.eq(0),
                    permission_sync::failures.eq(None::<String>),
                    permission_sync::error.eq(None::<String>),
                ))
                .execute(conn)
                .await?;
            diesel::update(of_ids())
                .set((
                    permission_sync::claims.eq(permission_sync::claims + 1),
                    permission_sync::leased_until.eq(Some(Time(until))),
                ))
                .execute(conn)
                .await?;
            let rows: Vec<ClaimedRow> = of_ids()
                .order((permission_sync::due_at, permission_sync::cc_pair_id))
                .select((
                    permission_sync::cc_pair_id,
                    permission_sync::checkpoint,
                    permission_sync::claims,
                    permission_sync::tries,
                    permission_sync::failures,
                ))
                .load(conn)
                .await?;
            rows.into_iter().map(claimed).collect()
        })
    }

    #[tracing::instrument(name = "db.permission_sync.heartbeat", level = "debug", skip_all)]
    async fn heartbeat(
        &self,
        claimed: &ClaimedPermissionSync,
        now: DateTime<Utc>,
        lease: Duration,
    ) -> Result<Control, StoreError> {
        transact!(self, "permission_sync.heartbeat", |conn| {
            let _run: i64 = hold!(conn, claimed);
            diesel::update(held!(claimed))
                .set(permission_sync::leased_until.eq(Some(Time(after(now, lease)))))
                .execute(conn)
                .await?;
            Ok(Control::Go)
        })
    }

    #[tracing::instrument(name = "db.permission_sync.record_step", skip_all)]
    async fn record_step(
        &self,
        claimed: &ClaimedPermissionSync,
        step: PermissionRecord,
        now: DateTime<Utc>,
        lease: Duration,
        job: NewJob,
    ) -> Result<Control, StoreError> {
        self.record_told(claimed, step, now, lease, job).await
    }

    #[tracing::instrument(name = "db.permission_sync.put_back", skip_all)]
    async fn put_back(
        &self,
        claimed: &ClaimedPermissionSync,
        error: &str,
        retry_at: DateTime<Utc>,
        _now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        transact!(self, "permission_sync.put_back", |conn| {
            diesel::update(held!(claimed))
                .set((
                    permission_sync::tries.eq(permission_sync::tries + 1),
                    permission_sync::error.eq(stored(Some(error.to_owned()))),
                    permission_sync::due_at.eq(Time(retry_at)),
                    permission_sync::leased_until.eq(None::<Time>),
                ))
                .execute(conn)
                .await?;
            Ok(())
        })
    }

    #[tracing::instrument(name = "db.permission_sync.release", skip_all)]
    async fn release(
        &self,
        claimed: &ClaimedPermissionSync,
        _now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        transact!(self, "permission_sync.release", |conn| {
            diesel::update(held!(claimed))
                .set(permission_sync::leased_until.eq(None::<Time>))
                .execute(conn)
                .await?;
            Ok(())
        })
    }

    #[tracing::instrument(name = "db.permission_sync.finish", skip_all)]
    async fn finish(
        &self,
        claimed: &ClaimedPermissionSync,
        end: PermissionSyncEnd,
        now: DateTime<Utc>,
    ) -> Result<Control, StoreError> {
        let PermissionSyncEnd { status, error, next_at } = end;
        let error = stored(error);
        transact!(self, "permission_sync.finish", |conn| {
            let of_pair = || {
                external_group_member::table
                    .filter(external_group_member::cc_pair_id.eq(claimed.pair.0))
            };
            if status.is_complete() {
                let run = hold!(conn, claimed);
                diesel::delete(of_pair().filter(external_group_member::run.ne(run)))
                    .execute(conn)
                    .await?;
                diesel::update(of_pair().filter(external_group_member::in_force.eq(false)))
                    .set(external_group_member::in_force.eq(true))
                    .execute(conn)
                    .await?;
                diesel::update(held!(claimed))
                    .set(permission_sync::completed_at.eq(Some(Time(now))))
                    .execute(conn)
                    .await?;
            }
            let ended = diesel::update(held!(claimed))
                .set((
                    permission_sync::status.eq(status.as_str()),
                    permission_sync::checkpoint.eq(None::<String>),
                    permission_sync::error.eq(&error),
                    permission_sync::due_at.eq(Time(next_at)),
                    permission_sync::leased_until.eq(None::<Time>),
                    permission_sync::finished_at.eq(Some(Time(now))),
                ))
                .execute(conn)
                .await?;
            if ended == 0 {
                return Ok(Control::Lost);
            }
            if !status.is_complete() {
                diesel::delete(of_pair().filter(external_group_member::in_force.eq(false)))
                    .execute(conn)
                    .await?;
            }
            Ok(Control::Go)
        })
    }

    #[tracing::instrument(name = "db.permission_sync.latest", skip_all)]
    async fn latest_permission_syncs(
        &self,
        pairs: &[CcPairId],
    ) -> Result<Vec<Option<PermissionSync>>, StoreError> {
        let ids: Vec<i32> = pairs.iter().map(|pair| pair.0).collect();
        read!(self, "permission_sync.latest", |conn| {
            let mut known = BTreeMap::new();
            for ids in ids.chunks(KEYS_MAX) {
                let rows: Vec<(i32, String, Option<String>, Option<Time>, Option<Time>)> =
                    permission_sync::table
                        .filter(permission_sync::cc_pair_id.eq_any(ids))
                        .select((
                            permission_sync::cc_pair_id,
                            permission_sync::status,
                            permission_sync::error,
                            permission_sync::finished_at,
                            permission_sync::completed_at,
                        ))
                        .load(conn)
                        .await?;
                for (pair, status, error, finished_at, completed_at) in rows {
                    let sync = PermissionSync {
                        pair: CcPairId(pair),
                        status: status.parse().map_err(corrupt("permission sync", pair))?,
                        error,
                        finished_at: finished_at.map(|at| at.0),
                        completed_at: completed_at.map(|at| at.0),
                    };
                    known.insert(pair, sync);
                }
            }
            Ok(ids.iter().map(|id| known.get(id).cloned()).collect())
        })
    }
}
