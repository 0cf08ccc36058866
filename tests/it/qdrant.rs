//! The whole service with its document index on a Qdrant server, and without the server.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use reqwest::StatusCode;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use trove_domain::port::IdGenerator;
use trove_engine::{SystemClock, SystemIds};
use trove_qdrant::{QdrantDocumentIndex, QdrantIndexConfig};
use trove_testkit::postgres::Schema;
use trove_testkit::services;

use crate::child::{Service, refused, run, trove};

/// A collection that goes with the value.
struct Collection {
    server: String,
    name: String,
}

impl Collection {
    fn new() -> Option<Self> {
        let server = services::qdrant_url()?;
        Some(Self { server, name: format!("test_{}", SystemIds.uuid().simple()) })
    }

    /// `serve` on this collection, reached by `url`.
    fn serve(&self, url: &str, data_dir: &Path) -> Command {
        self.command(&["serve", "--listen", "127.0.0.1:0"], url, data_dir)
    }

    fn command(&self, arguments: &[&str], url: &str, data_dir: &Path) -> Command {
        let mut command = on(url, arguments, data_dir);
        command.env("TROVE__QDRANT__COLLECTION", &self.name);
        command
    }

    async fn destroy(&self) {
        let mut config = QdrantIndexConfig::new(self.server.clone(), None);
        config.api_key = services::qdrant_api_key();
        config.collection.clone_from(&self.name);
        let index =
            QdrantDocumentIndex::open(config, Arc::new(SystemIds), Arc::new(SystemClock)).await;
        index.unwrap().destroy().await.unwrap();
    }
}

impl Drop for Collection {
    fn drop(&mut self) {
        tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(self.destroy());
        });
    }
}

fn on(url: &str, arguments: &[&str], data_dir: &Path) -> Command {
    let mut command = trove(arguments);
    command.arg("--data-dir").arg(data_dir);
    command.env("TROVE_QDRANT_URL", url);
    if let Some(key) = services::qdrant_api_key() {
        command.env("TROVE_QDRANT_API_KEY", key.expose_secret());
    }
    command
}

async fn stop(service: Service) {
    service.signal("TERM").await;
    assert_eq!(service.ended().await.0.code(), Some(0));
}

/// An address that nobody listens on.
async fn closed() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap()
}

/// Passes connections to a server on, until it is told to stop.
struct Proxy {
    address: SocketAddr,
    scheme: String,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Proxy {
    async fn start(address: SocketAddr, server: &str) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (scheme, server) = server.split_once("://").unwrap();
        let (scheme, server) = (scheme.to_owned(), server.trim_end_matches('/').to_owned());
        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
        let (stopped, connections) = (stop.clone(), tasks.clone());
        tasks.spawn(async move {
            while let Some(Ok((mut client, _))) =
                stopped.run_until_cancelled(listener.accept()).await
            {
                let (server, stopped) = (server.clone(), stopped.clone());
                connections.spawn(async move {
                    let Ok(mut upstream) = TcpStream::connect(server).await else { return };
                    let pass = tokio::io::copy_bidirectional(&mut client, &mut upstream);
                    let _ended = stopped.run_until_cancelled(pass).await;
                });
            }
        });
        Self { address, scheme, stop, tasks }
    }

    fn url(&self) -> String {
        format!("{}://{}", self.scheme, self.address)
    }

    /// Ends all connections and accepts no more.
    async fn end(self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

/// Nothing is made, and the operator reads what to check.
#[tokio::test]
async fn a_qdrant_that_is_away_at_the_start_is_an_error_with_a_remedy() {
    let temp = tempfile::tempdir().unwrap();
    let url = format!("http://{}", closed().await);
    let mut command = on(&url, &["serve", "--listen", "127.0.0.1:0"], temp.path());
    command.env("TROVE_QDRANT_API_KEY", "hunter2");
    let error = refused(command, 1).await;
    assert!(error.contains(&format!("Qdrant at {url} does not answer")), "{error}");
    assert!(error.contains("6334"), "{error}");
    assert!(!error.contains("hunter2"), "{error}");
    assert!(!temp.path().join("index").exists());
}

/// Wrong settings are named without their value, right keys are never shown.
#[tokio::test]
async fn qdrant_settings_are_checked_and_the_key_is_never_shown() {
    let temp = tempfile::tempdir().unwrap();
    for (name, value, setting) in [
        ("TROVE_QDRANT_URL", "http://:hunter2@localhost:6334", "`qdrant.url`"),
        ("TROVE_QDRANT_URL", "localhost:6334", "`qdrant.url`"),
        ("TROVE_QDRANT_API_KEY", "hunter2 hunter2", "`qdrant.api_key`"),
        ("TROVE__QDRANT__COLLECTION", "../x", "`qdrant.collection`"),
    ] {
        let mut command = on("http://localhost:6334", &["check-config"], temp.path());
        command.env(name, value);
        let error = refused(command, 2).await;
        assert!(error.contains(setting) && error.contains(name), "{error}");
        assert!(!error.contains("hunter2"), "{error}");
    }
    let mut command = on("http://localhost:6334", &["check-config"], temp.path());
    command.env("TROVE_QDRANT_API_KEY", "hunter2");
    let output = run(command).await;
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && shown.contains("http://localhost:6334"), "{shown}");
    assert!(!shown.contains("hunter2"), "{shown}");
    // A key in a file that is not there.
    let mut command = on("http://localhost:6334", &["serve"], temp.path());
    command.env_remove("TROVE_QDRANT_API_KEY");
    command.env("TROVE__QDRANT__API_KEY_FILE", "/nowhere/key");
    let error = refused(command, 1).await;
    assert!(error.contains("/nowhere/key") && error.contains("qdrant.api_key_file"), "{error}");
}

/// One setting moves the index, and it is the same after a restart.
#[tokio::test(flavor = "multi_thread")]
async fn qdrant_holds_the_documents_in_place_of_the_data_directory() {
    let Some(collection) = Collection::new() else { return };
    let (temp, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let serve = || collection.serve(&collection.server, temp.path());
    let service = Service::start_with(serve(), temp.path()).await;
    let text = ["the zebra stays".to_owned()];
    assert!(service.ingest("kept", &text).await.unwrap().is_success());
    assert_eq!(service.search("zebras").await.len(), 1);
    assert!(!temp.path().join("index").exists());
    stop(service).await;

    let mut service = Service::start_with(serve(), temp.path()).await;
    assert_eq!(service.search("zebra").await.len(), 1);
    assert!(service.ingest("late", &["zebra crossing".to_owned()]).await.unwrap().is_success());
    // What was acknowledged survives.
    service.kill().await;
    let service = Service::start_with(serve(), temp.path()).await;
    assert_eq!(service.search("zebra").await.len(), 2);
    stop(service).await;

    // Another registry is refused: its groups are others.
    let error = refused(collection.serve(&collection.server, other.path()), 1).await;
    assert!(error.contains("belongs to another database"), "{error}");
}

/// Several services are one: what one of them took in, the other finds.
#[tokio::test(flavor = "multi_thread")]
async fn qdrant_and_postgres_serve_several_processes() {
    let Some(collection) = Collection::new() else { return };
    let Some(schema) = Schema::create().await else { return };
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let serve = |data_dir: &Path| {
        let mut command = collection.serve(&collection.server, data_dir);
        command.env("TROVE__DATABASE__URL", schema.url());
        command
    };
    let first = Service::start_with(serve(one.path()), one.path()).await;
    std::fs::write(two.path().join("admin-key"), &first.key).unwrap();
    let second = Service::start_with(serve(two.path()), two.path()).await;
    for round in 0..5 {
        let text = [format!("zebra number {round}")];
        let (writer, reader) = if round % 2 == 0 { (&first, &second) } else { (&second, &first) };
        assert!(writer.ingest("shared", &text).await.unwrap().is_success());
        let found = reader.search("zebra").await;
        assert_eq!(found.len(), 1);
        assert!(found[0].to_string().contains(&text[0]), "{found:?}");
    }
    stop(first).await;
    stop(second).await;
}

/// While the server is away the service says so, and it needs no restart when it is back.
#[tokio::test(flavor = "multi_thread")]
async fn a_service_outlives_the_absence_of_its_qdrant() {
    let Some(collection) = Collection::new() else { return };
    let temp = tempfile::tempdir().unwrap();
    let proxy = Proxy::start("127.0.0.1:0".parse().unwrap(), &collection.server).await;
    let (url, address) = (proxy.url(), proxy.address);
    let service = Service::start_with(collection.serve(&url, temp.path()), temp.path()).await;
    assert!(service.ingest("kept", &["the zebra stays".to_owned()]).await.unwrap().is_success());

    proxy.end().await;
    let answer = service.post("/api/search", &json!({ "query": "zebra" })).await.unwrap();
    assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
    let status = service.ingest("lost", &["giraffe".to_owned()]).await.unwrap();
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    let ready = service.get("/health/ready").await.unwrap();
    assert_eq!(ready.status(), StatusCode::SERVICE_UNAVAILABLE);
    let body: Value = ready.json().await.unwrap();
    assert!(body.to_string().contains("the document index does not answer"), "{body}");

    let proxy = Proxy::start(address, &collection.server).await;
    let back = async {
        loop {
            let answer = service.post("/api/search", &json!({ "query": "zebra" })).await.unwrap();
            if answer.status().is_success() {
                return;
            }
        }
    };
    tokio::time::timeout(Duration::from_mins(1), back).await.unwrap();
    assert_eq!(service.search("zebra").await.len(), 1);
    assert!(service.ingest("late", &["zebra crossing".to_owned()]).await.unwrap().is_success());
    assert_eq!(service.search("zebra").await.len(), 2);
    stop(service).await;
    proxy.end().await;
}
