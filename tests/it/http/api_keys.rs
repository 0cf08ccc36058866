//! Keys of programs, from making to deleting them.

use serde_json::{Value, json};
use trove_domain::access::Role;
use trove_domain::api_key::SERVICE_DOMAIN;

use crate::server::{Client, Server, document};

const KEYS: &str = "/api/admin/api-key";

fn with_key<'a>(server: &'a Server, made: &Value) -> Client<'a> {
    let key = made["api_key"].as_str().unwrap();
    server.nobody().with("authorization", &format!("Bearer {key}"))
}

fn path(made: &Value) -> String {
    format!("{KEYS}/{}", made["api_key_id"])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_made_used_changed_and_deleted() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let made = admin.post(KEYS, json!({"name": "crawler", "role": "admin"})).await.ok();
    let key = made["api_key"].as_str().unwrap();
    let display = format!("{}********{}", &key[..7], &key[key.len() - 4..]);
    let user = made["user_id"].as_str().unwrap();
    let expected = json!({"api_key_id": made["api_key_id"], "api_key_display": display,
        "api_key": key, "api_key_name": "crawler", "api_key_role": "admin", "groups": [],
        "user_id": user});
    assert_eq!(made, expected);

    let robot = with_key(&server, &made);
    let me = robot.me().await.ok();
    assert_eq!(me["email"], format!("API_KEY__crawler@{user}.{SERVICE_DOMAIN}"));
    assert_eq!((&me["id"], &me["role"]), (&json!(user), &json!("admin")));
    assert_eq!((&me["is_verified"], &me["password_configured"]), (&json!(true), &json!(false)));
    robot.get(KEYS).await.ok();
    // And without the word Bearer.
    server.nobody().with("authorization", key).me().await.ok();

    let changed = admin.patch(&path(&made), json!({"name": null, "role": "limited"})).await.ok();
    assert_eq!((&changed["api_key_role"], &changed["api_key"]), (&json!("limited"), &Value::Null));
    assert_eq!(robot.me().await.ok()["email"], format!("API_KEY__Unnamed@{user}.{SERVICE_DOMAIN}"));
    robot.get(KEYS).await.refused(403, "INSUFFICIENT_PERMISSIONS");

    let gone = admin.delete(&path(&made)).await;
    assert_eq!((gone.status, gone.text.as_str()), (200, "null"));
    robot.me().await.refused(401, "UNAUTHENTICATED");
    admin.delete(&path(&made)).await.refused(404, "NOT_FOUND");
    let all = admin.get("/api/users?include_api_keys=true").await.text;
    assert!(!all.contains(user), "the account is gone with its key: {all}");
}

#[tokio::test(flavor = "multi_thread")]
async fn row_25_the_list_never_holds_a_secret() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let made = admin.post(KEYS, json!({"name": "a"})).await.ok();
    let secret = made["api_key"].as_str().unwrap();
    let listed = admin.get(KEYS).await;
    assert!(!listed.text.contains(secret), "{}", listed.text);
    let listed = listed.ok();
    let keys = listed.as_array().unwrap();
    // The administrator's own key is one, too.
    assert_eq!(keys.len(), 2);
    assert!(keys.iter().all(|key| key["api_key"].is_null()));
    let mut expected = made.clone();
    expected["api_key"] = Value::Null;
    assert_eq!(keys[1], expected);
    assert_eq!(admin.patch(&path(&made), json!({})).await.ok()["api_key"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_26_a_change_without_role_makes_it_basic() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let made = admin.post(KEYS, json!({"name": "a", "role": "admin"})).await.ok();
    let changed = admin.patch(&path(&made), json!({"name": "b"})).await.ok();
    let (name, role) = (&changed["api_key_name"], &changed["api_key_role"]);
    assert_eq!((name, role), (&json!("b"), &json!("basic")));
    // And so does making one.
    assert_eq!(admin.post(KEYS, json!({})).await.ok()["api_key_role"], "basic");
    for role in Role::ALL.map(Role::as_str) {
        assert_eq!(admin.post(KEYS, json!({"role": role})).await.ok()["api_key_role"], role);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn row_57_a_limited_key_gets_no_role_told() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let made = admin.post(KEYS, json!({"role": "limited"})).await.ok();
    let robot = with_key(&server, &made);
    robot.get("/api/get-user-role").await.refused(403, "INSUFFICIENT_PERMISSIONS");
    assert_eq!(robot.me().await.ok()["role"], "limited");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_key_ends_the_old_one_at_once() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let made = admin.post(KEYS, json!({"name": "a", "role": "curator"})).await.ok();
    let again = admin.post(&format!("{}/regenerate", path(&made)), json!(null)).await.ok();
    assert_ne!(again["api_key"], made["api_key"]);
    assert_ne!(again["api_key_display"], made["api_key_display"]);
    for field in ["api_key_id", "api_key_name", "api_key_role", "groups", "user_id"] {
        assert_eq!(again[field], made[field], "{field}");
    }
    with_key(&server, &made).me().await.refused(401, "UNAUTHENTICATED");
    assert_eq!(with_key(&server, &again).me().await.ok()["role"], "curator");
    // With the tokens that somebody may have made with it.
    let robot = with_key(&server, &again);
    let token = robot.post("/api/user/pats", json!({"name": "a"})).await.ok();
    let token = format!("Bearer {}", token["token"].as_str().unwrap());
    let token = server.nobody().with("authorization", &token);
    token.me().await.ok();
    admin.post(&format!("{}/regenerate", path(&made)), json!(null)).await.ok();
    token.me().await.refused(401, "UNAUTHENTICATED");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_reads_what_its_groups_read() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let group = server.group("readers", &[]).await;
    let pair = server.private_pair("private", &[group]).await;
    let body = json!({"document": document("a", "a", "apple"), "cc_pair_id": pair.0});
    admin.ingest(body).await.ok();
    let groups = json!({"group_ids": [group.0]});
    let made = admin.post(KEYS, groups.clone()).await.ok();
    assert_eq!(made["groups"], json!([{"id": group.0, "name": "readers"}]));
    let robot = with_key(&server, &made);
    let finds = async || !robot.search(json!({"query": "apple"})).await.titles().is_empty();
    assert!(finds().await);
    // A client that knows of no groups changes none.
    admin.patch(&path(&made), json!({"name": "a"})).await.ok();
    assert!(finds().await);
    admin.patch(&path(&made), json!({"group_ids": []})).await.ok();
    assert!(!finds().await);
    admin.patch(&path(&made), groups).await.ok();
    assert!(finds().await);
    let missing = json!({"group_ids": [group.0, 4711], "role": "admin"});
    let detail = admin.patch(&path(&made), missing.clone()).await.refused(400, "INVALID_INPUT");
    assert!(detail.contains("group_ids") && detail.contains("4711"), "{detail}");
    let before = admin.get(KEYS).await.ok();
    admin.post(KEYS, missing).await.refused(400, "INVALID_INPUT");
    assert_eq!(admin.get(KEYS).await.ok(), before, "nothing is half-made");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_key_is_told_at_once() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let body = json!({"name": 5, "role": "root", "group_ids": ["x"]});
    let failures = ["body/name string_type", "body/role enum", "body/group_ids/0 int_parsing"];
    admin.post(KEYS, body.clone()).await.invalid(&failures);
    admin.patch(&format!("{KEYS}/4711"), body).await.invalid(&failures);
    admin.patch(&format!("{KEYS}/x"), json!({})).await.invalid(&["path/api_key_id int_parsing"]);
    for name in ["", "a\nb", "\u{202e}", &"x".repeat(201)] {
        let detail = admin.post(KEYS, json!({"name": name})).await.refused(400, "INVALID_INPUT");
        assert!(detail.starts_with("name: "), "{detail}");
    }
    for id in ["4711", "0", "-1"] {
        admin.patch(&format!("{KEYS}/{id}"), json!({})).await.refused(404, "NOT_FOUND");
        admin.delete(&format!("{KEYS}/{id}")).await.refused(404, "NOT_FOUND");
        let regenerate = format!("{KEYS}/{id}/regenerate");
        admin.post(&regenerate, json!(null)).await.refused(404, "NOT_FOUND");
    }
}

/// An administrator ends such a key, and does not become the person, nor changes it in passing.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_acts_as_a_person_is_only_ended() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let person = server.user("person@example.com", Role::Basic).await;
    let keys = admin.get(KEYS).await.ok();
    let key = keys.as_array().unwrap().last().unwrap().clone();
    assert_eq!(key["user_id"], person.me().await.ok()["id"]);
    let change = json!({"role": "admin"});
    admin.patch(&path(&key), change).await.refused(400, "INVALID_INPUT");
    let regenerate = format!("{}/regenerate", path(&key));
    admin.post(&regenerate, json!(null)).await.refused(400, "INVALID_INPUT");
    assert_eq!(person.me().await.ok()["role"], "basic");
    admin.delete(&path(&key)).await.ok();
    person.me().await.refused(401, "UNAUTHENTICATED");
    admin.delete(&path(&key)).await.refused(404, "NOT_FOUND");
    let users = admin.get("/api/users").await.text;
    assert!(users.contains("person@example.com"), "the person stays: {users}");
}

/// It could otherwise take the address of a person, with what is shared with that.
#[tokio::test(flavor = "multi_thread")]
async fn the_account_of_a_key_has_no_password_and_keeps_its_address() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let made = admin.post(KEYS, json!({"role": "admin"})).await.ok();
    let robot = with_key(&server, &made);
    let email = robot.me().await.ok()["email"].clone();
    for change in
        [json!({"email": "chief@example.com"}), json!({"password": "correct horse battery staple"})]
    {
        let refused = robot.patch("/api/users/me", change).await;
        refused.refused(403, "INSUFFICIENT_PERMISSIONS");
    }
    let body = json!({"old_password": "", "new_password": "correct horse battery staple"});
    let change = robot.post("/api/password/change-password", body).await;
    change.refused(403, "INSUFFICIENT_PERMISSIONS");
    let reset = admin.post("/api/password/reset_password", json!({"user_email": email})).await;
    reset.refused(400, "INVALID_INPUT");
    assert_eq!(robot.me().await.ok()["email"], email);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deactivated_account_of_a_key_is_out_and_its_key_can_be_deleted() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let made = admin.post(KEYS, json!({"role": "admin"})).await.ok();
    let robot = with_key(&server, &made);
    let body = json!({"user_email": robot.me().await.ok()["email"]});
    admin.patch("/api/manage/admin/deactivate-user", body).await.ok();
    robot.me().await.refused(401, "UNAUTHENTICATED");
    admin.delete(&path(&made)).await.ok();
    assert_eq!(admin.get(KEYS).await.ok().as_array().unwrap().len(), 1);
}

/// Somebody has to administer afterwards.
#[tokio::test(flavor = "multi_thread")]
async fn the_last_key_that_somebody_administers_with_stays() {
    let server = Server::start().await;
    let admin = server.user("admin@example.com", Role::Admin).await;
    let key = admin.get(KEYS).await.ok()[0].clone();
    admin.delete(&path(&key)).await.refused(400, "INVALID_INPUT");
    admin.me().await.ok();
    // A password is as good.
    server.engine.reset_password("admin@example.com").await.unwrap();
    admin.delete(&path(&key)).await.ok();
    admin.me().await.refused(401, "UNAUTHENTICATED");
}

/// Clients know programs by their addresses.
#[tokio::test(flavor = "multi_thread")]
async fn nobody_registers_as_a_program() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let made = admin.post(KEYS, json!({"name": "a", "role": "slack_user"})).await.ok();
    let email = with_key(&server, &made).me().await.ok()["email"].clone();
    for email in [email, json!(format!("API_KEY__ci@x.{SERVICE_DOMAIN}"))] {
        let body = json!({"email": email, "password": "correct horse battery staple"});
        let answer = server.nobody().post("/api/auth/register", body).await;
        answer.invalid(&["body/email value_error"]);
        let invited = admin.put("/api/manage/admin/users", json!({"emails": [email]})).await;
        invited.refused(400, "INVALID_INPUT");
    }
    assert_eq!(with_key(&server, &made).me().await.ok()["role"], "slack_user");
}
