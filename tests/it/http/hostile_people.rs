//! Addresses, passwords, lists and bodies as somebody sends them who means no good.

use std::fmt::Write as _;

use reqwest::Method;
use serde_json::json;
use trove_domain::access::Role;
use trove_domain::id::UserId;
use trove_domain::port::NewUser;

use super::people::{PASSWORD, cookie, login, register, staff, start};
use crate::server::{Answer, Client, Server};

const ACCEPTED: &str = "/api/manage/users/accepted";

async fn person(server: &Server, email: &str) {
    let backends = server.engine.backends();
    let id = UserId(backends.ids.uuid());
    let user = NewUser::person(id, email, Role::Basic, backends.clock.now());
    assert!(backends.users.insert(user).await.unwrap());
}

fn encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// Nothing of how it is made, and nobody else, is in an error.
#[track_caller]
fn tells_nothing(answer: &Answer, what: &str) {
    let text = answer.text.to_lowercase();
    for leak in ["select ", "sqlite", "diesel", "postgres", "/tmp", "panicked", ".rs:", "root@"] {
        assert!(!text.contains(leak), "{what}: {text}");
    }
    assert!(answer.status < 500, "{what}: {answer:?}");
}

/// Every character counts as itself, and what is found is what has it.
#[tokio::test(flavor = "multi_thread")]
async fn a_search_of_users_takes_every_character_as_it_is() {
    let server = Server::start().await;
    let admin = server.user("root@example.com", Role::Admin).await;
    let names = [
        "per%cent",
        "under_score",
        "back\\slash",
        "o'neil",
        "dou\"ble",
        "semi;colon",
        "stra\u{df}e",
        "\u{131}lker",
        "zo\u{eb}",
        "smile\u{1f642}",
        "plain",
        "dash--dash",
        "star*",
    ];
    for name in names {
        person(&server, &format!("{name}@example.com")).await;
    }
    let found = async |q: &str| -> Vec<String> {
        let list = admin.get(&format!("{ACCEPTED}?page_size=100&q={}", encoded(q))).await.ok();
        let items = list["items"].as_array().unwrap();
        assert_eq!(list["total_items"], items.len(), "{q}");
        items
            .iter()
            .map(|user| user["email"].as_str().unwrap().replace("@example.com", ""))
            .collect()
    };
    for (q, expected) in [
        ("%", vec!["per%cent"]),
        ("_", vec!["under_score"]),
        ("\\", vec!["back\\slash"]),
        ("'", vec!["o'neil"]),
        ("\"", vec!["dou\"ble"]),
        (";", vec!["semi;colon"]),
        ("--", vec!["dash--dash"]),
        ("*", vec!["star*"]),
        ("%%", vec![]),
        ("\\%", vec![]),
        ("r%t", vec![]),
        ("under_s", vec!["under_score"]),
        ("' OR '1'='1", vec![]),
        ("'; DROP TABLE user_account; --", vec![]),
        ("\u{df}", vec!["stra\u{df}e"]),
        ("STRA\u{df}", vec!["stra\u{df}e"]),
        ("ss", vec![]),
        ("\u{131}", vec!["\u{131}lker"]),
        ("ilker", vec![]),
        ("ZO\u{cb}", vec!["zo\u{eb}"]),
        ("\u{1f642}", vec!["smile\u{1f642}"]),
        ("\u{0}", vec![]),
        ("plain\u{0}", vec![]),
        ("\u{202e}nialp", vec![]),
        ("PLAIN", vec!["plain"]),
    ] {
        assert_eq!(found(q).await, expected, "{q:?}");
    }
    // Nothing of it was carried out.
    assert_eq!(found("").await.len(), names.len() + 1);
    let long = admin.get(&format!("{ACCEPTED}?q={}", "x".repeat(50_000))).await;
    assert!([200, 400, 414, 422, 431].contains(&long.status), "{long:?}");
    tells_nothing(&long, "a long search");
}

/// Numbers of pages that are none, and parameters that come twice or not at all.
#[tokio::test(flavor = "multi_thread")]
async fn a_list_takes_numbers_and_nothing_else() {
    let server = Server::start().await;
    let admin = server.user("root@example.com", Role::Admin).await;
    let basic = server.caller(Role::Basic).await;
    let numbers = [
        "-1",
        "1.5",
        "1e3",
        "99999999999999999999",
        "0x1",
        "\u{661}",
        "NaN",
        "",
        " ",
        "1;2",
        "--1",
        "%00",
        "1%00",
        "null",
        "1_000",
    ];
    let lists: [(&Client<'_>, &str, &[&str]); 4] = [
        (&admin, ACCEPTED, &["page_num", "page_size"]),
        (&admin, "/api/manage/users", &["accepted_page", "invited_page", "slack_users_page"]),
        (&basic, "/api/agents", &["page_num", "page_size"]),
        (&basic, "/api/search/search-history", &["limit", "filter_days"]),
    ];
    for (client, path, parameters) in lists {
        for parameter in parameters {
            for number in numbers {
                let query = format!("{path}?{parameter}={number}");
                let answer = client.get(&query).await;
                assert_eq!(answer.status, 422, "{query}: {answer:?}");
                let loc = json!(["query", parameter]);
                assert_eq!(answer.json()["detail"][0]["loc"], loc, "{query}");
                tells_nothing(&answer, &query);
            }
            // The last number that there is, and more than one number.
            let most = client.get(&format!("{path}?{parameter}={}", i64::MAX)).await;
            assert!([200, 422].contains(&most.status), "{path} {parameter}: {most:?}");
            let twice = client.get(&format!("{path}?{parameter}=1&{parameter}=2")).await;
            assert!([200, 422].contains(&twice.status), "{path} {parameter}: {twice:?}");
        }
    }
    for flag in ["maybe", "", "2", "truee", "%00", "[]"] {
        let answer = admin.get(&format!("{ACCEPTED}?is_active={flag}")).await;
        answer.invalid(&["query/is_active bool_parsing"]);
    }
    let last = format!("{ACCEPTED}?page_num={}&page_size=1000", i64::MAX);
    let past = admin.get(&last).await.ok();
    assert_eq!((&past["items"], &past["total_items"]), (&json!([]), &json!(2)));
}

/// What looks the same and is not, what is the same and looks otherwise, and what is no address.
#[tokio::test(flavor = "multi_thread")]
async fn addresses_of_every_script_are_each_somebody_of_their_own() {
    let server = start().await;
    staff(&server).await;
    let made = async |email: &str| register(&server, email).await;
    assert_eq!(made("zoe\u{308}@example.com").await.json()["email"], "zo\u{eb}@example.com");
    // The same in another form, and in other letters.
    for email in ["zo\u{eb}@example.com", "ZO\u{cb}@EXAMPLE.com", "ZOE\u{308}@example.com"] {
        assert_eq!(made(email).await.json()["error_code"], "REGISTER_USER_ALREADY_EXISTS");
        let session = cookie(&login(&server, email, PASSWORD).await);
        let me = server.nobody().with("cookie", &session).me().await.ok();
        assert_eq!(me["email"], "zo\u{eb}@example.com");
    }
    // Others, although they look alike or would in capitals.
    for email in [
        "re\u{430}der@example.com",
        "read\u{435}r@example.com",
        "reader@ex\u{430}mple.com",
        "stra\u{df}e@example.com",
        "strasse@example.com",
        "\u{131}lker@example.com",
        "ilker@example.com",
        "reader@b\u{fc}cher.example",
    ] {
        let answer = made(email).await;
        assert_eq!(answer.status, 201, "{email}: {answer:?}");
        let session = cookie(&login(&server, email, PASSWORD).await);
        let me = server.nobody().with("cookie", &session).me().await.ok();
        assert_eq!(me["email"], email);
        assert_eq!(me["role"], "basic");
    }
    assert_eq!(made("reader@xn--bcher-kva.example").await.status, 400, "the same in ASCII");
    for email in [
        "\u{1f642}@example.com",
        "rea\u{200f}der@example.com",
        "rea\u{202e}der@example.com",
        "rea\u{200b}der@example.com",
        "rea\u{2066}der@example.com",
        "\u{feff}reader@example.com",
        "rea\u{ad}der@example.com",
        "rea\u{0}der@example.com",
        "rea\nder@example.com",
        "reader@exa mple.com",
        "reader@example.com\r\nbcc: x@example.com",
        "reader@@example.com",
        "reader@[127.0.0.1]",
        "\"reader\"@example.com",
        "reader",
        "",
    ] {
        let answer = made(email).await;
        assert_eq!(answer.status, 422, "{email:?}: {answer:?}");
        tells_nothing(&answer, email);
    }
}

/// A megabyte is refused before it costs anything, and is not repeated.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_long_is_refused_and_not_repeated() {
    let server = start().await;
    let admin = staff(&server).await;
    let long = "x".repeat(1 << 20);
    let password = json!({"email": "new@example.com", "password": long});
    let email = json!({"email": format!("{long}@example.com"), "password": PASSWORD});
    for (path, body) in [
        ("/api/auth/register", password),
        ("/api/auth/register", email.clone()),
        ("/api/auth/forgot-password", email.clone()),
        ("/api/auth/request-verify-token", email),
        ("/api/auth/verify", json!({"token": long})),
        ("/api/auth/reset-password", json!({"token": long, "password": long})),
    ] {
        let answer = server.nobody().post(path, body).await;
        assert!([400, 413, 422].contains(&answer.status), "{path}: {}", answer.status);
        assert!(answer.text.len() < 2000, "{path}: {} bytes", answer.text.len());
        tells_nothing(&answer, path);
    }
    let form = format!("username=reader%40example.com&password={long}");
    let answer = server.nobody().form("/api/auth/login", &form).await;
    assert!([413, 422].contains(&answer.status), "{answer:?}");
    let user = |email: &str| json!({"user_email": email});
    for (path, email) in [
        ("/api/manage/admin/deactivate-user", &*long),
        ("/api/manage/set-user-role", "' OR 1=1 --"),
        ("/api/manage/admin/deactivate-user", "%"),
        ("/api/manage/admin/activate-user", "_eader@example.com"),
        ("/api/manage/admin/deactivate-user", "reader@example.com\u{0}"),
    ] {
        let mut body = user(email);
        body["new_role"] = json!("basic");
        let answer = admin.patch(path, body).await;
        assert!([404, 413, 422].contains(&answer.status), "{path}: {}", answer.status);
        assert!(answer.text.len() < 2000, "{path}: {} bytes", answer.text.len());
        tells_nothing(&answer, path);
    }
    assert_eq!(login(&server, "reader@example.com", PASSWORD).await.status, 204);
}

/// Bodies that are JSON to some readers and not to others.
#[tokio::test(flavor = "multi_thread")]
async fn bodies_mean_one_thing_or_nothing() {
    let server = start().await;
    let admin = staff(&server).await;
    let role = "/api/manage/set-user-role";
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep = format!(r#"{{"user_email":"reader@example.com","new_role":{deep}}}"#);
    let user = r#""user_email":"reader@example.com""#;
    let mut wrong = String::new();
    for (body, kind) in [
        (deep, "application/json"),
        (format!(r#"{{{user},"new_role":"admin"}}"#), "text/plain"),
        (format!(r#"{{{user},"new_role":"admin"}}"#), "application/xml"),
        (format!(r#"{{{user},"new_role":"admin"}}"#), "multipart/form-data; boundary=x"),
        (format!(r#"{{{user},"new_role":"admin"}}"#), "application/x-www-form-urlencoded"),
        (format!(r#"{{{user},"new_role":"admin"}}{{}}"#), "application/json"),
        (format!(r#"[{{{user},"new_role":"admin"}}]"#), "application/json"),
        (format!(r#"{{{user},"new_role":["admin"]}}"#), "application/json"),
        (format!(r#"{{{user},"new_role":"admin",}}"#), "application/json"),
        (format!(r#"{{{user},"new_role":"admin"}}/* */"#), "application/json"),
        ("user_email=reader%40example.com&new_role=admin".to_owned(), "application/json"),
        (r#"{"__proto__":{"role":"admin"}}"#.to_owned(), "application/json"),
        ("null".to_owned(), "application/json"),
        (String::new(), "application/json"),
    ] {
        let client = admin.with("content-type", kind);
        let answer = client.send(Method::PATCH, role, Some(body.clone().into_bytes())).await;
        tells_nothing(&answer, "a strange body");
        if answer.status != 422 {
            writeln!(wrong, "{kind} {}: {answer:?}", &body[..body.len().min(80)]).unwrap();
        }
    }
    let users = &server.engine.backends().users;
    let reader = users.get_by_email("reader@example.com").await.unwrap().unwrap();
    assert_eq!(reader.role, Role::Basic, "{wrong}");
    assert!(wrong.is_empty(), "{wrong}");
    // Of equal keys the last one counts, for every reader.
    let twice = format!(r#"{{"user_email":"x",{user},"new_role":"admin","new_role":"basic"}}"#);
    let client = admin.with("content-type", "application/json");
    client.send(Method::PATCH, role, Some(twice.into_bytes())).await.ok();
    let reader = users.get_by_email("reader@example.com").await.unwrap().unwrap();
    assert_eq!(reader.role, Role::Basic);
}
