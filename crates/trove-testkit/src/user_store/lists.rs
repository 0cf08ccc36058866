//! Lists of users.

use std::collections::BTreeSet;

use trove_domain::access::Role;
use trove_domain::port::{UserCount, UserFilter};
use trove_domain::user::{AccountKind, ListedUser};

use crate::stores::{Stores, at};

fn everybody() -> UserFilter {
    UserFilter { text: None, roles: Role::ALL.into(), active: None, services: true }
}

fn addresses(listed: &[ListedUser]) -> Vec<&str> {
    listed.iter().map(|listed| listed.user.email.as_str()).collect()
}

/// The same by all three lists.
async fn check(stores: &Stores, filter: &UserFilter, expected: &[&str]) {
    let list = stores.users.list(filter, None, 100).await.unwrap();
    assert_eq!(addresses(&list.items), expected, "{filter:?}");
    assert_eq!(list.next, None);
    let numbered = stores.users.list_numbered(filter, 0, 100).await.unwrap();
    assert_eq!(numbered.items, list.items);
    assert_eq!(numbered.total, u64::try_from(expected.len()).unwrap());
    let pairs: Vec<_> =
        list.items.iter().map(|listed| (listed.user.id, listed.user.email.clone())).collect();
    assert_eq!(stores.users.addresses(filter, None, 100).await.unwrap().items, pairs);
}

/// By role, state, kind and address, and by all of them.
pub async fn lists_are_filtered(stores: &Stores) {
    stores.user_with("ann@example.com", Role::Admin).await;
    let bob = stores.user("bob@example.com").await;
    stores.user("eve@other.example").await;
    stores.user_with("slack@example.com", Role::SlackUser).await;
    let mut robot = stores.new_user("robot@example.com", Role::Basic);
    robot.kind = AccountKind::Service;
    assert!(stores.users.insert(robot).await.unwrap());
    assert!(stores.set_active(bob, false, at(1)).await.unwrap());
    let all = [
        "ann@example.com",
        "bob@example.com",
        "eve@other.example",
        "robot@example.com",
        "slack@example.com",
    ];
    check(stores, &everybody(), &all).await;
    let people = UserFilter { services: false, ..everybody() };
    check(stores, &people, &[all[0], all[1], all[2], all[4]]).await;
    let roles =
        |roles: &[Role]| UserFilter { roles: roles.iter().copied().collect(), ..people.clone() };
    check(stores, &roles(&[Role::Basic]), &[all[1], all[2]]).await;
    check(stores, &roles(&[Role::Admin, Role::SlackUser]), &[all[0], all[4]]).await;
    check(stores, &roles(&[Role::Limited]), &[]).await;
    check(stores, &UserFilter { roles: BTreeSet::new(), ..everybody() }, &[]).await;
    check(stores, &UserFilter { active: Some(false), ..everybody() }, &[all[1]]).await;
    let active = UserFilter { active: Some(true), ..roles(&[Role::Basic]) };
    check(stores, &active, &[all[2]]).await;
    let text = |text: &str| UserFilter { text: Some(text.to_owned()), ..everybody() };
    check(stores, &text("@OTHER."), &[all[2]]).await;
    check(stores, &text(""), &all).await;
    let both = UserFilter { active: Some(true), ..text("b") };
    check(stores, &both, &[all[3]]).await;
}

/// Neither `%` nor `_` nor the character that escapes them, and nothing is too long to look for.
pub async fn what_is_looked_for_is_no_pattern(stores: &Stores) {
    stores.user("a_b@example.com").await;
    stores.user("axb@example.com").await;
    stores.user("100%@example.com").await;
    stores.user("back\\slash@example.com").await;
    stores.user("Ärger@example.com").await;
    let text = |text: &str| UserFilter { text: Some(text.to_owned()), ..everybody() };
    check(stores, &text("a_b"), &["a_b@example.com"]).await;
    check(stores, &text("0%"), &["100%@example.com"]).await;
    check(stores, &text("%"), &["100%@example.com"]).await;
    check(stores, &text("k\\s"), &["back\\slash@example.com"]).await;
    check(stores, &text("\\"), &["back\\slash@example.com"]).await;
    check(stores, &text("ÄRGER"), &["Ärger@example.com"]).await;
    check(stores, &text("a\0b"), &[]).await;
    check(stores, &text(&"a".repeat(100_000)), &[]).await;
}

/// In an order that neither letter case nor the database's language changes; nobody is left out or
/// repeated.
pub async fn lists_are_in_the_order_of_addresses_and_read_in_pages(stores: &Stores) {
    for email in ["b@x.y", "A@x.y", "a-b@x.y", "a.b@x.y", "ab@x.y", "Z@x.y", "é@x.y", "a_b@x.y"] {
        stores.user(email).await;
    }
    let expected = ["a-b@x.y", "a.b@x.y", "A@x.y", "a_b@x.y", "ab@x.y", "b@x.y", "Z@x.y", "é@x.y"];
    check(stores, &everybody(), &expected).await;
    let (mut read, mut after) = (Vec::new(), None::<String>);
    loop {
        let page = stores.users.list(&everybody(), after.as_deref(), 3).await.unwrap();
        let same = stores.users.addresses(&everybody(), after.as_deref(), 3).await.unwrap();
        assert_eq!(page.next, same.next);
        read.extend(addresses(&page.items).into_iter().map(str::to_owned));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(read, expected);
    let page = stores.users.list_numbered(&everybody(), 6, 3).await.unwrap();
    assert_eq!((addresses(&page.items), page.total), (vec!["Z@x.y", "é@x.y"], 8));
    // The total is that of the list, wherever a page is.
    for offset in [8, 9, u64::MAX] {
        let page = stores.users.list_numbered(&everybody(), offset, 3).await.unwrap();
        assert_eq!((page.items.len(), page.total), (0, 8));
    }
}

/// By rising id, and of nobody else.
pub async fn listed_users_have_their_groups(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let bob = stores.user("bob@example.com").await;
    stores.user("eve@example.com").await;
    stores.group("z", &[ann, bob]).await;
    stores.group("a", &[bob]).await;
    let listed = stores.users.list(&everybody(), None, 10).await.unwrap().items;
    let groups = |index: usize| -> Vec<&str> {
        listed[index].groups.iter().map(|group| group.name.as_str()).collect()
    };
    assert_eq!((groups(0), groups(1), groups(2)), (vec!["z"], vec!["z", "a"], vec![]));
}

/// Programs are not people.
pub async fn people_are_counted_by_role_and_state(stores: &Stores) {
    assert_eq!(stores.users.counts().await.unwrap(), []);
    stores.user_with("root@example.com", Role::Admin).await;
    stores.user("ann@example.com").await;
    stores.user("bob@example.com").await;
    let eve = stores.user("eve@example.com").await;
    let mut robot = stores.new_user("robot@example.com", Role::Basic);
    robot.kind = AccountKind::Service;
    assert!(stores.users.insert(robot).await.unwrap());
    assert!(stores.set_active(eve, false, at(1)).await.unwrap());
    let mut counts = stores.users.counts().await.unwrap();
    counts.sort_by_key(|count| (count.role, count.active));
    let count = |role, active, count| UserCount { role, active, count };
    let expected =
        [count(Role::Basic, false, 1), count(Role::Basic, true, 2), count(Role::Admin, true, 1)];
    assert_eq!(counts, expected);
}
