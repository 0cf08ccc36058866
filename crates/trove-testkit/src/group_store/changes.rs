//! What changes groups, and what follows for documents and roles.

use std::collections::BTreeSet;

use futures::future::join_all;
use trove_domain::access::{AclTag, Caller, Role};
use trove_domain::cc_pair::AccessType;
use trove_domain::group::{GroupDelta, GroupRecord, GroupState};
use trove_domain::id::{CcPairId, GroupId, UserId};
use trove_domain::port::{GroupChange, GroupContents, NewCcPair};

use crate::builders::document_id;
use crate::stores::{Stores, at, caller, new_job, new_pair};

fn admin() -> Caller {
    caller(UserId(uuid::Uuid::nil()), "admin@example.com", Role::Admin)
}

fn contents(members: &[UserId], pairs: &[CcPairId]) -> GroupContents {
    GroupContents {
        members: members.iter().copied().collect(),
        cc_pairs: pairs.iter().copied().collect(),
    }
}

async fn create(stores: &Stores, name: &str, contents: GroupContents) -> GroupChange {
    stores.groups.create(name, contents, at(1), new_job("sync", "sync")).await.unwrap()
}

/// A group that the index knows of.
async fn group(stores: &Stores, name: &str, contents: GroupContents) -> GroupId {
    let GroupChange::Done(id, _) = create(stores, name, contents).await else { panic!("{name}") };
    settle(stores).await;
    id
}

async fn replace(
    stores: &Stores,
    caller: &Caller,
    id: GroupId,
    contents: GroupContents,
) -> GroupChange {
    let job = new_job("sync", "sync");
    stores.groups.replace(caller, id, contents, at(2), job).await.unwrap()
}

async fn remove(stores: &Stores, id: GroupId) -> GroupChange {
    stores.groups.begin_removal(id, at(3), new_job("sync", "sync")).await.unwrap()
}

/// As if the index had caught up.
async fn settle(stores: &Stores) {
    let groups = stores.groups.unsynced().await.unwrap();
    for id in stores.dirty().await {
        let mark = (document_id(&id), stores.revision(&id).await);
        stores.documents.mark_synced(&[mark], at(9)).await.unwrap();
    }
    stores.groups.finish_sync(&groups).await.unwrap();
}

async fn find(stores: &Stores, id: GroupId) -> Option<GroupRecord> {
    stores.groups.find_controlled(&admin(), id).await.unwrap()
}

async fn role(stores: &Stores, user: UserId) -> Role {
    stores.users.get(user).await.unwrap().unwrap().role
}

async fn curate(stores: &Stores, group: GroupId, user: UserId, curator: bool) -> GroupChange {
    stores.groups.set_curator(&admin(), group, user, curator, at(2)).await.unwrap()
}

fn done(change: &GroupChange) -> &GroupDelta {
    let GroupChange::Done(_, delta) = change else { panic!("{change:?}") };
    delta
}

/// With members by rising address and without a word about roles.
pub async fn a_group_is_made_with_members_and_pairs(stores: &Stores) {
    let bob = stores.user("Bob@example.com").await;
    let ann = stores.user("ann@example.com").await;
    let pair = stores.pair("a", AccessType::Private, &[]).await;
    let made = create(stores, "g", contents(&[bob, ann], &[pair])).await;
    let GroupChange::Done(id, delta) = made else { panic!("{made:?}") };
    assert_eq!(delta.joined, BTreeSet::from([ann, bob]));
    assert_eq!(delta.shared, BTreeSet::from([pair]));
    let record = find(stores, id).await.unwrap();
    let members: Vec<_> = record.members.iter().map(|m| (m.user.id, m.curator)).collect();
    assert_eq!(members, [(ann, false), (bob, false)]);
    assert_eq!((record.group.name.as_str(), record.state), ("g", GroupState::Syncing));
    assert_eq!(record.cc_pairs, BTreeSet::from([pair]));
    assert_eq!(create(stores, "g", contents(&[], &[])).await, GroupChange::NameTaken);
}

/// No group is left behind, and no member.
pub async fn a_group_over_something_unknown_is_refused_whole(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let nobody = stores.new_user("", Role::Basic).id;
    let none = CcPairId(4711);
    let made = create(stores, "g", contents(&[ann, nobody], &[])).await;
    assert_eq!(made, GroupChange::NoSuchUser);
    let made = create(stores, "g", contents(&[ann], &[none])).await;
    assert_eq!(made, GroupChange::NoSuchPair(none));
    assert_eq!(stores.groups.list(&admin(), None, 10).await.unwrap().items, []);
    assert_eq!(stores.groups.memberships(ann).await.unwrap(), []);
}

/// A group is what its last list says, and a second change waits for the index.
pub async fn pairs_of_a_group_reach_its_documents(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let (a, b) = (
        stores.pair("a", AccessType::Private, &[]).await,
        stores.pair("b", AccessType::Private, &[]).await,
    );
    stores.index(a, &["in a"]).await;
    stores.index(b, &["in b"]).await;
    let id = group(stores, "g", contents(&[ann], &[a])).await;
    let tags = async |id: &str| {
        let attributes = stores.documents.attributes(&[document_id(id)]).await.unwrap();
        attributes[0].clone().unwrap().attributes.access.tags
    };
    assert_eq!(tags("in a").await, BTreeSet::from([AclTag::group(id)]));
    assert_eq!(find(stores, id).await.unwrap().state, GroupState::UpToDate);

    let changed = replace(stores, &admin(), id, contents(&[ann], &[b])).await;
    let delta = done(&changed);
    assert_eq!((&delta.shared, &delta.unshared), (&[b].into(), &[a].into()));
    assert_eq!(stores.dirty().await, ["in a", "in b"]);
    assert!(tags("in a").await.is_empty());
    assert_eq!(tags("in b").await, BTreeSet::from([AclTag::group(id)]));
    assert!(stores.claim("sync", at(10)).await.is_some());
    assert_eq!(find(stores, id).await.unwrap().state, GroupState::Syncing);
    let again = replace(stores, &admin(), id, contents(&[], &[])).await;
    assert_eq!(again, GroupChange::Syncing);
    let added = stores.groups.add_members(&admin(), id, &[ann].into()).await.unwrap();
    assert_eq!(added, GroupChange::Syncing);
    assert_eq!(remove(stores, id).await, GroupChange::Syncing);
    settle(stores).await;
    assert_eq!(find(stores, id).await.unwrap().state, GroupState::UpToDate);
}

/// Nothing of them is in the index.
pub async fn a_change_of_members_or_public_pairs_leaves_a_group_up_to_date(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let open = stores.pair("open", AccessType::Public, &[]).await;
    stores.index(open, &["open"]).await;
    let id = group(stores, "g", contents(&[], &[])).await;
    replace(stores, &admin(), id, contents(&[ann], &[open])).await;
    assert_eq!(find(stores, id).await.unwrap().state, GroupState::UpToDate);
    assert!(stores.dirty().await.is_empty());
    assert_eq!(stores.groups.memberships(ann).await.unwrap().len(), 1);
}

/// The one before it finishes nothing.
pub async fn a_change_of_a_group_that_came_meanwhile_is_not_finished(stores: &Stores) {
    let pair = stores.pair("a", AccessType::Private, &[]).await;
    let id = group(stores, "g", contents(&[], &[])).await;
    replace(stores, &admin(), id, contents(&[], &[pair])).await;
    let earlier = stores.groups.unsynced().await.unwrap();
    settle(stores).await;
    replace(stores, &admin(), id, contents(&[], &[])).await;
    stores.groups.finish_sync(&earlier).await.unwrap();
    assert_eq!(find(stores, id).await.unwrap().state, GroupState::Syncing);
}

/// Who stays curates or not, as before.
pub async fn a_replaced_list_keeps_who_curates(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let bob = stores.user("bob@example.com").await;
    let id = group(stores, "g", contents(&[ann], &[])).await;
    curate(stores, id, ann, true).await;
    replace(stores, &admin(), id, contents(&[ann, bob], &[])).await;
    let members = find(stores, id).await.unwrap().members;
    let members: Vec<_> = members.iter().map(|m| (m.user.id, m.curator)).collect();
    assert_eq!(members, [(ann, true), (bob, false)]);
    let added = stores.groups.add_members(&admin(), id, &[ann, bob].into()).await.unwrap();
    assert_eq!(done(&added).joined, BTreeSet::new());
    assert_eq!(role(stores, ann).await, Role::Curator);
}

/// With the first group, and back with the last.
pub async fn curating_makes_a_curator_and_the_last_group_unmakes_one(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let (a, b) = (stores.group("a", &[ann]).await, stores.group("b", &[ann]).await);
    let made = curate(stores, a, ann, true).await;
    assert_eq!(done(&made).roles, [(ann, Role::Curator)]);
    assert_eq!(done(&curate(stores, b, ann, true).await).roles, []);
    assert_eq!(done(&curate(stores, a, ann, false).await).roles, []);
    assert_eq!(role(stores, ann).await, Role::Curator);
    assert_eq!(done(&curate(stores, b, ann, false).await).roles, [(ann, Role::Basic)]);
    assert_eq!(role(stores, ann).await, Role::Basic);
    assert_eq!(done(&curate(stores, b, ann, false).await).roles, []);
}

/// By leaving, and by the end of the group.
pub async fn a_curator_without_a_group_is_a_normal_user(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let id = stores.group("g", &[ann]).await;
    curate(stores, id, ann, true).await;
    let changed = replace(stores, &admin(), id, contents(&[], &[])).await;
    assert_eq!(done(&changed).roles, [(ann, Role::Basic)]);
    let id = stores.group("h", &[ann]).await;
    curate(stores, id, ann, true).await;
    assert_eq!(done(&remove(stores, id).await).roles, [(ann, Role::Basic)]);
    assert_eq!(role(stores, ann).await, Role::Basic);
}

/// A role that was given otherwise is not taken because a group ends that nobody curated.
pub async fn a_curator_that_curated_nothing_stays_one(stores: &Stores) {
    let ann = stores.user_with("ann@example.com", Role::Curator).await;
    let id = stores.group("g", &[ann]).await;
    replace(stores, &admin(), id, contents(&[], &[])).await;
    assert_eq!(role(stores, ann).await, Role::Curator);
}

/// Who has a role that it could not lose again, and who is no member.
pub async fn only_normal_members_begin_to_curate(stores: &Stores) {
    let id = stores.group("g", &[]).await;
    let mut members = Vec::new();
    for role in Role::ALL {
        members.push((role, stores.user_with(&format!("{role}@example.com"), role).await));
    }
    let stranger = stores.user("stranger@example.com").await;
    let all: Vec<UserId> = members.iter().map(|(_, user)| *user).collect();
    stores.members(id, &all).await;
    for (role, user) in members {
        let change = curate(stores, id, user, true).await;
        let may = role == Role::Basic || role == Role::Curator;
        assert_eq!(matches!(change, GroupChange::Done(..)), may, "{role}: {change:?}");
        assert!(may || change == GroupChange::NoCurator);
    }
    assert_eq!(curate(stores, id, stranger, true).await, GroupChange::NoSuchUser);
    assert_eq!(role(stores, stranger).await, Role::Basic);
}

/// An old mark does not come back with the role.
pub async fn marks_of_an_earlier_curator_give_nothing_back(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let (a, b) = (stores.group("a", &[]).await, stores.group("b", &[ann]).await);
    stores.groups.set_members(a, &[(ann, true)]).await.unwrap();
    curate(stores, b, ann, true).await;
    let memberships = stores.groups.memberships(ann).await.unwrap();
    let curated: Vec<_> = memberships.iter().filter(|m| m.curator).map(|m| m.group).collect();
    assert_eq!(curated, [b]);
}

/// Empty at once, gone when the index knows, and its key is nobody's ever after.
pub async fn a_deleted_group_is_empty_at_once_and_goes_when_the_index_knows(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let pair = stores.pair("a", AccessType::Private, &[]).await;
    stores.index(pair, &["in a"]).await;
    let id = group(stores, "g", contents(&[ann], &[pair])).await;
    let removed = remove(stores, id).await;
    assert_eq!((&done(&removed).left, &done(&removed).unshared), (&[ann].into(), &[pair].into()));
    let record = find(stores, id).await.unwrap();
    assert_eq!((record.state, record.members.len()), (GroupState::Deleting, 0));
    assert!(record.cc_pairs.is_empty());
    assert_eq!(stores.groups.memberships(ann).await.unwrap(), []);
    assert_eq!(stores.groups.names(&admin(), None, 10).await.unwrap().items, []);
    assert_eq!(stores.dirty().await, ["in a"]);
    assert_eq!(create(stores, "g", contents(&[], &[])).await, GroupChange::NameTaken);
    settle(stores).await;
    assert_eq!(find(stores, id).await, None);
    assert_eq!(remove(stores, id).await, GroupChange::NoSuchGroup);
    let next = group(stores, "g", contents(&[], &[])).await;
    assert!(next > id, "the key of a group is its place in access lists");
}

/// Nothing that was meant for its members stays open to others.
pub async fn nothing_is_shared_with_a_group_that_is_being_deleted(stores: &Stores) {
    let id = group(stores, "g", contents(&[], &[])).await;
    remove(stores, id).await;
    let new = NewCcPair { groups: [id].into(), ..new_pair("a", AccessType::Private, &[]) };
    assert!(stores.pairs.get_or_insert(new).await.is_err());
}

/// Names are free or not; access stays either way.
pub async fn a_group_gets_another_name(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let id = stores.group("g", &[ann]).await;
    stores.group("taken", &[]).await;
    let rename = async |name: &str| stores.groups.rename(&admin(), id, name).await.unwrap();
    assert_eq!(rename("taken").await, GroupChange::NameTaken);
    done(&rename("g").await);
    done(&rename("h").await);
    let record = find(stores, id).await.unwrap();
    assert_eq!((record.group.name.as_str(), record.state), ("h", GroupState::UpToDate));
    assert_eq!(stores.groups.memberships(ann).await.unwrap().len(), 1);
}

/// A curator those that it curates, a global curator those that it is in, nobody else any.
pub async fn groups_are_controlled_by_those_who_should(stores: &Stores) {
    let mut seen = Vec::new();
    for role in Role::ALL {
        let user = stores.user_with(&format!("{role}@example.com"), role).await;
        let (curated, joined, other) = (
            stores.group(&format!("{role} curates"), &[]).await,
            stores.group(&format!("{role} is in"), &[user]).await,
            stores.group(&format!("without {role}"), &[]).await,
        );
        stores.groups.set_members(curated, &[(user, true)]).await.unwrap();
        let caller = caller(user, "x@example.com", role);
        let mut controlled = Vec::new();
        for (name, id) in [("curated", curated), ("joined", joined), ("other", other)] {
            let found = stores.groups.find_controlled(&caller, id).await.unwrap().is_some();
            let listed = stores.groups.list(&caller, None, 1000).await.unwrap().items;
            assert_eq!(listed.iter().any(|record| record.group.id == id), found);
            let changed = replace(stores, &caller, id, contents(&[user], &[])).await;
            assert_eq!(changed != GroupChange::NoSuchGroup, found, "{role} {name}");
            let added = stores.groups.add_members(&caller, id, &[user].into()).await.unwrap();
            assert_eq!(added != GroupChange::NoSuchGroup, found, "{role} {name}");
            let renamed = stores.groups.rename(&caller, id, &format!("{id} renamed")).await;
            assert_eq!(renamed.unwrap() != GroupChange::NoSuchGroup, found, "{role} {name}");
            let marked = stores.groups.set_curator(&caller, id, user, false, at(2)).await.unwrap();
            assert_eq!(marked != GroupChange::NoSuchGroup, found, "{role} {name}");
            if found {
                controlled.push(name);
            }
        }
        seen.push((role, controlled));
    }
    let controlled = |role| match role {
        Role::Admin => vec!["curated", "joined", "other"],
        Role::GlobalCurator => vec!["curated", "joined"],
        Role::Curator => vec!["curated"],
        _ => vec![],
    };
    let expected: Vec<_> = Role::ALL.into_iter().map(|role| (role, controlled(role))).collect();
    assert_eq!(seen, expected);
}

/// Otherwise a curator would open documents of others to its own group.
pub async fn a_curator_adds_only_pairs_that_it_may_change(stores: &Stores) {
    let curator = stores.user_with("curator@example.com", Role::Curator).await;
    let (own, other) = (stores.group("own", &[]).await, stores.group("other", &[]).await);
    stores.groups.set_members(own, &[(curator, true)]).await.unwrap();
    let second = stores.group("second", &[]).await;
    stores.groups.set_members(second, &[(curator, true)]).await.unwrap();
    let caller = caller(curator, "curator@example.com", Role::Curator);
    let made = NewCcPair { creator: Some(curator), ..new_pair("m", AccessType::Private, &[]) };
    let made = stores.pairs.get_or_insert(made).await.unwrap().id;
    let pairs = [
        ("foreign", stores.pair("a", AccessType::Private, &[other]).await, false),
        ("shared beyond", stores.pair("b", AccessType::Private, &[second, other]).await, false),
        ("nobody's", stores.pair("c", AccessType::Private, &[]).await, false),
        ("public", stores.pair("d", AccessType::Public, &[]).await, false),
        ("missing", CcPairId(4711), false),
        ("of the other own group", stores.pair("e", AccessType::Private, &[second]).await, true),
        ("made", made, true),
    ];
    for (what, pair, may) in pairs {
        let change = replace(stores, &caller, own, contents(&[curator], &[pair])).await;
        let refused = change == GroupChange::NoSuchPair(pair);
        assert_eq!(refused, !may, "{what}: {change:?}");
        settle(stores).await;
    }
    // What is in the group already may stay, whoever else has it.
    let both = stores.pair("f", AccessType::Private, &[own, other]).await;
    done(&replace(stores, &caller, own, contents(&[curator], &[both])).await);
}

/// Everybody else sees the groups that they are in.
pub async fn names_of_groups_are_for_their_members_and_administrators(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    for (name, members) in [("b", vec![ann]), ("a", vec![]), ("c", vec![ann])] {
        stores.group(name, &members).await;
    }
    let names = async |caller: &Caller, limit| {
        let (mut all, mut after) = (Vec::new(), None);
        loop {
            let page = stores.groups.names(caller, after, limit).await.unwrap();
            all.extend(page.items.into_iter().map(|group| group.name));
            after = page.next;
            if after.is_none() {
                return all;
            }
        }
    };
    for limit in [1, 2, 3, 10] {
        assert_eq!(names(&admin(), limit).await, ["b", "a", "c"]);
        let ann = caller(ann, "ann@example.com", Role::Curator);
        assert_eq!(names(&ann, limit).await, ["b", "c"]);
    }
}

/// Page by page, with everything that belongs to each.
pub async fn groups_are_listed_in_pages(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let pair = stores.pair("a", AccessType::Public, &[]).await;
    for n in 0..5 {
        group(stores, &format!("g{n}"), contents(&[ann], &[pair])).await;
    }
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let page = stores.groups.list(&admin(), after, 2).await.unwrap();
        assert!(page.items.len() <= 2);
        all.extend(page.items);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let names: Vec<_> = all.iter().map(|record| record.group.name.as_str()).collect();
    assert_eq!(names, ["g0", "g1", "g2", "g3", "g4"]);
    assert!(all.iter().all(|record| record.members.len() == 1 && record.cc_pairs.len() == 1));
}

/// One of two whole lists stays, with the roles that follow.
pub async fn of_concurrent_replacements_one_stays_whole(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let bob = stores.user("bob@example.com").await;
    let id = stores.group("g", &[ann]).await;
    for _ in 0..5 {
        let lists = [contents(&[ann], &[]), contents(&[bob], &[])];
        let admin = admin();
        let changes = lists.into_iter().map(|list| replace(stores, &admin, id, list));
        assert!(join_all(changes).await.iter().all(|c| matches!(c, GroupChange::Done(..))));
        assert_eq!(find(stores, id).await.unwrap().members.len(), 1);
    }
}
