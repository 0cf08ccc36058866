//! Models behind interfaces, from the configuration to the request.

use std::fs;
use std::path::{Path, PathBuf};

use reqwest::StatusCode;
use serde_json::{Value, json};
use tokio::process::Command;
use trove_testkit::model_server::{ModelServer, Reply, simulate};

use crate::child::{Service, refused, run, trove};

/// Must never be seen.
const CANARY: &str = "sk-canary-0123456789";

fn assert_no_canary(text: &str) {
    assert!(!text.contains("canary"), "{text}");
}

fn serve(data_dir: &Path) -> Command {
    let mut command = trove(&["serve", "--listen", "127.0.0.1:0", "--data-dir"]);
    command.arg(data_dir).env("TROVE__LOG__FILTER", "debug");
    command
}

fn embedding(command: &mut Command, server: &ModelServer, model: &str) {
    command
        .env("TROVE__EMBEDDING__ENABLED", "true")
        .env("TROVE__EMBEDDING__PROVIDER", "openai")
        .env("TROVE__EMBEDDING__URL", server.url())
        .env("TROVE__EMBEDDING__MODEL", model)
        .env("TROVE__EMBEDDING__API_KEY", CANARY);
}

/// Where the files of the built-in model are.
fn local_model() -> PathBuf {
    #[expect(clippy::disallowed_methods, reason = "tests have no configuration")]
    let configured = std::env::var_os("TROVE_MODEL_DIR").map(PathBuf::from);
    configured.unwrap_or_else(|| {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/models/all-MiniLM-L6-v2")
    })
}

async fn stop(service: Service) -> String {
    service.signal("TERM").await;
    let (status, log) = service.ended().await;
    assert_eq!(status.code(), Some(0), "{log}");
    log
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

#[tokio::test]
async fn two_variables_are_enough_for_a_language_model() {
    let mut command = trove(&["check-config"]);
    command.env("TROVE_LLM_PROVIDER", "ollama").env("TROVE_LLM_MODEL", "llama3.2");
    let output = run(command).await;
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let shown = text(output.stdout);
    assert!(shown.contains("provider = \"ollama\"  # environment variable TROVE_LLM_PROVIDER"));
}

#[tokio::test]
async fn secrets_of_models_are_not_shown() {
    let mut command = trove(&["check-config"]);
    command.env("TROVE_LLM_PROVIDER", "openai").env("TROVE_LLM_MODEL", "gpt-4o");
    command.env("TROVE_LLM_API_KEY", CANARY);
    command.env("TROVE__LLM__HEADERS", "X-Secret: canary");
    let output = run(command).await;
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let shown = text(output.stdout);
    assert!(shown.contains("api_key = \"********\""), "{shown}");
    assert_no_canary(&shown);

    for (name, value, words) in [
        ("TROVE_LLM_API_KEY", "sk canary", "`llm.api_key` is ********"),
        ("TROVE_LLM_URL", "http://u:canary@h/v1", "`llm.url` is ********"),
        ("TROVE__LLM__HEADERS", "canary", "`llm.headers` is ********"),
        ("TROVE__EMBEDDING__API_KEY", "ca nary canary", "`embedding.api_key` is ********"),
    ] {
        let mut command = trove(&["check-config"]);
        command.env("TROVE_LLM_PROVIDER", "openai").env("TROVE_LLM_MODEL", "gpt-4o");
        command.env(name, value);
        let error = refused(command, 2).await;
        assert!(error.contains(words), "{error}");
        assert_no_canary(&error);
    }
}

#[tokio::test]
async fn settings_of_models_that_do_not_go_together_are_refused() {
    for (variables, words) in [
        (&[("TROVE_LLM_PROVIDER", "openai")][..], "`llm.model`"),
        (&[("TROVE_LLM_MODEL", "gpt-4o")], "`llm.model`"),
        (&[("TROVE_LLM_PROVIDER", "azure"), ("TROVE_LLM_MODEL", "m")], "needs a base address"),
        (&[("TROVE_LLM_PROVIDER", "other"), ("TROVE_LLM_MODEL", "m")], "needs a base address"),
        (
            &[
                ("TROVE_LLM_PROVIDER", "openai"),
                ("TROVE_LLM_MODEL", "m"),
                ("TROVE_LLM_API_KEY_FILE", "/nonexistent/key"),
            ],
            "the key in /nonexistent/key (`llm.api_key_file`) cannot be read",
        ),
        (&[("TROVE__EMBEDDING__PROVIDER", "openai")], "`embedding.model`"),
        (&[("TROVE__EMBEDDING__MODEL", "m")], "`embedding.model`"),
    ] {
        let mut command = trove(&["check-config"]);
        command.envs(variables.iter().copied());
        let error = refused(command, 2).await;
        assert!(error.contains(words), "{error}");
    }
}

/// It may come up later; search goes on meanwhile.
#[tokio::test]
async fn a_language_model_that_is_down_does_not_make_the_service_unready() {
    let temp = tempfile::tempdir().unwrap();
    let key = temp.path().join("key");
    fs::write(&key, format!("{CANARY}\n")).unwrap();
    let data_dir = temp.path().join("data");
    let mut command = serve(&data_dir);
    command.env("TROVE_LLM_URL", "http://127.0.0.1:9/v1").env("TROVE_LLM_MODEL", "m");
    command.env("TROVE_LLM_API_KEY_FILE", &key);
    let service = Service::start_with(command, &data_dir).await;
    let answer = service.get("/health/ready").await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    let ready: Value = answer.json().await.unwrap();
    assert_eq!(ready["data"]["language_model"]["state"], "ok");
    let reason = ready["data"]["language_model"]["reason"].as_str().unwrap();
    assert_eq!(reason, "a language model is configured");
    let log = stop(service).await;
    assert!(log.contains("language model configured"), "{log}");
    assert_no_canary(&log);
}

#[tokio::test]
async fn documents_are_found_by_the_vectors_of_another_server() {
    let server = ModelServer::simulated().await;
    let temp = tempfile::tempdir().unwrap();
    let mut command = serve(temp.path());
    embedding(&mut command, &server, "hashing");
    command.env("HYBRID_ALPHA", "1");
    let service = Service::start_with(command, temp.path()).await;
    for (id, words) in [("a", "the zebra sleeps at night"), ("b", "invoices are paid at noon")] {
        assert!(service.ingest(id, &[words.to_owned()]).await.unwrap().is_success());
    }
    let found = service.search("invoices are paid").await;
    assert_eq!(found[0]["title"], "b", "{found:?}");
    let requests = server.requests();
    assert!(requests.iter().all(|request| request.path == "/v1/embeddings"));
    let bearer = format!("Bearer {CANARY}");
    assert!(requests.iter().all(|r| r.header("authorization") == Some(bearer.as_str())));
    assert_no_canary(&stop(service).await);
}

/// A provider that repeats the key it was given, in a log at the finest level.
#[tokio::test]
async fn no_log_line_error_or_response_has_the_key() {
    let server = ModelServer::start(|request| {
        if request.json()["input"].to_string().contains("zebra") {
            let words = format!("no such key: {}", request.header("authorization").unwrap());
            return Reply::error(401, "invalid_api_key", &words);
        }
        simulate(request)
    })
    .await;
    let temp = tempfile::tempdir().unwrap();
    let mut command = serve(temp.path());
    embedding(&mut command, &server, "hashing");
    command.env("TROVE__LOG__FILTER", "trace");
    command.env("TROVE_LLM_PROVIDER", "openai").env("TROVE_LLM_MODEL", "m");
    command.env("TROVE_LLM_API_KEY", CANARY);
    let service = Service::start_with(command, temp.path()).await;
    let document = crate::child::document("a", &["the zebra sleeps".to_owned()]);
    let answer = service.post("/api/ingestion", &document).await.unwrap();
    assert!(!answer.status().is_success());
    assert_no_canary(&answer.text().await.unwrap());
    assert!(service.search("zebra").await.is_empty());
    assert_no_canary(&service.get("/health/ready").await.unwrap().text().await.unwrap());
    let log = stop(service).await;
    assert!(log.contains("does not accept the key"), "{log}");
    assert_no_canary(&log);
}

#[tokio::test]
async fn an_index_is_not_opened_with_another_model() {
    let server = ModelServer::simulated().await;
    let temp = tempfile::tempdir().unwrap();
    let with = |model: &str| {
        let mut command = serve(temp.path());
        embedding(&mut command, &server, model);
        command
    };
    let service = Service::start_with(with("one"), temp.path()).await;
    assert!(service.ingest("a", &["the zebra sleeps".to_owned()]).await.unwrap().is_success());
    stop(service).await;
    let error = refused(with("other"), 1).await;
    assert!(error.contains("holds vectors of the embedding model one"), "{error}");
    assert!(error.contains("remove the directory and index the documents again"), "{error}");
    assert_no_canary(&error);

    // The right one, whose server is down: the index knows the length of its vectors.
    let down =
        ModelServer::start(|_| Reply::text(503, "starting").header("Retry-After", "0")).await;
    let mut command = serve(temp.path());
    embedding(&mut command, &down, "one");
    let service = Service::start_with(command, temp.path()).await;
    assert_eq!(service.search("zebra").await.len(), 1, "by words");
    stop(service).await;
}

/// The built-in model makes other vectors than it did: they are of the same length, and an index
/// must not mix them.
#[tokio::test]
async fn an_index_with_vectors_of_an_earlier_release_is_refused_with_the_remedy() {
    let temp = tempfile::tempdir().unwrap();
    let model = local_model();
    let with_model = || {
        let mut command = serve(temp.path());
        command.env("TROVE__EMBEDDING__ENABLED", "true").env("TROVE_MODEL_DIR", &model);
        command
    };
    stop(Service::start_with(with_model(), temp.path()).await).await;
    let file = temp.path().join("index").join("trove-index.json");
    let mut noted: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(noted["model"], "all-MiniLM-L6-v2+opening", "{noted}");
    noted["model"] = json!("all-MiniLM-L6-v2");
    fs::write(&file, noted.to_string()).unwrap();
    let error = refused(with_model(), 1).await;
    let other = "vectors of the embedding model all-MiniLM-L6-v2, which cannot be compared with \
                 those of all-MiniLM-L6-v2+opening";
    assert!(error.contains(other), "{error}");
    assert!(error.contains("or remove the directory and index the documents again"), "{error}");
}

#[tokio::test]
async fn vectors_of_another_length_than_configured_are_refused() {
    let server = ModelServer::simulated().await;
    let temp = tempfile::tempdir().unwrap();
    let mut command = serve(temp.path());
    embedding(&mut command, &server, "one");
    command.env("TROVE__EMBEDDING__DIMENSIONS", "32");
    let error = refused(command, 1).await;
    assert!(error.contains("vectors of 64 elements, expected 32"), "{error}");
}

#[tokio::test]
async fn an_index_is_not_opened_with_vectors_of_another_length() {
    let server = ModelServer::start(|request| {
        let length = request.json()["dimensions"].as_u64().unwrap_or(64);
        let vector = vec![1; usize::try_from(length).unwrap()];
        Reply::json(200, &json!({ "data": [{ "index": 0, "embedding": vector }] }))
    })
    .await;
    let temp = tempfile::tempdir().unwrap();
    let with = |dimensions: &str| {
        let mut command = serve(temp.path());
        embedding(&mut command, &server, "one");
        command.env("TROVE__EMBEDDING__DIMENSIONS", dimensions);
        command
    };
    stop(Service::start_with(with("64"), temp.path()).await).await;
    let error = refused(with("32"), 1).await;
    assert!(error.contains("has 32 dimensions, the index holds 64"), "{error}");
    assert!(error.contains("remove the directory and index the documents again"), "{error}");
}
