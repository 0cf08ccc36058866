//! What every [`ConnectorStore`](trove_domain::port::ConnectorStore) does.

use futures::future::join_all;
use serde_json::{Map, Value, json};
use trove_domain::cc_pair::AccessType;
use trove_domain::connector::{Connector, ConnectorDetails, InputType};
use trove_domain::id::{ConnectorId, CredentialId};
use trove_domain::port::{ConnectorRefusal, ConnectorRemoval, NewConnector};
use trove_domain::source::DocumentSource;

use crate::stores::{Stores, at};

/// Turns the suite into one test for each obligation. `$start` is a future of an `Option` of
/// something that dereferences to [`Stores`].
#[macro_export]
macro_rules! connector_store_contract {
    ($start:expr) => {
        $crate::contract_suite!(
            connector_store,
            $start,
            [
                the_connector_of_posted_documents_is_always_there,
                a_connector_is_stored_as_given,
                a_taken_name_is_refused_within_a_source,
                of_concurrent_connectors_with_one_name_one_is_made,
                a_connector_is_replaced_whole,
                only_what_was_read_is_replaced,
                a_replacement_takes_no_other_name,
                connectors_are_listed_by_rising_id,
                connectors_of_a_credential_are_listed,
                a_built_in_connector_is_neither_changed_nor_removed,
                a_connector_is_removed,
            ]
        );
    };
}

fn object(value: Value) -> Map<String, Value> {
    let Value::Object(map) = value else { panic!("an object") };
    map
}

/// What is decided about a web connector.
#[must_use]
pub fn connector_details(name: &str) -> ConnectorDetails {
    ConnectorDetails {
        name: name.to_owned(),
        source: DocumentSource::Web,
        input_type: InputType::LoadState,
        config: object(json!({"base_url": "https://example.com", "n": [1, null, "\u{0}ü"]})),
        refresh_freq_s: Some(1800),
        prune_freq_s: None,
    }
}

async fn insert(stores: &Stores, details: ConnectorDetails) -> Result<Connector, ConnectorRefusal> {
    let new = NewConnector { details, indexing_start: Some(at(-5)), created_at: at(1) };
    stores.connectors.insert(new).await.unwrap()
}

async fn made(stores: &Stores, name: &str) -> Connector {
    insert(stores, connector_details(name)).await.unwrap()
}

/// Nobody has to make it.
pub async fn the_connector_of_posted_documents_is_always_there(stores: &Stores) {
    let connector = stores.connectors.get(ConnectorId(0)).await.unwrap().unwrap();
    assert_eq!(connector.details.source, DocumentSource::IngestionApi);
    assert_eq!(connector.details.name, "Ingestion API");
    assert_eq!(connector.credentials, [CredentialId(0)].into());
    assert!(connector.built_in);
}

/// Whatever is in the configuration.
pub async fn a_connector_is_stored_as_given(stores: &Stores) {
    let details = connector_details("c");
    let connector = insert(stores, details.clone()).await.unwrap();
    assert_eq!(connector.details, details);
    assert_eq!(connector.indexing_start, Some(at(-5)));
    assert_eq!((connector.created_at, connector.updated_at), (at(1), at(1)));
    assert!(connector.credentials.is_empty() && !connector.built_in);
    assert_eq!(stores.connectors.get(connector.id).await.unwrap(), Some(connector));
    assert_eq!(stores.connectors.get(ConnectorId(4711)).await.unwrap(), None);
}

/// Another source has names of its own.
pub async fn a_taken_name_is_refused_within_a_source(stores: &Stores) {
    made(stores, "c").await;
    assert_eq!(insert(stores, connector_details("c")).await, Err(ConnectorRefusal::NameTaken));
    made(stores, "C").await;
    let slack = ConnectorDetails { source: DocumentSource::Slack, ..connector_details("c") };
    assert!(insert(stores, slack).await.is_ok());
}

/// The others are told.
pub async fn of_concurrent_connectors_with_one_name_one_is_made(stores: &Stores) {
    let made = join_all((0..8).map(|_| insert(stores, connector_details("c")))).await;
    assert_eq!(made.iter().filter(|made| made.is_ok()).count(), 1);
    let refused = |made: &&Result<_, _>| matches!(made, Err(ConnectorRefusal::NameTaken));
    assert_eq!(made.iter().filter(refused).count(), 7);
}

/// But for when it begins and when it was made.
pub async fn a_connector_is_replaced_whole(stores: &Stores) {
    let before = made(stores, "c").await;
    let details = ConnectorDetails {
        name: "d".to_owned(),
        source: DocumentSource::Slack,
        input_type: InputType::Poll,
        config: Map::new(),
        refresh_freq_s: None,
        prune_freq_s: Some(7),
    };
    let store = &stores.connectors;
    let after = store.replace(before.id, &before.details, details.clone(), at(9)).await.unwrap();
    let expected = Connector { details, updated_at: at(9), ..before };
    assert_eq!(after, Ok(expected.clone()));
    assert_eq!(store.get(expected.id).await.unwrap(), Some(expected));
}

/// Of several at the same time one is made.
pub async fn only_what_was_read_is_replaced(stores: &Stores) {
    let before = made(stores, "c").await;
    let replace = async |n: i32| {
        let details = ConnectorDetails { prune_freq_s: Some(n), ..before.details.clone() };
        stores.connectors.replace(before.id, &before.details, details, at(9)).await.unwrap()
    };
    let replaced = join_all((0..8).map(replace)).await;
    assert_eq!(replaced.iter().filter(|replaced| replaced.is_ok()).count(), 1);
    let late = |replaced: &&Result<_, _>| matches!(replaced, Err(ConnectorRefusal::Superseded));
    assert_eq!(replaced.iter().filter(late).count(), 7);
    let details = connector_details("x");
    let missing = stores.connectors.replace(ConnectorId(4711), &details, details.clone(), at(9));
    assert_eq!(missing.await.unwrap(), Err(ConnectorRefusal::Missing));
}

/// Its own it keeps.
pub async fn a_replacement_takes_no_other_name(stores: &Stores) {
    made(stores, "other").await;
    let before = made(stores, "c").await;
    let replace = async |details: ConnectorDetails| {
        stores.connectors.replace(before.id, &before.details, details, at(9)).await.unwrap()
    };
    let taken = replace(connector_details("other")).await;
    assert_eq!(taken, Err(ConnectorRefusal::NameTaken));
    assert!(replace(before.details.clone()).await.is_ok());
}

/// In pages.
pub async fn connectors_are_listed_by_rising_id(stores: &Stores) {
    let a = made(stores, "a").await;
    let b = made(stores, "b").await;
    let list = async |after, limit| {
        let found = stores.connectors.list(None, after, limit).await.unwrap();
        found.into_iter().map(|connector| connector.id).collect::<Vec<_>>()
    };
    assert_eq!(list(None, 10).await, [ConnectorId(0), a.id, b.id]);
    assert_eq!(list(Some(ConnectorId(0)), 1).await, [a.id]);
    assert_eq!(list(Some(b.id), 10).await, []);
}

/// What is read with it.
pub async fn connectors_of_a_credential_are_listed(stores: &Stores) {
    made(stores, "a").await;
    stores.pair("p", AccessType::Public, &[]).await;
    let list = async |credential| {
        let found = stores.connectors.list(Some(credential), None, 10).await.unwrap();
        found.into_iter().map(|connector| connector.details.name).collect::<Vec<_>>()
    };
    assert_eq!(list(CredentialId(0)).await, ["Ingestion API", "p"]);
    assert!(list(CredentialId(4711)).await.is_empty());
}

/// What is posted, or read by a command.
pub async fn a_built_in_connector_is_neither_changed_nor_removed(stores: &Stores) {
    let pair = stores.pair("p", AccessType::Public, &[]).await;
    let pair = stores.pairs.get(pair).await.unwrap().unwrap();
    for id in [ConnectorId(0), pair.connector] {
        let before = stores.connectors.get(id).await.unwrap().unwrap();
        assert!(before.built_in);
        let details = connector_details("x");
        let replaced = stores.connectors.replace(id, &before.details, details, at(9)).await;
        assert_eq!(replaced.unwrap(), Err(ConnectorRefusal::BuiltIn));
        assert_eq!(stores.connectors.remove(id).await.unwrap(), ConnectorRemoval::BuiltIn);
        assert_eq!(stores.connectors.get(id).await.unwrap(), Some(before));
    }
}

/// Once.
pub async fn a_connector_is_removed(stores: &Stores) {
    let id = made(stores, "c").await.id;
    assert_eq!(stores.connectors.remove(id).await.unwrap(), ConnectorRemoval::Removed);
    assert_eq!(stores.connectors.remove(id).await.unwrap(), ConnectorRemoval::Missing);
    assert_eq!(stores.connectors.get(id).await.unwrap(), None);
    // Its id is not given again.
    assert!(made(stores, "c").await.id > id);
}
