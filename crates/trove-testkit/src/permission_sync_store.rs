//! What every [`PermissionSyncStore`](trove_domain::port::PermissionSyncStore) does.

mod memberships;

use std::time::Duration;

use serde_json::json;
use trove_domain::access::{AclTag, DocumentAccess, Role};
use trove_domain::cc_pair::AccessType;
use trove_domain::external_access::{ExternalAccess, ExternalGroup, ExternalMembers};
use trove_domain::id::CcPairId;
use trove_domain::indexing::StopReason;
use trove_domain::permission_sync::PermissionSyncStatus;
use trove_domain::port::{
    Checkpoint, ClaimedPermissionSync, Control, PermissionRecord, PermissionSyncEnd, RunBy,
};
use trove_domain::source::DocumentSource;

pub use memberships::*;

use crate::builders::document_id;
use crate::stores::{Stores, at, new_job};

/// Turns the suite into one test for each obligation. `$start` is a future of an `Option` of
/// something that dereferences to [`Stores`].
#[macro_export]
macro_rules! permission_sync_store_contract {
    ($start:expr) => {
        $crate::contract_suite!(
            permission_sync_store,
            $start,
            [
                active_pairs_that_leave_access_to_their_source_are_due_at_once,
                a_sync_has_one_worker,
                the_next_sync_is_due_when_its_time_has_come,
                an_abandoned_sync_is_taken_over_and_its_worker_writes_nothing,
                a_sync_that_is_put_back_waits_and_goes_on_where_it_was,
                a_released_sync_is_free_at_once,
                nothing_is_written_for_a_pair_that_is_not_active,
                a_step_changes_the_documents_that_it_names,
                the_same_access_again_changes_nothing,
                documents_of_other_pairs_are_left_alone,
                what_was_registered_is_replaced_by_what_is_told,
                people_whom_nobody_knows_become_users,
                known_people_stay_as_they_are,
                the_latest_syncs_of_pairs,
                a_removed_pair_takes_its_sync_along,
                memberships_are_in_force_when_the_sync_has_ended,
                memberships_that_are_not_told_again_end,
                a_failed_sync_leaves_memberships_as_they_were,
                a_sync_that_goes_on_keeps_what_it_was_told,
                memberships_are_those_of_the_pair_that_told_them,
                a_group_of_everybody_opens_its_documents,
                memberships_of_a_pair_that_goes_end,
                memberships_end_when_the_source_is_asked_no_more,
                thousands_of_memberships_are_kept,
            ]
        );
    };
}

const MINUTE: Duration = Duration::from_mins(1);

/// An active pair whose source says who may read.
async fn synced(stores: &Stores, name: &str) -> CcPairId {
    let pair = stores.pair(name, AccessType::Sync, &[]).await;
    stores.pairs.set_schedule(pair, RunBy::Schedule, Some(3600)).await.unwrap();
    stores.pairs.set_paused(pair, false, at(0)).await.unwrap().unwrap();
    pair
}

/// Takes the one sync that is due for a minute.
async fn claim(stores: &Stores, second: i64) -> ClaimedPermissionSync {
    let mut claimed = stores.permissions.claim(at(second), MINUTE, 10).await.unwrap();
    assert_eq!(claimed.len(), 1, "{claimed:?}");
    claimed.remove(0)
}

/// Takes a pair away, with whatever is its own.
async fn remove(stores: &Stores, pair: CcPairId) {
    assert!(stores.pairs.remove(pair, at(3), new_job("sync", "sync_documents")).await.unwrap());
}

async fn claimed_pairs(stores: &Stores, second: i64) -> Vec<CcPairId> {
    let claimed = stores.permissions.claim(at(second), MINUTE, 10).await.unwrap();
    claimed.into_iter().map(|claimed| claimed.pair).collect()
}

async fn record(
    stores: &Stores,
    claimed: &ClaimedPermissionSync,
    step: PermissionRecord,
    second: i64,
) -> Control {
    let job = new_job("sync", "sync_documents");
    stores.permissions.record_step(claimed, step, at(second), MINUTE, job).await.unwrap()
}

async fn finish(
    stores: &Stores,
    claimed: &ClaimedPermissionSync,
    status: PermissionSyncStatus,
    second: i64,
) -> Control {
    let error = (!status.is_complete()).then(|| "it broke".to_owned());
    let end = PermissionSyncEnd { status, error, next_at: at(second + 300) };
    stores.permissions.finish(claimed, end, at(second)).await.unwrap()
}

fn group(id: &str) -> ExternalGroup {
    ExternalGroup::new(DocumentSource::File, id)
}

fn access_of(users: &[&str], groups: &[&str]) -> ExternalAccess {
    ExternalAccess::new(users, groups.iter().map(|id| group(id)), false)
}

fn documents(documents: &[(&str, ExternalAccess)]) -> PermissionRecord {
    let documents = documents.iter().map(|(id, access)| (document_id(id), access.clone()));
    PermissionRecord { documents: documents.collect(), ..PermissionRecord::default() }
}

fn members(groups: &[(&str, &[&str])]) -> PermissionRecord {
    let members =
        groups.iter().map(|(id, users)| ExternalMembers::new(group(id), users.iter(), false));
    PermissionRecord { groups: members.collect(), ..PermissionRecord::default() }
}

async fn access(stores: &Stores, id: &str) -> DocumentAccess {
    let known = stores.documents.attributes(&[document_id(id)]).await.unwrap().remove(0);
    known.unwrap().attributes.access
}

fn for_people(people: &[&str]) -> DocumentAccess {
    DocumentAccess::restricted_to(people.iter().map(|email| AclTag::user_email(email)))
}

/// Not those that are paused, are read by nobody, or say themselves who may read.
pub async fn active_pairs_that_leave_access_to_their_source_are_due_at_once(stores: &Stores) {
    stores.pair("by hand", AccessType::Sync, &[]).await;
    for kind in [AccessType::Public, AccessType::Private] {
        let pair = stores.pair(kind.as_str(), kind, &[]).await;
        stores.pairs.set_schedule(pair, RunBy::Schedule, None).await.unwrap();
        stores.pairs.set_paused(pair, false, at(0)).await.unwrap().unwrap();
    }
    let waiting = stores.pair("waiting", AccessType::Sync, &[]).await;
    stores.pairs.set_schedule(waiting, RunBy::Schedule, None).await.unwrap();
    let (a, b) = (synced(stores, "a").await, synced(stores, "b").await);
    stores.pairs.set_paused(waiting, true, at(0)).await.unwrap().unwrap();
    assert_eq!(claimed_pairs(stores, 0).await, [a, b]);
    stores.pairs.set_paused(waiting, false, at(0)).await.unwrap().unwrap();
    assert_eq!(claimed_pairs(stores, 0).await, [waiting]);
}

/// However many ask.
pub async fn a_sync_has_one_worker(stores: &Stores) {
    for name in ["a", "b", "c"] {
        synced(stores, name).await;
    }
    let claims = (0..6).map(|_| stores.permissions.claim(at(0), MINUTE, 1));
    let claimed = futures::future::join_all(claims).await.into_iter().flat_map(Result::unwrap);
    let mut pairs: Vec<CcPairId> = claimed.map(|claimed| claimed.pair).collect();
    pairs.sort_unstable();
    pairs.dedup();
    let rest = claimed_pairs(stores, 0).await;
    assert_eq!(pairs.len() + rest.len(), 3, "{pairs:?} {rest:?}");
}

/// From its beginning.
pub async fn the_next_sync_is_due_when_its_time_has_come(stores: &Stores) {
    let pair = synced(stores, "a").await;
    let first = claim(stores, 0).await;
    let step = PermissionRecord { checkpoint: Some(Checkpoint(json!(1))), ..Default::default() };
    assert_eq!(record(stores, &first, step, 1).await, Control::Go);
    assert_eq!(finish(stores, &first, PermissionSyncStatus::Success, 2).await, Control::Go);
    assert_eq!(finish(stores, &first, PermissionSyncStatus::Failed, 2).await, Control::Lost);
    assert_eq!(claimed_pairs(stores, 301).await, []);
    let second = claim(stores, 302).await;
    assert_eq!((second.pair, second.checkpoint, second.tries), (pair, None, 0));
}

/// It goes on where the last step ended.
pub async fn an_abandoned_sync_is_taken_over_and_its_worker_writes_nothing(stores: &Stores) {
    let pair = synced(stores, "a").await;
    stores.register(pair, &["a"]).await;
    let lost = claim(stores, 0).await;
    let step = PermissionRecord { checkpoint: Some(Checkpoint(json!("x"))), ..Default::default() };
    assert_eq!(record(stores, &lost, step, 1).await, Control::Go);
    assert_eq!(claimed_pairs(stores, 60).await, []);
    let control = stores.permissions.heartbeat(&lost, at(60), MINUTE).await.unwrap();
    assert_eq!(control, Control::Go);
    assert_eq!(claimed_pairs(stores, 119).await, []);
    let mine = claim(stores, 121).await;
    assert_eq!((mine.pair, mine.checkpoint.clone()), (pair, Some(Checkpoint(json!("x")))));
    let told = documents(&[("a", access_of(&["ann@example.com"], &[]))]);
    assert_eq!(record(stores, &lost, told, 122).await, Control::Lost);
    let control = stores.permissions.heartbeat(&lost, at(122), MINUTE).await.unwrap();
    assert_eq!(control, Control::Lost);
    assert_eq!(finish(stores, &lost, PermissionSyncStatus::Success, 122).await, Control::Lost);
    stores.permissions.release(&lost, at(122)).await.unwrap();
    stores.permissions.put_back(&lost, "no", at(0), at(122)).await.unwrap();
    assert_eq!(claimed_pairs(stores, 122).await, []);
    assert_eq!(access(stores, "a").await, for_people(&[]));
    assert_eq!(record(stores, &mine, PermissionRecord::default(), 122).await, Control::Go);
}

/// And its tries count up until a step succeeds.
pub async fn a_sync_that_is_put_back_waits_and_goes_on_where_it_was(stores: &Stores) {
    synced(stores, "a").await;
    let claimed = claim(stores, 0).await;
    let step = PermissionRecord {
        checkpoint: Some(Checkpoint(json!(7))),
        error: Some("of a document".to_owned()),
        ..PermissionRecord::default()
    };
    record(stores, &claimed, step.clone(), 0).await;
    for tries in 1..=2 {
        let claimed = claimed_or(stores, &claimed, tries).await;
        stores.permissions.put_back(&claimed, "no answer", at(tries * 10), at(0)).await.unwrap();
        assert_eq!(claimed_pairs(stores, tries * 10 - 1).await, []);
    }
    let claimed = claim(stores, 20).await;
    assert_eq!((claimed.checkpoint.clone(), claimed.tries), (Some(Checkpoint(json!(7))), 2));
    assert_eq!(claimed.error.as_deref(), Some("of a document"));
    record(stores, &claimed, step, 20).await;
    stores.permissions.release(&claimed, at(20)).await.unwrap();
    assert_eq!(claim(stores, 20).await.tries, 0);
}

/// The first try is the claim that there is, later ones are claimed anew.
async fn claimed_or(
    stores: &Stores,
    first: &ClaimedPermissionSync,
    tries: i64,
) -> ClaimedPermissionSync {
    if tries == 1 { first.clone() } else { claim(stores, 10).await }
}

/// As it is.
pub async fn a_released_sync_is_free_at_once(stores: &Stores) {
    synced(stores, "a").await;
    let claimed = claim(stores, 0).await;
    stores.permissions.release(&claimed, at(0)).await.unwrap();
    let again = claim(stores, 0).await;
    assert_eq!((again.tries, again.claim), (0, claimed.claim + 1));
}

/// Nor are memberships put in force; it can be canceled all the same.
pub async fn nothing_is_written_for_a_pair_that_is_not_active(stores: &Stores) {
    let pair = synced(stores, "a").await;
    stores.register(pair, &["a"]).await;
    let claimed = claim(stores, 0).await;
    stores.pairs.set_paused(pair, true, at(1)).await.unwrap().unwrap();
    let stop = Control::Stop(StopReason::Paused);
    let told = documents(&[("a", access_of(&["ann@example.com"], &[]))]);
    assert_eq!(record(stores, &claimed, told, 1).await, stop);
    assert_eq!(stores.permissions.heartbeat(&claimed, at(1), MINUTE).await.unwrap(), stop);
    assert_eq!(finish(stores, &claimed, PermissionSyncStatus::Success, 1).await, stop);
    assert_eq!(access(stores, "a").await, for_people(&[]));
    let control = finish(stores, &claimed, PermissionSyncStatus::Canceled, 2).await;
    assert_eq!(control, Control::Go);
    let latest = stores.permissions.latest_permission_syncs(&[pair]).await.unwrap().remove(0);
    let latest = latest.unwrap();
    assert_eq!(latest.status, PermissionSyncStatus::Canceled);
    assert_eq!((latest.finished_at, latest.completed_at), (Some(at(2)), None));
}

/// They are pending for their attributes, and a job is there for it.
pub async fn a_step_changes_the_documents_that_it_names(stores: &Stores) {
    let pair = synced(stores, "a").await;
    stores.index(pair, &["a", "b", "c"]).await;
    let claimed = claim(stores, 0).await;
    let (ann, both) = (&["ann@example.com"][..], &["ann@example.com", "bob@example.com"][..]);
    let told = documents(&[("a", access_of(ann, &[])), ("b", access_of(both, &["G"]))]);
    let before = stores.revision("a").await;
    assert_eq!(record(stores, &claimed, told, 1).await, Control::Go);
    assert_eq!(stores.dirty().await, ["a", "b"]);
    assert!(stores.revision("a").await > before);
    assert_eq!(access(stores, "a").await, for_people(ann));
    assert!(access(stores, "b").await.tags.contains(&AclTag::external_group(pair, "file_g")));
    assert_eq!(access(stores, "c").await, for_people(&[]));
    assert!(stores.claim("sync", at(1)).await.is_some());
    // Less is told like more.
    let less = documents(&[("b", access_of(&[], &[]))]);
    assert_eq!(record(stores, &claimed, less, 2).await, Control::Go);
    assert_eq!(access(stores, "b").await, for_people(&[]));
}

/// Nor is there a job.
pub async fn the_same_access_again_changes_nothing(stores: &Stores) {
    let pair = synced(stores, "a").await;
    stores.index(pair, &["a"]).await;
    let claimed = claim(stores, 0).await;
    let told = documents(&[("a", access_of(&["ann@example.com"], &["g"]))]);
    record(stores, &claimed, told.clone(), 1).await;
    let revision = stores.revision("a").await;
    assert!(stores.claim("sync", at(1)).await.is_some());
    stores.documents.mark_synced(&[(document_id("a"), revision)], at(1)).await.unwrap();
    record(stores, &claimed, told, 2).await;
    assert_eq!(stores.revision("a").await, revision);
    assert_eq!(stores.dirty().await, [""; 0]);
    assert!(stores.claim("sync", at(2)).await.is_none());
}

/// And those that nobody knows, or that are going.
pub async fn documents_of_other_pairs_are_left_alone(stores: &Stores) {
    let pair = synced(stores, "a").await;
    let other = stores.pair("other", AccessType::Private, &[]).await;
    stores.index(other, &["foreign"]).await;
    stores.index(pair, &["going"]).await;
    stores.documents.begin_removal(&[document_id("going")], at(0)).await.unwrap();
    let claimed = claim(stores, 0).await;
    let open = ExternalAccess::new(["ann@example.com"], [], true);
    let told = documents(&[("foreign", open.clone()), ("missing", open.clone()), ("going", open)]);
    assert_eq!(record(stores, &claimed, told, 1).await, Control::Go);
    assert_eq!(access(stores, "foreign").await, for_people(&[]));
    assert_eq!(stores.dirty().await, ["going"]);
}

/// Of each document by itself; what is registered later replaces what was told.
pub async fn what_was_registered_is_replaced_by_what_is_told(stores: &Stores) {
    let pair = synced(stores, "a").await;
    let registered = |email: &str| trove_domain::port::Registration {
        external_access: Some(access_of(&[email], &[])),
        ..crate::stores::registration("a")
    };
    let first = [registered("first@example.com")];
    stores.documents.register(pair, &first, at(0)).await.unwrap().unwrap();
    let claimed = claim(stores, 0).await;
    let told = documents(&[("a", access_of(&["second@example.com"], &[]))]);
    record(stores, &claimed, told, 1).await;
    assert_eq!(access(stores, "a").await, for_people(&["second@example.com"]));
    let third = [registered("third@example.com")];
    stores.documents.register(pair, &third, at(2)).await.unwrap().unwrap();
    assert_eq!(access(stores, "a").await, for_people(&["third@example.com"]));
}

/// Those that can be: an address that is none stays a name among the readers.
pub async fn people_whom_nobody_knows_become_users(stores: &Stores) {
    let pair = synced(stores, "a").await;
    stores.register(pair, &["a"]).await;
    let claimed = claim(stores, 0).await;
    let mut told = documents(&[("a", access_of(&["Reader@Example.com", "no address"], &[]))]);
    told.groups = members(&[("g", &["member@example.com", "reader@example.com"])]).groups;
    for second in 1..=2 {
        assert_eq!(record(stores, &claimed, told.clone(), second).await, Control::Go);
    }
    for email in ["reader@example.com", "member@example.com"] {
        let user = stores.users.get_by_email(email).await.unwrap().unwrap();
        assert_eq!((user.role, user.active, user.has_password), (Role::ExtPermUser, true, false));
    }
    assert_eq!(stores.users.get_by_email("no address").await.unwrap(), None);
}

/// Whoever they are, kept out or not.
pub async fn known_people_stay_as_they_are(stores: &Stores) {
    let pair = synced(stores, "a").await;
    stores.register(pair, &["a"]).await;
    let admin = stores.user_with("Admin@example.com", Role::Admin).await;
    let out = stores.user("out@example.com").await;
    stores.set_active(out, false, at(0)).await.unwrap();
    let before = [stores.users.get(admin).await.unwrap(), stores.users.get(out).await.unwrap()];
    let claimed = claim(stores, 0).await;
    let people = ["admin@example.com", "OUT@example.com"];
    record(stores, &claimed, documents(&[("a", access_of(&people, &[]))]), 1).await;
    let after = [stores.users.get(admin).await.unwrap(), stores.users.get(out).await.unwrap()];
    assert_eq!(after, before);
}

/// Of pairs that never had one there is none.
pub async fn the_latest_syncs_of_pairs(stores: &Stores) {
    let a = synced(stores, "a").await;
    let claimed = claim(stores, 0).await;
    let never = stores.pair("never", AccessType::Public, &[]).await;
    let latest = async || {
        let mut latest = stores.permissions.latest_permission_syncs(&[never, a]).await.unwrap();
        assert_eq!((latest.len(), latest[0].is_none()), (2, true));
        latest.remove(1).unwrap()
    };
    let begun = latest().await;
    assert_eq!((begun.pair, begun.status), (a, PermissionSyncStatus::InProgress));
    assert_eq!((begun.finished_at, begun.completed_at, begun.error), (None, None, None));
    finish(stores, &claimed, PermissionSyncStatus::Success, 5).await;
    let done = latest().await;
    assert_eq!((done.status, done.error), (PermissionSyncStatus::Success, None));
    assert_eq!((done.finished_at, done.completed_at), (Some(at(5)), Some(at(5))));
    let claimed = claim(stores, 400).await;
    finish(stores, &claimed, PermissionSyncStatus::Failed, 401).await;
    let failed = latest().await;
    assert_eq!(failed.error.as_deref(), Some("it broke"));
    assert_eq!((failed.finished_at, failed.completed_at), (Some(at(401)), Some(at(5))));
}

/// Nobody works on it any more.
pub async fn a_removed_pair_takes_its_sync_along(stores: &Stores) {
    let pair = synced(stores, "a").await;
    let claimed = claim(stores, 0).await;
    remove(stores, pair).await;
    let lost = record(stores, &claimed, PermissionRecord::default(), 2).await;
    assert_eq!(lost, Control::Lost);
    let latest = stores.permissions.latest_permission_syncs(&[pair]).await.unwrap();
    assert_eq!(latest, [None]);
}
