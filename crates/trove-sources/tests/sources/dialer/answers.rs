//! What servers answer, and what becomes of it.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use reqwest::header::{AUTHORIZATION, HeaderValue, IF_NONE_MATCH};
use trove_sources::dialer::{Backoff, DialError, Limits, Request};
use trove_testkit::model_server::{ModelServer, Reply};

use super::get;
use crate::support::{FakeNames, FakePacer, Setting};

fn address(server: &ModelServer) -> String {
    format!("http://{}/", server.address())
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn we_say_who_asks_and_nothing_else() {
    let server = ModelServer::start(|_| Reply::text(200, "")).await;
    get(&Setting::default().dialer(), &address(&server)).await.unwrap();
    let request = server.requests().remove(0);
    assert!(request.header("user-agent").unwrap().starts_with("Trove/"));
    let names: Vec<&str> = request.headers.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names.len(), 4, "{names:?}");
}

#[tokio::test]
async fn packed_answers_are_unpacked_within_bounds() {
    let limits = Limits { bytes: 1 << 16, packed_bytes: 1 << 15, ..Limits::default() };
    let cases = [
        ("gzip", gzip(b"text"), Some("text")),
        ("gzip", gzip(&vec![0; 1 << 22]), None),
        ("gzip", b"no gzip".to_vec(), None),
        ("zstd", b"?".to_vec(), None),
        ("identity", vec![b'a'; 1 << 17], None),
        ("identity", b"plain".to_vec(), Some("plain")),
    ];
    for (encoding, body, expected) in cases {
        let server = ModelServer::start(move |_| {
            Reply::bytes(200, "text/html", &body).header("Content-Encoding", encoding)
        })
        .await;
        let dialer = Setting { limits, ..Setting::default() }.dialer();
        let answer = get(&dialer, &address(&server)).await;
        match expected {
            Some(text) => assert_eq!(answer.unwrap().body, text.as_bytes()),
            None => assert!(
                matches!(answer, Err(DialError::TooLarge { .. } | DialError::Broken { .. })),
                "{encoding} {answer:?}"
            ),
        }
        assert_eq!(server.requests().len(), 1, "nothing of it passes by itself");
    }
}

#[tokio::test]
async fn a_body_that_is_not_wanted_is_not_read() {
    let server = ModelServer::start(|_| Reply::bytes(200, "video/mp4", "…").then_hold()).await;
    let dialer = Setting::default().dialer();
    let url = dialer.policy().admit(&address(&server)).unwrap();
    let wanted = |head: &trove_sources::dialer::Head| head.text("content-type") != "video/mp4";
    let answer = dialer.fetch(&Request::get(url), &wanted).await.unwrap();
    assert!(answer.body.is_empty());
    server.hang_ups(1).await;
}

#[tokio::test]
async fn servers_that_are_busy_are_asked_again_as_they_wish() {
    let server = ModelServer::replaying([
        Reply::text(503, ""),
        Reply::text(429, "").header("Retry-After", "7"),
        Reply::text(200, "here"),
    ])
    .await;
    let pacer = Arc::new(FakePacer::default());
    let dialer = Setting { pacer: Arc::clone(&pacer), ..Setting::default() }.dialer();
    assert_eq!(get(&dialer, &address(&server)).await.unwrap().body, b"here");
    let pauses = pacer.pauses.lock().unwrap().clone();
    assert_eq!(pauses.len(), 2);
    assert!(pauses[0] >= Duration::from_millis(500), "{pauses:?}");
    assert!(pauses[1] >= Duration::from_secs(7), "{pauses:?}");
}

#[tokio::test]
async fn a_server_that_wants_hours_gets_them_from_the_caller() {
    let server = ModelServer::start(|_| Reply::text(429, "").header("Retry-After", "7200")).await;
    let answer = get(&Setting::default().dialer(), &address(&server)).await.unwrap();
    assert_eq!(answer.head.status, 429);
    assert_eq!(answer.head.retry_after, Some(Duration::from_hours(2)));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn connections_that_break_are_made_again_and_then_given_up() {
    let server = ModelServer::start(|_| Reply::text(200, "half").then_break()).await;
    let failed = get(&Setting::default().dialer(), &address(&server)).await.unwrap_err();
    assert!(failed.is_passing(), "{failed:?}");
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn silence_ends() {
    let server = ModelServer::start(|_| Reply::text(200, "half").then_hold()).await;
    let short = Duration::from_millis(50);
    let limits = Limits { idle: short, total: short * 4, ..Limits::default() };
    let backoff = Backoff { attempts_max: 1, ..Backoff::default() };
    let dialer = Setting { limits, backoff, ..Setting::default() }.dialer();
    let failed = get(&dialer, &address(&server)).await.unwrap_err();
    assert!(failed.is_passing(), "{failed:?}");
    server.hang_ups(1).await;
}

#[tokio::test]
async fn redirects_end() {
    let server = ModelServer::start(|_| Reply::text(302, "").header("Location", "/again")).await;
    let failed = get(&Setting::default().dialer(), &address(&server)).await.unwrap_err();
    assert!(matches!(failed, DialError::Redirects { .. }), "{failed:?}");
    assert_eq!(server.requests().len(), 11);
}

#[tokio::test]
async fn headers_of_the_caller_stay_with_the_origin_but_validators_do_not() {
    let other = ModelServer::start(|_| Reply::text(200, "there")).await;
    let to = format!("http://other.example:{}/", other.address().port());
    let server = ModelServer::start(move |_| Reply::text(307, "").header("Location", &to)).await;
    let names = FakeNames::default().with("other.example", &[&["127.0.0.1"]]);
    let dialer = Setting { names, ..Setting::default() }.dialer();
    let mut request = Request::get(dialer.policy().admit(&address(&server)).unwrap());
    request.headers.insert(AUTHORIZATION, HeaderValue::from_static("Bearer canary"));
    request.headers.insert(IF_NONE_MATCH, HeaderValue::from_static("\"1\""));
    let answer = dialer.fetch(&request, &|_| true).await.unwrap();
    assert_eq!(answer.head.url.host_str(), Some("other.example"));
    assert_eq!(server.requests()[0].header("authorization"), Some("Bearer canary"));
    let there = other.requests().remove(0);
    assert_eq!(
        (there.header("authorization"), there.header("if-none-match")),
        (None, Some("\"1\""))
    );
}

#[tokio::test]
async fn a_host_that_wants_time_between_requests_gets_it() {
    let server = ModelServer::start(|_| Reply::text(200, "")).await;
    let pacer = Arc::new(FakePacer::default());
    let dialer = Setting { pacer: Arc::clone(&pacer), ..Setting::default() }.dialer();
    let url = dialer.policy().admit(&address(&server)).unwrap();
    let request = Request { interval: Duration::from_secs(3), ..Request::get(url) };
    for _ in 0..3 {
        dialer.fetch(&request, &|_| true).await.unwrap();
    }
    assert_eq!(*pacer.pauses.lock().unwrap(), [Duration::from_secs(3); 2]);
}

#[tokio::test]
async fn errors_show_no_query() {
    let dialer = Setting::default().dialer();
    let refused = get(&dialer, "http://127.0.0.1:1/?token=canary").await.unwrap_err();
    let mut text = refused.to_string();
    let mut cause = std::error::Error::source(&refused);
    while let Some(inner) = cause {
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    assert!(!text.contains("canary"), "{text}");
}
