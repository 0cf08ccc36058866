//! `trove audit`

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::child::{Service, refused, run, trove};

async fn audit(data_dir: &Path, arguments: &[&str]) -> (i32, String) {
    let mut command = trove(&["audit"]);
    command.args(arguments).arg("--data-dir").arg(data_dir);
    let output = run(command).await;
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

fn file(data_dir: &Path) -> PathBuf {
    let entries = fs::read_dir(data_dir.join("audit")).unwrap().map(|entry| entry.unwrap().path());
    entries.into_iter().find(|path| path.extension().is_some_and(|e| e == "jsonl")).unwrap()
}

/// What the command line does is recorded like what comes over HTTP, while the service runs.
#[tokio::test]
async fn the_log_is_listed_and_verified_while_the_service_runs() {
    let temp = tempfile::tempdir().unwrap();
    let service = Service::start(temp.path()).await;
    let mut command = trove(&["key", "create", "--name", "robot", "--data-dir"]);
    command.arg(temp.path());
    let token = String::from_utf8(run(command).await.stdout).unwrap();
    let body = serde_json::json!({"name": "g", "user_ids": [], "cc_pair_ids": []});
    assert_eq!(service.post("/api/manage/admin/user-group", &body).await.unwrap().status(), 200);

    let (code, listed) = audit(temp.path(), &["list", "--json"]).await;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let line = |entry: &Value| {
        let word = |key: &str| entry[key].as_str().unwrap().to_owned();
        let who = entry["actor"]["kind"].as_str().unwrap();
        format!("{who} {} {}", word("action"), word("outcome"))
    };
    let lines: Vec<String> = listed.as_array().unwrap().iter().map(line).collect();
    assert_eq!(
        (code, &lines[..]),
        (
            0,
            &[
                "system user.first_administrator begun".to_owned(),
                "system user.first_administrator done".to_owned(),
                "operator api_key.create begun".to_owned(),
                "operator api_key.create done".to_owned(),
                "user group.create begun".to_owned(),
                "user group.create done".to_owned(),
            ][..]
        )
    );
    assert!(!fs::read_to_string(file(temp.path())).unwrap().contains(token.trim()));
    let (_, table) = audit(temp.path(), &["list", "--after", "4", "--limit", "1"]).await;
    assert!(table.contains("group.create") && table.lines().count() == 2, "{table}");

    let (code, text) = audit(temp.path(), &["verify"]).await;
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("6 entries"), "{text}");
    let (_, json) = audit(temp.path(), &["verify", "--json"]).await;
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["sound"], &json["lines"]), (&true.into(), &6.into()));
    let head = json["head"].as_str().unwrap();
    assert_eq!(audit(temp.path(), &["verify", "--contains", head]).await.0, 0);
    let other = "0".repeat(64);
    assert_eq!(audit(temp.path(), &["verify", "--contains", &other]).await.0, 4);
}

#[tokio::test]
async fn a_changed_line_is_named_and_ends_with_4() {
    let temp = tempfile::tempdir().unwrap();
    Service::start(temp.path()).await.kill().await;
    let path = file(temp.path());
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("\"begun\"", "\"done\"", 1)).unwrap();
    let (code, said) = audit(temp.path(), &["verify"]).await;
    assert_eq!(code, 4);
    assert!(said.contains("line 1") && said.contains("entry 1"), "{said}");
    let (code, json) = audit(temp.path(), &["verify", "--json"]).await;
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((code, &json["sound"], &json["broken"]["line"]), (4, &false.into(), &1.into()));

    // Without its last line the log is not opened; without a log there is nothing to verify.
    let lines: Vec<&str> = text.lines().collect();
    fs::write(&path, format!("{}\n", lines[..lines.len() - 1].join("\n"))).unwrap();
    let mut command = trove(&["serve", "--listen", "127.0.0.1:0", "--data-dir"]);
    command.arg(temp.path());
    let error = refused(command, 1).await;
    assert!(error.contains("audit") && error.contains("move"), "{error}");
    let empty = tempfile::tempdir().unwrap();
    let mut command = trove(&["audit", "verify", "--data-dir"]);
    command.arg(empty.path());
    assert!(refused(command, 1).await.contains("there is no audit log"));
}
