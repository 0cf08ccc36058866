//! What went wrong in systems of this kind, by number; other tests of these classes carry the
//! number of the one that they answer.

use bytes::Bytes;
use serde_json::{Value, json};
use trove_domain::port::{FileKey, SourceError};
use trove_domain::source::DocumentSource::{self, File, MockConnector, Web};
use trove_testkit::model_server::{ModelServer, Reply};

use crate::support::{Setting, World};
use crate::web::site::Site;

/// A world as it is when nobody has allowed anything.
fn untouched() -> World {
    World::new(Setting { allow: &[], ..Setting::default() })
}

async fn is_refused(world: &World, source: DocumentSource, config: Value) {
    let opened = world.open(source, &config).await;
    assert!(matches!(opened, Err(SourceError::Invalid(_))), "{config}");
}

async fn inside() -> ModelServer {
    ModelServer::start(|_| Reply::html(200, "<title>Inside</title>a secret")).await
}

/// Stores one file under this name and reads it as a source of files.
async fn read_file_named(name: &str) -> World {
    let world = World::new(Setting::default());
    let key = FileKey::new("f0").unwrap();
    world.files.put(&key, Bytes::from_static(b"Text.")).await.unwrap();
    let config = json!({ "file_locations": ["f0"], "file_names": [name] });
    let run = world.read(File, &config, None).await.unwrap();
    assert_eq!(run.documents[0].sections[0].text, "Text.", "{name}");
    assert_eq!(run.ids(), ["FILE_CONNECTOR__f0"]);
    let names = |path: &str| {
        let entries = std::fs::read_dir(world.directory.path().join(path)).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(names("temporary"), [""; 0], "{name}");
    assert_eq!((names("files"), names("").len()), (vec!["f0".to_owned()], 2), "{name}");
    world
}

/// A crawler that reads what is inside, and files of the machine.
#[tokio::test]
async fn a_crawl_reads_neither_inside_nor_files_cve_2024_12450() {
    let (secret, site) = (inside().await, Site::start().await);
    let address = secret.address();
    for base in [format!("http://{address}/"), "file:///etc/passwd".into(), "/etc/passwd".into()] {
        for kind in ["recursive", "single", "sitemap"] {
            let config = json!({ "base_url": base, "web_connector_type": kind });
            if base.starts_with('/') {
                let read = untouched().read(Web, &config, None).await;
                assert!(read.is_err(), "{base}");
            } else {
                is_refused(&untouched(), Web, config).await;
            }
        }
    }
    // From a site that may be read to one that may not.
    let world = World::new(Setting { allow: &["127.0.0.1/32"], ..Setting::default() });
    let other = format!("http://127.0.0.2:{}/", address.port());
    site.page("/", "Start", &["file:///etc/passwd", &other, "/redirect"]);
    site.redirect("/redirect", &other);
    let run = world.read(Web, &json!({ "base_url": site.url("/") }), None).await.unwrap();
    assert_eq!(run.ids(), [site.url("/")]);
    let map = format!(
        "<urlset><url><loc>{other}</loc></url><url><loc>file:///etc/passwd</loc></url></urlset>"
    );
    site.put("/map.xml", Reply::bytes(200, "text/xml", map));
    let config = json!({ "base_url": site.url("/map.xml"), "web_connector_type": "sitemap" });
    assert!(world.read(Web, &config, None).await.is_err());
    assert_eq!(secret.requests(), []);
}

/// Addresses of actions, which lead inside.
#[tokio::test]
async fn an_address_in_a_setting_does_not_lead_inside_cve_2025_66201() {
    for base in
        ["http://localhost/", "http://10.0.0.1/", "http://[::1]/", "http://169.254.169.254/"]
    {
        let config = json!({ "base_url": base });
        let world = untouched();
        match world.open(Web, &config).await {
            Err(SourceError::Invalid(_)) => {}
            Ok(source) => assert!(source.check().await.is_err(), "{base}"),
            Err(other) => panic!("{other:?}"),
        }
    }
}

/// The same with the settings that a system comes with.
#[tokio::test]
async fn nothing_inside_is_allowed_unless_somebody_allows_it_cve_2025_69222() {
    let secret = inside().await;
    let world = untouched();
    assert_eq!(world.sources.dialer.policy().allow, []);
    is_refused(&world, Web, json!({ "base_url": format!("http://{}/", secret.address()) })).await;
    assert_eq!(secret.requests(), []);
}

/// An open proxy: whoever may name a server gets its answers.
#[tokio::test]
async fn a_server_that_somebody_names_is_no_way_inside_cve_2023_49785() {
    let secret = inside().await;
    let port = secret.address().port();
    for host in ["127.0.0.1", "127.1", "0x7f000001", "::1", "::ffff:127.0.0.1", "[::1]"] {
        let config = json!({ "mock_server_host": host, "mock_server_port": port });
        is_refused(&untouched(), MockConnector, config).await;
    }
    assert_eq!(secret.requests(), []);
}

/// A parameter that is put into an address and changes where it leads.
#[tokio::test]
async fn a_host_in_a_setting_is_a_host_and_nothing_else_cve_2024_38514() {
    let world = World::new(Setting::default());
    for host in ["e.com/a", "e.com?", "e.com#", "u@127.0.0.1", "e.com:80", "e.com\\a", "e.com%2f"] {
        let config = json!({ "mock_server_host": host, "mock_server_port": 80 });
        is_refused(&world, MockConnector, config).await;
    }
}

/// A check of paths that normalises once, and another spelling.
#[tokio::test]
async fn no_spelling_of_a_path_is_the_id_of_a_file_cve_2024_5211() {
    let world = World::new(Setting::default());
    for id in ["../a", "..\\a", "....//a", "%2e%2e%2fa", "a/../b", "．．/a", ".", "~/a", "a\0b"] {
        for config in [
            json!({ "file_locations": [id] }),
            json!({ "file_locations": ["a"], "zip_metadata_file_id": id }),
        ] {
            is_refused(&world, File, config).await;
        }
        is_refused(&world, Web, json!({ "base_url": id, "web_connector_type": "upload" })).await;
    }
}

/// An absolute path of Windows.
#[tokio::test]
async fn a_path_of_windows_is_a_name_cve_2026_48789() {
    for name in ["C:\\Windows\\win.txt", "\\\\server\\share\\a.txt", "C:a.txt", "\\\\?\\C:\\a.txt"]
    {
        read_file_named(name).await;
    }
}

/// The name of an upload decides where it is written.
#[tokio::test]
async fn the_name_of_an_upload_is_no_place_cve_2024_3584() {
    for name in ["../../a.txt", "/etc/cron.d/a.txt", "a/../../../b.txt", "..%2f..%2fa.txt"] {
        read_file_named(name).await;
    }
}

/// A link in the place of a file.
#[cfg(unix)]
#[tokio::test]
async fn a_link_among_the_copies_is_not_written_through_cve_2024_3829() {
    let world = read_file_named("a.txt").await;
    let target = world.directory.path().join("target");
    std::fs::write(&target, "untouched").unwrap();
    let temporary = world.directory.path().join("temporary");
    std::os::unix::fs::symlink(&target, temporary.join("f0")).unwrap();
    let config = json!({ "file_locations": ["f0"], "file_names": ["a.txt"] });
    world.read(File, &config, None).await.unwrap();
    assert_eq!(std::fs::read_to_string(target).unwrap(), "untouched");
}

/// A name that a program takes for an option.
#[tokio::test]
async fn the_name_of_a_file_is_no_argument_cve_2026_48116() {
    for name in
        ["--pre=sh.txt", "-rf.txt", "-o ProxyCommand=touch x.txt", "; touch x.txt", "$(x).txt"]
    {
        read_file_named(name).await;
    }
}
