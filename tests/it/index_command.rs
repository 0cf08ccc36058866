//! `trove index`

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::child::{Service, refused, run, trove};

struct Case {
    temp: tempfile::TempDir,
}

impl Case {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir_all(temp.path().join("docs/sub")).unwrap();
        Self { temp }
    }

    fn docs(&self) -> std::path::PathBuf {
        self.temp.path().join("docs")
    }

    fn data(&self) -> std::path::PathBuf {
        self.temp.path().join("data")
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.docs().join(name), content).unwrap();
    }

    fn command(&self, paths: &[&Path]) -> tokio::process::Command {
        let mut command = trove(&["index", "--json", "--data-dir"]);
        command.arg(self.data()).args(paths);
        command
    }

    /// Indexes the folder; the exit code and the report.
    async fn index(&self) -> (i32, Value) {
        let output = run(self.command(&[&self.docs()])).await;
        let report: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
        (output.status.code().unwrap(), report["targets"][0].clone())
    }

    async fn serve(&self) -> Service {
        Service::start(&self.data()).await
    }
}

/// `indexed updated unchanged empty failed skipped removed`
fn counts(report: &Value) -> String {
    let number = |name: &str| report[name].as_u64().unwrap().to_string();
    let length = |name: &str| report[name].as_array().unwrap().len().to_string();
    [
        number("indexed"),
        number("updated"),
        number("unchanged"),
        number("empty"),
        length("failed"),
        length("skipped"),
        number("removed"),
    ]
    .join(" ")
}

#[tokio::test]
async fn a_folder_is_indexed_kept_up_to_date_and_found() {
    let case = Case::new();
    case.write("a.txt", "the heron stands in the water");
    case.write("sub/b.md", "# Storks\n\nA stork clatters on the roof.");
    case.write("c.html", "<html><title>Cranes</title><body><p>A crane dances.</p></body></html>");
    case.write("empty.txt", "");
    case.write("picture.png", [0x89, 0x50, 0x4e, 0x47]);
    let (code, report) = case.index().await;
    // An empty file still has a name to be found by.
    assert_eq!((code, counts(&report).as_str()), (0, "4 0 0 0 0 1 0"), "{report}");

    let (code, report) = case.index().await;
    assert_eq!((code, counts(&report).as_str()), (0, "0 0 4 0 0 1 0"), "{report}");

    case.write("a.txt", "the heron has flown away");
    fs::remove_file(case.docs().join("c.html")).unwrap();
    let (code, report) = case.index().await;
    assert_eq!((code, counts(&report).as_str()), (0, "0 1 2 0 0 1 1"), "{report}");

    let service = case.serve().await;
    let found = service.search("stork").await;
    assert_eq!(found[0]["title"], "Storks");
    assert_eq!(found[0]["source_type"], "file");
    let link = found[0]["link"].as_str().unwrap();
    assert!(link.starts_with("file:///") && link.ends_with("/docs/sub/b.md"), "{link}");
    assert!(service.search("crane").await.is_empty());
    assert!(service.search("heron").await[0]["content"].as_str().unwrap().contains("flown"));
}

#[tokio::test]
async fn what_fails_is_listed_and_the_rest_goes_on() {
    let case = Case::new();
    case.write("good.txt", "fine");
    case.write("binary.txt", [0_u8, 159, 146, 150, 0, 1, 2, 3]);
    let mut command = case.command(&[&case.docs()]);
    command.env("TROVE__INGESTION__FILE_BYTES_MAX", "1024");
    case.write("large.txt", "word ".repeat(1000));
    let output = run(command).await;
    assert_eq!(output.status.code(), Some(3));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let report = &report["targets"][0];
    assert_eq!(counts(report), "1 0 0 0 2 0 0");
    let failed = report["failed"].to_string();
    assert!(failed.contains("binary.txt") && failed.contains("binary data"), "{failed}");
    assert!(failed.contains("large.txt") && failed.contains("more than 1024 bytes"), "{failed}");
    assert_eq!(report["complete"], false);
}

/// A folder that cannot be read says nothing about what is in it.
#[tokio::test]
async fn an_unreadable_folder_removes_nothing() {
    let case = Case::new();
    case.write("a.txt", "top");
    case.write("sub/b.txt", "below");
    assert_eq!(case.index().await.0, 0);

    let sub = case.docs().join("sub");
    fs::set_permissions(&sub, fs::Permissions::from_mode(0o000)).unwrap();
    let privileged = fs::read_dir(&sub).is_ok();
    if privileged {
        // Nothing is unreadable to root; a path through a file is unreadable to everybody.
        fs::set_permissions(&sub, fs::Permissions::from_mode(0o755)).unwrap();
    } else {
        let (code, report) = case.index().await;
        fs::set_permissions(&sub, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!((code, counts(&report).as_str()), (3, "0 0 1 0 0 0 0"), "{report}");
        assert_eq!(report["unreadable_folders"].as_array().unwrap().len(), 1);
    }

    let missing = case.docs().join("missing");
    let error = refused(case.command(&[&case.docs(), &missing]), 2).await;
    assert!(error.contains("missing") && error.contains("cannot be indexed"), "{error}");
    let (code, report) = case.index().await;
    assert_eq!((code, counts(&report).as_str()), (0, "0 0 2 0 0 0 0"), "{report}");
}

#[tokio::test]
async fn a_name_is_printable_or_none() {
    let case = Case::new();
    case.write("good.txt", "fine");
    for name in ["", " ", "a\nb", "\u{1b}[1m"] {
        let mut command = case.command(&[&case.docs()]);
        command.args(["--name", name]);
        refused(command, 2).await;
    }
    assert!(!case.data().exists(), "nothing was made");
}

/// Whatever is named and cannot become a document: nothing is opened, made or waited for.
#[tokio::test]
async fn what_is_named_must_be_a_folder_or_a_file_of_a_known_type() {
    let case = Case::new();
    case.write("good.txt", "fine");
    case.write("picture.png", "");
    case.write("LICENSE", "");
    let _socket = std::os::unix::net::UnixListener::bind(case.docs().join("socket.txt")).unwrap();
    let fifo = case.docs().join("fifo.txt");
    let made = tokio::process::Command::new("mkfifo").arg(&fifo).status().await.unwrap();
    assert!(made.success());
    let paths = ["good.txt", "picture.png", "LICENSE", "socket.txt", "fifo.txt"];
    let paths = paths.map(|name| case.docs().join(name));
    let mut paths: Vec<&Path> = paths.iter().map(std::path::PathBuf::as_path).collect();
    paths.push(Path::new("/dev/null"));
    let error = refused(case.command(&paths), 2).await;
    for reason in [
        "picture.png cannot be indexed: files of type .png are not indexed",
        "LICENSE cannot be indexed: files without an extension",
        "socket.txt cannot be indexed: it is a socket",
        "fifo.txt cannot be indexed: it is a FIFO",
        "/dev/null cannot be indexed: it is a device",
    ] {
        assert!(error.contains(reason), "{error}");
    }
    assert!(!error.contains("good.txt"), "{error}");
    assert!(!case.data().exists(), "nothing was made");

    // In a folder they are passed by.
    let (code, report) = case.index().await;
    assert_eq!((code, counts(&report).as_str()), (0, "1 0 0 0 0 4 0"), "{report}");
}

#[tokio::test]
async fn the_data_directory_is_never_indexed() {
    let case = Case::new();
    case.write("a.txt", "alpha");
    let data = case.docs().join("data");
    let index = |path: &Path| {
        let mut command = trove(&["index", "--json", "--no-ignore", "--data-dir"]);
        command.arg(&data).arg(path);
        command
    };
    for _ in 0..2 {
        let output = run(index(&case.docs())).await;
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["targets"][0]["files"], 1, "{report}");
    }
    std::os::unix::fs::symlink(&data, case.temp.path().join("link")).unwrap();
    for path in [data.clone(), data.join("index"), case.temp.path().join("link")] {
        let error = refused(index(&path), 2).await;
        assert!(error.contains("Trove's own data directory"), "{error}");
    }
}

/// As a disk that is not mounted looks.
#[tokio::test]
async fn a_root_of_which_nothing_is_left_keeps_its_documents_unless_told_otherwise() {
    let case = Case::new();
    case.write("a.txt", "alpha");
    case.write("sub/b.txt", "beta");
    assert_eq!(case.index().await.0, 0);
    fs::remove_file(case.docs().join("a.txt")).unwrap();
    fs::remove_dir_all(case.docs().join("sub")).unwrap();

    let other = case.temp.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("c.txt"), "gamma").unwrap();
    let output = run(case.command(&[&case.docs(), &other])).await;
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("docs (2)") && error.contains("--allow-empty"), "{error}");
    assert!(!error.contains("other"), "{error}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["complete"], false);
    assert_eq!(counts(&report["targets"][0]), "0 0 0 0 0 0 0");
    assert_eq!(report["targets"][0]["kept_though_gone"], 2);
    assert_eq!(counts(&report["targets"][1]), "1 0 0 0 0 0 0", "the rest goes on");

    let mut command = case.command(&[&case.docs()]);
    command.arg("--allow-empty");
    let output = run(command).await;
    assert_eq!(output.status.code(), Some(0));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(counts(&report["targets"][0]), "0 0 0 0 0 0 2");
    assert_eq!(case.index().await.0, 0, "there is nothing more to keep");
}

#[tokio::test]
async fn a_root_that_is_gone_is_listed_and_removed() {
    let case = Case::new();
    case.write("a.txt", "alpha");
    let other = case.temp.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("b.txt"), "beta").unwrap();
    assert_eq!(run(case.command(&[&case.docs(), &other])).await.status.code(), Some(0));
    let listed = || async {
        let mut command = trove(&["index", "--list", "--json", "--data-dir"]);
        command.arg(case.data());
        let listed: Value = serde_json::from_slice(&run(command).await.stdout).unwrap();
        let entry = |entry: &Value| {
            let name = Path::new(entry["name"].as_str().unwrap()).file_name().unwrap();
            (name.to_string_lossy().into_owned(), entry["documents"].as_u64().unwrap())
        };
        listed.as_array().unwrap().iter().map(entry).collect::<Vec<_>>()
    };
    assert_eq!(listed().await, [("docs".to_owned(), 1), ("other".to_owned(), 1)]);

    let renamed = case.temp.path().join("renamed");
    fs::rename(case.docs(), &renamed).unwrap();
    let error = refused(case.command(&[&case.docs()]), 2).await;
    assert!(error.contains("trove index --remove"), "{error}");
    let remove = |path: &Path| {
        let mut command = case.command(&[path]);
        command.arg("--remove");
        command
    };
    let error = refused(remove(&renamed), 2).await;
    assert!(error.contains("renamed was not indexed"), "{error}");
    assert!(error.contains("/docs, ") && error.contains("/other"), "{error}");

    let output = run(remove(&case.docs())).await;
    assert_eq!(output.status.code(), Some(0));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["removed"][0]["documents"], 1, "{report}");
    assert_eq!(report["removed"][0]["pair_removed"], true, "{report}");
    assert_eq!(listed().await, [("other".to_owned(), 1)]);
    let service = case.serve().await;
    assert!(service.search("alpha").await.is_empty());
    assert_eq!(service.search("beta").await.len(), 1);
    assert_eq!(listed().await, [("other".to_owned(), 1)], "also while the service runs");
}

#[tokio::test]
async fn a_named_pair_is_removed_by_its_name_or_in_part() {
    let case = Case::new();
    case.write("a.txt", "alpha");
    case.write("sub/b.txt", "beta");
    let named = |paths: &[&Path], flags: &[&str]| {
        let mut command = case.command(paths);
        command.args(["--name", "manuals"]).args(flags);
        run(command)
    };
    assert_eq!(named(&[&case.docs()], &[]).await.status.code(), Some(0));
    let removed = |output: std::process::Output| {
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let entry = &report["removed"][0];
        (entry["documents"].as_u64().unwrap(), entry["pair_removed"].as_bool().unwrap())
    };
    let sub = case.docs().join("sub");
    assert_eq!(removed(named(&[&sub], &["--remove"]).await), (1, false));
    assert_eq!(removed(named(&[], &["--remove"]).await), (1, true));
    let output = named(&[], &["--remove"]).await;
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("manuals was not indexed, nor was any other path"), "{error}");
    assert_eq!(run(case.command(&[])).await.status.code(), Some(2), "a PATH is needed");
}

/// One name for several folders: each is compared with its own files only.
#[tokio::test]
async fn a_named_pair_holds_several_folders() {
    let case = Case::new();
    case.write("a.txt", "alpha");
    case.write("sub/b.txt", "beta");
    let only = |path: &Path| {
        let mut command = case.command(&[path]);
        command.args(["--name", "manuals"]);
        run(command)
    };
    let (file, folder) = (case.docs().join("a.txt"), case.docs().join("sub"));
    assert_eq!(only(&file).await.status.code(), Some(0));
    assert_eq!(only(&folder).await.status.code(), Some(0));
    let service = case.serve().await;
    assert_eq!(service.search("alpha").await.len(), 1, "the other folder removed nothing");
    assert_eq!(service.search("beta").await.len(), 1);
}

#[tokio::test]
async fn an_interrupt_ends_after_the_current_batch_and_removes_nothing() {
    let case = Case::new();
    for number in 0..300 {
        case.write(
            &format!("{number}.txt"),
            format!("file number {number} {}", "word ".repeat(300)),
        );
    }
    let mut command = case.command(&[&case.docs()]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let pid = child.id().unwrap().to_string();
    // The lock names the process as soon as signals are listened for.
    let lock = case.data().join("lock");
    while !fs::read_to_string(&lock).is_ok_and(|text| text.contains(&pid)) {
        tokio::task::yield_now().await;
    }
    let sent = tokio::process::Command::new("kill").args(["-s", "INT", &pid]).status().await;
    assert!(sent.unwrap().success());
    let output = child.wait_with_output().await.unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{error}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["interrupted"], &report["complete"]), (&true.into(), &false.into()));
    // The signal came before the folder's turn, or while it was worked on.
    match &report["targets"][0] {
        Value::Null => assert_eq!(report["targets_not_reached"].as_array().unwrap().len(), 1),
        target => {
            assert_eq!(
                (&target["interrupted"], &target["complete"]),
                (&true.into(), &false.into())
            );
            let number = |name: &str| target[name].as_u64().unwrap();
            assert_eq!(number("indexed") + number("not_reached"), number("files"), "{target}");
            assert_eq!(target["skipped"].as_array().unwrap().len(), 0);
        }
    }

    let (code, report) = case.index().await;
    assert_eq!(code, 0);
    assert_eq!(report["files"], 300);
    assert_eq!(report["removed"], 0);
}
