//! What is special about a database on a server.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use futures_util::future::join;
use trove_domain::error::StoreError;
use trove_store::{OpenError, PostgresConfig, Store};
use trove_testkit::fakes::SequentialIds;
use trove_testkit::postgres::Schema;
use trove_testkit::stores::{Stores, at};

use crate::database::open_postgres;

async fn open(url: &str) -> Result<Store, OpenError> {
    let config = PostgresConfig {
        connect_timeout: Duration::from_secs(2),
        ..PostgresConfig::new(url.into())
    };
    Store::open_postgres(config, Arc::new(SequentialIds::default())).await
}

/// An error with its causes, as a log shows it.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// A session that keeps all users to itself until it ends.
async fn hold_users(schema: &Schema) -> AsyncPgConnection {
    let mut session = AsyncPgConnection::establish(&schema.url()).await.unwrap();
    session.batch_execute("BEGIN; SELECT * FROM user_account FOR UPDATE").await.unwrap();
    session
}

#[tokio::test]
async fn no_error_shows_the_password_of_the_postgres_url() {
    for url in [
        // Nobody listens on the port of discarded data.
        "postgres://ann:hunter2@127.0.0.1:9/trove",
        "postgres://ann:hunter2@127.0.0.1:9/trove?sslmode=verify-full",
        "postgres://ann:x@hunter2@127.0.0.1:9/trove",
        "postgres://ann:x@y?hunter2=1@127.0.0.1:9/trove",
        "postgres://ann:hunter2@127.0.0.1:port/trove",
        "postgres://ann:hunter2@127.0.0.1:9/trove?sslmode=hunter2",
        "hunter2",
    ] {
        let error = open(url).await.err().unwrap();
        assert!(!chain(&error).contains("hunter2"), "{}", chain(&error));
        assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
    }
}

#[tokio::test]
async fn a_wrong_postgres_url_is_told_from_an_absent_server() {
    let error = open("mysql://localhost/trove").await.err().unwrap();
    assert!(matches!(error, OpenError::Url), "{error:?}");
    let error = open("postgres://ann@127.0.0.1:9/trove").await.err().unwrap();
    assert!(matches!(error, OpenError::Connect { .. }), "{error:?}");
    assert!(error.to_string().contains("127.0.0.1:9/trove"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_postgres_database_of_a_newer_version_is_refused() {
    let Some(schema) = Schema::create().await else { return };
    open_postgres(&schema).await.close().await;
    Schema::execute(&schema, "INSERT INTO schema_migration VALUES ('99990101000000_add_magic')")
        .await;
    let error = open(&schema.url()).await.err().unwrap();
    assert!(matches!(error, OpenError::Newer { .. }), "{error:?}");
    assert!(error.to_string().contains("99990101000000_add_magic"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_postgres_ended_is_replaced() {
    let Some(schema) = Schema::create().await else { return };
    let stores = Stores::new(Arc::new(open_postgres(&schema).await));
    let ann = stores.user("ann@example.com").await;
    let mut session = hold_users(&schema).await;
    let end = async {
        let blocked = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid))";
        while diesel::sql_query(blocked).execute(&mut session).await.unwrap() == 0 {}
    };
    let (changed, ()) = join(stores.set_active(ann, false, at(1)), end).await;
    let error = changed.unwrap_err();
    assert!(matches!(error, StoreError::Unavailable { .. }), "{error:?}");
    drop(session);
    assert!(stores.set_active(ann, false, at(2)).await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_that_takes_too_long_on_postgres_is_unavailable() {
    let Some(schema) = Schema::create().await else { return };
    let config = PostgresConfig {
        statement_timeout: Duration::from_millis(100),
        ..PostgresConfig::new(schema.url().into())
    };
    let store = Store::open_postgres(config, Arc::new(SequentialIds::default())).await.unwrap();
    let stores = Stores::new(Arc::new(store));
    let ann = stores.user("ann@example.com").await;
    let session = hold_users(&schema).await;
    let error = stores.set_active(ann, false, at(1)).await.unwrap_err();
    assert!(matches!(error, StoreError::Unavailable { .. }), "{error:?}");
    drop(session);
    assert!(stores.set_active(ann, false, at(2)).await.unwrap());
}
