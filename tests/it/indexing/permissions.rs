//! Who may read by what sources say.

use std::path::Path;
use std::sync::Arc;

use chrono::TimeDelta;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use trove_domain::access::Role;
use trove_domain::cc_pair::AccessType;
use trove_domain::document::Document;
use trove_domain::external_access::{ExternalAccess, ExternalGroup, ExternalMembers, READERS_MAX};
use trove_domain::id::{CcPairId, DocumentId};
use trove_domain::permission_sync::{PermissionSync, PermissionSyncStatus};
use trove_domain::port::{Clock, PermissionStep, SourceFactory};
use trove_domain::source::DocumentSource;
use trove_engine::ingestion::{IngestError, IngestOutcome};
use trove_engine::{Backends, Engine};
use trove_files::ObjectFileStore;
use trove_sources::dialer::{
    Backoff, Dialer, DialerParts, Limits, NetworkPolicy, RealPacer, SystemNames,
};
use trove_sources::{CrawlLimits, Sources};
use trove_testkit::model_server::{ModelServer, Reply};

use super::scripted::{Play, Scripted, Told, Worker};
use crate::server::{Client, Server};

const MEMBER: &str = "member@example.com";
const OTHER: &str = "other@example.com";

fn group(id: &str) -> ExternalGroup {
    ExternalGroup::new(DocumentSource::Web, id)
}

fn access(users: &[&str], groups: &[&str]) -> ExternalAccess {
    ExternalAccess::new(users, groups.iter().map(|id| group(id)), false)
}

/// A document with these readers, if its source says any.
fn document(id: &str, text: &str, external_access: Option<ExternalAccess>) -> Document {
    let Play::Step(mut step) = Play::documents([id]) else { unreachable!() };
    let mut document = step.documents.remove(0);
    document.sections[0].text = text.to_owned();
    Document { external_access, ..document }
}

fn tells(documents: &[(&str, ExternalAccess)], groups: &[(&str, &[&str])]) -> Told {
    let id = |id: &str| DocumentId::new(id).unwrap();
    let documents = documents.iter().map(|(name, access)| (id(name), access.clone())).collect();
    let members = |(id, users): &(&str, &[&str])| ExternalMembers::new(group(id), *users, false);
    let groups = groups.iter().map(members).collect();
    Told::Step(PermissionStep { documents, groups, ..PermissionStep::default() })
}

/// Pairs that leave it to their source who may read, read by an engine of its own.
struct World {
    server: Server,
    sources: Scripted,
    engine: Engine,
}

impl World {
    async fn start() -> Self {
        let server = super::start().await;
        let sources = Scripted::default();
        let engine = sources.engine(&server);
        Self { server, sources, engine }
    }

    /// An active pair.
    async fn pair(&self, name: &str, access_type: AccessType) -> CcPairId {
        let pair = self.sources.pair_of(&self.server, name, access_type, &[]).await;
        self.paused(pair, false).await;
        pair
    }

    async fn paused(&self, pair: CcPairId, paused: bool) {
        let now = self.server.stack.clock.now();
        let pairs = &self.engine.backends().cc_pairs;
        pairs.set_paused(pair, paused, now).await.unwrap().unwrap();
    }

    async fn ingest(&self, pair: CcPairId, document: Document) -> IngestOutcome {
        self.engine.ingest_batch(pair, vec![document]).await.remove(0)
    }

    /// Fetches what is due, five minutes after the last time.
    async fn sync(&self) {
        self.server.stack.clock.advance(TimeDelta::minutes(5));
        self.engine.sync_due_permissions(&CancellationToken::new()).await.unwrap();
        self.engine.sync_documents().await.unwrap();
    }

    async fn state(&self, pair: CcPairId) -> PermissionSync {
        let permissions = &self.engine.backends().permissions;
        permissions.latest_permission_syncs(&[pair]).await.unwrap().remove(0).unwrap()
    }
}

/// Whether somebody finds the document of this name, with whatever words.
pub(super) async fn finds(client: &Client<'_>, name: &str) -> bool {
    client.search(json!({"query": "word"})).await.titles().iter().any(|title| title == name)
}

/// Row 88 and P9; row 89: groups of the pair do not help.
#[tokio::test(flavor = "multi_thread")]
async fn row_88_nobody_reads_what_no_permission_was_fetched_for() {
    let world = World::start().await;
    let admin = world.server.user("admin@example.com", Role::Admin).await;
    let member = world.server.user(MEMBER, Role::Basic).await;
    let inside =
        world.server.group("inside", &[(MEMBER, false), ("admin@example.com", true)]).await;
    let pair = world.sources.pair_of(&world.server, "a", AccessType::Sync, &[inside]).await;
    world.paused(pair, false).await;
    world.ingest(pair, document("doc", "zebra", None)).await;
    for client in [&admin, &member] {
        assert!(!finds(client, "doc").await);
    }
    world.sources.tell(pair, [tells(&[("doc", access(&["MEMBER@Example.com"], &[]))], &[])]);
    world.sync().await;
    assert!(finds(&member, "doc").await);
    assert!(!finds(&admin, "doc").await, "row 89: groups of a sync pair grant nothing");
    let state = world.state(pair).await;
    assert_eq!((state.status, state.error), (PermissionSyncStatus::Success, None));
    assert_eq!(state.completed_at, Some(world.server.stack.clock.now()));
}

/// And again closed when the public pair lets go of it.
#[tokio::test(flavor = "multi_thread")]
async fn row_90_a_document_of_a_sync_pair_and_a_public_pair_is_public() {
    let world = World::start().await;
    let member = world.server.user(MEMBER, Role::Basic).await;
    let other = world.server.user(OTHER, Role::Basic).await;
    let synced = world.pair("synced", AccessType::Sync).await;
    let public = world.pair("public", AccessType::Public).await;
    world.ingest(synced, document("doc", "zebra", Some(access(&[MEMBER], &[])))).await;
    assert!(finds(&member, "doc").await && !finds(&other, "doc").await);
    world.ingest(public, document("doc", "zebra", Some(access(&[], &[])))).await;
    assert!(finds(&other, "doc").await);
    let id = DocumentId::new("doc").unwrap();
    world.engine.remove_from_pair(public, &[id]).await.unwrap();
    assert!(finds(&member, "doc").await && !finds(&other, "doc").await);
}

/// P6: with the next search, in whichever process, without writing a document.
#[tokio::test(flavor = "multi_thread")]
async fn whoever_left_a_group_finds_nothing_through_it_with_the_next_search() {
    let world = World::start().await;
    let member = world.server.user(MEMBER, Role::Basic).await;
    let other = world.server.user(OTHER, Role::Basic).await;
    let pair = world.pair("a", AccessType::Sync).await;
    world.ingest(pair, document("doc", "zebra", None)).await;
    let shared = ("doc", access(&[], &["Engineering"]));
    world.sources.tell(pair, [tells(&[shared], &[("engineering", &[MEMBER, OTHER])])]);
    world.sync().await;
    assert!(finds(&member, "doc").await && finds(&other, "doc").await);
    let revision = revision(&world).await;
    world.sources.tell(pair, [tells(&[], &[("engineering", &[OTHER])])]);
    world.sync().await;
    assert!(!finds(&member, "doc").await && finds(&other, "doc").await);
    // Told once more that nobody is in any group.
    world.sources.tell(pair, [tells(&[], &[])]);
    world.sync().await;
    assert!(!finds(&other, "doc").await);
    assert_eq!(self::revision(&world).await, revision, "no document was written");
}

async fn revision(world: &World) -> i64 {
    let ids = [DocumentId::new("doc").unwrap()];
    let known = world.engine.backends().documents.get(&ids).await.unwrap().remove(0);
    known.unwrap().revision
}

/// Nor a later run of indexing, whether the content changes or not.
#[tokio::test(flavor = "multi_thread")]
async fn permissions_that_a_run_does_not_carry_stay() {
    let world = World::start().await;
    let member = world.server.user(MEMBER, Role::Basic).await;
    let pair = world.pair("a", AccessType::Sync).await;
    world.ingest(pair, document("doc", "zebra", None)).await;
    world.sources.tell(pair, [tells(&[("doc", access(&[MEMBER], &[]))], &[])]);
    world.sync().await;
    let again = world.ingest(pair, document("doc", "zebra", None)).await;
    assert!(matches!(again, IngestOutcome::Unchanged), "{again:?}");
    let changed = world.ingest(pair, document("doc", "walrus", None)).await;
    assert!(matches!(changed, IngestOutcome::Indexed { new: false }), "{changed:?}");
    assert!(finds(&member, "doc").await);
    // A sync that does not name it leaves it, too.
    world.sources.tell(pair, [tells(&[], &[])]);
    world.sync().await;
    assert!(finds(&member, "doc").await);
}

/// P5. Content is not embedded again for it, and new content is never found by who may read no more.
#[tokio::test(flavor = "multi_thread")]
async fn access_changes_with_the_content_that_comes_with_it() {
    let world = World::start().await;
    let member = world.server.user(MEMBER, Role::Basic).await;
    let other = world.server.user(OTHER, Role::Basic).await;
    let pair = world.pair("a", AccessType::Sync).await;
    world.ingest(pair, document("doc", "zebra", Some(access(&[MEMBER, OTHER], &[])))).await;
    let narrowed = document("doc", "zebra", Some(access(&[MEMBER], &[])));
    let outcome = world.ingest(pair, narrowed.clone()).await;
    assert!(matches!(outcome, IngestOutcome::AttributesUpdated), "{outcome:?}");
    assert!(finds(&member, "doc").await && !finds(&other, "doc").await);
    let outcome = world.ingest(pair, narrowed).await;
    assert!(matches!(outcome, IngestOutcome::Unchanged), "{outcome:?}");
    world.ingest(pair, document("doc", "walrus", Some(access(&[OTHER], &[])))).await;
    assert!(!finds(&member, "doc").await && finds(&other, "doc").await);
}

/// It says so; whoever could read it can.
#[tokio::test(flavor = "multi_thread")]
async fn too_many_readers_are_an_error_of_their_document() {
    let world = World::start().await;
    let member = world.server.user(MEMBER, Role::Basic).await;
    let pair = world.pair("a", AccessType::Sync).await;
    world.ingest(pair, document("doc", "zebra", Some(access(&[MEMBER], &[])))).await;
    world.ingest(pair, document("next", "walrus", None)).await;
    let many = (0..=READERS_MAX).map(|n| format!("{n}@example.com"));
    let many = ExternalAccess::new(many, [], false);
    let outcome = world.ingest(pair, document("doc", "zebra", Some(many.clone()))).await;
    let IngestOutcome::Failed(error) = outcome else { panic!("{outcome:?}") };
    assert!(matches!(*error, IngestError::TooManyReaders(_)), "{error}");
    world.sources.tell(pair, [tells(&[("doc", many), ("next", access(&[MEMBER], &[]))], &[])]);
    world.sync().await;
    let state = world.state(pair).await;
    assert_eq!(state.status, PermissionSyncStatus::CompletedWithErrors);
    assert!(state.error.unwrap().starts_with("doc: its source names 5001 people"), "it names it");
    assert!(finds(&member, "doc").await && finds(&member, "next").await);
}

/// Whatever fails, and however often.
#[tokio::test(flavor = "multi_thread")]
async fn a_sync_that_fails_neither_gives_nor_takes_access() {
    let world = World::start().await;
    let member = world.server.user(MEMBER, Role::Basic).await;
    let other = world.server.user(OTHER, Role::Basic).await;
    let pair = world.pair("a", AccessType::Sync).await;
    world.ingest(pair, document("doc", "zebra", None)).await;
    let shared = ("doc", access(&[], &["g"]));
    world.sources.tell(pair, [tells(&[shared], &[("g", &[MEMBER])])]);
    world.sync().await;
    let completed = world.state(pair).await.completed_at;
    for failure in [Told::Invalid, Told::Nothing, Told::Unavailable] {
        // What it has told of groups before it failed is not in force.
        world.sources.tell(pair, [tells(&[], &[("g", &[OTHER])]), failure]);
        for _ in 0..world.engine.config().indexing.tries_max {
            world.sync().await;
        }
        let state = world.state(pair).await;
        assert_eq!(state.status, PermissionSyncStatus::Failed);
        assert!(state.error.is_some());
        assert_eq!(state.completed_at, completed);
        assert!(finds(&member, "doc").await && !finds(&other, "doc").await);
    }
    world.sources.tell(pair, [tells(&[], &[]), tells(&[], &[("g", &[OTHER])])]);
    world.sync().await;
    assert!(!finds(&member, "doc").await && finds(&other, "doc").await);
}

/// And goes on when the pair does.
#[tokio::test(flavor = "multi_thread")]
async fn permissions_of_a_paused_pair_are_not_fetched() {
    let world = World::start().await;
    let member = world.server.user(MEMBER, Role::Basic).await;
    let pair = world.pair("a", AccessType::Sync).await;
    world.ingest(pair, document("doc", "zebra", None)).await;
    world.sources.tell(pair, [tells(&[("doc", access(&[MEMBER], &[]))], &[])]);
    world.paused(pair, true).await;
    world.sync().await;
    assert!(!finds(&member, "doc").await);
    world.paused(pair, false).await;
    world.sync().await;
    assert!(finds(&member, "doc").await);
}

/// A way out to servers of this machine.
pub(super) fn sources(server: &Server) -> Arc<dyn SourceFactory> {
    let backends = server.engine.backends();
    let directory: &Path = server.stack.directory.path();
    let dialer = Dialer::new(DialerParts {
        policy: NetworkPolicy { allow: vec!["127.0.0.0/8".parse().unwrap()] },
        limits: Limits::default(),
        backoff: Backoff::default(),
        names: Arc::new(SystemNames),
        clock: Arc::clone(&backends.clock),
        ids: Arc::clone(&backends.ids),
        pacer: Arc::new(RealPacer),
    });
    Arc::new(Sources {
        dialer: dialer.unwrap(),
        extractor: Arc::new(trove_extract::InProcessExtractor::new(
            trove_extract::Budget::default(),
        )),
        files: Arc::new(ObjectFileStore::local(&directory.join("files")).unwrap()),
        temporary: directory.to_owned(),
        crawl: CrawlLimits::default(),
    })
}

/// A pair of type `sync` that reads a scripted server: its key, and its connector and credential.
pub(super) async fn mock_pair(
    owner: &Client<'_>,
    mock: &ModelServer,
    name: &str,
) -> (i64, (Value, Value)) {
    let address = mock.address();
    let connector = json!({"name": name, "source": "mock_connector", "input_type": "poll",
        "access_type": "sync", "groups": [], "refresh_freq": null, "prune_freq": null,
        "indexing_start": null, "connector_specific_config": {
            "mock_server_host": address.ip().to_string(), "mock_server_port": address.port()}});
    let connector = owner.post("/api/manage/admin/connector", connector).await.ok()["id"].clone();
    let credential = json!({"credential_json": {}, "admin_public": true,
        "source": "mock_connector", "name": name});
    let credential = owner.post("/api/manage/credential", credential).await.ok()["id"].clone();
    let path = format!("/api/manage/connector/{connector}/credential/{credential}");
    let made = owner.put(&path, json!({"name": name, "access_type": "sync"})).await.ok();
    (made["data"].as_i64().unwrap(), (connector, credential))
}

fn script(emails: &[&str], members: &[&str]) -> Value {
    let document = |id: &str, access: Value| {
        json!({"id": id, "semantic_identifier": id, "sections": [{"text": format!("word{id}")}],
            "external_access": access})
    };
    json!([{
        "documents": [
            document("named", json!({"external_user_emails": emails})),
            document("grouped", json!({"external_user_group_ids": ["Engineering"]})),
            document("open", json!({"is_public": true})),
            document("plain", Value::Null),
        ],
        "external_groups": [{"id": "engineering", "user_emails": members}],
        "checkpoint": {"has_more": false},
    }])
}

/// Everything over HTTP: whoever made the pair reads no more than its source says.
#[tokio::test(flavor = "multi_thread")]
async fn permissions_come_from_the_source_of_a_pair() {
    let server = super::start().await;
    let steps = Arc::new(std::sync::Mutex::new(script(&[MEMBER], &[])));
    let played = Arc::clone(&steps);
    let mock = ModelServer::start(move |request| match request.path.as_str() {
        "/get-documents" => Reply::json(200, &played.lock().unwrap().clone()),
        _ => Reply::json(200, &json!({})),
    })
    .await;
    let backends = Backends { sources: Some(sources(&server)), ..server.engine.backends().clone() };
    let engine = Engine::new(backends, server.engine.config().clone());

    let admin = server.user("owner@example.com", Role::Admin).await;
    let member = server.user(MEMBER, Role::Basic).await;
    let test = server.user("test@example.com", Role::Basic).await;
    let (pair, _) = mock_pair(&admin, &mock, "mock").await;

    let shown = async || admin.get(&format!("/api/manage/admin/cc-pair/{pair}")).await.ok();
    let synced = async || shown().await["last_permission_sync_attempt_status"] == "success";
    Worker::with(&server, engine.clone()).until(synced).await;
    engine.sync_documents().await.unwrap();
    let info = shown().await;
    assert_eq!(info["permission_syncing"], false);
    assert!(info["last_full_permission_sync"].is_string());
    assert!(info["last_permission_sync_attempt_finished"].is_string());
    assert_eq!(info["last_permission_sync_attempt_error_message"], Value::Null);
    let found = async |client: &Client<'_>| {
        let mut found = Vec::new();
        for word in ["named", "grouped", "open", "plain"] {
            if finds(client, word).await {
                found.push(word);
            }
        }
        found
    };
    assert_eq!(found(&member).await, ["named", "open"]);
    assert_eq!(found(&admin).await, ["open"], "row 88: nor the owner of the credential");
    assert_eq!(found(&test).await, ["open", "plain"], "what the mock says of itself");

    // Nobody ran the index again.
    *steps.lock().unwrap() = script(&["stranger@example.com"], &[MEMBER]);
    server.stack.clock.advance(TimeDelta::minutes(5));
    engine.sync_due_permissions(&CancellationToken::new()).await.unwrap();
    engine.sync_documents().await.unwrap();
    assert_eq!(found(&member).await, ["grouped", "open"]);
    let stranger = engine.backends().users.get_by_email("stranger@example.com").await.unwrap();
    assert_eq!(stranger.unwrap().role, Role::ExtPermUser);
}
