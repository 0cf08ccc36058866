//! A data directory and a database that belong together, and those that do not.

use std::path::Path;

use tokio::process::Command;
use trove_testkit::postgres::Schema;

use crate::child::{Service, refused, run, trove};

fn on(schema: &Schema, arguments: &[&str], data_dir: &Path) -> Command {
    let mut command = trove(arguments);
    command.arg("--data-dir").arg(data_dir);
    command.env("TROVE__DATABASE__URL", schema.url());
    command
}

fn serve(schema: &Schema, data_dir: &Path) -> Command {
    on(schema, &["serve", "--listen", "127.0.0.1:0"], data_dir)
}

async fn stop(service: Service) {
    service.signal("TERM").await;
    assert_eq!(service.ended().await.0.code(), Some(0));
}

/// Two processes, each with half of the documents in its own index, would be the worst of answers.
#[tokio::test(flavor = "multi_thread")]
async fn postgres_has_its_documents_in_one_index() {
    let Some(schema) = Schema::create().await else { return };
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let service = Service::start_with(serve(&schema, first.path()), first.path()).await;
    let text = ["the zebra stays".to_owned()];
    assert!(service.ingest("kept", &text).await.unwrap().is_success());

    let error = refused(serve(&schema, second.path()), 1).await;
    assert!(error.contains("another data directory"), "{error}");
    assert!(error.contains("adopt-database"), "{error}");
    assert_eq!(service.search("zebra").await.len(), 1);
    let key = service.key.clone();
    stop(service).await;

    // The first directory is lost.
    let adopted = run(on(&schema, &["adopt-database"], second.path())).await;
    assert!(adopted.status.success(), "{adopted:?}");
    std::fs::write(second.path().join("admin-key"), &key).unwrap();
    let service = Service::start_with(serve(&schema, second.path()), second.path()).await;
    assert!(service.search("zebra").await.is_empty());
    assert!(service.ingest("kept", &text).await.unwrap().is_success());
    assert_eq!(service.search("zebra").await.len(), 1);
    let error = refused(serve(&schema, first.path()), 1).await;
    assert!(error.contains("another data directory"), "{error}");
    stop(service).await;

    // What the first one holds may have been removed or hidden since: it does not come back.
    let adopt = || on(&schema, &["adopt-database"], first.path());
    let error = refused(adopt(), 1).await;
    assert!(error.contains("holds 1 documents of an earlier time"), "{error}");
    let adopted = run(on(&schema, &["adopt-database"], second.path())).await;
    assert!(adopted.status.success(), "the present one stays: {adopted:?}");
    std::fs::remove_dir_all(first.path().join("index")).unwrap();
    let adopted = run(adopt()).await;
    assert!(adopted.status.success(), "{adopted:?}");
}

/// Groups of the one are not the groups of the other.
#[tokio::test(flavor = "multi_thread")]
async fn postgres_does_not_take_over_the_index_of_sqlite() {
    let Some(schema) = Schema::create().await else { return };
    let temp = tempfile::tempdir().unwrap();
    stop(Service::start(temp.path()).await).await;
    for command in [serve(&schema, temp.path()), on(&schema, &["adopt-database"], temp.path())] {
        let error = refused(command, 1).await;
        assert!(error.contains("belongs to another database"), "{error}");
        assert!(error.contains("database.url"), "{error}");
    }
    stop(Service::start(temp.path()).await).await;
}

#[tokio::test]
async fn an_index_whose_database_was_removed_is_refused_and_keeps_its_key() {
    let temp = tempfile::tempdir().unwrap();
    let service = Service::start(temp.path()).await;
    let key = service.key.clone();
    stop(service).await;
    for file in ["trove.db", "trove.db-wal", "trove.db-shm"] {
        let _ = std::fs::remove_file(temp.path().join(file));
    }
    let mut again = trove(&["serve", "--listen", "127.0.0.1:0", "--data-dir"]);
    again.arg(temp.path());
    let error = refused(again, 1).await;
    assert!(error.contains("database.url") && error.contains("admin-key"), "{error}");
    let kept = std::fs::read_to_string(temp.path().join("admin-key")).unwrap();
    assert_eq!(kept.trim(), key);
}

#[tokio::test]
async fn a_damaged_identity_is_named() {
    let temp = tempfile::tempdir().unwrap();
    stop(Service::start(temp.path()).await).await;
    std::fs::write(temp.path().join("identity.json"), "{").unwrap();
    let mut again = trove(&["serve", "--listen", "127.0.0.1:0", "--data-dir"]);
    again.arg(temp.path());
    let error = refused(again, 1).await;
    assert!(error.contains("identity.json is damaged"), "{error}");
}
