//! What every [`CredentialStore`](trove_domain::port::CredentialStore) does.

use std::collections::BTreeSet;

use futures::future::join_all;
use trove_domain::access::Role;
use trove_domain::credential::{Credential, CredentialDetails};
use trove_domain::id::{CredentialId, GroupId, UserId};
use trove_domain::port::{CredentialRefusal, CredentialRemoval, NewCredential, Reach};
use trove_domain::secret::{SealedSecret, SecretKeyId};
use trove_domain::source::DocumentSource;
use uuid::Uuid;

use crate::stores::{Stores, at, caller, new_job};

/// Turns the suite into one test for each obligation. `$start` is a future of an `Option` of
/// something that dereferences to [`Stores`].
#[macro_export]
macro_rules! credential_store_contract {
    ($start:expr) => {
        $crate::contract_suite!(
            credential_store,
            $start,
            [
                the_built_in_credential_is_always_there,
                a_credential_is_stored_as_given,
                a_group_that_does_not_exist_refuses_the_whole,
                a_credential_is_replaced_whole_and_becomes_the_editors,
                only_the_present_revision_is_replaced,
                who_may_use_a_credential_finds_it,
                who_may_change_a_credential_finds_it,
                the_built_in_credential_does_not_change,
                credentials_are_listed_by_source_and_rising_id,
                a_credential_is_removed_with_its_groups,
            ]
        );
    };
}

/// A credential for Slack of nothing.
#[must_use]
pub fn credential_details(name: &str) -> CredentialDetails {
    CredentialDetails {
        name: Some(name.to_owned()),
        source: DocumentSource::Slack,
        secret: None,
        admin_public: false,
        curator_public: false,
        groups: BTreeSet::new(),
    }
}

fn sealed(body: &str) -> SealedSecret {
    SealedSecret::new(SecretKeyId::new("0123456789abcdef").unwrap(), body.to_owned())
}

async fn insert(
    stores: &Stores,
    owner: Option<UserId>,
    details: CredentialDetails,
) -> Result<Credential, CredentialRefusal> {
    let uuid = Uuid::from_u64_pair(0x0192_0000_0000_7000, stores.next());
    let new = NewCredential { uuid, details, owner, created_at: at(0) };
    stores.credentials.insert(new).await.unwrap()
}

/// It is empty.
pub async fn the_built_in_credential_is_always_there(stores: &Stores) {
    let found = stores.credentials.get(Credential::BUILT_IN).await.unwrap().unwrap();
    assert_eq!((found.details.secret, found.owner), (None, None));
}

/// With its owner's address.
pub async fn a_credential_is_stored_as_given(stores: &Stores) {
    let owner = stores.user("owner@example.com").await;
    let group = stores.group("g", &[]).await;
    let details = CredentialDetails {
        name: None,
        secret: Some(sealed("b.o/d+y")),
        admin_public: true,
        curator_public: true,
        groups: [group].into(),
        ..credential_details("c")
    };
    let made = insert(stores, Some(owner), details.clone()).await.unwrap();
    assert_eq!(made.details, details);
    assert_eq!(made.owner, Some(owner));
    assert_eq!(made.owner_email.as_deref(), Some("owner@example.com"));
    assert_eq!((made.created_at, made.updated_at), (at(0), at(0)));
    assert_eq!(stores.credentials.get(made.id).await.unwrap(), Some(made));
    assert_eq!(stores.credentials.get(CredentialId(4711)).await.unwrap(), None);
}

/// When it is made, and when it is changed.
pub async fn a_group_that_does_not_exist_refuses_the_whole(stores: &Stores) {
    let owner = stores.user("owner@example.com").await;
    let nowhere = || CredentialDetails {
        groups: [GroupId(4711)].into(),
        name: Some("new".to_owned()),
        ..credential_details("c")
    };
    let refused = insert(stores, Some(owner), nowhere()).await;
    assert_eq!(refused, Err(CredentialRefusal::NoSuchGroup));
    let made = insert(stores, Some(owner), credential_details("c")).await.unwrap();
    let me = caller(owner, "owner@example.com", Role::Basic);
    let job = new_job("sync", "sync");
    let replaced = stores.credentials.replace(&me, made.id, made.revision, nowhere(), at(1), job);
    assert_eq!(replaced.await.unwrap(), Err(CredentialRefusal::NoSuchGroup));
    assert_eq!(stores.credentials.get(made.id).await.unwrap(), Some(made));
}

/// Nobody can see its secret in between.
pub async fn a_credential_is_replaced_whole_and_becomes_the_editors(stores: &Stores) {
    let owner = stores.user("owner@example.com").await;
    let admin = stores.user_with("admin@example.com", Role::Admin).await;
    let group = stores.group("g", &[]).await;
    let shared = CredentialDetails { groups: [group].into(), ..credential_details("c") };
    let made = insert(stores, Some(owner), shared).await.unwrap();
    let details = CredentialDetails {
        secret: Some(sealed("s")),
        admin_public: true,
        ..credential_details("d")
    };
    let me = caller(admin, "admin@example.com", Role::Admin);
    let job = new_job("sync", "sync");
    let replaced = stores
        .credentials
        .replace(&me, made.id, made.revision, details.clone(), at(1), job)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(replaced.details, details);
    assert_eq!((replaced.owner, replaced.uuid), (Some(admin), made.uuid));
    assert_eq!(replaced.owner_email.as_deref(), Some("admin@example.com"));
    assert!(replaced.revision > made.revision);
    assert_eq!(replaced.updated_at, at(1));
    assert!(stores.claim("sync", at(1)).await.is_some(), "its documents are written again");
}

/// Of several at the same time one is made.
pub async fn only_the_present_revision_is_replaced(stores: &Stores) {
    let owner = stores.user("owner@example.com").await;
    let made = insert(stores, Some(owner), credential_details("c")).await.unwrap();
    let me = caller(owner, "owner@example.com", Role::Basic);
    let replace = async |n: i32| {
        let (details, job) = (credential_details(&n.to_string()), new_job("sync", "sync"));
        let store = &stores.credentials;
        store.replace(&me, made.id, made.revision, details, at(1), job).await.unwrap()
    };
    let replaced = join_all((0..8).map(replace)).await;
    assert_eq!(replaced.iter().filter(|replaced| replaced.is_ok()).count(), 1);
    let late = |r: &&Result<_, _>| matches!(r, Err(CredentialRefusal::Superseded));
    assert_eq!(replaced.iter().filter(late).count(), 7);
}

/// Who asks: name, role, whether in the group, whether curating it.
const CALLERS: [(&str, Role, bool, bool); 8] = [
    ("owner", Role::Basic, false, false),
    ("basic", Role::Basic, true, false),
    ("limited", Role::Limited, true, false),
    ("curator", Role::Curator, true, true),
    ("member", Role::Curator, true, false),
    ("outsider", Role::Curator, false, false),
    ("global", Role::GlobalCurator, true, false),
    ("admin", Role::Admin, false, false),
];

/// For each kind of credential those of [`CALLERS`] that reach it.
async fn reachable(stores: &Stores, reach: Reach) -> Vec<(&'static str, Vec<&'static str>)> {
    let mut users = Vec::new();
    let mut members = Vec::new();
    for (name, role, is_member, curates) in CALLERS {
        let email = format!("{name}@example.com");
        let id = stores.user_with(&email, role).await;
        users.push((name, caller(id, &email, role)));
        if is_member {
            members.push((id, curates));
        }
    }
    let team = stores.group("team", &[]).await;
    assert!(stores.groups.set_members(team, &members).await.unwrap());
    let other = stores.group("other", &[]).await;
    let owner = users[0].1.user;
    let of = |name: &str| credential_details(name);
    let kinds = [
        ("bare", Some(owner), of("a")),
        ("team", Some(owner), CredentialDetails { groups: [team].into(), ..of("b") }),
        ("both", Some(owner), CredentialDetails { groups: [team, other].into(), ..of("c") }),
        ("admins", Some(owner), CredentialDetails { admin_public: true, ..of("d") }),
        ("curators", Some(owner), CredentialDetails { curator_public: true, ..of("e") }),
        ("system", None, of("f")),
        ("web", Some(owner), CredentialDetails { source: DocumentSource::Web, ..of("g") }),
    ];
    let mut table = Vec::new();
    for (kind, owner, details) in kinds {
        let id = insert(stores, owner, details).await.unwrap().id;
        let mut found = Vec::new();
        for (name, caller) in &users {
            let one = stores.credentials.find(caller, id, reach).await.unwrap();
            let all = stores.credentials.list(caller, reach, None, None, 100).await.unwrap();
            assert_eq!(one.is_some(), all.iter().any(|listed| listed.id == id), "{name} {kind}");
            if one.is_some() {
                found.push(*name);
            }
        }
        table.push((kind, found));
    }
    table
}

/// By the table of the port.
pub async fn who_may_use_a_credential_finds_it(stores: &Stores) {
    let expected: [(&str, &[&str]); 7] = [
        ("bare", &["owner"]),
        ("team", &["owner", "curator", "global"]),
        ("both", &["owner", "curator", "global"]),
        ("admins", &["owner", "admin"]),
        ("curators", &["owner", "curator", "member", "outsider", "global"]),
        ("system", &["admin"]),
        ("web", &["owner", "curator", "member", "outsider", "global", "admin"]),
    ];
    for ((kind, found), (_, names)) in reachable(stores, Reach::Visible).await.iter().zip(expected)
    {
        assert_eq!(found, names, "{kind}");
    }
}

/// By the table of the port.
pub async fn who_may_change_a_credential_finds_it(stores: &Stores) {
    let expected: [(&str, &[&str]); 7] = [
        ("bare", &["owner"]),
        ("team", &["owner", "curator", "global"]),
        ("both", &["owner"]),
        ("admins", &["owner", "admin"]),
        ("curators", &["owner"]),
        ("system", &["admin"]),
        ("web", &["owner", "curator", "member", "outsider", "global", "admin"]),
    ];
    for ((kind, found), (_, names)) in reachable(stores, Reach::Editable).await.iter().zip(expected)
    {
        assert_eq!(found, names, "{kind}");
    }
}

/// Nobody changes it, and nobody removes it.
pub async fn the_built_in_credential_does_not_change(stores: &Stores) {
    let admin = stores.user_with("admin@example.com", Role::Admin).await;
    let me = caller(admin, "admin@example.com", Role::Admin);
    let (id, store) = (Credential::BUILT_IN, &stores.credentials);
    assert!(store.find(&me, id, Reach::Visible).await.unwrap().is_some());
    assert!(store.find(&me, id, Reach::Editable).await.unwrap().is_none());
    let before = store.get(id).await.unwrap().unwrap();
    let job = new_job("sync", "sync");
    let details = credential_details("x");
    let replaced = store.replace(&me, id, before.revision, details, at(1), job).await.unwrap();
    assert_eq!(replaced, Err(CredentialRefusal::Superseded));
    assert_eq!(store.remove(id).await.unwrap(), CredentialRemoval::Missing);
    assert_eq!(store.get(id).await.unwrap(), Some(before));
}

/// In pages.
pub async fn credentials_are_listed_by_source_and_rising_id(stores: &Stores) {
    let owner = stores.user("owner@example.com").await;
    let me = caller(owner, "owner@example.com", Role::Basic);
    let a = insert(stores, Some(owner), credential_details("a")).await.unwrap().id;
    let web = CredentialDetails { source: DocumentSource::Web, ..credential_details("w") };
    let w = insert(stores, Some(owner), web).await.unwrap().id;
    let b = insert(stores, Some(owner), credential_details("b")).await.unwrap().id;
    let list = async |source, after, limit| {
        let store = &stores.credentials;
        let found = store.list(&me, Reach::Visible, source, after, limit).await.unwrap();
        found.into_iter().map(|credential| credential.id).collect::<Vec<_>>()
    };
    assert_eq!(list(None, None, 10).await, [a, w, b]);
    assert_eq!(list(None, Some(a), 1).await, [w]);
    assert_eq!(list(Some(DocumentSource::Slack), None, 10).await, [a, b]);
    assert_eq!(list(Some(DocumentSource::Jira), None, 10).await, []);
}

/// Once.
pub async fn a_credential_is_removed_with_its_groups(stores: &Stores) {
    let group = stores.group("g", &[]).await;
    let details = CredentialDetails { groups: [group].into(), ..credential_details("c") };
    let id = insert(stores, None, details).await.unwrap().id;
    assert_eq!(stores.credentials.remove(id).await.unwrap(), CredentialRemoval::Removed);
    assert_eq!(stores.credentials.remove(id).await.unwrap(), CredentialRemoval::Missing);
    assert_eq!(stores.credentials.get(id).await.unwrap(), None);
}
