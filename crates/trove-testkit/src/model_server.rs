//! A stub of a server that speaks the protocol of OpenAI, on a port of its own.
//!
//! [`ModelServer::simulated`] behaves; [`ModelServer::replaying`] and [`ModelServer::start`] do
//! what a test wants, byte by byte. Every request is kept.

mod reply;
mod simulated;

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

pub use reply::{Reply, event};
pub use simulated::simulate;

/// Largest body that is taken.
const BODY_BYTES_MAX: usize = 64 << 20;

type Answer = Box<dyn Fn(&Captured) -> Reply + Send + Sync>;

/// A request as it arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// `POST`
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Names in lower case, in the order of arrival.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Captured {
    /// The first header of that name, which is in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON; null if it is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

struct Shared {
    answer: Answer,
    requests: Mutex<Vec<Captured>>,
    /// How many clients hung up while a reply was held back.
    hang_ups: watch::Sender<usize>,
}

/// The server. Dropping it closes every connection.
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    _tasks: JoinSet<()>,
}

impl ModelServer {
    /// Answers every request with what `answer` says to it.
    pub async fn start(answer: impl Fn(&Captured) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            answer: Box::new(answer),
            requests: Mutex::default(),
            hang_ups: watch::Sender::new(0),
        });
        let mut tasks = JoinSet::new();
        tasks.spawn(accept(listener, Arc::clone(&shared)));
        Self { address, shared, _tasks: tasks }
    }

    /// Answers the first request with the first reply, and so on; any after them with status 500.
    pub async fn replaying(replies: impl IntoIterator<Item = Reply>) -> Self {
        let replies: Vec<Reply> = replies.into_iter().collect();
        let next = AtomicUsize::new(0);
        Self::start(move |_| {
            let position = next.fetch_add(1, Ordering::Relaxed);
            replies.get(position).cloned().unwrap_or_else(|| Reply::text(500, "no reply is left"))
        })
        .await
    }

    /// Answers conversations by repeating the last message, and embeds texts by their words.
    pub async fn simulated() -> Self {
        Self::start(simulate).await
    }

    /// `http://127.0.0.1:PORT/v1`
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What arrived so far.
    #[must_use]
    pub fn requests(&self) -> Vec<Captured> {
        self.shared.requests.lock().unwrap().clone()
    }

    /// Waits until so many clients hung up while their reply was held back.
    pub async fn hang_ups(&self, count: usize) {
        let mut hang_ups = self.shared.hang_ups.subscribe();
        hang_ups.wait_for(|seen| *seen >= count).await.unwrap();
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            // Clients may go away at any time.
            let _ = serve(stream, &shared).await;
        });
    }
}

async fn serve(stream: TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut stream = BufReader::new(stream);
    while let Some(request) = read(&mut stream).await? {
        let reply = (shared.answer)(&request);
        shared.requests.lock().unwrap().push(request);
        let held = reply.write(stream.get_mut()).await?;
        if held {
            // Whatever still comes is not read; the end of it is what counts.
            while stream.read(&mut [0; 64]).await.unwrap_or(0) > 0 {}
            shared.hang_ups.send_modify(|count| *count += 1);
        }
        if held || reply.closes() {
            return Ok(());
        }
    }
    Ok(())
}

/// The next request on a connection; `None` when there is none.
async fn read(stream: &mut BufReader<TcpStream>) -> io::Result<Option<Captured>> {
    let mut line = String::new();
    if stream.read_line(&mut line).await? == 0 {
        return Ok(None);
    }
    let mut parts = line.split(' ').map(str::to_owned);
    let (method, path) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut request = Captured { method, path, headers, body: Vec::new() };
    let length = request.header("content-length").and_then(|length| length.parse().ok());
    let length = length.unwrap_or(0).min(BODY_BYTES_MAX);
    request.body = vec![0; length];
    stream.read_exact(&mut request.body).await?;
    Ok(Some(request))
}
