//! Who gets in: carriers of keys, every route for every kind of caller, and the order of checks.

use std::fmt::Write as _;

use reqwest::Method;
use serde_json::json;
use trove_domain::access::Role;
use trove_domain::api_key::ListedKey;
use trove_domain::port::UserChange;
use trove_engine::EngineConfig;
use trove_http::{Gate, Policy, inventory};

use crate::server::{Client, Options, Server, document};

async fn without_vector_db() -> Server {
    let engine = EngineConfig { vector_db: false, ..EngineConfig::default() };
    Server::with(Options { engine, ..Options::default() }).await
}

/// The path of a route, with something in place of its parameters.
fn path(template: &str) -> String {
    let path = template.replace("{document_id}", "none").replace("{cc_pair_id}", "1");
    let path = path.replace("{persona_id}", "0").replace("{tool_id}", "1");
    let path = path.replace("{document_set_id}", "4711").replace("{provider_id}", "1");
    let path = path
        .replace("{assistant_id}", "1")
        .replace("{user_group_id}", "4711")
        .replace("{group_id}", "4711")
        .replace("{token_rate_limit_id}", "4711")
        .replace("{api_key_id}", "4711")
        .replace("{token_id}", "4711");
    format!("/api{}", path.replace("{file}", "page.js"))
}

/// CVE-2024-32881, CVE-2024-9612: every route of the table, for every kind of caller. The body is empty: whoever gets past the
/// guards learns that (422), learns that something is missing (404, 400), or gets an answer.
#[tokio::test(flavor = "multi_thread")]
async fn cve_2024_32881_every_route_admits_whom_its_policy_says() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let (limited, basic) = (server.caller(Role::Limited).await, server.caller(Role::Basic).await);
    let curator = server.caller(Role::Curator).await;
    let global_curator = server.caller(Role::GlobalCurator).await;
    let (slack, ext) =
        (server.caller(Role::SlackUser).await, server.caller(Role::ExtPermUser).await);
    let revoked = revoked(&server).await;
    let inactive = inactive(&server).await;
    let bearer = |token: &str| server.nobody().with("authorization", &format!("Bearer {token}"));
    // Each with the policies that admit it.
    let all = [
        Policy::Public,
        Policy::Chat,
        Policy::Limited,
        Policy::Basic,
        Policy::Curator,
        Policy::Admin,
    ];
    let (signed_in, user, curators) = (&all[..3], &all[..4], &all[..5]);
    let callers: [(&str, Client<'_>, &[Policy], u16); 14] = [
        ("nobody", server.nobody(), &[Policy::Public], 401),
        ("malformed", server.nobody().with("authorization", "Bearer"), &[Policy::Public], 401),
        (
            "basic scheme",
            server.nobody().with("authorization", "Basic dGs6eA=="),
            &[Policy::Public],
            401,
        ),
        ("cookie", server.nobody().with("cookie", "fastapiusersauth=x"), &[Policy::Public], 401),
        ("unknown", bearer("tk_0000000000000000000000000000000000000000"), &[Policy::Public], 401),
        ("revoked", bearer(&revoked), &[Policy::Public], 401),
        ("inactive", bearer(&inactive), &[Policy::Public], 401),
        ("limited", limited, signed_in, 403),
        ("basic", basic, user, 403),
        ("slack_user", slack, user, 403),
        ("ext_perm_user", ext, user, 403),
        ("curator", curator, curators, 403),
        ("global_curator", global_curator, curators, 403),
        ("admin", admin, &all, 403),
    ];
    let mut wrong = String::new();
    for info in inventory() {
        for (name, client, admitting, refusal) in &callers {
            let method = Method::from_bytes(info.method.as_str().as_bytes()).unwrap();
            let answer = client.send(method, &path(info.path), None).await;
            let admitted = admitting.contains(&info.policy);
            let right = if admitted {
                let missing = info.path == "/admin/persona/upload-image" && answer.status == 501;
                let missing = missing || is_for_sessions(info.path) && answer.status == 401;
                // Whoever gets past the guards may be kept from the object.
                let kept = answer.status == 403
                    && answer.json()["detail"].as_str().unwrap().starts_with("you may not");
                [200, 400, 404, 422].contains(&answer.status) || missing || kept
            } else {
                answer.status == *refusal
                    && answer.json()["error_code"].is_string()
                    && (answer.status == 401)
                        == (answer.header("www-authenticate") == Some("Bearer"))
            };
            if !right {
                writeln!(wrong, "{} {} as {name}: {}", info.method, info.path, answer.status)
                    .unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Routes that somebody with a key has no use for.
fn is_for_sessions(path: &str) -> bool {
    ["/auth/logout", "/auth/refresh"].contains(&path)
}

async fn revoked(server: &Server) -> String {
    let key = server.key("revoked@example.com", Role::Admin).await;
    let keys = server.engine.list_keys(None, 1000).await.unwrap();
    let of_user = |listed: &&ListedKey| listed.holder.user.email == "revoked@example.com";
    let id = &keys.iter().find(of_user).unwrap().key;
    let client = server.nobody().with("authorization", &format!("Bearer {key}"));
    assert_eq!(client.me().await.status, 200);
    assert!(server.engine.revoke_key(id.id).await.unwrap());
    key
}

async fn inactive(server: &Server) -> String {
    let key = server.key("inactive@example.com", Role::Admin).await;
    let users = &server.engine.backends().users;
    let user = users.get_by_email("inactive@example.com").await.unwrap().unwrap();
    let now = server.engine.backends().clock.now();
    // Not the last administrator.
    server.key("another-admin@example.com", Role::Admin).await;
    assert_eq!(users.deactivate(user.id, now).await.unwrap(), UserChange::Done);
    key
}

#[tokio::test(flavor = "multi_thread")]
async fn row_1_me_without_credential_is_401() {
    let server = Server::start().await;
    let answer = server.nobody().me().await;
    answer.refused(401, "UNAUTHENTICATED");
    assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
}

#[tokio::test(flavor = "multi_thread")]
async fn row_3_lower_case_bearer_is_no_credential() {
    let server = Server::start().await;
    let key = server.key("a@example.com", Role::Basic).await;
    let as_is = |value: String| server.nobody().with("authorization", &value);
    as_is(format!("bearer {key}")).me().await.refused(401, "UNAUTHENTICATED");
    as_is(format!("BEARER {key}")).me().await.refused(401, "UNAUTHENTICATED");
    as_is(format!("Bearer\t{key}")).me().await.refused(401, "UNAUTHENTICATED");
    as_is(format!("Bearer {key} ")).me().await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn row_4_a_bare_api_key_is_accepted() {
    let server = Server::start().await;
    let key = server.key("a@example.com", Role::Basic).await;
    server.nobody().with("authorization", &key).me().await.ok();
    // What does not look like an API key is not looked up.
    let bare = server.nobody().with("authorization", key.trim_start_matches("tk_"));
    bare.me().await.refused(401, "UNAUTHENTICATED");
}

#[tokio::test(flavor = "multi_thread")]
async fn row_5_the_product_header_wins() {
    let server = Server::start().await;
    let a = server.key("a@example.com", Role::Basic).await;
    let b = server.key("b@example.com", Role::Basic).await;
    let both = |product: &str, standard: &str| {
        let client = server.nobody().with("x-trove-authorization", &format!("Bearer {product}"));
        client.with("authorization", &format!("Bearer {standard}"))
    };
    assert_eq!(both(&a, &b).me().await.ok()["email"], "a@example.com");
    assert_eq!(both(&a, "x").me().await.ok()["email"], "a@example.com");
    both("x", &b).me().await.refused(401, "UNAUTHENTICATED");
    server.nobody().with("x-trove-authorization", &a).me().await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn row_6_an_unauthenticated_malformed_path_is_401() {
    let server = Server::start().await;
    server.nobody().connector_docs("not-a-number").await.refused(401, "UNAUTHENTICATED");
    let admin = server.caller(Role::Admin).await;
    admin.connector_docs("not-a-number").await.invalid(&["path/cc_pair_id int_parsing"]);
}

/// Decision 13: the credential comes first, unlike in the reference.
#[tokio::test(flavor = "multi_thread")]
async fn row_7_an_unauthenticated_malformed_body_is_401() {
    let server = Server::start().await;
    server.nobody().search_raw("{").await.refused(401, "UNAUTHENTICATED");
}

/// Decision 13: the credential comes first, unlike in the reference.
#[tokio::test(flavor = "multi_thread")]
async fn row_8_unauthenticated_without_vector_db_is_401() {
    let server = without_vector_db().await;
    server.nobody().search(json!({"query": "x"})).await.refused(401, "UNAUTHENTICATED");
}

#[tokio::test(flavor = "multi_thread")]
async fn row_9_without_vector_db_even_an_empty_body_is_501() {
    let server = without_vector_db().await;
    let basic = server.caller(Role::Basic).await;
    let detail = basic.search(json!({})).await.refused(501, "NOT_IMPLEMENTED");
    assert!(detail.contains("DISABLE_VECTOR_DB"), "{detail}");
    basic.search_raw("{").await.refused(501, "NOT_IMPLEMENTED");
    // The role is checked before the gate.
    let limited = server.caller(Role::Limited).await;
    limited.search(json!({})).await.refused(403, "INSUFFICIENT_PERMISSIONS");
}

/// Decision 9: the search and the writes of ingestion, and nothing else.
#[tokio::test(flavor = "multi_thread")]
async fn without_vector_db_gated_routes_are_501_and_others_work() {
    let server = without_vector_db().await;
    let admin = server.caller(Role::Admin).await;
    let mut gated = Vec::new();
    for info in inventory() {
        let method = Method::from_bytes(info.method.as_str().as_bytes()).unwrap();
        let answer = admin.send(method, &path(info.path), None).await;
        if info.gate == Gate::VectorDb {
            answer.refused(501, "NOT_IMPLEMENTED");
            gated.push(format!("{} {}", info.method, info.path));
        } else {
            // A body that is missing, an object that is not there or that does not change, and what
            // this version does not have.
            let works = [200, 400, 404, 422].contains(&answer.status);
            let missing = info.path == "/admin/persona/upload-image" && answer.status == 501;
            let missing = missing || is_for_sessions(info.path) && answer.status == 401;
            assert!(works || missing, "{} {}: {}", info.method, info.path, answer.status);
        }
    }
    gated.sort();
    let expected = [
        "DELETE /ingestion/{document_id}",
        "DELETE /onyx-api/ingestion/{document_id}",
        "POST /ingestion",
        "POST /onyx-api/ingestion",
        "POST /search",
        "POST /search/send-search-message",
    ];
    assert_eq!(gated, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_20_a_deactivated_user_is_out_at_once_and_back_when_reactivated() {
    let server = Server::start().await;
    let client = server.user("a@example.com", Role::Basic).await;
    client.me().await.ok();
    let users = &server.engine.backends().users;
    let now = server.engine.backends().clock.now();
    let id = users.get_by_email("a@example.com").await.unwrap().unwrap().id;
    assert_eq!(users.deactivate(id, now).await.unwrap(), UserChange::Done);
    client.me().await.refused(401, "UNAUTHENTICATED");
    // Row 21: the same key works again.
    assert_eq!(users.activate(id, None, now).await.unwrap(), UserChange::Done);
    client.me().await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn two_authorization_headers_are_no_credential() {
    let server = Server::start().await;
    let key = server.key("a@example.com", Role::Basic).await;
    let request = |headers: &str| {
        format!("GET /api/me HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{headers}\r\n")
    };
    let once = format!("Authorization: Bearer {key}\r\n");
    assert!(server.raw(request(&once).as_bytes()).await.starts_with("HTTP/1.1 200"));
    let twice = server.raw(request(&format!("{once}{once}")).as_bytes()).await;
    assert!(twice.starts_with("HTTP/1.1 401"), "{twice}");
}

/// Whoever holds a huge or strange token learns nothing and breaks nothing.
#[tokio::test(flavor = "multi_thread")]
async fn strange_tokens_are_refused() {
    let server = Server::start().await;
    for token in ["tk_", "tk_é", "' OR 1=1 --", "tk_%00", "../../x", &"a".repeat(60_000)] {
        let client = server.nobody().with("x-trove-authorization", &format!("Bearer {token}"));
        client.me().await.refused(401, "UNAUTHENTICATED");
    }
    // A head this large is refused before any of it is looked at.
    let huge = format!(
        "GET /api/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n\r\n",
        "a".repeat(1 << 20)
    );
    let answer = server.raw(huge.as_bytes()).await;
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
    server.nobody().get("/api/health").await.ok();
}

/// CVE-2026-45339: no other header or parameter carries a key past the checks.
#[tokio::test(flavor = "multi_thread")]
async fn cve_2026_45339_keys_have_two_carriers_only() {
    let server = Server::start().await;
    let key = server.key("a@example.com", Role::Admin).await;
    for header in ["x-api-key", "api-key", "x-onyx-authorization", "proxy-authorization", "cookie"]
    {
        let client = server.nobody().with(header, &format!("Bearer {key}"));
        client.me().await.refused(401, "UNAUTHENTICATED");
    }
    let query = format!("/api/me?api_key={key}&access_token={key}&authorization=Bearer+{key}");
    server.nobody().get(&query).await.refused(401, "UNAUTHENTICATED");
}

/// CVE-2024-8065: a browser sends no credential of its own accord, so nothing can be forged.
#[tokio::test(flavor = "multi_thread")]
async fn cve_2024_8065_cross_site_requests_have_no_credential() {
    let server = Server::start().await;
    let key = server.key("a@example.com", Role::Admin).await;
    let browser = server
        .nobody()
        .with("origin", "https://evil.example")
        .with("cookie", &format!("fastapiusersauth={key}; token={key}"))
        .with("content-type", "text/plain");
    let body = json!({"document": document("x", "x", "x")}).to_string().into_bytes();
    let answer = browser.send(Method::POST, "/api/ingestion", Some(body)).await;
    answer.refused(401, "UNAUTHENTICATED");
}

/// CVE-2024-7819, CVE-2026-32617: no other origin may read an answer.
#[tokio::test(flavor = "multi_thread")]
async fn cve_2024_7819_no_foreign_origin_is_allowed() {
    let server = Server::start().await;
    let client = server.caller(Role::Basic).await;
    for origin in ["https://evil.example", "null", "http://127.0.0.1"] {
        let client = client.with("origin", origin);
        let preflight = client.with("access-control-request-method", "POST");
        let answers = [
            client.search(json!({"query": "x"})).await,
            client.me().await,
            preflight.send(Method::OPTIONS, "/api/search", None).await,
        ];
        for answer in answers {
            let cors =
                answer.headers.keys().find(|name| name.as_str().starts_with("access-control"));
            assert_eq!(cors, None);
        }
    }
}
