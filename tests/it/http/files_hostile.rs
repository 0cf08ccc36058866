//! Uploads that are wrong, too large, cut off, or made to break something.

use std::fs;

use bytes::Bytes;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use trove_domain::access::Role;
use trove_domain::id::UserId;
use trove_domain::port::{Clock, FileKey};
use trove_engine::files::UploadLimits;
use trove_testkit::zips::{Zip, ZipEntry, zip};

use super::files::{
    ADMIN, Files, Part, UPLOAD, connected, file, form, removal, send, update, upload, uploaded,
};

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

/// Each file is written to the disk by itself, so that many of them take long.
#[tokio::test(flavor = "multi_thread")]
async fn a_form_has_a_bounded_number_of_parts() {
    let files = Files::start().await;
    let admin = files.server.caller(Role::Admin).await;
    let parts = |count: usize| -> Vec<Part<'_>> { vec![("other", None, None, b""); count] };
    let mut fits = parts(999);
    fits.push(file("a.txt", b"1"));
    upload(&admin, &fits).await.ok();
    fits.push(file("b.txt", b"2"));
    let detail = upload(&admin, &fits).await.refused(400, "INVALID_INPUT");
    assert!(detail.starts_with("files: a form has at most 1000 parts; "), "{detail}");
    files.assert_stored(1).await;
    let a = uploaded(&admin, "a.txt", b"one").await;
    let (connector, _) = connected(&admin, "c", json!({"file_locations": [a]})).await;
    let long = format!("[{}]", " ".repeat(1 << 20));
    let detail = update(&admin, connector, &[removal(&long)]).await;
    let detail = detail.refused(413, "PAYLOAD_TOO_LARGE");
    assert_eq!(detail, "file_ids_to_remove: more than 1048576 bytes");
    let unpaired = update(&admin, connector, &[removal(r#"["\ud800"]"#)]).await;
    unpaired.refused(400, "INVALID_INPUT");
    let about = zip(&[(".onyx_metadata.json", br#"{"a.txt": {"link": "\ud800"}}"#)]);
    let detail = upload(&admin, &[file("a.zip", &about)]).await.refused(400, "INVALID_INPUT");
    assert!(detail.starts_with("Unable to load .onyx_metadata.json: "), "{detail}");
    files.assert_stored(2).await;
}

/// What becomes of a hostile file when it is indexed.
#[derive(Clone, Copy)]
enum Fate {
    /// A document is made of it.
    Read,
    /// It is a failure that says this.
    Failed(&'static str),
    /// The rules leave it out, or there is no text in it.
    LeftOut,
    /// Any of them.
    Any,
}

/// A document of words with this body.
fn docx(body: &str) -> Vec<u8> {
    zip(&[("[Content_Types].xml", b"<Types/>"), ("word/document.xml", body.as_bytes())])
}

/// Entities that would be a thousand million words.
fn laughs(inside: &str) -> String {
    let laugh = |n: u32| format!("<!ENTITY l{n} \"{}\">", format!("&l{};", n - 1).repeat(10));
    let laughs: String = (1..10).map(laugh).collect();
    format!("<!DOCTYPE a [<!ENTITY l0 \"ha\">{laughs}]>{inside}")
}

fn deep_pdf() -> Vec<u8> {
    let deep = "[".repeat(20_000);
    format!(
        "%PDF-1.7\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R /X {deep} >>\nendobj\n2 0 obj\n\
         << /Type /Pages /Kids [2 0 R 2 0 R] /Count 1000000000 >>\nendobj\n\
         trailer << /Size 3 /Root 1 0 R >>\n%%EOF"
    )
    .into_bytes()
}

fn hostile_files() -> Vec<(&'static str, Vec<u8>, Fate)> {
    let dull = vec![0; 64 << 20];
    let bomb = ZipEntry::deflated("bomb.txt", &dull);
    let shared = (0..5000).fold(Zip::default().with(&bomb), |zip, _| zip.list(&bomb));
    let nest = |times: usize, other: &[(&str, &[u8])]| {
        (0..times).fold(zip(&[("a.txt", b"words")]), |inner, _| {
            let mut entries = vec![("r.zip", inner.as_slice())];
            entries.extend(other);
            zip(&entries)
        })
    };
    let words = ZipEntry::stored("a.txt", b"some words");
    let lying = |size| Zip::default().with(&ZipEntry { size, ..words.clone() }).finish();
    let nothing = ZipEntry::stored("a", b"");
    let million = (0..1_000_000).fold(Zip::default().with(&nothing), |zip, _| zip.list(&nothing));
    let tricks = zip(&[
        ("../../x.txt", b"words"),
        ("/etc/y.txt", b"words"),
        ("C:\\z.txt", b"words"),
        ("a\0b.txt", b"words"),
        ("good.txt", b"words"),
    ]);
    let laughing =
        "<w:document><w:body><w:p><w:r><w:t>x&l9;y</w:t></w:r></w:p></w:body></w:document>";
    let mut unpaired: Vec<u8> = "\u{feff}some words and more of them than are broken"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    unpaired.extend([0x00, 0xd8, b'!', 0]);
    vec![
        ("good.txt", b"words".to_vec(), Fate::Read),
        ("tricks.zip", tricks, Fate::Read),
        ("laughs.docx", docx(&laughs(laughing)), Fate::Read),
        ("laughs.xml", laughs("<a>x&l9;y</a>").into_bytes(), Fate::Read),
        ("unpaired.json", br#"{"a": "\ud800 words"}"#.to_vec(), Fate::Read),
        ("unpaired.txt", unpaired, Fate::Read),
        ("flat.zip", Zip::default().with(&bomb).finish(), Fate::Failed("for each compressed byte")),
        ("shared.zip", shared.finish(), Fate::Failed("for each compressed byte")),
        ("nested.zip", nest(10, &[]), Fate::Failed("4 files in one another")),
        ("quine.zip", nest(20, &[("x.txt", b"x")]), Fate::Failed("4 files in one another")),
        ("deep.docx", docx(&"<w:p>".repeat(100_000)), Fate::Failed("500 elements in one another")),
        ("deep.pdf", deep_pdf(), Fate::Any),
        ("longer.zip", lying(u64::MAX - 1), Fate::Any),
        ("shorter.zip", lying(2), Fate::Any),
        ("picture.docx", b"\x89PNG\r\n\x1a\n\0\0".to_vec(), Fate::Failed("no readable DOCX")),
        ("words.pdf", b"only words".to_vec(), Fate::Failed("no readable PDF")),
        ("half.xlsx", docx("<w:p/>")[20..].to_vec(), Fate::Failed("no readable XLSX")),
        ("nul.txt", b"a\0b".to_vec(), Fate::LeftOut),
        ("program.txt", b"\x7fELF\x02\x01\x01\0\0".to_vec(), Fate::LeftOut),
        ("words.exe", b"words".to_vec(), Fate::LeftOut),
        ("words", b"words".to_vec(), Fate::LeftOut),
        // The last one: it is the largest, and with it a step is over.
        ("million.zip", million.finish(), Fate::Failed("50000 parts")),
    ]
}

/// None of them keeps the others from being read, and each that cannot be read says why.
#[tokio::test(flavor = "multi_thread")]
async fn hostile_files_are_read_or_say_why_not() {
    let files = Files::start().await;
    let admin = files.server.caller(Role::Admin).await;
    let hostile = hostile_files();
    let parts: Vec<Part<'_>> =
        hostile.iter().map(|(name, content, _)| file(name, content)).collect();
    let stored = send(&admin, &format!("{UPLOAD}?unzip=false"), form(&parts)).await.ok();
    let config = json!({"file_locations": stored["file_paths"]});
    let (connector, pair) = connected(&admin, "hostile", config).await;
    let path = format!("/api/manage/admin/cc-pair/{pair}");
    let shown = async || admin.get(&path).await.ok();
    // More than a tenth of them fails.
    files.index(async || shown().await["last_index_attempt_status"] == "failed").await;
    let errors = admin.get(&format!("{path}/errors?page_size=100")).await.ok();
    let errors: Vec<&Value> = errors["items"].as_array().unwrap().iter().collect();
    let listed = files.server.engine.backends().documents.list_by_pair(pair, None, 100).await;
    let listed: Vec<String> =
        listed.unwrap().items.into_iter().map(|document| document.id.into_string()).collect();
    for (n, (name, _, fate)) in hostile.iter().enumerate() {
        let id = format!("FILE_CONNECTOR__{}", stored["file_paths"][n].as_str().unwrap());
        let told = errors.iter().find(|error| error["document_id"] == id.as_str());
        let told = told.map(|error| error["failure_message"].as_str().unwrap());
        let is_read = listed.contains(&id);
        match *fate {
            Fate::Read => assert_eq!((is_read, told), (true, None), "{name}"),
            Fate::Failed(reason) => {
                let told = told.unwrap_or_else(|| panic!("{name} is no failure"));
                assert!(told.starts_with(name) && told.contains(reason), "{name}: {told}");
                assert!(told.len() < 1000 && !is_read, "{name}: {told}");
            }
            Fate::LeftOut => assert_eq!((is_read, told), (false, None), "{name}"),
            Fate::Any => assert!(!(is_read && told.is_some()), "{name}: {told:?}"),
        }
    }
    admin.get(&format!("{ADMIN}/{connector}/files")).await.ok();
}
