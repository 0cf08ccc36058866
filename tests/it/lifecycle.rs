//! How the service stops.

use std::io::Write;
use std::net::TcpStream;

use crate::child::{Service, document, trove};

#[tokio::test]
async fn sigterm_ends_with_zero_and_nothing_is_lost() {
    let temp = tempfile::tempdir().unwrap();
    let service = Service::start(temp.path()).await;
    assert!(service.ingest("kept", &["the zebra stays".to_owned()]).await.unwrap().is_success());
    service.signal("TERM").await;
    let (status, log) = service.ended().await;
    assert_eq!(status.code(), Some(0), "{log}");
    assert!(log.contains("stopped"), "{log}");

    let again = Service::start(temp.path()).await;
    assert_eq!(again.search("zebra").await.len(), 1);
}

/// A terminal that is closed.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn sighup_ends_in_order_and_is_ignored_under_nohup() {
    let temp = tempfile::tempdir().unwrap();
    let service = Service::start(temp.path()).await;
    service.signal("HUP").await;
    let (status, log) = service.ended().await;
    assert_eq!(status.code(), Some(0), "{log}");
    assert!(log.contains("stopped"), "{log}");

    let serve = trove(&["serve", "--listen", "127.0.0.1:0", "--data-dir"]);
    let mut command = tokio::process::Command::new("nohup");
    crate::child::isolate(&mut command);
    command.arg(serve.as_std().get_program()).args(serve.as_std().get_args()).arg(temp.path());
    let service = Service::start_with(command, temp.path()).await;
    service.signal("HUP").await;
    assert!(service.ingest("kept", &["the zebra stays".to_owned()]).await.unwrap().is_success());
    service.signal("TERM").await;
    let (status, log) = service.ended().await;
    assert_eq!(status.code(), Some(0), "{log}");
    assert!(log.contains("SIGTERM") && !log.contains("SIGHUP"), "{log}");
}

/// A request whose body is not complete is in flight for as long as we like.
#[tokio::test]
async fn a_request_in_flight_is_answered_before_the_end() {
    let temp = tempfile::tempdir().unwrap();
    let service = Service::start(temp.path()).await;
    let body = document("late", &["the walrus was late".to_owned()]).to_string();
    let (first, rest) = body.split_at(body.len() / 2);
    let mut stream = connect(&service, body.len());
    stream.write_all(first.as_bytes()).unwrap();
    // Answered after the first half has arrived: it shares the socket's order, so once a later
    // connection has its answer the first one is being read.
    service.get("/health").await.unwrap();

    service.signal("TERM").await;
    while service.client.get(format!("{}/health", service.address)).send().await.is_ok() {
        tokio::task::yield_now().await;
    }
    stream.write_all(rest.as_bytes()).unwrap();
    let answer = std::io::read_to_string(&mut stream).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let (status, log) = service.ended().await;
    assert_eq!(status.code(), Some(0), "{log}");

    let again = Service::start(temp.path()).await;
    assert_eq!(again.search("walrus").await.len(), 1);
}

#[tokio::test]
async fn a_second_signal_ends_at_once() {
    let temp = tempfile::tempdir().unwrap();
    let service = Service::start(temp.path()).await;
    let mut stream = connect(&service, 1000);
    stream.write_all(b"{").unwrap();
    service.get("/health").await.unwrap();
    service.signal("INT").await;
    while service.client.get(format!("{}/health", service.address)).send().await.is_ok() {
        tokio::task::yield_now().await;
    }
    service.signal("INT").await;
    let (status, log) = service.ended().await;
    assert_eq!(status.code(), Some(130), "{log}");
}

#[tokio::test]
async fn stopping_has_a_deadline() {
    let temp = tempfile::tempdir().unwrap();
    let mut command = trove(&["serve", "--listen", "127.0.0.1:0", "--data-dir"]);
    command.arg(temp.path()).env("TROVE__SHUTDOWN__DEADLINE_MS", "1000");
    let service = Service::start_with(command, temp.path()).await;
    let mut stream = connect(&service, 1000);
    stream.write_all(b"{").unwrap();
    service.get("/health").await.unwrap();
    let began = std::time::Instant::now();
    service.signal("TERM").await;
    let (_, log) = service.ended().await;
    // Far below the 30 s that the request itself might take.
    assert!(began.elapsed().as_secs() < 15, "{log}");
}

/// A connection with the head of a request that promises `length` bytes.
fn connect(service: &Service, length: usize) -> TcpStream {
    let host = service.address.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let head = format!(
        "POST /api/ingestion HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n",
        service.key
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream
}

/// A full disk behind the log, or a collector that went away.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_log_that_takes_nothing_ends_nothing() {
    let temp = tempfile::tempdir().unwrap();
    let serve = trove(&["serve", "--listen", "127.0.0.1:0", "--log-level", "debug", "--data-dir"]);
    let mut command = tokio::process::Command::new("sh");
    crate::child::isolate(&mut command);
    command.args(["-c", "exec \"$0\" \"$@\" 2>/dev/full"]);
    command.arg(serve.as_std().get_program()).args(serve.as_std().get_args()).arg(temp.path());
    let service = Service::start_with(command, temp.path()).await;
    assert!(service.ingest("kept", &["the zebra stays".to_owned()]).await.unwrap().is_success());
    assert_eq!(service.search("zebra").await.len(), 1);
    service.signal("TERM").await;
    let (status, _) = service.ended().await;
    assert_eq!(status.code(), Some(0));
}

/// What an operator does whose index is damaged: removes it and indexes again.
#[tokio::test]
async fn a_removed_index_is_noticed_and_filled_again() {
    let temp = tempfile::tempdir().unwrap();
    let text = ["the zebra stays".to_owned()];
    let service = Service::start(temp.path()).await;
    assert!(service.ingest("kept", &text).await.unwrap().is_success());
    service.signal("TERM").await;
    service.ended().await;
    std::fs::remove_dir_all(temp.path().join("index")).unwrap();

    let again = Service::start(temp.path()).await;
    assert!(again.search("zebra").await.is_empty());
    assert!(again.ingest("kept", &text).await.unwrap().is_success());
    assert_eq!(again.search("zebra").await.len(), 1, "it does not count as unchanged");
    again.signal("TERM").await;
    let (_, log) = again.ended().await;
    assert!(log.contains("the document index is empty"), "{log}");
}
