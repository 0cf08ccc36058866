//! Addresses that may register.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncConnection, RunQueryDsl};
use trove_domain::access::Role;
use trove_domain::email::EmailAddress;
use trove_domain::error::StoreError;
use trove_domain::page::NumberedPage;
use trove_domain::port::{INVITATIONS_MAX, InvitationStore, Invited, Seats};

use super::rows::{email_key, holds};
use super::seats_used;
use crate::Store;
use crate::backend::{KEYS_MAX, read, transact};
use crate::locks::Locks;
use crate::schema::{invitation, user_account};
use crate::sql::Time;

/// Whether an address may register.
macro_rules! invited {
    ($conn:expr, $key:expr, $only:expr) => {{
        use crate::schema::invitation;
        let count: i64 = invitation::table.find($key).count().get_result($conn).await?;
        let is_open = if count == 0 && !$only {
            let all: i64 = invitation::table.count().get_result($conn).await?;
            all == 0
        } else {
            false
        };
        count > 0 || is_open
    }};
}
pub(super) use invited;

/// Takes an invitation back.
macro_rules! withdraw {
    ($conn:expr, $key:expr) => {
        diesel::delete(crate::schema::invitation::table.find($key)).execute($conn).await?
    };
}
pub(super) use withdraw;

macro_rules! count {
    ($conn:expr) => {{
        let count: i64 = invitation::table.count().get_result($conn).await?;
        u64::try_from(count).unwrap_or(0)
    }};
}

/// Invitations whose owners have not registered, in no order.
macro_rules! open {
    ($text:expr) => {{
        let registered = user_account::table
            .filter(user_account::role.ne(Role::ExtPermUser.as_str()))
            .select(user_account::email_key);
        let mut query =
            invitation::table.filter(invitation::email_key.ne_all(registered)).into_boxed();
        if let Some(text) = $text {
            query = query.filter(invitation::email_key.like(holds(text)).escape('\\'));
        }
        query
    }};
}

#[async_trait]
impl InvitationStore for Store {
    #[tracing::instrument(name = "db.invitation.invite", skip_all)]
    async fn invite(
        &self,
        addresses: &[EmailAddress],
        seats: Option<u64>,
        now: DateTime<Utc>,
    ) -> Result<Invited, StoreError> {
        // Of two spellings of one address the first counts.
        let mut wanted: BTreeMap<String, &str> = BTreeMap::new();
        for address in addresses {
            wanted.entry(email_key(address.as_str())).or_insert(address.as_str());
        }
        let keys: Vec<&String> = wanted.keys().collect();
        transact!(self, "invitation.invite", |conn| {
            conn.lock_users().await?;
            let mut known: BTreeSet<String> = BTreeSet::new();
            let mut users: BTreeSet<String> = BTreeSet::new();
            for keys in keys.chunks(KEYS_MAX) {
                let found: Vec<String> = invitation::table
                    .filter(invitation::email_key.eq_any(keys))
                    .select(invitation::email_key)
                    .load(conn)
                    .await?;
                known.extend(found);
                let found: Vec<String> = user_account::table
                    .filter(user_account::email_key.eq_any(keys))
                    .select(user_account::email_key)
                    .load(conn)
                    .await?;
                users.extend(found);
            }
            let new: Vec<(&String, &str)> = wanted
                .iter()
                .filter(|(key, _)| !known.contains(*key))
                .map(|(key, address)| (key, *address))
                .collect();
            let needed = new.iter().filter(|(key, _)| !users.contains(*key)).count();
            if let Some(total) = seats.filter(|_| needed > 0) {
                let used = seats_used!(conn);
                if used.saturating_add(u64::try_from(needed).unwrap_or(u64::MAX)) > total {
                    return Ok(Invited::NoSeat(Seats { used, total }));
                }
            }
            let added = u64::try_from(new.len()).unwrap_or(u64::MAX);
            if added > 0 && count!(conn).saturating_add(added) > INVITATIONS_MAX {
                return Ok(Invited::TooMany);
            }
            for new in new {
                diesel::insert_into(invitation::table)
                    .values((
                        invitation::email_key.eq(new.0),
                        invitation::email.eq(new.1),
                        invitation::created_at.eq(Time(now)),
                    ))
                    .execute(conn)
                    .await?;
            }
            Ok(Invited::All(count!(conn)))
        })
    }

    #[tracing::instrument(name = "db.invitation.withdraw", skip_all)]
    async fn withdraw(&self, address: &str) -> Result<u64, StoreError> {
        transact!(self, "invitation.withdraw", |conn| {
            withdraw!(conn, &email_key(address));
            Ok(count!(conn))
        })
    }

    #[tracing::instrument(name = "db.invitation.list_open", skip_all)]
    async fn list_open(
        &self,
        text: Option<&str>,
        offset: u64,
        limit: u32,
    ) -> Result<NumberedPage<String>, StoreError> {
        let offset = i64::try_from(offset).unwrap_or(i64::MAX);
        read!(self, "invitation.list_open", |conn| {
            let total: i64 = open!(text).count().get_result(conn).await?;
            let items: Vec<String> = open!(text)
                .order(invitation::email_key)
                .limit(i64::from(limit))
                .offset(offset)
                .select(invitation::email)
                .load(conn)
                .await?;
            Ok(NumberedPage { items, total: u64::try_from(total).unwrap_or(0) })
        })
    }
}
