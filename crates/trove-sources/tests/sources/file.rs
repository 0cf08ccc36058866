//! Files, and what is known about them.

use bytes::Bytes;
use serde_json::{Value, json};
use trove_domain::document::MetadataValue;
use trove_domain::port::{FailedPart, FileKey, SourceError};
use trove_domain::source::DocumentSource::{self, File};

use crate::support::{ALWAYS, Setting, World};

/// Stores files as `f0`, `f1` and so on, and tells the configuration for them.
async fn stored(world: &World, files: &[(&str, &[u8])]) -> Value {
    let mut locations = Vec::new();
    for (n, (_, content)) in files.iter().enumerate() {
        let key = format!("f{n}");
        let content = Bytes::copy_from_slice(content);
        world.files.put(&FileKey::new(&key).unwrap(), content).await.unwrap();
        locations.push(key);
    }
    let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
    json!({ "file_locations": locations, "file_names": names })
}

fn left_in(world: &World) -> usize {
    std::fs::read_dir(world.directory.path().join("temporary")).unwrap().count()
}

#[tokio::test]
async fn a_file_is_a_document() {
    let world = World::new(Setting::default());
    let config = stored(&world, &[("docs/a.txt", b"Text."), ("docs/b.md", b"*More*")]).await;
    let run = world.read(File, &config, None).await.unwrap();
    assert_eq!(run.ids(), ["FILE_CONNECTOR__f0", "FILE_CONNECTOR__f1"]);
    let a = run.document("FILE_CONNECTOR__f0");
    assert_eq!((a.semantic_identifier.as_str(), a.title.as_deref()), ("a.txt", None));
    assert_eq!((a.link(), a.sections[0].text.as_str()), (None, "Text."));
    assert_eq!((a.updated_at, a.created_at, a.source), (Some(ALWAYS.end), None, File));
    assert_eq!(world.list(File, &config).await.unwrap(), run.ids());
    assert_eq!(left_in(&world), 0);
}

/// S18, S19, and every key that is no tag.
#[tokio::test]
async fn what_is_known_about_files_counts() {
    let world = World::new(Setting::default());
    let files = [("x/a.txt", b"1".as_slice()), ("y/a.txt", b"2"), ("b.txt", b"3")];
    let mut config = stored(&world, &files).await;
    let about = json!({
        "x/a.txt": {
            "id": "d1", "link": "https://e.example/a", "file_display_name": "The A",
            "title": "Title", "primary_owners": "Role", "secondary_owners": ["One", "Two", ""],
            "doc_updated_at": "2024-02-29T10:00:00Z", "connector_type": "confluence",
            "team": ["x", "y"], "n": 5, "b": true, "pdf_password": "canary", "mime_type": "t/p",
            "filename": "f", "document_id": "d", "time_updated": "never",
        },
        "a.txt": { "place": "by the last part of the name" },
        "other.txt": 7,
    });
    config["zip_metadata"] = about;
    let run = world.read(File, &config, None).await.unwrap();
    let first = run.document("d1");
    assert_eq!(first.semantic_identifier, "The A");
    assert_eq!(first.title.as_deref(), Some("Title"));
    assert_eq!(first.link(), Some("https://e.example/a"));
    assert_eq!(first.source, DocumentSource::Confluence);
    assert_eq!(first.updated_at.unwrap().to_rfc3339(), "2024-02-29T10:00:00+00:00");
    let names = |owners: &[trove_domain::document::Expert]| {
        owners.iter().filter_map(trove_domain::document::Expert::label).collect::<Vec<_>>()
    };
    assert_eq!(names(&first.primary_owners), ["Role"]);
    assert_eq!(names(&first.secondary_owners), ["One", "Two"]);
    let keys: Vec<&str> = first.metadata.keys().map(String::as_str).collect();
    assert_eq!(keys, ["b", "id", "n", "team"]);
    let second = run.document("FILE_CONNECTOR__f1");
    assert!(second.metadata.contains_key("place"));
    assert_eq!(run.document("FILE_CONNECTOR__f2").metadata.len(), 0);
    assert_eq!(world.list(File, &config).await.unwrap(), run.ids());
}

#[tokio::test]
async fn metadata_of_archives_may_be_stored_and_must_make_sense() {
    let world = World::new(Setting::default());
    let mut config = stored(&world, &[("a.txt", b"1")]).await;
    config["zip_metadata_file_id"] = "about".into();
    let key = FileKey::new("about").unwrap();
    let good = br#"[{ "filename": "a.txt", "team": "x" }]"#;
    world.files.put(&key, Bytes::from_static(good)).await.unwrap();
    let run = world.read(File, &config, None).await.unwrap();
    assert_eq!(run.documents[0].metadata["team"], MetadataValue::One("x".to_owned()));
    for bad in [r#"[{ "team": "x" }]"#, "7", "{"] {
        world.files.put(&key, Bytes::from_static(bad.as_bytes())).await.unwrap();
        let error = world.read(File, &config, None).await.unwrap_err();
        assert!(error.to_string().contains("zip_metadata_file_id"), "{error}");
    }
    world.files.remove(&key).await.unwrap();
    assert!(matches!(world.read(File, &config, None).await, Err(SourceError::Invalid(_))));
}

#[tokio::test]
async fn the_first_line_of_a_text_may_be_metadata() {
    let world = World::new(Setting::default());
    let files = [
        ("a.txt", b"#ONYX_METADATA={\"id\": \"other\", \"link\": \"https://e.example/\", \"t\": \"u\"}\nText.".as_slice()),
        ("b.md", b"<!-- ONYX_METADATA={\"title\": \"From the line\"} -->\n# Heading"),
        ("c.html", b"<!-- ONYX_METADATA={\"title\": \"No\"} -->\n<p>Page</p>"),
    ];
    let mut config = stored(&world, &files).await;
    config["zip_metadata"] = json!({ "a.txt": { "link": "https://old.example/", "t": "old" } });
    let run = world.read(File, &config, None).await.unwrap();
    let a = run.document("FILE_CONNECTOR__f0");
    assert_eq!(a.sections[0].text, "Text.");
    assert_eq!(a.link(), Some("https://e.example/"));
    assert_eq!(a.metadata["id"], MetadataValue::One("other".to_owned()));
    assert_eq!(a.metadata["t"], MetadataValue::One("u".to_owned()));
    assert_eq!(run.document("FILE_CONNECTOR__f1").title.as_deref(), Some("From the line"));
    assert_eq!(run.document("FILE_CONNECTOR__f2").title, None);
}

#[tokio::test]
async fn what_cannot_be_read_is_said_and_the_rest_goes_on() {
    let world = World::new(Setting::default());
    let files = [
        ("a.exe", b"MZ".as_slice()),
        ("b.png", b"\x89PNG"),
        ("c.txt", b"\0\x01\x02\x03"),
        ("missing.txt", b"x"),
        ("d.txt", b"Text."),
    ];
    let mut config = stored(&world, &files).await;
    world.files.remove(&FileKey::new("f3").unwrap()).await.unwrap();
    // A name is missing, so the id is one, which says nothing about the type.
    config["file_locations"].as_array_mut().unwrap().push("f4".into());
    let run = world.read(File, &config, None).await.unwrap();
    assert_eq!(run.ids(), ["FILE_CONNECTOR__f4"]);
    let skipped: Vec<(&str, &str)> =
        run.skipped.iter().map(|left| (left.id.as_str(), left.reason.as_str())).collect();
    let expected = [
        ("FILE_CONNECTOR__f0", "a.exe: files of type `exe` are not read"),
        ("FILE_CONNECTOR__f1", "b.png: there is nothing that finds text in pictures"),
        ("FILE_CONNECTOR__f2", "c.txt: the file holds binary data, not text"),
        ("FILE_CONNECTOR__f3", "missing.txt: the stored file is missing"),
        ("FILE_CONNECTOR__f4", "f4: files of type `` are not read"),
    ];
    assert_eq!(skipped, expected);
    // What cannot be read is not gone.
    let listed = world.list(File, &config).await.unwrap();
    assert!(listed.contains(&"FILE_CONNECTOR__f3".to_owned()), "what cannot be read is not gone");
    assert_eq!(left_in(&world), 0);
}

#[tokio::test]
async fn a_file_with_too_much_text_is_a_failure() {
    let world = World::new(Setting::default());
    let long = "word ".repeat(300_000);
    let config = stored(&world, &[("a.txt", long.as_bytes()), ("b.txt", b"Text.")]).await;
    let run = world.read(File, &config, None).await.unwrap();
    assert_eq!(run.documents.len(), 1);
    let failure = &run.failures[0];
    let FailedPart::Document { id, .. } = &failure.part else { panic!("{failure:?}") };
    assert_eq!(id.as_str(), "FILE_CONNECTOR__f0");
    assert!(failure.message.starts_with("a.txt: "), "{failure:?}");
    assert_eq!(left_in(&world), 0);
}

#[tokio::test]
async fn steps_are_small() {
    let world = World::new(Setting::default());
    let texts: Vec<String> = (0..50).map(|n| format!("Text {n}")).collect();
    let files: Vec<(&str, &[u8])> = texts.iter().map(|text| ("a.txt", text.as_bytes())).collect();
    let config = stored(&world, &files).await;
    let run = world.read(File, &config, None).await.unwrap();
    assert_eq!((run.documents.len(), run.steps), (50, 2));
    // Another list begins at its beginning, whatever the checkpoint.
    let source = world.open(File, &config).await.unwrap();
    let next = source.read(ALWAYS, None).await.unwrap().next;
    let other = json!({ "file_locations": ["f1"], "file_names": ["a.txt"] });
    let other = world.open(File, &other).await.unwrap();
    let step = other.read(ALWAYS, next.as_ref()).await.unwrap();
    assert_eq!(step.documents[0].id.as_str(), "FILE_CONNECTOR__f1");
}

#[tokio::test]
async fn configurations_that_cannot_work_are_refused() {
    let world = World::new(Setting::default());
    for (config, key) in [
        (json!({}), "file_locations"),
        (json!({ "file_locations": [] }), "file_locations"),
        (json!({ "file_locations": "a" }), "file_locations"),
        (json!({ "file_locations": [1] }), "file_locations"),
        (json!({ "file_locations": ["a"], "file_names": "a" }), "file_names"),
        (json!({ "file_locations": ["a"], "zip_metadata": "a" }), "zip_metadata"),
        (
            json!({ "file_locations": ["a"], "zip_metadata_file_id": "../a" }),
            "zip_metadata_file_id",
        ),
        (json!({ "file_locations": ["a"], "batch_size": "many" }), "batch_size"),
    ] {
        let Err(SourceError::Invalid(message)) = world.open(File, &config).await else {
            panic!("{config}")
        };
        assert!(message.contains(key), "{message}");
    }
}

/// Ids and names of files are never paths.
#[tokio::test]
async fn files_lead_nowhere_cve_2024_7957() {
    let world = World::new(Setting::default());
    for location in ["../secret", "a/b", "C:\\windows\\win.ini", "%2e%2e%2fa", "..", "a.txt", ""] {
        let opened = world.open(File, &json!({ "file_locations": [location] })).await;
        assert!(matches!(opened, Err(SourceError::Invalid(_))), "{location}");
    }
    let names = [
        "../../../escaped.txt",
        "/etc/escaped.txt",
        "C:\\escaped.txt",
        "..\\..\\escaped.txt",
        "a\0b.txt",
    ];
    let files: Vec<(&str, &[u8])> = names.iter().map(|name| (*name, b"Text.".as_slice())).collect();
    let config = stored(&world, &files).await;
    let run = world.read(File, &config, None).await.unwrap();
    assert_eq!(run.documents.len(), names.len(), "{:?} {:?}", run.skipped, run.failures);
    assert_eq!(run.documents[0].semantic_identifier, "escaped.txt");
    assert_eq!(left_in(&world), 0);
    assert_eq!(std::fs::read_dir(world.directory.path()).unwrap().count(), 2);
}

/// What lies in the directory for copies is not followed.
#[cfg(unix)]
#[tokio::test]
async fn links_are_not_followed_cve_2026_45403() {
    let world = World::new(Setting::default());
    let secret = world.directory.path().join("secret");
    std::fs::write(&secret, "untouched").unwrap();
    let temporary = world.directory.path().join("temporary");
    for name in ["f0", "a.txt", "FILE_CONNECTOR__f0"] {
        std::os::unix::fs::symlink(&secret, temporary.join(name)).unwrap();
    }
    let config = stored(&world, &[("a.txt", b"Text.")]).await;
    let run = world.read(File, &config, None).await.unwrap();
    assert_eq!(run.documents[0].sections[0].text, "Text.");
    assert_eq!(std::fs::read_to_string(secret).unwrap(), "untouched");
    assert_eq!(left_in(&world), 3);
}
