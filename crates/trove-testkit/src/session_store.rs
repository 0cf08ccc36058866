//! What every [`SessionStore`](trove_domain::port::SessionStore) does.

use chrono::{DateTime, Utc};
use futures::future::join_all;
use trove_domain::id::{SessionId, UserId};
use trove_domain::port::SESSIONS_KEPT;
use trove_domain::session::{NewSession, Session, SessionHolder};
use trove_domain::user::{PasswordHash, TokenHash};

use crate::stores::{Stores, at, token_hash};

/// Turns the suite into one test for each obligation. `$start` is a future of an `Option` of
/// something that dereferences to [`Stores`].
#[macro_export]
macro_rules! session_store_contract {
    ($start:expr) => {
        $crate::contract_suite!(
            session_store,
            $start,
            [
                a_session_is_found_by_its_hash_until_it_expires,
                an_unknown_hash_is_nobody,
                nobody_else_has_a_session,
                a_password_that_has_changed_begins_no_session,
                no_session_outlives_a_change_of_the_password,
                a_session_shows_the_user_of_now,
                a_session_is_replaced_once,
                only_the_users_own_live_session_is_replaced,
                a_session_ends_once,
                all_sessions_of_a_user_end_but_one,
                expired_sessions_are_forgotten,
                the_latest_sessions_of_a_user_are_kept,
            ]
        );
    };
}

/// A session of a hundred seconds, with the hash of [`token_hash`].
#[must_use]
pub fn new_session(user: UserId, byte: u8) -> NewSession {
    NewSession {
        hash: token_hash(byte),
        user,
        password: None,
        created_at: at(0),
        expires_at: at(100),
    }
}

/// Begins one.
pub async fn begin(stores: &Stores, user: UserId, byte: u8) -> Session {
    stores.sessions.insert(new_session(user, byte)).await.unwrap().unwrap()
}

/// Whose it is.
pub async fn holder(stores: &Stores, byte: u8, now: DateTime<Utc>) -> Option<SessionHolder> {
    stores.sessions.find(&token_hash(byte), now).await.unwrap()
}

/// At the instant of its end it is unknown.
pub async fn a_session_is_found_by_its_hash_until_it_expires(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let session = begin(stores, ann, 1).await;
    assert_eq!((session.created_at, session.expires_at), (at(0), at(100)));
    let found = holder(stores, 1, at(99)).await.unwrap();
    assert_eq!((found.session, found.user.id), (session, ann));
    assert_eq!(holder(stores, 1, at(100)).await, None);
}

/// Absence is an answer.
pub async fn an_unknown_hash_is_nobody(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    begin(stores, ann, 1).await;
    assert_eq!(holder(stores, 2, at(1)).await, None);
}

/// Neither who is missing nor who is kept out.
pub async fn nobody_else_has_a_session(stores: &Stores) {
    let nobody = stores.new_user("", trove_domain::access::Role::Basic).id;
    assert_eq!(stores.sessions.insert(new_session(nobody, 1)).await.unwrap(), None);
    let ann = stores.user("ann@example.com").await;
    assert!(stores.set_active(ann, false, at(0)).await.unwrap());
    assert_eq!(stores.sessions.insert(new_session(ann, 2)).await.unwrap(), None);
    assert!(stores.set_active(ann, true, at(0)).await.unwrap());
    assert_eq!(holder(stores, 2, at(1)).await, None);
}

/// Whoever knew the old one comes too late.
pub async fn a_password_that_has_changed_begins_no_session(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let (old, new) = (PasswordHash::new("old"), PasswordHash::new("new"));
    let session = |byte, password: &PasswordHash| NewSession {
        password: Some(password.clone()),
        ..new_session(ann, byte)
    };
    assert_eq!(stores.sessions.insert(session(1, &old)).await.unwrap(), None);
    assert!(stores.users.set_password(ann, old.clone(), None, at(0)).await.unwrap());
    assert!(stores.sessions.insert(session(2, &old)).await.unwrap().is_some());
    assert!(stores.users.set_password(ann, new.clone(), None, at(0)).await.unwrap());
    assert_eq!(stores.sessions.insert(session(3, &old)).await.unwrap(), None);
    assert!(stores.sessions.insert(session(4, &new)).await.unwrap().is_some());
    for (byte, live) in [(1, false), (2, false), (3, false), (4, true)] {
        assert_eq!(holder(stores, byte, at(1)).await.is_some(), live, "{byte}");
    }
}

/// However many begin at the same time.
pub async fn no_session_outlives_a_change_of_the_password(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let old = PasswordHash::new("old");
    assert!(stores.users.set_password(ann, old.clone(), None, at(0)).await.unwrap());
    let begin = |byte| {
        let session = NewSession { password: Some(old.clone()), ..new_session(ann, byte) };
        stores.sessions.insert(session)
    };
    let change = stores.users.set_password(ann, PasswordHash::new("new"), None, at(0));
    let (before, changed, after) =
        futures::join!(join_all((0..8).map(begin)), change, join_all((8..16).map(begin)));
    assert!(changed.unwrap());
    for outcome in before.into_iter().chain(after) {
        outcome.unwrap();
    }
    for byte in 0..16 {
        assert_eq!(holder(stores, byte, at(1)).await, None, "{byte}");
    }
}

/// A lookup answers the user of now.
pub async fn a_session_shows_the_user_of_now(stores: &Stores) {
    use trove_domain::access::Role;
    let ann = stores.user("ann@example.com").await;
    begin(stores, ann, 1).await;
    stores.users.set_role(ann, Role::Basic, Role::Admin, at(1)).await.unwrap();
    assert_eq!(holder(stores, 1, at(2)).await.unwrap().user.role, Role::Admin);
}

/// The old token is unknown from then on, and a copy of it is worth nothing.
pub async fn a_session_is_replaced_once(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let old = begin(stores, ann, 1).await;
    let calls = (2_u8..10).map(|byte| stores.sessions.replace(old.id, new_session(ann, byte)));
    let outcomes = join_all(calls).await;
    let replaced = outcomes.into_iter().filter(|session| session.as_ref().unwrap().is_some());
    assert_eq!(replaced.count(), 1);
    assert_eq!(holder(stores, 1, at(1)).await, None);
    let mut live = 0;
    for byte in 2..10 {
        live += u32::from(holder(stores, byte, at(1)).await.is_some());
    }
    assert_eq!(live, 1);
}

/// Nothing changes otherwise.
pub async fn only_the_users_own_live_session_is_replaced(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let bob = stores.user("bob@example.com").await;
    let old = begin(stores, ann, 1).await;
    assert_eq!(stores.sessions.replace(old.id, new_session(bob, 2)).await.unwrap(), None);
    let late = NewSession { created_at: at(100), expires_at: at(200), ..new_session(ann, 3) };
    assert_eq!(stores.sessions.replace(old.id, late).await.unwrap(), None);
    let none = stores.sessions.replace(SessionId(4711), new_session(ann, 4)).await.unwrap();
    assert_eq!(none, None);
    assert!(holder(stores, 1, at(1)).await.is_some());
    for byte in 2..5 {
        assert_eq!(holder(stores, byte, at(150)).await, None);
    }
}

/// Of its own accord.
pub async fn a_session_ends_once(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let session = begin(stores, ann, 1).await;
    begin(stores, ann, 2).await;
    assert!(stores.sessions.remove(session.id).await.unwrap());
    assert_eq!(holder(stores, 1, at(1)).await, None);
    assert!(holder(stores, 2, at(1)).await.is_some());
    assert!(!stores.sessions.remove(session.id).await.unwrap());
}

/// Others keep theirs.
pub async fn all_sessions_of_a_user_end_but_one(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let bob = stores.user("bob@example.com").await;
    begin(stores, ann, 1).await;
    let kept = begin(stores, ann, 2).await;
    begin(stores, bob, 3).await;
    assert_eq!(stores.sessions.remove_of(ann, Some(kept.id)).await.unwrap(), 1);
    assert_eq!(holder(stores, 1, at(1)).await, None);
    assert!(holder(stores, 2, at(1)).await.is_some());
    assert_eq!(stores.sessions.remove_of(ann, None).await.unwrap(), 1);
    assert_eq!(stores.sessions.remove_of(ann, None).await.unwrap(), 0);
    assert!(holder(stores, 3, at(1)).await.is_some());
}

/// They take no room for ever, and their tokens do not come back.
pub async fn expired_sessions_are_forgotten(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let bob = stores.user("bob@example.com").await;
    begin(stores, ann, 1).await;
    let later = NewSession { created_at: at(100), expires_at: at(200), ..new_session(bob, 2) };
    stores.sessions.insert(later).await.unwrap().unwrap();
    assert_eq!(stores.sessions.remove_of(ann, None).await.unwrap(), 0);
}

/// One more ends the oldest.
pub async fn the_latest_sessions_of_a_user_are_kept(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let bob = stores.user("bob@example.com").await;
    begin(stores, bob, 0).await;
    let mut hashes = Vec::new();
    for n in 0..=SESSIONS_KEPT {
        let mut hash = [1; 32];
        hash[..4].copy_from_slice(&n.to_le_bytes());
        let session = NewSession { hash: TokenHash(hash), ..new_session(ann, 1) };
        stores.sessions.insert(session).await.unwrap().unwrap();
        hashes.push(TokenHash(hash));
    }
    assert_eq!(stores.sessions.find(&hashes[0], at(1)).await.unwrap(), None);
    for hash in &hashes[1..] {
        assert!(stores.sessions.find(hash, at(1)).await.unwrap().is_some());
    }
    assert!(holder(stores, 0, at(1)).await.is_some());
}
