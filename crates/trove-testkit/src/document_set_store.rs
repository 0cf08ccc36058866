//! What every [`DocumentSetStore`](trove_domain::port::DocumentSetStore) does.

mod changes;
mod rights;

use std::collections::BTreeSet;

use futures::future::join_all;
use trove_domain::access::{Caller, Role};
use trove_domain::cc_pair::AccessType;
use trove_domain::document_set::{DocumentSet, DocumentSetState};
use trove_domain::id::{CcPairId, DocumentSetId, GroupId, UserId};
use trove_domain::port::{NewDocumentSet, Reach, SeenDocumentSet, SetChange};

pub use changes::*;
pub use rights::*;

use crate::stores::{Stores, at, caller, document_ids, new_job, new_set};

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
                a_set_that_is_shared_with_nobody_is_visible_to_administrators,
                a_set_is_visible_to_its_owner,
                a_set_is_visible_to_its_users,
                a_set_is_visible_to_the_members_of_its_groups_of_now,
                only_sets_that_are_asked_for_are_found,
                a_name_is_compared_exactly,
                sets_are_found_by_rising_id,
                thousands_of_names_may_be_asked_for,
                a_new_set_is_found_by_name_when_the_index_knows_of_it,
                a_set_is_found_by_name_while_a_change_of_it_is_syncing,
                a_change_that_came_meanwhile_is_not_finished_with_the_one_before,
                a_change_of_pairs_marks_those_that_come_and_go,
                a_change_of_anything_else_leaves_a_set_up_to_date,
                a_set_takes_no_change_while_it_is_syncing,
                an_update_to_a_taken_name_is_refused_whole,
                an_update_over_something_unknown_is_refused_whole,
                a_deleted_set_is_empty_at_once_and_goes_when_the_index_knows,
                a_name_is_free_again_when_its_set_is_gone,
                an_administrator_may_change_every_set,
                a_curator_may_change_what_belongs_to_its_groups_and_no_other,
                a_global_curator_may_change_what_belongs_to_groups_it_is_in,
                a_set_that_may_not_be_changed_is_as_good_as_none,
                sets_are_listed_in_pages,
            ]
        );
    };
}

/// Inserts a set that belongs to nobody; it is not in the index yet.
async fn begin(stores: &Stores, set: NewDocumentSet) -> SetChange {
    stores.sets.insert(set, None, at(1), new_job("sync", "sync")).await.unwrap()
}

/// Inserts a set that the index then knows of; `None` when it was refused.
async fn insert(stores: &Stores, set: NewDocumentSet) -> Option<DocumentSetId> {
    let SetChange::Done(id) = begin(stores, set).await else { return None };
    settle(stores).await;
    Some(id)
}

/// As if the index had caught up.
async fn settle(stores: &Stores) {
    let sets = stores.sets.unsynced().await.unwrap();
    stores.sets.finish_sync(&sets).await.unwrap();
}

/// Somebody who is no administrator.
fn somebody(user: UserId) -> Caller {
    caller(user, "somebody@example.com", Role::Basic)
}

async fn member(stores: &Stores, role: Role) -> Caller {
    let email = format!("{role}-{}@example.com", stores.next());
    let user = stores.new_user(&email, role);
    let id = user.id;
    assert!(stores.users.insert(user).await.unwrap());
    caller(id, &email, role)
}

async fn visible(stores: &Stores, names: &[&str], user: UserId) -> Vec<String> {
    seen_by(stores, names, &somebody(user)).await
}

async fn seen_by(stores: &Stores, names: &[&str], caller: &Caller) -> Vec<String> {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let sets = stores.sets.find_by_name(caller, &names).await.unwrap();
    sets.into_iter().map(|set| set.name).collect()
}

async fn find(stores: &Stores, caller: &Caller, id: DocumentSetId) -> Option<SeenDocumentSet> {
    stores.sets.find(caller, &[id].into()).await.unwrap().pop()
}

async fn listed(stores: &Stores, caller: &Caller, reach: Reach) -> Vec<String> {
    let page = stores.sets.list(caller, reach, None, 1000).await.unwrap();
    assert_eq!(page.next, None);
    page.items.into_iter().map(|seen| seen.set.name).collect()
}

async fn update(
    stores: &Stores,
    caller: &Caller,
    id: DocumentSetId,
    set: NewDocumentSet,
) -> SetChange {
    stores.sets.update(caller, id, set, at(2), new_job("sync", "sync")).await.unwrap()
}

async fn remove(stores: &Stores, caller: &Caller, id: DocumentSetId) -> SetChange {
    stores.sets.begin_removal(caller, id, at(2), new_job("sync", "sync")).await.unwrap()
}

/// Documents that are to be written again are.
async fn write(stores: &Stores) {
    let ids = stores.documents.list_dirty(None, 1000).await.unwrap();
    let ids: Vec<_> = ids.into_iter().map(|dirty| dirty.id).collect();
    let known = stores.documents.attributes(&ids).await.unwrap();
    let revisions = ids.into_iter().zip(known);
    let revisions: Vec<_> =
        revisions.filter_map(|(id, known)| Some((id, known?.revision))).collect();
    stores.documents.mark_synced(&revisions, at(3)).await.unwrap();
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
    new.description = "of all, \u{1f600}".to_owned();
    let change = stores.sets.insert(new.clone(), Some(bob), at(1), new_job("sync", "sync")).await;
    let SetChange::Done(id) = change.unwrap() else { panic!("it is new") };
    let mut expected = DocumentSet {
        id,
        name: new.name.clone(),
        description: new.description,
        public: false,
        groups: new.groups,
        users: new.users,
        owner: Some(bob),
        cc_pairs: new.cc_pairs,
        state: DocumentSetState::New,
    };
    assert_eq!(find(stores, &somebody(ann), id).await.unwrap().set, expected);
    settle(stores).await;
    expected.state = DocumentSetState::UpToDate;
    let found = stores.sets.find_by_name(&somebody(ann), &[new.name]).await.unwrap();
    assert_eq!(found, [expected]);
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
    assert_eq!(begin(stores, second).await, SetChange::NameTaken);
    let found = stores.sets.find_by_name(&somebody(ann), &["s".to_owned()]).await.unwrap();
    assert_eq!(found.iter().map(|set| set.id).collect::<Vec<_>>(), [first]);
    assert!(found[0].users.is_empty() && found[0].cc_pairs == pairs[..1].iter().copied().collect());
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
        let set = NewDocumentSet { public: true, ..set };
        assert_eq!(begin(stores, set).await, SetChange::Unknown);
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
    let first = insert(stores, new_set("first", &pairs[..1])).await.unwrap();
    let both = insert(stores, new_set("both", &pairs)).await.unwrap();
    let second = insert(stores, new_set("second", &pairs[1..])).await.unwrap();
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

/// A set narrows what is found, whoever searches.
pub async fn a_set_that_is_shared_with_nobody_is_visible_to_administrators(stores: &Stores) {
    let pair = stores.pair("a", AccessType::Public, &[]).await;
    insert(stores, new_set("s", &[pair])).await.unwrap();
    for role in Role::ALL {
        let caller = member(stores, role).await;
        let expected: &[&str] = if role == Role::Admin { &["s"] } else { &[] };
        assert_eq!(seen_by(stores, &["s"], &caller).await, expected, "{role}");
        assert_eq!(listed(stores, &caller, Reach::Visible).await, expected, "{role}");
    }
}

/// And, whatever its role, to be changed by it.
pub async fn a_set_is_visible_to_its_owner(stores: &Stores) {
    let ann = member(stores, Role::Basic).await;
    let pair = stores.pair("a", AccessType::Public, &[]).await;
    let job = new_job("sync", "sync");
    stores.sets.insert(new_set("s", &[pair]), Some(ann.user), at(1), job).await.unwrap();
    settle(stores).await;
    assert_eq!(seen_by(stores, &["s"], &ann).await, ["s"]);
    assert_eq!(listed(stores, &ann, Reach::Editable).await, ["s"]);
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
    let found = stores.sets.find_by_name(&somebody(ann), &names).await.unwrap();
    let found: Vec<_> = found.into_iter().map(|set| set.name).collect();
    assert_eq!(found, ["set 39999", "set 0"]);
}
