//! Which key the secrets of a database are sealed with.

use trove_domain::llm_provider::{LlmProvider, LlmProviderDetails};
use trove_domain::port::{LlmProviderStore, NewLlmProvider, ProviderRefusal, SecretCipherError};
use trove_domain::secret::{SealedSecret, SecretKeyId};
use trove_store::{ResealError, Store};
use trove_testkit::llm_provider_store::details;
use trove_testkit::postgres::Schema;
use trove_testkit::stores::at;
use uuid::Uuid;

use crate::database::{SqliteFile, open_postgres};

fn key(name: &str) -> SecretKeyId {
    SecretKeyId::new(name).unwrap()
}

fn sealed(key_name: &str, body: &str) -> SealedSecret {
    SealedSecret::new(key(key_name), body.to_owned())
}

fn with_secrets(name: &str, key_name: &str) -> LlmProviderDetails {
    LlmProviderDetails {
        api_key: Some(sealed(key_name, "k")),
        custom_config: Some(sealed(key_name, "c")),
        ..details(name)
    }
}

async fn insert(
    store: &Store,
    row: u128,
    details: LlmProviderDetails,
) -> Result<LlmProvider, ProviderRefusal> {
    let uuid = Uuid::from_u128(row);
    let new = NewLlmProvider { uuid, details, created_at: at(0) };
    LlmProviderStore::insert(store, new).await.unwrap()
}

async fn state(store: &Store) -> (Option<String>, usize) {
    let state = store.secret_key().await.unwrap();
    (state.key.map(|key| key.to_string()), state.secrets)
}

/// `again` is another process.
async fn a_key_is_claimed_until_there_are_secrets(store: &Store, again: &Store) {
    assert_eq!(state(store).await, (None, 0));
    assert_eq!(store.claim_secret_key(&key("a")).await.unwrap(), key("a"));
    assert_eq!(again.claim_secret_key(&key("b")).await.unwrap(), key("b"));
    // Whoever has not noticed cannot write what would not open.
    assert_eq!(insert(store, 1, with_secrets("p", "a")).await, Err(ProviderRefusal::KeyChanged));
    let p = insert(store, 1, with_secrets("p", "b")).await.unwrap();
    assert_eq!(again.claim_secret_key(&key("a")).await.unwrap(), key("b"));
    assert_eq!(state(again).await, (Some("b".to_owned()), 2));
    let late = store.replace(p.id, p.revision, with_secrets("p", "a"), at(1)).await.unwrap();
    assert_eq!(late, Err(ProviderRefusal::KeyChanged));
    // Without secrets the key is of no interest.
    store.replace(p.id, p.revision, details("p"), at(1)).await.unwrap().unwrap();
    assert_eq!(again.claim_secret_key(&key("a")).await.unwrap(), key("a"));
}

async fn all_secrets_are_sealed_anew_or_none(store: &Store) {
    store.claim_secret_key(&key("a")).await.unwrap();
    for row in 1..=3 {
        insert(store, row, with_secrets(&format!("p{row}"), "a")).await.unwrap();
    }
    insert(store, 4, details("bare")).await.unwrap();
    let before = store.list().await.unwrap();

    let third = Uuid::from_u128(3);
    let failing = store
        .reseal_secrets(&key("b"), &|old, place| {
            if place.row == third && place.field == LlmProvider::CUSTOM_CONFIG {
                return Err(SecretCipherError::Damaged { place });
            }
            Ok(sealed("b", old.body()))
        })
        .await;
    assert!(matches!(failing, Err(ResealError::Cipher(_))), "{failing:?}");
    assert_eq!(store.list().await.unwrap(), before);
    assert_eq!(state(store).await, (Some("a".to_owned()), 6));

    let count = store
        .reseal_secrets(&key("b"), &|old, place| {
            assert_eq!((old.key(), place.table), (&key("a"), LlmProvider::TABLE));
            let body = format!("{}{}", place.field, place.row.as_u128());
            Ok(sealed("b", &body))
        })
        .await
        .unwrap();
    assert_eq!(count, 6);
    assert_eq!(state(store).await, (Some("b".to_owned()), 6));
    for (at, provider) in store.list().await.unwrap().into_iter().enumerate() {
        let mut expected = before[at].details.clone();
        if at < 3 {
            expected.api_key = Some(sealed("b", &format!("api_key{}", at + 1)));
            expected.custom_config = Some(sealed("b", &format!("custom_config{}", at + 1)));
        }
        assert_eq!(provider.details, expected);
    }
}

async fn discarding_leaves_providers_without_secrets(store: &Store) {
    store.claim_secret_key(&key("a")).await.unwrap();
    insert(store, 1, with_secrets("p", "a")).await.unwrap();
    assert_eq!(store.discard_secrets(&key("b")).await.unwrap(), 2);
    assert_eq!(state(store).await, (Some("b".to_owned()), 0));
    assert_eq!(store.list().await.unwrap()[0].details, details("p"));
}

/// Their secrets are found like those of providers.
async fn credentials_are_sealed_anew_and_discarded(store: &Store) {
    use trove_domain::credential::{Credential, CredentialDetails};
    use trove_domain::port::{CredentialRefusal, CredentialStore as Credentials, NewCredential};
    use trove_testkit::credential_store::credential_details;
    store.claim_secret_key(&key("a")).await.unwrap();
    let insert = async |key_name: &str| {
        let secret = Some(sealed(key_name, "c"));
        let details = CredentialDetails { secret, ..credential_details("c") };
        let uuid = Uuid::from_u128(7);
        let new = NewCredential { uuid, details, owner: None, created_at: at(0) };
        Credentials::insert(store, new).await.unwrap()
    };
    assert_eq!(insert("b").await, Err(CredentialRefusal::KeyChanged));
    let id = insert("a").await.unwrap().id;
    let secret = async || Credentials::get(store, id).await.unwrap().unwrap().details.secret;
    let count = store
        .reseal_secrets(&key("b"), &|old, place| {
            assert_eq!(place, Credential::place(Uuid::from_u128(7)));
            assert_eq!(old.body(), "c");
            Ok(sealed("b", "new"))
        })
        .await
        .unwrap();
    assert_eq!(count, 1);
    assert_eq!(secret().await, Some(sealed("b", "new")));
    assert_eq!(store.discard_secrets(&key("c")).await.unwrap(), 1);
    assert_eq!(secret().await, None);
}

#[tokio::test]
async fn sqlite_seals_credentials_anew() {
    let file = SqliteFile::new();
    credentials_are_sealed_anew_and_discarded(&file.open().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_seals_credentials_anew() {
    let Some(schema) = Schema::create().await else { return };
    credentials_are_sealed_anew_and_discarded(&open_postgres(&schema).await).await;
}

#[tokio::test]
async fn sqlite_claims_a_key_until_there_are_secrets() {
    let file = SqliteFile::new();
    a_key_is_claimed_until_there_are_secrets(&file.open().await, &file.open().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_claims_a_key_until_there_are_secrets() {
    let Some(schema) = Schema::create().await else { return };
    let (store, again) = (open_postgres(&schema).await, open_postgres(&schema).await);
    a_key_is_claimed_until_there_are_secrets(&store, &again).await;
}

#[tokio::test]
async fn sqlite_seals_all_secrets_anew_or_none() {
    let file = SqliteFile::new();
    all_secrets_are_sealed_anew_or_none(&file.open().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_seals_all_secrets_anew_or_none() {
    let Some(schema) = Schema::create().await else { return };
    all_secrets_are_sealed_anew_or_none(&open_postgres(&schema).await).await;
}

#[tokio::test]
async fn sqlite_discards_secrets() {
    let file = SqliteFile::new();
    discarding_leaves_providers_without_secrets(&file.open().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_discards_secrets() {
    let Some(schema) = Schema::create().await else { return };
    discarding_leaves_providers_without_secrets(&open_postgres(&schema).await).await;
}
