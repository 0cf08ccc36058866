//! Heads of requests that proxies and servers may read in two ways.

use trove_domain::access::Role;

use super::people::{PASSWORD, browser, staff, start};
use crate::server::Server;

/// The statuses of all answers to what is sent over one connection.
async fn statuses(server: &Server, request: &[u8]) -> Vec<u16> {
    let answer = server.raw(request).await;
    let heads = answer.split("HTTP/1.1 ").skip(1);
    heads.map(|head| head[..3].parse().unwrap()).collect()
}

/// A key is taken from one line of the head, or not at all.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_in_a_malformed_head_opens_nothing() {
    let server = Server::start().await;
    let key = server.key("a@example.com", Role::Admin).await;
    let other = server.key("b@example.com", Role::Basic).await;
    let me = |lines: &str| {
        format!("GET /api/me HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{lines}\r\n\r\n")
    };
    assert_eq!(
        statuses(&server, me(&format!("Authorization: Bearer {key}")).as_bytes()).await,
        [200]
    );
    for lines in [
        format!("Authorization: Bearer\r\n {key}"),
        format!("Authorization:\r\n Bearer {key}"),
        format!("Authorization : Bearer {key}"),
        format!(" Authorization: Bearer {key}"),
        format!("Authorization: Bearer \0{key}"),
        format!("Authorization: Bearer {key}\0"),
        format!("Authorization: Bearer {key}\x0b"),
        format!("Authorization: Bearer {key}\rX: y"),
        format!("Authorization\0: Bearer {key}"),
        format!("Authorization: Bearer {key}\r\nAuthorization: Bearer {other}"),
        format!("Authorization: Bearer {key}, Bearer {other}"),
        format!("Authorization: Bearer {key} {other}"),
        format!("X: y\nAuthorization: Bearer\n {key}"),
        format!("X-Trove-Authorization: x\r\nAuthorization: Bearer {key}"),
        format!("Authoriz\u{e4}tion: Bearer {key}"),
    ] {
        let found = statuses(&server, me(&lines).as_bytes()).await;
        assert!(found == [400] || found == [401] || found.is_empty(), "{lines:?}: {found:?}");
    }
    // A thousand lines, a line of a megabyte, a cookie of a megabyte.
    let long = "x".repeat(1 << 20);
    for lines in [
        "X: y\r\n".repeat(1000) + &format!("Authorization: Bearer {key}"),
        format!("Authorization: Bearer {key}\r\nX: {long}"),
        format!("Cookie: fastapiusersauth={long}"),
        format!("X-Trove-Authorization: Bearer {long}"),
    ] {
        let found = statuses(&server, me(&lines).as_bytes()).await;
        assert!(found.iter().all(|status| (400..500).contains(status)), "{found:?}");
        assert!(found.len() <= 1, "{found:?}");
    }
    server.nobody().get("/api/health").await.ok();
}

/// Whatever the length is said to be, one request is one request.
#[tokio::test(flavor = "multi_thread")]
async fn no_request_hides_in_the_body_of_another() {
    let server = Server::start().await;
    let key = server.key("a@example.com", Role::Admin).await;
    let hidden = format!("GET /api/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\r\n");
    let hidden_length = hidden.len();
    let mut tried = 0;
    for (framing, body) in [
        ("Content-Length: 0\r\nContent-Length: 5".to_owned(), hidden.clone()),
        (format!("Content-Length: {hidden_length}\r\nContent-Length: 0"), hidden.clone()),
        ("Content-Length: 0, 5".to_owned(), hidden.clone()),
        ("Content-Length: -1".to_owned(), hidden.clone()),
        ("Content-Length: +0".to_owned(), hidden.clone()),
        ("Content-Length: 0x0".to_owned(), hidden.clone()),
        ("Content-Length: 99999999999999999999".to_owned(), hidden.clone()),
        ("Content-Length : 0".to_owned(), hidden.clone()),
        (
            "Content-Length: 5\r\nTransfer-Encoding: chunked".to_owned(),
            format!("0\r\n\r\n{hidden}"),
        ),
        (
            "Transfer-Encoding: chunked\r\nContent-Length: 5".to_owned(),
            format!("0\r\n\r\n{hidden}"),
        ),
        ("Transfer-Encoding: xchunked".to_owned(), format!("0\r\n\r\n{hidden}")),
        ("Transfer-Encoding: chunked, identity".to_owned(), format!("0\r\n\r\n{hidden}")),
        ("Transfer-Encoding: \x0bchunked".to_owned(), format!("0\r\n\r\n{hidden}")),
        ("Transfer-Encoding:\r\n chunked".to_owned(), format!("0\r\n\r\n{hidden}")),
        ("Transfer-Encoding : chunked".to_owned(), format!("0\r\n\r\n{hidden}")),
        ("Transfer-Encoding: chunked".to_owned(), format!("0x0\r\n\r\n{hidden}")),
        ("Transfer-Encoding: chunked".to_owned(), format!("-0\r\n\r\n{hidden}")),
        ("Transfer-Encoding: chunked".to_owned(), format!("fffffffffffffffff\r\n\r\n{hidden}")),
        ("Transfer-Encoding: chunked".to_owned(), format!("1\r\nZZ\r\n0\r\n\r\n{hidden}")),
    ] {
        let request =
            format!("POST /api/auth/login HTTP/1.1\r\nHost: x\r\n{framing}\r\n\r\n{body}");
        let found = statuses(&server, request.as_bytes()).await;
        assert!(!found.contains(&200), "{framing:?} {:?}: {found:?}", &body[..10]);
        assert!(found.len() <= 1, "{framing:?} {:?}: {found:?}", &body[..10]);
        tried += 1;
    }
    assert_eq!(tried, 19);
    server.nobody().get("/api/health").await.ok();
}

/// A session in two cookies, or at two hosts, is nobody's.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_comes_in_one_cookie_from_one_host() {
    let server = start().await;
    staff(&server).await;
    let form = super::people::form("reader@example.com", PASSWORD);
    let signed_in = server.nobody().form("/api/auth/login", &form).await;
    let cookie = super::people::cookie(&signed_in);
    let reader = browser(&server, "reader@example.com").await;
    let request = |method: &str, path: &str, lines: &str| {
        format!(
            "{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: 0\r\n{lines}\r\n\r\n"
        )
    };
    let once = request("GET", "/api/me", &format!("Host: x\r\nCookie: {cookie}"));
    assert_eq!(statuses(&server, once.as_bytes()).await, [200]);
    for cookies in [
        format!("Cookie: {cookie}; {cookie}"),
        format!("Cookie: {cookie}\r\nCookie: {cookie}"),
        format!("Cookie: {cookie}\r\nCookie: fastapiusersauth=x"),
        format!("Cookie: fastapiusersauth=x; {cookie}"),
        format!("Cookie: x={cookie}"),
        format!("Cookie: {}", cookie.replace("fastapiusersauth", "FastapiUsersAuth")),
        format!("Cookie: {}", cookie.replace('=', "=\"") + "x\""),
    ] {
        let twice = request("GET", "/api/me", &format!("Host: x\r\n{cookies}"));
        let found = statuses(&server, twice.as_bytes()).await;
        assert!(found == [401] || found == [400], "{cookies}: {found:?}");
    }
    // Which host a page belongs to must not be open to doubt.
    for hosts in [
        "Host: evil.example\r\nHost: x\r\nOrigin: http://evil.example",
        "Host: x\r\nHost: evil.example\r\nOrigin: http://evil.example",
        "Host: evil.example\r\nHost: x\r\nOrigin: http://x",
        "Host: x\r\nOrigin: http://x\r\nOrigin: http://evil.example",
        "Host: x\r\nOrigin: http://evil.example\r\nOrigin: http://x",
        "Host: x\r\nX-Forwarded-Host: evil.example\r\nOrigin: http://evil.example",
        "Host: x\r\nForwarded: host=evil.example\r\nOrigin: http://evil.example",
        "Host: x\r\nSec-Fetch-Site: same-origin\r\nSec-Fetch-Site: cross-site",
        "Host: x\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Site: same-origin",
    ] {
        let lines = format!("{hosts}\r\nCookie: {cookie}");
        let found = statuses(&server, request("POST", "/api/auth/logout", &lines).as_bytes()).await;
        assert!(found == [403] || found == [400], "{hosts}: {found:?}");
    }
    let once = request("GET", "/api/me", &format!("Host: x\r\nCookie: {cookie}"));
    assert_eq!(statuses(&server, once.as_bytes()).await, [200], "nobody was signed out");
    reader.me().await.ok();
}

/// No other way to write a path or a method leads past a policy.
#[tokio::test(flavor = "multi_thread")]
async fn no_spelling_of_a_path_leads_past_its_policy() {
    let server = Server::start().await;
    let basic = server.key("a@example.com", Role::Basic).await;
    let admin = server.key("b@example.com", Role::Admin).await;
    let ask = |line: &str, more: &str, key: &str| {
        format!(
            "{line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n{more}\
             Authorization: Bearer {key}\r\n\r\n"
        )
    };
    let plain = ask("GET /api/manage/users/counts", "", &admin);
    assert_eq!(statuses(&server, plain.as_bytes()).await, [200]);
    for line in [
        "GET /api/manage/users/counts",
        "GET /api/manage/users/counts/",
        "GET /api//manage/users/counts",
        "GET //api/manage/users/counts",
        "GET /api/./manage/users/counts",
        "GET /api/me/../manage/users/counts",
        "GET /api/me/%2e%2e/manage/users/counts",
        "GET /api/me/..%2fmanage/users/counts",
        "GET /api/manage%2fusers/counts",
        "GET /api/manage/users/count%73",
        "GET /api/manage/users/counts%00",
        "GET /api/manage/users/counts;a=b",
        "GET /api/manage/users/counts%3f",
        "GET /api/manage/users/counts?x=/api/me",
        "GET /API/manage/users/counts",
        "GET http://x/api/manage/users/counts",
        "GET http://evil.example/api/manage/users/counts",
        "HEAD /api/manage/users/counts",
        "get /api/manage/users/counts",
        "OPTIONS /api/manage/users/counts",
    ] {
        let found = statuses(&server, ask(line, "", &basic).as_bytes()).await;
        // 307: to the plain path, which refuses.
        let refused = [307, 400, 403, 404, 405];
        assert!(found.iter().all(|status| refused.contains(status)), "{line}: {found:?}");
        assert!(found.len() <= 1, "{line}: {found:?}");
    }
    // What is redirected leads to this host.
    for path in [
        "//evil.example/",
        "//evil.example/%2e%2e/",
        "/\\\\evil.example/",
        "//evil.example/api/me/",
    ] {
        let answer = server.raw(ask(&format!("GET {path}"), "", &basic).as_bytes()).await;
        assert!(!answer.to_lowercase().contains("location:"), "{path}: {answer}");
    }
    for more in [
        "X-HTTP-Method-Override: GET\r\n",
        "X-Method-Override: GET\r\n",
        "X-Original-URL: /api/manage/users/counts\r\n",
        "X-Rewrite-URL: /api/manage/users/counts\r\n",
    ] {
        let request = ask("POST /api/manage/users/counts", more, &admin);
        assert_eq!(statuses(&server, request.as_bytes()).await, [405], "{more}");
        let found = server.raw(ask("GET /api/version", more, &basic).as_bytes()).await;
        assert!(found.contains("backend_version"), "{more}: {found}");
    }
}
