//! What every [`AccessTokenStore`](trove_domain::port::AccessTokenStore) does.

use chrono::TimeDelta;
use trove_domain::access::Role;
use trove_domain::access_token::{AccessToken, NewAccessToken, TokenScope, TokenScopes};
use trove_domain::id::AccessTokenId;
use trove_domain::port::{ACCESS_TOKENS_KEPT, ACCESS_TOKENS_MAX, UserChange};
use trove_domain::user::TokenHash;

use crate::stores::{Stores, at, new_access_token, new_job, token_hash};

/// Turns the suite into one test for each obligation. `$start` is a future of an `Option` of
/// something that dereferences to [`Stores`].
#[macro_export]
macro_rules! access_token_store_contract {
    ($start:expr) => {
        $crate::contract_suite!(
            access_token_store,
            $start,
            [
                a_token_finds_its_owner,
                a_token_reads_back,
                a_token_works_up_to_its_last_instant,
                a_revoked_token_is_unknown_at_once_and_only_once,
                nobody_revokes_the_token_of_another,
                an_expired_token_cannot_be_revoked,
                all_tokens_of_a_user_end_together,
                the_list_has_the_working_tokens_of_one_user_newest_first,
                tokens_of_an_inactive_user_sleep,
                a_removed_user_takes_the_tokens_along,
                a_token_of_an_unknown_user_is_refused,
                a_change_of_the_user_shows_at_once,
                the_last_use_is_noted_and_never_set_back,
                a_user_has_so_many_tokens_and_no_more,
                the_oldest_ended_tokens_are_forgotten,
            ]
        );
    };
}

async fn is_known(stores: &Stores, byte: u8, seconds: i64) -> bool {
    stores.tokens.find(&token_hash(byte), at(seconds)).await.unwrap().is_some()
}

/// As both are stored.
pub async fn a_token_finds_its_owner(stores: &Stores) {
    let ann = stores.user("Ann@example.com").await;
    let token = stores.token(ann, 1).await;
    stores.token(stores.user("bob@example.com").await, 2).await;
    let holder = stores.tokens.find(&token_hash(1), at(1)).await.unwrap().unwrap();
    assert_eq!(holder.token, token);
    assert_eq!(Some(holder.user), stores.users.get(ann).await.unwrap());
    // Keys are something else.
    assert_eq!(stores.keys.find(&token_hash(1)).await.unwrap(), None);
    assert!(!is_known(stores, 3, 1).await);
}

/// With every set of scopes, to the microsecond.
pub async fn a_token_reads_back(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    for byte in 0..16_u8 {
        let scopes = TokenScope::ALL.into_iter().enumerate();
        let scopes = scopes.filter(|(bit, _)| byte & (1 << bit) != 0).map(|(_, scope)| scope);
        let new = NewAccessToken {
            name: "O'Hara's \"ключ\" 100%".to_owned(),
            scopes: TokenScopes::new(scopes),
            created_at: at(i64::from(byte)) + TimeDelta::microseconds(999_999),
            expires_at: Some(at(1000) + TimeDelta::microseconds(999_999)),
            ..new_access_token(ann, byte)
        };
        let inserted = stores.tokens.insert(new.clone()).await.unwrap().unwrap();
        let NewAccessToken { name, display, hash: _, user, scopes, created_at, expires_at } = new;
        let (id, last_used_at) = (inserted.id, None);
        let expected =
            AccessToken { id, name, display, user, scopes, created_at, expires_at, last_used_at };
        assert_eq!(inserted, expected);
        assert_eq!(stores.tokens.list(ann, at(900)).await.unwrap()[0], expected);
    }
}

/// And not a microsecond longer.
pub async fn a_token_works_up_to_its_last_instant(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let last = at(60) + TimeDelta::microseconds(999_999);
    let new = NewAccessToken { expires_at: Some(last), ..new_access_token(ann, 1) };
    stores.tokens.insert(new).await.unwrap().unwrap();
    for (now, works) in [(at(0), true), (last, true), (at(61), false)] {
        let found = stores.tokens.find(&token_hash(1), now).await.unwrap();
        assert_eq!(found.is_some(), works, "{now}");
        assert_eq!(stores.tokens.list(ann, now).await.unwrap().len(), usize::from(works));
    }
}

/// In the very instant.
pub async fn a_revoked_token_is_unknown_at_once_and_only_once(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let token = stores.token(ann, 1).await;
    stores.token(ann, 2).await;
    assert!(stores.tokens.revoke(ann, token.id, at(1)).await.unwrap());
    assert!(!is_known(stores, 1, 1).await);
    assert!(is_known(stores, 2, 1).await);
    assert!(!stores.tokens.revoke(ann, token.id, at(1)).await.unwrap());
    assert!(!stores.tokens.revoke(ann, token.id, at(2)).await.unwrap());
}

/// Not even an administrator: foreign and missing are the same.
pub async fn nobody_revokes_the_token_of_another(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let bob = stores.user_with("bob@example.com", Role::Admin).await;
    let token = stores.token(ann, 1).await;
    assert!(!stores.tokens.revoke(bob, token.id, at(1)).await.unwrap());
    assert!(!stores.tokens.revoke(bob, AccessTokenId(4711), at(1)).await.unwrap());
    assert!(is_known(stores, 1, 1).await);
}

/// There is nothing to end.
pub async fn an_expired_token_cannot_be_revoked(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let new = NewAccessToken { expires_at: Some(at(5)), ..new_access_token(ann, 1) };
    let token = stores.tokens.insert(new).await.unwrap().unwrap();
    assert!(!stores.tokens.revoke(ann, token.id, at(6)).await.unwrap());
    assert!(is_known(stores, 1, 5).await, "the past stays as it was");
}

/// And nobody else's.
pub async fn all_tokens_of_a_user_end_together(stores: &Stores) {
    let (ann, bob) = (stores.user("ann@example.com").await, stores.user("bob@example.com").await);
    stores.token(ann, 1).await;
    let ending = NewAccessToken { expires_at: Some(at(50)), ..new_access_token(ann, 2) };
    stores.tokens.insert(ending).await.unwrap().unwrap();
    stores.token(bob, 3).await;
    assert_eq!(stores.tokens.revoke_all(ann, at(1)).await.unwrap(), 2);
    assert_eq!(stores.tokens.revoke_all(ann, at(1)).await.unwrap(), 0);
    for (byte, works) in [(1, false), (2, false), (3, true)] {
        assert_eq!(is_known(stores, byte, 1).await, works, "{byte}");
    }
}

/// What has ended is kept and not shown.
pub async fn the_list_has_the_working_tokens_of_one_user_newest_first(stores: &Stores) {
    let (ann, bob) = (stores.user("ann@example.com").await, stores.user("bob@example.com").await);
    let a = stores.token(ann, 1).await.id;
    stores.token(bob, 2).await;
    let b = stores.token(ann, 3).await.id;
    let c = stores.token(ann, 4).await.id;
    let ids = |tokens: Vec<AccessToken>| tokens.into_iter().map(|t| t.id).collect::<Vec<_>>();
    assert_eq!(ids(stores.tokens.list(ann, at(1)).await.unwrap()), [c, b, a]);
    stores.tokens.revoke(ann, b, at(1)).await.unwrap();
    assert_eq!(ids(stores.tokens.list(ann, at(1)).await.unwrap()), [c, a]);
}

/// The same token works again when its owner does.
pub async fn tokens_of_an_inactive_user_sleep(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    stores.token(ann, 1).await;
    for active in [false, true] {
        assert!(stores.set_active(ann, active, at(1)).await.unwrap());
        assert_eq!(is_known(stores, 1, 1).await, active);
    }
}

/// With everything that is the user's own.
pub async fn a_removed_user_takes_the_tokens_along(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    stores.token(ann, 1).await;
    assert!(stores.set_active(ann, false, at(1)).await.unwrap());
    let removed = stores.users.remove(ann, at(1), new_job("sync", "sync")).await.unwrap();
    assert_eq!(removed, UserChange::Done);
    assert!(!is_known(stores, 1, 1).await);
    assert_eq!(stores.tokens.list(ann, at(1)).await.unwrap(), []);
}

/// Nothing is stored then.
pub async fn a_token_of_an_unknown_user_is_refused(stores: &Stores) {
    let nobody = stores.new_user("", Role::Basic).id;
    assert_eq!(stores.tokens.insert(new_access_token(nobody, 1)).await.unwrap(), None);
    assert!(!is_known(stores, 1, 1).await);
}

/// The rights are those of its owner, now.
pub async fn a_change_of_the_user_shows_at_once(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    stores.token(ann, 1).await;
    stores.users.set_role(ann, Role::Basic, Role::Admin, at(1)).await.unwrap();
    let holder = stores.tokens.find(&token_hash(1), at(1)).await.unwrap().unwrap();
    assert_eq!(holder.user.role, Role::Admin);
}

/// Uses may be noted in another order than they happened.
pub async fn the_last_use_is_noted_and_never_set_back(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let token = stores.token(ann, 1).await;
    for (noted, kept) in [(5, 5), (3, 5), (9, 9)] {
        stores.tokens.note_use(token.id, at(noted)).await.unwrap();
        let holder = stores.tokens.find(&token_hash(1), at(9)).await.unwrap().unwrap();
        assert_eq!(holder.token.last_used_at, Some(at(kept)));
    }
    stores.tokens.note_use(AccessTokenId(4711), at(1)).await.unwrap();
}

fn numbered(stores: &Stores, user: trove_domain::id::UserId) -> NewAccessToken {
    let mut hash = [0; 32];
    hash[..8].copy_from_slice(&stores.next().to_le_bytes());
    NewAccessToken { hash: TokenHash(hash), ..new_access_token(user, 0) }
}

/// One that has ended makes room.
pub async fn a_user_has_so_many_tokens_and_no_more(stores: &Stores) {
    let (ann, bob) = (stores.user("ann@example.com").await, stores.user("bob@example.com").await);
    let mut ids = Vec::new();
    for _ in 0..ACCESS_TOKENS_MAX {
        ids.push(stores.tokens.insert(numbered(stores, ann)).await.unwrap().unwrap().id);
    }
    assert_eq!(stores.tokens.insert(numbered(stores, ann)).await.unwrap(), None);
    assert!(stores.tokens.insert(numbered(stores, bob)).await.unwrap().is_some());
    assert!(stores.tokens.revoke(ann, ids[7], at(0)).await.unwrap());
    assert!(stores.tokens.insert(numbered(stores, ann)).await.unwrap().is_some());
    assert_eq!(stores.tokens.insert(numbered(stores, ann)).await.unwrap(), None);
}

/// Whoever makes and ends tokens all day fills no disk; what works is never forgotten.
pub async fn the_oldest_ended_tokens_are_forgotten(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let kept = stores.token(ann, 1).await;
    let ended = |stores: &Stores| NewAccessToken {
        created_at: at(10),
        expires_at: Some(at(5)),
        ..numbered(stores, ann)
    };
    let mut made = Vec::new();
    for _ in 0..ACCESS_TOKENS_KEPT {
        let new = ended(stores);
        made.push(new.hash.clone());
        stores.tokens.insert(new).await.unwrap().unwrap();
    }
    // In the past they worked, those of which there still is a row.
    assert!(stores.tokens.find(&made[0], at(5)).await.unwrap().is_none());
    assert!(stores.tokens.find(&made[1], at(5)).await.unwrap().is_some());
    assert_eq!(stores.tokens.list(ann, at(10)).await.unwrap(), [kept]);
}
