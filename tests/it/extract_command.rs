//! `trove extract`, and `trove index` on documents

use std::fs;

use serde_json::Value;

use crate::child::{Service, refused, run, trove};

const LETTER: &str = "{\\rtf1\\ansi\\ansicpg1252{\\info{\\title A letter}{\\author Writer}}\
    Gr\\'fc\\'dfe from the marsh\\par second}";

#[tokio::test]
async fn what_would_be_indexed_is_printed() {
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("letter.txt");
    fs::write(&file, LETTER).unwrap();
    let mut command = trove(&["extract"]);
    command.arg(&file);
    let output = run(command).await;
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "title: A letter\nauthors: Writer\n\n--- section 1\nGrüße from the marsh\n\nsecond\n"
    );

    let mut command = trove(&["extract", "--json"]);
    command.arg(&file);
    let printed: Value = serde_json::from_slice(&run(command).await.stdout).unwrap();
    assert_eq!(printed["title"], "A letter");
    assert_eq!(printed["sections"][0]["text"], "Grüße from the marsh\n\nsecond");
    assert_eq!(printed["warnings"], serde_json::json!([]));
}

#[tokio::test]
async fn what_cannot_be_indexed_says_why_and_what_to_do() {
    let temp = tempfile::tempdir().unwrap();
    for (name, content, reason) in [
        ("a.pdf", b"%PDF-1.7 nonsense".as_slice(), "no readable PDF"),
        ("a.zip", b"PK\x03\x04 nonsense", "no readable ZIP archive"),
        ("a.png", b"\x89PNG", "`png` are not supported"),
        ("a.txt", b"\0\0\0", "binary data"),
    ] {
        let file = temp.path().join(name);
        fs::write(&file, content).unwrap();
        let mut command = trove(&["extract"]);
        command.arg(&file);
        let error = refused(command, 1).await;
        assert!(error.contains(name) && error.contains(reason), "{error}");
        assert!(error.contains("save it"), "{error}");
    }
    let mut command = trove(&["extract"]);
    command.arg(temp.path().join("missing.pdf"));
    assert!(refused(command, 1).await.contains("cannot be read"));
}

#[tokio::test]
async fn a_worker_has_only_so_much_memory() {
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("a.rtf");
    fs::write(&file, format!("{{\\rtf1 {}}}", "word ".repeat(20_000_000))).unwrap();
    let mut command = trove(&["extract"]);
    command.arg(&file).env("TROVE__INGESTION__EXTRACTION_MEMORY_MAX", "67108864");
    let error = refused(command, 1).await;
    assert!(error.contains("bytes of memory"), "{error}");
}

#[tokio::test]
async fn documents_are_indexed_and_found_and_broken_ones_listed() {
    let temp = tempfile::tempdir().unwrap();
    let (docs, data) = (temp.path().join("docs"), temp.path().join("data"));
    fs::create_dir(&docs).unwrap();
    fs::write(docs.join("letter.rtf"), LETTER).unwrap();
    fs::write(docs.join("table.csv"), "bird,place\nheron,pond\n").unwrap();
    fs::write(docs.join("broken.pdf"), "%PDF-1.7 nonsense").unwrap();
    let mut command = trove(&["index", "--json", "--data-dir"]);
    command.arg(&data).arg(&docs);
    let output = run(command).await;
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let report = &report["targets"][0];
    assert_eq!(report["indexed"], 2);
    let failed = report["failed"].to_string();
    assert!(failed.contains("broken.pdf") && failed.contains("save it again"), "{failed}");

    let service = Service::start(&data).await;
    let found = service.search("marsh").await;
    assert_eq!(found[0]["title"], "A letter");
    assert!(service.search("heron").await[0]["content"].as_str().unwrap().contains("heron | pond"));
}
