//! Registering. `row_N` is row N of the list of behaviours that are easy to get wrong.

use secrecy::ExposeSecret;
use serde_json::{Value, json};
use trove_domain::access::Role;
use trove_domain::id::UserId;
use trove_domain::password::PasswordPolicy;
use trove_domain::port::NewUser;
use trove_engine::accounts::{AccountConfig, RegistrationPolicy};

use super::people::{PASSWORD, browser, cheap, coded, login, register, staff, start, with};

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
    // Whether requests meet is up to the machine: several rounds leave little to chance.
    for _ in 0..5 {
        let server = start().await;
        let addresses: Vec<String> = (0..8).map(|n| format!("user{n}@example.com")).collect();
        let calls = addresses.iter().map(|email| register(&server, email));
        let answers = futures::future::join_all(calls).await;
        let roles: Vec<Value> =
            answers.iter().map(|answer| answer.json()["role"].clone()).collect();
        assert_eq!(roles.iter().filter(|role| **role == "admin").count(), 1, "{roles:?}");
        assert_eq!(roles.iter().filter(|role| **role == "basic").count(), 7, "{roles:?}");
    }
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
    let backends = server.engine.backends();
    let id = UserId(backends.ids.uuid());
    let bot = NewUser::person(id, "bot@example.com", Role::SlackUser, backends.clock.now());
    assert!(backends.users.insert(bot).await.unwrap());
    let id = json!(id.to_string());
    coded(&login(&server, "bot@example.com", PASSWORD).await, "LOGIN_BAD_CREDENTIALS");
    let registered = register(&server, "bot@example.com").await.json();
    assert_eq!((&registered["id"], &registered["role"]), (&id, &json!("basic")));
    browser(&server, "bot@example.com").await.me().await.ok();
    // With a password that somebody else gave it, it is told what it is.
    let reset = server.engine.reset_password("bot@example.com").await.unwrap();
    let user = reset.0;
    let (users, now) = (&server.engine.backends().users, server.engine.backends().clock.now());
    users.set_role(user.id, Role::Basic, Role::SlackUser, now).await.unwrap();
    let password = reset.1.expose_secret().to_owned();
    let refused = login(&server, "bot@example.com", &password).await;
    refused.refused(403, "INSUFFICIENT_PERMISSIONS");
    coded(&login(&server, "bot@example.com", "wrong").await, "LOGIN_BAD_CREDENTIALS");
}
