//! A disk without room: writes fail with an error that says so, searches go on, and writes work
//! again once there is room.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use reqwest::StatusCode;
use serde_json::Value;

use super::size_of;
use crate::child::{Service, document, isolate, trove};

const DISK_MB: usize = 40;
/// What is left of it, besides what the service has at its start.
const ROOM_MB: usize = 6;
/// Documents that more than fill whatever is left.
const DOCUMENTS_MAX: usize = 2000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_fails_writes_and_nothing_else() {
    let temp = tempfile::tempdir().unwrap();
    let disk = SmallDisk::mount(temp.path());
    let data = temp.path().join("data");
    let service = match &disk {
        Some(_) => Service::start(&data).await,
        None => Service::start_with(with_small_files(&data), &data).await,
    };
    assert!(
        service.ingest("first", &["the first aardvark".to_owned()]).await.unwrap().is_success()
    );
    let ballast = temp.path().join("ballast");
    if disk.is_some() {
        fill(&ballast);
    }

    let refused = write_until_refused(&service, &data).await;
    assert!(refused.0.is_server_error(), "{}: {}", refused.0, refused.1);
    assert!(refused.1["detail"].is_string(), "{}", refused.1);
    let ready: Value = service.get("/health/ready").await.unwrap().json().await.unwrap();
    if disk.is_some() {
        assert_eq!(refused.0, StatusCode::INSUFFICIENT_STORAGE, "{}", service.log());
        assert_eq!(refused.1["error_code"], "INSUFFICIENT_STORAGE");
        assert_eq!(ready["data"]["storage"]["state"], "degraded", "{ready}");
    }
    assert_eq!(service.get("/health").await.unwrap().status(), StatusCode::OK);
    assert_eq!(service.search("aardvark").await.len(), 1, "searches go on");

    if disk.is_some() {
        fs::remove_file(&ballast).unwrap();
        let text = "the last buffalo".to_owned();
        let status = service.ingest("last", std::slice::from_ref(&text)).await.unwrap();
        assert!(status.is_success(), "{status}: {}", service.log());
        assert_eq!(service.search("buffalo").await.len(), 1, "writes work again");
    }
    // Whatever the disk did, the directory opens again.
    service.signal("TERM").await;
    service.ended().await;
    if disk.is_some() {
        let again = Service::start(&data).await;
        assert_eq!(again.search("aardvark").await.len(), 1);
        again.signal("TERM").await;
        again.ended().await;
    }
}

/// The first answer that is not a success.
async fn write_until_refused(service: &Service, data: &Path) -> (StatusCode, Value) {
    for number in 0..DOCUMENTS_MAX {
        // Words that do not compress well, and occur nowhere else.
        let words: Vec<String> = (0..2000)
            .map(|word| format!("w{:x}", (number * 2000 + word) * 2_654_435_761 % 4_294_967_291))
            .collect();
        let body = document(&format!("d{number}"), &[words.join(" ")]);
        let answer = service.post("/api/ingestion", &body).await.unwrap();
        let status = answer.status();
        let body: Value = answer.json().await.unwrap();
        if !status.is_success() {
            return (status, body);
        }
    }
    panic!("the disk is never full: {} bytes are in use", size_of(data));
}

/// A file system with little room, where we may mount one.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(dir: &Path) -> Option<Self> {
        let options = format!("size={DISK_MB}m");
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(dir).output();
        mounted.is_ok_and(|output| output.status.success()).then(|| Self(dir.to_owned()))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: the program may still be going away.
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

/// Elsewhere every file is kept small instead: to the program it looks the same, but that room
/// cannot be made again.
fn with_small_files(data: &Path) -> tokio::process::Command {
    let serve = trove(&["serve", "--listen", "127.0.0.1:0", "--data-dir"]);
    let mut command = tokio::process::Command::new("sh");
    isolate(&mut command);
    // Without the trap the signal about the limit would end the program.
    command.args(["-c", "trap '' XFSZ; ulimit -f 4096; exec \"$0\" \"$@\""]);
    command.arg(serve.as_std().get_program()).args(serve.as_std().get_args()).arg(data);
    command
}

/// Leaves a few megabytes.
fn fill(ballast: &Path) {
    let megabyte = vec![1_u8; 1 << 20];
    let mut file = fs::File::create(ballast).unwrap();
    for _ in 0..DISK_MB - ROOM_MB {
        if std::io::Write::write_all(&mut file, &megabyte).is_err() {
            break;
        }
    }
}
