//! The command line: bad input gets a sentence and an exit code.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use reqwest::StatusCode;
use serde_json::Value;

use crate::child::{Service, refused, run, trove};

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

#[tokio::test]
async fn a_port_in_use_is_a_sentence() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let temp = tempfile::tempdir().unwrap();
    let mut command = trove(&["serve", "--listen", &address, "--data-dir"]);
    command.arg(temp.path());
    let error = refused(command, 1).await;
    assert!(error.contains(&format!("cannot listen on {address}")), "{error}");
    assert!(error.contains("--listen"), "{error}");
    assert!(!temp.path().join("trove.db").exists(), "nothing was made");
}

#[tokio::test]
async fn a_data_directory_that_cannot_be_made_is_a_sentence() {
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("file");
    fs::write(&file, "").unwrap();
    let mut command = trove(&["serve", "--data-dir"]);
    command.arg(file.join("below"));
    let error = refused(command, 1).await;
    assert!(error.contains("the data directory") && error.contains("cannot be created"), "{error}");
}

#[tokio::test]
async fn a_second_process_is_told_who_holds_the_data_directory() {
    let temp = tempfile::tempdir().unwrap();
    let service = Service::start(temp.path()).await;
    for command in
        [&["serve", "--listen", "127.0.0.1:0", "--data-dir"][..], &["index", ".", "--data-dir"]]
    {
        let mut command = trove(command);
        command.arg(temp.path());
        let error = refused(command, 1).await;
        assert!(error.contains(&format!("process {}", service.pid())), "{error}");
        assert!(error.contains("which listens on 127.0.0.1:"), "{error}");
        assert!(error.contains("ingestion API"), "{error}");
    }
    assert_eq!(service.get("/health/ready").await.unwrap().status(), StatusCode::OK);
}

#[tokio::test]
async fn a_corrupt_database_is_a_sentence() {
    let temp = tempfile::tempdir().unwrap();
    fs::write(temp.path().join("trove.db"), "this is no database, and long enough").unwrap();
    let mut command = trove(&["serve", "--listen", "127.0.0.1:0", "--data-dir"]);
    command.arg(temp.path());
    let error = refused(command, 1).await;
    assert!(error.contains("database"), "{error}");
    assert!(error.contains("trove.db"), "{error}");
}

#[tokio::test]
async fn a_corrupt_model_is_a_sentence_that_names_file_and_remedy() {
    let temp = tempfile::tempdir().unwrap();
    let model = temp.path().join("model");
    fs::create_dir(&model).unwrap();
    for file in ["model.safetensors", "tokenizer.json"] {
        fs::write(model.join(file), "nonsense").unwrap();
    }
    for arguments in [&["serve", "--listen", "127.0.0.1:0"][..], &["model", "verify"]] {
        let mut command = trove(arguments);
        command.env("TROVE_MODEL_DIR", &model).env("TROVE__EMBEDDING__ENABLED", "true");
        command.env("TROVE_DATA_DIR", temp.path().join("data"));
        let error = refused(command, 1).await;
        assert!(error.contains(&model.display().to_string()), "{error}");
        assert!(error.contains("trove model pull"), "{error}");
    }
}

#[tokio::test]
async fn the_first_start_makes_an_administrator_and_the_second_none() {
    let temp = tempfile::tempdir().unwrap();
    let data = temp.path().join("data");
    let mut service = Service::start(&data).await;
    assert_eq!(service.printed.len(), 1, "{:?}", service.printed);
    // Nobody reads along, but a collector may.
    assert!(!service.printed[0].contains(&service.key), "{:?}", service.printed);
    let file = data.join("admin-key").display().to_string();
    assert!(service.printed[0].contains(&file), "{:?}", service.printed);
    assert!(!service.log().contains(&service.key), "no key is logged");
    assert_eq!(mode(&data), 0o700);
    assert_eq!(mode(&data.join("admin-key")), 0o600);
    let me: Value = service.get("/api/me").await.unwrap().json().await.unwrap();
    assert_eq!(me["role"], "admin");
    service.kill().await;

    let again = Service::start(&data).await;
    assert!(again.printed.is_empty(), "{:?}", again.printed);
    assert_eq!(again.key, service.key);
    assert!(!again.log().contains(&again.key), "no key is logged");
}

/// For scripts that show it to a person, as `make run` does.
#[tokio::test]
async fn the_first_key_is_printed_once_where_it_is_asked_for() {
    let temp = tempfile::tempdir().unwrap();
    let start = || {
        let arguments = ["serve", "--print-admin-key", "--listen", "127.0.0.1:0", "--data-dir"];
        let mut command = trove(&arguments);
        command.arg(temp.path());
        Service::start_with(command, temp.path())
    };
    let mut service = start().await;
    assert!(service.printed[0].contains(&service.key), "{:?}", service.printed);
    service.kill().await;
    assert!(start().await.printed.is_empty());
}

#[tokio::test]
async fn a_key_file_that_cannot_be_written_leaves_nothing_half_done() {
    let temp = tempfile::tempdir().unwrap();
    // A directory in the way of the temporary file.
    fs::create_dir_all(temp.path().join("admin-key.new/in-the-way")).unwrap();
    let start = || {
        let mut command = trove(&["serve", "--listen", "127.0.0.1:0", "--data-dir"]);
        command.arg(temp.path());
        command
    };
    let error = refused(start(), 1).await;
    assert!(error.contains("admin-key"), "{error}");
    fs::remove_dir_all(temp.path().join("admin-key.new")).unwrap();
    let service = Service::start(temp.path()).await;
    assert_eq!(service.get("/api/me").await.unwrap().status(), StatusCode::OK);
}

#[tokio::test]
async fn without_a_model_the_service_says_so_once_and_is_ready() {
    let temp = tempfile::tempdir().unwrap();
    let mut command = trove(&["serve", "--listen", "127.0.0.1:0", "--data-dir"]);
    command.arg(temp.path()).env("TROVE__EMBEDDING__ENABLED", "true");
    let service = Service::start_with(command, temp.path()).await;
    let ready: Value = service.get("/health/ready").await.unwrap().json().await.unwrap();
    assert_eq!(ready["success"], true);
    assert_eq!(ready["data"]["embedding_model"]["state"], "degraded");
    assert!(ready["data"]["embedding_model"]["reason"].as_str().unwrap().contains("words alone"));
    service.signal("TERM").await;
    let (_, log) = service.ended().await;
    assert_eq!(log.matches("no embedding model").count(), 1, "{log}");
    assert!(log.contains("trove model pull"), "{log}");
}

#[tokio::test]
async fn search_and_ingestion_can_be_turned_off() {
    let temp = tempfile::tempdir().unwrap();
    let mut command = trove(&["serve", "--listen", "127.0.0.1:0", "--data-dir"]);
    command.arg(temp.path()).env("DISABLE_VECTOR_DB", "1");
    let service = Service::start_with(command, temp.path()).await;
    let answer = service.post("/api/search", &serde_json::json!({ "query": "x" })).await.unwrap();
    assert_eq!(answer.status(), StatusCode::NOT_IMPLEMENTED);
    assert_eq!(service.get("/health/ready").await.unwrap().status(), StatusCode::OK);
    let mut command = trove(&["index", "."]);
    command.env("DISABLE_VECTOR_DB", "true").env("TROVE_DATA_DIR", temp.path());
    let error = refused(command, 2).await;
    assert!(error.contains("turned off"), "{error}");
}

#[tokio::test]
async fn versions_help_and_the_document_are_printed() {
    let version = run(trove(&["--version"])).await;
    assert_eq!(version.status.code(), Some(0));
    assert!(text(version.stdout).starts_with("trove "));
    let help = text(run(trove(&["--help"])).await.stdout);
    assert!(help.contains("Exit codes"), "{help}");
    let document: Value = serde_json::from_slice(&run(trove(&["openapi"])).await.stdout).unwrap();
    assert!(document["paths"].as_object().is_some_and(|paths| !paths.is_empty()));
    let error = refused(trove(&["sevre"]), 2).await;
    assert!(error.contains("serve"), "{error}");
}

fn mode(path: &std::path::Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}
