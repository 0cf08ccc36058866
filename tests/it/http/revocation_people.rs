//! What administrators take away through one process is gone in another with the next request: the
//! database is asked each time, on SQLite as on PostgreSQL.

use std::collections::BTreeSet;
use std::sync::Arc;

use secrecy::SecretString;
use serde_json::{Value, json};
use trove_domain::access::{Caller, Proof, Role};
use trove_domain::id::{GroupId, UserId};
use trove_domain::port::{GroupContents, IdGenerator};
use trove_engine::{Backends, Engine, EngineConfig, SystemIds};
use trove_store::{PostgresConfig, SqliteConfig, Store};
use trove_testkit::postgres::Schema;

use super::people::{PASSWORD, browser, cheap, cookie, login, register};
use crate::server::{Client, Server, document};

fn config() -> EngineConfig {
    EngineConfig { accounts: cheap(), ..EngineConfig::default() }
}

/// The same service over connections of its own.
fn over(backends: &Backends, store: &Arc<Store>, ids: Arc<dyn IdGenerator>) -> Backends {
    Backends {
        clock: Arc::clone(&backends.clock),
        audit: backends.audit.clone(),
        secrets: backends.secrets.clone(),
        ids,
        ..Backends::new(store, Arc::clone(&backends.index), backends.embedding_model.clone())
    }
}

/// Two processes: one that is asked over HTTP, and another one.
async fn on_sqlite() -> (Server, Engine) {
    let server = Server::changed_with(config(), |backends| backends).await;
    let ids: Arc<dyn IdGenerator> = Arc::new(SystemIds);
    let sqlite = SqliteConfig::new(server.stack.directory.path().join("trove.db"));
    let store = Arc::new(Store::open_sqlite(sqlite, Arc::clone(&ids)).await.unwrap());
    let other = Engine::new(over(server.engine.backends(), &store, ids), config());
    (server, other)
}

async fn on_postgres(schema: &Schema) -> (Server, Engine) {
    let ids: Arc<dyn IdGenerator> = Arc::new(SystemIds);
    let open = async || {
        let postgres = PostgresConfig::new(schema.url().into());
        Arc::new(Store::open_postgres(postgres, Arc::clone(&ids)).await.unwrap())
    };
    let (first, second) = (open().await, open().await);
    let change = |backends: Backends| over(&backends, &first, Arc::clone(&ids));
    let server = Server::changed_with(config(), change).await;
    let other = Engine::new(over(server.engine.backends(), &second, Arc::clone(&ids)), config());
    (server, other)
}

async fn user(engine: &Engine, email: &str) -> UserId {
    engine.backends().users.get_by_email(email).await.unwrap().unwrap().id
}

async fn titles(client: &Client<'_>) -> Vec<String> {
    client.search(json!({"query": "apple"})).await.titles()
}

/// A group of the reader, a pair that it opens, and an agent that is shared with it.
async fn shared(server: &Server, owner: &Client<'_>, name: &str) -> (GroupId, String) {
    let group = server.group(name, &[("reader@example.com", false), ("owner@example.com", false)]);
    let group = group.await;
    let pair = server.private_pair(name, &[group]).await;
    let posted = json!({"document": document(name, name, "apple"), "cc_pair_id": pair.0});
    owner.ingest(posted).await.ok();
    let agent = json!({"name": name, "description": "", "system_prompt": "", "task_prompt": "",
        "document_set_ids": [], "tool_ids": [], "datetime_aware": true, "groups": [group.0]});
    let id = owner.post("/api/persona", agent).await.ok()["id"].clone();
    (group, format!("/api/persona/{id}"))
}

async fn groups(client: &Client<'_>) -> Value {
    client.get("/api/manage/user-groups/minimal").await.ok()
}

async fn everything_is_gone_at_once(server: &Server, other: &Engine) {
    let owner = server.user("owner@example.com", Role::Admin).await;
    assert_eq!(register(server, "reader@example.com").await.status, 201);
    let reader = user(other, "reader@example.com").await;
    let root = Caller {
        user: user(other, "owner@example.com").await,
        email: "owner@example.com".to_owned(),
        role: Role::Admin,
        proof: Proof::Trusted,
    };
    let session = browser(server, "reader@example.com").await;

    // A group: left, and deleted.
    let (left, of_left) = shared(server, &owner, "left").await;
    let (deleted, of_deleted) = shared(server, &owner, "deleted").await;
    let mut seen = titles(&session).await;
    seen.sort();
    assert_eq!(seen, ["deleted", "left"]);
    assert_eq!(groups(&session).await.as_array().unwrap().len(), 2);
    let nobody = GroupContents { members: BTreeSet::new(), cc_pairs: BTreeSet::new() };
    let record = other.replace_group(&root, left, nobody).await.unwrap();
    assert!(record.record.members.is_empty());
    assert_eq!(titles(&session).await, ["deleted"]);
    session.get(&of_left).await.refused(404, "PERSONA_NOT_FOUND");
    assert_eq!(groups(&session).await[0]["id"], deleted.0);
    other.delete_group(deleted).await.unwrap();
    assert!(titles(&session).await.is_empty());
    session.get(&of_deleted).await.refused(404, "PERSONA_NOT_FOUND");
    assert_eq!(groups(&session).await, json!([]));

    // A role.
    other.set_user_role(None, "reader@example.com", Role::Admin, false).await.unwrap();
    session.get("/api/manage/users/counts").await.ok();
    other.set_user_role(None, "reader@example.com", Role::Basic, false).await.unwrap();
    let counts = session.get("/api/manage/users/counts").await;
    counts.refused(403, "INSUFFICIENT_PERMISSIONS");

    // Another password ends all other sessions.
    let second = cookie(&login(server, "reader@example.com", PASSWORD).await);
    let token = SecretString::from(second.split_once('=').unwrap().1);
    let caller = other.authenticate_session(&token).await.unwrap().unwrap();
    let new = SecretString::from("another horse battery");
    other.change_password(&caller, &SecretString::from(PASSWORD), &new).await.unwrap();
    session.me().await.refused(401, "UNAUTHENTICATED");
    let second = server.nobody().with("cookie", &second);
    second.me().await.ok();
    other.reset_password("reader@example.com").await.unwrap();
    second.me().await.refused(401, "UNAUTHENTICATED");

    // A key.
    let issued = other.issue_key("reader@example.com", None).await.unwrap();
    let bearer = secrecy::ExposeSecret::expose_secret(&issued.secret).to_owned();
    let keyed = server.nobody().with("authorization", &format!("Bearer {bearer}"));
    keyed.me().await.ok();
    let keys = other.list_keys(None, 100).await.unwrap();
    let key = &keys.iter().find(|listed| listed.holder.user.id == reader).unwrap().key;
    assert!(other.revoke_key(key.id).await.unwrap());
    keyed.me().await.refused(401, "UNAUTHENTICATED");

    // The user.
    let issued = other.issue_key("reader@example.com", None).await.unwrap();
    let bearer = secrecy::ExposeSecret::expose_secret(&issued.secret).to_owned();
    let keyed = server.nobody().with("authorization", &format!("Bearer {bearer}"));
    keyed.me().await.ok();
    other.deactivate_user(None, "reader@example.com").await.unwrap();
    keyed.me().await.refused(401, "UNAUTHENTICATED");
    other.activate_user("reader@example.com").await.unwrap();
    keyed.me().await.ok();
    other.deactivate_user(None, "reader@example.com").await.unwrap();
    other.delete_user("reader@example.com").await.unwrap();
    keyed.me().await.refused(401, "UNAUTHENTICATED");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_process_takes_from_people_is_gone_on_sqlite() {
    let (server, other) = on_sqlite().await;
    everything_is_gone_at_once(&server, &other).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_process_takes_from_people_is_gone_on_postgres() {
    let Some(schema) = Schema::create().await else { return };
    let (server, other) = on_postgres(&schema).await;
    everything_is_gone_at_once(&server, &other).await;
}
