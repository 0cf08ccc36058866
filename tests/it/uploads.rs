//! What the program leaves of uploads when it is killed.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::child::Service;

const UPLOAD: &str = "/api/manage/admin/connector/file/upload";

fn part(name: &str, content: &str) -> String {
    format!(
        "--b\r\nContent-Disposition: form-data; name=\"files\"; filename=\"{name}\"\r\n\r\n\
         {content}\r\n"
    )
}

fn contents(data_dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(data_dir.join("files")).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Whoever runs the service sees what is missing from the index, and why.
#[tokio::test]
async fn what_a_run_leaves_out_is_in_the_log() {
    let temp = tempfile::tempdir().unwrap();
    let service = Service::start(temp.path()).await;
    let sent = service.client.post(format!("{}{UPLOAD}", service.address));
    let sent = sent.bearer_auth(&service.key);
    let sent = sent.header("content-type", "multipart/form-data; boundary=b");
    let body = part("a.txt", "words") + &part("b.exe", "MZ") + &part("c.txt", "\0") + "--b--\r\n";
    let stored: Value = sent.body(body).send().await.unwrap().json().await.unwrap();
    let connector = json!({"name": "files", "source": "file", "input_type": "load_state",
        "connector_specific_config": {"file_locations": stored["file_paths"]},
        "access_type": "public"});
    let path = "/api/manage/admin/connector-with-mock-credential";
    let made: Value = service.post(path, &connector).await.unwrap().json().await.unwrap();
    let path = format!("/api/manage/admin/cc-pair/{}", made["data"]);
    loop {
        let shown: Value = service.get(&path).await.unwrap().json().await.unwrap();
        if shown["last_index_attempt_status"] == "success" {
            break;
        }
    }
    let log = service.log();
    let said = |file: usize, reason: &str| {
        let id = format!("FILE_CONNECTOR__{}", stored["file_paths"][file].as_str().unwrap());
        let line = log.lines().find(|line| line.contains(&id)).unwrap_or_else(|| panic!("{log}"));
        assert!(line.contains("left out of a run of indexing"), "{line}");
        assert!(line.contains("INFO") && line.contains(reason), "{line}");
    };
    said(1, "b.exe: files of type `exe` are not read");
    said(2, "c.txt: the file holds binary data, not text");
    assert!(
        !log.contains(&format!("FILE_CONNECTOR__{}", stored["file_paths"][0].as_str().unwrap()))
    );
}

#[tokio::test]
async fn an_upload_that_is_killed_leaves_nothing_after_the_next_start() {
    let temp = tempfile::tempdir().unwrap();
    let mut service = Service::start(temp.path()).await;
    let url = format!("{}{UPLOAD}", service.address);
    let sent = service.client.post(url).bearer_auth(&service.key);
    let sent = sent.header("content-type", "multipart/form-data; boundary=b");
    let answer = sent.body(part("kept.txt", "kept") + "--b--\r\n").send().await.unwrap();
    let answer: Value = answer.json().await.unwrap();
    let kept = answer["file_paths"][0].as_str().unwrap().to_owned();
    assert_eq!(contents(temp.path()), [kept.as_str()]);

    let address = service.address.strip_prefix("http://").unwrap();
    let mut connection = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST {UPLOAD} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n\
         Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 50000000\r\n\r\n",
        service.key
    );
    // One file is whole, and the other one has begun.
    let begun = head + &part("whole.txt", "whole") + &part("begun.txt", &"text ".repeat(200_000));
    connection.write_all(begun.as_bytes()).await.unwrap();
    while contents(temp.path()).len() < 2 {
        tokio::task::yield_now().await;
    }
    service.kill().await;
    assert!(contents(temp.path()).len() >= 2);
    let _service = Service::start(temp.path()).await;
    assert_eq!(contents(temp.path()), [kept]);
}
