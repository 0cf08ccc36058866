//! What every [`DocumentSetStore`](trove_domain::port::DocumentSetStore) does.

use std::collections::BTreeSet;

use futures::future::join_all;
use trove_domain::access::Role;
use trove_domain::cc_pair::AccessType;
use trove_domain::document_set::DocumentSet;
use trove_domain::id::{CcPairId, GroupId, UserId};
use trove_domain::port::NewDocumentSet;

use crate::stores::{Stores, at, document_ids, new_job, new_set};

/// Turns the suite into one test for each obligation. `$start` is a future of an `Option` of
/// something that dereferences to [`Stores`].
#[macro_export]
macro_rules! document_set_store_contract {
    ($start:expr) => {
        $crate::contract_suite!(
            document_set_store,
            $start,
            [
                a_set_is_stored_as_given,
                a_taken_name_is_refused_whole,
                a_set_over_something_unknown_is_refused_whole,
                of_concurrent_sets_with_one_name_one_is_inserted,
                a_set_marks_the_documents_of_its_pairs,
                a_set_enqueues_its_job,
                documents_tell_the_sets_of_their_pairs,
                a_public_set_is_visible_to_everybody,
                a_set_that_is_shared_with_nobody_is_visible_to_nobody,
                a_set_is_visible_to_its_users,
                a_set_is_visible_to_the_members_of_its_groups_of_now,
                only_sets_that_are_asked_for_are_found,
                a_name_is_compared_exactly,
                sets_are_found_by_rising_id,
                thousands_of_names_may_be_asked_for,
            ]
        );
    };
}

async fn insert(stores: &Stores, set: NewDocumentSet) -> Option<DocumentSet> {
    stores.sets.insert(set, at(1), new_job("sync", "sync")).await.unwrap()
}

async fn visible(stores: &Stores, names: &[&str], user: UserId) -> Vec<String> {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let sets = stores.sets.find_visible(&names, user).await.unwrap();
    sets.into_iter().map(|set| set.name).collect()
}

/// And found like that.
pub async fn a_set_is_stored_as_given(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let bob = stores.user("bob@example.com").await;
    let groups = [stores.group("a", &[]).await, stores.group("b", &[]).await];
    let pairs = [
        stores.pair("a", AccessType::Public, &[]).await,
        stores.pair("b", AccessType::Public, &[]).await,
    ];
    let mut new = new_set("Отчёты O'Hara 100%", &pairs);
    new.groups = groups.into();
    new.users = [ann, bob].into();
    let set = insert(stores, new.clone()).await.unwrap();
    let expected = DocumentSet {
        id: set.id,
        name: new.name.clone(),
        public: false,
        groups: new.groups,
        users: new.users,
        cc_pairs: new.cc_pairs,
    };
    assert_eq!(set, expected);
    assert_eq!(stores.sets.find_visible(&[new.name], ann).await.unwrap(), [expected]);
}

/// The first set stays, and nothing of the second is kept.
pub async fn a_taken_name_is_refused_whole(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let pairs = [
        stores.pair("a", AccessType::Public, &[]).await,
        stores.pair("b", AccessType::Public, &[]).await,
    ];
    stores.index(pairs[1], &["d"]).await;
    let mut new = new_set("s", &pairs[..1]);
    new.public = true;
    let first = insert(stores, new).await.unwrap();
    let mut second = new_set("s", &pairs);
    second.users.insert(ann);
    assert_eq!(insert(stores, second).await, None);
    assert_eq!(stores.sets.find_visible(&["s".to_owned()], ann).await.unwrap(), [first]);
    assert!(stores.dirty().await.is_empty());
    assert_eq!(stores.jobs.depth("sync").await.unwrap(), 1);
}

/// Pair, group or user: nothing is kept then.
pub async fn a_set_over_something_unknown_is_refused_whole(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let pair = stores.pair("a", AccessType::Public, &[]).await;
    stores.index(pair, &["d"]).await;
    let over_pair = new_set("s", &[pair, CcPairId(4711)]);
    let mut over_group = new_set("s", &[pair]);
    over_group.groups.insert(GroupId(4711));
    let mut over_user = new_set("s", &[pair]);
    over_user.users = [ann, stores.new_user("", Role::Basic).id].into();
    for set in [over_pair, over_group, over_user] {
        assert_eq!(insert(stores, NewDocumentSet { public: true, ..set }).await, None);
        assert!(visible(stores, &["s"], ann).await.is_empty());
        assert!(stores.dirty().await.is_empty());
        assert_eq!(stores.jobs.depth("sync").await.unwrap(), 0);
    }
}

/// Uniqueness holds under concurrency.
pub async fn of_concurrent_sets_with_one_name_one_is_inserted(stores: &Stores) {
    let pair = stores.pair("a", AccessType::Public, &[]).await;
    stores.index(pair, &["a", "b", "c"]).await;
    let outcomes = join_all((0..8).map(|_| insert(stores, new_set("s", &[pair])))).await;
    assert_eq!(outcomes.into_iter().flatten().count(), 1);
    assert_eq!(stores.jobs.depth("sync").await.unwrap(), 1);
}

/// Those of other pairs stay as they are.
pub async fn a_set_marks_the_documents_of_its_pairs(stores: &Stores) {
    let pairs = [
        stores.pair("a", AccessType::Public, &[]).await,
        stores.pair("b", AccessType::Public, &[]).await,
        stores.pair("c", AccessType::Public, &[]).await,
    ];
    stores.index(pairs[0], &["a", "ab"]).await;
    stores.index(pairs[1], &["b", "ab"]).await;
    stores.index(pairs[2], &["c"]).await;
    let before = stores.revision("b").await;
    insert(stores, new_set("s", &pairs[..2])).await.unwrap();
    assert_eq!(stores.dirty().await, ["a", "ab", "b"]);
    assert!(stores.revision("b").await > before);
}

/// The job is there when the set is.
pub async fn a_set_enqueues_its_job(stores: &Stores) {
    let pair = stores.pair("a", AccessType::Public, &[]).await;
    insert(stores, new_set("s", &[pair])).await.unwrap();
    assert_eq!(stores.claim("sync", at(1)).await.unwrap().kind, "sync");
    assert_eq!(stores.claim("sync", at(1)).await, None);
}

/// Every set that has one of its pairs.
pub async fn documents_tell_the_sets_of_their_pairs(stores: &Stores) {
    let pairs = [
        stores.pair("a", AccessType::Public, &[]).await,
        stores.pair("b", AccessType::Public, &[]).await,
    ];
    stores.index(pairs[0], &["a", "ab"]).await;
    stores.index(pairs[1], &["b", "ab"]).await;
    let first = insert(stores, new_set("first", &pairs[..1])).await.unwrap().id;
    let both = insert(stores, new_set("both", &pairs)).await.unwrap().id;
    let second = insert(stores, new_set("second", &pairs[1..])).await.unwrap().id;
    let attributes = stores.documents.attributes(&document_ids(&["a", "ab", "b"])).await.unwrap();
    let sets: Vec<BTreeSet<_>> =
        attributes.into_iter().map(|known| known.unwrap().attributes.document_sets).collect();
    let expected: [BTreeSet<_>; 3] =
        [[first, both].into(), [first, both, second].into(), [both, second].into()];
    assert_eq!(sets, expected);
}

/// Known users or not.
pub async fn a_public_set_is_visible_to_everybody(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let pair = stores.pair("a", AccessType::Private, &[]).await;
    let mut set = new_set("s", &[pair]);
    set.public = true;
    insert(stores, set).await.unwrap();
    let nobody = stores.new_user("", Role::Basic).id;
    for user in [ann, nobody] {
        assert_eq!(visible(stores, &["s"], user).await, ["s"]);
    }
}

/// No role helps.
pub async fn a_set_that_is_shared_with_nobody_is_visible_to_nobody(stores: &Stores) {
    let pair = stores.pair("a", AccessType::Public, &[]).await;
    insert(stores, new_set("s", &[pair])).await.unwrap();
    let admin = stores.new_user("root@example.com", Role::Admin);
    let id = admin.id;
    stores.users.insert(admin).await.unwrap();
    assert!(visible(stores, &["s"], id).await.is_empty());
}

/// And to nobody else.
pub async fn a_set_is_visible_to_its_users(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let bob = stores.user("bob@example.com").await;
    let pair = stores.pair("a", AccessType::Public, &[]).await;
    let mut set = new_set("s", &[pair]);
    set.users.insert(ann);
    insert(stores, set).await.unwrap();
    assert_eq!(visible(stores, &["s"], ann).await, ["s"]);
    assert!(visible(stores, &["s"], bob).await.is_empty());
}

/// A change of members shows in the next call.
pub async fn a_set_is_visible_to_the_members_of_its_groups_of_now(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let bob = stores.user("bob@example.com").await;
    let groups = [stores.group("a", &[ann]).await, stores.group("b", &[ann]).await];
    let pair = stores.pair("a", AccessType::Public, &[]).await;
    let mut set = new_set("s", &[pair]);
    set.groups = groups.into();
    insert(stores, set).await.unwrap();
    assert_eq!(visible(stores, &["s"], ann).await, ["s"]);
    assert!(visible(stores, &["s"], bob).await.is_empty());
    stores.members(groups[0], &[bob]).await;
    stores.members(groups[1], &[]).await;
    assert!(visible(stores, &["s"], ann).await.is_empty());
    assert_eq!(visible(stores, &["s"], bob).await, ["s"]);
}

/// Each once, however often it is asked for.
pub async fn only_sets_that_are_asked_for_are_found(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let pair = stores.pair("a", AccessType::Public, &[]).await;
    for name in ["a", "b", "c"] {
        insert(stores, NewDocumentSet { public: true, ..new_set(name, &[pair]) }).await.unwrap();
    }
    assert!(visible(stores, &[], ann).await.is_empty());
    assert!(visible(stores, &["unknown"], ann).await.is_empty());
    assert_eq!(visible(stores, &["c", "unknown", "a", "c", "a"], ann).await, ["a", "c"]);
}

/// `%` and `_` stand for themselves, and letter case matters.
pub async fn a_name_is_compared_exactly(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let pair = stores.pair("a", AccessType::Public, &[]).await;
    for name in ["a_b", "O'Hara", "Ärger", "a\\b"] {
        insert(stores, NewDocumentSet { public: true, ..new_set(name, &[pair]) }).await.unwrap();
        assert_eq!(visible(stores, &[name], ann).await, [name]);
    }
    assert!(visible(stores, &["axb", "%", "o'hara", "ärger", "", "a/b"], ann).await.is_empty());
}

/// Whatever the order of the names.
pub async fn sets_are_found_by_rising_id(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let pair = stores.pair("a", AccessType::Public, &[]).await;
    for name in ["z", "a", "m"] {
        insert(stores, NewDocumentSet { public: true, ..new_set(name, &[pair]) }).await.unwrap();
    }
    assert_eq!(visible(stores, &["a", "m", "z"], ann).await, ["z", "a", "m"]);
}

/// No limit of a statement shows.
pub async fn thousands_of_names_may_be_asked_for(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let pair = stores.pair("a", AccessType::Public, &[]).await;
    for name in ["set 39999", "set 0"] {
        insert(stores, NewDocumentSet { public: true, ..new_set(name, &[pair]) }).await.unwrap();
    }
    let names: Vec<String> = (0..40_000).map(|n| format!("set {n}")).collect();
    let found = stores.sets.find_visible(&names, ann).await.unwrap();
    let found: Vec<_> = found.into_iter().map(|set| set.name).collect();
    assert_eq!(found, ["set 39999", "set 0"]);
}
