//! The key for secrets: made, guarded, replaced and lost.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};
use tokio::process::Command;
use trove_testkit::postgres::Schema;

use crate::child::{Service, refused, run, trove};

const CANARY: &str = "sk-canary-of-the-command";

fn command(arguments: &[&str], data_dir: &Path) -> Command {
    let mut command = trove(arguments);
    command.arg("--data-dir").arg(data_dir);
    command
}

fn serve(data_dir: &Path) -> Command {
    command(&["serve", "--listen", "127.0.0.1:0"], data_dir)
}

/// Runs the service once, and has it store a secret.
async fn store_secret(serve: Command, data_dir: &Path) -> String {
    let service = Service::start_with(serve, data_dir).await;
    let url = format!("{}/api/admin/llm/provider?is_creation=true", service.address);
    let body = json!({"name": "p", "provider": "openai", "api_key": CANARY,
        "custom_config": {"header:x": CANARY}});
    let put = service.client.put(url).bearer_auth(&service.key).json(&body).send().await.unwrap();
    let text = put.text().await.unwrap();
    assert!(text.contains("\"name\":\"p\"") && !text.contains(CANARY), "{text}");
    service.signal("TERM").await;
    let (status, log) = service.ended().await;
    assert!(status.success() && !log.contains(CANARY), "{log}");
    log
}

/// Runs the service once; the custom settings as administrators see them, which takes the key.
async fn read_secret(serve: Command, data_dir: &Path) -> Value {
    let service = Service::start_with(serve, data_dir).await;
    let list = service.get("/api/admin/llm/provider").await.unwrap();
    assert_eq!(list.status(), 200);
    let list: Value = list.json().await.unwrap();
    service.signal("TERM").await;
    assert!(service.ended().await.0.success());
    list[0]["custom_config"].clone()
}

fn keys(data_dir: &Path) -> Vec<String> {
    let text = fs::read_to_string(data_dir.join("secrets.key")).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn write_keys(data_dir: &Path, keys: &[&str]) {
    let path = data_dir.join("secrets.key");
    fs::write(&path, format!("{}\n", keys.join("\n"))).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

async fn rotate(data_dir: &Path) -> Value {
    let output = run(command(&["secrets", "rotate", "--json"], data_dir)).await;
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn intact() -> Value {
    json!({"header:x": "********"})
}

#[tokio::test]
async fn the_first_start_makes_a_key_and_rotation_replaces_it() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path();
    store_secret(serve(dir), dir).await;
    let mode = fs::metadata(dir.join("secrets.key")).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    let old = keys(dir);
    assert_eq!(old.len(), 1);
    let done = rotate(dir).await;
    assert_eq!((&done["secrets"], &done["resumed"]), (&json!(2), &json!(false)));
    let new = keys(dir);
    assert_eq!(new.len(), 1);
    assert_ne!(old, new);
    assert_eq!(read_secret(serve(dir), dir).await, intact());
    // The old key opens nothing any more.
    write_keys(dir, &[&old[0]]);
    let error = refused(serve(dir), 1).await;
    assert!(error.contains(done["key"].as_str().unwrap()), "{error}");
}

/// After each of its steps a rotation may end; the service starts there, and the next run ends it.
#[tokio::test]
async fn a_rotation_that_was_interrupted_is_finished_by_the_next() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path();
    store_secret(serve(dir), dir).await;
    let old = keys(dir).remove(0);
    // A key that comes from elsewhere, as the first step would have drawn it.
    let other = tempfile::tempdir().unwrap();
    Service::start(other.path()).await.kill().await;
    let new = keys(other.path()).remove(0);

    // After the first step.
    write_keys(dir, &[&old, &new]);
    assert_eq!(read_secret(serve(dir), dir).await, intact());
    let done = rotate(dir).await;
    assert_eq!((&done["secrets"], &done["resumed"]), (&json!(2), &json!(true)));
    assert_eq!(keys(dir), std::slice::from_ref(&new));

    // After the second step.
    write_keys(dir, &[&old, &new]);
    assert_eq!(read_secret(serve(dir), dir).await, intact());
    let done = rotate(dir).await;
    assert_eq!((&done["secrets"], &done["resumed"]), (&json!(0), &json!(true)));
    assert_eq!(keys(dir), [new]);
    assert_eq!(read_secret(serve(dir), dir).await, intact());
}

#[tokio::test]
async fn a_lost_key_is_named_and_its_secrets_are_discarded_on_request() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path();
    store_secret(serve(dir), dir).await;
    let discard = || command(&["secrets", "discard"], dir);
    let error = refused(discard(), 1).await;
    assert!(error.contains("nothing is lost"), "{error}");
    fs::remove_file(dir.join("secrets.key")).unwrap();
    for refusing in [serve(dir), command(&["secrets", "rotate"], dir)] {
        let error = refused(refusing, 1).await;
        assert!(error.contains("restore the key from a backup"), "{error}");
        assert!(!dir.join("secrets.key").exists(), "no other key is made in its place");
    }
    let output = run(discard()).await;
    assert!(output.status.success(), "{output:?}");
    assert_eq!(read_secret(serve(dir), dir).await, Value::Null);
}

#[tokio::test]
async fn a_key_file_that_others_read_or_that_is_damaged_is_refused() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path();
    store_secret(serve(dir), dir).await;
    let path = dir.join("secrets.key");
    let content = fs::read(&path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let error = refused(serve(dir), 1).await;
    assert!(error.contains("chmod 600"), "{error}");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&path, "hunter2hunter2").unwrap();
    let error = refused(serve(dir), 1).await;
    assert!(error.contains("no usable keys") && !error.contains("hunter2"), "{error}");
    fs::write(&path, content).unwrap();
    assert_eq!(read_secret(serve(dir), dir).await, intact());
}

#[tokio::test]
async fn a_key_may_come_from_the_configuration() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path();
    let (first, second) = (
        "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=",
        "ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA=",
    );
    let with = |arguments: &[&str], keys: &str| {
        let mut command = command(arguments, dir);
        command.env("TROVE_SECRETS_KEY", keys);
        command
    };
    let serve_with = |keys: &str| with(&["serve", "--listen", "127.0.0.1:0"], keys);
    store_secret(serve_with(first), dir).await;
    assert!(!dir.join("secrets.key").exists());
    let error = refused(with(&["secrets", "rotate"], first), 1).await;
    assert!(error.contains("there is no new key"), "{error}");
    let both = format!("{first},{second}");
    assert_eq!(read_secret(serve_with(&both), dir).await, intact());
    assert!(run(with(&["secrets", "rotate"], &both)).await.status.success());
    assert_eq!(read_secret(serve_with(second), dir).await, intact());
    let error = refused(serve_with(first), 1).await;
    assert!(error.contains("TROVE_SECRETS_KEY") && !error.contains(first), "{error}");

    let error = refused(with(&["check-config"], "hunter2"), 2).await;
    assert!(error.contains("secrets.key") && !error.contains("hunter2"), "{error}");
    let shown = run(with(&["check-config"], second)).await;
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("key = \"********\"") && !shown.contains(second), "{shown}");
}

#[tokio::test]
async fn a_key_is_not_replaced_under_a_running_service() {
    let temp = tempfile::tempdir().unwrap();
    let mut service = Service::start(temp.path()).await;
    let before = keys(temp.path());
    for verb in ["rotate", "discard"] {
        let error = refused(command(&["secrets", verb], temp.path()), 1).await;
        assert!(error.contains("in use by `trove serve`"), "{error}");
    }
    assert_eq!(keys(temp.path()), before);
    service.kill().await;
}

#[tokio::test]
async fn no_secret_is_in_any_file_of_the_data_directory_or_in_the_log() {
    let temp = tempfile::tempdir().unwrap();
    let mut serve = serve(temp.path());
    serve.args(["--log-level", "trace"]);
    store_secret(serve, temp.path()).await;
    let mut files = 0;
    for entry in ignore::WalkBuilder::new(temp.path()).standard_filters(false).build() {
        let entry = entry.unwrap();
        let Ok(bytes) = fs::read(entry.path()) else { continue };
        files += 1;
        let found = bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes());
        assert!(!found, "{}", entry.path().display());
    }
    assert!(files > 2, "the database is there");
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_holds_no_secret_in_the_clear_and_wants_its_key() {
    let Some(schema) = Schema::create().await else { return };
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let on = |data_dir: &Path| {
        let mut serve = serve(data_dir);
        serve.env("TROVE__DATABASE__URL", schema.url());
        serve
    };
    store_secret(on(first.path()), first.path()).await;
    let dump: Vec<Vec<Option<String>>> =
        schema.query("SELECT llm_provider::text FROM llm_provider").await;
    let dump = format!("{dump:?}");
    assert!(dump.contains("openai") && !dump.contains(CANARY), "{dump}");
    // A successor of the directory needs the key as well.
    let mut adopt = command(&["adopt-database"], second.path());
    adopt.env("TROVE__DATABASE__URL", schema.url());
    assert!(run(adopt).await.status.success());
    let error = refused(on(second.path()), 1).await;
    assert!(error.contains("restore the key from a backup"), "{error}");
    assert!(!second.path().join("secrets.key").exists());
    write_keys(second.path(), &[&keys(first.path())[0]]);
    fs::copy(first.path().join("admin-key"), second.path().join("admin-key")).unwrap();
    assert_eq!(read_secret(on(second.path()), second.path()).await, intact());
}
