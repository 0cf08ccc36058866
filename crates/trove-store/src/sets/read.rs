//! What is read of document sets.

use std::collections::{BTreeMap, BTreeSet};

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use trove_domain::access::Caller;
use trove_domain::document_set::{DocumentSet, DocumentSetState};
use trove_domain::error::StoreError;
use trove_domain::id::{CcPairId, DocumentSetId, GroupId, UserId};
use trove_domain::page::Page;
use trove_domain::port::{Reach, SeenDocumentSet};

use super::{DELETING, NEW, SYNCING, UP_TO_DATE};
use crate::Store;
use crate::backend::{KEYS_MAX, read};
use crate::rights::{Power, editable, visible};
use crate::schema::{document_set, document_set_cc_pair, document_set_group, document_set_user};
use crate::sql::Id;

#[derive(Queryable, Selectable)]
#[diesel(table_name = document_set)]
struct SetRow {
    id: i32,
    name: String,
    description: String,
    public: bool,
    owner_id: Option<Id>,
    state: String,
}

macro_rules! visible_sets {
    ($power:expr) => {
        visible!($power, document_set, document_set_id, document_set_user, document_set_group)
    };
}

macro_rules! editable_sets {
    ($power:expr) => {
        editable!($power, document_set, document_set_id, document_set_group)
    };
}

/// Rows of one link table, by set.
macro_rules! linked {
    ($conn:expr, $ids:expr, $link:ident, $column:ident, $type:ty) => {{
        let rows: Vec<(i32, $type)> = $link::table
            .filter($link::document_set_id.eq_any($ids))
            .select(($link::document_set_id, $link::$column))
            .load($conn)
            .await?;
        let mut by_set: BTreeMap<i32, Vec<$type>> = BTreeMap::new();
        for (set, value) in rows {
            by_set.entry(set).or_default().push(value);
        }
        by_set
    }};
}

/// Loads the sets of a query, in its order, with what is linked to them.
macro_rules! load_sets {
    ($conn:expr, $power:expr, $query:expr) => {{
        let rows: Vec<SetRow> = $query.select(SetRow::as_select()).load($conn).await?;
        let ids: Vec<i32> = rows.iter().map(|row| row.id).collect();
        let mut groups = linked!($conn, &ids, document_set_group, group_id, i32);
        let mut users = linked!($conn, &ids, document_set_user, user_id, Id);
        let mut pairs = linked!($conn, &ids, document_set_cc_pair, cc_pair_id, i32);
        let editable: Vec<i32> = document_set::table
            .filter(document_set::id.eq_any(&ids))
            .filter(editable_sets!($power))
            .select(document_set::id)
            .load($conn)
            .await?;
        let sets = rows.into_iter().map(|row| {
            let SetRow { id, name, description, public, owner_id, state } = row;
            let set = DocumentSet {
                id: DocumentSetId(id),
                name,
                description,
                public,
                groups: groups.remove(&id).into_iter().flatten().map(GroupId).collect(),
                users: users.remove(&id).into_iter().flatten().map(|id| UserId(id.0)).collect(),
                owner: owner_id.map(|id| UserId(id.0)),
                cc_pairs: pairs.remove(&id).into_iter().flatten().map(CcPairId).collect(),
                state: match state.as_str() {
                    UP_TO_DATE => DocumentSetState::UpToDate,
                    NEW => DocumentSetState::New,
                    DELETING => DocumentSetState::Deleting,
                    _ => DocumentSetState::Syncing,
                },
            };
            SeenDocumentSet { editable: editable.contains(&id), set }
        });
        sets.collect::<Vec<SeenDocumentSet>>()
    }};
}

impl Store {
    pub(super) async fn sets_by_name(
        &self,
        caller: &Caller,
        names: &[String],
    ) -> Result<Vec<DocumentSet>, StoreError> {
        let power = Power::of(caller);
        // PostgreSQL has no text with NUL, hence no such name.
        let names: BTreeSet<&str> =
            names.iter().map(String::as_str).filter(|name| !name.contains('\0')).collect();
        let names: Vec<&str> = names.into_iter().collect();
        let mut sets: Vec<DocumentSet> = Vec::new();
        for names in names.chunks(KEYS_MAX) {
            let found: Vec<SeenDocumentSet> = read!(self, "document_set.find_by_name", |conn| {
                let query = document_set::table
                    .filter(document_set::name.eq_any(names))
                    .filter(document_set::state.eq_any([UP_TO_DATE, SYNCING]))
                    .filter(visible_sets!(power));
                Ok(load_sets!(conn, power, query))
            })?;
            sets.extend(found.into_iter().map(|seen| seen.set));
        }
        sets.sort_unstable_by_key(|set| set.id);
        Ok(sets)
    }

    pub(super) async fn sets_by_id(
        &self,
        caller: &Caller,
        ids: &BTreeSet<DocumentSetId>,
    ) -> Result<Vec<SeenDocumentSet>, StoreError> {
        let power = Power::of(caller);
        let ids: Vec<i32> = ids.iter().map(|id| id.0).collect();
        let mut sets = Vec::new();
        for ids in ids.chunks(KEYS_MAX) {
            let found: Vec<SeenDocumentSet> = read!(self, "document_set.find", |conn| {
                let query = document_set::table
                    .filter(document_set::id.eq_any(ids))
                    .filter(visible_sets!(power))
                    .order(document_set::id);
                Ok(load_sets!(conn, power, query))
            })?;
            sets.extend(found);
        }
        Ok(sets)
    }

    pub(super) async fn list_sets(
        &self,
        caller: &Caller,
        reach: Reach,
        after: Option<DocumentSetId>,
        limit: u32,
    ) -> Result<Page<SeenDocumentSet, DocumentSetId>, StoreError> {
        let power = Power::of(caller);
        let mut items: Vec<SeenDocumentSet> = read!(self, "document_set.list", |conn| {
            let page = document_set::table
                .filter(document_set::id.gt(after.map_or(i32::MIN, |id| id.0)))
                .order(document_set::id)
                .limit(i64::from(limit) + 1);
            Ok(match reach {
                Reach::Visible => load_sets!(conn, power, page.filter(visible_sets!(power))),
                Reach::Editable => load_sets!(conn, power, page.filter(editable_sets!(power))),
            })
        })?;
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = items.len() > limit;
        items.truncate(limit);
        let next = items.last().filter(|_| more).map(|last| last.set.id);
        Ok(Page { items, next })
    }
}
