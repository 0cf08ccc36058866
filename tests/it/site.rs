//! A small site of the web on this machine.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;

type Pages = Arc<Mutex<BTreeMap<String, String>>>;
type Log = Arc<Mutex<Vec<(String, u16)>>>;

/// Pages by path, with an entity tag each. Serves until it is dropped.
pub(crate) struct Site {
    /// `http://127.0.0.1:PORT`
    pub(crate) address: String,
    pages: Pages,
    log: Log,
    serving: JoinHandle<()>,
}

impl Site {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let (pages, log) = (Pages::default(), Log::default());
        let (served, logged) = (Arc::clone(&pages), Arc::clone(&log));
        let tasks = TaskTracker::new();
        let serving = tasks.clone().spawn(async move {
            loop {
                let Ok((stream, _)) = listener.accept().await else { return };
                let (pages, log) = (Arc::clone(&served), Arc::clone(&logged));
                tasks.spawn(answer(stream, pages, log));
            }
        });
        Self { address, pages, log, serving }
    }

    /// Puts a page there, with links to others.
    pub(crate) fn page(&self, path: &str, title: &str, text: &str, links: &[&str]) {
        let links: Vec<String> =
            links.iter().map(|link| format!("<a href=\"{link}\">more</a>")).collect();
        let page = format!(
            "<!doctype html><title>{title}</title><main><h1>{title}</h1><p>{text}</p>{}</main>",
            links.concat()
        );
        self.pages.lock().unwrap().insert(path.to_owned(), page);
    }

    /// Takes a page away.
    pub(crate) fn remove(&self, path: &str) {
        self.pages.lock().unwrap().remove(path);
    }

    /// What was asked for since the last call, with what came of it, sorted, each once; but not the
    /// rules for robots.
    pub(crate) fn asked(&self) -> Vec<(String, u16)> {
        let mut asked = std::mem::take(&mut *self.log.lock().unwrap());
        asked.retain(|(path, _)| path != "/robots.txt");
        asked.sort();
        asked.dedup();
        asked
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn answer(mut stream: TcpStream, pages: Pages, log: Log) {
    let mut head = Vec::new();
    let mut piece = [0; 1024];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut piece).await {
            Ok(0) | Err(_) => return,
            Ok(read) => head.extend_from_slice(&piece[..read]),
        }
    }
    let head = String::from_utf8_lossy(&head).to_lowercase();
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let page = pages.lock().unwrap().get(&path).cloned();
    let (status, tag, body) = match page {
        None => ("404 Not Found", String::new(), "nothing is here".to_owned()),
        Some(page) => {
            let mut hash = DefaultHasher::new();
            page.hash(&mut hash);
            let tag = format!("\"{:x}\"", hash.finish());
            if head.contains(&format!("if-none-match: {tag}")) {
                ("304 Not Modified", tag, String::new())
            } else {
                ("200 OK", tag, page)
            }
        }
    };
    log.lock().unwrap().push((path, status[..3].parse().unwrap()));
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nETag: {tag}\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
}
