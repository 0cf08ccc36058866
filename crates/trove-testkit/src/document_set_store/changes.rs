//! What is changed of document sets, and when the index knows.

use trove_domain::access::Role;
use trove_domain::cc_pair::AccessType;
use trove_domain::document_set::{DocumentSet, DocumentSetState};
use trove_domain::id::{CcPairId, GroupId};
use trove_domain::port::{NewDocumentSet, Reach, SetChange};

use super::{begin, find, insert, listed, member, remove, seen_by, settle, update, write};
use crate::stores::{Stores, document_ids, new_set};

/// In lists it is at once.
pub async fn a_new_set_is_found_by_name_when_the_index_knows_of_it(stores: &Stores) {
    let admin = member(stores, Role::Admin).await;
    let pair = stores.pair("a", AccessType::Public, &[]).await;
    let SetChange::Done(id) = begin(stores, new_set("s", &[pair])).await else { panic!() };
    assert!(seen_by(stores, &["s"], &admin).await.is_empty());
    assert_eq!(listed(stores, &admin, Reach::Visible).await, ["s"]);
    let state = async || find(stores, &admin, id).await.unwrap().set.state;
    assert_eq!(state().await, DocumentSetState::New);
    settle(stores).await;
    assert_eq!(state().await, DocumentSetState::UpToDate);
    assert_eq!(seen_by(stores, &["s"], &admin).await, ["s"]);
    assert!(stores.sets.unsynced().await.unwrap().is_empty());
}

/// The index holds what it was.
pub async fn a_set_is_found_by_name_while_a_change_of_it_is_syncing(stores: &Stores) {
    let admin = member(stores, Role::Admin).await;
    let mut pairs = Vec::new();
    for name in ["a", "b"] {
        pairs.push(stores.pair(name, AccessType::Public, &[]).await);
    }
    let id = insert(stores, new_set("s", &pairs[..1])).await.unwrap();
    assert_eq!(update(stores, &admin, id, new_set("s", &pairs[1..])).await, SetChange::Done(id));
    let state = async || find(stores, &admin, id).await.unwrap().set.state;
    assert_eq!(state().await, DocumentSetState::Syncing);
    assert_eq!(seen_by(stores, &["s"], &admin).await, ["s"]);
    settle(stores).await;
    assert_eq!(state().await, DocumentSetState::UpToDate);
    assert_eq!(seen_by(stores, &["s"], &admin).await, ["s"]);
}

/// Whoever began before it did not write what it changed.
pub async fn a_change_that_came_meanwhile_is_not_finished_with_the_one_before(stores: &Stores) {
    let admin = member(stores, Role::Admin).await;
    let pairs = [
        stores.pair("a", AccessType::Public, &[]).await,
        stores.pair("b", AccessType::Public, &[]).await,
    ];
    let SetChange::Done(id) = begin(stores, new_set("s", &pairs[..1])).await else { panic!() };
    let begun = stores.sets.unsynced().await.unwrap();
    stores.sets.finish_sync(&begun).await.unwrap();
    assert_eq!(update(stores, &admin, id, new_set("s", &pairs)).await, SetChange::Done(id));
    stores.sets.finish_sync(&begun).await.unwrap();
    let state = find(stores, &admin, id).await.unwrap().set.state;
    assert_eq!(state, DocumentSetState::Syncing);
    settle(stores).await;
    assert_eq!(remove(stores, &admin, id).await, SetChange::Done(id));
    stores.sets.finish_sync(&begun).await.unwrap();
    assert!(find(stores, &admin, id).await.is_some());
}

/// Those of pairs that stay are as they were.
pub async fn a_change_of_pairs_marks_those_that_come_and_go(stores: &Stores) {
    let admin = member(stores, Role::Admin).await;
    let mut pairs = Vec::new();
    for name in ["stays", "goes", "comes"] {
        let pair = stores.pair(name, AccessType::Public, &[]).await;
        stores.index(pair, &[name]).await;
        pairs.push(pair);
    }
    let id = insert(stores, new_set("s", &pairs[..2])).await.unwrap();
    write(stores).await;
    assert!(stores.dirty().await.is_empty());
    let change = update(stores, &admin, id, new_set("s", &[pairs[0], pairs[2]])).await;
    assert_eq!(change, SetChange::Done(id));
    assert_eq!(stores.dirty().await, ["comes", "goes"]);
    let known = document_ids(&["stays", "goes", "comes"]);
    let known = stores.documents.attributes(&known).await.unwrap();
    let inside: Vec<bool> = known
        .into_iter()
        .map(|known| known.unwrap().attributes.document_sets.contains(&id))
        .collect();
    assert_eq!(inside, [true, false, true]);
}

/// The index holds keys of sets, nothing else of them.
pub async fn a_change_of_anything_else_leaves_a_set_up_to_date(stores: &Stores) {
    let admin = member(stores, Role::Admin).await;
    let ann = stores.user("ann@example.com").await;
    let group = stores.group("g", &[]).await;
    let pair = stores.pair("a", AccessType::Public, &[]).await;
    stores.index(pair, &["d"]).await;
    let id = insert(stores, new_set("s", &[pair])).await.unwrap();
    write(stores).await;
    let new = NewDocumentSet {
        name: "renamed".to_owned(),
        description: "described".to_owned(),
        public: true,
        groups: [group].into(),
        users: [ann].into(),
        cc_pairs: [pair].into(),
    };
    assert_eq!(update(stores, &admin, id, new.clone()).await, SetChange::Done(id));
    let set = find(stores, &admin, id).await.unwrap().set;
    let expected = DocumentSet {
        id,
        name: new.name,
        description: new.description,
        public: true,
        groups: new.groups,
        users: new.users,
        owner: None,
        cc_pairs: new.cc_pairs,
        state: DocumentSetState::UpToDate,
    };
    assert_eq!(set, expected);
    assert!(stores.dirty().await.is_empty());
    assert_eq!(seen_by(stores, &["s", "renamed"], &admin).await, ["renamed"]);
}

/// Row 98: not even right after it was made.
pub async fn a_set_takes_no_change_while_it_is_syncing(stores: &Stores) {
    let admin = member(stores, Role::Admin).await;
    let pair = stores.pair("a", AccessType::Public, &[]).await;
    let SetChange::Done(id) = begin(stores, new_set("s", &[pair])).await else { panic!() };
    assert_eq!(update(stores, &admin, id, new_set("t", &[pair])).await, SetChange::Syncing);
    assert_eq!(remove(stores, &admin, id).await, SetChange::Syncing);
    settle(stores).await;
    assert_eq!(remove(stores, &admin, id).await, SetChange::Done(id));
    assert_eq!(remove(stores, &admin, id).await, SetChange::Syncing);
}

/// Its own name is not taken.
pub async fn an_update_to_a_taken_name_is_refused_whole(stores: &Stores) {
    let admin = member(stores, Role::Admin).await;
    let pair = stores.pair("a", AccessType::Public, &[]).await;
    let id = insert(stores, new_set("s", &[pair])).await.unwrap();
    insert(stores, new_set("t", &[pair])).await.unwrap();
    let taken = NewDocumentSet { public: true, ..new_set("t", &[pair]) };
    assert_eq!(update(stores, &admin, id, taken).await, SetChange::NameTaken);
    assert!(!find(stores, &admin, id).await.unwrap().set.public);
    let own = NewDocumentSet { public: true, ..new_set("s", &[pair]) };
    assert_eq!(update(stores, &admin, id, own).await, SetChange::Done(id));
}

/// Pair, group or user.
pub async fn an_update_over_something_unknown_is_refused_whole(stores: &Stores) {
    let admin = member(stores, Role::Admin).await;
    let pair = stores.pair("a", AccessType::Public, &[]).await;
    let id = insert(stores, new_set("s", &[pair])).await.unwrap();
    let before = find(stores, &admin, id).await.unwrap();
    let nobody = stores.new_user("", Role::Basic).id;
    let new = || NewDocumentSet { public: true, ..new_set("t", &[pair]) };
    let over_pair = NewDocumentSet { cc_pairs: [pair, CcPairId(4711)].into(), ..new() };
    let over_group = NewDocumentSet { groups: [GroupId(4711)].into(), ..new() };
    let over_user = NewDocumentSet { users: [nobody].into(), ..new() };
    for set in [over_pair, over_group, over_user] {
        assert_eq!(update(stores, &admin, id, set).await, SetChange::Unknown);
        assert_eq!(find(stores, &admin, id).await.unwrap(), before);
    }
}

/// Its documents say so, and are marked.
pub async fn a_deleted_set_is_empty_at_once_and_goes_when_the_index_knows(stores: &Stores) {
    let admin = member(stores, Role::Admin).await;
    let pair = stores.pair("a", AccessType::Public, &[]).await;
    stores.index(pair, &["d"]).await;
    let id = insert(stores, new_set("s", &[pair])).await.unwrap();
    write(stores).await;
    assert_eq!(remove(stores, &admin, id).await, SetChange::Done(id));
    assert_eq!(stores.dirty().await, ["d"]);
    let known = stores.documents.attributes(&document_ids(&["d"])).await.unwrap();
    assert!(known[0].as_ref().unwrap().attributes.document_sets.is_empty());
    let set = find(stores, &admin, id).await.unwrap().set;
    assert_eq!((set.state, set.cc_pairs.len()), (DocumentSetState::Deleting, 0));
    assert!(seen_by(stores, &["s"], &admin).await.is_empty());
    settle(stores).await;
    assert_eq!(find(stores, &admin, id).await, None);
    assert!(listed(stores, &admin, Reach::Visible).await.is_empty());
}

/// Under another id: what still names the old set does not mean the new one.
pub async fn a_name_is_free_again_when_its_set_is_gone(stores: &Stores) {
    let admin = member(stores, Role::Admin).await;
    let pair = stores.pair("a", AccessType::Public, &[]).await;
    let first = insert(stores, new_set("s", &[pair])).await.unwrap();
    remove(stores, &admin, first).await;
    assert_eq!(begin(stores, new_set("s", &[pair])).await, SetChange::NameTaken);
    settle(stores).await;
    let second = insert(stores, new_set("s", &[pair])).await.unwrap();
    assert_ne!(first, second);
}
