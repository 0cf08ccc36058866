//! Deletions, over sources that a test plays.

use std::sync::Arc;

use chrono::TimeDelta;
use diesel::connection::SimpleConnection;
use diesel::{Connection, SqliteConnection};
use serde_json::{Value, json};
use trove_domain::access::Role;
use trove_domain::cc_pair::{AccessType, CcPairStatus};
use trove_domain::document::{Document, Section};
use trove_domain::id::{CcPairId, DocumentId};
use trove_domain::indexing::{AttemptStatus, IndexingTrigger};
use trove_domain::port::{Clock, FileKey, FileStore, IndexedMark, NewCcPair, RunBy};
use trove_domain::source::DocumentSource;
use trove_engine::Backends;
use trove_files::ObjectFileStore;

use super::lists::{List, Switch};
use super::prune::{documents, indexed, task};
use super::scripted::{Play, Scripted, Worker};
use super::{attempts, last, start, status};
use crate::server::{Answer, Client, Server};

const ADMIN: &str = "/api/manage/admin";

async fn delete(client: &Client<'_>, connector: i64, credential: i64) -> Answer {
    let body = json!({"connector_id": connector, "credential_id": credential});
    client.post(&format!("{ADMIN}/deletion-attempt"), body).await
}

/// Deletes a pair with the system's credential.
async fn delete_pair(server: &Server, client: &Client<'_>, pair: CcPairId) {
    let pair = server.engine.backends().cc_pairs.get(pair).await.unwrap().unwrap();
    let done = delete(client, pair.connector.0.into(), pair.credential.0.into()).await.ok();
    assert_eq!(done, Value::Null);
}

async fn is_gone(server: &Server, pair: CcPairId) -> bool {
    server.engine.backends().cc_pairs.get(pair).await.unwrap().is_none()
}

/// A connector with a credential of its own, over HTTP.
pub(super) struct Made {
    pub(super) connector: i64,
    credential: i64,
    pub(super) pair: CcPairId,
}

pub(super) async fn made(
    client: &Client<'_>,
    sources: &Scripted,
    name: &str,
    access: &str,
) -> Made {
    let connector = json!({"name": name, "source": "web", "input_type": "poll",
        "connector_specific_config": {"script": name}, "access_type": access});
    let connector = client.post(&format!("{ADMIN}/connector"), connector).await.ok();
    let credential = json!({"credential_json": {}, "admin_public": true, "source": "web"});
    let credential = client.post("/api/manage/credential", credential).await.ok();
    let (connector, credential) =
        (connector["id"].as_i64().unwrap(), credential["id"].as_i64().unwrap());
    let path = format!("/api/manage/connector/{connector}/credential/{credential}");
    let pair = client.put(&path, json!({"name": name, "access_type": access})).await.ok();
    let pair = CcPairId(i32::try_from(pair["data"].as_i64().unwrap()).unwrap());
    sources.name(name, pair);
    sources.play(pair, [Play::empty()]);
    Made { connector, credential, pair }
}

/// Has the source of a pair read this document.
async fn read(server: &Server, sources: &Scripted, pair: CcPairId, name: &str) {
    server.stack.clock.advance(TimeDelta::seconds(1));
    attempts(server).set_trigger(&[pair], IndexingTrigger::Update).await.unwrap();
    sources.play(pair, [Play::documents([name])]);
    Worker::start(server, sources).until_finished(pair).await;
    sources.play(pair, [Play::empty()]);
}

/// Whether the document is found by its word.
async fn finds(client: &Client<'_>, name: &str) -> bool {
    let found = client.search(json!({"query": format!("word{name}")})).await.titles();
    found.iter().any(|title| title == name)
}

/// What the registry knows of the content of a document.
async fn mark(server: &Server, name: &str) -> IndexedMark {
    let id = DocumentId::new(name).unwrap();
    let known = server.engine.backends().documents.get(std::slice::from_ref(&id)).await.unwrap();
    let known = known[0].clone().unwrap();
    IndexedMark {
        id,
        revision: 0,
        content_hash: known.content_hash.unwrap(),
        chunk_count: known.chunk_count,
        embedding_model: known.embedding_model,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn row_17_a_pair_that_is_not_there_is_not_found() {
    let server = start().await;
    let admin = server.user("admin@example.com", Role::Admin).await;
    let sources = Scripted::default();
    let made = made(&admin, &sources, "a", "public").await;
    let told = |connector: i64, credential: i64| {
        format!(
            "Connector with ID '{connector}' and credential ID '{credential}' does not exist. Has \
             it already been deleted?"
        )
    };
    let wrong = [(made.connector, 4711), (4711, made.credential), (0, made.credential)];
    for (connector, credential) in wrong {
        let refused = delete(&admin, connector, credential).await.refused(404, "NOT_FOUND");
        assert_eq!(refused, told(connector, credential));
    }
    // Who sees it and may not change it is told the same.
    let curator = server.user("curator@example.com", Role::Curator).await;
    curator.get(&format!("{ADMIN}/cc-pair/{}", made.pair)).await.ok();
    let refused = delete(&curator, made.connector, made.credential).await;
    assert_eq!(refused.refused(404, "NOT_FOUND"), told(made.connector, made.credential));
    assert_eq!(status(&server, made.pair).await, CcPairStatus::Scheduled);
    let nothing = admin.post(&format!("{ADMIN}/deletion-attempt"), json!({})).await;
    nothing.invalid(&["body/connector_id missing", "body/credential_id missing"]);
    // What nobody runs.
    delete(&admin, 0, 0).await.refused(400, "INVALID_INPUT");
}

/// Row 21, too: the last pair takes its connector along, and no credential.
#[tokio::test(flavor = "multi_thread")]
async fn row_18_a_pair_is_deleted_from_any_status() {
    let server = start().await;
    let admin = server.user("admin@example.com", Role::Admin).await;
    let sources = Scripted::default();
    let Made { connector, credential, pair } = made(&admin, &sources, "a", "public").await;
    read(&server, &sources, pair, "a").await;
    assert_eq!(status(&server, pair).await, CcPairStatus::Active);
    for _ in 0..2 {
        assert_eq!(delete(&admin, connector, credential).await.ok(), Value::Null);
    }
    let shown = admin.get(&format!("{ADMIN}/cc-pair/{pair}")).await.ok();
    assert_eq!(shown["status"], "DELETING");
    let attempt =
        json!({"connector_id": connector, "credential_id": credential, "status": "PENDING"});
    assert_eq!(shown["latest_deletion_attempt"], attempt);
    assert_eq!(shown["deletion_failure_message"], Value::Null);
    let active = json!({"status": "ACTIVE"});
    let refused = admin.put(&format!("{ADMIN}/cc-pair/{pair}/status"), active).await;
    refused.refused(400, "INVALID_INPUT");
    let refused = admin.post(&format!("{ADMIN}/cc-pair/{pair}/prune"), Value::Null).await;
    refused.refused(400, "INVALID_INPUT");
    Worker::start(&server, &sources).until(async || is_gone(&server, pair).await).await;
    admin.get(&format!("{ADMIN}/cc-pair/{pair}")).await.refused(404, "NOT_FOUND");
    admin.get(&format!("/api/manage/connector/{connector}")).await.refused(404, "NOT_FOUND");
    admin.get(&format!("/api/manage/credential/{credential}")).await.ok();
    assert!(!finds(&admin, "a").await);
    delete(&admin, connector, credential).await.refused(404, "NOT_FOUND");
}

/// Row 20, too: who has no other access finds it until its turn comes, and no longer.
#[tokio::test(flavor = "multi_thread")]
async fn row_19_a_shared_document_keeps_the_access_of_the_other_pair() {
    let server = start().await;
    let owner = server.user("owner@example.com", Role::Admin).await;
    let other = server.user("reader@example.com", Role::Basic).await;
    let sources = Scripted::default();
    let public = made(&owner, &sources, "public", "public").await;
    let private = made(&owner, &sources, "private", "private").await;
    read(&server, &sources, public.pair, "shared").await;
    read(&server, &sources, private.pair, "shared").await;
    let before = mark(&server, "shared").await;
    assert!(finds(&owner, "shared").await && finds(&other, "shared").await);
    delete(&owner, public.connector, public.credential).await.ok();
    // Row 20: whatever is written from now on leaves the pair out.
    let id = DocumentId::new("shared").unwrap();
    let attributes = server.engine.backends().documents.attributes(&[id]).await.unwrap();
    assert!(!attributes[0].as_ref().unwrap().attributes.access.public);
    Worker::start(&server, &sources).until(async || is_gone(&server, public.pair).await).await;
    assert!(finds(&owner, "shared").await);
    assert!(!finds(&other, "shared").await);
    assert_eq!(mark(&server, "shared").await, before, "nothing is embedded again");
    assert_eq!(documents(&server, private.pair).await, ["shared"]);
}

/// As any other change of access does, before a worker has taken a single document away.
#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_ends_the_access_of_the_pair_when_it_begins() {
    let server = start().await;
    let owner = server.user("owner@example.com", Role::Admin).await;
    let sources = Scripted::default();
    let made = made(&owner, &sources, "private", "private").await;
    read(&server, &sources, made.pair, "own").await;
    assert!(finds(&owner, "own").await);
    delete(&owner, made.connector, made.credential).await.ok();
    // What the deletion has asked for, and nothing of its own work.
    let stop = tokio_util::sync::CancellationToken::new();
    assert_eq!(server.engine.run_due_jobs(&stop).await.unwrap(), 1);
    assert!(!finds(&owner, "own").await);
    assert_eq!(documents(&server, made.pair).await, ["own"], "it was not taken away yet");
    Worker::start(&server, &sources).until(async || is_gone(&server, made.pair).await).await;
}

/// S3: of two owners each finds it by the own pair.
#[tokio::test(flavor = "multi_thread")]
async fn s3_two_private_pairs_and_one_of_them_is_deleted() {
    let server = start().await;
    let first = server.user("first@example.com", Role::Admin).await;
    let second = server.user("second@example.com", Role::Admin).await;
    let sources = Scripted::default();
    let one = made(&first, &sources, "one", "private").await;
    let two = made(&second, &sources, "two", "private").await;
    for pair in [one.pair, two.pair] {
        read(&server, &sources, pair, "file").await;
    }
    assert!(finds(&first, "file").await && finds(&second, "file").await);
    delete(&first, one.connector, one.credential).await.ok();
    Worker::start(&server, &sources).until(async || is_gone(&server, one.pair).await).await;
    assert!(!finds(&first, "file").await);
    assert!(finds(&second, "file").await);
}

/// Whatever it was about to write, and whatever is posted.
#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_in_the_middle_of_a_run_leaves_nothing() {
    let server = start().await;
    let admin = server.caller(Role::Admin).await;
    let sources = Scripted::default();
    let pair = sources.pair(&server, "a").await;
    sources.play(pair, [Play::documents(["a", "b"]), Play::hanging()]);
    let worker = Worker::start(&server, &sources);
    sources.reached(&server, pair, 1).await;
    delete_pair(&server, &admin, pair).await;
    let late = Document::new(
        DocumentId::new("late").unwrap(),
        DocumentSource::Web,
        "late",
        vec![Section { text: "wordlate".to_owned(), link: None }],
    );
    let same = Document::new(
        DocumentId::new("a").unwrap(),
        DocumentSource::Web,
        "a",
        vec![Section { text: "worda".to_owned(), link: None }],
    );
    let outcomes = server.engine.ingest_batch(pair, vec![late, same]).await;
    for outcome in outcomes {
        let told = format!("{outcome:?}");
        assert!(told.contains("NoSuchPair"), "{told}");
    }
    worker.until(async || is_gone(&server, pair).await).await;
    let ids = ["a", "b", "late"].map(|id| DocumentId::new(id).unwrap());
    let known = server.engine.backends().documents.get(&ids).await.unwrap();
    assert!(known.iter().all(Option::is_none), "{known:?}");
    for name in ["a", "b", "late"] {
        assert!(!finds(&admin, name).await, "{name}");
    }
}

/// The run that waited, and the pruning, are over at once.
#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_ends_what_else_is_done_with_the_pair() {
    let server = start().await;
    let admin = server.caller(Role::Admin).await;
    let sources = Scripted::default();
    let pair = indexed(&server, &sources, "a", ["a", "b"]).await;
    server.engine.request_prune(pair).await.unwrap();
    sources.lists.play(pair, [List::Names(vec!["a"]), List::Hang]);
    let worker = Worker::start(&server, &sources);
    sources.lists.reached(pair, 1).await;
    server.stack.clock.advance(TimeDelta::hours(1));
    worker.stop().await;
    assert_eq!(server.engine.begin_due_runs().await.unwrap(), 1);
    delete_pair(&server, &admin, pair).await;
    let run = last(&server, pair).await;
    assert_eq!(run.status, AttemptStatus::Canceled);
    assert_eq!(run.error.as_deref(), Some("Canceled by user"));
    Worker::start(&server, &sources).until(async || is_gone(&server, pair).await).await;
    assert_eq!(server.engine.begin_due_runs().await.unwrap(), 0);
}

/// And is tried until it succeeds.
#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_while_the_index_is_down_says_so_and_ends_when_it_is_up() {
    let server = start().await;
    let admin = server.caller(Role::Admin).await;
    let sources = Scripted::default();
    let pair = indexed(&server, &sources, "a", ["a", "b"]).await;
    let index = Switch::default();
    index.down();
    delete_pair(&server, &admin, pair).await;
    let worker = Worker::changed(&server, &sources, |backends| index.over(backends));
    worker
        .until(async || {
            server.stack.clock.advance(TimeDelta::minutes(6));
            task(&server, pair).await.is_some_and(|task| task.tries >= 12)
        })
        .await;
    let shown = admin.get(&format!("{ADMIN}/cc-pair/{pair}")).await.ok();
    let told = shown["deletion_failure_message"].as_str().unwrap();
    assert!(told.contains("connection refused"), "{told}");
    assert_eq!(shown["latest_deletion_attempt"]["status"], "PENDING");
    assert!(finds(&admin, "a").await, "the index was not told");
    index.up();
    server.stack.clock.advance(TimeDelta::minutes(6));
    let worker = Worker::changed(&server, &sources, |backends| index.over(backends));
    worker.until(async || is_gone(&server, pair).await).await;
    assert!(!finds(&admin, "a").await && !finds(&admin, "b").await);
}

/// Between the registry and the index.
#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_whose_worker_is_lost_goes_on_where_it_was() {
    let server = start().await;
    let admin = server.caller(Role::Admin).await;
    let sources = Scripted::default();
    let pair = indexed(&server, &sources, "a", ["a", "b"]).await;
    let index = Switch::default();
    index.hang();
    delete_pair(&server, &admin, pair).await;
    let worker = Worker::changed(&server, &sources, |backends| index.over(backends));
    index.asked().await;
    let shown = admin.get(&format!("{ADMIN}/cc-pair/{pair}")).await.ok();
    assert_eq!(shown["latest_deletion_attempt"]["status"], "STARTED");
    worker.kill();
    assert!(finds(&admin, "a").await);
    server.stack.clock.advance(TimeDelta::minutes(3));
    Worker::start(&server, &sources).until(async || is_gone(&server, pair).await).await;
    assert!(!finds(&admin, "a").await && !finds(&admin, "b").await);
}

/// Whoever is second takes it away.
#[tokio::test(flavor = "multi_thread")]
async fn two_pairs_that_share_documents_are_deleted_at_the_same_time() {
    let server = start().await;
    let admin = server.caller(Role::Admin).await;
    let sources = Scripted::default();
    let one = indexed(&server, &sources, "one", ["a", "b", "c"]).await;
    let two = indexed(&server, &sources, "two", ["a", "b", "d"]).await;
    for pair in [one, two] {
        delete_pair(&server, &admin, pair).await;
    }
    let worker = Worker::start(&server, &sources);
    let gone = async || is_gone(&server, one).await && is_gone(&server, two).await;
    worker.until(gone).await;
    for name in ["a", "b", "c", "d"] {
        assert!(!finds(&admin, name).await, "{name}");
    }
    let dirty = server.engine.backends().documents.list_dirty(None, 9).await.unwrap();
    assert_eq!(dirty, []);
}

/// Page by page.
#[tokio::test(flavor = "multi_thread")]
async fn a_pair_with_two_thousand_documents_is_deleted() {
    let server = start().await;
    let admin = server.caller(Role::Admin).await;
    let sources = Scripted::default();
    let pair = indexed(&server, &sources, "a", ["a"]).await;
    let many = (0..2000).map(|number| {
        let id = DocumentId::new(format!("document {number}")).unwrap();
        let section = Section { text: format!("number{number}"), link: None };
        Document::new(id, DocumentSource::Web, format!("{number}"), vec![section])
    });
    server.engine.ingest_batch(pair, many.collect()).await;
    assert_eq!(documents(&server, pair).await.len(), 2001);
    delete_pair(&server, &admin, pair).await;
    Worker::start(&server, &sources).until(async || is_gone(&server, pair).await).await;
    let left = server.engine.backends().index.statistics().await.unwrap();
    assert_eq!(left.documents, 0);
}

/// Those that another connector names stay.
#[tokio::test(flavor = "multi_thread")]
async fn the_files_of_a_connector_go_with_it() {
    let server = start().await;
    let admin = server.caller(Role::Admin).await;
    let sources = Scripted::default();
    let directory = server.stack.directory.path();
    let files: Arc<dyn FileStore> =
        Arc::new(ObjectFileStore::local(&directory.join("files")).unwrap());
    let [own, shared] = ["own", "shared"].map(|key| FileKey::new(key).unwrap());
    let database = directory.join("trove.db");
    let mut database = SqliteConnection::establish(database.to_str().unwrap()).unwrap();
    for key in [&own, &shared] {
        files.put(key, "text".into()).await.unwrap();
        let insert = format!(
            "INSERT INTO stored_file (id, display_name, origin, mime_type, size_bytes, created_at)
             SELECT '{}', 'a.txt', 'connector', 'text/plain', 4, created_at
             FROM connector WHERE id = 0",
            key.as_str()
        );
        database.batch_execute(&insert).unwrap();
    }
    let over = async |name: &str, locations: Value| {
        let pairs = &server.engine.backends().cc_pairs;
        let new = NewCcPair {
            name: name.to_owned(),
            source: DocumentSource::File,
            config: json!({"script": name, "file_locations": locations}),
            access_type: AccessType::Public,
            groups: [].into(),
            creator: None,
            created_at: server.stack.clock.now(),
        };
        let pair = pairs.get_or_insert(new).await.unwrap().id;
        assert!(pairs.set_schedule(pair, RunBy::Schedule, None).await.unwrap());
        sources.name(name, pair);
        sources.play(pair, [Play::empty()]);
        pair
    };
    let pair = over("deleted", json!(["own", "shared"])).await;
    over("stays", json!(["shared"])).await;
    delete_pair(&server, &admin, pair).await;
    let with_files = |backends| Backends { files: Some(Arc::clone(&files)), ..backends };
    let worker = Worker::changed(&server, &sources, with_files);
    worker.until(async || is_gone(&server, pair).await).await;
    assert_eq!(files.size(&own).await.unwrap(), None);
    assert_eq!(files.size(&shared).await.unwrap(), Some(4));
}
