//! `trove key`

use std::fs;

use reqwest::StatusCode;
use serde_json::Value;

use crate::child::{Service, refused, run, trove};

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
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
async fn the_name_of_a_key_is_printable() {
    let temp = tempfile::tempdir().unwrap();
    Service::start(temp.path()).await.kill().await;
    let create = |name: &str| {
        let mut command = trove(&["key", "create", "--name", name, "--data-dir"]);
        command.arg(temp.path());
        command
    };
    for (name, reason) in [
        ("", "it is empty"),
        ("  ", "it is empty"),
        ("\u{1b}[2Jrobot", "control character \\u{1b}"),
        ("two\nlines", "control character \\n"),
        (&"x".repeat(201), "it has 201 characters"),
    ] {
        let error = refused(create(name), 2).await;
        assert!(error.contains(reason) && error.contains("--name"), "{error}");
    }
    assert_eq!(run(create(&"x".repeat(200))).await.status.code(), Some(0));
}

/// A full disk behind standard output, or a reader that went away.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_key_that_cannot_be_printed_does_not_work() {
    let temp = tempfile::tempdir().unwrap();
    Service::start(temp.path()).await.kill().await;
    for (number, json) in [(2, ""), (3, "--json")] {
        let create = trove(&["key", "create", "--data-dir"]);
        let mut command = tokio::process::Command::new("sh");
        crate::child::isolate(&mut command);
        command.args(["-c", &format!("exec \"$0\" \"$@\" {json} >/dev/full")]);
        command.arg(create.as_std().get_program()).args(create.as_std().get_args());
        command.arg(temp.path());
        let error = refused(command, 1).await;
        assert!(error.contains(&format!("revoked again (key {number})")), "{error}");
    }
    let mut list = trove(&["key", "list", "--json", "--data-dir"]);
    list.arg(temp.path());
    let listed: Value = serde_json::from_slice(&run(list).await.stdout).unwrap();
    let revoked: Vec<bool> =
        listed.as_array().unwrap().iter().map(|key| key["revoked_at"].is_string()).collect();
    assert_eq!(revoked, [false, true, true]);
}

#[tokio::test]
async fn the_last_key_of_an_administrator_is_revoked_by_force_only() {
    let temp = tempfile::tempdir().unwrap();
    Service::start(temp.path()).await.kill().await;
    let key = |arguments: &[&str]| {
        let mut command = trove(&["key"]);
        command.args(arguments).arg("--data-dir").arg(temp.path());
        command
    };
    let error = refused(key(&["revoke", "1"]), 1).await;
    assert!(error.contains("nobody can administer") && error.contains("--force"), "{error}");
    assert_eq!(run(key(&["create"])).await.status.code(), Some(0));
    assert_eq!(run(key(&["revoke", "1"])).await.status.code(), Some(0), "there is another one");
    refused(key(&["revoke", "2"]), 1).await;
    assert_eq!(run(key(&["revoke", "2", "--force"])).await.status.code(), Some(0));
    assert_eq!(run(key(&["revoke", "2"])).await.status.code(), Some(0), "it is revoked already");
}

#[tokio::test]
async fn a_key_with_an_account_of_its_own_is_made_replaced_and_ended() {
    let temp = tempfile::tempdir().unwrap();
    let service = Service::start(temp.path()).await;
    let key = |arguments: &[&str]| {
        let mut command = trove(&["key"]);
        command.args(arguments).arg("--data-dir").arg(temp.path());
        command
    };
    let role = async |token: &str| {
        let me = service.client.get(format!("{}/api/me", service.address)).bearer_auth(token);
        let answer = me.send().await.unwrap();
        if answer.status() != StatusCode::OK {
            return answer.status().to_string();
        }
        answer.json::<Value>().await.unwrap()["role"].as_str().unwrap().to_owned()
    };
    let made = run(key(&["create", "--role", "curator", "--name", "robot", "--json"])).await;
    let made: Value = serde_json::from_slice(&made.stdout).unwrap();
    let first = made["key"].as_str().unwrap();
    assert_eq!(role(first).await, "curator");

    let listed: Value =
        serde_json::from_slice(&run(key(&["list", "--json"])).await.stdout).unwrap();
    let robot = listed.as_array().unwrap().iter().find(|key| key["name"] == "robot").unwrap();
    assert_eq!((&robot["kind"], &robot["role"]), (&"service".into(), &"curator".into()));
    assert!(robot["last_used_at"].is_string(), "{robot}");
    assert!(text(run(key(&["list"])).await.stdout).contains("LAST USED"));

    let id = made["id"].to_string();
    let second = text(run(key(&["regenerate", &id])).await.stdout);
    let second = second.trim();
    assert_eq!(
        (role(first).await.as_str(), role(second).await.as_str()),
        ("401 Unauthorized", "curator")
    );
    // The key of a person is not replaced.
    let error = refused(key(&["regenerate", "1"]), 1).await;
    assert!(error.contains("acts as a person"), "{error}");
    let error = refused(key(&["regenerate", "4711"]), 1).await;
    assert!(error.contains("4711"), "{error}");
    let error = refused(key(&["create", "--role", "root"]), 2).await;
    assert!(error.contains("--role"), "{error}");
    let both = key(&["create", "--role", "basic", "--user", "admin@trove.localhost"]);
    assert!(refused(both, 2).await.contains("cannot be used with"));

    assert_eq!(run(key(&["revoke", &id])).await.status.code(), Some(0));
    assert_eq!(role(second).await, "401 Unauthorized");
    let listed = text(run(key(&["list"])).await.stdout);
    assert!(!listed.contains("robot"), "the account is gone with its key: {listed}");
}
