//! Lists of users. `row_N` is row N of the list of behaviours that are easy to get wrong.

use serde_json::{Value, json};
use trove_domain::access::Role;
use trove_domain::id::UserId;
use trove_domain::port::NewUser;
use trove_domain::user::AccountKind;

use super::users::{DEACTIVATE, admin, invite, on, person};
use crate::server::{Client, Server};

/// Addresses of a list.
pub(crate) fn emails(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|user| user["email"].as_str().unwrap()).collect()
}

/// A service account with this address.
async fn service(server: &Server, email: &str) {
    let backends = server.engine.backends();
    let id = UserId(backends.ids.uuid());
    let user = NewUser::person(id, email, Role::Basic, backends.clock.now());
    let user = NewUser { kind: AccountKind::Service, ..user };
    assert!(backends.users.insert(user).await.unwrap());
}

/// Eleven users of each kind, and eleven who are invited.
async fn crowd(server: &Server) -> Client<'_> {
    let admin = server.user("a00@example.com", Role::Admin).await;
    for n in 1..11 {
        person(server, &format!("a{n:02}@example.com"), Role::Basic).await;
    }
    for n in 0..11 {
        person(server, &format!("s{n:02}@example.com"), Role::SlackUser).await;
    }
    person(server, "ext@example.com", Role::ExtPermUser).await;
    service(server, "robot@example.com").await;
    let invitations: Vec<String> = (0..11).map(|n| format!("i{n:02}@example.com")).collect();
    let invitations: Vec<&str> = invitations.iter().map(String::as_str).collect();
    invite(&admin, &invitations).await.ok();
    admin
}

#[tokio::test(flavor = "multi_thread")]
async fn row_16_yes_is_true_and_maybe_is_422() {
    let server = Server::start().await;
    let admin = admin(&server).await;
    person(&server, "out@example.com", Role::Basic).await;
    on(&admin, DEACTIVATE, "out@example.com").await.ok();
    let list = |value: &str| {
        let (admin, path) =
            (admin.clone(), format!("/api/manage/users/accepted?is_active={value}"));
        async move { admin.get(&path).await }
    };
    for (words, expected) in [
        (["true", "1", "yes", "on", "t", "y", "YES"], "root@example.com"),
        (["false", "0", "no", "off", "f", "n", "No"], "out@example.com"),
    ] {
        for word in words {
            assert_eq!(emails(&list(word).await.ok()["items"]), [expected], "{word}");
        }
    }
    for word in ["maybe", "", "2", "yes%20", "ye", "null"] {
        list(word).await.invalid(&["query/is_active bool_parsing"]);
    }
    // Wherever there is one.
    for (path, parameter) in [
        ("/api/manage/users", "include_api_keys"),
        ("/api/users", "include_api_keys"),
        ("/api/persona", "include_deleted"),
        ("/api/agents", "get_editable"),
        ("/api/agents", "include_default"),
        ("/api/admin/persona", "get_editable"),
    ] {
        admin.get(&format!("{path}?{parameter}=yes")).await.ok();
        let wrong = admin.get(&format!("{path}?{parameter}=maybe")).await;
        wrong.invalid(&[&format!("query/{parameter} bool_parsing")]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn row_17_a_comma_joins_no_roles() {
    let server = Server::start().await;
    let admin = admin(&server).await;
    let list = |query: &str| {
        let (admin, path) = (admin.clone(), format!("/api/manage/users/accepted?{query}"));
        async move { admin.get(&path).await }
    };
    list("roles=admin,basic").await.invalid(&["query/roles/0 enum"]);
    list("roles=admin&roles=x&page_num=-1&page_size=0&is_active=maybe").await.invalid(&[
        "query/page_num greater_than_equal",
        "query/page_size greater_than_equal",
        "query/roles/1 enum",
        "query/is_active bool_parsing",
    ]);
    list("page_size=1001").await.invalid(&["query/page_size less_than_equal"]);
    assert_eq!(list("roles=admin&roles=basic").await.ok()["total_items"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_51_incomplete_page_numbers_are_none() {
    let server = Server::start().await;
    let admin = crowd(&server).await;
    for query in ["", "?accepted_page=0", "?accepted_page=7&invited_page=7", "?slack_users_page=1"]
    {
        let all = admin.get(&format!("/api/manage/users{query}")).await.ok();
        for (list, pages) in [
            ("accepted", "accepted_pages"),
            ("invited", "invited_pages"),
            ("slack_users", "slack_users_pages"),
        ] {
            assert_eq!(all[list].as_array().unwrap().len(), 11, "{query} {list}");
            assert_eq!(all[pages], 1);
        }
    }
    let all = "/api/manage/users?accepted_page=1&invited_page=1&slack_users_page=1";
    let all = admin.get(all).await.ok();
    assert_eq!(emails(&all["accepted"]), ["a10@example.com"]);
    assert_eq!(emails(&all["invited"]), ["i10@example.com"]);
    assert_eq!(emails(&all["slack_users"]), ["s10@example.com"]);
    let pages = [&all["accepted_pages"], &all["invited_pages"], &all["slack_users_pages"]];
    assert_eq!(pages, [&json!(2), &json!(2), &json!(2)]);
    let negative = "/api/manage/users?accepted_page=-1&invited_page=x&include_api_keys=maybe";
    admin.get(negative).await.invalid(&[
        "query/accepted_page greater_than_equal",
        "query/invited_page int_parsing",
        "query/include_api_keys bool_parsing",
    ]);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_52_nothing_has_no_pages() {
    let server = Server::start().await;
    let admin = admin(&server).await;
    let path = "/api/manage/users?accepted_page=0&invited_page=0&slack_users_page=0";
    let all = admin.get(path).await.ok();
    assert_eq!((&all["invited_pages"], &all["slack_users_pages"]), (&json!(0), &json!(0)));
    assert_eq!(all["accepted_pages"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_53_curators_see_users() {
    let server = Server::start().await;
    let basic = server.caller(Role::Basic).await;
    basic.get("/api/manage/users").await.refused(403, "INSUFFICIENT_PERMISSIONS");
    let curator = server.caller(Role::Curator).await;
    curator.get("/api/manage/users").await.ok();
    curator.get("/api/manage/users/accepted").await.refused(403, "INSUFFICIENT_PERMISSIONS");
}

#[tokio::test(flavor = "multi_thread")]
async fn row_54_beyond_the_last_page_the_total_is_the_same() {
    let server = Server::start().await;
    let admin = crowd(&server).await;
    let page = |query: &'static str| {
        let path = format!("/api/manage/users/accepted{query}");
        let admin = admin.clone();
        async move { admin.get(&path).await.ok() }
    };
    assert_eq!(page("?page_num=99").await, json!({"items": [], "total_items": 22}));
    let last = format!("?page_num={}", i64::MAX);
    let last = admin.get(&format!("/api/manage/users/accepted{last}")).await.ok();
    assert_eq!(last["total_items"], 22);
    let second = page("?page_num=1&page_size=20").await;
    assert_eq!(emails(&second["items"]), ["s09@example.com", "s10@example.com"]);
    assert_eq!(page("").await["items"].as_array().unwrap().len(), 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_55_accepted_users_are_people_and_users_of_chat_bots() {
    let server = Server::start().await;
    let admin = crowd(&server).await;
    let list = |query: &'static str| {
        let path = format!("/api/manage/users/accepted?page_size=1000&{query}");
        let admin = admin.clone();
        async move {
            let page = admin.get(&path).await.ok();
            assert_eq!(page["total_items"], page["items"].as_array().unwrap().len());
            page["items"].clone()
        }
    };
    let all = list("").await;
    assert_eq!(emails(&all).len(), 22);
    assert!(emails(&all).contains(&"s00@example.com"));
    assert_eq!(emails(&list("roles=admin").await), ["a00@example.com"]);
    assert_eq!(emails(&list("roles=ext_perm_user").await), [""; 0]);
    assert_eq!(emails(&list("q=A0&roles=basic&roles=admin").await).len(), 10);
    assert_eq!(emails(&list("q=%25").await), [""; 0], "no wildcard");
    assert_eq!(emails(&list("q=a_0").await), [""; 0], "no wildcard");
    on(&admin, DEACTIVATE, "a01@example.com").await.ok();
    assert_eq!(emails(&list("is_active=false").await), ["a01@example.com"]);
    assert_eq!(emails(&list("is_active=yes").await).len(), 21);
    let whole = admin.get("/api/manage/users/accepted/all").await.ok();
    assert_eq!(whole, list("").await);
    let counts = admin.get("/api/manage/users/counts").await.ok();
    assert_eq!(
        counts,
        json!({"role_counts": {"admin": 1, "basic": 10, "slack_user": 11},
            "status_counts": {"active": 21, "inactive": 1}})
    );
    let table = admin.get("/api/manage/users/download").await;
    assert_eq!(table.header("content-type"), Some("text/csv; charset=utf-8"));
    let lines: Vec<&str> = table.text.lines().collect();
    assert_eq!(lines.len(), 23);
    let expected =
        ["Email,Role,Status", "a00@example.com,admin,Active", "a01@example.com,basic,Inactive"];
    assert_eq!(lines[..3], expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn row_56_users_to_share_with_are_people() {
    let server = Server::start().await;
    crowd(&server).await;
    let basic = server.user("basic@example.com", Role::Basic).await;
    let users = basic.get("/api/users").await.ok();
    assert_eq!(emails(&users).len(), 12);
    assert!(!emails(&users).contains(&"robot@example.com"));
    assert_eq!(users[0].as_object().unwrap().len(), 2);
    assert_eq!(users[0]["id"].as_str().unwrap().len(), 36);
    let with = basic.get("/api/users?include_api_keys=true").await.ok();
    assert!(emails(&with).contains(&"robot@example.com"));
    assert_eq!(emails(&with).len(), 13);
    let curator = server.caller(Role::Curator).await;
    let all = curator.get("/api/manage/users?include_api_keys=true&q=ROBOT").await.ok();
    assert_eq!(emails(&all["accepted"]), ["robot@example.com"]);
    assert_eq!(emails(&all["invited"]), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listed_user_has_groups_and_dates() {
    let server = Server::start().await;
    let admin = admin(&server).await;
    let client = server.user("Ann@example.com", Role::Basic).await;
    let group = server.group("Engineering", &[("Ann@example.com", false)]).await;
    let name = json!({"name": "Ann Other"});
    client.patch("/api/user/personalization", name).await.ok();
    let page = admin.get("/api/manage/users/accepted?q=ann").await.ok();
    let id = client.me().await.ok()["id"].clone();
    assert_eq!(
        page["items"],
        json!([{"id": id, "email": "Ann@example.com", "role": "basic", "is_active": true,
            "password_configured": false, "is_admin": false, "personal_name": "Ann Other",
            "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
            "groups": [{"id": group.0, "name": "Engineering"}]}])
    );
}
