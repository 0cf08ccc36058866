//! Which registry a database is, and whose index goes with it.

use futures_util::future::join_all;
use trove_store::Store;
use trove_testkit::postgres::Schema;
use uuid::Uuid;

use crate::database::{SqliteFile, open_postgres};

const ANN: Uuid = Uuid::from_u128(1);
const BOB: Uuid = Uuid::from_u128(2);

/// `again` is another process.
async fn has_one_id_for_good(store: &Store, again: &Store) {
    let ids = join_all([store, again, store, again].map(Store::registry_id)).await;
    let ids: Vec<Uuid> = ids.into_iter().map(Result::unwrap).collect();
    assert_eq!(ids, [ids[0]; 4]);
    assert_eq!(again.registry_id().await.unwrap(), ids[0]);
}

async fn has_one_index_until_it_is_released(store: &Store, again: &Store) {
    store.claim_index(ANN).await.unwrap_err();
    store.registry_id().await.unwrap();
    assert_eq!(store.claim_index(ANN).await.unwrap(), ANN);
    assert_eq!(again.claim_index(BOB).await.unwrap(), ANN);
    assert_eq!(store.claim_index(ANN).await.unwrap(), ANN);
    again.release_index().await.unwrap();
    let claims = [store.claim_index(ANN), again.claim_index(BOB)];
    let winners: Vec<Uuid> = join_all(claims).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(winners[0], winners[1]);
    assert_eq!(store.claim_index(BOB).await.unwrap(), winners[0]);
}

#[tokio::test]
async fn sqlite_has_one_id_for_good() {
    let file = SqliteFile::new();
    has_one_id_for_good(&file.open().await, &file.open().await).await;
}

#[tokio::test]
async fn sqlite_has_one_index_until_it_is_released() {
    let file = SqliteFile::new();
    has_one_index_until_it_is_released(&file.open().await, &file.open().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_has_one_id_for_good() {
    let Some(schema) = Schema::create().await else { return };
    has_one_id_for_good(&open_postgres(&schema).await, &open_postgres(&schema).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_has_one_index_until_it_is_released() {
    let Some(schema) = Schema::create().await else { return };
    let (store, again) = (open_postgres(&schema).await, open_postgres(&schema).await);
    has_one_index_until_it_is_released(&store, &again).await;
}
