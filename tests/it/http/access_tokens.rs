//! Personal access tokens: made, used, restricted, ended.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use trove_domain::access::Role;
use trove_domain::port::{Clock, UserChange};
use trove_http::{Policy, ScopeRule, inventory};

use crate::server::{Client, Server};

const TOKENS: &str = "/api/user/pats";

fn bearer<'a>(server: &'a Server, made: &Value) -> Client<'a> {
    let token = made["token"].as_str().unwrap();
    server.nobody().with("authorization", &format!("Bearer {token}"))
}

fn one(made: &Value) -> String {
    format!("{TOKENS}/{}", made["id"])
}

/// Moves the clock to this time of the day it shows, or of the next one.
fn set_time(server: &Server, hour: i64, minute: i64) -> DateTime<Utc> {
    let now = server.stack.clock.now();
    let midnight = now.date_naive().and_hms_opt(0, 0, 0).unwrap().and_utc();
    let then = midnight + TimeDelta::hours(hour) + TimeDelta::minutes(minute);
    let then = if then < now { then + TimeDelta::days(1) } else { then };
    server.stack.clock.advance(then - now);
    then
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_made_used_listed_and_ended() {
    let server = Server::start().await;
    let user = server.user("a@example.com", Role::Curator).await;
    let now = set_time(&server, 10, 0);
    let made = user.post(TOKENS, json!({"name": "notebook"})).await.ok();
    let token = made["token"].as_str().unwrap();
    assert!(token.starts_with("trove_pat_") && token.len() == 50, "{token}");
    let display = format!("{}****{}", &token[..12], &token[46..]);
    let created = now.format("%Y-%m-%dT10:00:00Z").to_string();
    let kept = json!({"id": made["id"], "name": "notebook", "token_display": display,
        "created_at": created, "expires_at": null, "last_used_at": null, "scopes": null});
    let mut expected = kept.clone();
    expected["token"] = json!(token);
    assert_eq!(made, expected);
    assert_eq!(user.get(TOKENS).await.ok(), json!([kept]));

    let program = bearer(&server, &made);
    let me = program.me().await.ok();
    assert_eq!((&me["email"], &me["role"]), (&json!("a@example.com"), &json!("curator")));
    let ended = user.delete(&one(&made)).await.ok();
    assert_eq!(ended.as_object().unwrap().keys().collect::<Vec<_>>(), ["message"]);
    program.me().await.refused(401, "UNAUTHENTICATED");
}

#[tokio::test(flavor = "multi_thread")]
async fn row_3_and_4_a_token_needs_the_word_bearer() {
    let server = Server::start().await;
    let user = server.user("a@example.com", Role::Basic).await;
    let made = user.post(TOKENS, json!({"name": "a"})).await.ok();
    let token = made["token"].as_str().unwrap();
    let as_is = |value: String| server.nobody().with("authorization", &value);
    as_is(token.to_owned()).me().await.refused(401, "UNAUTHENTICATED");
    as_is(format!("bearer {token}")).me().await.refused(401, "UNAUTHENTICATED");
    as_is(format!("Bearer {token}")).me().await.ok();
    let product = server.nobody().with("x-trove-authorization", token);
    product.me().await.refused(401, "UNAUTHENTICATED");
}

#[tokio::test(flavor = "multi_thread")]
async fn row_21_the_token_of_a_deactivated_user_sleeps() {
    let server = Server::start().await;
    let user = server.user("a@example.com", Role::Basic).await;
    let made = user.post(TOKENS, json!({"name": "a"})).await.ok();
    let program = bearer(&server, &made);
    let (users, now) = (&server.engine.backends().users, server.stack.clock.now());
    let id = users.get_by_email("a@example.com").await.unwrap().unwrap().id;
    assert_eq!(users.deactivate(id, now).await.unwrap(), UserChange::Done);
    program.me().await.refused(401, "UNAUTHENTICATED");
    assert_eq!(users.activate(id, None, now).await.unwrap(), UserChange::Done);
    program.me().await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn row_22_a_token_for_a_day_works_until_the_end_of_the_next() {
    let server = Server::start().await;
    let user = server.user("a@example.com", Role::Basic).await;
    let now = set_time(&server, 10, 0);
    let made = user.post(TOKENS, json!({"name": "a", "expiration_days": 1})).await.ok();
    let next_day = now.date_naive().succ_opt().unwrap();
    assert_eq!(made["expires_at"], format!("{next_day}T23:59:59.999999Z"));
    let program = bearer(&server, &made);
    // Not a day later, but at the end of that day.
    server.stack.clock.advance(TimeDelta::hours(37) + TimeDelta::minutes(59));
    program.me().await.ok();
    assert_eq!(user.get(TOKENS).await.ok().as_array().unwrap().len(), 1);
    server.stack.clock.advance(TimeDelta::minutes(1));
    program.me().await.refused(401, "UNAUTHENTICATED");
    assert_eq!(user.get(TOKENS).await.ok(), json!([]));
    user.delete(&one(&made)).await.refused(404, "NOT_FOUND");
}

#[tokio::test(flavor = "multi_thread")]
async fn row_23_and_24_a_token_ends_once_and_is_not_listed() {
    let server = Server::start().await;
    let user = server.user("a@example.com", Role::Basic).await;
    let first = user.post(TOKENS, json!({"name": "same"})).await.ok();
    let second = user.post(TOKENS, json!({"name": "same"})).await.ok();
    let listed = user.get(TOKENS).await.ok();
    let ids: Vec<&Value> = listed.as_array().unwrap().iter().map(|token| &token["id"]).collect();
    assert_eq!(ids, [&second["id"], &first["id"]], "newest first");
    user.delete(&one(&first)).await.ok();
    user.delete(&one(&first)).await.refused(404, "NOT_FOUND");
    let listed = user.get(TOKENS).await.ok();
    assert_eq!(listed.as_array().unwrap().len(), 1);
    assert_eq!(listed[0]["id"], second["id"]);
}

/// Another's token looks as if there were none, for administrators, too.
#[tokio::test(flavor = "multi_thread")]
async fn nobody_sees_or_ends_the_token_of_another() {
    let server = Server::start().await;
    let owner = server.user("a@example.com", Role::Basic).await;
    let made = owner.post(TOKENS, json!({"name": "a"})).await.ok();
    for role in [Role::Basic, Role::Admin] {
        let other = server.caller(role).await;
        assert_eq!(other.get(TOKENS).await.ok(), json!([]));
        let foreign = other.delete(&one(&made)).await.refused(404, "NOT_FOUND");
        let missing = other.delete(&format!("{TOKENS}/4711")).await.refused(404, "NOT_FOUND");
        assert_eq!(foreign.replace(&made["id"].to_string(), "4711"), missing);
    }
    bearer(&server, &made).me().await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_use_is_told_every_five_minutes() {
    let server = Server::start().await;
    let user = server.user("a@example.com", Role::Basic).await;
    set_time(&server, 10, 0);
    let made = user.post(TOKENS, json!({"name": "a"})).await.ok();
    let program = bearer(&server, &made);
    for (minute, expected) in [(1, "10:01:00Z"), (5, "10:01:00Z"), (6, "10:06:00Z")] {
        set_time(&server, 10, minute);
        program.me().await.ok();
        let listed = user.get(TOKENS).await.ok();
        let used = listed[0]["last_used_at"].as_str().unwrap();
        assert!(used.ends_with(expected), "{used} at minute {minute}");
    }
}

/// The rights are those of the owner when the token is used.
#[tokio::test(flavor = "multi_thread")]
async fn a_token_has_the_rights_that_its_owner_has_now() {
    let server = Server::start().await;
    let owner = server.user("a@example.com", Role::Admin).await;
    server.caller(Role::Admin).await;
    let made = owner.post(TOKENS, json!({"name": "a"})).await.ok();
    let program = bearer(&server, &made);
    program.get("/api/manage/users/accepted").await.ok();
    let (users, now) = (&server.engine.backends().users, server.stack.clock.now());
    let id = users.get_by_email("a@example.com").await.unwrap().unwrap().id;
    let changed = users.set_role(id, Role::Admin, Role::Basic, now).await.unwrap();
    assert_eq!(changed, UserChange::Done);
    let refused = program.get("/api/manage/users/accepted").await;
    refused.refused(403, "INSUFFICIENT_PERMISSIONS");
}

/// A restricted token gets in where its scopes say, and nowhere else: asked of every route.
#[tokio::test(flavor = "multi_thread")]
async fn a_restricted_token_goes_no_further_than_its_scopes() {
    let server = Server::start().await;
    let owner = server.user("a@example.com", Role::Admin).await;
    let restricted = async |scope: &str| {
        let body = json!({"name": scope, "scopes": [scope]});
        let made = owner.post(TOKENS, body).await.ok();
        assert_eq!(made["scopes"], json!([scope]));
        bearer(&server, &made)
    };
    let search = restricted("read:search").await;
    let chat = restricted("write:chat").await;
    search.search(json!({"query": "x"})).await.ok();
    search.get("/api/search/search-history").await.ok();
    let refused = chat.search(json!({"query": "x"})).await;
    let detail = refused.refused(403, "INSUFFICIENT_PERMISSIONS");
    assert!(detail.contains("read:search"), "{detail}");
    let mut open = Vec::new();
    for info in inventory() {
        if info.policy == Policy::Public {
            continue;
        }
        let method = reqwest::Method::from_bytes(info.method.as_str().as_bytes()).unwrap();
        let path = format!("/api{}", info.path.replace(['{', '}'], ""));
        let answer = chat.send(method, &path, None).await;
        let is_refused = answer.status == 403 && answer.text.contains("a token with");
        assert_eq!(is_refused, info.scope != ScopeRule::Any, "{} {path}", info.method);
        if info.scope != ScopeRule::Unrestricted {
            open.push(format!("{} {}", info.method, info.path));
        }
    }
    open.sort();
    let expected = [
        "GET /me",
        "GET /me/permissions",
        "GET /search/search-history",
        "POST /search",
        "POST /search/send-search-message",
    ];
    assert_eq!(open, expected);
    let permissions = chat.get("/api/me/permissions").await.ok();
    assert_eq!(permissions["permissions"], json!(["read:chat", "write:chat"]));
    // In particular, it makes itself no other token.
    chat.post(TOKENS, json!({"name": "b"})).await.refused(403, "INSUFFICIENT_PERMISSIONS");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_token_is_told() {
    let server = Server::start().await;
    let user = server.caller(Role::Basic).await;
    user.post(TOKENS, json!({"expiration_days": 0, "scopes": [5]})).await.invalid(&[
        "body/name missing",
        "body/expiration_days greater_than_equal",
        "body/scopes/0 string_type",
    ]);
    let body = json!({"name": "", "expiration_days": 36_501});
    let failures = ["body/name string_too_short", "body/expiration_days less_than_equal"];
    user.post(TOKENS, body).await.invalid(&failures);
    let body = json!({"name": "x".repeat(101)});
    user.post(TOKENS, body).await.invalid(&["body/name string_too_long"]);
    for (scopes, told) in [
        (json!([]), "the list is empty"),
        (json!(["admin"]), "`admin`"),
        (json!(["read:search", "basic"]), "`basic`"),
    ] {
        let body = json!({"name": "a", "scopes": scopes});
        let detail = user.post(TOKENS, body).await.refused(400, "INVALID_INPUT");
        assert!(detail.starts_with("scopes: ") && detail.contains(told), "{detail}");
    }
    let detail = user.post(TOKENS, json!({"name": "a\u{7}"})).await.refused(400, "INVALID_INPUT");
    assert!(detail.starts_with("name: "), "{detail}");
    assert_eq!(user.get(TOKENS).await.ok(), json!([]));
    user.delete(&format!("{TOKENS}/x")).await.invalid(&["path/token_id int_parsing"]);
    // The longest one there is.
    user.post(TOKENS, json!({"name": "a", "expiration_days": 36_500})).await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn scopes_are_listed_with_what_they_imply() {
    let server = Server::start().await;
    let user = server.caller(Role::Basic).await;
    let scopes = user.get("/api/user/pats/scopes").await.ok();
    let scopes = scopes.as_array().unwrap();
    let names: Vec<&str> = scopes.iter().map(|scope| scope["scope"].as_str().unwrap()).collect();
    assert_eq!(names, ["read:search", "read:chat", "write:chat", "use:llm_gateway"]);
    assert_eq!(scopes[2]["implies"], json!(["read:chat"]));
    let keys: BTreeSet<&str> = scopes[0].as_object().unwrap().keys().map(String::as_str).collect();
    let expected = ["description", "group_label", "implies", "label", "min_tier", "scope"];
    assert_eq!(keys, expected.into());
    for name in names {
        user.post(TOKENS, json!({"name": name, "scopes": [name]})).await.ok();
    }
}

/// A token that leaks does not take the account over.
#[tokio::test(flavor = "multi_thread")]
async fn a_token_changes_neither_address_nor_password() {
    let server = Server::start().await;
    let user = server.user("a@example.com", Role::Basic).await;
    let made = user.post(TOKENS, json!({"name": "a"})).await.ok();
    let program = bearer(&server, &made);
    let change = json!({"email": "b@example.com", "password": "correct horse battery staple"});
    program.patch("/api/users/me", json!({})).await.ok();
    let refused = program.patch("/api/users/me", change).await;
    refused.refused(403, "INSUFFICIENT_PERMISSIONS");
    let body = json!({"old_password": "x", "new_password": "correct horse battery staple"});
    let refused = program.post("/api/password/change-password", body).await;
    refused.refused(403, "INSUFFICIENT_PERMISSIONS");
    assert_eq!(user.me().await.ok()["email"], "a@example.com");
}
