//! What a step of a permission sync has told.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncConnection, RunQueryDsl};
use trove_domain::access::Role;
use trove_domain::cc_pair::{AccessType, CcPairStatus};
use trove_domain::email::EmailAddress;
use trove_domain::error::StoreError;
use trove_domain::external_access::ExternalMembers;
use trove_domain::id::UserId;
use trove_domain::indexing::StopReason;
use trove_domain::job::NewJob;
use trove_domain::permission_sync::PermissionSyncStatus;
use trove_domain::port::{Checkpoint, ClaimedPermissionSync, Control, NewUser, PermissionRecord};

use super::access::StoredAccess;
use super::statements::TellMembers;
use super::sync::{held, hold, stored};
use super::{AccessRow, EVERYBODY, write_access};
use crate::Store;
use crate::backend::{KEYS_MAX, transact};
use crate::documents::batch::ROWS_MAX;
use crate::documents::{ATTRIBUTES, present};
use crate::jobs::{after, insert_job};
use crate::locks::Locks;
use crate::schema::{
    cc_pair, document, document_cc_pair, external_access, permission_sync, user_account,
};
use crate::sql::Time;
use crate::users::insert_user;

/// The people that a step names and who can be users.
fn people(step: &PermissionRecord) -> BTreeSet<&str> {
    let of_documents = step.documents.iter().flat_map(|(_, access)| access.users());
    let of_groups = step.groups.iter().flat_map(ExternalMembers::users);
    let people = of_documents.chain(of_groups).map(String::as_str);
    people.filter(|address| EmailAddress::parse(address).is_ok()).collect()
}

/// The memberships that a step names: address and group.
fn memberships(step: &PermissionRecord) -> Vec<(&str, &str)> {
    let mut memberships = BTreeSet::new();
    for members in &step.groups {
        let group = members.group().as_str();
        memberships.extend(members.users().iter().map(|user| (user.as_str(), group)));
        if members.everybody() {
            memberships.insert((EVERYBODY, group));
        }
    }
    memberships.into_iter().collect()
}

impl Store {
    pub(super) async fn record_told(
        &self,
        claimed: &ClaimedPermissionSync,
        step: PermissionRecord,
        now: DateTime<Utc>,
        lease: Duration,
        job: NewJob,
    ) -> Result<Control, StoreError> {
        let (people, members) = (people(&step), memberships(&step));
        let keys: Vec<&str> = people.iter().copied().collect();
        // Of a document that occurs twice the last mention counts; by rising id.
        let told: BTreeMap<&str, AccessRow<'_>> = step
            .documents
            .iter()
            .map(|(id, access)| (id.as_str(), AccessRow::new(id, access)))
            .collect();
        let ids: Vec<&str> = told.keys().copied().collect();
        let checkpoint = step.checkpoint.as_ref().map(|Checkpoint(value)| value.to_string());
        let failures = stored(step.error.clone());
        let (pair, job_id) = (claimed.pair.0, self.ids().uuid());
        transact!(self, "permission_sync.record_step", |conn| {
            // Users come before pairs and documents, as with whoever changes an address.
            for keys in keys.chunks(KEYS_MAX) {
                let known: Vec<String> = user_account::table
                    .filter(user_account::email_key.eq_any(keys))
                    .select(user_account::email_key)
                    .load(conn)
                    .await?;
                for key in keys.iter().filter(|key| !known.iter().any(|known| known == **key)) {
                    let id = UserId(self.ids().uuid());
                    let user = NewUser::person(id, key, Role::ExtPermUser, now);
                    let _new: bool = insert_user!(conn, user);
                }
            }
            let run = hold!(conn, claimed);
            let mut changed: Vec<&str> = Vec::new();
            for ids in ids.chunks(KEYS_MAX) {
                conn.lock_documents(ids).await?;
                let linked: BTreeSet<String> = document_cc_pair::table
                    .filter(document_cc_pair::cc_pair_id.eq(pair))
                    .filter(document_cc_pair::document_id.eq_any(ids))
                    .select(document_cc_pair::document_id)
                    .load(conn)
                    .await?
                    .into_iter()
                    .collect();
                let before: Vec<StoredAccess> = external_access::table
                    .filter(external_access::cc_pair_id.eq(pair))
                    .filter(external_access::document_id.eq_any(ids))
                    .load(conn)
                    .await?;
                let before: BTreeMap<&str, &StoredAccess> =
                    before.iter().map(|row| (row.0.as_str(), row)).collect();
                let is_new = |id: &str| match (told.get(id), before.get(id)) {
                    (Some(told), Some((_, _, is_public, users, groups))) => {
                        (told.is_public, &told.users, &told.groups) != (*is_public, users, groups)
                    }
                    (told, _) => told.is_some(),
                };
                let ids = ids.iter().copied();
                changed.extend(ids.filter(|id| linked.contains(*id) && is_new(id)));
            }
            let rows: Vec<AccessRow<'_>> =
                changed.iter().filter_map(|id| told.get(id)).cloned().collect();
            write_access!(conn, pair, rows);
            for changed in changed.chunks(KEYS_MAX) {
                diesel::update(document::table.filter(document::id.eq_any(changed)))
                    .filter(present!())
                    .set((
                        document::revision.eq(document::revision + 1),
                        document::pending.eq(Some(ATTRIBUTES)),
                        document::changed_at.eq(Time(now)),
                    ))
                    .execute(conn)
                    .await?;
            }
            for members in members.chunks(ROWS_MAX) {
                TellMembers { pair: &pair, run: &run, members }.execute(conn).await?;
            }
            diesel::update(held!(claimed))
                .set((
                    permission_sync::checkpoint.eq(&checkpoint),
                    permission_sync::tries.eq(0),
                    permission_sync::failures.eq(&failures),
                    permission_sync::error.eq(None::<String>),
                    permission_sync::leased_until.eq(Some(Time(after(now, lease)))),
                ))
                .execute(conn)
                .await?;
            if !changed.is_empty() {
                insert_job!(conn, job_id, job);
            }
            Ok(Control::Go)
        })
    }
}
