//! Uploads that are wrong, too large, cut off, or made to break something.

use std::fs;

use bytes::Bytes;
use reqwest::Method;
use tokio::io::AsyncWriteExt;
use trove_domain::access::Role;
use trove_domain::id::UserId;
use trove_domain::port::{Clock, FileKey};
use trove_engine::files::UploadLimits;
use trove_testkit::zips::{Zip, ZipEntry, zip};

use super::files::{Files, Part, UPLOAD, file, form, send, upload};

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_form_has_no_files() {
    let files = Files::start().await;
    let admin = files.server.caller(Role::Admin).await;
    let missing = ["body/files missing"];
    admin.send(Method::POST, UPLOAD, None).await.invalid(&missing);
    admin.post(UPLOAD, serde_json::json!({"files": []})).await.invalid(&missing);
    upload(&admin, &[]).await.invalid(&missing);
    upload(&admin, &[("file", Some("a.txt"), None, b"text")]).await.invalid(&missing);
    let unnamed: Part<'_> = ("files", None, None, b"text");
    assert_eq!(upload(&admin, &[unnamed]).await.ok()["file_paths"], serde_json::json!([]));
    send(&admin, &format!("{UPLOAD}?unzip=maybe"), form(&[file("a", b"a")]))
        .await
        .invalid(&["query/unzip bool_parsing"]);
    let whole = form(&[file("a.txt", b"text")]);
    let other = admin.with("content-type", "multipart/form-data");
    other.send(Method::POST, UPLOAD, Some(whole.clone())).await.refused(400, "BAD_REQUEST");
    let packed = admin.with("content-encoding", "gzip");
    send(&packed, UPLOAD, whole.clone()).await.refused(415, "UNSUPPORTED_MEDIA_TYPE");
    for length in [whole.len() - 4, whole.len() - 12, whole.len() / 2] {
        let cut = send(&admin, UPLOAD, whole[..length].to_vec()).await;
        cut.refused(400, "BAD_REQUEST");
    }
    files.assert_stored(0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn names_lead_nowhere() {
    let files = Files::start().await;
    let admin = files.server.caller(Role::Admin).await;
    let sent = async |name: &str| upload(&admin, &[file(name, b"text")]).await;
    for (name, expected) in [
        ("../../../etc/passwd", "passwd"),
        ("/etc/passwd", "passwd"),
        ("C:/a.txt", "a.txt"),
        ("世界.txt", "世界.txt"),
        ("a\u{202e}txt.exe", "atxt.exe"),
    ] {
        assert_eq!(sent(name).await.ok()["file_names"][0], expected);
    }
    let archive = zip(&[
        ("../../x.txt", b"1"),
        ("/etc/y.txt", b"2"),
        ("a\\b\\z.txt", b"3"),
        ("a\u{7}\u{202e}b.txt", b"4"),
        ("a/\u{7}", b"5"),
    ]);
    let stored = upload(&admin, &[file("a.zip", &archive)]).await.ok();
    // What begins with two dots is hidden, and what has no name left is skipped.
    assert_eq!(stored["file_names"], serde_json::json!(["y.txt", "z.txt", "ab.txt"]));
    let long = "a".repeat(10_000);
    let detail = sent(&long).await.refused(400, "INVALID_INPUT");
    assert_eq!(detail, "the name of a file has at most 255 characters");
    let archive = zip(&[(&"b".repeat(300), b"1")]);
    upload(&admin, &[file("a.zip", &archive)]).await.refused(400, "INVALID_INPUT");
    // No header has such a character.
    sent("a\0b.txt").await.refused(400, "BAD_REQUEST");
    files.assert_stored(5 + 3).await;
    assert!(!files.place().parent().unwrap().join("x.txt").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_large_names_the_setting() {
    let uploads = UploadLimits { file_bytes_max: 1000, upload_bytes_max: 3000, files_max: 3 };
    let files = Files::with(uploads).await;
    let admin = files.server.caller(Role::Admin).await;
    let (fits, larger) = (vec![7; 1000], vec![7; 1001]);
    upload(&admin, &[file("a", &fits)]).await.ok();
    files.assert_stored(1).await;
    let refused = upload(&admin, &[file("b", b"1"), file("a", &larger)]).await;
    let detail = refused.refused(413, "PAYLOAD_TOO_LARGE");
    assert_eq!(detail, "a has more than 1000 bytes (ingestion.file_bytes_max)");
    // Whether it is announced or not.
    let whole = form(&[file("a", &fits), file("b", &fits), file("c", &fits), file("d", &fits)]);
    let detail = send(&admin, UPLOAD, whole.clone()).await.refused(413, "PAYLOAD_TOO_LARGE");
    assert!(detail.ends_with("(ingestion.upload_bytes_max)"), "{detail}");
    let key = files.server.key("chunks@example.com", Role::Admin).await;
    let mut request = format!(
        "POST {UPLOAD} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: multipart/form-data; boundary=b\r\nTransfer-Encoding: chunked\r\n\
         Connection: close\r\n\r\n"
    )
    .into_bytes();
    for piece in whole.chunks(500) {
        request.extend(format!("{:x}\r\n", piece.len()).bytes());
        request.extend(piece);
        request.extend(b"\r\n");
    }
    request.extend(b"0\r\n\r\n");
    let answer = files.server.raw(&request).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert!(answer.contains("ingestion.upload_bytes_max"), "{answer}");
    let small = [file("a", b""), file("b", b""), file("c", b""), file("d", b"")];
    let detail = upload(&admin, &small).await.refused(400, "INVALID_INPUT");
    assert_eq!(detail, "more than 3 files are not accepted at once");
    files.assert_stored(1).await;
}

/// Each is answered by 400, and leaves nothing.
#[tokio::test(flavor = "multi_thread")]
async fn hostile_archives_are_refused() {
    let files = Files::start().await;
    let admin = files.server.caller(Role::Admin).await;
    let dull = vec![0; 64 << 20];
    let bomb = ZipEntry::deflated("bomb.txt", &dull);
    let good = ZipEntry::stored("good.txt", b"good");
    let shared = (0..5000).fold(Zip::default().with(&bomb), |zip, _| zip.list(&bomb));
    let nothing = ZipEntry::stored("a", b"");
    let million = (0..1_000_000).fold(Zip::default().with(&nothing), |zip, _| zip.list(&nothing));
    let lying = ZipEntry { size: 10, ..bomb.clone() };
    let absurd = ZipEntry { size: u64::MAX - 1, ..good.clone() };
    let locked = ZipEntry { flags: 1, ..good.clone() };
    let wrong = ZipEntry { crc: 1, ..good.clone() };
    let after_good = |entry: &ZipEntry| Zip::default().with(&good).with(entry).finish();
    let whole = zip(&[("a.txt", &b"some text ".repeat(100))]);
    for (what, archive) in [
        ("a bomb", Zip::default().with(&bomb).finish()),
        ("entries that share bytes", shared.finish()),
        ("a million entries", million.finish()),
        ("a length that is too small", after_good(&lying)),
        ("a length that is absurd", after_good(&absurd)),
        ("a password", after_good(&locked)),
        ("a wrong checksum", after_good(&wrong)),
        ("no archive", b"some text".to_vec()),
        ("nothing", Vec::new()),
        ("half an archive", whole[..whole.len() / 2].to_vec()),
    ] {
        let answer = upload(&admin, &[file("before.txt", b"1"), file("a.zip", &archive)]).await;
        let detail = answer.refused(400, "INVALID_INPUT");
        assert!(detail.contains("ZIP archive"), "{what}: {detail}");
        files.assert_stored(0).await;
    }
    // Bombs in archives are files: nobody takes them apart here.
    let inner = Zip::default().with(&bomb).finish();
    let stored = upload(&admin, &[file("a.zip", &zip(&[("inner.zip", &inner)]))]).await.ok();
    assert_eq!(stored["file_names"], serde_json::json!(["inner.zip"]));
    files.assert_stored(1).await;
}

/// Wherever they are dropped.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_goes_away_leaves_nothing() {
    let files = Files::start().await;
    let key = files.server.key("dropping@example.com", Role::Admin).await;
    let archive = zip(&[("in/a.txt", b"text"), ("in/b.txt", b"more")]);
    let large = vec![7; 3 << 20];
    let whole = form(&[file("a.zip", &archive), file("b.bin", &large), file("c.txt", b"3")]);
    let head = format!(
        "POST {UPLOAD} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: multipart/form-data; boundary=b\r\nContent-Length: {}\r\n\r\n",
        whole.len()
    );
    let stored = &files.server.engine.backends().stored_files;
    for length in [300, 600, whole.len() / 2, whole.len() - 3] {
        let mut connection = files.server.connect().await;
        connection.write_all(head.as_bytes()).await.unwrap();
        connection.write_all(&whole[..length]).await.unwrap();
        while stored.list_unfinished(None, 1).await.unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        drop(connection);
        files.server.engine.uploads_ended().await;
        files.assert_stored(0).await;
    }
}

/// What a process that was killed has left.
#[tokio::test(flavor = "multi_thread")]
async fn the_start_removes_what_did_not_come_to_its_end() {
    let files = Files::start().await;
    let admin = files.server.caller(Role::Admin).await;
    upload(&admin, &[file("a.txt", b"kept")]).await.ok();
    let backends = files.server.engine.backends();
    let keys: Vec<FileKey> =
        ["x", "y", "z"].into_iter().map(|id| FileKey::new(id).unwrap()).collect();
    let now = files.server.stack.clock.now();
    let gone: Option<UserId> = None;
    backends.stored_files.reserve(&keys, gone, now).await.unwrap();
    let store = backends.files.as_ref().unwrap();
    for key in &keys[1..] {
        store.put(key, Bytes::from_static(b"left")).await.unwrap();
    }
    assert_eq!(fs::read_dir(files.place()).unwrap().count(), 3);
    assert_eq!(files.server.engine.sweep_files().await.unwrap(), 3);
    files.assert_stored(1).await;
    assert_eq!(files.server.engine.sweep_files().await.unwrap(), 0);
}
