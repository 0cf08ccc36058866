//! What every [`AccessFilter`](trove_domain::port::AccessFilter) does.

use trove_domain::access::{ANONYMOUS_USER, AccessScope, AclTag, Caller, Role};
use trove_domain::id::{GroupId, UserId};

use crate::stores::{Stores, caller};

/// Turns the suite into one test for each obligation. `$start` is a future of an `Option` of
/// something that dereferences to [`Stores`].
#[macro_export]
macro_rules! access_filter_contract {
    ($start:expr) => {
        $crate::contract_suite!(
            access_filter,
            $start,
            [
                a_caller_without_groups_has_its_own_address_and_what_is_public,
                a_caller_has_one_tag_per_group,
                the_groups_of_others_do_not_show,
                a_new_member_reads_at_once,
                a_removed_member_does_not_read_from_the_next_call_on,
                a_role_widens_nothing,
                an_address_is_a_tag_in_any_letter_case,
                a_caller_who_is_not_stored_has_its_address_only,
                the_anonymous_user_reads_what_is_public,
            ]
        );
    };
}

async fn expect_groups(stores: &Stores, user: UserId, email: &str, groups: &[GroupId]) {
    let tags = groups.iter().map(|group| AclTag::group(*group));
    let expected = AccessScope::public_and(tags.chain([AclTag::user_email(email)]));
    let scope = stores.access.scope_for(&caller(user, email, Role::Basic)).await.unwrap();
    assert_eq!(scope, expected);
}

/// Nothing more.
pub async fn a_caller_without_groups_has_its_own_address_and_what_is_public(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    expect_groups(stores, ann, "ann@example.com", &[]).await;
}

/// Whether it curates the group or not.
pub async fn a_caller_has_one_tag_per_group(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let mut groups = Vec::new();
    for (name, curator) in [("a", false), ("b", true), ("c", false)] {
        let group = stores.group(name, &[]).await;
        assert!(stores.groups.set_members(group, &[(ann, curator)]).await.unwrap());
        groups.push(group);
    }
    expect_groups(stores, ann, "ann@example.com", &groups).await;
}

/// Only memberships count.
pub async fn the_groups_of_others_do_not_show(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let bob = stores.user("bob@example.com").await;
    stores.group("his", &[bob]).await;
    let shared = stores.group("shared", &[ann, bob]).await;
    stores.group("empty", &[]).await;
    expect_groups(stores, ann, "ann@example.com", &[shared]).await;
}

/// A committed change shows in the next call.
pub async fn a_new_member_reads_at_once(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let group = stores.group("g", &[]).await;
    expect_groups(stores, ann, "ann@example.com", &[]).await;
    stores.members(group, &[ann]).await;
    expect_groups(stores, ann, "ann@example.com", &[group]).await;
}

/// A committed change shows in the next call.
pub async fn a_removed_member_does_not_read_from_the_next_call_on(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let bob = stores.user("bob@example.com").await;
    let group = stores.group("g", &[ann, bob]).await;
    for _ in 0..20 {
        expect_groups(stores, ann, "ann@example.com", &[group]).await;
        stores.members(group, &[bob]).await;
        expect_groups(stores, ann, "ann@example.com", &[]).await;
        stores.members(group, &[bob, ann]).await;
    }
}

/// An administrator reads no more than any other user.
pub async fn a_role_widens_nothing(stores: &Stores) {
    stores.group("g", &[]).await;
    for role in Role::ALL {
        let user = stores.new_user(&format!("{role}@example.com"), role);
        let (id, email) = (user.id, user.email.clone());
        stores.users.insert(user).await.unwrap();
        let scope = stores.access.scope_for(&caller(id, &email, role)).await.unwrap();
        assert_eq!(scope, AccessScope::public_and([AclTag::user_email(&email)]), "{role}");
    }
}

/// Letter case does not decide who reads.
pub async fn an_address_is_a_tag_in_any_letter_case(stores: &Stores) {
    let ann = stores.user("Ann.O'HARA@Example.com").await;
    expect_groups(stores, ann, "Ann.O'HARA@Example.com", &[]).await;
    expect_groups(stores, ann, "ann.o'hara@example.com", &[]).await;
}

/// Whoever just left has no groups.
pub async fn a_caller_who_is_not_stored_has_its_address_only(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    stores.group("g", &[ann]).await;
    let nobody = stores.new_user("", Role::Basic).id;
    expect_groups(stores, nobody, "ann@example.com", &[]).await;
}

/// Not even what is shared with the address that stands for it.
pub async fn the_anonymous_user_reads_what_is_public(stores: &Stores) {
    let anonymous = Caller::anonymous();
    stores.user(&anonymous.email).await;
    let scope = stores.access.scope_for(&anonymous).await.unwrap();
    assert_eq!(scope, AccessScope::public_only());
    let other = caller(ANONYMOUS_USER, "ann@example.com", Role::Admin);
    assert_eq!(stores.access.scope_for(&other).await.unwrap(), AccessScope::public_only());
}
