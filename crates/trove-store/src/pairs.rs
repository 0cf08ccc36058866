mod scheduled;
mod seen;

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use diesel::dsl::exists;
use diesel::prelude::*;
use diesel::sql_types::Integer;
use diesel_async::{AsyncConnection, RunQueryDsl};
use trove_domain::access::Caller;
use trove_domain::cc_pair::{AccessType, CcPair, CcPairStatus, PairReader, SeenPair};
use trove_domain::error::StoreError;
use trove_domain::id::{CcPairId, ConnectorId, CredentialId, GroupId, UserId};
use trove_domain::job::NewJob;
use trove_domain::port::{
    AccessChange, CcPairStore, NewCcPair, NewScheduledPair, PairRefusal, RunBy,
};

use crate::Store;
use crate::backend::{KEYS_MAX, read, transact};
use crate::documents::{REMOVAL, begin_removal, mark_dirty, present};
use crate::error::{Failure, corrupt};
use crate::external::{forget_access, forget_members};
use crate::jobs::insert_job;
use crate::locks::Locks;
use crate::rights::Power;
use crate::schema::{
    cc_pair, cc_pair_group, connector, document, document_cc_pair, index_attempt, user_group,
};
use crate::sql::{Id, Time};

pub(crate) use scheduled::scheduled_status;

/// Who runs what a schedule runs.
pub(crate) const SCHEDULE: &str = "schedule";

/// The system's empty credential.
const NO_CREDENTIAL: i32 = 0;

type PairRow = (i32, String, i32, i32, String, String, String, Option<Id>, Time);

fn pair(row: PairRow, groups: BTreeSet<GroupId>) -> Result<CcPair, Failure> {
    let (id, name, connector, credential, source, access_type, status, creator, created_at) = row;
    Ok(CcPair {
        id: CcPairId(id),
        name,
        connector: ConnectorId(connector),
        credential: CredentialId(credential),
        source: source.parse().map_err(corrupt("cc pair", id))?,
        access_type: access_type.parse().map_err(corrupt("cc pair", id))?,
        groups,
        status: status.parse().map_err(corrupt("cc pair", id))?,
        creator: creator.map(|id| UserId(id.0)),
        created_at: created_at.0,
    })
}

/// Loads the pairs of a query over `cc_pair` joined with `connector`, with their groups.
macro_rules! load_pairs {
    ($conn:expr, $query:expr) => {{
        let rows: Vec<PairRow> = $query
            .select((
                cc_pair::id,
                cc_pair::name,
                cc_pair::connector_id,
                cc_pair::credential_id,
                connector::source,
                cc_pair::access_type,
                cc_pair::status,
                cc_pair::creator_id,
                cc_pair::created_at,
            ))
            .load($conn)
            .await?;
        let ids: Vec<i32> = rows.iter().map(|row| row.0).collect();
        let mut groups: BTreeMap<i32, BTreeSet<GroupId>> = BTreeMap::new();
        for ids in ids.chunks(KEYS_MAX) {
            let links: Vec<(i32, i32)> = cc_pair_group::table
                .filter(cc_pair_group::cc_pair_id.eq_any(ids))
                .select((cc_pair_group::cc_pair_id, cc_pair_group::group_id))
                .load($conn)
                .await?;
            for (pair, group) in links {
                groups.entry(pair).or_default().insert(GroupId(group));
            }
        }
        rows.into_iter()
            .map(|row| {
                let groups = groups.remove(&row.0).unwrap_or_default();
                pair(row, groups)
            })
            .collect::<Result<Vec<CcPair>, Failure>>()?
    }};
}

use load_pairs;

/// Whether a user sees a pair who is no administrator.
macro_rules! readable {
    ($user:expr) => {{
        use crate::schema::{cc_pair, cc_pair_group, user_group_member};
        use trove_domain::cc_pair::AccessType;
        let shared = cc_pair_group::table
            .inner_join(
                user_group_member::table
                    .on(user_group_member::group_id.eq(cc_pair_group::group_id)),
            )
            .filter(cc_pair_group::cc_pair_id.eq(cc_pair::id))
            .filter(user_group_member::user_id.eq(crate::sql::Id($user.0)));
        let open = cc_pair::access_type.ne(AccessType::Private.as_str());
        let made = cc_pair::creator_id.eq(crate::sql::Id($user.0));
        open.or(made).or(exists(shared))
    }};
}
pub(crate) use readable;

/// The ids of the pairs that a user sees who is no administrator.
macro_rules! readable_pairs {
    ($user:expr) => {
        crate::schema::cc_pair::table
            .filter(crate::pairs::readable!($user))
            .select(crate::schema::cc_pair::id)
    };
}
pub(crate) use readable_pairs;

/// Whether a caller may change a pair.
macro_rules! editable {
    ($power:expr) => {{
        use crate::schema::{cc_pair, cc_pair_group, user_group_member};
        use diesel::sql_types::Bool;
        let controls = user_group_member::curator.or($power.controls_all.into_sql::<Bool>());
        let controlled = crate::rights::own_groups!($power).filter(controls);
        let shared = cc_pair_group::table.select(cc_pair_group::cc_pair_id);
        let beyond = cc_pair_group::table
            .filter(cc_pair_group::group_id.ne_all(controlled))
            .select(cc_pair_group::cc_pair_id);
        let in_own_groups = cc_pair::id.eq_any(shared).and(cc_pair::id.ne_all(beyond));
        $power
            .administers
            .into_sql::<Bool>()
            .or(cc_pair::creator_id.eq($power.me))
            .or($power.curates.into_sql::<Bool>().and(in_own_groups))
    }};
}
pub(crate) use editable;

macro_rules! insert_groups {
    ($conn:expr, $pair:expr, $groups:expr) => {
        let groups: Vec<i32> = $groups.iter().map(|group: &GroupId| group.0).collect();
        for groups in groups.chunks(KEYS_MAX) {
            let added = crate::groups::living_groups!()
                .filter(user_group::id.eq_any(groups))
                .select(($pair.into_sql::<Integer>(), user_group::id))
                .insert_into(cc_pair_group::table)
                .into_columns((cc_pair_group::cc_pair_id, cc_pair_group::group_id))
                .execute($conn)
                .await?;
            if added < groups.len() {
                return Err(diesel::result::Error::NotFound.into());
            }
        }
    };
}

use insert_groups;

/// Takes the documents of a pair, which is locked, away from it.
macro_rules! empty_pair {
    ($conn:expr, $pair:expr, $now:expr) => {{
        mark_dirty!($conn, &[$pair], $now);
        let documents: Vec<String> = diesel::delete(document_cc_pair::table)
            .filter(document_cc_pair::cc_pair_id.eq($pair))
            .returning(document_cc_pair::document_id)
            .get_results($conn)
            .await?;
        for documents in documents.chunks(KEYS_MAX) {
            let held: BTreeSet<String> = document_cc_pair::table
                .filter(document_cc_pair::document_id.eq_any(documents))
                .select(document_cc_pair::document_id)
                .load($conn)
                .await?
                .into_iter()
                .collect();
            let orphaned = documents.iter().filter(|id| !held.contains(*id));
            let _: Vec<String> = begin_removal!(orphaned, $now).get_results($conn).await?;
        }
    }};
}
use empty_pair;

#[async_trait]
impl CcPairStore for Store {
    #[tracing::instrument(name = "db.cc_pair.get_or_insert", skip_all)]
    async fn get_or_insert(&self, new: NewCcPair) -> Result<CcPair, StoreError> {
        transact!(self, "cc_pair.get_or_insert", |conn| {
            let made: Option<i32> = diesel::insert_into(connector::table)
                .values((
                    connector::name.eq(&new.name),
                    connector::source.eq(new.source.as_str()),
                    connector::config.eq(new.config.to_string()),
                    connector::created_at.eq(Time(new.created_at)),
                    connector::updated_at.eq(Time(new.created_at)),
                ))
                // A conflict waits for the other transaction, whose pair is then found below.
                .on_conflict_do_nothing()
                .returning(connector::id)
                .get_result(conn)
                .await
                .optional()?;
            if let Some(connector) = made {
                let id: i32 = diesel::insert_into(cc_pair::table)
                    .values((
                        cc_pair::name.eq(&new.name),
                        cc_pair::connector_id.eq(connector),
                        cc_pair::credential_id.eq(NO_CREDENTIAL),
                        cc_pair::access_type.eq(new.access_type.as_str()),
                        cc_pair::status.eq(CcPairStatus::Active.as_str()),
                        cc_pair::creator_id.eq(new.creator.map(|user| Id(user.0))),
                        cc_pair::created_at.eq(Time(new.created_at)),
                    ))
                    .returning(cc_pair::id)
                    .get_result(conn)
                    .await?;
                insert_groups!(conn, id, &new.groups);
            }
            let query = cc_pair::table
                .inner_join(connector::table)
                .filter(connector::name.eq(&new.name))
                .filter(connector::source.eq(new.source.as_str()))
                .filter(cc_pair::credential_id.eq(NO_CREDENTIAL))
                .filter(cc_pair::run_by.ne(SCHEDULE))
                .limit(1);
            let pairs = load_pairs!(conn, query);
            pairs.into_iter().next().ok_or(Failure::Query(diesel::result::Error::NotFound))
        })
    }

    #[tracing::instrument(name = "db.cc_pair.get", skip_all)]
    async fn get(&self, id: CcPairId) -> Result<Option<CcPair>, StoreError> {
        read!(self, "cc_pair.get", |conn| {
            let query = cc_pair::table.inner_join(connector::table).filter(cc_pair::id.eq(id.0));
            Ok(load_pairs!(conn, query).into_iter().next())
        })
    }

    #[tracing::instrument(name = "db.cc_pair.find_visible", skip_all)]
    async fn find_visible(
        &self,
        ids: &BTreeSet<CcPairId>,
        reader: PairReader,
    ) -> Result<Vec<CcPair>, StoreError> {
        let ids: Vec<i32> = ids.iter().map(|id| id.0).collect();
        let mut pairs = Vec::new();
        for ids in ids.chunks(KEYS_MAX) {
            let found: Vec<CcPair> = read!(self, "cc_pair.find_visible", |conn| {
                let query = cc_pair::table
                    .inner_join(connector::table)
                    .filter(cc_pair::id.eq_any(ids))
                    .order(cc_pair::id);
                Ok(match reader {
                    PairReader::Administrator => load_pairs!(conn, query),
                    PairReader::User(user) => load_pairs!(conn, query.filter(readable!(user))),
                })
            })?;
            pairs.extend(found);
        }
        Ok(pairs)
    }

    #[tracing::instrument(name = "db.cc_pair.list", skip_all)]
    async fn list(&self, after: Option<CcPairId>, limit: u32) -> Result<Vec<CcPair>, StoreError> {
        read!(self, "cc_pair.list", |conn| {
            let query = cc_pair::table
                .inner_join(connector::table)
                .filter(cc_pair::id.gt(after.map_or(i32::MIN, |id| id.0)))
                .filter(cc_pair::id.ne(CcPair::DEFAULT.0))
                .order(cc_pair::id)
                .limit(i64::from(limit));
            Ok(load_pairs!(conn, query))
        })
    }

    #[tracing::instrument(name = "db.cc_pair.set_schedule", skip_all)]
    async fn set_schedule(
        &self,
        id: CcPairId,
        run_by: RunBy,
        refresh_freq_s: Option<u32>,
    ) -> Result<bool, StoreError> {
        let run_by = match run_by {
            RunBy::Schedule => SCHEDULE,
            RunBy::Nobody => "nobody",
        };
        // Longer than anybody waits.
        let refresh = refresh_freq_s.map(|seconds| i32::try_from(seconds).unwrap_or(i32::MAX));
        transact!(self, "cc_pair.set_schedule", |conn| {
            let connector: Option<i32> = diesel::update(cc_pair::table.find(id.0))
                .set(cc_pair::run_by.eq(run_by))
                .returning(cc_pair::connector_id)
                .get_result(conn)
                .await
                .optional()?;
            let Some(connector) = connector else { return Ok(false) };
            diesel::update(connector::table.find(connector))
                .set(connector::refresh_freq_s.eq(refresh))
                .execute(conn)
                .await?;
            let runs: i64 = index_attempt::table
                .filter(index_attempt::cc_pair_id.eq(id.0))
                .count()
                .get_result(conn)
                .await?;
            if run_by == SCHEDULE && runs == 0 {
                let active = cc_pair::status.eq(CcPairStatus::Active.as_str());
                diesel::update(cc_pair::table.find(id.0).filter(active))
                    .set(cc_pair::status.eq(CcPairStatus::Scheduled.as_str()))
                    .execute(conn)
                    .await?;
            }
            Ok(true)
        })
    }

    #[tracing::instrument(name = "db.cc_pair.count_of_connector", skip_all)]
    async fn count_of_connector(
        &self,
        connector: ConnectorId,
        editor: Option<&Caller>,
    ) -> Result<u64, StoreError> {
        let power = editor.map(Power::of);
        read!(self, "cc_pair.count_of_connector", |conn| {
            let query = cc_pair::table.filter(cc_pair::connector_id.eq(connector.0)).count();
            let count: i64 = match power {
                None => query.get_result(conn).await?,
                Some(power) => query.filter(editable!(power)).get_result(conn).await?,
            };
            Ok(u64::try_from(count).unwrap_or_default())
        })
    }

    async fn associate(
        &self,
        pair: NewScheduledPair,
    ) -> Result<Result<CcPair, PairRefusal>, StoreError> {
        self.make_scheduled(pair).await
    }

    async fn dissociate(
        &self,
        connector: ConnectorId,
        credential: CredentialId,
        now: DateTime<Utc>,
        job: NewJob,
    ) -> Result<Result<CcPairId, PairRefusal>, StoreError> {
        self.take_apart(connector, credential, now, job).await
    }

    #[tracing::instrument(name = "db.cc_pair.get_by_parts", skip_all)]
    async fn get_by_parts(
        &self,
        connector: ConnectorId,
        credential: CredentialId,
    ) -> Result<Option<CcPair>, StoreError> {
        read!(self, "cc_pair.get_by_parts", |conn| {
            let query = cc_pair::table
                .inner_join(connector::table)
                .filter(cc_pair::connector_id.eq(connector.0))
                .filter(cc_pair::credential_id.eq(credential.0));
            Ok(load_pairs!(conn, query).into_iter().next())
        })
    }

    async fn find_seen(
        &self,
        caller: &Caller,
        id: CcPairId,
    ) -> Result<Option<SeenPair>, StoreError> {
        self.seen_pair(caller, id).await
    }

    async fn list_seen(
        &self,
        caller: &Caller,
        after: Option<CcPairId>,
        limit: u32,
    ) -> Result<Vec<SeenPair>, StoreError> {
        self.seen_pairs(caller, after, limit).await
    }

    async fn rename(
        &self,
        id: CcPairId,
        name: &str,
    ) -> Result<Result<(), PairRefusal>, StoreError> {
        self.rename_scheduled(id, name).await
    }

    async fn set_paused(
        &self,
        id: CcPairId,
        paused: bool,
        now: DateTime<Utc>,
    ) -> Result<Result<(), PairRefusal>, StoreError> {
        self.pause_scheduled(id, paused, now).await
    }

    async fn swap_credential(
        &self,
        connector: ConnectorId,
        credential: CredentialId,
        now: DateTime<Utc>,
        job: NewJob,
    ) -> Result<Result<CcPairId, PairRefusal>, StoreError> {
        self.swap_scheduled(connector, credential, now, job).await
    }

    #[tracing::instrument(name = "db.cc_pair.set_access", skip_all)]
    async fn set_access(
        &self,
        id: CcPairId,
        change: AccessChange,
        now: DateTime<Utc>,
        job: NewJob,
    ) -> Result<bool, StoreError> {
        let job_id = self.ids().uuid();
        transact!(self, "cc_pair.set_access", |conn| {
            let changed = diesel::update(cc_pair::table.find(id.0))
                .set(cc_pair::access_type.eq(change.access_type.as_str()))
                .execute(conn)
                .await?;
            if changed == 0 {
                return Ok(false);
            }
            diesel::delete(cc_pair_group::table)
                .filter(cc_pair_group::cc_pair_id.eq(id.0))
                .execute(conn)
                .await?;
            insert_groups!(conn, id.0, &change.groups);
            let told = change.access_type == AccessType::Sync;
            if !told {
                forget_members!(conn, id.0);
            }
            mark_dirty!(conn, &[id.0], now);
            if !told {
                forget_access!(conn, id.0);
            }
            insert_job!(conn, job_id, job);
            Ok(true)
        })
    }

    #[tracing::instrument(name = "db.cc_pair.remove", skip_all)]
    async fn remove(
        &self,
        id: CcPairId,
        now: DateTime<Utc>,
        job: NewJob,
    ) -> Result<bool, StoreError> {
        if id == CcPair::DEFAULT {
            return Ok(false);
        }
        let job_id = self.ids().uuid();
        transact!(self, "cc_pair.remove", |conn| {
            conn.lock_pairs(&[id.0]).await?;
            let connector: Option<i32> = cc_pair::table
                .find(id.0)
                .select(cc_pair::connector_id)
                .first(conn)
                .await
                .optional()?;
            let Some(connector) = connector else { return Ok(false) };
            empty_pair!(conn, id.0, now);
            diesel::delete(cc_pair::table.find(id.0)).execute(conn).await?;
            let others: i64 = cc_pair::table
                .filter(cc_pair::connector_id.eq(connector))
                .count()
                .get_result(conn)
                .await?;
            if others == 0 {
                diesel::delete(connector::table.find(connector)).execute(conn).await?;
            }
            insert_job!(conn, job_id, job);
            Ok(true)
        })
    }
}
