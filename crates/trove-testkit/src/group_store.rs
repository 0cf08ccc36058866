//! What every [`GroupStore`](trove_domain::port::GroupStore) does.

mod changes;

use futures::future::join_all;
use trove_domain::access::Role;
use trove_domain::group::Membership;
use trove_domain::id::{GroupId, UserId};

use crate::stores::Stores;

pub use changes::*;

/// Turns the suite into one test for each obligation. `$start` is a future of an `Option` of
/// something that dereferences to [`Stores`].
#[macro_export]
macro_rules! group_store_contract {
    ($start:expr) => {
        $crate::contract_suite!(
            group_store,
            $start,
            [
                a_group_gets_an_id_and_keeps_its_name,
                a_taken_name_is_refused,
                of_concurrent_groups_with_one_name_one_is_inserted,
                members_are_replaced,
                a_list_without_members_empties_the_group,
                members_of_an_unknown_group_are_refused,
                an_unknown_member_refuses_the_whole_list,
                memberships_come_by_rising_id,
                a_user_without_groups_has_no_memberships,
                a_group_may_have_many_members,
                of_concurrent_lists_one_stays_whole,
                a_group_is_made_with_members_and_pairs,
                a_group_over_something_unknown_is_refused_whole,
                pairs_of_a_group_reach_its_documents,
                a_change_of_members_or_public_pairs_leaves_a_group_up_to_date,
                a_change_of_a_group_that_came_meanwhile_is_not_finished,
                a_replaced_list_keeps_who_curates,
                curating_makes_a_curator_and_the_last_group_unmakes_one,
                a_curator_without_a_group_is_a_normal_user,
                a_curator_that_curated_nothing_stays_one,
                only_normal_members_begin_to_curate,
                marks_of_an_earlier_curator_give_nothing_back,
                a_deleted_group_is_empty_at_once_and_goes_when_the_index_knows,
                nothing_is_shared_with_a_group_that_is_being_deleted,
                a_group_gets_another_name,
                groups_are_controlled_by_those_who_should,
                a_curator_adds_only_pairs_that_it_may_change,
                names_of_groups_are_for_their_members_and_administrators,
                groups_are_listed_in_pages,
                of_concurrent_replacements_one_stays_whole,
            ]
        );
    };
}

fn membership(group: GroupId, user: UserId, curator: bool) -> Membership {
    Membership { group, user, curator }
}

/// Any text is a name.
pub async fn a_group_gets_an_id_and_keeps_its_name(stores: &Stores) {
    let mut ids = Vec::new();
    for name in ["Vertrieb", "O'Hara's 100% \"group\"", "группа", "a_b", "axb", " ", "a\\b"] {
        let group = stores.groups.insert(name).await.unwrap().unwrap();
        assert_eq!(group.name, name);
        ids.push(group.id);
    }
    assert!(ids.is_sorted());
    ids.dedup();
    assert_eq!(ids.len(), 7);
}

/// The first group stays as it is.
pub async fn a_taken_name_is_refused(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let group = stores.group("O'Hara", &[ann]).await;
    assert_eq!(stores.groups.insert("O'Hara").await.unwrap(), None);
    let memberships = stores.groups.memberships(ann).await.unwrap();
    assert_eq!(memberships, [membership(group, ann, false)]);
}

/// Uniqueness holds under concurrency.
pub async fn of_concurrent_groups_with_one_name_one_is_inserted(stores: &Stores) {
    let outcomes = join_all((0..8).map(|_| stores.groups.insert("g"))).await;
    assert_eq!(outcomes.into_iter().filter(|group| group.as_ref().unwrap().is_some()).count(), 1);
}

/// Who is not in the new list is out; who stays may begin or cease to curate.
pub async fn members_are_replaced(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let bob = stores.user("bob@example.com").await;
    let eve = stores.user("eve@example.com").await;
    let group = stores.group("g", &[]).await;
    let other = stores.group("other", &[ann]).await;
    assert!(stores.groups.set_members(group, &[(ann, true), (bob, false)]).await.unwrap());
    assert!(stores.groups.set_members(group, &[(bob, true), (eve, false)]).await.unwrap());
    let memberships = stores.groups.memberships(ann).await.unwrap();
    assert_eq!(memberships, [membership(other, ann, false)]);
    let memberships = stores.groups.memberships(bob).await.unwrap();
    assert_eq!(memberships, [membership(group, bob, true)]);
    let memberships = stores.groups.memberships(eve).await.unwrap();
    assert_eq!(memberships, [membership(group, eve, false)]);
}

/// The group stays.
pub async fn a_list_without_members_empties_the_group(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let group = stores.group("g", &[ann]).await;
    assert!(stores.groups.set_members(group, &[]).await.unwrap());
    assert_eq!(stores.groups.memberships(ann).await.unwrap(), []);
    stores.members(group, &[ann]).await;
    assert_eq!(stores.groups.memberships(ann).await.unwrap().len(), 1);
}

/// Absence is an answer, with and without members.
pub async fn members_of_an_unknown_group_are_refused(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    assert!(!stores.groups.set_members(GroupId(4711), &[(ann, false)]).await.unwrap());
    assert!(!stores.groups.set_members(GroupId(4711), &[]).await.unwrap());
    assert_eq!(stores.groups.memberships(ann).await.unwrap(), []);
}

/// Nothing changes then.
pub async fn an_unknown_member_refuses_the_whole_list(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let bob = stores.user("bob@example.com").await;
    let group = stores.group("g", &[ann]).await;
    let nobody = stores.new_user("", Role::Basic).id;
    let members = [(bob, false), (nobody, false)];
    assert!(!stores.groups.set_members(group, &members).await.unwrap());
    let memberships = stores.groups.memberships(ann).await.unwrap();
    assert_eq!(memberships, [membership(group, ann, false)]);
    assert_eq!(stores.groups.memberships(bob).await.unwrap(), []);
}

/// In whatever order they were made.
pub async fn memberships_come_by_rising_id(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let mut groups = Vec::new();
    for name in ["a", "b", "c", "d"] {
        groups.push(stores.group(name, &[]).await);
    }
    for group in [groups[2], groups[0], groups[3]] {
        stores.members(group, &[ann]).await;
    }
    let listed: Vec<_> =
        stores.groups.memberships(ann).await.unwrap().iter().map(|m| m.group).collect();
    assert_eq!(listed, [groups[0], groups[2], groups[3]]);
}

/// Known or not.
pub async fn a_user_without_groups_has_no_memberships(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let nobody = stores.new_user("", Role::Basic).id;
    assert_eq!(stores.groups.memberships(ann).await.unwrap(), []);
    assert_eq!(stores.groups.memberships(nobody).await.unwrap(), []);
}

/// One step, however long the list.
pub async fn a_group_may_have_many_members(stores: &Stores) {
    let mut members = Vec::new();
    for n in 0..300 {
        members.push(stores.user(&format!("user{n}@example.com")).await);
    }
    let group = stores.group("g", &members).await;
    for member in [members[0], members[299]] {
        let memberships = stores.groups.memberships(member).await.unwrap();
        assert_eq!(memberships, [membership(group, member, false)]);
    }
}

/// Two replacements at the same time do not mix.
pub async fn of_concurrent_lists_one_stays_whole(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let bob = stores.user("bob@example.com").await;
    let group = stores.group("g", &[]).await;
    for _ in 0..10 {
        let lists = [[(ann, false)], [(bob, false)]];
        let outcomes = join_all(lists.iter().map(|m| stores.groups.set_members(group, m))).await;
        assert!(outcomes.into_iter().all(|replaced| replaced.unwrap()));
        let members = stores.groups.memberships(ann).await.unwrap().len()
            + stores.groups.memberships(bob).await.unwrap().len();
        assert_eq!(members, 1);
    }
}
