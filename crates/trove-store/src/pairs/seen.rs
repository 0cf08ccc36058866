//! Pairs as callers see them.

use std::collections::{BTreeMap, BTreeSet};

use diesel::dsl::{count_star, exists};
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use trove_domain::access::Caller;
use trove_domain::cc_pair::{CcPair, PairReader, SeenPair};
use trove_domain::error::StoreError;
use trove_domain::id::{CcPairId, GroupId};

use super::{PairRow, SCHEDULE, editable, load_pairs, pair, readable};
use crate::Store;
use crate::backend::{KEYS_MAX, read};
use crate::error::Failure;
use crate::rights::Power;
use crate::schema::{cc_pair, cc_pair_group, connector, document_cc_pair, user_account};
use crate::sql::Time;

#[derive(Queryable, Selectable)]
#[diesel(table_name = cc_pair)]
struct MoreRow {
    id: i32,
    run_by: String,
    in_repeated_error_state: bool,
    last_successful_index_at: Option<Time>,
    last_pruned_at: Option<Time>,
    deletion_failure: Option<String>,
}

/// What a caller sees of the pairs of a query, in its order.
macro_rules! load_seen {
    ($conn:expr, $power:expr, $query:expr) => {{
        let pairs: Vec<CcPair> = load_pairs!($conn, $query);
        let ids: Vec<i32> = pairs.iter().map(|pair| pair.id.0).collect();
        let mut rows: BTreeMap<i32, (MoreRow, Option<String>)> = BTreeMap::new();
        let mut editable: BTreeSet<i32> = BTreeSet::new();
        let mut documents: BTreeMap<i32, i64> = BTreeMap::new();
        for ids in ids.chunks(KEYS_MAX) {
            let found: Vec<(MoreRow, Option<String>)> = cc_pair::table
                .left_join(user_account::table)
                .filter(cc_pair::id.eq_any(ids))
                .select((MoreRow::as_select(), user_account::email.nullable()))
                .load($conn)
                .await?;
            rows.extend(found.into_iter().map(|row| (row.0.id, row)));
            let own: Vec<i32> = cc_pair::table
                .filter(cc_pair::id.eq_any(ids))
                .filter(editable!($power))
                .select(cc_pair::id)
                .load($conn)
                .await?;
            editable.extend(own);
            let counts: Vec<(i32, i64)> = document_cc_pair::table
                .filter(document_cc_pair::cc_pair_id.eq_any(ids))
                .filter(document_cc_pair::indexed.eq(true))
                .group_by(document_cc_pair::cc_pair_id)
                .select((document_cc_pair::cc_pair_id, count_star()))
                .load($conn)
                .await?;
            documents.extend(counts);
        }
        let seen = pairs.into_iter().filter_map(|pair| {
            let (row, creator_email) = rows.remove(&pair.id.0)?;
            let documents = documents.get(&pair.id.0).copied().unwrap_or_default();
            Some(SeenPair {
                documents: u64::try_from(documents).unwrap_or_default(),
                editable: editable.contains(&pair.id.0),
                scheduled: row.run_by == SCHEDULE,
                in_repeated_error_state: row.in_repeated_error_state,
                last_successful_index_at: row.last_successful_index_at.map(|at| at.0),
                last_pruned_at: row.last_pruned_at.map(|at| at.0),
                deletion_failure: row.deletion_failure,
                creator_email,
                pair,
            })
        });
        seen.collect::<Vec<SeenPair>>()
    }};
}

impl Store {
    #[tracing::instrument(name = "db.cc_pair.find_seen", skip_all, fields(cc_pair.id = %id))]
    pub(super) async fn seen_pair(
        &self,
        caller: &Caller,
        id: CcPairId,
    ) -> Result<Option<SeenPair>, StoreError> {
        let power = Power::of(caller);
        read!(self, "cc_pair.find_seen", |conn| {
            let query = cc_pair::table.inner_join(connector::table).filter(cc_pair::id.eq(id.0));
            let mut seen = match PairReader::of(caller) {
                PairReader::Administrator => load_seen!(conn, power, query),
                PairReader::User(user) => {
                    load_seen!(conn, power, query.filter(readable!(user)))
                }
            };
            Ok(seen.pop())
        })
    }

    #[tracing::instrument(name = "db.cc_pair.list_seen", skip_all)]
    pub(super) async fn seen_pairs(
        &self,
        caller: &Caller,
        after: Option<CcPairId>,
        limit: u32,
    ) -> Result<Vec<SeenPair>, StoreError> {
        let power = Power::of(caller);
        read!(self, "cc_pair.list_seen", |conn| {
            let query = cc_pair::table
                .inner_join(connector::table)
                .filter(cc_pair::id.gt(after.map_or(i32::MIN, |id| id.0)))
                .filter(cc_pair::id.ne(CcPair::DEFAULT.0))
                .order(cc_pair::id)
                .limit(i64::from(limit));
            Ok(match PairReader::of(caller) {
                PairReader::Administrator => load_seen!(conn, power, query),
                PairReader::User(user) => {
                    load_seen!(conn, power, query.filter(readable!(user)))
                }
            })
        })
    }
}
