//! The second crawl.

use trove_domain::id::DocumentId;
use trove_domain::source::DocumentSource::Web;
use trove_testkit::model_server::Reply;

use super::config;
use super::site::Site;
use crate::support::{Setting, World};

#[tokio::test]
async fn the_second_crawl_reads_what_has_changed() {
    let (site, world) = (Site::start().await, World::new(Setting::default()));
    site.page("/", "Start", &["/a", "/b", "/c"]);
    site.page("/a", "A", &["/d"]);
    site.page("/b", "B", &[]);
    site.page("/c", "C", &[]);
    site.page("/d", "D", &[]);
    let first = world.read(Web, &config(&site, "/"), None).await.unwrap();
    assert_eq!(first.documents.len(), 5);
    let asked = site.requests().len();

    site.page("/b", "B, changed", &["/e"]);
    site.page("/e", "E", &[]);
    site.remove("/c");
    let second = world.read(Web, &config(&site, "/"), first.carry.as_ref()).await.unwrap();
    assert_eq!(second.ids(), [site.url("/b"), site.url("/e")]);
    let mut unchanged: Vec<&str> = second.unchanged.iter().map(DocumentId::as_str).collect();
    unchanged.sort_unstable();
    // What is linked only from a page that has not changed is found all the same.
    assert_eq!(unchanged, [site.url("/"), site.url("/a"), site.url("/d")]);
    assert_eq!(site.requests().len() - asked, 6);
    let listed = world.list(Web, &config(&site, "/")).await.unwrap();
    assert!(!listed.contains(&site.url("/c")) && listed.len() == 5, "{listed:?}");

    let third = world.read(Web, &config(&site, "/"), second.carry.as_ref()).await.unwrap();
    assert_eq!((third.documents.len(), third.unchanged.len()), (0, 5));
    // Without what was carried, everything is read.
    let all = world.read(Web, &config(&site, "/"), None).await.unwrap();
    assert_eq!((all.documents.len(), all.unchanged.len()), (5, 0));
    // Under another configuration, too.
    let mut other = config(&site, "/");
    other["mintlify_cleanup"] = false.into();
    let other = world.read(Web, &other, third.carry.as_ref()).await.unwrap();
    assert_eq!((other.documents.len(), other.unchanged.len()), (5, 0));
}

/// What was left out because another page had the same text must not stay out when that one goes.
#[tokio::test]
async fn a_double_comes_in_when_its_like_changes() {
    let (site, world) = (Site::start().await, World::new(Setting::default()));
    site.page("/", "Start", &["/a", "/b"]);
    site.page("/a", "Same", &[]);
    site.page("/b", "Same", &[]);
    let first = world.read(Web, &config(&site, "/"), None).await.unwrap();
    assert_eq!(first.ids(), [site.url("/"), site.url("/a")]);
    site.page("/a", "Other", &[]);
    let second = world.read(Web, &config(&site, "/"), first.carry.as_ref()).await.unwrap();
    assert_eq!(second.ids(), [site.url("/a"), site.url("/b")]);
}

/// As in a crawl that knows nothing, the first of equal pages is the document.
#[tokio::test]
async fn the_first_of_equal_pages_counts_also_when_it_was_the_second() {
    let (site, world) = (Site::start().await, World::new(Setting::default()));
    site.page("/", "Start", &["/a", "/b"]);
    site.page("/a", "Same", &[]);
    site.page("/b", "Same", &[]);
    let first = world.read(Web, &config(&site, "/"), None).await.unwrap();
    site.page("/", "Start", &["/b", "/a"]);
    let second = world.read(Web, &config(&site, "/"), first.carry.as_ref()).await.unwrap();
    assert_eq!(second.ids(), [site.url("/"), site.url("/b")]);
    assert_eq!(second.unchanged, []);
}

/// A page that failed is read in full the next time, whatever its validators say.
#[tokio::test]
async fn what_failed_is_not_taken_for_unchanged() {
    let (site, world) = (Site::start().await, World::new(Setting::default()));
    site.page("/", "Start", &["/a"]);
    site.put("/a", Reply::html(500, ""));
    let first = world.read(Web, &config(&site, "/"), None).await.unwrap();
    site.page("/a", "A", &[]);
    let second = world.read(Web, &config(&site, "/"), first.carry.as_ref()).await.unwrap();
    assert_eq!(second.ids(), [site.url("/a")]);
}
