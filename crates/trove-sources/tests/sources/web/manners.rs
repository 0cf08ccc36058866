//! How a site is asked, and what it cannot do to whoever asks.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde_json::json;
use tokio::net::TcpListener;
use trove_domain::port::{ExtractError, ExtractedText, FileKey, SourceError, TextExtractor};
use trove_domain::source::DocumentSource::{File, Web};
use trove_sources::CrawlLimits;
use trove_testkit::model_server::Reply;

use super::config;
use super::site::Site;
use crate::support::{ALWAYS, FakePacer, Setting, World};

#[tokio::test]
async fn robots_txt_is_kept() {
    let pacer = Arc::new(FakePacer::default());
    let site = Site::start().await;
    let world = World::new(Setting { pacer: Arc::clone(&pacer), ..Setting::default() });
    let robots = "User-agent: *\nDisallow: /private\nCrawl-delay: 2\n";
    site.put("/robots.txt", Reply::bytes(200, "text/plain", robots));
    site.page("/", "Start", &["/a", "/private/b"]);
    site.page("/a", "A", &[]);
    site.page("/private/b", "B", &[]);
    let run = world.read(Web, &config(&site, "/"), None).await.unwrap();
    assert_eq!(run.ids(), [site.url("/"), site.url("/a")]);
    assert!(run.skipped[0].reason.contains("robots.txt"));
    assert!(!site.paths().contains(&"/private/b".to_owned()));
    assert!(pacer.pauses.lock().unwrap().contains(&Duration::from_secs(2)));
    site.put("/robots.txt", Reply::bytes(200, "text/plain", "User-agent: *\nDisallow: /"));
    let nothing = world.read(Web, &config(&site, "/"), None).await.unwrap_err();
    assert!(nothing.to_string().contains("robots.txt"), "{nothing}");
}

#[tokio::test]
async fn a_site_that_wants_to_be_left_alone_is() {
    let (site, world) = (Site::start().await, World::new(Setting::default()));
    site.page("/", "Start", &["/a", "/b"]);
    site.page("/a", "A", &[]);
    site.put("/b", Reply::html(429, "").header("Retry-After", "3600"));
    let source = world.open(Web, &config(&site, "/")).await.unwrap();
    let first = source.read(ALWAYS, None).await.unwrap();
    // What was read before is not lost.
    let second = source.read(ALWAYS, first.next.as_ref()).await.unwrap();
    assert_eq!(second.documents.len(), 1);
    let busy = source.read(ALWAYS, second.next.as_ref()).await.unwrap_err();
    let SourceError::Unavailable { retry_after, .. } = busy else { panic!("{busy:?}") };
    assert_eq!(retry_after, Some(Duration::from_hours(1)));
}

#[tokio::test]
async fn steps_are_small_and_crawls_end() {
    let site = Site::start().await;
    let mut world = World::new(Setting::default());
    world.sources.crawl = CrawlLimits { pages: 100, ..CrawlLimits::default() };
    // Each page leads to two more, for ever.
    for n in 1..200 {
        site.page(
            &format!("/{n}"),
            &format!("Page {n}"),
            &[&format!("/{}", 2 * n), &format!("/{}", 2 * n + 1)],
        );
    }
    site.page("/", "Start", &["/1"]);
    let run = world.read(Web, &config(&site, "/"), None).await.unwrap();
    assert_eq!(run.documents.len(), 100);
    assert!(run.steps >= 100 / 16, "{}", run.steps);
    assert!(run.skipped.last().unwrap().reason.contains("at most 100"), "{:?}", run.skipped);
}

/// Reads nothing, because what it reads with is not there.
struct NoExtractor;

impl TextExtractor for NoExtractor {
    fn extensions(&self) -> &'static [&'static str] {
        &["txt"]
    }

    fn extract(&self, _: &str, _: &[u8]) -> Result<ExtractedText, ExtractError> {
        Err(ExtractError::Unavailable { detail: "the program is missing".to_owned() })
    }

    fn extract_file(&self, name: &str, _: &std::path::Path) -> Result<ExtractedText, ExtractError> {
        self.extract(name, &[])
    }
}

#[tokio::test]
async fn a_run_waits_when_nothing_is_there_to_read_with() {
    let site = Site::start().await;
    let mut world = World::new(Setting::default());
    world.sources.extractor = Arc::new(NoExtractor);
    site.page("/", "Start", &[]);
    let page = world.read(Web, &config(&site, "/"), None).await;
    assert!(matches!(page, Err(SourceError::Unavailable { .. })), "{page:?}");
    let key = FileKey::new("f0").unwrap();
    world.files.put(&key, Bytes::from_static(b"Text.")).await.unwrap();
    let file = json!({ "file_locations": ["f0"], "file_names": ["a.txt"] });
    let file = world.read(File, &file, None).await;
    assert!(matches!(file, Err(SourceError::Unavailable { .. })), "{file:?}");
}

/// A page that cannot be read hides what it leads to: nothing is known about what is missing.
#[tokio::test]
async fn listing_fails_when_a_page_does_not_answer() {
    let (site, world) = (Site::start().await, World::new(Setting::default()));
    site.page("/", "Start", &["/a"]);
    site.put("/a", Reply::html(200, "half").then_break());
    let listing = world.list(Web, &config(&site, "/")).await;
    assert!(matches!(listing, Err(SourceError::Unavailable { .. })), "{listing:?}");
    let run = world.read(Web, &config(&site, "/"), None).await.unwrap();
    assert_eq!((run.documents.len(), run.failures.len()), (1, 1));
}

/// What a page says its name is stays a name.
#[tokio::test]
async fn names_of_files_lead_nowhere_cve_2026_24478() {
    let (site, world) = (Site::start().await, World::new(Setting::default()));
    let evil = ["/..%2f..%2fetc%2fpasswd.txt", "/C:%5Cwindows%5Cwin.txt", "/a%00.txt"];
    site.page("/", "Start", &evil);
    for (n, path) in evil.iter().enumerate() {
        site.put(path, Reply::bytes(200, "text/plain", format!("text {n}")));
    }
    let before: Vec<_> = std::fs::read_dir(world.directory.path()).unwrap().collect();
    let run = world.read(Web, &config(&site, "/"), None).await.unwrap();
    assert_eq!(run.documents.len(), 4, "{:?} {:?}", run.failures, run.skipped);
    let after: Vec<_> = std::fs::read_dir(world.directory.path()).unwrap().collect();
    assert_eq!(before.len(), after.len());
}

/// Whoever connects it learns which one it is, before the request is over.
#[tokio::test]
async fn a_page_that_hangs_is_named_by_the_check() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/slow", listener.local_addr().unwrap());
    let mut world = World::new(Setting::default());
    world.sources.crawl.check = Duration::from_millis(50);
    let source = world.open(Web, &json!({ "base_url": url })).await.unwrap();
    // Connections are taken, and nobody answers.
    let SourceError::Unavailable { message, .. } = source.check().await.unwrap_err() else {
        panic!("it may answer another time")
    };
    assert_eq!(message, format!("{url} did not answer within 50 ms"));
    drop(listener);
}
