//! What opening a collection makes, checks and refuses.

use std::sync::Arc;
use std::time::Duration;

use trove_domain::port::{DocumentIndex, DocumentIndexError, IdGenerator};
use trove_qdrant::{OpenError, QdrantDocumentIndex, QdrantIndexConfig};
use trove_testkit::builders::{document, query};
use trove_testkit::fakes::FakeClock;

use crate::server::{self, RandomIds, Subject};

async fn try_open(config: &QdrantIndexConfig) -> Result<QdrantDocumentIndex, OpenError> {
    let (ids, clock) = (Arc::new(RandomIds), Arc::new(FakeClock::default()));
    QdrantDocumentIndex::open(config.clone(), ids, clock).await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_written_is_there_after_opening_again() {
    let Some(config) = server::config(Some(8)) else { return };
    let first = Subject(server::open(&config).await);
    first.replace(vec![document("a").text("zebra").near(Some(8), 1.0).build()]).await.unwrap();
    let registry = RandomIds.uuid();
    assert_eq!(first.registry(), None);
    first.set_registry(registry).await.unwrap();

    let second = server::open(&config).await;
    assert_eq!((second.id(), second.registry()), (first.id(), Some(registry)));
    for alpha in [0.0, 1.0] {
        let query = query("zebra").near(Some(8), 0.0).alpha(alpha).build();
        assert_eq!(second.search(&query).await.unwrap().len(), 1, "alpha {alpha}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn vectors_of_another_length_are_refused() {
    let Some(config) = server::config(Some(8)) else { return };
    let _first = Subject(server::open(&config).await);
    let other = QdrantIndexConfig { dimensions: Some(9), ..config };
    let Err(error) = try_open(&other).await else { panic!("opened with 9 dimensions") };
    assert!(matches!(error, OpenError::Dimensions { found: 8, wanted: 9, .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn vectors_of_another_model_are_refused() {
    let Some(config) = server::config(Some(8)) else { return };
    let of = |model: &str| QdrantIndexConfig { model: Some(model.to_owned()), ..config.clone() };
    // Made while nobody said which model it was.
    let _first = Subject(server::open(&config).await);
    try_open(&of("one")).await.unwrap();
    try_open(&of("one")).await.unwrap();
    let Err(error) = try_open(&of("two")).await else { panic!("opened with another model") };
    assert!(matches!(error, OpenError::Model { .. }), "{error}");
    let said = error.to_string();
    assert!(said.contains("`one`") && said.contains("`two`"), "{said}");
    try_open(&config).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collection_gains_vectors_with_the_first_model_and_keeps_them_without_one() {
    let Some(config) = server::config(None) else { return };
    let plain = Subject(server::open(&config).await);
    plain.replace(vec![document("old").text("zebra").build()]).await.unwrap();

    let with_model = QdrantIndexConfig { dimensions: Some(8), ..config.clone() };
    let dense = server::open(&with_model).await;
    dense.replace(vec![document("new").text("lion").near(Some(8), 1.0).build()]).await.unwrap();
    let nearest = query("").near(Some(8), 0.0).alpha(1.0).build();
    let hits = dense.search(&nearest).await.unwrap();
    assert_eq!(hits.len(), 1);
    assert_eq!(hits[0].chunk.id.document.as_str(), "new");
    assert_eq!(dense.search(&query("zebra").build()).await.unwrap().len(), 1);

    // An update by a process without a model keeps the vector.
    let update = document("new").revision(2).sets(&[1]).into_update();
    plain.update_attributes(vec![update]).await.unwrap();
    let again = server::open(&with_model).await;
    let narrow = query("").near(Some(8), 0.0).alpha(1.0).sets(&[1]).build();
    assert_eq!(again.search(&narrow).await.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_processes_may_open_a_new_collection_at_once() {
    let Some(config) = server::config(Some(8)) else { return };
    let opened = futures::future::join_all((0..5).map(|_| try_open(&config))).await;
    let mut opened: Vec<_> = opened.into_iter().map(Result::unwrap).collect();
    let ids: std::collections::BTreeSet<_> = opened.iter().map(QdrantDocumentIndex::id).collect();
    assert_eq!(ids.len(), 1);
    let _last = Subject(opened.remove(0));
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unreachable() {
    // A port that was free a moment ago.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let mut config = QdrantIndexConfig::new(url.clone(), None);
    config.connect_timeout = Duration::from_millis(200);
    let Err(error) = try_open(&config).await else { panic!("opened nothing") };
    assert!(error.is_transient() && error.to_string().contains(&url), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collection_that_is_gone_is_unavailable() {
    let Some(config) = server::config(None) else { return };
    let index = server::open(&config).await;
    index.destroy().await.unwrap();
    let error = index.search(&query("zebra").build()).await.unwrap_err();
    assert!(matches!(error, DocumentIndexError::Unavailable { .. }), "{error:?}");
    let error = index.replace(vec![document("a").build()]).await.unwrap_err();
    assert!(matches!(error, DocumentIndexError::Unavailable { .. }), "{error:?}");
}
