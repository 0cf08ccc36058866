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
async fn an_unknown_setting_is_refused_with_a_suggestion() {
    let temp = tempfile::tempdir().unwrap();
    fs::write(temp.path().join("trove.toml"), "[http]\nprefxi = \"/\"\n").unwrap();
    let mut command = trove(&["check-config", "--data-dir"]);
    command.arg(temp.path());
    let error = refused(command, 2).await;
    assert!(error.contains("`http.prefxi` is not a setting"), "{error}");
    assert!(error.contains("trove.toml"), "{error}");
    assert!(error.contains("did you mean `http.prefix`?"), "{error}");
}

#[tokio::test]
async fn a_wrong_value_is_named_with_its_origin_and_what_is_accepted() {
    let mut command = trove(&["serve"]);
    command.env("HYBRID_ALPHA", "1.5").env("TROVE__HTTP__WORKERS", "many");
    let error = refused(command, 2).await;
    let named = error.contains("environment variable HYBRID_ALPHA")
        || error.contains("environment variable TROVE__HTTP__WORKERS");
    assert!(named && error.contains("expected a"), "{error}");

    let error = refused(trove(&["serve", "--listen", "8080"]), 2).await;
    assert!(error.contains("`listen` is \"8080\" (flag --listen)"), "{error}");
    assert!(error.contains("127.0.0.1:8080"), "{error}");
}

#[tokio::test]
async fn check_config_prints_what_is_in_force_without_secrets() {
    let mut command = trove(&["check-config", "--listen", "[::1]:9"]);
    command.env("TROVE__DATABASE__URL", "postgres://trove:hunter2@db/trove");
    let output = run(command).await;
    assert_eq!(output.status.code(), Some(0));
    let shown = text(output.stdout);
    assert!(shown.contains("listen = \"[::1]:9\"  # flag --listen"), "{shown}");
    assert!(shown.contains("postgres://trove:********@db/trove"), "{shown}");
    assert!(!shown.contains("hunter2"), "{shown}");
    let table: toml::Table = shown.parse().expect("it is a configuration file again");
    assert_eq!(table["http"]["prefix"].as_str(), Some("/api"));
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
    assert!(service.printed[0].contains(&service.key), "the key is shown once");
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
async fn keys_are_made_listed_and_revoked_while_the_service_runs() {
    let temp = tempfile::tempdir().unwrap();
    let service = Service::start(temp.path()).await;
    let key = |arguments: &[&str]| {
        let mut command = trove(&["key"]);
        command.args(arguments).arg("--data-dir").arg(temp.path());
        run(command)
    };
    let made: Value =
        serde_json::from_slice(&key(&["create", "--name", "robot", "--json"]).await.stdout)
            .unwrap();
    let token = made["key"].as_str().unwrap();
    let me = || service.client.get(format!("{}/api/me", service.address)).bearer_auth(token).send();
    assert_eq!(me().await.unwrap().status(), StatusCode::OK);

    let listed = text(key(&["list"]).await.stdout);
    assert!(listed.contains("robot") && listed.contains("works"), "{listed}");
    assert!(!listed.contains(token), "a key is shown once");

    let id = made["id"].to_string();
    assert_eq!(key(&["revoke", &id]).await.status.code(), Some(0));
    assert_eq!(me().await.unwrap().status(), StatusCode::UNAUTHORIZED, "from the next request on");
    let listed: Value = serde_json::from_slice(&key(&["list", "--json"]).await.stdout).unwrap();
    let robot = listed.as_array().unwrap().iter().find(|key| key["name"] == "robot").unwrap();
    assert!(robot["revoked_at"].is_string());
}

#[tokio::test]
async fn keys_need_a_database_a_user_and_a_known_number() {
    let temp = tempfile::tempdir().unwrap();
    let key = |arguments: &[&str]| {
        let mut command = trove(&["key"]);
        command.args(arguments).arg("--data-dir").arg(temp.path());
        command
    };
    let error = refused(key(&["list"]), 1).await;
    assert!(error.contains("there is no database"), "{error}");
    assert!(fs::read_dir(temp.path()).unwrap().next().is_none(), "and none was made");
    Service::start(temp.path()).await.kill().await;
    let error = refused(key(&["create", "--user", "nobody@example.com"]), 1).await;
    assert!(error.contains("nobody@example.com"), "{error}");
    let error = refused(key(&["revoke", "4711"]), 1).await;
    assert!(error.contains("there is no key 4711"), "{error}");
}

#[tokio::test]
async fn without_a_model_the_service_says_so_once_and_is_ready() {
    let temp = tempfile::tempdir().unwrap();
    let mut command = trove(&["serve", "--listen", "127.0.0.1:0", "--data-dir"]);
    command.arg(temp.path()).env("TROVE__EMBEDDING__ENABLED", "true");
    let service = Service::start_with(command, temp.path()).await;
    let log = service.log();
    assert_eq!(log.matches("no embedding model").count(), 1, "{log}");
    assert!(log.contains("trove model pull"), "{log}");
    let ready: Value = service.get("/health/ready").await.unwrap().json().await.unwrap();
    assert_eq!(ready["success"], true);
    assert_eq!(ready["data"]["embedding_model"]["state"], "degraded");
    assert!(ready["data"]["embedding_model"]["reason"].as_str().unwrap().contains("words alone"));
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

/// A broken file may hold a password, so its lines are not shown.
#[tokio::test]
async fn a_broken_configuration_file_names_the_line_and_shows_none() {
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("trove.toml");
    std::fs::write(&file, "[database]\nurl = postgres://u:secretpw@h/n\n").unwrap();
    let mut command = trove(&["check-config", "--config"]);
    command.arg(&file);
    let error = refused(command, 2).await;
    assert!(error.contains("line 2") && error.contains("trove.toml"), "{error}");
    assert!(!error.contains("secretpw"), "{error}");
}
