//! What went wrong in systems of this kind, by the number of its report. Those that have a place
//! among the behaviours of their part are tested there.

use std::fmt::Write as _;

use reqwest::Method;
use serde_json::{Value, json};
use trove_domain::access::Role;
use trove_http::{Policy, inventory};

use super::people::{PASSWORD, browser, cheap, coded, login, register, staff, start, with};
use crate::server::{Client, Server, document};
use trove_engine::accounts::AccountConfig;

/// The path of a route with numbers for its parameters.
fn path(template: &str) -> String {
    let mut path = String::from("/api");
    for (index, part) in template.split(['{', '}']).enumerate() {
        path.push_str(if index % 2 == 0 { part } else { "1" });
    }
    path
}

fn method(name: &str) -> Method {
    Method::from_bytes(name.as_bytes()).unwrap()
}

/// CVE-2024-8065: no page of another origin changes anything with a live session, whatever the
/// route and however a form or a script may send it.
#[tokio::test(flavor = "multi_thread")]
async fn cve_2024_8065_no_route_is_changed_from_another_origin() {
    let server = start().await;
    staff(&server).await;
    let session = browser(&server, "reader@example.com").await;
    let users = &server.engine.backends().users;
    let reader = users.get_by_email("reader@example.com").await.unwrap().unwrap();
    let now = server.engine.backends().clock.now();
    users.set_role(reader.id, Role::Basic, Role::Admin, now).await.unwrap();
    let before = session.me().await.ok();
    let mut wrong = String::new();
    let mut tried = 0;
    for info in inventory().iter().filter(|info| info.method != "GET") {
        for (header, value) in [
            ("origin", "https://evil.example"),
            ("origin", "null"),
            ("origin", "http://127.0.0.1"),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-site", "same-site"),
        ] {
            // What a form can send without being asked for leave.
            for kind in ["text/plain", "application/x-www-form-urlencoded", "application/json"] {
                let page = session.with(header, value).with("content-type", kind);
                let body = b"{\"user_email\":\"root@example.com\"}".to_vec();
                let (method, path) = (method(info.method.as_str()), path(info.path));
                let answer = page.send(method, &path, Some(body)).await;
                tried += 1;
                if answer.status != 403 || answer.json()["error_code"] != "CSRF_FAILURE" {
                    writeln!(wrong, "{} {} {header}: {answer:?}", info.method, info.path).unwrap();
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(tried > 500, "{tried}");
    assert_eq!(session.me().await.ok(), before);
}

/// CVE-2024-9612: what a role may not do is refused by the server, not only left out of pages.
#[tokio::test(flavor = "multi_thread")]
async fn cve_2024_9612_the_server_refuses_what_pages_hide() {
    let server = Server::start().await;
    let limited = server.caller(Role::Limited).await;
    let refused = "INSUFFICIENT_PERMISSIONS";
    limited.search(json!({"query": "x"})).await.refused(403, refused);
    limited.send_search(json!({"search_query": "x"})).await.refused(403, refused);
    limited.history("").await.refused(403, refused);
    for info in inventory().iter().filter(|info| info.policy == Policy::Admin) {
        for role in [Role::Basic, Role::Curator, Role::GlobalCurator] {
            let caller = server.caller(role).await;
            let answer = caller.send(method(info.method.as_str()), &path(info.path), None).await;
            assert_eq!(answer.status, 403, "{} {} as {role}", info.method, info.path);
        }
    }
}

/// CVE-2026-32617: no answer of any route lets another origin read it.
#[tokio::test(flavor = "multi_thread")]
async fn cve_2026_32617_no_route_allows_an_origin() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await.with("origin", "https://evil.example");
    for info in inventory() {
        let preflight = admin.with("access-control-request-method", info.method.as_str());
        let preflight = preflight.with("access-control-request-headers", "authorization");
        let path = path(info.path);
        for answer in [
            preflight.send(Method::OPTIONS, &path, None).await,
            admin.send(method(info.method.as_str()), &path, None).await,
        ] {
            let names = answer.headers.keys();
            let allowing: Vec<_> =
                names.filter(|name| name.as_str().starts_with("access-control-")).collect();
            assert!(allowing.is_empty(), "{} {}: {allowing:?}", info.method, info.path);
        }
    }
}

/// CVE-2024-0798: the role that everybody has removes nobody's documents.
#[tokio::test(flavor = "multi_thread")]
async fn cve_2024_0798_normal_users_remove_no_documents() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    admin.ingest(json!({"document": document("kept", "Kept", "apple")})).await.ok();
    for role in Role::ALL.into_iter().filter(|role| *role != Role::Admin) {
        let caller = server.caller(role).await;
        let answer = caller.remove("kept").await;
        answer.refused(403, "INSUFFICIENT_PERMISSIONS");
        let again = json!({"document": document("kept", "Taken", "pear")});
        caller.ingest(again).await.refused(403, "INSUFFICIENT_PERMISSIONS");
    }
    assert_eq!(admin.search(json!({"query": "apple"})).await.titles(), ["Kept"]);
}

/// CVE-2024-12880: no field that names a tenant, an owner or a role is believed, and no list of
/// users shows what they sign in with.
#[tokio::test(flavor = "multi_thread")]
async fn cve_2024_12880_nobody_names_whose_request_it_is() {
    let server = start().await;
    let admin = staff(&server).await;
    let key = server.key("victim@example.com", Role::Admin).await;
    let victim = server.engine.backends().users.get_by_email("victim@example.com").await.unwrap();
    let victim = victim.unwrap().id.to_string();
    let reader = browser(&server, "reader@example.com").await;
    let own = reader.me().await.ok();
    let claims = ["tenant_id", "user_id", "id", "role", "is_superuser", "owner", "email_of"];
    for claim in claims {
        let query = format!("/api/me?{claim}={victim}");
        assert_eq!(reader.get(&query).await.ok()["id"], own["id"], "{claim}");
        let claiming = reader.with(&format!("x-{}", claim.replace('_', "-")), &victim);
        assert_eq!(claiming.me().await.ok()["id"], own["id"], "{claim}");
        let mut body = json!({"name": claim});
        body[claim] = json!(victim);
        reader.patch("/api/user/personalization", body).await;
    }
    let account = json!({"email": "new@example.com", "password": PASSWORD, "role": "admin",
        "is_superuser": true, "tenant_id": "other", "id": victim});
    let made = server.nobody().post("/api/auth/register", account).await.json();
    assert_eq!((&made["role"], &made["is_superuser"]), (&json!("basic"), &json!(false)));
    assert_ne!(made["id"], json!(victim));
    // The hash, or a part of it, is as good as the key to somebody who guesses.
    for path in [
        "/api/users",
        "/api/manage/users",
        "/api/manage/users/accepted",
        "/api/manage/users/accepted/all",
        "/api/manage/users/download",
        "/api/me",
    ] {
        let text = admin.get(path).await.text;
        assert!(!text.contains(&key) && !text.contains("argon2"), "{path}: {text}");
        assert!(!text.contains("hash") && !text.contains(&key[3..20]), "{path}: {text}");
    }
}

/// CVE-2026-24477: what everybody may ask for tells nothing that was configured.
#[tokio::test(flavor = "multi_thread")]
async fn cve_2026_24477_nothing_public_shows_a_secret() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let provider = json!({"name": "Canary provider", "provider": "openai",
        "default_model_name": "canary-model", "api_key": "canary-key", "api_key_changed": true,
        "api_base": "https://canary.example.com/v1", "custom_config": {"canary": "canary-value"},
        "custom_config_changed": true,
        "model_configurations": [{"name": "canary-model", "is_visible": true}]});
    admin.put("/api/admin/llm/provider?is_creation=true", provider).await.ok();
    let directory = server.stack.directory.path().to_str().unwrap().to_owned();
    for info in inventory() {
        if info.policy != Policy::Public {
            continue;
        }
        let answer =
            server.nobody().send(method(info.method.as_str()), &path(info.path), None).await;
        let headers = format!("{:?}", answer.headers);
        for text in [answer.text.to_lowercase(), headers.to_lowercase()] {
            assert!(!text.contains("canary") && !text.contains(&directory), "{}", info.path);
        }
    }
    // Nor do those who sign in see keys, addresses and settings.
    for path in ["/api/llm/provider", "/api/settings", "/api/llm/persona/0/providers"] {
        let text = server.caller(Role::Basic).await.get(path).await.text;
        for secret in ["canary-key", "canary-value", "canary.example.com"] {
            assert!(!text.contains(secret), "{path}: {text}");
        }
    }
}

/// CVE-2025-32796: who may not administer hides and shows no agents.
#[tokio::test(flavor = "multi_thread")]
async fn cve_2025_32796_normal_users_switch_no_agents() {
    let server = Server::start().await;
    let owner = server.caller(Role::Basic).await;
    let body = json!({"name": "a", "description": "", "system_prompt": "", "task_prompt": "",
        "document_set_ids": [], "tool_ids": [], "datetime_aware": true, "is_public": true});
    let id = owner.post("/api/persona", body).await.ok()["id"].clone();
    let other = server.caller(Role::Basic).await;
    for client in [&owner, &other] {
        for (flag, field) in [
            ("visible", "is_visible"),
            ("listed", "is_listed"),
            ("default", "is_default_persona"),
            ("featured", "is_featured"),
        ] {
            let path = format!("/api/admin/persona/{id}/{flag}");
            let mut body = json!({});
            body[field] = json!(false);
            client.patch(&path, body).await.refused(403, "INSUFFICIENT_PERMISSIONS");
        }
        let order = json!({"display_priority_map": {id.to_string(): 1}});
        let order = client.patch("/api/admin/agents/display-priorities", order).await;
        order.refused(403, "INSUFFICIENT_PERMISSIONS");
    }
    let seen = other.get(&format!("/api/persona/{id}")).await.ok();
    assert_eq!((&seen["is_visible"], &seen["display_priority"]), (&json!(true), &Value::Null));
}

/// CVE-2026-72917: another spelling is the same guess, and a password is what it is to the blank.
#[tokio::test(flavor = "multi_thread")]
async fn cve_2026_72917_spelling_gives_no_further_guesses() {
    let server = with(AccountConfig { attempts_per_address: 3, ..cheap() }).await;
    staff(&server).await;
    for password in [format!(" {PASSWORD}"), format!("{PASSWORD} "), format!("{PASSWORD}\n")] {
        coded(&login(&server, "reader@example.com", &password).await, "LOGIN_BAD_CREDENTIALS");
    }
    for email in ["READER@example.com", "reader@EXAMPLE.COM", "Reader@Example.com"] {
        assert_eq!(login(&server, email, PASSWORD).await.status, 429, "{email}");
    }
    // With blanks it is another address, which nobody has.
    let padded = login(&server, " reader@example.com ", PASSWORD).await;
    assert!([400, 429].contains(&padded.status), "{padded:?}");
}

/// CVE-2024-7779: what is searched for is text, not a pattern.
#[tokio::test(flavor = "multi_thread")]
async fn cve_2024_7779_a_search_of_users_knows_no_patterns() {
    let server = Server::start().await;
    let admin = server.user("root@example.com", Role::Admin).await;
    let invited = json!({"emails": [format!("{}@example.com", "a".repeat(60))]});
    admin.put("/api/manage/admin/users", invited).await.ok();
    for pattern in [
        "%",
        "_oot@",
        "(a+)+$",
        ".*",
        "^root",
        "[a-z]+",
        "(a|aa)+$",
        "root|reader",
        "\\w+",
        "$",
        "(",
    ] {
        let found = found(&admin, pattern).await;
        assert_eq!(found, (0, 0), "{pattern}");
    }
    assert_eq!(found(&admin, "aaaa").await, (0, 1));
    assert_eq!(found(&admin, "root@").await, (1, 0));
}

/// How many users and invitations a search finds.
async fn found(admin: &Client<'_>, text: &str) -> (usize, usize) {
    let query: String = url::form_urlencoded::byte_serialize(text.as_bytes()).collect();
    let all = admin.get(&format!("/api/manage/users?q={query}")).await.ok();
    let count = |list: &str| all[list].as_array().unwrap().len();
    (count("accepted"), count("invited"))
}

/// The count by address is there before anybody has registered with it.
#[tokio::test(flavor = "multi_thread")]
async fn who_is_registered_twice_is_one() {
    let server = start().await;
    staff(&server).await;
    let spellings = ["READER@example.com", "reader@EXAMPLE.com", "Reader@example.com"];
    for email in spellings {
        coded(&register(&server, email).await, "REGISTER_USER_ALREADY_EXISTS");
    }
}
