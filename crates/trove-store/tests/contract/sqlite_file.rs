//! What is special about a database in a file.

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use diesel::connection::SimpleConnection;
use futures_util::future::join;
use trove_domain::access::Role;
use trove_domain::cc_pair::CcPair;
use trove_domain::error::StoreError;
use trove_domain::port::{DocumentStore, UserStore};
use trove_store::{OpenError, SqliteConfig, Store};
use trove_testkit::fakes::SequentialIds;
use trove_testkit::stores::{Stores, at, new_key, registration};

use crate::database::SqliteFile;

async fn open(config: SqliteConfig) -> Result<Store, OpenError> {
    Store::open_sqlite(config, Arc::new(SequentialIds::default())).await
}

fn impatient(file: &SqliteFile) -> SqliteConfig {
    SqliteConfig { busy_timeout: Duration::from_millis(1), ..SqliteConfig::new(file.path()) }
}

#[tokio::test]
async fn nobody_but_the_owner_reads_the_files() {
    let file = SqliteFile::new();
    let stores = Stores::new(Arc::new(file.open().await));
    stores.user("ann@example.com").await;
    let mut files = 0;
    for entry in file.path().parent().unwrap().read_dir().unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", entry.path().display());
        files += 1;
    }
    assert!(files >= 2, "the write-ahead log is a file of its own");
}

#[tokio::test]
async fn what_was_acknowledged_is_there_after_opening_again() {
    let file = SqliteFile::new();
    let first = file.open().await;
    let ann = Stores::new(Arc::new(first.clone())).user("ann@example.com").await;
    // Not closed, as in a crash.
    let second = file.open().await;
    assert!(second.get_by_email("ann@example.com").await.unwrap().is_some());
    first.close().await;
    second.close().await;
    let log = file.path().with_extension("db-wal");
    assert!(std::fs::metadata(log).map_or(true, |log| log.len() == 0));
    assert!(UserStore::get(&file.open().await, ann).await.unwrap().is_some());
}

#[tokio::test]
async fn another_file_is_no_database() {
    let file = SqliteFile::new();
    std::fs::write(file.path(), "a letter of more than one hundred bytes. ".repeat(10)).unwrap();
    let error = open(SqliteConfig::new(file.path())).await.err().unwrap();
    assert!(matches!(error, OpenError::NotADatabase { .. }), "{error:?}");
    let kept = std::fs::read(file.path()).unwrap();
    assert!(kept.starts_with(b"a letter"));
}

#[tokio::test]
async fn a_place_that_cannot_be_written_is_refused() {
    let file = SqliteFile::new();
    let parent = file.path().parent().unwrap().to_owned();
    for path in [parent.clone(), parent.join("missing").join("trove.db")] {
        let error = open(SqliteConfig::new(&path)).await.err().unwrap();
        assert!(matches!(error, OpenError::File { .. }), "{error:?}");
        assert!(error.to_string().contains(path.to_str().unwrap()));
    }
}

#[tokio::test]
async fn a_database_that_another_process_holds_is_refused() {
    let file = SqliteFile::new();
    let mut other = file.connect();
    other.batch_execute("CREATE TABLE other (id integer); BEGIN EXCLUSIVE").unwrap();
    let error = open(impatient(&file)).await.err().unwrap();
    assert!(matches!(error, OpenError::Locked { .. }), "{error:?}");
    other.batch_execute("ROLLBACK").unwrap();
    open(impatient(&file)).await.unwrap();
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_refused_and_left_alone() {
    let file = SqliteFile::new();
    file.open().await.close().await;
    file.connect()
        .batch_execute("INSERT INTO schema_migration VALUES ('99990101000000_add_magic')")
        .unwrap();
    let before = std::fs::read(file.path()).unwrap();
    let error = open(SqliteConfig::new(file.path())).await.err().unwrap();
    assert!(matches!(error, OpenError::Newer { .. }), "{error:?}");
    assert!(error.to_string().contains("99990101000000_add_magic"));
    assert_eq!(std::fs::read(file.path()).unwrap(), before);
}

#[tokio::test]
async fn readers_do_not_wait_for_a_writer_of_another_process() {
    let file = SqliteFile::new();
    let store = open(impatient(&file)).await.unwrap();
    let stores = Stores::new(Arc::new(store.clone()));
    let ann = stores.user("ann@example.com").await;
    let mut other = file.connect();
    other.batch_execute("BEGIN IMMEDIATE; UPDATE user_account SET active = false").unwrap();
    assert!(stores.users.get(ann).await.unwrap().unwrap().active);
    store.ping().await.unwrap();
    let error = stores.set_active(ann, true, at(1)).await.unwrap_err();
    assert!(matches!(error, StoreError::Unavailable { .. }), "{error:?}");
    other.batch_execute("COMMIT").unwrap();
    assert!(!stores.users.get(ann).await.unwrap().unwrap().active);
    assert!(stores.set_active(ann, true, at(2)).await.unwrap());
}

#[tokio::test]
async fn of_first_admins_in_two_processes_one_wins() {
    for _ in 0..10 {
        let file = SqliteFile::new();
        let (first, second) = (file.open().await, file.open().await);
        let stores = Stores::new(Arc::new(first.clone()));
        let ann = stores.new_user("ann@example.com", Role::Admin);
        let bob = stores.new_user("bob@example.com", Role::Admin);
        let keys = [new_key(ann.id, 1), new_key(bob.id, 2)];
        let [ann_key, bob_key] = keys;
        let (first, second) =
            join(first.insert_first_admin(ann, ann_key), second.insert_first_admin(bob, bob_key))
                .await;
        assert!(first.unwrap() ^ second.unwrap());
    }
}

/// Wherever a write is when its caller goes away, the next one finds a working store and all or
/// nothing of it.
#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_write_is_whole_or_not_there() {
    let file = SqliteFile::new();
    let store = file.open().await;
    let stores = Stores::new(Arc::new(store.clone()));
    let documents: Vec<_> = (0..1200).map(|n| registration(&format!("d{n:04}"))).collect();
    let ids: Vec<_> = documents.iter().map(|document| document.id.clone()).collect();
    for polls in 1..12 {
        let mut write = store.register(CcPair::DEFAULT, &documents, at(0));
        for _ in 0..polls {
            let mut context = Context::from_waker(Waker::noop());
            if write.as_mut().poll(&mut context).is_ready() {
                break;
            }
            // What the poll began goes on on a thread of its own in the meantime.
            store.ping().await.unwrap();
        }
        drop(write);
        // What is left of it ends by itself, and another write waits for that.
        stores.user(&format!("after-{polls}@example.com")).await;
        let records = DocumentStore::get(&store, &ids).await.unwrap();
        let revisions: Vec<_> =
            records.iter().map(|record| record.as_ref().map(|record| record.revision)).collect();
        assert!(revisions.iter().all(|revision| revision == &revisions[0]), "{polls} polls");
        assert!(store.register(CcPair::DEFAULT, &documents, at(1)).await.unwrap().is_some());
    }
}

/// A client that hangs up ends its request on a worker's runtime, which has one thread.
#[tokio::test]
async fn a_call_may_be_dropped_on_a_runtime_of_one_thread() {
    let file = SqliteFile::new();
    let store = file.open().await;
    let stores = Stores::new(Arc::new(store.clone()));
    let ann = stores.user("ann@example.com").await;
    // Keeps the call from ending before it is dropped.
    let mut other = file.connect();
    other.batch_execute("BEGIN IMMEDIATE").unwrap();
    let mut write = UserStore::deactivate(&store, ann, at(1));
    assert!(write.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    drop(write);
    assert!(stores.users.get(ann).await.unwrap().unwrap().active);
    other.batch_execute("COMMIT").unwrap();
    assert!(stores.set_active(ann, false, at(2)).await.unwrap());
}
