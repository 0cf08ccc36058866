//! Clients that keep their connections, and cost as little as possible: they share the cores with
//! what they measure.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use secrecy::{ExposeSecret, SecretString};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::Until;

/// What clients send: each query once, then from the beginning.
pub(crate) struct Load {
    address: String,
    requests: Arc<Vec<Vec<u8>>>,
}

/// What they saw.
pub(crate) struct Seen {
    pub(crate) times: Vec<Duration>,
    pub(crate) failed: usize,
    pub(crate) took: Duration,
}

impl Seen {
    pub(crate) fn done(&self) -> usize {
        self.times.len()
    }
}

impl Load {
    pub(crate) fn new(address: &str, key: &SecretString, queries: &[String]) -> Self {
        let request = |query: &String| {
            let body = serde_json::json!({ "query": query }).to_string();
            format!(
                "POST /api/search HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {}\r\n\
                 Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
                key.expose_secret(),
                body.len()
            )
            .into_bytes()
        };
        let requests = Arc::new(queries.iter().map(request).collect());
        Self { address: address.to_owned(), requests }
    }
}

/// Lets `clients` search at the same time.
pub(crate) async fn measure(load: &Load, clients: usize, until: Until) -> anyhow::Result<Seen> {
    let next = Arc::new(AtomicUsize::new(0));
    let began = Instant::now();
    let mut running = JoinSet::new();
    for _ in 0..clients {
        let (requests, next) = (Arc::clone(&load.requests), Arc::clone(&next));
        let stream = TcpStream::connect(&load.address).await?;
        stream.set_nodelay(true)?;
        running.spawn(client(stream, requests, next, began, until));
    }
    let mut seen = Seen { times: Vec::new(), failed: 0, took: Duration::ZERO };
    while let Some(client) = running.join_next().await {
        let (times, failed) = client??;
        seen.times.extend(times);
        seen.failed += failed;
    }
    seen.took = began.elapsed();
    Ok(seen)
}

async fn client(
    mut stream: TcpStream,
    requests: Arc<Vec<Vec<u8>>>,
    next: Arc<AtomicUsize>,
    began: Instant,
    until: Until,
) -> anyhow::Result<(Vec<Duration>, usize)> {
    let mut times = Vec::new();
    let mut failed = 0;
    let mut buffer = Vec::with_capacity(64 * 1024);
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let over = match until {
            Until::Requests(most) => number >= most,
            Until::Elapsed(most) => began.elapsed() >= most,
        };
        if over {
            return Ok((times, failed));
        }
        let asked = Instant::now();
        stream.write_all(&requests[number % requests.len()]).await?;
        let succeeded = answer(&mut stream, &mut buffer).await?;
        times.push(asked.elapsed());
        failed += usize::from(!succeeded);
    }
}

/// Reads one answer; whether it is a success.
async fn answer(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> anyhow::Result<bool> {
    buffer.clear();
    let head = loop {
        if let Some(end) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
        ensure!(stream.read_buf(buffer).await? > 0, "the service closed the connection");
    };
    let text = std::str::from_utf8(&buffer[..head])?;
    let succeeded = text.starts_with("HTTP/1.1 200");
    let length = text
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .context("an answer has a length")?;
    let end = head + length.1.trim().parse::<usize>()?;
    while buffer.len() < end {
        ensure!(stream.read_buf(buffer).await? > 0, "the service closed the connection");
    }
    Ok(succeeded)
}
