//! Health, version, `/me`, the document, and everything that no route answers.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use actix_web::test::{TestRequest, call_service, init_service};
use async_trait::async_trait;
use reqwest::Method;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use trove_domain::access::{AccessScope, Caller, Role};
use trove_domain::error::StoreError;
use trove_domain::port::AccessFilter;
use trove_engine::{Backends, EngineConfig};
use trove_http::{Component, ComponentState, Http, HttpConfig, Readiness};

use crate::child::Service;
use crate::server::{Options, Server};
use crate::stack::Stack;

#[tokio::test(flavor = "multi_thread")]
async fn health_and_version_need_no_credential_and_answer_at_the_root_too() {
    let server = Server::start().await;
    let nobody = server.nobody();
    for prefix in ["", "/api"] {
        let health = nobody.get(&format!("{prefix}/health")).await.ok();
        assert_eq!(health, json!({"success": true, "message": "ok", "data": null}));
        let version = nobody.get(&format!("{prefix}/version")).await.ok();
        assert_eq!(version, json!({"backend_version": "1.2.3"}));
        let ready = nobody.get(&format!("{prefix}/health/ready")).await.ok();
        assert_eq!(ready, json!({"success": true, "message": "ok", "data": {}}));
    }
    // Everything else has the prefix.
    nobody.get("/me").await.refused(404, "NOT_FOUND");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_prefix_is_a_setting() {
    for prefix in ["", "/", "/a/b/", "x"] {
        let http = HttpConfig { prefix: prefix.to_owned(), ..HttpConfig::default() };
        let server = Server::with(Options { http, ..Options::default() }).await;
        let base = match prefix.trim_matches('/') {
            "" => String::new(),
            name => format!("/{name}"),
        };
        let client = server.caller(Role::Basic).await;
        client.get(&format!("{base}/me")).await.ok();
        client.get(&format!("{base}/health")).await.ok();
        client.get("/health").await.ok();
        let document = client.get(&format!("{base}/openapi.json")).await.ok();
        let url = if base.is_empty() { "/" } else { &base };
        assert_eq!(document["servers"][0]["url"], url);
        client.get("/api/me").await.refused(404, "NOT_FOUND");
    }
}

fn component(name: &str, state: ComponentState, reason: Option<&str>) -> Component {
    Component { name: name.to_owned(), state, reason: reason.map(str::to_owned) }
}

#[tokio::test(flavor = "multi_thread")]
async fn readiness_tells_what_does_not_work() {
    let check = async |components: Vec<Component>, status: u16, expected: Value| {
        let readiness = Readiness { components };
        let server = Server::with(Options { readiness, ..Options::default() }).await;
        let answer = server.nobody().get("/health/ready").await;
        assert_eq!((answer.status, answer.json()), (status, expected));
        // Liveness does not depend on it.
        server.nobody().get("/health").await.ok();
    };
    let database = component("database", ComponentState::Ok, None);
    let model = component("embedding_model", ComponentState::Degraded, Some("no model"));
    let ok = json!({"state": "ok", "reason": null});
    let degraded = json!({"state": "degraded", "reason": "no model"});
    check(
        vec![database, model.clone()],
        200,
        json!({"success": true, "message": "degraded",
            "data": {"database": ok, "embedding_model": degraded}}),
    )
    .await;
    let database = component("database", ComponentState::Failed, Some("does not answer"));
    let failed = json!({"state": "failed", "reason": "does not answer"});
    check(
        vec![database, model],
        503,
        json!({"success": false, "message": "not ready",
            "data": {"database": failed, "embedding_model": degraded}}),
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn me_is_the_whole_record() {
    let server = Server::start().await;
    let client = server.user("Ada@example.com", Role::Limited).await;
    let users = &server.engine.backends().users;
    let user = users.get_by_email("ada@example.com").await.unwrap().unwrap();
    let expected = json!({
        "id": user.id.to_string(), "email": "Ada@example.com", "is_active": true,
        "is_superuser": false, "is_verified": true, "role": "limited",
        "preferences": {
            "chosen_assistants": null, "hidden_assistants": [], "visible_assistants": [],
            "default_model": null, "pinned_assistants": null, "shortcut_enabled": null,
            "auto_scroll": null, "temperature_override_enabled": null, "theme_preference": null,
            "chat_background": null, "default_app_mode": "CHAT", "assistant_specific_configs": null,
        },
        "personalization": {
            "name": "", "role": "", "use_memories": true, "enable_memory_tool": true,
            "memories": [], "user_preferences": "",
        },
        "oidc_expiry": null, "current_token_created_at": null, "current_token_expiry_length": null,
        "token_expires_at": null, "is_cloud_superuser": false, "team_name": null,
        "is_anonymous_user": null, "password_configured": false, "tenant_info": {"invitation": null, "new_tenant": null},
    });
    assert_eq!(client.me().await.ok(), expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_document_is_for_signed_in_callers_and_its_page_is_not() {
    let server = Server::start().await;
    server.nobody().get("/api/openapi.json").await.refused(401, "UNAUTHENTICATED");
    let limited = server.caller(Role::Limited).await;
    let document = limited.get("/api/openapi.json").await.ok();
    assert_eq!(document["info"]["version"], "Development");
    assert!(document["paths"]["/search"]["post"].is_object());

    let page = server.nobody().get("/api/docs").await;
    assert_eq!(page.status, 200);
    assert!(page.header("content-security-policy").unwrap().contains("script-src 'self'"));
    for file in ["page.js", "swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png"] {
        assert_eq!(server.nobody().get(&format!("/api/docs/{file}")).await.status, 200, "{file}");
    }
    for file in ["index.html", "swagger-initializer.js", "none", "%2e%2e%2fpage.js", ".."] {
        let answer = server.nobody().get(&format!("/api/docs/{file}")).await;
        assert_ne!(answer.status, 500, "{file}");
        assert!(!answer.text.contains("SwaggerUIBundle({"), "{file}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_document_can_be_turned_off() {
    let http = HttpConfig { docs: false, ..HttpConfig::default() };
    let server = Server::with(Options { http, ..Options::default() }).await;
    let admin = server.caller(Role::Admin).await;
    for path in ["/api/openapi.json", "/api/docs", "/api/docs/page.js", "/api/docs/"] {
        admin.get(path).await.refused(404, "NOT_FOUND");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cve_2026_54017_unknown_and_disguised_paths_are_404() {
    let server = Server::start().await;
    let expected = json!({"error_code": "NOT_FOUND", "detail": "Not Found"});
    // reqwest would tidy some of these up, so they are sent as they are.
    let paths = [
        "/",
        "/api",
        "/nothing",
        "/api/nothing",
        "/api/Search",
        "/API/search",
        "//api/search",
        "/api//search",
        "/api/search/../me/x",
        "/api/%2e%2e/api/x",
        "/api/..%2fme",
        "/api/%252e%252e/me",
        "/api/search%00",
        "/api/search;a=b",
        "/api/search/x",
        "/api/docs/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "/..%5c..%5cetc",
        "//evil.example/",
        "/api/health/ready/x",
        "/.env",
        "/api/ingestion/a/b",
    ];
    for path in paths {
        for method in ["GET", "POST", "DELETE"] {
            let request =
                format!("{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
            let answer = server.raw(request.as_bytes()).await;
            let (head, body) = answer.split_once("\r\n\r\n").unwrap();
            let status = head.split(' ').nth(1).unwrap();
            // A path that one method has answers the others with 405.
            if status == "405" {
                assert!(path.contains("docs"), "{method} {path}");
                continue;
            }
            assert_eq!(status, "404", "{method} {path}");
            assert_eq!(serde_json::from_str::<Value>(body).unwrap(), expected, "{method} {path}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_methods_are_405_and_name_the_right_ones() {
    let server = Server::start().await;
    let expected = json!({"error_code": "METHOD_NOT_ALLOWED", "detail": "Method Not Allowed"});
    let table = [
        (Method::GET, "/api/search", "POST"),
        (Method::PUT, "/api/search", "POST"),
        (Method::OPTIONS, "/api/search", "POST"),
        (Method::from_bytes(b"BREW").unwrap(), "/api/search", "POST"),
        (Method::TRACE, "/api/me", "GET"),
        (Method::DELETE, "/api/ingestion", "POST, GET"),
        (Method::GET, "/api/ingestion/x", "DELETE"),
        (Method::POST, "/health", "GET, HEAD"),
    ];
    for (method, path, allow) in table {
        let answer = server.nobody().send(method.clone(), path, None).await;
        assert_eq!((answer.status, answer.json()), (405, expected.clone()), "{method} {path}");
        assert_eq!(answer.header("allow"), Some(allow), "{method} {path}");
    }
    for path in ["/api/search", "/api/me", "/api/ingestion"] {
        let head = server.nobody().send(Method::HEAD, path, None).await;
        assert_eq!((head.status, head.text.as_str()), (405, ""), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn load_balancers_may_ask_for_the_head_only() {
    let server = Server::start().await;
    for path in ["/health", "/health/ready", "/version", "/api/health"] {
        let get = server.nobody().get(path).await;
        let head = server.nobody().send(Method::HEAD, path, None).await;
        assert_eq!((head.status, head.text.as_str()), (200, ""), "{path}");
        assert_eq!(head.header("content-length"), get.header("content-length"), "{path}");
    }
    let component = component("database", ComponentState::Failed, None);
    let readiness = Readiness { components: vec![component] };
    let server = Server::with(Options { readiness, ..Options::default() }).await;
    let head = server.nobody().send(Method::HEAD, "/health/ready", None).await;
    assert_eq!(head.status, 503);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trailing_slash_is_redirected() {
    let server = Server::start().await;
    let location = async |method: Method, path: &str| {
        let answer = server.nobody().send(method, path, None).await;
        assert_eq!(answer.status, 307, "{path}");
        answer.header("location").unwrap().to_owned()
    };
    assert_eq!(location(Method::GET, "/api/me/").await, "/api/me");
    assert_eq!(location(Method::POST, "/api/search/").await, "/api/search");
    assert_eq!(location(Method::GET, "/health/?a=b&c=//x").await, "/health?a=b&c=//x");
    assert_eq!(location(Method::DELETE, "/api/ingestion/a%2Fb/").await, "/api/ingestion/a%2Fb");
    for path in ["/api/me//", "/api/nothing/", "/x/", "//evil.example/"] {
        let answer = server.nobody().get(path).await;
        assert_eq!((answer.status, answer.header("location")), (404, None), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_has_an_id_and_headers_that_browsers_heed() {
    let server = Server::start().await;
    let nobody = server.nobody();
    for path in ["/health", "/api/me", "/api/nothing", "/api/search", "/api/me/"] {
        let answer = nobody.get(path).await;
        assert!(!answer.header("x-request-id").unwrap().is_empty());
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("x-frame-options"), Some("DENY"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'"));
        assert_eq!(answer.header("server"), None);
    }
    let id = |answer: crate::server::Answer| answer.header("x-request-id").unwrap().to_owned();
    assert_eq!(id(nobody.with("x-request-id", "abc-1.2_3").get("/health").await), "abc-1.2_3");
    for bad in ["a b", "a\"b", "<script>", &"x".repeat(200)] {
        let made = id(nobody.with("x-request-id", bad).get("/health").await);
        assert!(uuid::Uuid::try_parse(&made).is_ok(), "{made}");
    }
    assert_ne!(id(nobody.get("/health").await), id(nobody.get("/health").await));
}

/// Where a test's log goes.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// In this thread, because a log is captured by thread.
#[actix_web::test]
async fn the_log_names_requests_and_holds_nothing_of_what_they_say() {
    let stack = Stack::with(EngineConfig::default(), |backends| Backends {
        access: Arc::new(BrokenAccess),
        ..backends
    })
    .await;
    let key = stack.engine.bootstrap_admin().await.unwrap().unwrap();
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let probe = Readiness::default().fixed();
    let app =
        init_service(Http::new(stack.engine.clone(), HttpConfig::default(), probe).app()).await;

    let request = TestRequest::post()
        .uri("/api/search?hush=parameter-words")
        .insert_header(("authorization", format!("Bearer {}", key.expose_secret())))
        .insert_header(("x-request-id", "r-77"))
        .set_json(json!({"query": "confidential-words", "tags": [{"tag_key": "tag-words", "tag_value": "v"}]}));
    assert_eq!(call_service(&app, request.to_request()).await.status(), 503);
    let request = TestRequest::delete().uri("/api/ingestion/document-words");
    assert_eq!(call_service(&app, request.to_request()).await.status(), 401);

    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    for named in
        ["http.method=POST", "http.route=\"/search\"", "http.status=503", "r-77", "duration_us="]
    {
        assert!(log.contains(named), "{named}: {log}");
    }
    // The cause of a failure is in the log, once.
    assert_eq!(log.matches("db.internal").count(), 1, "{log}");
    let secrets = [
        key.expose_secret(),
        "confidential-words",
        "tag-words",
        "parameter-words",
        "document-words",
    ];
    for secret in secrets {
        assert!(!log.contains(secret), "{secret}: {log}");
    }
}

/// Fails as a database does, with something in its words that is nobody's business.
struct BrokenAccess;

#[async_trait]
impl AccessFilter for BrokenAccess {
    async fn scope_for(&self, _: &Caller) -> Result<AccessScope, StoreError> {
        let source = "cannot reach db.internal as trove:hunter2".into();
        Err(StoreError::Unavailable { operation: "access.scope_for", source })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_of_ours_tells_its_id_and_nothing_else() {
    let backends = |backends| Backends { access: Arc::new(BrokenAccess), ..backends };
    let server = Server::with(Options { backends, ..Options::default() }).await;
    let client = server.caller(Role::Basic).await.with("x-request-id", "r-77");
    let answer = client.search(json!({"query": "confidential words"})).await;
    let detail = answer.refused(503, "SERVICE_UNAVAILABLE");
    assert!(detail.contains("r-77"), "{detail}");
    assert_eq!(answer.header("retry-after"), Some("1"));
    for secret in ["hunter2", "db.internal", "scope_for", "confidential"] {
        assert!(!answer.text.contains(secret));
    }
}

/// Panics, as code with a bug in it does.
struct PanickingAccess;

#[async_trait]
impl AccessFilter for PanickingAccess {
    async fn scope_for(&self, _: &Caller) -> Result<AccessScope, StoreError> {
        panic!("a bug")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_is_a_500_and_the_server_goes_on() {
    let backends = |backends| Backends { access: Arc::new(PanickingAccess), ..backends };
    let server = Server::with(Options { backends, ..Options::default() }).await;
    let client = server.caller(Role::Basic).await;
    let answer = client.search(json!({"query": "x"})).await;
    let detail = answer.refused(500, "INTERNAL_ERROR");
    assert!(!detail.contains("bug"), "{detail}");
    client.me().await.ok();
}

/// Never answers.
struct StuckAccess;

#[async_trait]
impl AccessFilter for StuckAccess {
    async fn scope_for(&self, _: &Caller) -> Result<AccessScope, StoreError> {
        std::future::pending().await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_takes_too_long_is_504() {
    let backends = |backends| Backends { access: Arc::new(StuckAccess), ..backends };
    let http = HttpConfig { request_timeout: Duration::from_millis(100), ..HttpConfig::default() };
    let server = Server::with(Options { http, backends, ..Options::default() }).await;
    let client = server.caller(Role::Basic).await;
    client.search(json!({"query": "x"})).await.refused(504, "GATEWAY_TIMEOUT");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_does_not_arrive_is_408() {
    // The client is to blame also when the service would have no more time itself.
    let short = Duration::from_millis(100);
    let http = HttpConfig { body_timeout: short, request_timeout: short, ..HttpConfig::default() };
    let server = Server::with(Options { http, ..Options::default() }).await;
    let key = server.key("a@example.com", Role::Basic).await;
    let mut slow = server.connect().await;
    let head = format!(
        "POST /api/search HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\
         Content-Length: 100\r\nContent-Type: application/json\r\n\r\n{{\"query\""
    );
    slow.write_all(head.as_bytes()).await.unwrap();
    // Others are served meanwhile, by the one worker there is.
    server.nobody().get("/health").await.ok();
    let mut answer = Vec::new();
    slow.read_to_end(&mut answer).await.unwrap();
    let answer = String::from_utf8(answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    assert!(answer.contains("REQUEST_TIMEOUT"), "{answer}");
}

/// Anybody can send them, and no operator can do anything about it.
#[tokio::test]
async fn what_is_not_http_leaves_no_error_in_the_log() {
    let temp = tempfile::tempdir().unwrap();
    let service = Service::start(temp.path()).await;
    let address = service.address.strip_prefix("http://").unwrap();
    for request in [&b"\x16\x03\x01\r\n\r\n"[..], b"GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n"] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        // No body: the answer is made where there is no request to speak of.
        assert!(answer.starts_with("HTTP/1.1 400 ") && answer.ends_with("\r\n\r\n"), "{answer}");
    }
    service.signal("TERM").await;
    let (_, log) = service.ended().await;
    assert!(!log.contains("ERROR") && log.contains("INFO"), "{log}");
}

/// CVE-2026-31949: malformed requests end with an answer, not with the server.
#[tokio::test(flavor = "multi_thread")]
async fn cve_2026_31949_malformed_requests_do_not_end_the_server() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    for id in
        ["%", "%zz", "%ff", "%00", "a%0d%0aX:y", "%F0%9F%92%A9", &"a".repeat(5000), "%2e%2e", "'"]
    {
        let answer = admin.remove(id).await;
        assert!([404, 422].contains(&answer.status), "{id}: {answer:?}");
    }
    let malformed: [&[u8]; 8] = [
        b"\r\n\r\n",
        b"GET\r\n\r\n",
        b"DELETE /api/ingestion/\xff\xfe HTTP/1.1\r\nHost: x\r\n\r\n",
        b"DELETE /api/ingestion/x HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST /api/search HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"POST /api/search HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\nzzzz",
        b"POST /api/search HTTP/9.9\r\n\r\n",
        b"GET /api/me HTTP/1.1\r\nAuth\x00orization: x\r\n\r\n",
    ];
    for request in malformed {
        let mut stream = server.connect().await;
        stream.write_all(request).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = Vec::new();
        // Closing without an answer is fine, too.
        let _ = stream.read_to_end(&mut answer).await;
        let answer = String::from_utf8_lossy(&answer);
        assert!(!answer.starts_with("HTTP/1.1 2") && !answer.starts_with("HTTP/1.1 5"), "{answer}");
    }
    server.nobody().get("/health").await.ok();
}
