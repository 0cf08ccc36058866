//! Lists of users.

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use trove_domain::error::StoreError;
use trove_domain::id::UserId;
use trove_domain::page::{NumberedPage, Page};
use trove_domain::port::{UserCount, UserFilter};
use trove_domain::user::{AccountKind, ListedUser};

use super::rows::{email_key, holds};
use crate::Store;
use crate::backend::{KEYS_MAX, read};
use crate::error::corrupt;
use crate::schema::user_account;
use crate::sql::Id;

/// The users of a list, in no order.
macro_rules! filtered {
    ($filter:expr) => {{
        let roles: Vec<&str> = $filter.roles.iter().map(|role| role.as_str()).collect();
        let mut query = user_account::table.filter(user_account::role.eq_any(roles)).into_boxed();
        if let Some(active) = $filter.active {
            query = query.filter(user_account::active.eq(active));
        }
        if !$filter.services {
            query = query.filter(user_account::kind.eq(AccountKind::Person.as_str()));
        }
        if let Some(text) = &$filter.text {
            query = query.filter(user_account::email_key.like(holds(text)).escape('\\'));
        }
        query
    }};
}

/// The users of a list after an address, one more than asked for.
macro_rules! page {
    ($filter:expr, $after:expr, $limit:expr) => {{
        let mut query = filtered!($filter);
        if let Some(after) = $after {
            query = query.filter(user_account::email_key.gt(email_key(after)));
        }
        query.order(user_account::email_key).limit(i64::from($limit) + 1)
    }};
}

/// Loads the users of a query, in its order, with their groups.
macro_rules! load_users {
    ($conn:expr, $query:expr) => {{
        use crate::backend::KEYS_MAX;
        use crate::error::Failure;
        use crate::schema::{user_group, user_group_member};
        use crate::sql::Id;
        use crate::users::{UserRow, user};
        use std::collections::BTreeMap;
        use trove_domain::group::Group;
        use trove_domain::id::GroupId;
        use trove_domain::user::ListedUser;
        let rows: Vec<UserRow> = $query.select(UserRow::as_select()).load($conn).await?;
        let ids: Vec<Id> = rows.iter().map(|row| row.id).collect();
        let mut groups: BTreeMap<Id, Vec<Group>> = BTreeMap::new();
        for ids in ids.chunks(KEYS_MAX) {
            let links: Vec<(Id, i32, String)> = user_group_member::table
                .inner_join(user_group::table)
                .filter(user_group_member::user_id.eq_any(ids))
                .order((user_group_member::user_id, user_group_member::group_id))
                .select((user_group_member::user_id, user_group::id, user_group::name))
                .load($conn)
                .await?;
            for (user, id, name) in links {
                groups.entry(user).or_default().push(Group { id: GroupId(id), name });
            }
        }
        rows.into_iter()
            .map(|row| {
                let groups = groups.remove(&row.id).unwrap_or_default();
                Ok(ListedUser { user: user(row)?, groups })
            })
            .collect::<Result<Vec<ListedUser>, Failure>>()?
    }};
}
pub(crate) use load_users;

/// Cuts off the one that was read too much; the last one that stays is where to go on.
fn cut<T>(mut items: Vec<T>, limit: u32, address: impl Fn(&T) -> &str) -> Page<T, String> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = items.len() > limit;
    items.truncate(limit);
    let next = items.last().filter(|_| more).map(|last| address(last).to_owned());
    Page { items, next }
}

impl Store {
    pub(super) async fn list_users(
        &self,
        filter: &UserFilter,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Page<ListedUser, String>, StoreError> {
        let items: Vec<ListedUser> = read!(self, "user.list", |conn| {
            Ok(load_users!(conn, page!(filter, after, limit)))
        })?;
        Ok(cut(items, limit, |listed| &listed.user.email))
    }

    pub(super) async fn number_users(
        &self,
        filter: &UserFilter,
        offset: u64,
        limit: u32,
    ) -> Result<NumberedPage<ListedUser>, StoreError> {
        let offset = i64::try_from(offset).unwrap_or(i64::MAX);
        read!(self, "user.list_numbered", |conn| {
            // Two steps, so that what is skipped costs an entry of the index and no row.
            let keys: Vec<String> = filtered!(filter)
                .order(user_account::email_key)
                .limit(i64::from(limit))
                .offset(offset)
                .select(user_account::email_key)
                .load(conn)
                .await?;
            let found = i64::try_from(keys.len()).unwrap_or(i64::MAX);
            // The last page says how many there are.
            let is_last = found < i64::from(limit) && (found > 0 || offset == 0);
            let total: i64 = if is_last {
                offset.saturating_add(found)
            } else {
                filtered!(filter).count().get_result(conn).await?
            };
            let mut items: Vec<ListedUser> = Vec::with_capacity(keys.len());
            for keys in keys.chunks(KEYS_MAX) {
                let query = user_account::table
                    .filter(user_account::email_key.eq_any(keys))
                    .order(user_account::email_key);
                items.extend(load_users!(conn, query));
            }
            Ok(NumberedPage { items, total: u64::try_from(total).unwrap_or(0) })
        })
    }

    pub(super) async fn list_addresses(
        &self,
        filter: &UserFilter,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Page<(UserId, String), String>, StoreError> {
        let items: Vec<(Id, String)> = read!(self, "user.addresses", |conn| {
            let query = page!(filter, after, limit);
            Ok(query.select((user_account::id, user_account::email)).load(conn).await?)
        })?;
        let page = cut(items, limit, |(_, email)| email);
        let items = page.items.into_iter().map(|(id, email)| (UserId(id.0), email)).collect();
        Ok(Page { items, next: page.next })
    }

    pub(super) async fn count_users(&self) -> Result<Vec<UserCount>, StoreError> {
        read!(self, "user.counts", |conn| {
            let rows: Vec<(String, bool, i64)> = user_account::table
                .filter(user_account::kind.eq(AccountKind::Person.as_str()))
                .group_by((user_account::role, user_account::active))
                .select((user_account::role, user_account::active, diesel::dsl::count_star()))
                .load(conn)
                .await?;
            rows.into_iter()
                .map(|(role, active, count)| {
                    let role = role.parse().map_err(corrupt("role", &role))?;
                    Ok(UserCount { role, active, count: u64::try_from(count).unwrap_or(0) })
                })
                .collect()
        })
    }
}
