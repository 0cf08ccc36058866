//! Passwords: who knows, guesses, changes and resets them.

use chrono::TimeDelta;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use trove_domain::access::Role;
use trove_domain::id::UserId;
use trove_domain::port::NewUser;
use trove_domain::user::AccountKind;
use trove_engine::accounts::{AccountConfig, RegistrationPolicy};
use trove_http::HttpConfig;

use super::people::{
    PASSWORD, at, browser, cheap, coded, form, login, register, staff, start, with,
};
use crate::server::Server;

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
    // Whoever finds a key does not take the account over.
    let none = keyed.post("/api/password/change-password", body).await;
    none.refused(403, "INSUFFICIENT_PERMISSIONS");
    for change in [json!({"password": "another password"}), json!({"email": "x@example.com"})] {
        let none = keyed.patch("/api/users/me", change).await;
        none.refused(403, "INSUFFICIENT_PERMISSIONS");
    }
    keyed.patch("/api/users/me", json!({})).await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_administrator_resets_a_password() {
    let server = start().await;
    let admin = staff(&server).await;
    let reader = browser(&server, "reader@example.com").await;
    let made = reader.post("/api/user/pats", json!({"name": "a"})).await.ok();
    let made = format!("Bearer {}", made["token"].as_str().unwrap());
    let token = server.nobody().with("authorization", &made);
    token.me().await.ok();
    let body = json!({"user_email": "Reader@example.com"});
    let reset = admin.post("/api/password/reset_password", body.clone()).await.ok();
    assert_eq!(reset["user_id"].as_str().unwrap().len(), 36);
    reader.me().await.refused(401, "UNAUTHENTICATED");
    token.me().await.refused(401, "UNAUTHENTICATED");
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

/// A program's account has no password to guess.
#[tokio::test(flavor = "multi_thread")]
async fn programs_do_not_sign_in() {
    let server = start().await;
    staff(&server).await;
    let backends = server.engine.backends();
    let id = UserId(backends.ids.uuid());
    let robot = NewUser {
        kind: AccountKind::Service,
        ..NewUser::person(id, "robot@example.com", Role::Basic, backends.clock.now())
    };
    assert!(backends.users.insert(robot).await.unwrap());
    assert!(server.engine.reset_password("robot@example.com").await.is_err());
    // Not even with a password that is right.
    server.user("person@example.com", Role::Basic).await;
    let (person, password) = server.engine.reset_password("person@example.com").await.unwrap();
    let kept = backends.users.password(person.id).await.unwrap().unwrap();
    assert!(backends.users.set_password(id, kept, None, backends.clock.now()).await.unwrap());
    let password = password.expose_secret().to_owned();
    assert_eq!(login(&server, "person@example.com", &password).await.status, 204);
    coded(&login(&server, "robot@example.com", &password).await, "LOGIN_BAD_CREDENTIALS");
}
