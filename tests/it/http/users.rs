//! Users as administrators see and change them. `row_N` is row N of the list of behaviours that are
//! easy to get wrong.

use reqwest::Method;
use serde_json::{Value, json};
use trove_domain::access::{Caller, Proof, Role};
use trove_domain::id::UserId;
use trove_domain::port::NewUser;
use trove_engine::EngineConfig;
use trove_engine::accounts::{AccountConfig, AccountError};

use super::user_lists::emails;
use crate::server::{Answer, Client, Options, Server};

const INVITE: &str = "/api/manage/admin/users";
const UNINVITE: &str = "/api/manage/admin/remove-invited-user";
const ROLE: &str = "/api/manage/set-user-role";
pub(crate) const DEACTIVATE: &str = "/api/manage/admin/deactivate-user";
const ACTIVATE: &str = "/api/manage/admin/activate-user";
const DELETE: &str = "/api/manage/admin/delete-user";

async fn with_seats(seats: u64) -> Server {
    let accounts = AccountConfig { seats: Some(seats), ..AccountConfig::default() };
    let engine = EngineConfig { accounts, ..EngineConfig::default() };
    Server::with(Options { engine, ..Options::default() }).await
}

pub(crate) async fn admin(server: &Server) -> Client<'_> {
    server.user("root@example.com", Role::Admin).await
}

pub(crate) async fn invite(admin: &Client<'_>, emails: &[&str]) -> Answer {
    admin.put(INVITE, json!({"emails": emails})).await
}

/// Makes a user without a key.
pub(crate) async fn person(server: &Server, email: &str, role: Role) {
    let backends = server.engine.backends();
    let id = UserId(backends.ids.uuid());
    let user = NewUser::person(id, email, role, backends.clock.now());
    assert!(backends.users.insert(user).await.unwrap());
}

pub(crate) async fn on(admin: &Client<'_>, route: &str, email: &str) -> Answer {
    admin.patch(route, json!({"user_email": email})).await
}

async fn invited(admin: &Client<'_>) -> Vec<String> {
    let listed = admin.get("/api/manage/users/invited").await.ok();
    let listed = listed.as_array().unwrap().clone();
    listed.iter().map(|user| user["email"].as_str().unwrap().to_owned()).collect()
}

async fn set_role(admin: &Client<'_>, email: &str, role: &str) -> Answer {
    admin.patch(ROLE, json!({"user_email": email, "new_role": role})).await
}

async fn override_role(admin: &Client<'_>, email: &str, role: &str) -> Answer {
    let body = json!({"user_email": email, "new_role": role, "explicit_override": true});
    admin.patch(ROLE, body).await
}

async fn role(server: &Server, email: &str) -> Role {
    server.engine.backends().users.get_by_email(email).await.unwrap().unwrap().role
}

#[tokio::test(flavor = "multi_thread")]
async fn row_33_a_bare_array_is_no_list_of_addresses() {
    let server = Server::start().await;
    let admin = admin(&server).await;
    for body in [json!(["a@b.c"]), json!("a@b.c"), json!(null), json!({})] {
        admin.put(INVITE, body).await.invalid(&["body/emails missing"]);
    }
    let answer = admin.send(Method::PUT, INVITE, None).await;
    answer.invalid(&["body/emails missing"]);
    admin.put(INVITE, json!({"email": ["a@b.c"]})).await.invalid(&["body/emails missing"]);
    admin.put(INVITE, json!({"emails": "a@b.c"})).await.invalid(&["body/emails list_type"]);
    admin
        .put(INVITE, json!({"emails": [1, "a@b.c", null]}))
        .await
        .invalid(&["body/emails/0 string_type", "body/emails/2 string_type"]);
    assert_eq!(invite(&admin, &[]).await.ok(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_34_one_bad_address_and_nobody_is_invited() {
    let server = Server::start().await;
    let admin = admin(&server).await;
    assert_eq!(invite(&admin, &["first@example.com"]).await.ok(), 1);
    for bad in ["bad", "a@b", "@x.y", "a b@x.y", "a@x.y\n", "\"q\"@x.y", "A <a@x.y>", ""] {
        let answer = invite(&admin, &["ok@x.com", bad, "also bad"]).await;
        let detail = answer.refused(400, "INVALID_INPUT");
        assert!(detail.contains(&format!("`{bad}`")), "{detail}");
        assert!(!detail.contains("also bad"), "the first one is named: {detail}");
        assert_eq!(answer.json()["message"], detail);
    }
    assert_eq!(invited(&admin).await, ["first@example.com"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_35_the_answer_is_the_size_of_the_list() {
    let server = Server::start().await;
    let admin = admin(&server).await;
    assert_eq!(invite(&admin, &["a@x.y", "b@x.y", "c@x.y"]).await.ok(), 3);
    assert_eq!(invite(&admin, &["d@x.y", "e@x.y"]).await.ok(), 5);
    assert_eq!(invited(&admin).await, ["a@x.y", "b@x.y", "c@x.y", "d@x.y", "e@x.y"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_36_inviting_twice_changes_nothing() {
    let server = Server::start().await;
    let admin = admin(&server).await;
    for _ in 0..2 {
        assert_eq!(invite(&admin, &["a@x.y", "a@x.y"]).await.ok(), 1);
    }
    assert_eq!(invite(&admin, &["A@x.y"]).await.ok(), 1);
    assert_eq!(invited(&admin).await, ["a@x.y"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_37_an_address_is_normalised() {
    let server = Server::start().await;
    let admin = admin(&server).await;
    assert_eq!(invite(&admin, &["User@EXAMPLE.com"]).await.ok(), 1);
    assert_eq!(invited(&admin).await, ["User@example.com"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_38_a_user_can_be_invited_and_is_not_listed_as_invited() {
    let server = Server::start().await;
    let admin = admin(&server).await;
    assert_eq!(invite(&admin, &["Root@example.com", "new@x.y"]).await.ok(), 2);
    assert_eq!(invited(&admin).await, ["new@x.y"]);
    let all = admin.get("/api/manage/users").await.ok();
    assert_eq!(emails(&all["invited"]), ["new@x.y"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_39_who_is_a_user_needs_no_other_seat() {
    let server = with_seats(1).await;
    let admin = admin(&server).await;
    assert_eq!(invite(&admin, &["root@example.com"]).await.ok(), 1);
    let detail = invite(&admin, &["new@x.y"]).await.refused(402, "SEAT_LIMIT_EXCEEDED");
    assert!(detail.starts_with("1 of 1 seats"), "{detail}");
    assert_eq!(invited(&admin).await, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_40_who_is_not_invited_cannot_be_taken_off_the_list() {
    let server = Server::start().await;
    let admin = admin(&server).await;
    invite(&admin, &["a@x.y", "b@x.y"]).await.ok();
    assert_eq!(on(&admin, UNINVITE, "c@x.y").await.ok(), 2);
    assert_eq!(on(&admin, UNINVITE, "no address").await.ok(), 2);
    assert_eq!(on(&admin, UNINVITE, "A@x.y").await.ok(), 1, "letter case does not matter");
    assert_eq!(invited(&admin).await, ["b@x.y"]);
    admin.patch(UNINVITE, json!({})).await.invalid(&["body/user_email missing"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_41_the_role_that_is_there_is_no_change() {
    let server = Server::start().await;
    let admin = admin(&server).await;
    person(&server, "bot@example.com", Role::SlackUser).await;
    assert_eq!(set_role(&admin, "root@example.com", "admin").await.ok(), Value::Null);
    assert_eq!(set_role(&admin, "bot@example.com", "slack_user").await.ok(), Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_42_nobody_takes_the_own_role_away() {
    let server = Server::start().await;
    let admin = admin(&server).await;
    set_role(&admin, "root@example.com", "basic").await.refused(400, "INVALID_INPUT");
    set_role(&admin, "ROOT@example.com", "basic").await.refused(400, "INVALID_INPUT");
    override_role(&admin, "root@example.com", "limited").await.refused(400, "INVALID_INPUT");
    assert_eq!(role(&server, "root@example.com").await, Role::Admin);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_43_who_is_known_by_a_chat_bot_keeps_the_role() {
    let server = Server::start().await;
    let admin = admin(&server).await;
    for bound in [Role::SlackUser, Role::ExtPermUser, Role::Limited] {
        let email = format!("{bound}@example.com");
        person(&server, &email, bound).await;
        override_role(&admin, &email, "basic").await.refused(400, "INVALID_INPUT");
        assert_eq!(role(&server, &email).await, bound);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn row_44_curators_are_made_by_their_groups() {
    let server = Server::start().await;
    let admin = admin(&server).await;
    person(&server, "a@example.com", Role::Basic).await;
    let users = &server.engine.backends().users;
    let id = users.get_by_email("a@example.com").await.unwrap().unwrap().id;
    server.group("g", &[("a@example.com", true)]).await;
    for asked in ["curator", "limited", "slack_user", "ext_perm_user"] {
        set_role(&admin, "a@example.com", asked).await.refused(400, "INVALID_INPUT");
    }
    assert_eq!(override_role(&admin, "a@example.com", "curator").await.ok(), Value::Null);
    assert_eq!(role(&server, "a@example.com").await, Role::Curator);
    let memberships = server.engine.backends().groups.memberships(id).await.unwrap();
    assert_eq!((memberships.len(), memberships[0].curator), (1, false));
    // Any other role needs no override.
    for asked in ["global_curator", "admin", "basic"] {
        assert_eq!(set_role(&admin, "a@example.com", asked).await.ok(), Value::Null);
    }
}

/// In the words of later clients, under the same rules.
#[tokio::test(flavor = "multi_thread")]
async fn administrators_are_made_and_unmade() {
    let server = Server::start().await;
    let admin = admin(&server).await;
    let set = |email: &str, is_admin: Value| {
        let body = json!({"user_email": email, "is_admin": is_admin});
        let admin = admin.clone();
        async move { admin.patch("/api/manage/admin/users/admin-access", body).await }
    };
    person(&server, "Ann@example.com", Role::Basic).await;
    for (is_admin, want) in [(true, Role::Admin), (true, Role::Admin), (false, Role::Basic)] {
        assert_eq!(set("aNN@example.com", json!(is_admin)).await.ok(), Value::Null);
        assert_eq!(role(&server, "ann@example.com").await, want);
    }
    // Who is none stays what it is.
    for kept in [Role::Basic, Role::GlobalCurator, Role::SlackUser, Role::Limited] {
        let email = format!("{kept}@example.com");
        person(&server, &email, kept).await;
        assert_eq!(set(&email, json!(false)).await.ok(), Value::Null);
        assert_eq!(role(&server, &email).await, kept);
    }
    set("slack_user@example.com", json!(true)).await.refused(400, "INVALID_INPUT");
    assert_eq!(set("global_curator@example.com", json!("yes")).await.ok(), Value::Null);
    assert_eq!(role(&server, "global_curator@example.com").await, Role::Admin);
    assert_eq!(set("root@example.com", json!(true)).await.ok(), Value::Null);
    set("root@example.com", json!(false)).await.refused(400, "INVALID_INPUT");
    set("nobody@example.com", json!(true)).await.refused(404, "USER_NOT_FOUND");
    let wrong = admin.patch("/api/manage/admin/users/admin-access", json!({})).await;
    wrong.invalid(&["body/user_email missing", "body/is_admin missing"]);
    set("ann@example.com", Value::Null).await.invalid(&["body/is_admin bool_type"]);
}

/// The operator's words, which are nobody's own: the last administrator stays one.
#[tokio::test(flavor = "multi_thread")]
async fn the_last_administrator_is_not_unmade() {
    let server = Server::start().await;
    person(&server, "root@example.com", Role::Admin).await;
    let unmade = server.engine.set_admin_access(None, "root@example.com", false).await;
    assert!(matches!(unmade, Err(AccountError::LastAdmin)), "{unmade:?}");
    assert_eq!(role(&server, "root@example.com").await, Role::Admin);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_45_an_unknown_address_comes_before_all_rules() {
    let server = Server::start().await;
    let admin = admin(&server).await;
    set_role(&admin, "nobody@example.com", "curator").await.refused(404, "USER_NOT_FOUND");
    set_role(&admin, "no\0body", "admin").await.refused(404, "USER_NOT_FOUND");
    set_role(&admin, "nobody@example.com", "boss").await.invalid(&["body/new_role enum"]);
    let wrong = admin.patch(ROLE, json!({"user_email": 1, "explicit_override": null})).await;
    wrong.invalid(&[
        "body/user_email string_type",
        "body/new_role missing",
        "body/explicit_override bool_type",
    ]);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_46_a_role_is_set_in_any_letter_case() {
    let server = Server::start().await;
    let admin = admin(&server).await;
    let client = server.user("Ann@example.com", Role::Basic).await;
    assert_eq!(set_role(&admin, "aNN@EXAMPLE.com", "admin").await.ok(), Value::Null);
    // From the next request on.
    assert_eq!(client.get("/api/get-user-role").await.ok(), json!({"role": "admin"}));
    client.get("/api/manage/users/accepted").await.ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn row_47_an_active_user_is_not_deleted() {
    let server = Server::start().await;
    let admin = admin(&server).await;
    person(&server, "a@example.com", Role::Basic).await;
    let delete = |email: &'static str| admin.delete_with(DELETE, json!({"user_email": email}));
    delete("a@example.com").await.refused(400, "INVALID_INPUT");
    delete("root@example.com").await.refused(400, "INVALID_INPUT");
    on(&admin, DEACTIVATE, "a@example.com").await.ok();
    assert_eq!(delete("A@example.com").await.ok(), Value::Null);
    delete("a@example.com").await.refused(404, "USER_NOT_FOUND");
    admin.delete_with(DELETE, json!({})).await.invalid(&["body/user_email missing"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_48_keeping_out_twice_is_no_error() {
    let server = Server::start().await;
    let admin = admin(&server).await;
    let client = server.user("a@example.com", Role::Basic).await;
    for _ in 0..2 {
        assert_eq!(on(&admin, DEACTIVATE, "A@example.com").await.ok(), Value::Null);
        client.me().await.refused(401, "UNAUTHENTICATED");
    }
    on(&admin, DEACTIVATE, "nobody@example.com").await.refused(404, "USER_NOT_FOUND");
    on(&admin, DEACTIVATE, "root@example.com").await.refused(400, "INVALID_INPUT");
    on(&admin, DEACTIVATE, "Root@Example.com").await.refused(400, "INVALID_INPUT");
}

#[tokio::test(flavor = "multi_thread")]
async fn row_49_and_50_letting_in_needs_a_seat_only_for_who_is_out() {
    let server = with_seats(2).await;
    let admin = admin(&server).await;
    let client = server.user("a@example.com", Role::Basic).await;
    assert_eq!(on(&admin, ACTIVATE, "a@example.com").await.ok(), Value::Null);
    on(&admin, DEACTIVATE, "a@example.com").await.ok();
    person(&server, "b@example.com", Role::Basic).await;
    on(&admin, ACTIVATE, "a@example.com").await.refused(402, "SEAT_LIMIT_EXCEEDED");
    client.me().await.refused(401, "UNAUTHENTICATED");
    on(&admin, DEACTIVATE, "b@example.com").await.ok();
    assert_eq!(on(&admin, ACTIVATE, "a@example.com").await.ok(), Value::Null);
    client.me().await.ok();
    on(&admin, ACTIVATE, "nobody@example.com").await.refused(404, "USER_NOT_FOUND");
}

#[tokio::test(flavor = "multi_thread")]
async fn row_57_a_limited_key_is_not_told_its_role() {
    let server = Server::start().await;
    let limited = server.caller(Role::Limited).await;
    limited.get("/api/get-user-role").await.refused(403, "INSUFFICIENT_PERMISSIONS");
    let slack = server.caller(Role::SlackUser).await;
    assert_eq!(slack.get("/api/get-user-role").await.ok(), json!({"role": "slack_user"}));
}

#[tokio::test(flavor = "multi_thread")]
async fn row_58_the_invitation_goes_with_the_user() {
    let server = Server::start().await;
    let admin = admin(&server).await;
    person(&server, "a@example.com", Role::Basic).await;
    invite(&admin, &["A@example.com", "b@x.y"]).await.ok();
    on(&admin, DEACTIVATE, "a@example.com").await.ok();
    admin.delete_with(DELETE, json!({"user_email": "a@example.com"})).await.ok();
    assert_eq!(invited(&admin).await, ["b@x.y"]);
}

/// CVE-2024-12869: what others are invited to, and who they are, is for administrators.
#[tokio::test(flavor = "multi_thread")]
async fn cve_2024_12869_invitations_are_for_administrators() {
    let server = Server::start().await;
    for role in [Role::Limited, Role::Basic, Role::Curator, Role::GlobalCurator, Role::SlackUser] {
        let caller = server.caller(role).await;
        caller.get("/api/manage/users/invited").await.refused(403, "INSUFFICIENT_PERMISSIONS");
        invite(&caller, &["x@y.z"]).await.refused(403, "INSUFFICIENT_PERMISSIONS");
        on(&caller, UNINVITE, "x@y.z").await.refused(403, "INSUFFICIENT_PERMISSIONS");
        set_role(&caller, "x@y.z", "admin").await.refused(403, "INSUFFICIENT_PERMISSIONS");
    }
}

/// The last administrator cannot be lost between two requests.
#[tokio::test(flavor = "multi_thread")]
async fn the_last_administrator_stays() {
    let server = Server::start().await;
    let (root, other) = (admin(&server).await, server.user("b@example.com", Role::Admin).await);
    let (first, second) = futures::join!(
        on(&root, DEACTIVATE, "b@example.com"),
        on(&other, DEACTIVATE, "root@example.com")
    );
    let mut statuses = [first.status, second.status];
    statuses.sort_unstable();
    assert!([[200, 400], [200, 401]].contains(&statuses), "{statuses:?}");
    let users = &server.engine.backends().users;
    let mut active = 0;
    for email in ["root@example.com", "b@example.com"] {
        active += u32::from(users.get_by_email(email).await.unwrap().unwrap().active);
    }
    assert_eq!(active, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_deleted_user_made_stays_without_an_owner() {
    let server = Server::start().await;
    let admin = admin(&server).await;
    let ann = server.user("ann@example.com", Role::Basic).await;
    let agent = json!({"name": "Ann's", "description": "d", "system_prompt": "", "task_prompt": "",
        "datetime_aware": false, "document_set_ids": [], "is_public": true, "tool_ids": []});
    let made = ann.post("/api/persona", agent).await.ok();
    on(&admin, DEACTIVATE, "ann@example.com").await.ok();
    admin.delete_with(DELETE, json!({"user_email": "ann@example.com"})).await.ok();
    ann.me().await.refused(401, "UNAUTHENTICATED");
    let agent = admin.get(&format!("/api/persona/{}", made["id"])).await.ok();
    assert_eq!((&agent["name"], &agent["owner"]), (&json!("Ann's"), &Value::Null));
    // Whoever gets the address next is somebody else.
    let again = server.user("ann@example.com", Role::Basic).await;
    assert_ne!(again.me().await.ok()["id"], made["owner"]["id"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn valid_domains_are_the_setting() {
    let allowed_domains = vec!["example.com".to_owned()];
    let accounts = AccountConfig { allowed_domains, ..AccountConfig::default() };
    let engine = EngineConfig { accounts, ..EngineConfig::default() };
    let server = Server::with(Options { engine, ..Options::default() }).await;
    let admin = admin(&server).await;
    assert_eq!(admin.get("/api/manage/admin/valid-domains").await.ok(), json!(["example.com"]));
}

/// The engine takes a caller that a program vouches for like any other.
#[tokio::test(flavor = "multi_thread")]
async fn a_trusted_caller_has_no_session_to_end() {
    let server = Server::start().await;
    let user = server.key("a@example.com", Role::Basic).await;
    assert!(!user.is_empty());
    let users = &server.engine.backends().users;
    let user = users.get_by_email("a@example.com").await.unwrap().unwrap();
    let caller =
        Caller { user: user.id, email: user.email, role: user.role, proof: Proof::Trusted };
    assert!(!server.engine.sign_out(&caller).await.unwrap());
    assert!(server.engine.renew_session(&caller).await.unwrap().is_none());
}
