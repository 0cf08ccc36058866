//! Crawls a site of 2,000 pages that a stock web server serves, changes it, crawls it again, and
//! says what that took: `cargo run --release -p trove-sources --example real_site`.
//!
//! Needs `python3`, whose `http.server` knows files and `If-Modified-Since`, and nothing else.

#![expect(clippy::unwrap_used, reason = "an example fails by panicking")]

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant, UNIX_EPOCH};

use chrono::DateTime;
use serde_json::json;
use trove_domain::id::DocumentId;
use trove_domain::port::{
    Checkpoint, ReadWindow, Source, SourceFactory, SourceSettings, SourceStep,
};
use trove_domain::source::DocumentSource;
use trove_files::ObjectFileStore;
use trove_sources::dialer::{
    Backoff, Dialer, DialerParts, Limits, NetworkPolicy, RealPacer, SystemNames,
};
use trove_sources::{CrawlLimits, Sources};
use trove_testkit::fakes::{FakeClock, SequentialIds};

const PAGES: usize = 2_000;
const WINDOW: ReadWindow = ReadWindow { start: DateTime::UNIX_EPOCH, end: DateTime::UNIX_EPOCH };

/// A server that ends with the example.
struct Server {
    child: Child,
    port: u16,
    log: std::path::PathBuf,
}

impl Server {
    fn start(site: &Path, log: &Path) -> Self {
        let mut child = Command::new("python3")
            .args(["-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory"])
            .arg(site)
            .stdout(Stdio::piped())
            .stderr(File::create(log).unwrap())
            .spawn()
            .expect("python3");
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        // Serving HTTP on 127.0.0.1 port 43627 (http://127.0.0.1:43627/) ...
        let port = line.split(' ').skip_while(|word| *word != "port").nth(1).unwrap();
        Self { child, port: port.parse().unwrap(), log: log.to_owned() }
    }

    /// How often it answered in full and with `304`, so far.
    fn answers(&self) -> (usize, usize) {
        let log = fs::read_to_string(&self.log).unwrap();
        let count = |status: &str| {
            log.lines().filter(|line| line.contains(&format!("\" {status} "))).count()
        };
        (count("200"), count("304"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A page that links to three others, so that all are some steps away from the first one.
fn write(site: &Path, n: usize, text: &str, changed: u64) {
    let links: String = (1..=3)
        .map(|k| 3 * n + k)
        .filter(|link| *link < PAGES)
        .map(|link| format!("<li><a href=\"/pages/{link}.html\">Page {link}</a>\n"))
        .collect::<Vec<_>>()
        .concat();
    let page = format!(
        "<!doctype html><html><head><meta charset=utf-8><title>Page {n}</title></head>\n\
         <body><nav><a href=\"/\">Home</a> menu</nav><main><h1>Page {n}</h1><p>{text} {n}. {}</p>\n\
         <ul>{links}</ul></main><footer>footer</footer></body></html>",
        "Some words that stand on every page. ".repeat(40)
    );
    let path = site.join(format!("pages/{n}.html"));
    fs::write(&path, page).unwrap();
    let file = File::options().write(true).open(path).unwrap();
    file.set_modified(UNIX_EPOCH + Duration::from_secs(1_700_000_000 + changed)).unwrap();
}

async fn read(source: &dyn Source, carry: Option<&Checkpoint>) -> (SourceStep, usize, usize) {
    let (mut all, mut from, mut steps, mut largest) = (SourceStep::default(), carry.cloned(), 0, 0);
    loop {
        let step = source.read(WINDOW, from.as_ref()).await.unwrap();
        steps += 1;
        all.documents.extend(step.documents);
        all.failures.extend(step.failures);
        all.skipped.extend(step.skipped);
        all.unchanged.extend(step.unchanged);
        let Some(next) = step.next else {
            all.carry = step.carry;
            return (all, steps, largest);
        };
        largest = largest.max(next.0.to_string().len());
        from = Some(next);
    }
}

async fn list(source: &dyn Source) -> BTreeSet<DocumentId> {
    let (mut ids, mut from) = (BTreeSet::new(), None);
    loop {
        let step = source.list(from.as_ref()).await.unwrap();
        ids.extend(step.ids);
        if step.next.is_none() {
            return ids;
        }
        from = step.next;
    }
}

fn sources(directory: &Path) -> Sources {
    let dialer = Dialer::new(DialerParts {
        policy: NetworkPolicy { allow: vec!["127.0.0.1/32".parse().unwrap()] },
        limits: Limits::default(),
        backoff: Backoff::default(),
        names: Arc::new(SystemNames),
        clock: Arc::new(FakeClock::default()),
        ids: Arc::new(SequentialIds::default()),
        pacer: Arc::new(RealPacer),
    });
    Sources {
        dialer: dialer.unwrap(),
        extractor: Arc::new(trove_extract::InProcessExtractor::new(
            trove_extract::Budget::default(),
        )),
        files: Arc::new(ObjectFileStore::local(&directory.join("files")).unwrap()),
        temporary: directory.to_owned(),
        crawl: CrawlLimits::default(),
    }
}

#[tokio::main]
async fn main() {
    let directory = tempfile::tempdir().unwrap();
    let site = directory.path().join("site");
    fs::create_dir_all(site.join("pages")).unwrap();
    for n in 0..PAGES {
        write(&site, n, "Text of page", 0);
    }
    let server = Server::start(&site, &directory.path().join("log"));
    let base = format!("http://127.0.0.1:{}/pages/0.html", server.port);
    let settings = |base: &str| SourceSettings {
        source: DocumentSource::Web,
        config: json!({ "base_url": base }).as_object().unwrap().clone(),
        credential: "{}".into(),
    };
    // The first page is a link to the others, beside which they are.
    fs::write(site.join("index.html"), "<title>Start</title><p>Here: <a href=pages/0.html>0</a>")
        .unwrap();
    let root = base.strip_suffix("pages/0.html").unwrap();
    let source = sources(directory.path()).open(settings(root)).await.unwrap();
    source.check().await.unwrap();
    let before = server.answers();

    let start = Instant::now();
    let (first, steps, largest) = read(&*source, None).await;
    let took = start.elapsed();
    assert_eq!(first.documents.len(), PAGES + 1, "{:?} {:?}", first.failures, first.skipped);
    for document in &first.documents {
        let n = document.id.as_str().rsplit('/').next().unwrap().trim_end_matches(".html");
        let is_start = n.is_empty();
        let title = if is_start { "Start".to_owned() } else { format!("Page {n}") };
        assert_eq!(document.semantic_identifier, title);
        let text = &document.sections[0].text;
        assert!(is_start || text.contains(&format!("Text of page {n}.")), "{text}");
        assert!(!text.contains("menu") && !text.contains("footer"), "{text}");
    }
    let (full, unchanged) = server.answers();
    println!(
        "first crawl: {} documents, {steps} steps, {took:.1?}, {} answers in full, {unchanged} \
         unchanged, largest checkpoint {largest} bytes, carry {} bytes",
        first.documents.len(),
        full - before.0,
        first.carry.as_ref().map_or(0, |carry| carry.0.to_string().len()),
    );

    // 25 pages change, 10 pages without links go, one page is new.
    let changed: Vec<usize> = (0..25).map(|n| 100 + 20 * n).collect();
    for n in &changed {
        write(&site, *n, "Changed text of page", 100);
    }
    for n in 1_990..PAGES {
        fs::remove_file(site.join(format!("pages/{n}.html"))).unwrap();
    }
    fs::write(site.join("pages/new.html"), "<title>New</title><p>A new page").unwrap();
    let index =
        "<title>Start</title><p>Here: <a href=pages/0.html>0</a> <a href=pages/new.html>n</a>";
    fs::write(site.join("index.html"), index).unwrap();
    let file = File::options().write(true).open(site.join("index.html")).unwrap();
    file.set_modified(UNIX_EPOCH + Duration::from_secs(4_000_000_000)).unwrap();

    let before = server.answers();
    let start = Instant::now();
    let (second, steps, _) = read(&*source, first.carry.as_ref()).await;
    let took = start.elapsed();
    let after = server.answers();
    let read_again: BTreeSet<&str> =
        second.documents.iter().map(|document| document.semantic_identifier.as_str()).collect();
    let expected = changed.iter().map(|n| format!("Page {n}"));
    let expected: BTreeSet<String> = expected.chain(["New".into(), "Start".into()]).collect();
    assert_eq!(read_again, expected.iter().map(String::as_str).collect());
    println!(
        "second crawl: {} documents, {} unchanged, {} gone, {steps} steps, {took:.1?}, {} answers \
         in full, {} unchanged",
        second.documents.len(),
        second.unchanged.len(),
        second.skipped.len(),
        after.0 - before.0,
        after.1 - before.1,
    );

    let start = Instant::now();
    let listed = list(&*source).await;
    assert_eq!(listed.len(), PAGES + 1 - 10 + 1);
    assert!(!listed.iter().any(|id| id.as_str().ends_with("/1995.html")));
    println!("listing: {} addresses, {:.1?}", listed.len(), start.elapsed());
}
