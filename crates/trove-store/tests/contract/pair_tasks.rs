//! Files of connectors that are deleted, which no port makes here.

use trove_domain::cc_pair::{AccessType, CcPairStatus};
use trove_domain::id::CcPairId;
use trove_domain::port::{FileKey, NewCcPair, RunBy, TaskEnd};
use trove_domain::source::DocumentSource;
use trove_testkit::stores::{at, new_job, new_pair};

use crate::database::{Database, Place, postgres, sqlite};

/// A pair over files that the schedule runs.
async fn over_files<D: Place>(database: &Database<D>, name: &str, config: &str) -> CcPairId {
    let new = NewCcPair {
        source: DocumentSource::File,
        config: serde_json::from_str(config).unwrap(),
        ..new_pair(name, AccessType::Public, &[])
    };
    let pair = database.pairs.get_or_insert(new).await.unwrap().id;
    assert!(database.pairs.set_schedule(pair, RunBy::Schedule, None).await.unwrap());
    pair
}

async fn stored<D: Place>(database: &Database<D>, key: &str, origin: &str) {
    let insert = format!(
        "INSERT INTO stored_file (id, display_name, origin, mime_type, size_bytes, created_at)
         SELECT '{key}', 'a.txt', '{origin}', 'text/plain', 1, created_at
         FROM connector WHERE id = 0"
    );
    database.place.execute(&insert).await;
}

/// Those of others, and those that were not uploaded for connectors, stay.
async fn files_go_with_the_last_connector_that_names_them<D: Place>(database: &Database<D>) {
    for key in ["own", "shared", "meta"] {
        stored(database, key, "connector").await;
    }
    stored(database, "chat", "chat_upload").await;
    let config = r#"{"file_locations": ["own", "shared", "chat", "unknown", "../x", 7],
        "file_names": [], "zip_metadata_file_id": "meta"}"#;
    let first = over_files(database, "first", config).await;
    let second = over_files(database, "second", r#"{"file_locations": ["shared"]}"#).await;
    let third = over_files(database, "third", r#"{"file_locations": null}"#).await;
    let files = async |pair| {
        let files = database.tasks.files_to_remove(pair).await.unwrap();
        files.into_iter().map(|key: FileKey| key.as_str().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(files(first).await, ["meta", "own"]);
    assert_eq!(files(second).await, [""; 0]);
    assert_eq!(files(third).await, [""; 0]);
    assert_eq!(files(CcPairId(4711)).await, [""; 0]);
    database.tasks.begin_deletion(first, at(1), new_job("sync", "sync")).await.unwrap().unwrap();
    let minute = std::time::Duration::from_mins(1);
    let deletion = database.tasks.claim(at(1), minute, 1).await.unwrap().remove(0);
    let gone = database.tasks.files_to_remove(first).await.unwrap();
    assert_eq!(database.tasks.finish(&deletion, &gone, at(2)).await.unwrap(), TaskEnd::Done);
    assert_eq!(database.pairs.get(first).await.unwrap(), None);
    assert_eq!(files(second).await, ["shared"], "nobody else names it any more");
    let still = over_files(database, "fourth", config).await;
    assert_eq!(files(still).await, [""; 0], "what was removed is not known any more");
    let second = database.pairs.get(second).await.unwrap().unwrap();
    assert_eq!(second.status, CcPairStatus::Scheduled);
}

mod on_sqlite {
    #[tokio::test(flavor = "multi_thread")]
    async fn files_go_with_the_last_connector_that_names_them() {
        super::files_go_with_the_last_connector_that_names_them(&super::sqlite().await.unwrap())
            .await;
    }
}

mod on_postgres {
    #[tokio::test(flavor = "multi_thread")]
    async fn files_go_with_the_last_connector_that_names_them() {
        let Some(database) = super::postgres().await else { return };
        super::files_go_with_the_last_connector_that_names_them(&database).await;
    }
}
