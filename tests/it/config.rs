//! The configuration: what is refused and shown, and that its documentation agrees.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use trove::config::{keys, rules};

use crate::child::{refused, run, trove};

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

/// Each setting has a row `| \`key\` | default | accepted | … |`, and each row has a setting.
#[test]
fn every_setting_is_documented_with_its_default_and_what_it_accepts() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/configuration.md");
    let page = std::fs::read_to_string(path).unwrap();
    let rows: Vec<Vec<&str>> = page
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.split('|').map(str::trim).collect())
        .collect();
    let mut documented = BTreeSet::new();
    for row in &rows {
        let key = row[1].trim_matches('`');
        let Some(default) = keys().into_iter().find(|(known, _)| known == key) else { continue };
        documented.insert(key.to_owned());
        let shown = match toml::Value::try_from(&default.1) {
            Ok(value) => format!("`{value}`"),
            Err(_) => "not set".to_owned(),
        };
        assert_eq!(row[2], shown, "the default of {key}");
        let rule = rules().find(|rule| rule.key == key).unwrap();
        assert_eq!(row[3], rule.accepted, "what {key} accepts");
        assert!(row[4].len() > 20, "{key} has a reason");
    }
    let known: BTreeSet<String> = keys().into_iter().map(|(key, _)| key).collect();
    assert_eq!(documented, known);
}

/// An address in the wrong place is a secret as well.
#[tokio::test]
async fn an_address_in_place_of_a_key_is_not_repeated_and_needs_a_database() {
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("trove.toml");
    std::fs::write(&file, "[database]\n\"postgres://u:sekret@h/d\" = 1\n").unwrap();
    let mut command = trove(&["check-config", "--config"]);
    command.arg(&file);
    let error = refused(command, 2).await;
    assert!(error.contains("database.postgres://…"), "{error}");
    assert!(!error.contains("sekret"), "{error}");

    let mut command = trove(&["check-config"]);
    command.env("TROVE__DATABASE__URL", "postgres://u:sekret@h:5432");
    let error = refused(command, 2).await;
    assert!(error.contains("/NAME") && !error.contains("sekret"), "{error}");
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

#[tokio::test]
async fn the_address_of_a_database_is_checked_with_its_parameters() {
    let check = |url: &str| {
        let mut command = trove(&["check-config"]);
        command.env("TROVE__DATABASE__URL", url);
        command
    };
    for mode in ["disable", "prefer", "require", "verify-ca", "verify-full"] {
        let output = run(check(&format!("postgres://u:hunter2@h/n?sslmode={mode}"))).await;
        assert_eq!(output.status.code(), Some(0), "{mode}");
    }
    for (url, reason) in [
        ("postgres://u:hunter2@h/n?sslmode=requre", "its sslmode is \"requre\", expected disable"),
        ("postgres://u:hunter2@h/n?ssl=on", "a parameter after `?` is not known"),
        ("postgres://u:hunter2@h:port/n", "expected postgres://"),
        ("mysql://u:hunter2@h/n", "expected postgres://"),
    ] {
        let error = refused(check(url), 2).await;
        assert!(error.contains("`database.url` is ******** (environment"), "{error}");
        assert!(error.contains(reason) && !error.contains("hunter2"), "{error}");
    }
}

#[tokio::test]
async fn a_password_of_its_own_is_told_where_it_belongs() {
    let temp = tempfile::tempdir().unwrap();
    fs::write(temp.path().join("trove.toml"), "[database]\npasswrd = \"hunter2\"\n").unwrap();
    let mut command = trove(&["check-config", "--data-dir"]);
    command.arg(temp.path());
    let error = refused(command, 2).await;
    assert!(error.contains("parts of `database.url`, postgres://USER:PASSWORD@"), "{error}");
    assert!(!error.contains("did you mean") && !error.contains("hunter2"), "{error}");
}

/// It says what `trove serve` would say.
#[tokio::test]
async fn check_config_looks_at_the_model() {
    let temp = tempfile::tempdir().unwrap();
    let check = || {
        let mut command = trove(&["check-config"]);
        command.env("TROVE_MODEL_DIR", temp.path().join("no-model"));
        command.env("TROVE__EMBEDDING__ENABLED", "true");
        command
    };
    let output = run(check()).await;
    let error = text(output.stderr);
    assert_eq!(output.status.code(), Some(0), "{error}");
    assert!(error.contains("warning: there is no embedding model in"), "{error}");
    assert!(error.contains("no-model") && error.contains("trove model pull"), "{error}");

    let model = temp.path().join("no-model");
    fs::create_dir(&model).unwrap();
    fs::write(model.join("tokenizer.json"), "{}").unwrap();
    let error = refused(check(), 2).await;
    assert!(error.contains("tokenizer.json is damaged or of another model"), "{error}");
}

/// What `serve` would refuse later is refused here.
#[tokio::test]
async fn check_config_looks_at_files_of_keys() {
    let temp = tempfile::tempdir().unwrap();
    let open = temp.path().join("open.key");
    fs::write(&open, "").unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o644)).unwrap();
    let missing = temp.path().join("missing.key");
    let qdrant = ("TROVE_QDRANT_URL", "http://localhost:6334");
    for (name, file) in [
        ("TROVE_SECRETS_KEY_FILE", &missing),
        ("TROVE_SECRETS_KEY_FILE", &open),
        ("TROVE__QDRANT__API_KEY_FILE", &missing),
    ] {
        let mut command = trove(&["check-config"]);
        command.env(qdrant.0, qdrant.1).env(name, file);
        let error = refused(command, 2).await;
        assert!(error.contains(file.file_name().unwrap().to_str().unwrap()), "{name}: {error}");
    }
}

/// Somebody made it, so passing it by would start with other settings than theirs.
#[tokio::test]
async fn a_configuration_file_that_leads_nowhere_is_refused() {
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("trove.toml");
    std::os::unix::fs::symlink(temp.path().join("gone.toml"), &file).unwrap();
    let mut command = trove(&["check-config", "--data-dir"]);
    command.arg(temp.path());
    let error = refused(command, 2).await;
    assert!(error.contains(&file.display().to_string()), "{error}");
    assert!(error.contains("it is a symbolic link to") && error.contains("gone.toml"), "{error}");
}

#[tokio::test]
async fn a_data_directory_needs_a_name_in_utf_8() {
    let name = OsStr::from_bytes(b"/tmp/\xff");
    let mut flag = trove(&["check-config", "--data-dir"]);
    flag.arg(name);
    let error = refused(flag, 2).await;
    assert!(error.contains("flag --data-dir") && error.contains("not valid UTF-8"), "{error}");
    let mut variable = trove(&["check-config"]);
    variable.env("TROVE_DATA_DIR", name);
    let error = refused(variable, 2).await;
    assert!(error.contains("TROVE_DATA_DIR is not valid UTF-8"), "{error}");
}

#[tokio::test]
async fn a_prefix_that_clients_would_change_is_refused() {
    for prefix in ["/../x", "/a//b", "/a b", "/a?b"] {
        let mut command = trove(&["check-config"]);
        command.env("TROVE__HTTP__PREFIX", prefix);
        let error = refused(command, 2).await;
        assert!(error.contains("`http.prefix` is") && error.contains("expected a path"), "{error}");
    }
}
