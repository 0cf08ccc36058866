//! Signing in and out, and what a session is worth. `row_N` is row N of the list of behaviours that
//! are easy to get wrong.

use chrono::TimeDelta;
use reqwest::Method;
use serde_json::{Value, json};
use trove_domain::access::Role;
use trove_http::HttpConfig;

use super::people::{
    PASSWORD, at, browser, cheap, coded, cookie, form, login, register, staff, start,
};

#[tokio::test(flavor = "multi_thread")]
async fn row_2_the_cookie_counts_before_the_key() {
    let server = start().await;
    staff(&server).await;
    let key = server.key("b@example.com", Role::Basic).await;
    let bearer = format!("Bearer {key}");
    let both = browser(&server, "reader@example.com").await.with("authorization", &bearer);
    assert_eq!(both.me().await.ok()["email"], "reader@example.com");
    // A cookie that is nobody's leaves it to the key.
    let stale = server.nobody().with("cookie", "fastapiusersauth=stale");
    stale.me().await.refused(401, "UNAUTHENTICATED");
    assert_eq!(stale.with("authorization", &bearer).me().await.ok()["email"], "b@example.com");
}

#[tokio::test(flavor = "multi_thread")]
async fn row_20_a_session_ends_when_its_user_is_kept_out() {
    let server = start().await;
    let admin = staff(&server).await;
    let reader = browser(&server, "reader@example.com").await;
    reader.me().await.ok();
    let user = json!({"user_email": "reader@example.com"});
    admin.patch("/api/manage/admin/deactivate-user", user.clone()).await.ok();
    reader.me().await.refused(401, "UNAUTHENTICATED");
    admin.patch("/api/manage/admin/activate-user", user).await.ok();
    reader.me().await.refused(401, "UNAUTHENTICATED");
    browser(&server, "reader@example.com").await.me().await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn row_27_who_is_kept_out_is_told_what_everybody_is_told() {
    let server = start().await;
    let admin = staff(&server).await;
    server.key("keyed@example.com", Role::Basic).await;
    let user = json!({"user_email": "reader@example.com"});
    let answers = [
        login(&server, "reader@example.com", "wrong password").await,
        login(&server, "nobody@example.com", PASSWORD).await,
        login(&server, "no address", PASSWORD).await,
        login(&server, "keyed@example.com", PASSWORD).await,
        login(&server, "keyed@example.com", "").await,
        login(&server, "reader@example.com", &"x".repeat(900)).await,
        {
            admin.patch("/api/manage/admin/deactivate-user", user).await.ok();
            login(&server, "reader@example.com", PASSWORD).await
        },
    ];
    for answer in &answers {
        coded(answer, "LOGIN_BAD_CREDENTIALS");
        assert_eq!(answer.header("set-cookie"), None);
        assert_eq!(answer.text, answers[0].text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn row_28_signing_in_takes_a_form() {
    let server = start().await;
    staff(&server).await;
    let missing = ["body/username missing", "body/password missing"];
    let body = json!({"username": "reader@example.com", "password": PASSWORD});
    server.nobody().post("/api/auth/login", body).await.invalid(&missing);
    server.nobody().form("/api/auth/login", "").await.invalid(&missing);
    server.nobody().form("/api/auth/login", "username=a").await.invalid(&missing[1..]);
    let further = "grant_type=x&scope=&client_id=1&client_secret=2&";
    let all = format!("{further}{}", form("READER@example.com", PASSWORD));
    assert_eq!(server.nobody().form("/api/auth/login", &all).await.status, 204);
    let huge = server.nobody().form("/api/auth/login", &"x".repeat(100_000)).await;
    huge.refused(413, "PAYLOAD_TOO_LARGE");
    let long = form("reader@example.com", &"x".repeat(1001));
    let long = server.nobody().form("/api/auth/login", &long).await;
    long.invalid(&["body/password string_too_long"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_29_signing_in_answers_a_cookie_and_nothing_else() {
    let server = start().await;
    staff(&server).await;
    let answer = login(&server, "reader@example.com", PASSWORD).await;
    assert_eq!((answer.status, answer.text.as_str()), (204, ""));
    let set = answer.header("set-cookie").unwrap();
    let (value, attributes) = set.split_once("; ").unwrap();
    assert!(value.starts_with("fastapiusersauth=") && value.len() == 60, "{value}");
    let mut attributes: Vec<&str> = attributes.split("; ").collect();
    attributes.sort_unstable();
    assert_eq!(attributes, ["HttpOnly", "Max-Age=604800", "Path=/", "SameSite=Lax"]);
    let registered = register(&server, "new@example.com").await;
    assert_eq!(registered.status, 201);
    assert_eq!(registered.header("set-cookie"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_ends_by_signing_out_and_by_itself() {
    let server = start().await;
    staff(&server).await;
    let (first, second) = (
        browser(&server, "reader@example.com").await,
        browser(&server, "reader@example.com").await,
    );
    let out = first.send(Method::POST, "/api/auth/logout", None).await;
    assert_eq!((out.status, out.text.as_str()), (204, ""));
    let cleared = out.header("set-cookie").unwrap();
    assert!(
        cleared.starts_with("fastapiusersauth=;") && cleared.contains("Max-Age=0"),
        "{cleared}"
    );
    first.me().await.refused(401, "UNAUTHENTICATED");
    let again = first.send(Method::POST, "/api/auth/logout", None).await;
    again.refused(401, "UNAUTHENTICATED");
    second.me().await.ok();
    server.stack.clock.advance(TimeDelta::days(7) - TimeDelta::seconds(1));
    second.me().await.ok();
    server.stack.clock.advance(TimeDelta::seconds(1));
    second.me().await.refused(401, "UNAUTHENTICATED");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_renewed_under_another_token() {
    let server = start().await;
    staff(&server).await;
    let old = browser(&server, "reader@example.com").await;
    server.stack.clock.advance(TimeDelta::days(6));
    let renewed = cookie(&old.send(Method::POST, "/api/auth/refresh", None).await);
    old.me().await.refused(401, "UNAUTHENTICATED");
    let new = server.nobody().with("cookie", &renewed);
    server.stack.clock.advance(TimeDelta::days(6));
    let me = new.me().await.ok();
    assert_eq!(me["current_token_created_at"], "2026-01-07T00:00:00Z");
    assert_eq!(me["token_expires_at"], "2026-01-14T00:00:00Z");
    assert_eq!(me["current_token_expiry_length"], 604_800);
    let again = old.send(Method::POST, "/api/auth/refresh", None).await;
    again.refused(401, "UNAUTHENTICATED");
    // A key has no session.
    let key = server.caller(Role::Basic).await;
    for path in ["/api/auth/logout", "/api/auth/refresh"] {
        key.send(Method::POST, path, None).await.refused(401, "UNAUTHENTICATED");
    }
    let me = key.me().await.ok();
    assert_eq!(
        (&me["token_expires_at"], &me["password_configured"]),
        (&Value::Null, &json!(false))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_token_of_a_session_is_no_key_and_a_key_no_session() {
    let server = start().await;
    staff(&server).await;
    let cookie = cookie(&login(&server, "reader@example.com", PASSWORD).await);
    let token = cookie.split_once('=').unwrap().1;
    let bearer = server.nobody().with("authorization", &format!("Bearer {token}"));
    bearer.me().await.refused(401, "UNAUTHENTICATED");
    let key = server.key("b@example.com", Role::Admin).await;
    let key = server.nobody().with("cookie", &format!("fastapiusersauth={key}"));
    key.me().await.refused(401, "UNAUTHENTICATED");
    // One of two could be another host's.
    let twice = server.nobody().with("cookie", &format!("fastapiusersauth=x; {cookie}"));
    twice.me().await.refused(401, "UNAUTHENTICATED");
    let among = server.nobody().with("cookie", &format!("a=b; {cookie}; c=d"));
    among.me().await.ok();
    let long = server.nobody().with("cookie", &format!("fastapiusersauth={}", "a".repeat(5000)));
    long.me().await.refused(401, "UNAUTHENTICATED");
}

/// CVE-2024-8065: what a page of another origin sends with the user's cookie changes nothing.
#[tokio::test(flavor = "multi_thread")]
async fn cve_2024_8065_pages_of_others_change_nothing() {
    let server = start().await;
    staff(&server).await;
    let reader = browser(&server, "reader@example.com").await;
    let own = reader.me().await.ok();
    let name = |name: &str| json!({"name": name});
    let path = "/api/user/personalization";
    for (header, value) in [
        ("origin", "https://evil.example"),
        ("origin", "null"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ] {
        let page = reader.with(header, value);
        page.patch(path, name("evil")).await.refused(403, "CSRF_FAILURE");
        let out = page.send(Method::POST, "/api/auth/logout", None).await;
        out.refused(403, "CSRF_FAILURE");
        // Reading is harmless, because no page of another origin may look at the answer.
        page.me().await.ok();
        // Nor does a page sign its visitors in as somebody else.
        let page = server.nobody().with(header, value);
        let form = form("reader@example.com", PASSWORD);
        page.form("/api/auth/login", &form).await.refused(403, "CSRF_FAILURE");
    }
    assert_eq!(reader.me().await.ok(), own);
    let same = reader.with("sec-fetch-site", "same-origin");
    same.patch(path, name("Reader")).await.ok();
    // A key is sent by nobody but who knows it.
    let key = server.caller(Role::Basic).await.with("origin", "https://evil.example");
    key.patch(path, name("Key")).await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_public_address_decides_on_cookies_and_origins() {
    let public_origin = Some("https://search.example.com".to_owned());
    let http = HttpConfig { public_origin, ..HttpConfig::default() };
    let server = at(cheap(), http).await;
    assert_eq!(register(&server, "reader@example.com").await.status, 201);
    let answer = login(&server, "reader@example.com", PASSWORD).await;
    let set = answer.header("set-cookie").unwrap();
    assert!(set.split("; ").any(|attribute| attribute == "Secure"), "{set}");
    let reader = server.nobody().with("cookie", &cookie(&answer));
    let own = reader.with("origin", "https://search.example.com");
    own.patch("/api/auto-scroll", json!({"auto_scroll": true})).await.ok();
    let other = reader.with("origin", "http://search.example.com");
    let other = other.patch("/api/auto-scroll", json!({"auto_scroll": true})).await;
    other.refused(403, "CSRF_FAILURE");
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_tell_what_the_deployment_can_do() {
    let server = start().await;
    let limited = server.caller(Role::Limited).await;
    let settings = limited.get("/api/settings").await.ok();
    let said = |key: &str| settings[key].clone();
    assert_eq!(said("application_status"), "active");
    assert_eq!(said("vector_db_enabled"), true);
    assert_eq!(said("notifications"), json!([]));
    assert_eq!(said("tenant_id"), "public");
    assert_eq!(said("image_analysis_max_size_mb"), 20);
    assert_eq!(said("show_extra_connectors"), true);
    server.nobody().get("/api/settings").await.refused(401, "UNAUTHENTICATED");
}
