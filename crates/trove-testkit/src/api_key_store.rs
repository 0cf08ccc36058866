//! What every [`ApiKeyStore`](trove_domain::port::ApiKeyStore) does.

use std::collections::BTreeSet;

use trove_domain::access::Role;
use trove_domain::api_key::{
    ApiKey, ListedKey, NewApiKey, SERVICE_DOMAIN, ServiceKeyChange, ServiceKeyUpdate,
    service_address,
};
use trove_domain::id::{ApiKeyId, GroupId};
use trove_domain::port::{NewUser, UserChange, UserFilter};
use trove_domain::user::{AccountKind, TokenHash};

use crate::stores::{Stores, at, new_key, token_hash};

/// Turns the suite into one test for each obligation. `$start` is a future of an `Option` of
/// something that dereferences to [`Stores`].
#[macro_export]
macro_rules! api_key_store_contract {
    ($start:expr) => {
        $crate::contract_suite!(
            api_key_store,
            $start,
            [
                a_token_finds_who_holds_it,
                a_hash_that_differs_in_one_bit_finds_nobody,
                a_key_of_an_unknown_user_is_refused,
                a_user_may_hold_several_keys,
                a_key_reads_back,
                a_revoked_key_is_unknown_at_once,
                revoking_twice_keeps_the_first_instant,
                revoking_an_unknown_key_is_false,
                keys_of_an_inactive_user_are_unknown_at_once,
                a_change_of_the_user_shows_at_once,
                the_list_has_every_key_by_rising_id,
                the_list_is_read_in_pages,
                the_last_use_is_noted_and_never_set_back,
                an_unknown_key_is_none,
                a_service_account_comes_with_its_key,
                a_service_account_is_changed_together_with_its_key,
                groups_that_are_not_given_stay,
                a_service_account_in_an_unknown_group_is_refused_whole,
                a_service_account_takes_no_seat_and_is_no_last_administrator,
                another_token_ends_the_one_before,
                a_key_of_a_person_is_no_service_account,
                a_revoked_key_is_not_changed,
                a_removed_service_account_takes_its_key_along,
            ]
        );
    };
}

/// The holder is the user as stored.
pub async fn a_token_finds_who_holds_it(stores: &Stores) {
    let ann = stores.user("Ann@example.com").await;
    let bob = stores.user("bob@example.com").await;
    let key = stores.key(ann, 1).await;
    stores.key(bob, 2).await;
    let holder = stores.keys.find(&token_hash(1)).await.unwrap().unwrap();
    assert_eq!(holder.key, key.id);
    assert_eq!(Some(holder.user), stores.users.get(ann).await.unwrap());
}

/// Only the exact hash opens.
pub async fn a_hash_that_differs_in_one_bit_finds_nobody(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    stores.key(ann, 0).await;
    for bit in [0, 7, 100, 255] {
        let mut hash = [0_u8; 32];
        hash[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(stores.keys.find(&TokenHash(hash)).await.unwrap(), None, "bit {bit}");
    }
}

/// Nothing is stored then.
pub async fn a_key_of_an_unknown_user_is_refused(stores: &Stores) {
    let nobody = stores.new_user("", Role::Basic).id;
    assert_eq!(stores.keys.insert(new_key(nobody, 1)).await.unwrap(), None);
    assert_eq!(stores.keys.list(None, 10).await.unwrap(), []);
}

/// Each key works, and ends, for itself.
pub async fn a_user_may_hold_several_keys(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let first = stores.key(ann, 1).await;
    let second = stores.key(ann, 2).await;
    assert_ne!(first.id, second.id);
    assert!(stores.keys.revoke(first.id, at(1)).await.unwrap());
    assert_eq!(stores.keys.find(&token_hash(1)).await.unwrap(), None);
    assert_eq!(stores.keys.find(&token_hash(2)).await.unwrap().unwrap().key, second.id);
}

/// With and without a name, in any script.
pub async fn a_key_reads_back(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    for (byte, name) in [(1, None), (2, Some("O'Hara's \"ключ\" 100%")), (3, Some(""))] {
        let mut new = new_key(ann, byte);
        new.name = name.map(str::to_owned);
        new.created_at += chrono::TimeDelta::microseconds(999_999);
        let expected = |id| ApiKey {
            id,
            name: new.name.clone(),
            display: new.display.clone(),
            user: ann,
            created_at: new.created_at,
            revoked_at: None,
            last_used_at: None,
        };
        let inserted = stores.keys.insert(new.clone()).await.unwrap().unwrap();
        assert_eq!(inserted, expected(inserted.id));
        let listed = stores.keys.list(None, 10).await.unwrap().pop().unwrap();
        assert_eq!((&listed.key, listed.holder.user.id), (&expected(inserted.id), ann));
        assert_eq!(stores.keys.get(inserted.id).await.unwrap(), Some(listed));
    }
}

/// No cache answers for it.
pub async fn a_revoked_key_is_unknown_at_once(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let key = stores.key(ann, 1).await;
    assert!(stores.keys.find(&token_hash(1)).await.unwrap().is_some());
    assert!(stores.keys.revoke(key.id, at(1)).await.unwrap());
    assert_eq!(stores.keys.find(&token_hash(1)).await.unwrap(), None);
}

/// The record says when the key really ended.
pub async fn revoking_twice_keeps_the_first_instant(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let key = stores.key(ann, 1).await;
    assert!(stores.keys.revoke(key.id, at(1)).await.unwrap());
    assert!(stores.keys.revoke(key.id, at(2)).await.unwrap());
    let listed = stores.keys.get(key.id).await.unwrap().unwrap();
    assert_eq!(listed.key.revoked_at, Some(at(1)));
}

/// Absence is an answer.
pub async fn revoking_an_unknown_key_is_false(stores: &Stores) {
    assert!(!stores.keys.revoke(ApiKeyId(4711), at(1)).await.unwrap());
}

/// They work again when the user does.
pub async fn keys_of_an_inactive_user_are_unknown_at_once(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    stores.key(ann, 1).await;
    stores.key(ann, 2).await;
    for active in [false, true] {
        assert!(stores.set_active(ann, active, at(1)).await.unwrap());
        for byte in [1, 2] {
            let holder = stores.keys.find(&token_hash(byte)).await.unwrap();
            assert_eq!(holder.is_some(), active);
        }
    }
}

/// A lookup answers the user of now.
pub async fn a_change_of_the_user_shows_at_once(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    stores.key(ann, 1).await;
    stores.keys.find(&token_hash(1)).await.unwrap();
    stores.users.set_role(ann, Role::Basic, Role::Curator, at(9)).await.unwrap();
    let holder = stores.keys.find(&token_hash(1)).await.unwrap().unwrap();
    assert_eq!((holder.user.role, holder.user.updated_at), (Role::Curator, at(9)));
}

/// Revoked keys and those of inactive users too.
pub async fn the_list_has_every_key_by_rising_id(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let bob = stores.user("bob@example.com").await;
    let ids =
        [stores.key(ann, 1).await.id, stores.key(bob, 2).await.id, stores.key(ann, 3).await.id];
    stores.keys.revoke(ids[0], at(1)).await.unwrap();
    stores.set_active(bob, false, at(1)).await.unwrap();
    let listed = stores.keys.list(None, 10).await.unwrap();
    assert!(ids.is_sorted());
    assert_eq!(listed.iter().map(|listed| listed.key.id).collect::<Vec<_>>(), ids);
    assert_eq!(
        listed.iter().map(|listed| listed.holder.user.id).collect::<Vec<_>>(),
        [ann, bob, ann]
    );
    assert!(!listed[1].holder.user.active);
}

/// No key is left out or repeated, also when one comes in between.
pub async fn the_list_is_read_in_pages(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let mut expected = Vec::new();
    for byte in 1..=5 {
        expected.push(stores.key(ann, byte).await.id);
    }
    assert_eq!(stores.keys.list(None, 0).await.unwrap(), []);
    let (mut read, mut after) = (Vec::new(), None);
    loop {
        let page = stores.keys.list(after, 2).await.unwrap();
        let Some(last) = page.last() else { break };
        if read.is_empty() {
            expected.push(stores.key(ann, 6).await.id);
        }
        after = Some(last.key.id);
        read.extend(page.into_iter().map(|listed| listed.key.id));
    }
    assert_eq!(read, expected);
}

/// Uses may be noted in another order than they happened.
pub async fn the_last_use_is_noted_and_never_set_back(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let (key, other) = (stores.key(ann, 1).await, stores.key(ann, 2).await);
    for (noted, kept) in [(5, 5), (3, 5), (9, 9)] {
        stores.keys.note_use(key.id, at(noted)).await.unwrap();
        let listed = stores.keys.get(key.id).await.unwrap().unwrap();
        assert_eq!(listed.key.last_used_at, Some(at(kept)));
        let holder = stores.keys.find(&token_hash(1)).await.unwrap().unwrap();
        assert_eq!(holder.last_used_at, Some(at(kept)));
    }
    assert_eq!(stores.keys.get(other.id).await.unwrap().unwrap().key.last_used_at, None);
    stores.keys.note_use(ApiKeyId(4711), at(1)).await.unwrap();
}

/// Absence is an answer.
pub async fn an_unknown_key_is_none(stores: &Stores) {
    assert_eq!(stores.keys.get(ApiKeyId(4711)).await.unwrap(), None);
}

fn new_service(stores: &Stores, name: Option<&str>, role: Role, byte: u8) -> (NewUser, NewApiKey) {
    let id = stores.new_user("", role).id;
    let key = NewApiKey { name: name.map(str::to_owned), ..new_key(id, byte) };
    (NewUser::service(id, name, role, at(0)), key)
}

fn done(change: ServiceKeyChange) -> ListedKey {
    match change {
        ServiceKeyChange::Done(listed) => *listed,
        other => panic!("{other:?}"),
    }
}

async fn service(stores: &Stores, name: &str, byte: u8, groups: &[GroupId]) -> ListedKey {
    let (account, key) = new_service(stores, Some(name), Role::Basic, byte);
    let groups: BTreeSet<GroupId> = groups.iter().copied().collect();
    done(stores.keys.insert_service(account, &groups, key).await.unwrap())
}

fn groups_of(listed: &ListedKey) -> Vec<GroupId> {
    listed.holder.groups.iter().map(|group| group.id).collect()
}

/// It is found by its token, with its role and groups, and is no person.
pub async fn a_service_account_comes_with_its_key(stores: &Stores) {
    let groups = [stores.group("g", &[]).await, stores.group("h", &[]).await];
    let (account, key) = new_service(stores, Some("crawler"), Role::Limited, 1);
    let id = account.id;
    let listed = stores.keys.insert_service(account, &groups.into(), key).await.unwrap();
    let listed = done(listed);
    let user = &listed.holder.user;
    assert_eq!((user.id, user.kind, user.role), (id, AccountKind::Service, Role::Limited));
    assert_eq!(user.email, service_address(Some("crawler"), id));
    assert!(user.email.ends_with(SERVICE_DOMAIN) && user.active && !user.has_password);
    assert_eq!(groups_of(&listed), groups);
    assert_eq!(listed.key.name.as_deref(), Some("crawler"));
    let holder = stores.keys.find(&token_hash(1)).await.unwrap().unwrap();
    assert_eq!((holder.key, &holder.user), (listed.key.id, user));
    assert_eq!(stores.keys.get(listed.key.id).await.unwrap().as_ref(), Some(&listed));
    assert_eq!(stores.keys.list(None, 10).await.unwrap(), [listed]);
    let filter = |services| UserFilter {
        text: None,
        roles: Role::ALL.into_iter().collect(),
        active: None,
        services,
    };
    for (services, count) in [(false, 0), (true, 1)] {
        let page = stores.users.list(&filter(services), None, 10).await.unwrap();
        assert_eq!(page.items.len(), count);
    }
}

/// Name, address, role and groups, in one step.
pub async fn a_service_account_is_changed_together_with_its_key(stores: &Stores) {
    let (g, h) = (stores.group("g", &[]).await, stores.group("h", &[]).await);
    let made = service(stores, "a", 1, &[g]).await;
    let id = made.holder.user.id;
    let update = ServiceKeyUpdate {
        name: None,
        email: service_address(None, id),
        role: Role::Admin,
        groups: Some([h].into()),
    };
    let changed = stores.keys.update_service(made.key.id, update, at(7)).await.unwrap();
    let changed = done(changed);
    assert_eq!(changed.key, ApiKey { name: None, ..made.key });
    let user = &changed.holder.user;
    assert_eq!((user.id, user.role, user.updated_at), (id, Role::Admin, at(7)));
    assert_eq!(user.email, format!("API_KEY__Unnamed@{id}.{SERVICE_DOMAIN}"));
    assert_eq!(groups_of(&changed), [h]);
    let holder = stores.keys.find(&token_hash(1)).await.unwrap().unwrap();
    assert_eq!(&holder.user, user);
    assert_eq!(stores.users.get_by_email(&user.email).await.unwrap().as_ref(), Some(user));
}

/// Clients that know of no groups do not take it out of them.
pub async fn groups_that_are_not_given_stay(stores: &Stores) {
    let g = stores.group("g", &[]).await;
    let made = service(stores, "a", 1, &[g]).await;
    let update = |groups| ServiceKeyUpdate {
        name: Some("b".to_owned()),
        email: service_address(Some("b"), made.holder.user.id),
        role: Role::Basic,
        groups,
    };
    let id = made.key.id;
    let changed = done(stores.keys.update_service(id, update(None), at(1)).await.unwrap());
    assert_eq!(groups_of(&changed), [g]);
    let none = Some(BTreeSet::new());
    let changed = done(stores.keys.update_service(id, update(none), at(1)).await.unwrap());
    assert_eq!(groups_of(&changed), []);
}

/// Neither account nor key nor membership is left.
pub async fn a_service_account_in_an_unknown_group_is_refused_whole(stores: &Stores) {
    let g = stores.group("g", &[]).await;
    let missing = ServiceKeyChange::NoSuchGroup(GroupId(4711));
    let (account, key) = new_service(stores, Some("a"), Role::Basic, 1);
    let id = account.id;
    let groups = [g, GroupId(4711)].into();
    assert_eq!(stores.keys.insert_service(account, &groups, key).await.unwrap(), missing);
    assert_eq!(stores.users.get(id).await.unwrap(), None);
    assert_eq!(stores.keys.list(None, 10).await.unwrap(), []);
    let made = service(stores, "b", 2, &[]).await;
    let update = ServiceKeyUpdate {
        name: None,
        email: service_address(None, made.holder.user.id),
        role: Role::Admin,
        groups: Some(groups),
    };
    let refused = stores.keys.update_service(made.key.id, update, at(1)).await.unwrap();
    assert_eq!(refused, missing);
    assert_eq!(stores.keys.get(made.key.id).await.unwrap(), Some(made));
}

/// A program does not keep the deployment administered.
pub async fn a_service_account_takes_no_seat_and_is_no_last_administrator(stores: &Stores) {
    let ann = stores.user_with("ann@example.com", Role::Admin).await;
    let (account, key) = new_service(stores, None, Role::Admin, 1);
    let robot = account.id;
    done(stores.keys.insert_service(account, &BTreeSet::new(), key).await.unwrap());
    assert_eq!(stores.users.deactivate(ann, at(1)).await.unwrap(), UserChange::LastAdmin);
    let step_down = stores.users.set_role(ann, Role::Admin, Role::Basic, at(1));
    assert_eq!(step_down.await.unwrap(), UserChange::LastAdmin);
    assert_eq!(stores.users.deactivate(robot, at(1)).await.unwrap(), UserChange::Done);
    assert_eq!(stores.keys.find(&token_hash(1)).await.unwrap(), None);
    // The one seat is taken.
    assert_eq!(stores.users.activate(robot, Some(1), at(1)).await.unwrap(), UserChange::Done);
    assert!(stores.keys.find(&token_hash(1)).await.unwrap().is_some());
}

/// From the next lookup on, and the key stays what it is otherwise.
pub async fn another_token_ends_the_one_before(stores: &Stores) {
    let made = service(stores, "a", 1, &[]).await;
    stores.keys.note_use(made.key.id, at(3)).await.unwrap();
    let replaced = stores.keys.replace_token(made.key.id, "shown", &token_hash(2)).await.unwrap();
    let display = "shown".to_owned();
    let expected = ApiKey { display, last_used_at: None, ..made.key.clone() };
    assert_eq!(done(replaced).key, expected);
    assert_eq!(stores.keys.find(&token_hash(1)).await.unwrap(), None);
    assert_eq!(stores.keys.find(&token_hash(2)).await.unwrap().unwrap().key, made.key.id);
}

/// Otherwise whoever administers could act as a person, or change its role unseen.
pub async fn a_key_of_a_person_is_no_service_account(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let key = stores.key(ann, 1).await;
    let update = ServiceKeyUpdate {
        name: None,
        email: service_address(None, ann),
        role: Role::Admin,
        groups: None,
    };
    let before = stores.keys.get(key.id).await.unwrap();
    let refused = stores.keys.update_service(key.id, update, at(1)).await.unwrap();
    assert_eq!(refused, ServiceKeyChange::ActsAsPerson);
    let refused = stores.keys.replace_token(key.id, "shown", &token_hash(2)).await.unwrap();
    assert_eq!(refused, ServiceKeyChange::ActsAsPerson);
    assert_eq!(stores.keys.get(key.id).await.unwrap(), before);
    assert_eq!(stores.keys.find(&token_hash(2)).await.unwrap(), None);
}

/// It has ended for good.
pub async fn a_revoked_key_is_not_changed(stores: &Stores) {
    let made = service(stores, "a", 1, &[]).await;
    assert!(stores.keys.revoke(made.key.id, at(1)).await.unwrap());
    for id in [made.key.id, ApiKeyId(4711)] {
        let update = ServiceKeyUpdate {
            name: None,
            email: service_address(None, made.holder.user.id),
            role: Role::Admin,
            groups: None,
        };
        let refused = stores.keys.update_service(id, update, at(1)).await.unwrap();
        assert_eq!(refused, ServiceKeyChange::NoSuchKey);
        let refused = stores.keys.replace_token(id, "shown", &token_hash(2)).await.unwrap();
        assert_eq!(refused, ServiceKeyChange::NoSuchKey);
    }
    assert_eq!(stores.keys.find(&token_hash(2)).await.unwrap(), None);
}

/// As the keys of every user.
pub async fn a_removed_service_account_takes_its_key_along(stores: &Stores) {
    let made = service(stores, "a", 1, &[]).await;
    let id = made.holder.user.id;
    assert_eq!(stores.users.deactivate(id, at(1)).await.unwrap(), UserChange::Done);
    let job = crate::stores::new_job("sync", "sync");
    assert_eq!(stores.users.remove(id, at(1), job).await.unwrap(), UserChange::Done);
    assert_eq!(stores.keys.get(made.key.id).await.unwrap(), None);
    assert_eq!(stores.keys.find(&token_hash(1)).await.unwrap(), None);
}
