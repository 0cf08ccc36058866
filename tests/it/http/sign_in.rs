//! Registering, signing in and out, and passwords. `row_N` is row N of the list of behaviours that
//! are easy to get wrong.

use chrono::TimeDelta;
use reqwest::Method;
use serde_json::{Value, json};
use trove_domain::access::Role;
use trove_domain::password::PasswordPolicy;
use trove_domain::port::NewUser;
use trove_engine::EngineConfig;
use trove_engine::accounts::{AccountConfig, HashingConfig, RegistrationPolicy};
use trove_http::HttpConfig;

use crate::server::{Answer, Client, Options, Server};

const PASSWORD: &str = "correct horse battery";

/// Quick to hash.
fn cheap() -> AccountConfig {
    let hashing = HashingConfig { memory_kib: 8, iterations: 1, concurrent: 2 };
    AccountConfig { hashing, ..AccountConfig::default() }
}

async fn with(accounts: AccountConfig) -> Server {
    at(accounts, HttpConfig::default()).await
}

async fn at(accounts: AccountConfig, http: HttpConfig) -> Server {
    let engine = EngineConfig { accounts, ..EngineConfig::default() };
    Server::with(Options { engine, http, ..Options::default() }).await
}

async fn start() -> Server {
    with(cheap()).await
}

async fn register(server: &Server, email: &str) -> Answer {
    let body = json!({"email": email, "password": PASSWORD});
    server.nobody().post("/api/auth/register", body).await
}

fn form(email: &str, password: &str) -> String {
    url::form_urlencoded::Serializer::new(String::new())
        .append_pair("username", email)
        .append_pair("password", password)
        .finish()
}

async fn login(server: &Server, email: &str, password: &str) -> Answer {
    server.nobody().form("/api/auth/login", &form(email, password)).await
}

/// The cookie that an answer sets, as a client sends it back.
#[track_caller]
fn cookie(answer: &Answer) -> String {
    assert_eq!(answer.status, 204, "{answer:?}");
    let set = answer.header("set-cookie").unwrap();
    set.split(';').next().unwrap().to_owned()
}

/// Somebody who has just signed in.
async fn browser<'a>(server: &'a Server, email: &str) -> Client<'a> {
    let cookie = cookie(&login(server, email, PASSWORD).await);
    server.nobody().with("cookie", &cookie)
}

/// An administrator with a key, and a user with a password.
async fn staff(server: &Server) -> Client<'_> {
    let admin = server.user("root@example.com", Role::Admin).await;
    assert_eq!(register(server, "reader@example.com").await.status, 201);
    admin
}

#[track_caller]
fn coded(answer: &Answer, code: &str) {
    assert_eq!(answer.status, 400, "{answer:?}");
    assert_eq!(answer.json(), json!({"error_code": code, "detail": code}));
}

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
async fn row_30_a_forgotten_password_is_taken_note_of_for_everybody() {
    let server = start().await;
    staff(&server).await;
    for path in ["/api/auth/forgot-password", "/api/auth/request-verify-token"] {
        for email in ["nobody@example.com", "reader@example.com"] {
            let answer = server.nobody().post(path, json!({"email": email})).await;
            assert_eq!((answer.status, answer.text.as_str()), (202, "null"));
        }
        let bad = server.nobody().post(path, json!({"email": "x"})).await;
        bad.invalid(&["body/email value_error"]);
    }
    let reset = json!({"token": "x", "password": "another password"});
    let reset = server.nobody().post("/api/auth/reset-password", reset).await;
    coded(&reset, "RESET_PASSWORD_BAD_TOKEN");
    let verify = server.nobody().post("/api/auth/verify", json!({"token": "x"})).await;
    coded(&verify, "VERIFY_USER_BAD_TOKEN");
    browser(&server, "reader@example.com").await.me().await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn row_31_nobody_registers_as_an_administrator() {
    let server = start().await;
    server.user("root@example.com", Role::Admin).await;
    let body = json!({"email": "Eve@Example.COM", "password": PASSWORD, "is_superuser": true,
        "role": "admin", "is_active": false, "is_verified": false, "tenant_id": "x"});
    let answer = server.nobody().post("/api/auth/register", body).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    let user = answer.json();
    assert_eq!(
        user,
        json!({"id": user["id"], "email": "Eve@example.com", "is_active": true,
            "is_superuser": false, "is_verified": true, "role": "basic"})
    );
    let eve = browser(&server, "eve@example.com").await;
    assert_eq!(eve.get("/api/get-user-role").await.ok(), json!({"role": "basic"}));
    assert_eq!(eve.get("/api/users/me").await.ok(), user);
    eve.get("/api/manage/users/accepted").await.refused(403, "INSUFFICIENT_PERMISSIONS");
}

#[tokio::test(flavor = "multi_thread")]
async fn row_32_the_very_first_one_is_an_administrator() {
    let server = start().await;
    assert_eq!(server.nobody().get("/api/auth/type").await.ok()["has_users"], false);
    assert_eq!(register(&server, "first@example.com").await.json()["role"], "admin");
    assert_eq!(server.nobody().get("/api/auth/type").await.ok()["has_users"], true);
    assert_eq!(register(&server, "second@example.com").await.json()["role"], "basic");
}

/// Where an administrator was made at the first start, nobody becomes one by registering.
#[tokio::test(flavor = "multi_thread")]
async fn who_comes_after_the_first_administrator_is_a_normal_user() {
    let server = start().await;
    assert!(server.engine.bootstrap_admin().await.unwrap().is_some());
    assert_eq!(server.nobody().get("/api/auth/type").await.ok()["has_users"], false);
    assert_eq!(register(&server, "first@example.com").await.json()["role"], "basic");
}

/// CVE-2026-45675: one of many at the same time.
#[tokio::test(flavor = "multi_thread")]
async fn cve_2026_45675_of_many_first_users_one_is_an_administrator() {
    let server = start().await;
    let addresses: Vec<String> = (0..8).map(|n| format!("user{n}@example.com")).collect();
    let calls = addresses.iter().map(|email| register(&server, email));
    let answers = futures::future::join_all(calls).await;
    let roles: Vec<Value> = answers.iter().map(|answer| answer.json()["role"].clone()).collect();
    assert_eq!(roles.iter().filter(|role| **role == "admin").count(), 1, "{roles:?}");
    assert_eq!(roles.iter().filter(|role| **role == "basic").count(), 7, "{roles:?}");
}

/// CVE-2026-44551: no password is no password.
#[tokio::test(flavor = "multi_thread")]
async fn cve_2026_44551_an_empty_password_opens_nothing() {
    let server = start().await;
    staff(&server).await;
    for email in ["reader@example.com", "root@example.com", "", "nobody@example.com"] {
        coded(&login(&server, email, "").await, "LOGIN_BAD_CREDENTIALS");
    }
}

/// CVE-2026-21484: no answer tells whether there is a user.
#[tokio::test(flavor = "multi_thread")]
async fn cve_2026_21484_no_answer_tells_who_is_a_user() {
    let server = start().await;
    staff(&server).await;
    let pairs =
        [("/api/auth/forgot-password", json!({})), ("/api/auth/request-verify-token", json!({}))];
    for (path, _) in pairs {
        let known = server.nobody().post(path, json!({"email": "reader@example.com"})).await;
        let unknown = server.nobody().post(path, json!({"email": "nobody@example.com"})).await;
        assert_eq!((known.status, &known.text), (unknown.status, &unknown.text));
    }
    let known = login(&server, "reader@example.com", "wrong password").await;
    let unknown = login(&server, "nobody@example.com", "wrong password").await;
    assert_eq!((known.status, &known.text), (unknown.status, &unknown.text));
    // Where only the invited may register, who is not learns nothing of others.
    let server = with(AccountConfig { registration: RegistrationPolicy::Invited, ..cheap() }).await;
    server.user("root@example.com", Role::Admin).await;
    let known = register(&server, "root@example.com").await;
    let unknown = register(&server, "nobody@example.com").await;
    known.refused(403, "UNAUTHORIZED");
    assert_eq!((known.status, &known.text), (unknown.status, &unknown.text));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_registration() {
    let server = start().await;
    staff(&server).await;
    let post = |body: Value| {
        let client = server.nobody();
        async move { client.post("/api/auth/register", body).await }
    };
    post(json!({"email": "x", "password": 1}))
        .await
        .invalid(&["body/email value_error", "body/password string_type"]);
    post(json!({})).await.invalid(&["body/email missing", "body/password missing"]);
    coded(&register(&server, "READER@example.com").await, "REGISTER_USER_ALREADY_EXISTS");
    for (password, reason) in [
        ("1234567", "a password has at least 8 characters"),
        (&*"x".repeat(65), "a password has at most 64 characters"),
        ("new@example.com", "a password is not the address it belongs to"),
    ] {
        let answer = post(json!({"email": "new@example.com", "password": password})).await;
        assert_eq!(answer.status, 400);
        let detail = json!({"code": "REGISTER_INVALID_PASSWORD", "reason": reason});
        assert_eq!(answer.json()["detail"], detail);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invitation_closes_the_door_for_others_and_is_used_up() {
    let server = start().await;
    let admin = server.user("root@example.com", Role::Admin).await;
    let invite = json!({"emails": ["ann@example.com", "bob@example.com"]});
    assert_eq!(admin.put("/api/manage/admin/users", invite).await.ok(), 2);
    register(&server, "eve@example.com").await.refused(403, "UNAUTHORIZED");
    assert_eq!(register(&server, "Ann@example.com").await.status, 201);
    let left = admin.get("/api/manage/users/invited").await.ok();
    assert_eq!(left, json!([{"email": "bob@example.com"}]));
    let bob = json!({"user_email": "bob@example.com"});
    assert_eq!(admin.patch("/api/manage/admin/remove-invited-user", bob).await.ok(), 0);
    assert_eq!(register(&server, "eve@example.com").await.status, 201, "the list is empty");
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_say_who_may_register() {
    let closed = AccountConfig { registration: RegistrationPolicy::Closed, ..cheap() };
    register(&with(closed).await, "a@example.com").await.refused(403, "REGISTRATION_DISABLED");
    let allowed_domains = vec!["example.com".to_owned()];
    let server = with(AccountConfig { allowed_domains, ..cheap() }).await;
    register(&server, "a@other.example").await.refused(400, "INVALID_INPUT");
    register(&server, "a@sub.example.com").await.refused(400, "INVALID_INPUT");
    assert_eq!(register(&server, "a@EXAMPLE.com").await.status, 201);
    let server = with(AccountConfig { seats: Some(1), ..cheap() }).await;
    assert_eq!(register(&server, "a@example.com").await.status, 201);
    register(&server, "b@example.com").await.refused(402, "SEAT_LIMIT_EXCEEDED");
    let password = PasswordPolicy { min_chars: 30, digit: true, ..PasswordPolicy::default() };
    let server = with(AccountConfig { password, ..cheap() }).await;
    assert_eq!(register(&server, "a@example.com").await.status, 400);
    let kind = server.nobody().get("/api/auth/type").await.ok();
    assert_eq!(
        kind,
        json!({"auth_type": "basic", "requires_verification": false,
            "anonymous_user_enabled": false, "password_min_length": 30, "password_max_length": 64,
            "password_require_uppercase": false, "password_require_lowercase": false,
            "password_require_digit": true, "password_require_special_char": false,
            "password_auth_enabled": true, "has_users": false, "oauth_enabled": false})
    );
}

/// Who is known through another system only registers as the same user, and does not sign in before.
#[tokio::test(flavor = "multi_thread")]
async fn an_account_of_another_system_signs_in_after_registering() {
    let server = start().await;
    server.user("root@example.com", Role::Admin).await;
    let bot = server.user("bot@example.com", Role::SlackUser).await;
    let id = bot.me().await.ok()["id"].clone();
    coded(&login(&server, "bot@example.com", PASSWORD).await, "LOGIN_BAD_CREDENTIALS");
    let registered = register(&server, "bot@example.com").await.json();
    assert_eq!((&registered["id"], &registered["role"]), (&id, &json!("basic")));
    browser(&server, "bot@example.com").await.me().await.ok();
    // With a password that somebody else gave it, it is told what it is.
    let reset = server.engine.reset_password("bot@example.com").await.unwrap();
    let user = reset.0;
    let (users, now) = (&server.engine.backends().users, server.engine.backends().clock.now());
    users.set_role(user.id, Role::Basic, Role::SlackUser, now).await.unwrap();
    let password = secrecy::ExposeSecret::expose_secret(&reset.1).to_owned();
    let refused = login(&server, "bot@example.com", &password).await;
    refused.refused(403, "INSUFFICIENT_PERMISSIONS");
    coded(&login(&server, "bot@example.com", "wrong").await, "LOGIN_BAD_CREDENTIALS");
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
async fn guesses_are_bounded_by_address() {
    let server = with(AccountConfig { attempts_per_address: 3, ..cheap() }).await;
    staff(&server).await;
    for email in ["reader@example.com", "READER@example.com", "Reader@Example.com"] {
        coded(&login(&server, email, "wrong").await, "LOGIN_BAD_CREDENTIALS");
    }
    // Even the right password then.
    let answer = login(&server, "reader@example.com", PASSWORD).await;
    answer.refused(429, "RATE_LIMITED");
    assert_eq!(answer.header("retry-after"), Some("200"));
    coded(&login(&server, "nobody@example.com", "wrong").await, "LOGIN_BAD_CREDENTIALS");
    server.stack.clock.advance(TimeDelta::seconds(200));
    let reader = browser(&server, "reader@example.com").await;
    // A session is no licence to guess the password.
    server.stack.clock.advance(TimeDelta::minutes(10));
    let body = json!({"old_password": "wrong", "new_password": "another password"});
    for _ in 0..3 {
        let answer = reader.post("/api/password/change-password", body.clone()).await;
        answer.refused(400, "INVALID_INPUT");
    }
    let answer = reader.post("/api/password/change-password", body).await;
    answer.refused(429, "RATE_LIMITED");
}

#[tokio::test(flavor = "multi_thread")]
async fn guesses_and_registrations_are_bounded_by_source() {
    let accounts = AccountConfig { attempts_per_source: 4, ..cheap() };
    let server = at(accounts.clone(), HttpConfig::default()).await;
    for n in 0..2 {
        assert_eq!(register(&server, &format!("user{n}@example.com")).await.status, 201);
        coded(
            &login(&server, &format!("nobody{n}@example.com"), "x").await,
            "LOGIN_BAD_CREDENTIALS",
        );
    }
    register(&server, "user2@example.com").await.refused(429, "RATE_LIMITED");
    // What a client says of where it comes from counts only behind a proxy of ours.
    let spoofed = server.nobody().with("x-forwarded-for", "198.51.100.7");
    let spoofed = spoofed.form("/api/auth/login", &form("a@example.com", "x")).await;
    spoofed.refused(429, "RATE_LIMITED");
    let server = at(accounts, HttpConfig { proxies: 1, ..HttpConfig::default() }).await;
    for n in 0..10 {
        let client = server.nobody().with("x-forwarded-for", &format!("10.0.0.1, 198.51.100.{n}"));
        let answer = client.form("/api/auth/login", &form("a@example.com", "x")).await;
        coded(&answer, "LOGIN_BAD_CREDENTIALS");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_is_changed_by_who_knows_it() {
    let server = start().await;
    staff(&server).await;
    let (here, there) = (
        browser(&server, "reader@example.com").await,
        browser(&server, "reader@example.com").await,
    );
    let change = |old: &str, new: &str| {
        let body = json!({"old_password": old, "new_password": new});
        let here = here.clone();
        async move { here.post("/api/password/change-password", body).await }
    };
    change("wrong", "another password").await.refused(400, "INVALID_INPUT");
    change(PASSWORD, "short").await.refused(400, "INVALID_INPUT");
    there.me().await.ok();
    assert_eq!(change(PASSWORD, "another password").await.ok(), Value::Null);
    here.me().await.ok();
    there.me().await.refused(401, "UNAUTHENTICATED");
    coded(&login(&server, "reader@example.com", PASSWORD).await, "LOGIN_BAD_CREDENTIALS");
    assert_eq!(login(&server, "reader@example.com", "another password").await.status, 204);
    let keyed = server.caller(Role::Basic).await;
    let body = json!({"old_password": "", "new_password": "another password"});
    let none = keyed.post("/api/password/change-password", body).await;
    none.refused(400, "INVALID_INPUT");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_administrator_resets_a_password() {
    let server = start().await;
    let admin = staff(&server).await;
    let reader = browser(&server, "reader@example.com").await;
    let body = json!({"user_email": "Reader@example.com"});
    let reset = admin.post("/api/password/reset_password", body.clone()).await.ok();
    assert_eq!(reset["user_id"].as_str().unwrap().len(), 36);
    reader.me().await.refused(401, "UNAUTHENTICATED");
    let password = reset["new_password"].as_str().unwrap();
    assert_eq!(password.len(), 24);
    assert_eq!(login(&server, "reader@example.com", password).await.status, 204);
    let nobody = json!({"user_email": "nobody@example.com"});
    let nobody = admin.post("/api/password/reset_password", nobody).await;
    nobody.refused(404, "USER_NOT_FOUND");
    let basic = server.caller(Role::Basic).await;
    let basic = basic.post("/api/password/reset_password", body).await;
    basic.refused(403, "INSUFFICIENT_PERMISSIONS");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_own_account_is_changed_under_the_rules_for_registering() {
    let allowed_domains = vec!["example.com".to_owned()];
    let server = with(AccountConfig { allowed_domains, ..cheap() }).await;
    let admin = staff(&server).await;
    let reader = browser(&server, "reader@example.com").await;
    let update = |body: Value| {
        let reader = reader.clone();
        async move { reader.patch("/api/users/me", body).await }
    };
    update(json!({"email": "x", "password": 1}))
        .await
        .invalid(&["body/email value_error", "body/password string_type"]);
    coded(&update(json!({"email": "Root@example.com"})).await, "UPDATE_USER_EMAIL_ALREADY_EXISTS");
    update(json!({"email": "reader@other.example"})).await.refused(400, "INVALID_INPUT");
    let weak = update(json!({"email": "new@example.com", "password": "short"})).await;
    assert_eq!(weak.json()["detail"]["code"], "UPDATE_USER_INVALID_PASSWORD");
    assert_eq!(update(json!({})).await.ok()["email"], "reader@example.com", "nothing changed");
    assert_eq!(
        update(json!({"email": "Reader@example.com"})).await.ok()["email"],
        "Reader@example.com"
    );
    let both = json!({"email": "new@example.com", "password": "another password"});
    assert_eq!(update(both).await.ok()["email"], "new@example.com");
    assert_eq!(login(&server, "new@example.com", "another password").await.status, 204);
    coded(&login(&server, "reader@example.com", PASSWORD).await, "LOGIN_BAD_CREDENTIALS");
    // Once somebody is invited, an address is to be had by invitation only.
    let invite = json!({"emails": ["boss@example.com"]});
    admin.put("/api/manage/admin/users", invite).await.ok();
    update(json!({"email": "reader@example.com"})).await.refused(403, "UNAUTHORIZED");
    server.nobody().patch("/api/users/me", json!({})).await.refused(401, "UNAUTHENTICATED");
}

/// With what a deployment has by default.
#[tokio::test(flavor = "multi_thread")]
async fn passwords_are_kept_as_slow_hashes() {
    let server = Server::start().await;
    assert_eq!(register(&server, "reader@example.com").await.status, 201);
    let users = &server.engine.backends().users;
    let user = users.get_by_email("reader@example.com").await.unwrap().unwrap();
    let kept = users.password(user.id).await.unwrap().unwrap();
    assert!(kept.as_str().starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{}", kept.as_str());
    browser(&server, "reader@example.com").await.me().await.ok();
    coded(&login(&server, "reader@example.com", "wrong").await, "LOGIN_BAD_CREDENTIALS");
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
    server.nobody().get("/api/settings").await.refused(401, "UNAUTHENTICATED");
}

/// A program's account has no password to guess.
#[tokio::test(flavor = "multi_thread")]
async fn programs_do_not_sign_in() {
    let server = start().await;
    staff(&server).await;
    let backends = server.engine.backends();
    let id = trove_domain::id::UserId(backends.ids.uuid());
    let robot = NewUser {
        kind: trove_domain::user::AccountKind::Service,
        ..NewUser::person(id, "robot@example.com", Role::Basic, backends.clock.now())
    };
    assert!(backends.users.insert(robot).await.unwrap());
    let (_, password) = server.engine.reset_password("robot@example.com").await.unwrap();
    let password = secrecy::ExposeSecret::expose_secret(&password).to_owned();
    coded(&login(&server, "robot@example.com", &password).await, "LOGIN_BAD_CREDENTIALS");
}
