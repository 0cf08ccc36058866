//! Pairs that a schedule runs.

use futures::future::join_all;
use trove_domain::access::Role;
use trove_domain::cc_pair::{AccessType, CcPair, CcPairStatus};
use trove_domain::id::{CcPairId, ConnectorId, CredentialId, GroupId, UserId};
use trove_domain::port::{ConnectorRemoval, CredentialRemoval, NewConnector, NewCredential};
use trove_domain::port::{NewScheduledPair, PairRefusal};
use uuid::Uuid;

use crate::connector_store::connector_details;
use crate::credential_store::credential_details;
use crate::stores::{Stores, at, caller, new_job};

async fn connector(stores: &Stores, name: &str) -> ConnectorId {
    let details = connector_details(name);
    let new = NewConnector { details, indexing_start: None, created_at: at(0) };
    stores.connectors.insert(new).await.unwrap().unwrap().id
}

async fn credential(stores: &Stores, owner: Option<UserId>) -> CredentialId {
    let uuid = Uuid::from_u64_pair(0x0193_0000_0000_7000, stores.next());
    let details = credential_details("c");
    let new = NewCredential { uuid, details, owner, created_at: at(0) };
    stores.credentials.insert(new).await.unwrap().unwrap().id
}

fn new_scheduled(name: &str, connector: ConnectorId, credential: CredentialId) -> NewScheduledPair {
    NewScheduledPair {
        name: name.to_owned(),
        connector,
        credential,
        access_type: AccessType::Private,
        groups: [].into(),
        auto_sync_options: Some(serde_json::json!({"customer_id": "c"})),
        creator: None,
        created_at: at(2),
    }
}

async fn made(stores: &Stores, name: &str) -> CcPair {
    let (connector, credential) = (connector(stores, name).await, credential(stores, None).await);
    stores.pairs.associate(new_scheduled(name, connector, credential)).await.unwrap().unwrap()
}

async fn status(stores: &Stores, id: CcPairId) -> CcPairStatus {
    stores.pairs.get(id).await.unwrap().unwrap().status
}

/// It waits for its first run.
pub async fn a_scheduled_pair_is_made_as_given(stores: &Stores) {
    let owner = stores.user("owner@example.com").await;
    let group = stores.group("g", &[]).await;
    let (connector, credential) = (connector(stores, "c").await, credential(stores, None).await);
    let new = NewScheduledPair {
        groups: [group].into(),
        creator: Some(owner),
        ..new_scheduled("p", connector, credential)
    };
    let pair = stores.pairs.associate(new.clone()).await.unwrap().unwrap();
    let expected = CcPair {
        id: pair.id,
        name: "p".to_owned(),
        connector,
        credential,
        source: connector_details("c").source,
        access_type: AccessType::Private,
        groups: [group].into(),
        status: CcPairStatus::Scheduled,
        creator: Some(owner),
        created_at: at(2),
    };
    assert_eq!(pair, expected);
    assert_eq!(stores.pairs.get(pair.id).await.unwrap(), Some(pair.clone()));
    assert_eq!(stores.pairs.get_by_parts(connector, credential).await.unwrap(), Some(pair));
    let found = stores.connectors.get(connector).await.unwrap().unwrap();
    assert_eq!(found.credentials, [credential].into());
    assert!(!found.built_in);
}

/// Names, connectors, credentials and groups.
pub async fn what_does_not_fit_is_not_associated(stores: &Stores) {
    let present = made(stores, "p").await;
    let other = connector(stores, "other").await;
    let associate = async |new: NewScheduledPair| stores.pairs.associate(new).await.unwrap();
    let (connector, credential) = (present.connector, present.credential);
    let again = associate(new_scheduled("q", connector, credential)).await;
    assert_eq!(again, Err(PairRefusal::Exists));
    let same_name = associate(new_scheduled("p", other, credential)).await;
    assert_eq!(same_name, Err(PairRefusal::NameTaken));
    let unknown = associate(new_scheduled("q", ConnectorId(4711), credential)).await;
    assert_eq!(unknown, Err(PairRefusal::Missing));
    let unknown = associate(new_scheduled("q", other, CredentialId(4711))).await;
    assert_eq!(unknown, Err(PairRefusal::Missing));
    let nowhere = [GroupId(4711)].into();
    let new = NewScheduledPair { groups: nowhere, ..new_scheduled("q", other, credential) };
    assert_eq!(associate(new).await, Err(PairRefusal::NoSuchGroup));
    assert_eq!(stores.pairs.list(None, 10).await.unwrap(), [present]);
}

/// The others are told.
pub async fn of_concurrent_associations_with_one_name_one_is_made(stores: &Stores) {
    let credential = credential(stores, None).await;
    let mut connectors = Vec::new();
    for n in 0..6 {
        connectors.push(connector(stores, &n.to_string()).await);
    }
    let associate = |connector| stores.pairs.associate(new_scheduled("p", connector, credential));
    let made = join_all(connectors.into_iter().map(associate)).await;
    let made: Vec<_> = made.into_iter().map(Result::unwrap).collect();
    assert_eq!(made.iter().filter(|made| made.is_ok()).count(), 1);
    let taken = |made: &&Result<_, _>| matches!(made, Err(PairRefusal::NameTaken));
    assert_eq!(made.iter().filter(taken).count(), 5);
}

/// What only the pair holds is removed; the connector stays.
pub async fn a_pair_is_taken_apart_with_its_documents(stores: &Stores) {
    let pair = made(stores, "p").await;
    let other = stores.pair("other", AccessType::Public, &[]).await;
    stores.index(pair.id, &["alone", "shared"]).await;
    stores.index(other, &["shared"]).await;
    let (connector, credential) = (pair.connector, pair.credential);
    let held = stores.connectors.remove(connector).await.unwrap();
    assert_eq!(held, ConnectorRemoval::HasDocuments);
    let in_use = CredentialRemoval::InUse { pairs: 1, documents: 2 };
    assert_eq!(stores.credentials.remove(credential).await.unwrap(), in_use);
    let apart = async || {
        let job = new_job("sync", "sync");
        stores.pairs.dissociate(connector, credential, at(9), job).await.unwrap()
    };
    assert_eq!(apart().await, Ok(pair.id));
    assert_eq!(apart().await, Err(PairRefusal::Missing));
    assert_eq!(stores.dirty().await, ["alone", "shared"]);
    stores.finish_removal(&["alone", "shared"]).await;
    assert_eq!(stores.pairs.get(pair.id).await.unwrap(), None);
    assert!(stores.connectors.get(connector).await.unwrap().is_some());
    assert!(stores.claim("sync", at(9)).await.is_some());
    assert_eq!(stores.credentials.remove(credential).await.unwrap(), CredentialRemoval::Removed);
    assert_eq!(stores.connectors.remove(connector).await.unwrap(), ConnectorRemoval::Removed);
    // What no schedule runs is not taken apart.
    let other = stores.pairs.get(other).await.unwrap().unwrap();
    let job = new_job("sync", "sync");
    let refused = stores.pairs.dissociate(other.connector, other.credential, at(9), job).await;
    assert_eq!(refused.unwrap(), Err(PairRefusal::Missing));
}

/// By id, and in lists.
pub async fn who_sees_a_pair_sees_whether_it_can_be_changed(stores: &Stores) {
    let mut people = Vec::new();
    for (name, role) in [
        ("admin", Role::Admin),
        ("creator", Role::Curator),
        ("curator", Role::Curator),
        ("member", Role::Curator),
        ("global", Role::GlobalCurator),
        ("basic", Role::Basic),
    ] {
        let email = format!("{name}@example.com");
        people.push((name, caller(stores.user_with(&email, role).await, &email, role)));
    }
    let id = |name: &str| people.iter().find(|(other, _)| *other == name).unwrap().1.user;
    let team = stores.group("team", &[]).await;
    let members = [(id("curator"), true), (id("member"), false), (id("global"), false)];
    assert!(stores.groups.set_members(team, &members).await.unwrap());
    let other = stores.group("other", &[]).await;
    let pair = async |name: &str, access_type, groups: &[GroupId], creator: Option<UserId>| {
        let (connector, credential) =
            (connector(stores, name).await, credential(stores, None).await);
        let groups = groups.iter().copied().collect();
        let new = new_scheduled(name, connector, credential);
        let new = NewScheduledPair { access_type, groups, creator, ..new };
        stores.pairs.associate(new).await.unwrap().unwrap().id
    };
    let creator = Some(id("creator"));
    let rows = [
        (pair("bare", AccessType::Private, &[], creator).await, "admin+ creator+"),
        (pair("team", AccessType::Private, &[team], None).await, "admin+ curator+ member global+"),
        (
            pair("both", AccessType::Private, &[team, other], None).await,
            "admin+ curator member global",
        ),
        (
            pair("public", AccessType::Public, &[], creator).await,
            "admin+ creator+ curator member global basic",
        ),
        (
            pair("sync", AccessType::Sync, &[team], None).await,
            "admin+ creator curator+ member global+ basic",
        ),
    ];
    for (pair, expected) in rows {
        let mut seen = Vec::new();
        for (name, caller) in &people {
            let one = stores.pairs.find_seen(caller, pair).await.unwrap();
            let all = stores.pairs.list_seen(caller, None, 100).await.unwrap();
            assert_eq!(one.as_ref(), all.iter().find(|seen| seen.pair.id == pair), "{name}");
            if let Some(one) = one {
                assert!(one.scheduled);
                seen.push(format!("{name}{}", if one.editable { "+" } else { "" }));
                let connector = one.pair.connector;
                let own = stores.pairs.count_of_connector(connector, Some(caller)).await.unwrap();
                assert_eq!(own == 1, one.editable, "{name}");
                assert_eq!(stores.pairs.count_of_connector(connector, None).await.unwrap(), 1);
            }
        }
        assert_eq!(seen.join(" "), expected);
    }
    let admin = &people[0].1;
    let id = rows_public(stores).await;
    stores.register(id, &["registered"]).await;
    stores.index(id, &["a", "b"]).await;
    let seen = stores.pairs.find_seen(admin, id).await.unwrap().unwrap();
    assert_eq!(seen.documents, 2);
    let public = stores.pairs.find_seen(admin, rows_public(stores).await).await.unwrap().unwrap();
    assert_eq!(public.creator_email.as_deref(), Some("creator@example.com"));
}

async fn rows_public(stores: &Stores) -> CcPairId {
    let pairs = stores.pairs.list(None, 100).await.unwrap();
    pairs.into_iter().find(|pair| pair.name == "public").unwrap().id
}

/// And keeps everything else.
pub async fn a_scheduled_pair_is_renamed(stores: &Stores) {
    let (p, q) = (made(stores, "p").await, made(stores, "q").await);
    let rename = async |id, name| stores.pairs.rename(id, name).await.unwrap();
    assert_eq!(rename(p.id, "q").await, Err(PairRefusal::NameTaken));
    assert_eq!(rename(p.id, "p").await, Ok(()));
    assert_eq!(rename(p.id, "new").await, Ok(()));
    let renamed = CcPair { name: "new".to_owned(), ..p };
    assert_eq!(stores.pairs.get(renamed.id).await.unwrap(), Some(renamed));
    assert_eq!(stores.pairs.get(q.id).await.unwrap(), Some(q));
    assert_eq!(rename(CcPairId(4711), "x").await, Err(PairRefusal::Missing));
    assert_eq!(rename(CcPair::DEFAULT, "x").await, Err(PairRefusal::NotScheduled));
}

/// As often as one likes.
pub async fn a_scheduled_pair_is_paused_and_goes_on(stores: &Stores) {
    let id = made(stores, "p").await.id;
    let pause = async |id, paused| stores.pairs.set_paused(id, paused, at(3)).await.unwrap();
    for (paused, expected) in
        [(true, CcPairStatus::Paused), (true, CcPairStatus::Paused), (false, CcPairStatus::Active)]
    {
        assert_eq!(pause(id, paused).await, Ok(()));
        assert_eq!(status(stores, id).await, expected);
    }
    assert_eq!(pause(CcPairId(4711), true).await, Err(PairRefusal::Missing));
    assert_eq!(pause(CcPair::DEFAULT, true).await, Err(PairRefusal::NotScheduled));
    assert_eq!(status(stores, CcPair::DEFAULT).await, CcPairStatus::Active);
}

/// With its documents, which other people read then.
pub async fn a_pair_gets_another_credential(stores: &Stores) {
    let pair = made(stores, "p").await;
    stores.index(pair.id, &["a"]).await;
    assert!(stores.dirty().await.is_empty());
    let new = credential(stores, None).await;
    let swap = async |connector, credential| {
        let job = new_job("sync", "sync");
        stores.pairs.swap_credential(connector, credential, at(9), job).await.unwrap()
    };
    let unknown = swap(pair.connector, CredentialId(4711)).await;
    assert_eq!(unknown, Err(PairRefusal::Missing));
    assert_eq!(swap(ConnectorId(4711), new).await, Err(PairRefusal::Missing));
    assert_eq!(swap(ConnectorId(0), new).await, Err(PairRefusal::NotScheduled));
    assert!(stores.dirty().await.is_empty());
    assert_eq!(swap(pair.connector, new).await, Ok(pair.id));
    let swapped = CcPair { credential: new, ..pair.clone() };
    assert_eq!(stores.pairs.get(pair.id).await.unwrap(), Some(swapped));
    assert_eq!(stores.dirty().await, ["a"]);
    assert!(stores.claim("sync", at(9)).await.is_some());
    // With a second one there is no telling which.
    let second = new_scheduled("second", pair.connector, pair.credential);
    stores.pairs.associate(second).await.unwrap().unwrap();
    let third = credential(stores, None).await;
    assert_eq!(swap(pair.connector, third).await, Err(PairRefusal::Several));
}
