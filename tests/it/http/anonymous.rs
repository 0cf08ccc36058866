//! Whoever is not signed in, where administrators let them in.

use std::fmt::Write as _;
use std::sync::Arc;

use async_trait::async_trait;
use futures::StreamExt;
use reqwest::Method;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use trove_domain::access::{ANONYMOUS_EMAIL, ANONYMOUS_USER, Caller, Role};
use trove_domain::cc_pair::CcPair;
use trove_domain::document::{Document, Section};
use trove_domain::error::StoreError;
use trove_domain::id::{CcPairId, DocumentId};
use trove_domain::port::WorkspaceStore;
use trove_domain::query::QueryText;
use trove_domain::source::DocumentSource;
use trove_domain::workspace::{SettingsChange, WorkspaceSettings};
use trove_engine::accounts::AccountError;
use trove_engine::retrieval::{DocumentSearchRequest, SearchRequest};
use trove_engine::{Backends, Engine, EngineConfig};
use trove_http::{Policy, inventory};
use trove_store::{SqliteConfig, Store};
use trove_testkit::fakes::SequentialIds;

use super::people::{browser, cookie, login, register, start};
use super::users::{DEACTIVATE, admin, on};
use super::workspace::patch;
use crate::server::{Answer, Client, Server};

/// Lets whoever is not signed in in.
pub(crate) async fn open(admin: &Client<'_>) {
    patch(admin, json!({"anonymous_user_enabled": true})).await.ok();
}

async fn close(admin: &Client<'_>) {
    patch(admin, json!({"anonymous_user_enabled": false})).await.ok();
}

/// Settings that a database does not give.
pub(crate) struct Unreadable;

#[async_trait]
impl WorkspaceStore for Unreadable {
    async fn workspace_settings(&self) -> Result<WorkspaceSettings, StoreError> {
        Err(unavailable())
    }

    async fn change_workspace_settings(
        &self,
        _change: SettingsChange,
    ) -> Result<WorkspaceSettings, StoreError> {
        Err(unavailable())
    }
}

fn unavailable() -> StoreError {
    StoreError::Unavailable { operation: "workspace.settings", source: "it is broken".into() }
}

/// Routes that admit the anonymous user, with a number for each parameter.
fn chat_routes() -> Vec<(Method, String)> {
    let chat = inventory().into_iter().filter(|info| info.policy == Policy::Chat);
    let path = |path: &str| format!("/api{}", path.replace("{persona_id}", "0"));
    chat.map(|info| {
        let method = Method::from_bytes(info.method.as_str().as_bytes()).unwrap();
        (method, path(info.path))
    })
    .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_let_in_unless_administrators_say_so() {
    let server = Server::start().await;
    let admin = admin(&server).await;
    let kind = async || server.nobody().get("/api/auth/type").await.ok();
    let routes = chat_routes();
    assert!(routes.len() >= 6, "{routes:?}");
    let call = async |(method, path): &(Method, String)| {
        server.nobody().send(method.clone(), path, None).await
    };
    for route in &routes {
        let answer = call(route).await;
        answer.refused(401, "UNAUTHENTICATED");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"), "{route:?}");
    }
    assert_eq!(kind().await["anonymous_user_enabled"], false);
    open(&admin).await;
    for route in &routes {
        assert!(![401, 403].contains(&call(route).await.status), "{route:?}");
    }
    assert_eq!(kind().await["anonymous_user_enabled"], true);
    assert_eq!(server.nobody().get("/api/settings").await.ok()["anonymous_user_enabled"], true);
    // From the next request on.
    close(&admin).await;
    for route in &routes {
        call(route).await.refused(401, "UNAUTHENTICATED");
    }
    assert_eq!(kind().await["anonymous_user_enabled"], false);
    open(&admin).await;
    admin.put("/api/admin/settings", json!({"company_name": "x"})).await.ok();
    server.nobody().me().await.refused(401, "UNAUTHENTICATED");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_anonymous_user_is_told_who_it_is() {
    let server = Server::start().await;
    open(&admin(&server).await).await;
    let me = server.nobody().me().await.ok();
    assert_eq!(
        me,
        json!({
            "id": "__anonymous_user__", "email": "anonymous@localhost", "is_active": true,
            "is_superuser": false, "is_verified": true, "role": "limited",
            "preferences": {
                "chosen_assistants": null, "hidden_assistants": [], "visible_assistants": [],
                "default_model": null, "pinned_assistants": null, "shortcut_enabled": null,
                "auto_scroll": true, "temperature_override_enabled": null,
                "theme_preference": null, "chat_background": null, "default_app_mode": "CHAT",
                "assistant_specific_configs": null,
            },
            "personalization": {
                "name": "", "role": "", "use_memories": true, "enable_memory_tool": true,
                "memories": [], "user_preferences": "",
            },
            "oidc_expiry": null, "current_token_created_at": null,
            "current_token_expiry_length": null, "token_expires_at": null,
            "is_cloud_superuser": false, "team_name": null, "is_anonymous_user": true,
            "password_configured": false, "tenant_info": null,
        })
    );
}

/// A bad credential is none; a good one is who it is.
#[tokio::test(flavor = "multi_thread")]
async fn a_bad_credential_is_none_and_a_good_one_is_its_users() {
    let server = start().await;
    let admin = admin(&server).await;
    assert_eq!(register(&server, "reader@example.com").await.status, 201);
    let reader = browser(&server, "reader@example.com").await;
    let kept_out = server.user("out@example.com", Role::Admin).await;
    on(&admin, DEACTIVATE, "out@example.com").await.ok();
    open(&admin).await;
    let bearer = |token: &str| server.nobody().with("authorization", &format!("Bearer {token}"));
    for bad in [
        server.nobody(),
        bearer("tk_0000000000000000000000000000000000000000"),
        bearer(""),
        bearer("x"),
        server.nobody().with("authorization", "Basic dGs6eA=="),
        server.nobody().with("cookie", "fastapiusersauth=x"),
        kept_out,
    ] {
        assert_eq!(bad.me().await.ok()["id"], "__anonymous_user__");
        // Where signing in would help, it is told so.
        for path in ["/api/users/me", "/api/persona/0", "/api/users", "/api/manage/users"] {
            bad.get(path).await.refused(401, "UNAUTHENTICATED");
        }
        bad.search(json!({"query": "x"})).await.refused(401, "UNAUTHENTICATED");
    }
    for (client, email) in [(&admin, "root@example.com"), (&reader, "reader@example.com")] {
        let me = client.me().await.ok();
        assert_eq!((&me["email"], &me["is_anonymous_user"]), (&json!(email), &Value::Null));
    }
    let limited = server.caller(Role::Limited).await;
    assert_eq!(limited.me().await.ok()["is_anonymous_user"], Value::Null);
    // Who signs out is nobody.
    reader.post("/api/auth/logout", Value::Null).await;
    assert_eq!(reader.me().await.ok()["id"], "__anonymous_user__");
    server.nobody().post("/api/auth/logout", Value::Null).await.refused(401, "UNAUTHENTICATED");
}

/// The database is asked when a request has no valid credential, and the route admits those.
#[tokio::test(flavor = "multi_thread")]
async fn only_who_has_no_credential_needs_the_settings() {
    let server = Server::changed(|backends| {
        let workspace: Arc<dyn WorkspaceStore> = Arc::new(Unreadable);
        Backends { workspace, ..backends }
    })
    .await;
    let admin = admin(&server).await;
    admin.me().await.ok();
    admin.get("/api/persona").await.ok();
    server.nobody().me().await.refused(503, "SERVICE_UNAVAILABLE");
    server.nobody().get("/api/users/me").await.refused(401, "UNAUTHENTICATED");
    server.nobody().get("/api/users").await.refused(401, "UNAUTHENTICATED");
    server.nobody().get("/api/health").await.ok();
}

/// Whoever has said so, and wherever.
#[tokio::test(flavor = "multi_thread")]
async fn every_process_on_the_database_knows_at_once() {
    let server = Server::start().await;
    let admin = admin(&server).await;
    let config = SqliteConfig::new(server.stack.directory.path().join("trove.db"));
    let store = Store::open_sqlite(config, Arc::new(SequentialIds::default())).await.unwrap();
    let workspace: Arc<dyn WorkspaceStore> = Arc::new(store);
    let backends = Backends { workspace, ..server.engine.backends().clone() };
    let other = Engine::new(backends, EngineConfig::default());
    assert_eq!(other.authenticate_anonymous().await.unwrap(), None);
    open(&admin).await;
    assert_eq!(other.authenticate_anonymous().await.unwrap(), Some(Caller::anonymous()));
    let closed = SettingsChange { anonymous_access: Some(false), ..SettingsChange::default() };
    other.change_workspace_settings(closed).await.unwrap();
    server.nobody().me().await.refused(401, "UNAUTHENTICATED");
}

async fn ingest(server: &Server, pair: CcPairId, id: &str) {
    let section = Section { text: format!("zebra {id}"), link: None };
    let id = DocumentId::new(id).unwrap();
    let document = Document::new(id, DocumentSource::File, "untitled", vec![section]);
    server.engine.ingest_batch(pair, vec![document]).await;
}

/// Nothing else, whatever is shared with whomever.
#[tokio::test(flavor = "multi_thread")]
async fn the_anonymous_user_finds_what_is_public() {
    let server = Server::start().await;
    let admin = admin(&server).await;
    open(&admin).await;
    // Somebody whose address is the one that stands for it.
    server.key(ANONYMOUS_EMAIL, Role::Basic).await;
    let group = server.group("g", &[(ANONYMOUS_EMAIL, false)]).await;
    let shared = server.private_pair("shared", &[group]).await;
    let private = server.private_pair("private", &[]).await;
    for (pair, id) in [(CcPair::DEFAULT, "public"), (shared, "shared"), (private, "private")] {
        ingest(&server, pair, id).await;
    }
    let engine = &server.engine;
    let request = SearchRequest::new(QueryText::new("zebra").unwrap());
    let found = engine.search(&Caller::anonymous(), request).await.unwrap();
    let found: Vec<&str> = found.iter().map(|result| result.section.document().as_str()).collect();
    assert_eq!(found, ["public"]);
    // Nobody remembers what nobody has asked.
    let request = DocumentSearchRequest::new("zebra");
    let events = engine.search_documents(&Caller::anonymous(), request).await.unwrap();
    assert!(events.collect::<Vec<_>>().await.len() >= 2);
    assert!(engine.search_history(&Caller::anonymous(), 10, None).await.unwrap().is_empty());
}

/// What everybody may see of agents, and no address of anybody.
#[tokio::test(flavor = "multi_thread")]
async fn the_anonymous_user_sees_public_agents_without_their_owners() {
    let server = Server::start().await;
    let admin = admin(&server).await;
    let owner = server.user("owner@example.com", Role::Basic).await;
    for (name, public) in [("open", true), ("closed", false)] {
        let agent = json!({"name": name, "description": "d", "system_prompt": "s",
            "task_prompt": "", "datetime_aware": false, "document_set_ids": [],
            "is_public": public, "tool_ids": []});
        owner.post("/api/persona", agent).await.ok();
    }
    open(&admin).await;
    let names = |list: &Value| {
        let list = list.as_array().unwrap().iter();
        list.map(|agent| agent["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let nobody = server.nobody();
    let (personas, agents) =
        (nobody.get("/api/persona").await.ok(), nobody.get("/api/agents").await.ok());
    assert_eq!(names(&personas), ["Assistant", "open"]);
    assert_eq!(names(&agents["items"]), ["Assistant", "open"]);
    assert!(!personas.to_string().contains('@') && !agents.to_string().contains('@'), "{personas}");
    let limited = server.caller(Role::Limited).await.get("/api/persona").await.ok();
    assert_eq!(limited[1]["owner"]["email"], "owner@example.com");
    let editable = nobody.get("/api/agents?get_editable=true&include_deleted=true").await.ok();
    assert_eq!(editable["total_items"], 0);
}

/// It is in no list, and cannot be given anything: as if it were not there, because it is not.
#[tokio::test(flavor = "multi_thread")]
async fn nobody_can_give_the_anonymous_user_anything() {
    let server = start().await;
    let admin = admin(&server).await;
    open(&admin).await;
    server.nobody().me().await.ok();
    for path in [
        "/api/users?include_api_keys=true",
        "/api/manage/users?include_api_keys=true",
        "/api/manage/users/accepted",
        "/api/manage/users/accepted/all",
        "/api/manage/users/accepted?q=anonymous",
        "/api/manage/users/invited",
        "/api/manage/users/counts",
        "/api/manage/users/download",
        "/api/manage/admin/user-group",
    ] {
        let answer = admin.get(path).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(!answer.text.contains("anonymous"), "{path}: {answer:?}");
        assert!(!answer.text.contains(&ANONYMOUS_USER.to_string()), "{path}: {answer:?}");
    }
    let counts = admin.get("/api/manage/users/counts").await.ok();
    assert_eq!(counts["role_counts"], json!({"admin": 1}));

    // By its address: neither what clients see nor what stands for it is a user's.
    for address in [ANONYMOUS_EMAIL, "__anonymous_user__", "Anonymous@LOCALHOST"] {
        for (route, more) in [
            ("/api/manage/set-user-role", json!({"new_role": "admin", "explicit_override": true})),
            ("/api/manage/admin/users/admin-access", json!({"is_admin": true})),
            (DEACTIVATE, json!({})),
            ("/api/manage/admin/activate-user", json!({})),
        ] {
            let mut body = more;
            body["user_email"] = json!(address);
            admin.patch(route, body).await.refused(404, "USER_NOT_FOUND");
        }
        let user = json!({"user_email": address});
        let delete = admin.delete_with("/api/manage/admin/delete-user", user.clone()).await;
        delete.refused(404, "USER_NOT_FOUND");
        let reset = admin.post("/api/password/reset_password", user).await;
        reset.refused(404, "USER_NOT_FOUND");
        let invited = admin.put("/api/manage/admin/users", json!({"emails": [address]})).await;
        invited.refused(400, "INVALID_INPUT");
        register(&server, address).await.invalid(&["body/email value_error"]);
        assert_eq!(login(&server, address, "").await.status, 400);
        assert!(server.engine.issue_key(address, None).await.is_err());
    }
    let reset = server.engine.reset_password(ANONYMOUS_EMAIL).await;
    assert!(matches!(reset, Err(AccountError::NoSuchUser(_))), "{reset:?}");

    // By its key: as somebody who is not there.
    let missing = "0190a1b2-c3d4-7000-8000-00000000000a";
    let (anonymous, root) = (ANONYMOUS_USER.to_string(), admin.me().await.ok()["id"].clone());
    let group = admin
        .post(
            "/api/manage/admin/user-group",
            json!({"name": "g", "user_ids": [], "cc_pair_ids": []}),
        )
        .await
        .ok()["id"]
        .clone();
    let agent = |users: Value| {
        json!({"name": "a", "description": "", "system_prompt": "", "task_prompt": "",
            "datetime_aware": false, "document_set_ids": [], "is_public": false, "tool_ids": [],
            "users": users})
    };
    let tries = async |user: &str| {
        let set = json!({"name": "s", "description": "", "cc_pair_ids": [1], "is_public": false,
            "users": [user], "groups": []});
        let members = json!({"name": "h", "user_ids": [user], "cc_pair_ids": []});
        let below = format!("/api/manage/admin/user-group/{group}");
        let curate = json!({"user_id": user, "is_curator": true});
        let all: Vec<Answer> = vec![
            admin.post("/api/manage/admin/user-group", members.clone()).await,
            admin.patch(&below, members).await,
            admin.post(&format!("{below}/add-users"), json!({"user_ids": [root, user]})).await,
            admin.post(&format!("{below}/set-curator"), curate).await,
            admin.post("/api/persona", agent(json!([user]))).await,
            admin.patch("/api/persona/0/share", json!({"user_ids": [user]})).await,
            admin.post("/api/manage/admin/document-set", set).await,
        ];
        all.into_iter()
            .map(|answer| (answer.status, answer.text.replace(user, "USER")))
            .collect::<Vec<_>>()
    };
    let (of_anonymous, of_missing) = (tries(&anonymous).await, tries(missing).await);
    assert_eq!(of_anonymous, of_missing);
    assert!(of_anonymous.iter().all(|(status, _)| *status >= 400), "{of_anonymous:?}");

    // By its own request: it changes nothing, and has no session to go on with.
    let nobody = server.nobody();
    for (method, path) in [
        (Method::PATCH, "/api/users/me"),
        (Method::POST, "/api/password/change-password"),
        (Method::POST, "/api/auth/refresh"),
        (Method::PATCH, "/api/auto-scroll"),
        (Method::POST, "/api/persona"),
    ] {
        nobody.send(method, path, None).await.refused(401, "UNAUTHENTICATED");
    }
}

/// Whoever registers or signs in does so as before, and is themselves then.
#[tokio::test(flavor = "multi_thread")]
async fn signing_in_ends_anonymity() {
    let server = start().await;
    let admin = admin(&server).await;
    open(&admin).await;
    assert_eq!(register(&server, "new@example.com").await.status, 201);
    let cookie = cookie(&login(&server, "new@example.com", super::people::PASSWORD).await);
    let me = server.nobody().with("cookie", &cookie).me().await.ok();
    assert_eq!(me["email"], "new@example.com");
    let key = server.engine.issue_key("new@example.com", None).await.unwrap();
    let key = format!("Bearer {}", key.secret.expose_secret());
    let me = server.nobody().with("authorization", &key).me().await.ok();
    assert_eq!((&me["email"], &me["role"]), (&json!("new@example.com"), &json!("basic")));
}

/// Who may call what: the matrix of the interface for its own routes, row by row. Each letter is a
/// caller, in the order of [`CALLERS`]: `y` gets in, `n` does not. Routes that do not exist yet are
/// passed over.
const MATRIX: &[(&str, &str)] = &[
    ("GET /chat/get-chat-session/{session_id}", "yyyyyyyy"),
    ("POST /chat/create-chat-session", "yyyyyyyy"),
    ("POST /chat/send-chat-message", "yyyyyyyy"),
    ("POST /chat/seed-chat-session", "yyyyyyyy"),
    ("GET /chat/get-user-chat-sessions", "nnyyyyyy"),
    ("DELETE /chat/delete-all-chat-sessions", "nnyyyyyy"),
    ("DELETE /chat/delete-chat-session/{session_id}", "nnyyyyyy"),
    ("GET /chat/file/{file_id}", "nnyyyyyy"),
    ("GET /chat/search", "nnyyyyyy"),
    ("POST /chat/stop-chat-session/{chat_session_id}", "nnyyyyyy"),
    ("POST /search", "nnyyyyyy"),
    ("POST /search/send-search-message", "nnyyyyyy"),
    ("GET /search/search-history", "nnyyyyyy"),
    ("PATCH /manage/set-user-role", "nnnnnnny"),
    ("GET /manage/users/accepted", "nnnnnnny"),
    ("GET /manage/users/invited", "nnnnnnny"),
    ("GET /manage/users", "nnnnnyyy"),
    ("PUT /manage/admin/users", "nnnnnnny"),
    ("PATCH /manage/admin/remove-invited-user", "nnnnnnny"),
    ("PATCH /manage/admin/deactivate-user", "nnnnnnny"),
    ("PATCH /manage/admin/activate-user", "nnnnnnny"),
    ("DELETE /manage/admin/delete-user", "nnnnnnny"),
    ("GET /users", "nnyyyyyy"),
    ("GET /get-user-role", "nnyyyyyy"),
    ("GET /me", "yyyyyyyy"),
    ("POST /chat/create-chat-message-feedback", "yyyyyyyy"),
    ("DELETE /chat/remove-chat-message-feedback", "yyyyyyyy"),
];

/// After whoever is not signed in.
const CALLERS: [Role; 7] = [
    Role::Limited,
    Role::SlackUser,
    Role::ExtPermUser,
    Role::Basic,
    Role::Curator,
    Role::GlobalCurator,
    Role::Admin,
];

#[tokio::test(flavor = "multi_thread")]
async fn the_matrix_of_permissions_holds_with_anonymous_access() {
    let server = Server::start().await;
    open(&admin(&server).await).await;
    let mut callers = vec![("anonymous", server.nobody(), 401)];
    for role in CALLERS {
        callers.push((role.as_str(), server.caller(role).await, 403));
    }
    let routes = inventory();
    let (mut wrong, mut rows) = (String::new(), 0);
    for (route, row) in MATRIX {
        let known = routes.iter().find(|info| format!("{} {}", info.method, info.path) == *route);
        let Some(info) = known else { continue };
        rows += 1;
        let method = Method::from_bytes(info.method.as_str().as_bytes()).unwrap();
        let path: String = info
            .path
            .split('/')
            .map(|part| match part {
                "" => String::new(),
                part if part.starts_with('{') => "/4711".to_owned(),
                part => format!("/{part}"),
            })
            .collect();
        for ((name, client, refusal), letter) in callers.iter().zip(row.chars()) {
            let answer = client.send(method.clone(), &format!("/api{path}"), None).await;
            let right = if letter == 'y' {
                ![401, 403].contains(&answer.status)
            } else {
                answer.status == *refusal
            };
            if !right {
                writeln!(wrong, "{route} as {name}: {}", answer.status).unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(rows >= 15, "{rows} routes of the matrix exist");
}
