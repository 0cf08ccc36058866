//! Uploaded files and the connectors that read them. The comments name the rows of the contract.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use futures::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use trove_domain::access::{Caller, Role};
use trove_domain::audit::AuditAction;
use trove_domain::id::{CcPairId, ConnectorId};
use trove_domain::indexing::IndexingTrigger;
use trove_domain::port::FileKey;
use trove_domain::query::QueryText;
use trove_engine::files::UploadLimits;
use trove_engine::retrieval::SearchRequest;
use trove_engine::{Backends, EngineConfig, SystemClock, SystemIds};
use trove_extract::{Budget, InProcessExtractor, ZipUnpacker};
use trove_files::ObjectFileStore;
use trove_sources::dialer::{
    Backoff, Dialer, DialerParts, Limits, NetworkPolicy, RealPacer, SystemNames,
};
use trove_sources::{CrawlLimits, Sources};
use trove_testkit::zips::zip;

use super::connectors::{body, create, with};
use crate::server::{Answer, Client, Server};

pub(super) const ADMIN: &str = "/api/manage/admin/connector";
pub(super) const UPLOAD: &str = "/api/manage/admin/connector/file/upload";

/// A server with a place for files, and sources that read them.
pub(super) struct Files {
    pub(super) server: Server,
    directory: TempDir,
}

impl Files {
    pub(super) async fn start() -> Self {
        Self::with(UploadLimits::default()).await
    }

    pub(super) async fn with(uploads: UploadLimits) -> Self {
        let directory = TempDir::new().unwrap();
        let temporary = directory.path().join("tmp");
        fs::create_dir(&temporary).unwrap();
        let files = Arc::new(ObjectFileStore::local(&directory.path().join("files")).unwrap());
        let dialer = Dialer::new(DialerParts {
            policy: NetworkPolicy::default(),
            limits: Limits::default(),
            backoff: Backoff::default(),
            names: Arc::new(SystemNames),
            clock: Arc::new(SystemClock),
            ids: Arc::new(SystemIds),
            pacer: Arc::new(RealPacer),
        });
        let sources = Sources {
            dialer: dialer.unwrap(),
            extractor: Arc::new(InProcessExtractor::new(Budget::default())),
            files: Arc::<ObjectFileStore>::clone(&files),
            temporary,
            crawl: CrawlLimits::default(),
        };
        let config = EngineConfig { uploads, ..EngineConfig::default() };
        let server = Server::changed_with(config, |backends| Backends {
            files: Some(files),
            unpacker: Some(Arc::new(ZipUnpacker)),
            sources: Some(Arc::new(sources)),
            ..backends
        });
        Self { server: server.await, directory }
    }

    pub(super) fn place(&self) -> PathBuf {
        self.directory.path().join("files")
    }

    /// The contents that there are.
    pub(super) fn contents(&self) -> Vec<String> {
        let entries = fs::read_dir(self.place()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    async fn unfinished(&self) -> usize {
        let stored = &self.server.engine.backends().stored_files;
        stored.list_unfinished(None, 100).await.unwrap().len()
    }

    /// Fails unless there is nothing but so many files, each with its row.
    pub(super) async fn assert_stored(&self, count: usize) {
        let contents = self.contents();
        assert_eq!((contents.len(), self.unfinished().await), (count, 0), "{contents:?}");
        let keys: Vec<FileKey> = contents.iter().map(|id| FileKey::new(id).unwrap()).collect();
        let rows = self.server.engine.backends().stored_files.find(&keys).await.unwrap();
        assert_eq!(rows.len(), count);
    }

    fn text(&self, id: &Value) -> String {
        fs::read_to_string(self.place().join(id.as_str().unwrap())).unwrap()
    }

    /// Begins and does all runs that are due.
    pub(super) async fn index(&self, is_so: impl AsyncFn() -> bool) {
        let (engine, stop) = (self.server.engine.clone(), CancellationToken::new());
        let token = stop.clone();
        let task = TaskTracker::new().spawn(async move { engine.run_indexing(&token).await });
        while !is_so().await {
            assert!(!task.is_finished(), "the worker has ended");
            tokio::task::yield_now().await;
        }
        stop.cancel();
        task.await.unwrap();
    }
}

/// A part of a form: its name, the name of a file, its type, what is in it.
pub(super) type Part<'a> = (&'a str, Option<&'a str>, Option<&'a str>, &'a [u8]);

pub(super) fn file<'a>(name: &'a str, content: &'a [u8]) -> Part<'a> {
    ("files", Some(name), None, content)
}

pub(super) fn removal(ids: &str) -> Part<'_> {
    ("file_ids_to_remove", None, None, ids.as_bytes())
}

pub(super) fn form(parts: &[Part<'_>]) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, file, mime, content) in parts {
        body.extend(format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"").bytes());
        if let Some(file) = file {
            body.extend(format!("; filename=\"{file}\"").bytes());
        }
        body.extend(b"\r\n");
        if let Some(mime) = mime {
            body.extend(format!("Content-Type: {mime}\r\n").bytes());
        }
        body.extend(b"\r\n");
        body.extend(*content);
        body.extend(b"\r\n");
    }
    body.extend(b"--b--\r\n");
    body
}

pub(super) async fn send(client: &Client<'_>, path: &str, body: Vec<u8>) -> Answer {
    let client = client.with("content-type", "multipart/form-data; boundary=b");
    client.send(Method::POST, path, Some(body)).await
}

pub(super) async fn upload(client: &Client<'_>, parts: &[Part<'_>]) -> Answer {
    send(client, UPLOAD, form(parts)).await
}

/// Uploads a file; answers its id.
pub(super) async fn uploaded(client: &Client<'_>, name: &str, content: &[u8]) -> Value {
    upload(client, &[file(name, content)]).await.ok()["file_paths"][0].clone()
}

pub(super) fn reading(name: &str, config: Value) -> Value {
    let mut connector = body(name, "file");
    connector["connector_specific_config"] = config;
    connector
}

/// A connector of files and its pair.
pub(super) async fn connected(client: &Client<'_>, name: &str, config: Value) -> (i64, CcPairId) {
    let connector = create(client, reading(name, config)).await;
    let credential = json!({"credential_json": {}, "source": "file", "admin_public": true,
        "curator_public": false, "groups": [], "name": name});
    let credential = client.post("/api/manage/credential", credential).await.ok()["id"].clone();
    let path = format!("/api/manage/connector/{connector}/credential/{credential}");
    let pair = json!({"name": name, "access_type": "public", "groups": []});
    let pair = client.put(&path, pair).await.ok()["data"].as_i64().unwrap();
    (connector, CcPairId(i32::try_from(pair).unwrap()))
}

pub(super) async fn update(client: &Client<'_>, connector: i64, parts: &[Part<'_>]) -> Answer {
    send(client, &format!("{ADMIN}/{connector}/files/update"), form(parts)).await
}

pub(super) async fn names(client: &Client<'_>, connector: i64) -> Vec<String> {
    let listed = client.get(&format!("{ADMIN}/{connector}/files")).await.ok();
    let files = listed["files"].as_array().unwrap().clone();
    files.iter().map(|file| file["file_name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_stored_as_they_are() {
    let files = Files::start().await;
    let curator = files.server.caller(Role::Curator).await;
    let parts: [Part<'_>; 5] = [
        ("files", Some("a.txt"), None, b"one"),
        ("files", Some("folder/b.md"), Some("text/markdown; charset=utf-8"), b"two"),
        // What has no name is skipped, and what is no part of the form is ignored.
        ("files", None, None, b"three"),
        ("files", Some(""), None, b"four"),
        ("other", Some("c.txt"), None, b"five"),
    ];
    let stored = upload(&curator, &parts).await.ok();
    assert_eq!(stored["file_names"], json!(["a.txt", "b.md"]));
    assert_eq!(stored["zip_metadata"], json!({}));
    assert_eq!(stored["zip_metadata_file_id"], Value::Null);
    assert_eq!(files.text(&stored["file_paths"][0]), "one");
    assert_eq!(files.text(&stored["file_paths"][1]), "two");
    files.assert_stored(2).await;
    let keys = [FileKey::new(stored["file_paths"][1].as_str().unwrap()).unwrap()];
    let rows = files.server.engine.backends().stored_files.find(&keys).await.unwrap();
    assert_eq!(
        (rows[0].mime_type.as_str(), rows[0].size_bytes),
        ("text/markdown; charset=utf-8", 3)
    );
    let recorded = files.server.stack.audit.entries().pop().unwrap();
    assert_eq!(recorded.action, AuditAction::UploadFiles);
    assert_eq!(recorded.details.get("files").map(String::as_str), Some("2"));
    upload(&files.server.caller(Role::Basic).await, &parts)
        .await
        .refused(403, "INSUFFICIENT_PERMISSIONS");
}

#[tokio::test(flavor = "multi_thread")]
async fn row_34_a_second_archive_is_refused_and_nothing_is_stored() {
    let files = Files::start().await;
    let admin = files.server.caller(Role::Admin).await;
    let archive = zip(&[("a.txt", b"text")]);
    let refused = upload(&admin, &[file("a.zip", &archive), file("b.ZIP", &archive)]).await;
    let detail = refused.refused(400, "INVALID_INPUT");
    assert!(detail.starts_with("Only one zip file is allowed per file connector"), "{detail}");
    files.assert_stored(0).await;
    // As files they are as many as one likes.
    let whole = form(&[file("a.zip", &archive), file("b.zip", &archive)]);
    let stored = send(&admin, &format!("{UPLOAD}?unzip=false"), whole).await.ok();
    assert_eq!(stored["file_names"], json!(["a.zip", "b.zip"]));
    files.assert_stored(2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn row_35_the_order_of_parts_stays() {
    let files = Files::start().await;
    let admin = files.server.caller(Role::Admin).await;
    let archive = zip(&[("z/b.txt", b"2"), ("z/a.txt", b"3")]);
    // By its type: the name says nothing.
    let packed: Part<'_> = ("files", Some("files"), Some("application/x-zip-compressed"), &archive);
    let parts = [file("first.txt", b"1"), packed, file("last.txt", b"4")];
    let stored = upload(&admin, &parts).await.ok();
    assert_eq!(stored["file_names"], json!(["first.txt", "b.txt", "a.txt", "last.txt"]));
    let texts: Vec<String> =
        stored["file_paths"].as_array().unwrap().iter().map(|id| files.text(id)).collect();
    assert_eq!(texts, ["1", "2", "3", "4"]);
    files.assert_stored(4).await;
}

/// Rows 36 and 37.
#[tokio::test(flavor = "multi_thread")]
async fn rows_36_and_37_hidden_entries_are_skipped_and_folders_are_lost() {
    let files = Files::start().await;
    let admin = files.server.caller(Role::Admin).await;
    let archive = zip(&[
        ("docs/.hidden/a.txt", b"hidden"),
        (".DS_Store", b"hidden"),
        ("__MACOSX/._b.txt", b"hidden"),
        ("__MACOSX/b.txt", b"shown"),
        ("a/r.txt", b"1"),
        ("b/r.txt", b"2"),
        ("empty/", b""),
    ]);
    let stored = upload(&admin, &[file("a.zip", &archive)]).await.ok();
    assert_eq!(stored["file_names"], json!(["b.txt", "r.txt", "r.txt"]));
    assert_ne!(stored["file_paths"][1], stored["file_paths"][2]);
    assert_eq!(files.text(&stored["file_paths"][2]), "2");
    files.assert_stored(3).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn row_38_metadata_has_names() {
    let files = Files::start().await;
    let admin = files.server.caller(Role::Admin).await;
    let sent = async |metadata: &[u8]| {
        let archive = zip(&[(".onyx_metadata.json", metadata), ("a.txt", b"text")]);
        upload(&admin, &[file("a.zip", &archive)]).await
    };
    for bad in [&b"[{\"link\": \"x\"}]"[..], b"{", b"", b"1", b"{\"a.txt\": 1}", b"\xff"] {
        let detail = sent(bad).await.refused(400, "INVALID_INPUT");
        assert!(detail.starts_with("Unable to load .onyx_metadata.json: "), "{detail}");
    }
    let long = format!("{{\"a\": {{\"b\": \"{}\"}}}}", "c ".repeat(600_000));
    sent(long.as_bytes()).await.refused(400, "INVALID_INPUT");
    files.assert_stored(0).await;
    let list = br#"[{"filename": "a.txt", "link": "https://example.com"}]"#;
    let stored = sent(list).await.ok();
    let expected = json!({"a.txt": {"filename": "a.txt", "link": "https://example.com"}});
    assert_eq!(stored["zip_metadata"], expected);
    assert_eq!(stored["file_names"], json!(["a.txt"]));
    assert_eq!(files.text(&stored["zip_metadata_file_id"]).as_bytes(), list);
    files.assert_stored(2).await;
    // Deeper it is a file like others, which is hidden.
    let archive = zip(&[("a/.onyx_metadata.json", b"{"), ("b.txt", b"text")]);
    let stored = upload(&admin, &[file("a.zip", &archive)]).await.ok();
    assert_eq!(stored["zip_metadata_file_id"], Value::Null);
}

/// Rows 39, 40 and 42.
#[tokio::test(flavor = "multi_thread")]
async fn rows_39_to_42_files_of_a_connector_change_in_one_step() {
    let files = Files::start().await;
    let admin = files.server.caller(Role::Admin).await;
    let a = uploaded(&admin, "a.txt", b"one").await;
    let config = json!({"file_locations": [a], "file_names": ["a.txt"]});
    let (connector, pair) = connected(&admin, "c", config).await;
    let path = format!("{ADMIN}/{connector}/files/update");
    // Row 40.
    let all = json!([a]).to_string();
    let refused = update(&admin, connector, &[removal(&all)]).await;
    let detail = refused.refused(400, "INVALID_INPUT");
    assert!(detail.contains("At least one file must remain"), "{detail}");
    assert_eq!(names(&admin, connector).await, ["a.txt"]);
    // Row 41; and what was uploaded with it is gone.
    for (bad, detail) in [
        (r#"{"a":1}"#, "file_ids_to_remove must be a JSON-encoded list"),
        ("null", "file_ids_to_remove must be a JSON-encoded list"),
        ("[1]", "file_ids_to_remove must be a JSON-encoded list"),
        ("[", "Invalid file_ids_to_remove format"),
    ] {
        let refused = update(&admin, connector, &[file("x.txt", b"x"), removal(bad)]).await;
        assert_eq!(refused.refused(400, "INVALID_INPUT"), detail);
    }
    files.assert_stored(1).await;
    // Without a body nothing changes.
    let same = admin.send(Method::POST, &path, None).await.ok();
    assert_eq!(same["file_paths"], json!([a]));
    assert_eq!(trigger(&files, pair).await, None);
    // Row 39; row 42: the whole list, old ones first.
    let changed = update(&admin, connector, &[file("b.txt", b"2"), file("c.txt", b"3")]).await.ok();
    assert_eq!(changed["file_names"], json!(["a.txt", "b.txt", "c.txt"]));
    assert_eq!(changed["file_paths"][0], a);
    let two = json!([a, changed["file_paths"][1], "unknown"]).to_string();
    let changed = update(&admin, connector, &[removal(&two), file("d.txt", b"4")]).await.ok();
    assert_eq!(changed["file_names"], json!(["c.txt", "d.txt"]));
    assert_eq!(names(&admin, connector).await, ["c.txt", "d.txt"]);
    let config = admin.get(&format!("/api/manage/connector/{connector}")).await.ok();
    let config = &config["connector_specific_config"];
    assert_eq!(config["file_locations"], changed["file_paths"]);
    assert_eq!(config["file_names"], changed["file_names"]);
    // Removed files stay.
    files.assert_stored(4).await;
    assert_eq!(trigger(&files, pair).await, Some(IndexingTrigger::Update));
}

async fn trigger(files: &Files, pair: CcPairId) -> Option<IndexingTrigger> {
    let all = files.server.engine.backends().attempts.schedules(None, 100).await.unwrap();
    all.into_iter().find(|(id, _)| *id == pair).unwrap().1.trigger
}

/// Row 43, and what is no connector of files.
#[tokio::test(flavor = "multi_thread")]
async fn row_43_files_without_names_are_called_by_their_ids() {
    let files = Files::start().await;
    let admin = files.server.caller(Role::Admin).await;
    let stored = upload(&admin, &[file("a", b"1"), file("b", b"2"), file("c", b"333")]).await.ok();
    let ids = stored["file_paths"].clone();
    let config = json!({"file_locations": ids, "file_names": ["x.txt"]});
    let (connector, _) = connected(&admin, "c", config).await;
    let listed = admin.get(&format!("{ADMIN}/{connector}/files")).await.ok();
    let shown: Vec<&Value> =
        listed["files"].as_array().unwrap().iter().map(|file| &file["file_name"]).collect();
    assert_eq!(shown, [&json!("x.txt"), &ids[1], &ids[2]]);
    assert_eq!(listed["files"][2]["file_id"], ids[2]);
    assert_eq!(listed["files"][2]["file_size"], 3);
    assert!(listed["files"][2]["upload_date"].as_str().unwrap().ends_with('Z'));
    // One whose row is lost is still listed.
    let lost = FileKey::new(ids[1].as_str().unwrap()).unwrap();
    files.server.engine.backends().stored_files.forget(&[lost]).await.unwrap();
    let listed = admin.get(&format!("{ADMIN}/{connector}/files")).await.ok();
    let expected = json!({"file_id": ids[1], "file_name": ids[1], "file_size": null,
        "upload_date": null});
    assert_eq!(listed["files"][1], expected);

    let other = create(&admin, body("w", "web")).await;
    let without = create(&admin, reading("n", json!({"file_locations": [ids[0]]}))).await;
    for (id, status, code, detail) in [
        (other, 400, "INVALID_INPUT", "This endpoint only works with file connectors"),
        (without, 404, "NOT_FOUND", "No Connector-Credential Pair found for this connector"),
        (4711, 404, "NOT_FOUND", "Connector not found"),
    ] {
        let listed = admin.get(&format!("{ADMIN}/{id}/files")).await;
        assert_eq!(listed.refused(status, code), detail);
        assert_eq!(update(&admin, id, &[file("x", b"x")]).await.refused(status, code), detail);
    }
    admin.get(&format!("{ADMIN}/x/files")).await.invalid(&["path/connector_id int_parsing"]);
    assert_eq!(files.contents().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_44_metadata_goes_with_the_name_of_a_removed_file() {
    let files = Files::start().await;
    let admin = files.server.caller(Role::Admin).await;
    let archive = zip(&[
        (".onyx_metadata.json", br#"{"r.txt": {"link": "1"}, "s.txt": {"link": "2"}}"#),
        ("a/r.txt", b"1"),
        ("b/r.txt", b"2"),
        ("s.txt", b"3"),
    ]);
    let stored = upload(&admin, &[file("a.zip", &archive)]).await.ok();
    let config = json!({"file_locations": stored["file_paths"], "file_names": stored["file_names"],
        "zip_metadata": stored["zip_metadata"]});
    let (connector, _) = connected(&admin, "c", config).await;
    // Even if another file has the name.
    let first = json!([stored["file_paths"][0]]).to_string();
    let changed = update(&admin, connector, &[removal(&first)]).await.ok();
    assert_eq!(changed["file_names"], json!(["r.txt", "s.txt"]));
    assert_eq!(changed["zip_metadata"], json!({"s.txt": {"link": "2"}}));
    let kept = files.text(&changed["zip_metadata_file_id"]);
    assert_eq!(serde_json::from_str::<Value>(&kept).unwrap(), changed["zip_metadata"]);
    let shown = admin.get(&format!("/api/manage/connector/{connector}")).await.ok();
    let config = shown["connector_specific_config"].as_object().unwrap().clone();
    assert!(!config.contains_key("zip_metadata"), "{config:?}");
    assert_eq!(config["zip_metadata_file_id"], changed["zip_metadata_file_id"]);
    // What is new overrides, and the rest stays.
    let archive = zip(&[(".onyx_metadata.json", br#"[{"filename": "t.txt"}]"#), ("t.txt", b"4")]);
    let changed = update(&admin, connector, &[file("b.zip", &archive)]).await.ok();
    let expected = json!({"s.txt": {"link": "2"}, "t.txt": {"filename": "t.txt"}});
    assert_eq!(changed["zip_metadata"], expected);
    // Nothing but three archives' files, and three times what is known about them.
    files.assert_stored(4 + 3).await;
}

/// Both count.
#[tokio::test(flavor = "multi_thread")]
async fn changes_at_the_same_time_all_count() {
    let files = Files::start().await;
    let admin = files.server.caller(Role::Admin).await;
    let a = uploaded(&admin, "a.txt", b"one").await;
    let (connector, _) = connected(&admin, "c", json!({"file_locations": [a]})).await;
    let more = ["b.txt", "c.txt", "d.txt", "e.txt"];
    let changes = more.map(|name| {
        let admin = &admin;
        async move { update(admin, connector, &[file(name, b"text")]).await.ok() }
    });
    join_all(changes).await;
    let mut found = names(&admin, connector).await.split_off(1);
    found.sort();
    assert_eq!(found, more);
    files.assert_stored(5).await;
}

/// Whoever names a file has it read.
#[tokio::test(flavor = "multi_thread")]
async fn a_curator_names_only_its_own_files() {
    let files = Files::start().await;
    let server = &files.server;
    let (admin, curator) = (server.caller(Role::Admin).await, server.caller(Role::Curator).await);
    let other = server.caller(Role::Curator).await;
    let foreign = uploaded(&admin, "secret.txt", b"secret").await;
    let own = uploaded(&curator, "own.txt", b"own").await;
    let missing = "0190a1b2-c3d4-7000-8000-0000000000ff";
    let naming = |ids: &Value| reading("c", json!({"file_locations": ids}));
    let post = async |client: &Client<'_>, body| client.post(ADMIN, body).await;
    for id in [foreign.as_str().unwrap(), missing, "../../etc/passwd", "\u{1b}[31m"] {
        for body in [
            naming(&json!([own, id])),
            reading("c", json!({"file_locations": [own], "zip_metadata_file_id": id})),
        ] {
            let detail = post(&curator, body).await.refused(400, "INVALID_INPUT");
            let shown: String = id.chars().filter(|c| !c.is_control()).collect();
            let expected = format!("there is no uploaded file {shown:?}");
            assert!(detail.ends_with(&expected), "{detail}");
        }
    }
    post(&admin, naming(&json!([missing]))).await.refused(400, "INVALID_INPUT");
    let connector = post(&curator, naming(&json!([own]))).await.ok()["id"].clone();
    let path = format!("{ADMIN}/{connector}");
    curator.patch(&path, naming(&json!([own, foreign]))).await.refused(400, "INVALID_INPUT");
    // What an administrator has put in may stay.
    admin.patch(&path, naming(&json!([own, foreign]))).await.ok();
    curator.patch(&path, naming(&json!([foreign]))).await.ok();
    curator.patch(&path, naming(&json!([own]))).await.ok();
    other.patch(&path, naming(&json!([foreign]))).await.refused(400, "INVALID_INPUT");
    // A connector of another source may have said anything.
    let web =
        with(body("w", "web"), json!({"connector_specific_config": {"file_locations": [foreign]}}));
    let web = post(&curator, web).await.ok()["id"].clone();
    let turned = reading("w", json!({"file_locations": [foreign]}));
    curator.patch(&format!("{ADMIN}/{web}"), turned).await.refused(400, "INVALID_INPUT");
}

/// S1; S2 but for what pruning does.
#[tokio::test(flavor = "multi_thread")]
async fn s1_and_s2_an_uploaded_file_is_found_and_its_successor_too() {
    let files = Files::start().await;
    let server = &files.server;
    let admin = server.caller(Role::Admin).await;
    let a = uploaded(&admin, "a.txt", b"the zebra is striped").await;
    let config = json!({"file_locations": [a], "file_names": ["a.txt"],
        "zip_metadata_file_id": null});
    let (connector, pair) = connected(&admin, "c", config).await;
    let status = async || {
        let shown = admin.get(&format!("/api/manage/admin/cc-pair/{pair}")).await.ok();
        shown["status"].as_str().unwrap().to_owned()
    };
    assert_eq!(status().await, "SCHEDULED");
    files.index(async || status().await == "ACTIVE").await;
    let reader = server.caller(Role::Basic).await;
    let search = async |words: &str| reader.search(json!({"query": words})).await.titles();
    assert_eq!(search("zebra").await, ["a.txt"]);
    // Whoever is not signed in reads what is public; no route of the search admits them yet.
    let request = SearchRequest::new(QueryText::new("zebra").unwrap());
    let found = server.engine.search(&Caller::anonymous(), request).await.unwrap();
    let found: Vec<&str> = found.iter().map(|result| result.section.document().as_str()).collect();
    assert_eq!(found, [format!("FILE_CONNECTOR__{}", a.as_str().unwrap())]);

    let first = json!([a]).to_string();
    let change = [removal(&first), file("b.txt", b"the walrus has tusks")];
    update(&admin, connector, &change).await.ok();
    assert_eq!(names(&admin, connector).await, ["b.txt"]);
    server.stack.clock.advance(chrono::TimeDelta::seconds(1));
    files.index(async || search("walrus").await.contains(&"b.txt".to_owned())).await;
    let id = ConnectorId(i32::try_from(connector).unwrap());
    assert!(server.engine.backends().connectors.get(id).await.unwrap().is_some());
}
