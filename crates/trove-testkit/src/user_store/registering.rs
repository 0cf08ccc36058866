//! Who registers.

use futures::future::join_all;
use trove_domain::access::Role;
use trove_domain::port::{AddressChange, NewUser, Registered, RegistrationRule, Seats, SignUp};
use trove_domain::user::{AccountKind, PasswordHash, User};

use crate::invitation_store::{invite, open};
use crate::stores::{Stores, at, new_job};

/// Open to everybody as long as nobody is invited.
const OPEN: RegistrationRule = RegistrationRule { invited_only: false, seats: None };
/// Only for who is invited.
const INVITED: RegistrationRule = RegistrationRule { invited_only: true, seats: None };

fn sign_up(stores: &Stores, email: &str) -> SignUp {
    SignUp {
        id: stores.new_user(email, Role::Basic).id,
        email: email.to_owned(),
        password: PasswordHash::new("$argon2id$v=19$x"),
        created_at: at(3),
    }
}

async fn register(stores: &Stores, email: &str, rule: RegistrationRule) -> Registered {
    stores.users.sign_up(sign_up(stores, email), rule).await.unwrap()
}

#[track_caller]
fn done(registered: Registered) -> User {
    match registered {
        Registered::Done(user) => *user,
        other => panic!("{other:?}"),
    }
}

async fn root(stores: &Stores) {
    stores.user_with("root@example.com", Role::Admin).await;
}

/// Even where only the invited may register: somebody has to begin.
pub async fn the_first_who_registers_is_an_admin(stores: &Stores) {
    stores.user("ann@example.com").await;
    assert_eq!(done(register(stores, "bob@example.com", INVITED).await).role, Role::Admin);
    assert_eq!(done(register(stores, "eve@example.com", OPEN).await).role, Role::Basic);
}

/// CVE-2026-45675: the others are normal users.
pub async fn of_concurrent_first_registrations_one_is_an_admin(stores: &Stores) {
    let addresses: Vec<String> = (0..8).map(|n| format!("user{n}@example.com")).collect();
    let calls = addresses.iter().map(|email| register(stores, email, OPEN));
    let roles: Vec<Role> = join_all(calls).await.into_iter().map(|r| done(r).role).collect();
    assert_eq!(roles.iter().filter(|role| **role == Role::Admin).count(), 1, "{roles:?}");
    assert_eq!(roles.iter().filter(|role| **role == Role::Basic).count(), 7, "{roles:?}");
}

/// The address stays as given.
pub async fn who_registers_is_a_normal_user_with_a_password(stores: &Stores) {
    root(stores).await;
    let user = done(register(stores, "Ann@example.com", OPEN).await);
    assert_eq!(user.email, "Ann@example.com");
    assert_eq!((user.role, user.active, user.has_password), (Role::Basic, true, true));
    assert_eq!((user.created_at, user.updated_at), (at(3), at(3)));
    assert_eq!(stores.users.get(user.id).await.unwrap().as_ref(), Some(&user));
    assert!(stores.users.password(user.id).await.unwrap().is_some());
}

/// In any letter case. The first invitation closes the door for all others.
pub async fn only_invited_addresses_register_where_some_are(stores: &Stores) {
    root(stores).await;
    invite(stores, &["ann@example.com"]).await;
    assert_eq!(register(stores, "eve@example.com", OPEN).await, Registered::NotInvited);
    assert_eq!(stores.users.get_by_email("eve@example.com").await.unwrap(), None);
    // Not even that the address is taken is told.
    assert_eq!(register(stores, "root@example.com", OPEN).await, Registered::NotInvited);
    done(register(stores, "ANN@example.com", OPEN).await);
}

/// An empty list invites nobody then.
pub async fn nobody_registers_uninvited_where_only_the_invited_may(stores: &Stores) {
    root(stores).await;
    assert_eq!(register(stores, "ann@example.com", INVITED).await, Registered::NotInvited);
    invite(stores, &["ann@example.com"]).await;
    done(register(stores, "ann@example.com", INVITED).await);
}

/// The others' stay.
pub async fn registering_takes_the_invitation_back(stores: &Stores) {
    root(stores).await;
    invite(stores, &["Ann@example.com", "bob@example.com"]).await;
    done(register(stores, "ann@example.com", OPEN).await);
    assert_eq!(open(stores).await, ["bob@example.com"]);
    assert_eq!(stores.invitations.withdraw("nobody@example.com").await.unwrap(), 1);
}

/// The user stays as it is.
pub async fn a_taken_address_does_not_register(stores: &Stores) {
    root(stores).await;
    let ann = stores.user("ann@example.com").await;
    assert_eq!(register(stores, "Ann@example.com", OPEN).await, Registered::Taken);
    assert_eq!(stores.users.password(ann).await.unwrap(), None);
    assert_eq!(register(stores, "bob@example.com", OPEN).await, {
        let bob = stores.users.get_by_email("bob@example.com").await.unwrap().unwrap();
        Registered::Done(Box::new(bob))
    });
    assert_eq!(register(stores, "BOB@example.com", OPEN).await, Registered::Taken);
}

/// Who is kept out stays out.
pub async fn who_is_known_through_another_system_registers_as_the_same_user(stores: &Stores) {
    root(stores).await;
    for (role, email) in
        [(Role::SlackUser, "slack@example.com"), (Role::ExtPermUser, "ext@example.com")]
    {
        let id = stores.user_with(email, role).await;
        let group = stores.group(email, &[id]).await;
        let user = done(register(stores, email, OPEN).await);
        assert_eq!((user.id, user.role, user.has_password), (id, Role::Basic, true));
        assert_eq!(stores.groups.memberships(id).await.unwrap()[0].group, group);
    }
    let out = stores.user_with("out@example.com", Role::SlackUser).await;
    assert!(stores.set_active(out, false, at(1)).await.unwrap());
    assert_eq!(register(stores, "out@example.com", OPEN).await, Registered::Taken);
}

/// Whoever knows its address would have the account, with what is shared with it.
pub async fn an_account_that_is_somebodys_is_not_registered_again(stores: &Stores) {
    root(stores).await;
    let slack = async |email: &str| stores.user_with(email, Role::SlackUser).await;
    let with_password = slack("password@example.com").await;
    let hash = PasswordHash::new("$argon2id$v=19$x");
    assert!(stores.users.set_password(with_password, hash, None, at(1)).await.unwrap());
    stores.key(slack("key@example.com").await, 1).await;
    stores.token(slack("token@example.com").await, 2).await;
    let session = slack("session@example.com").await;
    crate::session_store::begin(stores, session, 3).await;
    let program = NewUser {
        kind: AccountKind::Service,
        ..stores.new_user("program@example.com", Role::ExtPermUser)
    };
    assert!(stores.users.insert(program).await.unwrap());
    for name in ["password", "key", "token", "session", "program"] {
        let email = format!("{name}@example.com");
        let before = stores.users.get_by_email(&email).await.unwrap();
        assert_eq!(register(stores, &email, OPEN).await, Registered::Taken, "{name}");
        assert_eq!(stores.users.get_by_email(&email).await.unwrap(), before, "{name}");
    }
}

/// Nobody gets in beyond the number.
pub async fn registering_needs_a_seat(stores: &Stores) {
    root(stores).await;
    let rule = |total| RegistrationRule { seats: Some(total), ..OPEN };
    let none = Registered::NoSeat(Seats { used: 1, total: 1 });
    assert_eq!(register(stores, "ann@example.com", rule(1)).await, none);
    assert_eq!(stores.users.get_by_email("ann@example.com").await.unwrap(), None);
    done(register(stores, "ann@example.com", rule(2)).await);
    // Who is known by a chat bot has a seat already.
    stores.user_with("bot@example.com", Role::SlackUser).await;
    done(register(stores, "bot@example.com", rule(3)).await);
    let addresses: Vec<String> = (0..6).map(|n| format!("user{n}@example.com")).collect();
    let calls = addresses.iter().map(|email| register(stores, email, rule(5)));
    let outcomes = join_all(calls).await;
    let registered = outcomes.iter().filter(|r| matches!(r, Registered::Done(_))).count();
    assert_eq!(registered, 2, "{outcomes:?}");
}

/// Otherwise an invitation could be had for any address.
pub async fn an_address_changes_under_the_rule_for_registering(stores: &Stores) {
    root(stores).await;
    let ann = stores.user("ann@example.com").await;
    let change = |email: &'static str, only: bool| {
        stores.users.set_email(ann, email, only, at(2), new_job("sync", "sync"))
    };
    let email = || async { stores.users.get(ann).await.unwrap().unwrap().email };
    // Another letter case is no other address.
    assert_eq!(change("Ann@example.com", true).await.unwrap(), AddressChange::Done);
    assert_eq!(email().await, "Ann@example.com");
    assert_eq!(change("eve@example.com", true).await.unwrap(), AddressChange::NotInvited);
    assert_eq!(change("ROOT@example.com", false).await.unwrap(), AddressChange::Taken);
    assert_eq!(email().await, "Ann@example.com");
    assert_eq!(change("eve@example.com", false).await.unwrap(), AddressChange::Done);
    invite(stores, &["new@example.com", "other@example.com"]).await;
    assert_eq!(change("ann@example.com", false).await.unwrap(), AddressChange::NotInvited);
    assert_eq!(change("new@example.com", true).await.unwrap(), AddressChange::Done);
    assert_eq!(open(stores).await, ["other@example.com"]);
    assert_eq!(stores.users.get_by_email("eve@example.com").await.unwrap(), None);
    let nobody = stores.new_user("", Role::Basic).id;
    let job = new_job("sync", "sync");
    let changed = stores.users.set_email(nobody, "x@example.com", false, at(2), job).await;
    assert_eq!(changed.unwrap(), AddressChange::NoSuchUser);
}
