//! Who is in groups of external systems.

use std::collections::BTreeSet;

use trove_domain::access::{AccessScope, AclTag, Caller, Role};
use trove_domain::cc_pair::AccessType;
use trove_domain::external_access::ExternalMembers;
use trove_domain::id::CcPairId;
use trove_domain::permission_sync::PermissionSyncStatus;
use trove_domain::port::{AccessChange, Checkpoint, Control, PermissionRecord};

use super::{access, access_of, claim, documents, finish, group, members, record, remove, synced};
use crate::builders::document_id;
use crate::stores::{Stores, at, caller, new_job};

const SUCCESS: PermissionSyncStatus = PermissionSyncStatus::Success;

async fn person(stores: &Stores, email: &str) -> Caller {
    let user = stores.user(email).await;
    caller(user, email, Role::Basic)
}

/// The groups that a caller is in, by what the source of a pair tells.
async fn expect(stores: &Stores, who: &Caller, pair: CcPairId, groups: &[&str]) {
    let groups = groups.iter().map(|id| group(id).tag(pair));
    let own = (!who.is_anonymous()).then(|| AclTag::user_email(&who.email));
    let expected = AccessScope::public_and(groups.chain(own));
    assert_eq!(stores.access.scope_for(who).await.unwrap(), expected);
}

/// All of them in one step.
pub async fn memberships_are_in_force_when_the_sync_has_ended(stores: &Stores) {
    let ann = person(stores, "Ann@example.com").await;
    let bob = person(stores, "bob@example.com").await;
    let pair = synced(stores, "a").await;
    let claimed = claim(stores, 0).await;
    let told = members(&[("G", &["ann@EXAMPLE.com", "else@example.com"]), ("empty", &[])]);
    record(stores, &claimed, told, 1).await;
    let more = members(&[("h", &["ann@example.com", "bob@example.com"])]);
    record(stores, &claimed, more, 2).await;
    expect(stores, &ann, pair, &[]).await;
    finish(stores, &claimed, SUCCESS, 3).await;
    expect(stores, &ann, pair, &["g", "h"]).await;
    expect(stores, &bob, pair, &["h"]).await;
    expect(stores, &Caller::anonymous(), pair, &[]).await;
}

/// P7: at the end of the sync, not before. Whoever left reads nothing from the next call on.
pub async fn memberships_that_are_not_told_again_end(stores: &Stores) {
    let ann = person(stores, "ann@example.com").await;
    let bob = person(stores, "bob@example.com").await;
    let pair = synced(stores, "a").await;
    let claimed = claim(stores, 0).await;
    let both: &[&str] = &["ann@example.com", "bob@example.com"];
    record(stores, &claimed, members(&[("g", both), ("h", both)]), 1).await;
    finish(stores, &claimed, PermissionSyncStatus::CompletedWithErrors, 2).await;
    let claimed = claim(stores, 400).await;
    record(stores, &claimed, members(&[("g", &["bob@example.com"])]), 401).await;
    expect(stores, &ann, pair, &["g", "h"]).await;
    finish(stores, &claimed, SUCCESS, 402).await;
    expect(stores, &ann, pair, &[]).await;
    expect(stores, &bob, pair, &["g"]).await;
}

/// It takes nothing and gives nothing, also by what a later one does.
pub async fn a_failed_sync_leaves_memberships_as_they_were(stores: &Stores) {
    let ann = person(stores, "ann@example.com").await;
    let pair = synced(stores, "a").await;
    let claimed = claim(stores, 0).await;
    record(stores, &claimed, members(&[("g", &["ann@example.com"])]), 1).await;
    finish(stores, &claimed, SUCCESS, 2).await;
    for (second, status) in
        [(400, PermissionSyncStatus::Failed), (800, PermissionSyncStatus::Canceled)]
    {
        let claimed = claim(stores, second).await;
        record(stores, &claimed, members(&[("never", &["ann@example.com"])]), second).await;
        finish(stores, &claimed, status, second).await;
        expect(stores, &ann, pair, &["g"]).await;
    }
    let claimed = claim(stores, 1200).await;
    record(stores, &claimed, members(&[("g", &["ann@example.com"])]), 1200).await;
    finish(stores, &claimed, SUCCESS, 1200).await;
    expect(stores, &ann, pair, &["g"]).await;
}

/// Whoever works on it.
pub async fn a_sync_that_goes_on_keeps_what_it_was_told(stores: &Stores) {
    let ann = person(stores, "ann@example.com").await;
    let pair = synced(stores, "a").await;
    let lost = claim(stores, 0).await;
    let checkpoint = Some(Checkpoint(serde_json::json!(1)));
    let step = PermissionRecord { checkpoint, ..members(&[("g", &["ann@example.com"])]) };
    record(stores, &lost, step, 1).await;
    let claimed = claim(stores, 120).await;
    assert!(claimed.checkpoint.is_some());
    record(stores, &claimed, members(&[("h", &["ann@example.com"])]), 121).await;
    finish(stores, &claimed, SUCCESS, 122).await;
    expect(stores, &ann, pair, &["g", "h"]).await;
}

/// The same name told by another pair is another group, and opens nothing of the first one.
pub async fn memberships_are_those_of_the_pair_that_told_them(stores: &Stores) {
    let (ann, bob) =
        (person(stores, "ann@example.com").await, person(stores, "bob@example.com").await);
    let (mut pairs, mut claims) = (Vec::new(), Vec::new());
    for (name, member) in [("a", "ann@example.com"), ("b", "bob@example.com")] {
        pairs.push(synced(stores, name).await);
        stores.register(pairs[pairs.len() - 1], &[name]).await;
        let claimed = claim(stores, 0).await;
        let mut told = documents(&[(name, access_of(&[], &["g"]))]);
        told.groups = members(&[("g", &[member])]).groups;
        record(stores, &claimed, told, 1).await;
        claims.push(claimed);
    }
    for claimed in &claims {
        finish(stores, claimed, SUCCESS, 2).await;
    }
    expect(stores, &ann, pairs[0], &["g"]).await;
    expect(stores, &bob, pairs[1], &["g"]).await;
    for (who, readable) in [(&ann, [true, false]), (&bob, [false, true])] {
        let scope = stores.access.scope_for(who).await.unwrap();
        for (name, readable) in ["a", "b"].into_iter().zip(readable) {
            assert_eq!(access(stores, name).await.is_readable_in(&scope), readable, "{name}");
        }
    }
    // Whoever is in both is in two groups, and leaves the one that is not told any more.
    let claimed = stores.permissions.claim(at(400), super::MINUTE, 2).await.unwrap();
    for claimed in claimed {
        let both: &[&str] = &["ann@example.com", "bob@example.com"];
        let told = if claimed.pair == pairs[0] { &[][..] } else { both };
        record(stores, &claimed, members(&[("g", told)]), 401).await;
        finish(stores, &claimed, SUCCESS, 402).await;
    }
    for who in [&ann, &bob] {
        expect(stores, who, pairs[1], &["g"]).await;
    }
}

/// Whether they are signed in or not, and as long as it is told.
pub async fn a_group_of_everybody_opens_its_documents(stores: &Stores) {
    let ann = person(stores, "ann@example.com").await;
    let pair = synced(stores, "a").await;
    stores.register(pair, &["a"]).await;
    let claimed = claim(stores, 0).await;
    let everybody = ExternalMembers::new(group("All"), ["bob@example.com"], true);
    let mut told = documents(&[("a", access_of(&[], &["all"]))]);
    told.groups = vec![everybody];
    record(stores, &claimed, told, 1).await;
    finish(stores, &claimed, SUCCESS, 2).await;
    let access = stores.documents.attributes(&[document_id("a")]).await.unwrap().remove(0);
    let access = access.unwrap().attributes.access;
    for who in [&ann, &Caller::anonymous()] {
        expect(stores, who, pair, &["all"]).await;
        assert!(access.is_readable_in(&stores.access.scope_for(who).await.unwrap()));
    }
    let claimed = claim(stores, 400).await;
    record(stores, &claimed, members(&[("all", &["bob@example.com"])]), 401).await;
    finish(stores, &claimed, SUCCESS, 402).await;
    expect(stores, &ann, pair, &[]).await;
    expect(stores, &Caller::anonymous(), pair, &[]).await;
}

/// But not while it is paused.
pub async fn memberships_of_a_pair_that_goes_end(stores: &Stores) {
    let ann = person(stores, "ann@example.com").await;
    let pair = synced(stores, "a").await;
    let claimed = claim(stores, 0).await;
    record(stores, &claimed, members(&[("g", &["ann@example.com"])]), 1).await;
    finish(stores, &claimed, SUCCESS, 2).await;
    stores.pairs.set_paused(pair, true, at(3)).await.unwrap().unwrap();
    expect(stores, &ann, pair, &["g"]).await;
    remove(stores, pair).await;
    expect(stores, &ann, pair, &[]).await;
}

/// Nor do they come back when the pair asks its source again, before it has told them.
pub async fn memberships_end_when_the_source_is_asked_no_more(stores: &Stores) {
    let ann = person(stores, "ann@example.com").await;
    let pair = synced(stores, "a").await;
    let claimed = claim(stores, 0).await;
    record(stores, &claimed, members(&[("g", &["ann@example.com"])]), 1).await;
    finish(stores, &claimed, SUCCESS, 2).await;
    let claimed = claim(stores, 400).await;
    for access_type in [AccessType::Public, AccessType::Sync] {
        let change = AccessChange { access_type, groups: BTreeSet::new() };
        let job = new_job("sync", "sync_documents");
        assert!(stores.pairs.set_access(pair, change, at(401), job).await.unwrap());
        expect(stores, &ann, pair, &[]).await;
    }
    // What was under way asked for the pair as it was, and the next one need not wait.
    let told = members(&[("g", &["ann@example.com"])]);
    assert_eq!(record(stores, &claimed, told, 402).await, Control::Lost);
    assert_eq!(claim(stores, 402).await.pair, pair);
}

/// In one step, told twice.
pub async fn thousands_of_memberships_are_kept(stores: &Stores) {
    let last = person(stores, "2500@example.com").await;
    let pair = synced(stores, "a").await;
    let claimed = claim(stores, 0).await;
    let users = (0..=2500).map(|n| format!("{n}@example.com"));
    let all = ExternalMembers::new(group("g"), users, false);
    let step = PermissionRecord { groups: vec![all], ..PermissionRecord::default() };
    record(stores, &claimed, step.clone(), 1).await;
    record(stores, &claimed, step, 2).await;
    finish(stores, &claimed, SUCCESS, 3).await;
    expect(stores, &last, pair, &["g"]).await;
}
