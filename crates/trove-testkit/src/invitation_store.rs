//! What every [`InvitationStore`](trove_domain::port::InvitationStore) does.

use futures::future::join_all;
use trove_domain::access::Role;
use trove_domain::email::EmailAddress;
use trove_domain::port::{Invited, Seats};

use crate::stores::{Stores, at};

/// Turns the suite into one test for each obligation. `$start` is a future of an `Option` of
/// something that dereferences to [`Stores`].
#[macro_export]
macro_rules! invitation_store_contract {
    ($start:expr) => {
        $crate::contract_suite!(
            invitation_store,
            $start,
            [
                invitations_are_counted_after_the_call,
                an_address_is_invited_once_in_any_letter_case,
                concurrent_invitations_are_all_there,
                an_invitation_is_taken_back_in_any_letter_case,
                who_has_registered_is_not_listed,
                open_invitations_are_looked_for_and_read_in_pages,
                only_new_addresses_need_seats,
                many_are_invited_at_once,
            ]
        );
    };
}

fn parsed(addresses: &[&str]) -> Vec<EmailAddress> {
    addresses.iter().map(|address| EmailAddress::parse(address).unwrap()).collect()
}

/// Invites them, without a limit of seats; answers how many are invited.
pub async fn invite(stores: &Stores, addresses: &[&str]) -> u64 {
    match stores.invitations.invite(&parsed(addresses), None, at(0)).await.unwrap() {
        Invited::All(count) => count,
        other => panic!("{other:?}"),
    }
}

/// Everybody who is invited and has not registered.
pub async fn open(stores: &Stores) -> Vec<String> {
    let page = stores.invitations.list_open(None, 0, 1000).await.unwrap();
    assert_eq!(u64::try_from(page.items.len()), Ok(page.total));
    page.items
}

/// Old ones included.
pub async fn invitations_are_counted_after_the_call(stores: &Stores) {
    assert_eq!(invite(stores, &[]).await, 0);
    assert_eq!(invite(stores, &["c@x.y", "a@x.y", "b@x.y"]).await, 3);
    assert_eq!(invite(stores, &["d@x.y", "e@x.y"]).await, 5);
    assert_eq!(invite(stores, &[]).await, 5);
    assert_eq!(open(stores).await, ["a@x.y", "b@x.y", "c@x.y", "d@x.y", "e@x.y"]);
}

/// It stays as first given.
pub async fn an_address_is_invited_once_in_any_letter_case(stores: &Stores) {
    assert_eq!(invite(stores, &["Ann@x.y", "ann@x.y"]).await, 1);
    assert_eq!(invite(stores, &["ANN@x.y", "ann@x.y"]).await, 1);
    assert_eq!(open(stores).await, ["Ann@x.y"]);
}

/// None is lost, and none is there twice.
pub async fn concurrent_invitations_are_all_there(stores: &Stores) {
    let addresses: Vec<String> = (0..8).map(|n| format!("user{}@x.y", n / 2)).collect();
    join_all(addresses.iter().map(|address| async move { invite(stores, &[address]).await })).await;
    assert_eq!(open(stores).await, ["user0@x.y", "user1@x.y", "user2@x.y", "user3@x.y"]);
}

/// Who is not invited changes nothing.
pub async fn an_invitation_is_taken_back_in_any_letter_case(stores: &Stores) {
    invite(stores, &["Ann@x.y", "bob@x.y"]).await;
    assert_eq!(stores.invitations.withdraw("eve@x.y").await.unwrap(), 2);
    assert_eq!(stores.invitations.withdraw("not an address\0").await.unwrap(), 2);
    assert_eq!(stores.invitations.withdraw("aNN@x.y").await.unwrap(), 1);
    assert_eq!(open(stores).await, ["bob@x.y"]);
}

/// The invitation is kept all the same. Who is known by a permission sync only has not registered.
pub async fn who_has_registered_is_not_listed(stores: &Stores) {
    stores.user("Ann@x.y").await;
    stores.user_with("bot@x.y", Role::SlackUser).await;
    stores.user_with("ext@x.y", Role::ExtPermUser).await;
    assert_eq!(invite(stores, &["ann@x.y", "bot@x.y", "ext@x.y", "new@x.y"]).await, 4);
    assert_eq!(open(stores).await, ["ext@x.y", "new@x.y"]);
}

/// What is looked for is no pattern.
pub async fn open_invitations_are_looked_for_and_read_in_pages(stores: &Stores) {
    stores.user("a_1@x.y").await;
    invite(stores, &["a_1@x.y", "a_2@x.y", "ab2@x.y", "A_3@x.y", "b@x.y"]).await;
    let list = |text, offset, limit| stores.invitations.list_open(text, offset, limit);
    let page = list(Some("A_"), 0, 10).await.unwrap();
    assert_eq!((page.items, page.total), (vec!["a_2@x.y".to_owned(), "A_3@x.y".to_owned()], 2));
    let page = list(None, 1, 2).await.unwrap();
    assert_eq!((page.items, page.total), (vec!["A_3@x.y".to_owned(), "ab2@x.y".to_owned()], 4));
    let page = list(None, u64::MAX, 2).await.unwrap();
    assert_eq!((page.items.len(), page.total), (0, 4));
}

/// Who is a user or invited already needs none; nobody is invited when one is missing.
pub async fn only_new_addresses_need_seats(stores: &Stores) {
    stores.user("ann@x.y").await;
    stores.user("bob@x.y").await;
    let invite = |addresses: &[&str], total| {
        let addresses = parsed(addresses);
        async move { stores.invitations.invite(&addresses, Some(total), at(0)).await.unwrap() }
    };
    assert_eq!(invite(&["ann@x.y", "Bob@x.y"], 0).await, Invited::All(2));
    let none = Invited::NoSeat(Seats { used: 2, total: 3 });
    assert_eq!(invite(&["eve@x.y", "kim@x.y"], 3).await, none);
    assert_eq!(open(stores).await, [""; 0]);
    assert_eq!(invite(&["eve@x.y", "ann@x.y"], 3).await, Invited::All(3));
    assert_eq!(invite(&["eve@x.y"], 0).await, Invited::All(3));
}

/// More than one statement takes.
pub async fn many_are_invited_at_once(stores: &Stores) {
    let addresses: Vec<String> = (0..2500).map(|n| format!("user{n:04}@x.y")).collect();
    let addresses: Vec<&str> = addresses.iter().map(String::as_str).collect();
    assert_eq!(invite(stores, &addresses).await, 2500);
    assert_eq!(invite(stores, &addresses).await, 2500);
}
