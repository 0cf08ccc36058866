//! What is read of a site.

use std::io::Write;

use bytes::Bytes;
use serde_json::json;
use trove_domain::port::{FileKey, SourceError};
use trove_domain::source::DocumentSource::Web;
use trove_testkit::model_server::Reply;

use super::config;
use super::site::Site;
use crate::support::{Setting, World};

/// S4: `/docs2` is not below `/docs`.
#[tokio::test]
async fn links_are_followed_below_the_base() {
    let (site, world) = (Site::start().await, World::new(Setting::default()));
    site.page("/docs", "Start", &["/docs/a", "docs/b#part", "/docs2/x", "/", "https://e.example/"]);
    site.page(
        "/docs/a",
        "A",
        &["b", "?q=1", "mailto:reader@example.com", "/docs#x", "//127.0.0.1/y"],
    );
    site.page("/docs/b", "B", &["../docs/a/"]);
    site.page("/docs/a?q=1", "Q", &[]);
    site.page("/docs/a/", "A/", &[]);
    site.page("/docs2/x", "X", &[]);
    let run = world.read(Web, &config(&site, "/docs"), None).await.unwrap();
    let expected = ["/docs", "/docs/a", "/docs/a/", "/docs/a?q=1", "/docs/b"];
    assert_eq!(run.ids(), expected.map(|path| site.url(path)));
    let a = run.document(&site.url("/docs/a"));
    assert_eq!((a.semantic_identifier.as_str(), a.source), ("A", Web));
    assert_eq!(a.link(), Some(site.url("/docs/a").as_str()));
    assert_eq!(a.sections.len(), 1);
    assert_eq!(a.sections[0].text, "Text of A.");
    assert_eq!((a.updated_at, a.created_at, a.metadata.len()), (None, None, 0));
    let mut listed = world.list(Web, &config(&site, "/docs")).await.unwrap();
    listed.dedup();
    assert_eq!(listed, run.ids());
}

/// S5: one document for one title and text.
#[tokio::test]
async fn equal_pages_are_one_document() {
    let (site, world) = (Site::start().await, World::new(Setting::default()));
    site.page("/", "Start", &["/a", "/b"]);
    site.page("/a", "Same", &[]);
    site.page("/b", "Same", &[]);
    let run = world.read(Web, &config(&site, "/"), None).await.unwrap();
    assert_eq!(run.ids(), [site.url("/"), site.url("/a")]);
    assert_eq!(run.skipped[0].id, site.url("/b"));
}

/// S6: the address at the end of redirects is the id.
#[tokio::test]
async fn a_redirected_page_has_the_last_address() {
    let (site, world) = (Site::start().await, World::new(Setting::default()));
    site.redirect("/", "/home");
    site.page("/home", "Home", &["/a", "/b", "/out", "/home", "/loop"]);
    site.redirect("/a", "/b");
    site.redirect("/out", "http://other.example/");
    site.redirect("/loop", "/loop");
    site.page("/b", "B", &["/a"]);
    let run = world.read(Web, &config(&site, ""), None).await.unwrap();
    assert_eq!(run.ids(), [site.url("/b"), site.url("/home")]);
    assert_eq!(site.paths().iter().filter(|path| *path == "/b").count(), 2);
    assert_eq!(run.failures.len(), 2, "{:?}", run.failures);
}

/// A page that redirects out of the site (to a sign-in page, say) is none of it; the first page may
/// redirect to where the site is now.
#[tokio::test]
async fn redirects_do_not_lead_out_of_the_site() {
    let (site, world) = (Site::start().await, World::new(Setting::default()));
    site.redirect("/docs", "/start");
    site.page("/start", "Start", &["/docs/a", "/docs/b", "/start"]);
    site.redirect("/docs/a", "/sign-in");
    site.page("/docs/b", "B", &[]);
    site.page("/sign-in", "Sign in", &[]);
    let run = world.read(Web, &config(&site, "/docs"), None).await.unwrap();
    assert_eq!(run.ids(), [site.url("/docs/b"), site.url("/start")]);
}

#[tokio::test]
async fn one_page_reads_one_page_and_rewrites_its_address() {
    let (site, world) = (Site::start().await, World::new(Setting::default()));
    site.page("/a/b", "B", &["/a/c"]);
    let mut config = config(&site, "/a/b");
    config["web_connector_type"] = "single".into();
    config["url_rewrites"] =
        json!([{ "source": site.url("/a"), "target": "https://docs.example.com" }]);
    let run = world.read(Web, &config, None).await.unwrap();
    assert_eq!(run.ids(), ["https://docs.example.com/b"]);
    assert_eq!(run.documents[0].link(), Some("https://docs.example.com/b"));
    assert_eq!(world.list(Web, &config).await.unwrap(), ["https://docs.example.com/b"]);
}

/// S58: an index is expanded, also when its parts are packed.
#[tokio::test]
async fn sitemaps_are_expanded() {
    let (site, world) = (Site::start().await, World::new(Setting::default()));
    let index = format!(
        "<sitemapindex><sitemap><loc>{}</loc></sitemap><sitemap><loc>{}</loc></sitemap></sitemapindex>",
        site.url("/1.xml"),
        site.url("/missing.xml")
    );
    let pages = format!(
        "<urlset><url><loc>{}</loc></url><url><loc>{}</loc></url></urlset>",
        site.url("/a?x=1&amp;y=2"),
        site.url("/b")
    );
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(pages.as_bytes()).unwrap();
    site.put("/sitemap.xml", Reply::bytes(200, "text/xml", &index));
    site.put("/1.xml", Reply::bytes(200, "application/gzip", packer.finish().unwrap()));
    site.page("/a?x=1&y=2", "A", &["/not-followed"]);
    site.page("/b", "B", &[]);
    site.page("/not-followed", "No", &[]);
    let mut config = config(&site, "/sitemap.xml");
    config["web_connector_type"] = "sitemap".into();
    let run = world.read(Web, &config, None).await.unwrap();
    assert_eq!(run.ids(), [site.url("/a?x=1&y=2"), site.url("/b")]);
    assert_eq!(run.failures.len(), 1);
    // Who lists must not take the pages of the missing list for gone.
    assert!(world.list(Web, &config).await.is_err());

    // What is no sitemap leads to the usual places.
    site.page("/start", "Start", &[]);
    config["base_url"] = site.url("/start").into();
    assert_eq!(world.read(Web, &config, None).await.unwrap().ids().len(), 2);
    site.remove("/sitemap.xml");
    let none = world.read(Web, &config, None).await.unwrap_err();
    assert!(none.to_string().contains("no valid pages"), "{none}");
}

#[tokio::test]
async fn a_stored_list_names_pages() {
    let (site, world) = (Site::start().await, World::new(Setting::default()));
    site.page("/a", "A", &["/c"]);
    site.page("/b", "B", &[]);
    let list =
        format!("\u{feff}{}\r\n\n  {}  \nnot an address\n", site.url("/a"), site.url("/b#x"));
    let key = FileKey::new("list-1").unwrap();
    world.files.put(&key, Bytes::from(list)).await.unwrap();
    let config = json!({ "base_url": "list-1", "web_connector_type": "upload" });
    let run = world.read(Web, &config, None).await.unwrap();
    assert_eq!(run.ids(), [site.url("/a"), site.url("/b")]);
    let missing = json!({ "base_url": "list-2", "web_connector_type": "upload" });
    let missing = world.read(Web, &missing, None).await;
    assert!(matches!(missing, Err(SourceError::Invalid(_))), "{missing:?}");
}

#[tokio::test]
async fn files_are_read_by_their_type_and_charsets_by_their_name() {
    let (site, world) = (Site::start().await, World::new(Setting::default()));
    site.page("/", "Start", &["/n%20otes.txt", "/i.png", "/l", "/m", "/empty"]);
    site.put("/n%20otes.txt", Reply::bytes(200, "text/plain", "Notes."));
    site.put("/i.png", Reply::bytes(200, "image/png", b"\x89PNG").then_hold());
    let latin =
        Reply::bytes(200, "text/html; charset=iso-8859-1", b"<title>Caf\xe9</title><p>\xfc</p>");
    site.put("/l", latin);
    let meta = b"<meta charset=windows-1251><title>\xcf\xf0\xe8\xe2\xe5\xf2</title><body>x<main>\xec\xe8\xf0</main>";
    site.put("/m", Reply::bytes(200, "text/html", meta));
    site.put("/empty", Reply::html(200, "<script>app()</script>"));
    let run = world.read(Web, &config(&site, "/"), None).await.unwrap();
    let title = |path: &str| run.document(&site.url(path)).semantic_identifier.clone();
    assert_eq!(title("/n%20otes.txt"), "n otes.txt");
    assert_eq!((title("/l"), title("/m")), ("Café".to_owned(), "Привет".to_owned()));
    assert_eq!(run.document(&site.url("/m")).sections[0].text, "мир");
    let skipped: Vec<&str> = run.skipped.iter().map(|skipped| skipped.id.as_str()).collect();
    assert_eq!(skipped, [site.url("/i.png"), site.url("/empty")]);
}

#[tokio::test]
async fn a_page_that_fails_is_a_failure_and_one_that_is_gone_is_not() {
    let (site, world) = (Site::start().await, World::new(Setting::default()));
    site.page("/", "Start", &["/a", "/gone", "/broken?key=canary", "/forbidden"]);
    site.page("/a", "A", &[]);
    site.put("/broken?key=canary", Reply::html(500, "canary"));
    site.put("/forbidden", Reply::html(403, ""));
    let run = world.read(Web, &config(&site, "/"), None).await.unwrap();
    assert_eq!(run.ids().len(), 2);
    assert_eq!(run.skipped.len(), 1);
    assert_eq!(run.failures.len(), 2);
    assert!(run.failures.iter().all(|failure| !failure.message.contains("canary")));
    // Nobody knows what the broken page leads to.
    assert!(world.list(Web, &config(&site, "/")).await.is_err());
    site.remove("/broken?key=canary");
    let listed = world.list(Web, &config(&site, "/")).await.unwrap();
    assert!(listed.contains(&site.url("/forbidden")) && !listed.contains(&site.url("/gone")));
}

#[tokio::test]
async fn a_site_without_any_page_is_an_error() {
    let (site, world) = (Site::start().await, World::new(Setting::default()));
    for reply in [Reply::html(404, ""), Reply::html(500, ""), Reply::html(200, "")] {
        site.put("/", reply);
        let error = world.read(Web, &config(&site, "/"), None).await.unwrap_err();
        assert!(matches!(error, SourceError::Failed { .. }), "{error:?}");
        assert!(error.to_string().contains("no valid pages"), "{error}");
    }
}

#[tokio::test]
async fn checking_asks_for_the_first_page_only() {
    let (site, world) = (Site::start().await, World::new(Setting::default()));
    site.page("/", "Start", &["/a"]);
    let source = world.open(Web, &config(&site, "/")).await.unwrap();
    source.check().await.unwrap();
    assert_eq!(site.paths(), ["/"]);
    site.put("/", Reply::html(401, ""));
    assert!(matches!(source.check().await, Err(SourceError::Invalid(_))));
    site.put("/", Reply::html(500, ""));
    assert!(matches!(source.check().await, Err(SourceError::Unavailable { .. })));
    let nobody = world.open(Web, &json!({ "base_url": "http://127.0.0.1:1/" })).await.unwrap();
    assert!(matches!(nobody.check().await, Err(SourceError::Unavailable { .. })));
}
