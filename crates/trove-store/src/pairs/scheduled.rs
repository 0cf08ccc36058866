//! Pairs that a schedule runs: how they are made, changed and taken apart.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::Integer;
use diesel_async::{AsyncConnection, RunQueryDsl};
use trove_domain::cc_pair::{CcPair, CcPairStatus};
use trove_domain::error::StoreError;
use trove_domain::id::{CcPairId, ConnectorId, CredentialId, GroupId};
use trove_domain::indexing::StopReason;
use trove_domain::job::NewJob;
use trove_domain::port::{NewScheduledPair, PairRefusal};

use super::{PairRow, SCHEDULE, empty_pair, insert_groups, load_pairs, pair};
use crate::Store;
use crate::attempts::stop_unfinished;
use crate::backend::{KEYS_MAX, transact};
use crate::documents::{REMOVAL, begin_removal, mark_dirty, present};
use crate::error::{Failure, is_taken};
use crate::jobs::insert_job;
use crate::locks::Locks;
use crate::pair_tasks::end_pruning;
use crate::schema::{
    cc_pair, cc_pair_group, connector, credential, document, document_cc_pair, user_group,
};
use crate::sql::{Id, Time};

/// Whether another pair has the name.
macro_rules! name_is_taken {
    ($conn:expr, $name:expr, $id:expr) => {{
        let others: i64 = cc_pair::table
            .filter(cc_pair::name.eq($name))
            .filter(cc_pair::id.ne($id))
            .count()
            .get_result($conn)
            .await?;
        others > 0
    }};
}

/// Status of a pair that a schedule runs, which is locked then.
macro_rules! scheduled_status {
    ($conn:expr, $id:expr) => {{
        use crate::pairs::SCHEDULE;
        use crate::schema::cc_pair;
        use trove_domain::port::PairRefusal;
        $conn.lock_pairs(&[$id]).await?;
        let row: Option<(String, String)> = cc_pair::table
            .find($id)
            .select((cc_pair::status, cc_pair::run_by))
            .first($conn)
            .await
            .optional()?;
        match row {
            None => return Ok(Err(PairRefusal::Missing)),
            Some((_, run_by)) if run_by != SCHEDULE => {
                return Ok(Err(PairRefusal::NotScheduled));
            }
            Some((status, _)) => status,
        }
    }};
}
pub(crate) use scheduled_status;

impl Store {
    #[tracing::instrument(name = "db.cc_pair.associate", skip_all)]
    pub(super) async fn make_scheduled(
        &self,
        new: NewScheduledPair,
    ) -> Result<Result<CcPair, PairRefusal>, StoreError> {
        let refused = Err(PairRefusal::NoSuchGroup);
        let made = transact!(self, "cc_pair.associate", refused refused, |conn| {
            conn.lock_connector(new.connector.0).await?;
            conn.lock_credential(new.credential.0).await?;
            let connectors: i64 =
                connector::table.find(new.connector.0).count().get_result(conn).await?;
            let credentials: i64 =
                credential::table.find(new.credential.0).count().get_result(conn).await?;
            if connectors + credentials < 2 {
                return Ok(Err(PairRefusal::Missing));
            }
            let pairs: Vec<(i32, String)> = cc_pair::table
                .filter(cc_pair::connector_id.eq(new.connector.0))
                .select((cc_pair::credential_id, cc_pair::status))
                .load(conn)
                .await?;
            // The connector goes with its last pair.
            let deleting = CcPairStatus::Deleting.as_str();
            if !pairs.is_empty() && pairs.iter().all(|(_, status)| status == deleting) {
                return Ok(Err(PairRefusal::Deleting));
            }
            if pairs.iter().any(|(credential, _)| *credential == new.credential.0) {
                return Ok(Err(PairRefusal::Exists));
            }
            if name_is_taken!(conn, &new.name, 0) {
                return Ok(Err(PairRefusal::NameTaken));
            }
            let options = new.auto_sync_options.as_ref().map(ToString::to_string);
            let id: i32 = diesel::insert_into(cc_pair::table)
                .values((
                    cc_pair::name.eq(&new.name),
                    cc_pair::connector_id.eq(new.connector.0),
                    cc_pair::credential_id.eq(new.credential.0),
                    cc_pair::access_type.eq(new.access_type.as_str()),
                    cc_pair::status.eq(CcPairStatus::Scheduled.as_str()),
                    cc_pair::creator_id.eq(new.creator.map(|user| Id(user.0))),
                    cc_pair::created_at.eq(Time(new.created_at)),
                    cc_pair::run_by.eq(SCHEDULE),
                    cc_pair::auto_sync_options.eq(options),
                ))
                .returning(cc_pair::id)
                .get_result(conn)
                .await?;
            let groups: Vec<i32> = new.groups.iter().map(|group| group.0).collect();
            let living: i64 = crate::groups::living_groups!()
                .filter(user_group::id.eq_any(&groups))
                .count()
                .get_result(conn)
                .await?;
            if usize::try_from(living).is_ok_and(|living| living < groups.len()) {
                return Err(Failure::Refused);
            }
            insert_groups!(conn, id, &new.groups);
            let query = cc_pair::table.inner_join(connector::table).filter(cc_pair::id.eq(id));
            Ok(load_pairs!(conn, query).into_iter().next().ok_or(PairRefusal::Missing))
        });
        match made {
            // Of two at the same time the database lets one.
            Err(error) if is_taken(&error) => Ok(Err(PairRefusal::NameTaken)),
            other => other,
        }
    }

    #[tracing::instrument(name = "db.cc_pair.dissociate", skip_all)]
    pub(super) async fn take_apart(
        &self,
        connector: ConnectorId,
        credential: CredentialId,
        now: DateTime<Utc>,
        job: NewJob,
    ) -> Result<Result<CcPairId, PairRefusal>, StoreError> {
        let job_id = self.ids().uuid();
        transact!(self, "cc_pair.dissociate", |conn| {
            let id: Option<i32> = cc_pair::table
                .filter(cc_pair::connector_id.eq(connector.0))
                .filter(cc_pair::credential_id.eq(credential.0))
                .filter(cc_pair::run_by.eq(SCHEDULE))
                .select(cc_pair::id)
                .first(conn)
                .await
                .optional()?;
            let Some(id) = id else { return Ok(Err(PairRefusal::Missing)) };
            scheduled_status!(conn, id);
            empty_pair!(conn, id, now);
            diesel::delete(cc_pair::table.find(id)).execute(conn).await?;
            insert_job!(conn, job_id, job);
            Ok(Ok(CcPairId(id)))
        })
    }

    #[tracing::instrument(name = "db.cc_pair.rename", skip_all, fields(cc_pair.id = %id))]
    pub(super) async fn rename_scheduled(
        &self,
        id: CcPairId,
        name: &str,
    ) -> Result<Result<(), PairRefusal>, StoreError> {
        let renamed = transact!(self, "cc_pair.rename", |conn| {
            scheduled_status!(conn, id.0);
            if name_is_taken!(conn, name, id.0) {
                return Ok(Err(PairRefusal::NameTaken));
            }
            diesel::update(cc_pair::table.find(id.0))
                .set(cc_pair::name.eq(name))
                .execute(conn)
                .await?;
            Ok(Ok(()))
        });
        match renamed {
            Err(error) if is_taken(&error) => Ok(Err(PairRefusal::NameTaken)),
            other => other,
        }
    }

    #[tracing::instrument(name = "db.cc_pair.set_paused", skip_all, fields(cc_pair.id = %id))]
    pub(super) async fn pause_scheduled(
        &self,
        id: CcPairId,
        paused: bool,
        now: DateTime<Utc>,
    ) -> Result<Result<(), PairRefusal>, StoreError> {
        transact!(self, "cc_pair.set_paused", |conn| {
            let status = scheduled_status!(conn, id.0);
            if status == CcPairStatus::Deleting.as_str() {
                return Ok(Err(PairRefusal::Deleting));
            }
            let status = if paused { CcPairStatus::Paused } else { CcPairStatus::Active };
            diesel::update(cc_pair::table.find(id.0))
                .set(cc_pair::status.eq(status.as_str()))
                .execute(conn)
                .await?;
            if paused {
                let _stopped = stop_unfinished!(conn, id.0, StopReason::Paused, now);
                end_pruning!(conn, id.0);
            }
            Ok(Ok(()))
        })
    }

    #[tracing::instrument(name = "db.cc_pair.swap_credential", skip_all)]
    pub(super) async fn swap_scheduled(
        &self,
        connector: ConnectorId,
        credential: CredentialId,
        now: DateTime<Utc>,
        job: NewJob,
    ) -> Result<Result<CcPairId, PairRefusal>, StoreError> {
        let job_id = self.ids().uuid();
        transact!(self, "cc_pair.swap_credential", |conn| {
            conn.lock_connector(connector.0).await?;
            conn.lock_credential(credential.0).await?;
            let credentials: i64 =
                credential::table.find(credential.0).count().get_result(conn).await?;
            let pairs: Vec<i32> = cc_pair::table
                .filter(cc_pair::connector_id.eq(connector.0))
                .select(cc_pair::id)
                .load(conn)
                .await?;
            let id = match pairs[..] {
                [id] if credentials == 1 => id,
                [_] | [] => return Ok(Err(PairRefusal::Missing)),
                _ => return Ok(Err(PairRefusal::Several)),
            };
            let status = scheduled_status!(conn, id);
            let status = if status == CcPairStatus::Invalid.as_str() {
                CcPairStatus::Active.as_str()
            } else {
                status.as_str()
            };
            diesel::update(cc_pair::table.find(id))
                .set((cc_pair::credential_id.eq(credential.0), cc_pair::status.eq(status)))
                .execute(conn)
                .await?;
            mark_dirty!(conn, &[id], now);
            insert_job!(conn, job_id, job);
            Ok(Ok(CcPairId(id)))
        })
    }
}
