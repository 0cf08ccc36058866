//! What every [`UserStore`](trove_domain::port::UserStore) does.

mod changes;
mod lists;
mod registering;

use futures::future::join_all;
use trove_domain::access::{ANONYMOUS_USER, Role};
use trove_domain::port::{NewUser, Registered, RegistrationRule, SignUp, UserChange};
use trove_domain::user::{AccountKind, PasswordHash, User};

use crate::session_store::new_session;
use crate::stores::{Stores, at, new_key, token_hash};

pub use changes::*;
pub use lists::*;
pub use registering::*;

/// Turns the suite into one test for each obligation. `$start` is a future of an `Option` of
/// something that dereferences to [`Stores`].
#[macro_export]
macro_rules! user_store_contract {
    ($start:expr) => {
        $crate::contract_suite!(
            user_store,
            $start,
            [
                a_user_is_found_by_id_and_by_address,
                an_unknown_user_is_none,
                every_role_reads_back,
                an_address_is_found_in_any_letter_case_and_kept_as_given,
                an_address_is_no_pattern,
                a_taken_address_in_any_letter_case_is_refused,
                a_taken_id_is_refused,
                nobody_becomes_the_anonymous_user,
                of_concurrent_users_with_one_address_one_is_inserted,
                the_first_admin_comes_with_a_working_key,
                users_who_are_not_admins_do_not_keep_the_first_admin_out,
                a_second_first_admin_is_refused_with_its_key,
                a_first_admin_with_a_taken_address_is_refused_with_its_key,
                an_inactive_admin_is_an_admin,
                of_concurrent_first_admins_exactly_one_wins,
                a_service_account_is_told_apart,
                a_user_is_kept_out_and_let_in,
                an_unknown_user_does_not_change,
                letting_in_needs_a_seat,
                a_role_changes_from_what_it_was,
                a_new_curator_curates_nothing_yet,
                the_last_active_admin_stays,
                of_admins_who_remove_each_other_one_stays,
                a_password_is_kept_and_ends_other_sessions,
                keeping_out_ends_sessions,
                a_role_that_does_not_sign_in_ends_sessions,
                who_is_no_curator_any_more_curates_no_group,
                only_who_is_kept_out_is_removed,
                removing_takes_what_is_the_users_own,
                removing_leaves_what_others_use,
                the_first_who_registers_is_an_admin,
                of_concurrent_first_registrations_one_is_an_admin,
                who_registers_is_a_normal_user_with_a_password,
                only_invited_addresses_register_where_some_are,
                nobody_registers_uninvited_where_only_the_invited_may,
                registering_takes_the_invitation_back,
                a_taken_address_does_not_register,
                who_is_known_through_another_system_registers_as_the_same_user,
                an_account_that_is_somebodys_is_not_registered_again,
                registering_needs_a_seat,
                an_address_changes_under_the_rule_for_registering,
                lists_are_filtered,
                what_is_looked_for_is_no_pattern,
                lists_are_in_the_order_of_addresses_and_read_in_pages,
                listed_users_have_their_groups,
                people_are_counted_by_role_and_state,
            ]
        );
    };
}

/// A new user is active, and reads back to the microsecond.
pub async fn a_user_is_found_by_id_and_by_address(stores: &Stores) {
    let mut new = stores.new_user("ann@example.com", Role::Curator);
    new.created_at += chrono::TimeDelta::microseconds(123_456);
    let expected = User {
        id: new.id,
        email: new.email.clone(),
        kind: AccountKind::Person,
        role: Role::Curator,
        active: true,
        has_password: false,
        name: None,
        created_at: new.created_at,
        updated_at: new.created_at,
    };
    assert!(stores.users.insert(new).await.unwrap());
    assert_eq!(stores.users.get(expected.id).await.unwrap().as_ref(), Some(&expected));
    let found = stores.users.get_by_email("ann@example.com").await.unwrap();
    assert_eq!(found, Some(expected));
}

/// Nobody has its id, however they come: what is given to it would be given to the world.
pub async fn nobody_becomes_the_anonymous_user(stores: &Stores) {
    let new = NewUser { id: ANONYMOUS_USER, ..stores.new_user("ann@example.com", Role::Admin) };
    assert!(!stores.users.insert(new.clone()).await.unwrap());
    let key = new_key(ANONYMOUS_USER, 1);
    assert!(!stores.users.insert_first_admin(new, key).await.unwrap());
    let sign_up = SignUp {
        id: ANONYMOUS_USER,
        email: "ann@example.com".to_owned(),
        password: PasswordHash::new("hash"),
        created_at: at(0),
    };
    let rule = RegistrationRule { invited_only: false, seats: None };
    assert_eq!(stores.users.sign_up(sign_up, rule).await.unwrap(), Registered::Taken);
    assert_eq!(stores.users.get(ANONYMOUS_USER).await.unwrap(), None);
    assert_eq!(stores.users.get_by_email("ann@example.com").await.unwrap(), None);
    assert_eq!(stores.keys.insert(new_key(ANONYMOUS_USER, 2)).await.unwrap(), None);
    let password = PasswordHash::new("hash");
    assert!(!stores.users.set_password(ANONYMOUS_USER, password, None, at(0)).await.unwrap());
    let group = stores.group("g", &[]).await;
    assert!(!stores.groups.set_members(group, &[(ANONYMOUS_USER, false)]).await.unwrap());
    assert_eq!(stores.sessions.insert(new_session(ANONYMOUS_USER, 1)).await.unwrap(), None);
}

/// Absence is an answer.
pub async fn an_unknown_user_is_none(stores: &Stores) {
    let nobody = stores.new_user("", Role::Basic).id;
    assert_eq!(stores.users.get(nobody).await.unwrap(), None);
    assert_eq!(stores.users.get_by_email("nobody@example.com").await.unwrap(), None);
    assert_eq!(stores.users.get_by_email("").await.unwrap(), None);
}

/// No role is lost on the way.
pub async fn every_role_reads_back(stores: &Stores) {
    for role in Role::ALL {
        let user = stores.new_user(&format!("{role}@example.com"), role);
        let id = user.id;
        assert!(stores.users.insert(user).await.unwrap());
        assert_eq!(stores.users.get(id).await.unwrap().unwrap().role, role);
    }
}

/// Letter case does not tell addresses apart, in any script.
pub async fn an_address_is_found_in_any_letter_case_and_kept_as_given(stores: &Stores) {
    for (given, asked) in [
        ("Ann.O'Hara@Example.COM", "ann.o'hara@example.com"),
        ("ÄRGER@bücher.example", "Ärger@BÜCHER.example"),
        ("почта@пример.рф", "ПОЧТА@ПРИМЕР.РФ"),
    ] {
        let id = stores.user(given).await;
        let user = stores.users.get_by_email(asked).await.unwrap().unwrap();
        assert_eq!((user.id, user.email.as_str()), (id, given));
    }
}

/// `%` and `_` stand for themselves.
pub async fn an_address_is_no_pattern(stores: &Stores) {
    stores.user("axb@example.com").await;
    assert_eq!(stores.users.get_by_email("a_b@example.com").await.unwrap(), None);
    assert_eq!(stores.users.get_by_email("%").await.unwrap(), None);
    let id = stores.user("a_b@example.com").await;
    let user = stores.users.get_by_email("a_b@example.com").await.unwrap().unwrap();
    assert_eq!(user.id, id);
}

/// The first user stays as it is.
pub async fn a_taken_address_in_any_letter_case_is_refused(stores: &Stores) {
    let first = stores.user("ärger@example.com").await;
    let second = stores.new_user("ÄRGER@EXAMPLE.COM", Role::Admin);
    let id = second.id;
    assert!(!stores.users.insert(second).await.unwrap());
    assert_eq!(stores.users.get(id).await.unwrap(), None);
    let user = stores.users.get(first).await.unwrap().unwrap();
    assert_eq!((user.email.as_str(), user.role), ("ärger@example.com", Role::Basic));
}

/// The first user stays as it is.
pub async fn a_taken_id_is_refused(stores: &Stores) {
    let first = stores.user("ann@example.com").await;
    let mut second = stores.new_user("bob@example.com", Role::Admin);
    second.id = first;
    assert!(!stores.users.insert(second).await.unwrap());
    assert_eq!(stores.users.get_by_email("bob@example.com").await.unwrap(), None);
    assert_eq!(stores.users.get(first).await.unwrap().unwrap().email, "ann@example.com");
}

/// Uniqueness holds under concurrency.
pub async fn of_concurrent_users_with_one_address_one_is_inserted(stores: &Stores) {
    let calls = (0..8).map(|_| stores.users.insert(stores.new_user("Ann@x.y", Role::Basic)));
    let outcomes = join_all(calls).await;
    assert_eq!(outcomes.into_iter().filter(|inserted| *inserted.as_ref().unwrap()).count(), 1);
}

/// Administrator and key are there together.
pub async fn the_first_admin_comes_with_a_working_key(stores: &Stores) {
    let user = stores.new_user("root@example.com", Role::Admin);
    let id = user.id;
    assert!(stores.users.insert_first_admin(user, new_key(id, 1)).await.unwrap());
    let holder = stores.keys.find(&token_hash(1)).await.unwrap().unwrap();
    assert_eq!((holder.user.id, holder.user.role), (id, Role::Admin));
}

/// Only administrators count.
pub async fn users_who_are_not_admins_do_not_keep_the_first_admin_out(stores: &Stores) {
    for role in Role::ALL.into_iter().filter(|role| *role != Role::Admin) {
        let user = stores.new_user(&format!("{role}@example.com"), role);
        assert!(stores.users.insert(user).await.unwrap());
    }
    let user = stores.new_user("root@example.com", Role::Admin);
    let key = new_key(user.id, 1);
    assert!(stores.users.insert_first_admin(user, key).await.unwrap());
}

/// Nothing of the second call is kept.
pub async fn a_second_first_admin_is_refused_with_its_key(stores: &Stores) {
    let first = stores.new_user("root@example.com", Role::Admin);
    assert!(stores.users.insert(first).await.unwrap());
    let second = stores.new_user("eve@example.com", Role::Admin);
    let id = second.id;
    assert!(!stores.users.insert_first_admin(second, new_key(id, 2)).await.unwrap());
    assert_eq!(stores.users.get(id).await.unwrap(), None);
    assert_eq!(stores.keys.find(&token_hash(2)).await.unwrap(), None);
}

/// A user who is there already does not become an administrator, nor gets a key.
pub async fn a_first_admin_with_a_taken_address_is_refused_with_its_key(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let admin = stores.new_user("Ann@example.com", Role::Admin);
    let key = new_key(ann, 1);
    assert!(!stores.users.insert_first_admin(admin, key).await.unwrap());
    assert_eq!(stores.users.get(ann).await.unwrap().unwrap().role, Role::Basic);
    assert_eq!(stores.keys.find(&token_hash(1)).await.unwrap(), None);
}

/// Keeping an administrator out must not open the door to the next caller.
pub async fn an_inactive_admin_is_an_admin(stores: &Stores) {
    let root = stores.user_with("root@example.com", Role::Admin).await;
    let other = stores.user_with("other@example.com", Role::Admin).await;
    assert!(stores.set_active(root, false, at(1)).await.unwrap());
    let stepped = stores.users.set_role(other, Role::Admin, Role::Basic, at(1)).await.unwrap();
    assert_eq!(stepped, UserChange::LastAdmin);
    let eve = stores.new_user("eve@example.com", Role::Admin);
    let key = new_key(eve.id, 1);
    assert!(!stores.users.insert_first_admin(eve, key).await.unwrap());
}

/// Whoever loses leaves nothing behind.
pub async fn of_concurrent_first_admins_exactly_one_wins(stores: &Stores) {
    let admins: Vec<_> = (1_u8..=8)
        .map(|n| (n, stores.new_user(&format!("admin{n}@example.com"), Role::Admin)))
        .collect();
    let calls = admins
        .iter()
        .map(|(n, admin)| stores.users.insert_first_admin(admin.clone(), new_key(admin.id, *n)));
    let outcomes = join_all(calls).await;
    let mut winners = 0;
    for ((n, admin), outcome) in admins.iter().zip(outcomes) {
        let won = outcome.unwrap();
        winners += u32::from(won);
        assert_eq!(stores.users.get(admin.id).await.unwrap().is_some(), won);
        assert_eq!(stores.keys.find(&token_hash(*n)).await.unwrap().is_some(), won);
    }
    assert_eq!(winners, 1);
}
