//! Whatever is changed leaves a record of who did it, or is not done.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::sync::Arc;

use reqwest::Method;
use serde_json::{Value, json};
use trove_audit::{AuditConfig, FileAuditLog, Sync};
use trove_domain::access::Role;
use trove_domain::audit::AuditAction::{self, *};
use trove_domain::audit::{Actor, AuditEntry, AuditOutcome, Recording};
use trove_engine::Backends;
use trove_http::inventory;

use crate::server::{Answer, Client, Server, document};

/// Routes that change nothing that is administered, and why.
const WITHOUT_RECORD: &[(&str, &str)] = &[
    ("POST /search", "reads"),
    ("POST /search/send-search-message", "reads"),
    ("POST /manage/admin/connector/indexing-status", "reads"),
    ("POST /ingestion", "content of documents, which the registry tells of"),
    ("DELETE /ingestion/{document_id}", "content of documents, which the registry tells of"),
    ("POST /persona/labels", "words that agents are found by"),
    ("POST /admin/persona/upload-image", "does nothing yet"),
    ("PUT /manage/admin/cc-pair/{cc_pair_id}/name", "its name is in the query: recorded as status"),
    ("POST /manage/credential/private-key", "a form: credentials.rs; recorded as without a file"),
    (
        "PUT /manage/admin/credential/private-key/{credential_id}",
        "a form: credentials.rs; recorded as without a file",
    ),
    ("POST /manage/admin/connector/file/upload", "a form: files.rs"),
    ("POST /admin/llm/test", "changes nothing"),
    ("POST /admin/llm/test/default", "changes nothing"),
    ("POST /auth/logout", "ends the caller's own session"),
    ("POST /auth/refresh", "goes on with the caller's own session"),
    ("POST /auth/forgot-password", "does nothing: there is no mail"),
    ("POST /auth/reset-password", "does nothing: there is no mail"),
    ("POST /auth/request-verify-token", "does nothing: there is no mail"),
    ("POST /auth/verify", "does nothing: there is no mail"),
    ("PATCH /user/personalization", "what users set for themselves"),
    ("PATCH /user/default-model", "what users set for themselves"),
    ("PATCH /user/pinned-assistants", "what users set for themselves"),
    ("PATCH /user/assistant-list/update/{assistant_id}", "what users set for themselves"),
    ("PATCH /user/theme-preference", "what users set for themselves"),
    ("PATCH /user/chat-background", "what users set for themselves"),
    ("PATCH /user/default-app-mode", "what users set for themselves"),
    ("PATCH /auto-scroll", "what users set for themselves"),
    ("PATCH /temperature-override-enabled", "what users set for themselves"),
    ("PATCH /shortcut-enabled", "what users set for themselves"),
];

/// Every other route that is no `GET`, what it records, and a body that is valid. What it is about
/// need not be there: that it was tried is recorded all the same.
fn recorded() -> Vec<(&'static str, AuditAction, Value)> {
    [administered(), decided(), connected()].concat()
}

/// What is read, and with what.
fn connected() -> Vec<(&'static str, AuditAction, Value)> {
    let connector = || {
        json!({"name": "c", "source": "web", "input_type": "poll",
            "connector_specific_config": {}, "access_type": "public"})
    };
    let credential = json!({"credential_json": {}, "admin_public": true, "source": "slack"});
    let data = json!({"name": "n", "credential_json": {}});
    let pair = json!({"name": "p", "access_type": "public"});
    let property = json!({"name": "refresh_frequency", "value": "3600"});
    let swap = json!({"new_credential_id": 4711, "connector_id": 4711});
    let deleted = json!({"connector_id": 4711, "credential_id": 4711});
    vec![
        ("POST /manage/admin/connector", CreateConnector, connector()),
        ("PATCH /manage/admin/connector/{connector_id}", UpdateConnector, connector()),
        ("DELETE /manage/admin/connector/{connector_id}", DeleteConnector, Value::Null),
        ("POST /manage/admin/connector/{connector_id}/files/update", UpdateConnector, Value::Null),
        ("POST /manage/credential", CreateCredential, credential),
        ("PUT /manage/connector/{connector_id}/credential/{credential_id}", CreatePair, pair),
        (
            "DELETE /manage/connector/{connector_id}/credential/{credential_id}",
            RemovePair,
            Value::Null,
        ),
        ("POST /manage/admin/connector-with-mock-credential", CreatePair, connector()),
        (
            "POST /manage/admin/doc-boosts",
            FlagDocument,
            json!({"document_id": "nothing", "boost": 1}),
        ),
        (
            "POST /manage/admin/doc-hidden",
            FlagDocument,
            json!({"document_id": "nothing", "hidden": true}),
        ),
        ("POST /manage/admin/connector/run-once", RunPair, json!({"connector_id": 4711})),
        ("PUT /manage/admin/cc-pair/{cc_pair_id}/status", ChangePair, json!({"status": "PAUSED"})),
        ("PUT /manage/admin/cc-pair/{cc_pair_id}/property", ChangePair, property),
        ("POST /manage/admin/cc-pair/{cc_pair_id}/prune", ChangePair, Value::Null),
        ("POST /manage/admin/deletion-attempt", RemovePair, deleted),
        ("PUT /manage/admin/credential/swap", SwapCredential, swap),
        ("PATCH /manage/credential/{credential_id}", UpdateCredential, json!({})),
        ("PUT /manage/admin/credential/{credential_id}", UpdateCredential, data),
        ("DELETE /manage/credential/{credential_id}", DeleteCredential, Value::Null),
        ("DELETE /manage/credential/force/{credential_id}", DeleteCredential, Value::Null),
        ("DELETE /manage/admin/credential/{credential_id}", DeleteCredential, Value::Null),
    ]
}

/// What is decided for everybody, and who decides.
fn decided() -> Vec<(&'static str, AuditAction, Value)> {
    let access = json!({"user_email": "nobody@example.com", "is_admin": true});
    vec![
        ("PATCH /manage/admin/users/admin-access", SetRole, access),
        ("PUT /admin/settings", ChangeSettings, json!({})),
        ("PATCH /admin/settings", ChangeSettings, json!({"auto_scroll": true})),
    ]
}

fn administered() -> Vec<(&'static str, AuditAction, Value)> {
    let user = || json!({"user_email": "nobody@example.com"});
    let group = || json!({"user_ids": [], "cc_pair_ids": []});
    let member = "0190a1b2-c3d4-7000-8000-00000000000a";
    let set = json!({"id": 4711, "name": "s", "description": "", "cc_pair_ids": [1],
        "is_public": true, "users": [], "groups": []});
    let agent = json!({"name": "a", "description": "", "system_prompt": "", "task_prompt": "",
        "document_set_ids": [], "tool_ids": [], "datetime_aware": true});
    let model = || json!({"provider_id": 4711, "model_name": "m"});
    let sign_up = json!({"email": "new@example.com", "password": "correct horse battery"});
    let passwords = json!({"old_password": "correct horse", "new_password": "battery staple 9"});
    let limit = || json!({"enabled": true, "token_budget": 1, "period_hours": 1});
    vec![
        ("POST /admin/token-rate-limits/global", CreateTokenLimit, limit()),
        ("POST /admin/token-rate-limits/users", CreateTokenLimit, limit()),
        ("POST /admin/token-rate-limits/user-group/{group_id}", CreateTokenLimit, limit()),
        (
            "PUT /admin/token-rate-limits/rate-limit/{token_rate_limit_id}",
            UpdateTokenLimit,
            limit(),
        ),
        (
            "DELETE /admin/token-rate-limits/rate-limit/{token_rate_limit_id}",
            DeleteTokenLimit,
            Value::Null,
        ),
        ("POST /auth/register", Register, sign_up),
        ("POST /auth/login", SignIn, Value::Null),
        ("PATCH /users/me", ChangeAccount, json!({})),
        ("POST /password/change-password", ChangePassword, passwords),
        ("POST /password/reset_password", ResetPassword, user()),
        (
            "PATCH /manage/set-user-role",
            SetRole,
            json!({"user_email": "nobody@example.com", "new_role": "basic"}),
        ),
        ("PUT /manage/admin/users", Invite, json!({"emails": ["guest@example.com"]})),
        ("PATCH /manage/admin/remove-invited-user", WithdrawInvitation, user()),
        ("PATCH /manage/admin/deactivate-user", DeactivateUser, user()),
        ("PATCH /manage/admin/activate-user", ActivateUser, user()),
        ("DELETE /manage/admin/delete-user", DeleteUser, user()),
        (
            "POST /manage/admin/user-group",
            CreateGroup,
            json!({"name": "g", "user_ids": [], "cc_pair_ids": []}),
        ),
        ("PATCH /manage/admin/user-group/rename", RenameGroup, json!({"id": 4711, "name": "h"})),
        ("PATCH /manage/admin/user-group/{user_group_id}", ReplaceGroup, group()),
        ("DELETE /manage/admin/user-group/{user_group_id}", DeleteGroup, Value::Null),
        (
            "POST /manage/admin/user-group/{user_group_id}/add-users",
            AddMembers,
            json!({"user_ids": [member]}),
        ),
        (
            "POST /manage/admin/user-group/{user_group_id}/set-curator",
            SetCurator,
            json!({"user_id": member, "is_curator": true}),
        ),
        (
            "PUT /manage/admin/user-group/{user_group_id}/manager",
            SetCurator,
            json!({"user_id": member, "is_manager": true}),
        ),
        ("POST /manage/admin/document-set", CreateDocumentSet, set.clone()),
        ("PATCH /manage/admin/document-set", UpdateDocumentSet, set),
        ("DELETE /manage/admin/document-set/{document_set_id}", DeleteDocumentSet, Value::Null),
        ("POST /persona", CreateAgent, agent.clone()),
        ("PATCH /persona/{persona_id}", UpdateAgent, agent),
        ("DELETE /persona/{persona_id}", DeleteAgent, Value::Null),
        ("PATCH /persona/{persona_id}/share", ShareAgent, json!({"is_public": true})),
        ("PATCH /persona/{persona_id}/public", ShareAgent, json!({"is_public": true})),
        ("PATCH /admin/persona/{persona_id}/visible", FlagAgent, json!({"is_visible": true})),
        ("PATCH /admin/persona/{persona_id}/listed", FlagAgent, json!({"is_listed": true})),
        (
            "PATCH /admin/persona/{persona_id}/default",
            FlagAgent,
            json!({"is_default_persona": true}),
        ),
        ("PATCH /admin/persona/{persona_id}/featured", FlagAgent, json!({"is_featured": true})),
        ("PATCH /admin/persona/{persona_id}/undelete", FlagAgent, Value::Null),
        (
            "PATCH /admin/agents/display-priorities",
            ArrangeAgents,
            json!({"display_priority_map": {"4711": 1}}),
        ),
        (
            "PUT /admin/llm/provider",
            PutProvider,
            json!({"name": "p", "provider": "openai", "api_key": "sk-x", "api_key_changed": true}),
        ),
        ("DELETE /admin/llm/provider/{provider_id}", RemoveProvider, Value::Null),
        ("POST /admin/llm/provider/{provider_id}/default", SetDefaultModel, Value::Null),
        ("POST /admin/llm/provider/{provider_id}/default-vision", SetDefaultModel, Value::Null),
        ("POST /admin/llm/default", SetDefaultModel, model()),
        ("POST /admin/llm/default-vision", SetDefaultModel, model()),
        ("POST /admin/llm/default-chat-naming", SetDefaultModel, model()),
    ]
}

fn all_recorded() -> Vec<(&'static str, AuditAction, Value)> {
    recorded().into_iter().chain(recorded_of_keys()).collect()
}

/// The same of keys and tokens.
fn recorded_of_keys() -> [(&'static str, AuditAction, Value); 6] {
    [
        ("POST /admin/api-key", CreateKey, json!({"name": "crawler"})),
        ("PATCH /admin/api-key/{api_key_id}", UpdateKey, json!({"role": "admin"})),
        ("POST /admin/api-key/{api_key_id}/regenerate", RegenerateKey, Value::Null),
        ("DELETE /admin/api-key/{api_key_id}", RevokeKey, Value::Null),
        ("POST /user/pats", CreateAccessToken, json!({"name": "notebook"})),
        ("DELETE /user/pats/{token_id}", RevokeAccessToken, Value::Null),
    ]
}

/// Sends a valid request to a route.
async fn call(client: &Client<'_>, route: &str, body: &Value, request: &str) -> Answer {
    let (method, template) = route.split_once(' ').unwrap();
    let mut path = String::from("/api");
    for (index, part) in template.split(['{', '}']).enumerate() {
        // Every second part is a parameter; nothing has this number.
        path.push_str(if index % 2 == 0 { part } else { "4711" });
    }
    let client = client.with("x-request-id", request);
    if route == "POST /auth/login" {
        return client.form(&path, "username=admin@example.com&password=wrong").await;
    }
    let method = Method::from_bytes(method.as_bytes()).unwrap();
    let client = client.with("content-type", "application/json");
    let body = (!body.is_null()).then(|| body.to_string().into_bytes());
    client.send(method, &path, body).await
}

#[tokio::test(flavor = "multi_thread")]
async fn every_route_that_changes_something_leaves_a_record() {
    let server = Server::start().await;
    let admin = server.user("admin@example.com", Role::Admin).await;
    let recorded = all_recorded();
    let mut wrong = String::new();
    for info in inventory() {
        if info.method == "GET" || info.companion_of.is_some() || !info.documented {
            continue;
        }
        let route = format!("{} {}", info.method, info.path);
        let exempt =
            WITHOUT_RECORD.iter().any(|(without, why)| *without == route && !why.is_empty());
        if exempt != recorded.iter().all(|(known, ..)| *known != route) {
            writeln!(wrong, "{route} records something, or is listed with a reason").unwrap();
        }
    }
    for (number, (route, action, body)) in recorded.iter().enumerate() {
        let request = format!("request-{number}");
        let answer = call(&admin, route, body, &request).await;
        // A password is changed by who signs in, and that it was tried otherwise is recorded, too.
        let is_refused = answer.status == 403 && *action == ChangePassword;
        // A credential that is not there is answered so.
        let absent = answer.status == 401 && route.contains("{credential_id}");
        let unfit = [401, 403, 405, 422, 500, 503].contains(&answer.status);
        assert!(is_refused || absent || !unfit, "{route}: {answer:?}");
        let entries = server.stack.audit.entries();
        let own: Vec<&AuditEntry> =
            entries.iter().filter(|entry| entry.request_id.as_deref() == Some(&request)).collect();
        let actions: BTreeSet<AuditAction> = own.iter().map(|entry| entry.action).collect();
        let outcomes: Vec<AuditOutcome> = own.iter().map(|entry| entry.outcome).collect();
        let complete = match action {
            // Changes nothing by itself.
            SignIn => outcomes == [AuditOutcome::Refused],
            _ => outcomes.len() == 2 && outcomes[0] == AuditOutcome::Begun,
        };
        let done = outcomes.last() == Some(&AuditOutcome::Done);
        let is_known = own.iter().all(|entry| match &entry.actor {
            Actor::User { email, token, .. } => email == "admin@example.com" && token.is_some(),
            Actor::Nobody | Actor::Operator | Actor::System => false,
        });
        let public = ["POST /auth/register", "POST /auth/login"].contains(route);
        let by_nobody = own.iter().all(|entry| entry.actor == Actor::Nobody);
        let right = actions == [*action].into()
            && complete
            && done == (answer.status < 300)
            && if public { by_nobody } else { is_known };
        if !right {
            writeln!(wrong, "{route} ({}): {own:#?}", answer.status).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Roles and secrets are not touched; the rest goes on.
#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_recorded_is_not_done_where_roles_and_secrets_are() {
    let server = Server::start().await;
    let admin = server.user("admin@example.com", Role::Admin).await;
    server.user("member@example.com", Role::Basic).await;
    server.stack.audit.set_broken(true);
    for (route, action, body) in &all_recorded() {
        let answer = call(&admin, route, body, "r").await;
        let refused = answer.status == 503;
        assert_eq!(refused, action.recording() == Recording::Required, "{route}: {answer:?}");
        if refused {
            let detail = answer.refused(503, "SERVICE_UNAVAILABLE");
            assert!(!detail.contains("audit") && !detail.contains("space"), "{detail}");
        }
    }
    let role = json!({"user_email": "member@example.com", "new_role": "admin"});
    let path = "/api/manage/set-user-role";
    admin.patch(path, role.clone()).await.refused(503, "SERVICE_UNAVAILABLE");
    let users = &server.engine.backends().users;
    let member = async || users.get_by_email("member@example.com").await.unwrap().unwrap();
    assert_eq!(member().await.role, Role::Basic);
    assert!(server.engine.issue_key("member@example.com", None).await.is_err());
    let keys = server.engine.list_keys(None, 100).await.unwrap();
    assert_eq!(keys.len(), 2, "no key was made");
    let keep_out = json!({"user_email": "member@example.com"});
    admin.patch("/api/manage/admin/deactivate-user", keep_out).await.ok();
    assert!(!member().await.active);
    server.stack.audit.set_broken(false);
    admin.patch(path, role).await.ok();
    assert_eq!(member().await.role, Role::Admin);
}

/// What an entry says of a change of a group.
#[tokio::test(flavor = "multi_thread")]
async fn an_entry_says_who_did_what_to_whom() {
    let server = Server::start().await;
    let admin = server.user("admin@example.com", Role::Admin).await;
    server.user("member@example.com", Role::Basic).await;
    let member = server.engine.backends().users.get_by_email("member@example.com").await.unwrap();
    let member = member.unwrap().id;
    let body = json!({"name": "Readers", "user_ids": [member.to_string()], "cc_pair_ids": []});
    let group = admin.post("/api/manage/admin/user-group", body).await.ok()["id"].clone();
    let curate = json!({"user_id": member.to_string(), "is_curator": true});
    let path = format!("/api/manage/admin/user-group/{group}/set-curator");
    admin.with("x-request-id", "r-1").post(&path, curate).await.ok();
    let entries = server.stack.audit.entries();
    let [begun, done] = &entries[entries.len() - 2..] else { panic!("{entries:?}") };
    assert_eq!((begun.action, begun.outcome), (SetCurator, AuditOutcome::Begun));
    assert_eq!(begun.details["user"], member.to_string());
    assert_eq!(begun.details["source"], "127.0.0.1");
    assert_eq!((done.action, done.outcome), (SetCurator, AuditOutcome::Done));
    assert_eq!(done.begun, Some(u64::try_from(entries.len()).unwrap() - 1));
    assert_eq!(done.subject, Some(format!("group {group}")));
    assert_eq!(done.details["roles"], format!("{member}=curator"));
    assert_eq!(done.request_id.as_deref(), Some("r-1"));
    // What the program does by itself is the program's.
    server.engine.bootstrap_admin().await.unwrap();
    let own = server.stack.audit.entries().pop().unwrap();
    assert_eq!((own.actor, own.action), (Actor::System, FirstAdministrator));
}

/// Whatever is secret, found or said.
#[tokio::test(flavor = "multi_thread")]
async fn no_secret_and_no_content_is_in_the_audit_log() {
    let folder = tempfile::tempdir().unwrap();
    let config = AuditConfig {
        folder: folder.path().to_owned(),
        rotate_bytes: u64::MAX,
        sync: Sync::Required,
    };
    let log = Arc::new(FileAuditLog::open(config).unwrap());
    let server = Server::changed(|backends| Backends { audit: Some(log), ..backends }).await;
    let admin = server.user("admin@example.com", Role::Admin).await;
    let key = server.key("robot@example.com", Role::Basic).await;
    let account = json!({"email": "person@example.com", "password": "canary-password-1"});
    assert_eq!(server.nobody().post("/api/auth/register", account).await.status, 201);
    let form = "username=person@example.com&password=canary-password-1";
    assert_eq!(server.nobody().form("/api/auth/login", form).await.status, 204);
    // Somebody types the password into the wrong field.
    let form = "username=canary-password-2&password=canary-password-3";
    assert_eq!(server.nobody().form("/api/auth/login", form).await.status, 400);
    let user = json!({"user_email": "person@example.com"});
    let reset = admin.post("/api/password/reset_password", user).await.ok();
    let new_password = reset["new_password"].as_str().unwrap().to_owned();
    let provider = json!({"name": "P", "provider": "openai", "default_model_name": "m",
        "api_key": "canary-api-key", "api_key_changed": true,
        "custom_config": {"token": "canary-setting"}, "custom_config_changed": true,
        "api_base": "https://canary-user:canary-secret@models.example.com/v1",
        "model_configurations": [{"name": "m", "is_visible": true}]});
    for creation in ["true", "false"] {
        admin
            .put(&format!("/api/admin/llm/provider?is_creation={creation}"), provider.clone())
            .await;
    }
    admin.ingest(json!({"document": document("a", "canary-title", "canary-text")})).await.ok();
    admin.search(json!({"query": "canary-query"})).await.ok();
    let agent = json!({"name": "Agent", "description": "canary-description",
        "system_prompt": "canary-prompt", "task_prompt": "canary-task", "document_set_ids": [],
        "tool_ids": [], "datetime_aware": true});
    admin.post("/api/persona", agent).await.ok();

    let mut text = String::new();
    for entry in fs::read_dir(folder.path()).unwrap() {
        text.push_str(&fs::read_to_string(entry.unwrap().path()).unwrap());
    }
    for action in [Register, SignIn, ResetPassword, PutProvider, CreateKey, CreateAgent] {
        assert!(text.contains(action.as_str()), "{action:?}");
    }
    assert!(!text.contains("canary"), "{text}");
    assert!(!text.contains(&key) && !text.contains(&new_password));
    let verified = trove_audit::verify(folder.path(), None).unwrap();
    assert!(verified.is_ok(), "{verified:?}");
}
