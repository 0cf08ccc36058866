//! A site under a test's control.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use trove_testkit::model_server::{Captured, ModelServer, Reply};

type Pages = Arc<Mutex<BTreeMap<String, Reply>>>;

/// Pages by path and query.
pub(crate) struct Site {
    server: ModelServer,
    pages: Pages,
}

impl Site {
    pub(crate) async fn start() -> Self {
        let pages = Pages::default();
        let served = Arc::clone(&pages);
        let server = ModelServer::start(move |request| answer(&served, request)).await;
        Self { server, pages }
    }

    /// The address of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.server.address())
    }

    pub(crate) fn put(&self, path: &str, reply: Reply) {
        self.pages.lock().unwrap().insert(path.to_owned(), reply);
    }

    /// A page with a title, a text and links, and a validator that changes with it.
    pub(crate) fn page(&self, path: &str, title: &str, links: &[&str]) {
        let link = |link: &&str| format!("<a href=\"{link}\">to {link}</a> ");
        let links = links.iter().map(link).collect::<Vec<_>>().concat();
        let body = format!(
            "<title>{title}</title><nav>menu {links}</nav><p>Text of {title}.</p><footer>f</footer>"
        );
        let tag = body.bytes().fold(0_u64, |hash, byte| hash.wrapping_mul(31) + u64::from(byte));
        self.put(path, Reply::html(200, &body).header("ETag", &format!("\"{tag:x}\"")));
    }

    pub(crate) fn redirect(&self, from: &str, to: &str) {
        self.put(from, Reply::html(301, "").header("Location", to));
    }

    pub(crate) fn remove(&self, path: &str) {
        self.pages.lock().unwrap().remove(path);
    }

    /// What was asked for so far, `robots.txt` aside.
    pub(crate) fn requests(&self) -> Vec<Captured> {
        let mut requests = self.server.requests();
        requests.retain(|request| request.path != "/robots.txt");
        requests
    }

    pub(crate) fn paths(&self) -> Vec<String> {
        self.requests().into_iter().map(|request| request.path).collect()
    }
}

fn answer(pages: &Pages, request: &Captured) -> Reply {
    let pages = pages.lock().unwrap();
    let Some(reply) = pages.get(&request.path) else { return Reply::html(404, "not found") };
    let matches = request.header("if-none-match").is_some_and(|tag| reply.has("ETag", tag));
    if matches { Reply::html(304, "") } else { reply.clone() }
}
