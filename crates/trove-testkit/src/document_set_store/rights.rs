//! Who changes which document sets, and what lists hold.

use trove_domain::access::{Caller, Role};
use trove_domain::cc_pair::AccessType;
use trove_domain::id::DocumentSetId;
use trove_domain::port::{NewDocumentSet, Reach, SeenDocumentSet, SetChange};

use super::{find, insert, listed, member, remove, update};
use crate::stores::{Stores, new_set};

/// Nobody else may, who is neither its owner nor a curator.
pub async fn an_administrator_may_change_every_set(stores: &Stores) {
    let pair = stores.pair("a", AccessType::Public, &[]).await;
    let id =
        insert(stores, NewDocumentSet { public: true, ..new_set("s", &[pair]) }).await.unwrap();
    for role in Role::ALL {
        let caller = member(stores, role).await;
        let admin = role == Role::Admin;
        assert_eq!(find(stores, &caller, id).await.unwrap().editable, admin, "{role}");
        assert_eq!(listed(stores, &caller, Reach::Editable).await.len(), usize::from(admin));
    }
}

/// Membership alone lets it see.
pub async fn a_curator_may_change_what_belongs_to_its_groups_and_no_other(stores: &Stores) {
    let curator = member(stores, Role::Curator).await;
    let (curated, joined) = (stores.group("c", &[]).await, stores.group("j", &[]).await);
    stores.groups.set_members(curated, &[(curator.user, true)]).await.unwrap();
    stores.groups.set_members(joined, &[(curator.user, false)]).await.unwrap();
    let pair = stores.pair("a", AccessType::Public, &[]).await;
    for (name, groups) in
        [("own", vec![curated]), ("both", vec![curated, joined]), ("joined", vec![joined])]
    {
        let set = new_set(name, &[pair]);
        insert(stores, NewDocumentSet { groups: groups.into_iter().collect(), ..set }).await;
    }
    insert(stores, new_set("nobody's", &[pair])).await.unwrap();
    assert_eq!(listed(stores, &curator, Reach::Visible).await, ["own", "both", "joined"]);
    assert_eq!(listed(stores, &curator, Reach::Editable).await, ["own"]);
    // The role makes the curator, not the mark of a member.
    let basic = Caller { role: Role::Basic, ..curator };
    assert!(listed(stores, &basic, Reach::Editable).await.is_empty());
}

/// Marked as curator or not.
pub async fn a_global_curator_may_change_what_belongs_to_groups_it_is_in(stores: &Stores) {
    let curator = member(stores, Role::GlobalCurator).await;
    let (joined, other) = (stores.group("j", &[curator.user]).await, stores.group("o", &[]).await);
    let pair = stores.pair("a", AccessType::Public, &[]).await;
    for (name, groups) in [("own", vec![joined]), ("both", vec![joined, other])] {
        let set = new_set(name, &[pair]);
        insert(stores, NewDocumentSet { groups: groups.into_iter().collect(), ..set }).await;
    }
    assert_eq!(listed(stores, &curator, Reach::Editable).await, ["own"]);
}

/// Foreign, visible or missing: the store does not tell.
pub async fn a_set_that_may_not_be_changed_is_as_good_as_none(stores: &Stores) {
    let basic = member(stores, Role::Basic).await;
    let pair = stores.pair("a", AccessType::Public, &[]).await;
    let hidden = insert(stores, new_set("s", &[pair])).await.unwrap();
    let public = NewDocumentSet { public: true, ..new_set("t", &[pair]) };
    let seen = insert(stores, public).await.unwrap();
    for id in [hidden, seen, DocumentSetId(4711)] {
        let set = new_set("u", &[pair]);
        assert_eq!(update(stores, &basic, id, set).await, SetChange::NoSuchSet);
        assert_eq!(remove(stores, &basic, id).await, SetChange::NoSuchSet);
    }
    assert_eq!(find(stores, &basic, hidden).await, None);
    assert_eq!(find(stores, &basic, DocumentSetId(4711)).await, None);
}

/// By rising id.
pub async fn sets_are_listed_in_pages(stores: &Stores) {
    let admin = member(stores, Role::Admin).await;
    let pair = stores.pair("a", AccessType::Public, &[]).await;
    for name in ["c", "a", "b"] {
        insert(stores, new_set(name, &[pair])).await.unwrap();
    }
    let first = stores.sets.list(&admin, Reach::Visible, None, 2).await.unwrap();
    let second = stores.sets.list(&admin, Reach::Visible, first.next, 2).await.unwrap();
    let names = |items: Vec<SeenDocumentSet>| {
        items.into_iter().map(|seen| seen.set.name).collect::<Vec<_>>()
    };
    assert!(first.next.is_some() && second.next.is_none());
    assert_eq!(names(first.items), ["c", "a"]);
    assert_eq!(names(second.items), ["b"]);
}
