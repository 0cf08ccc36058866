//! People who register and sign in, for tests.

use serde_json::json;
use trove_domain::access::Role;
use trove_engine::EngineConfig;
use trove_engine::accounts::{AccountConfig, HashingConfig};
use trove_http::HttpConfig;

use crate::server::{Answer, Client, Options, Server};

/// Everybody's.
pub(crate) const PASSWORD: &str = "correct horse battery";

/// Quick to hash.
pub(crate) fn cheap() -> AccountConfig {
    let hashing = HashingConfig { memory_kib: 8, iterations: 1, concurrent: 2 };
    AccountConfig { hashing, ..AccountConfig::default() }
}

pub(crate) async fn with(accounts: AccountConfig) -> Server {
    at(accounts, HttpConfig::default()).await
}

pub(crate) async fn at(accounts: AccountConfig, http: HttpConfig) -> Server {
    let engine = EngineConfig { accounts, ..EngineConfig::default() };
    Server::with(Options { engine, http, ..Options::default() }).await
}

pub(crate) async fn start() -> Server {
    with(cheap()).await
}

pub(crate) async fn register(server: &Server, email: &str) -> Answer {
    let body = json!({"email": email, "password": PASSWORD});
    server.nobody().post("/api/auth/register", body).await
}

pub(crate) fn form(email: &str, password: &str) -> String {
    url::form_urlencoded::Serializer::new(String::new())
        .append_pair("username", email)
        .append_pair("password", password)
        .finish()
}

pub(crate) async fn login(server: &Server, email: &str, password: &str) -> Answer {
    server.nobody().form("/api/auth/login", &form(email, password)).await
}

/// The cookie that an answer sets, as a client sends it back.
#[track_caller]
pub(crate) fn cookie(answer: &Answer) -> String {
    assert_eq!(answer.status, 204, "{answer:?}");
    let set = answer.header("set-cookie").unwrap();
    set.split(';').next().unwrap().to_owned()
}

/// Somebody who has just signed in.
pub(crate) async fn browser<'a>(server: &'a Server, email: &str) -> Client<'a> {
    let cookie = cookie(&login(server, email, PASSWORD).await);
    server.nobody().with("cookie", &cookie)
}

/// An administrator with a key, and a user with a password.
pub(crate) async fn staff(server: &Server) -> Client<'_> {
    let admin = server.user("root@example.com", Role::Admin).await;
    assert_eq!(register(server, "reader@example.com").await.status, 201);
    admin
}

#[track_caller]
pub(crate) fn coded(answer: &Answer, code: &str) {
    assert_eq!(answer.status, 400, "{answer:?}");
    assert_eq!(answer.json(), json!({"error_code": code, "detail": code}));
}
