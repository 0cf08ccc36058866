//! What every [`ApiKeyStore`](trove_domain::port::ApiKeyStore) does.

use trove_domain::access::Role;
use trove_domain::id::ApiKeyId;
use trove_domain::user::{ApiKey, TokenHash};

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
        };
        let inserted = stores.keys.insert(new.clone()).await.unwrap().unwrap();
        assert_eq!(inserted, expected(inserted.id));
        let (listed, user) = stores.keys.list(None, 10).await.unwrap().pop().unwrap();
        assert_eq!((listed, user.id), (expected(inserted.id), ann));
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
    let (listed, _) = stores.keys.list(None, 1).await.unwrap().pop().unwrap();
    assert_eq!(listed.revoked_at, Some(at(1)));
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
    assert_eq!(listed.iter().map(|(key, _)| key.id).collect::<Vec<_>>(), ids);
    assert_eq!(listed.iter().map(|(_, user)| user.id).collect::<Vec<_>>(), [ann, bob, ann]);
    assert!(!listed[1].1.active);
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
        let Some((last, _)) = page.last() else { break };
        if read.is_empty() {
            expected.push(stores.key(ann, 6).await.id);
        }
        after = Some(last.id);
        read.extend(page.into_iter().map(|(key, _)| key.id));
    }
    assert_eq!(read, expected);
}
