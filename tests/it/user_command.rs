//! `trove user`

use reqwest::StatusCode;
use reqwest::header::{COOKIE, SET_COOKIE};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::child::{Service, refused, run, trove};

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

fn user(data_dir: &std::path::Path, arguments: &[&str]) -> Command {
    let mut command = trove(&["user"]);
    command.args(arguments).arg("--data-dir").arg(data_dir);
    command
}

/// What a command that succeeds prints.
async fn printed(command: Command) -> String {
    let output = run(command).await;
    assert_eq!(output.status.code(), Some(0), "{}", text(output.stderr));
    text(output.stdout)
}

#[tokio::test]
async fn users_are_invited_changed_and_deleted_while_the_service_runs() {
    let temp = tempfile::tempdir().unwrap();
    let service = Service::start(temp.path()).await;
    let user = |arguments: &[&str]| user(temp.path(), arguments);
    let invited = printed(user(&["invite", "Reader@EXAMPLE.com", "other@example.com"])).await;
    assert_eq!(invited, "2 addresses are invited now\n");
    let listed = printed(user(&["list", "--invited"])).await;
    assert_eq!(listed, "other@example.com\nReader@example.com\n");

    let url = |path: &str| format!("{}/api{path}", service.address);
    let register = json!({"email": "reader@example.com", "password": "correct horse"});
    let made = service.client.post(url("/auth/register")).json(&register).send().await.unwrap();
    assert_eq!(made.status(), StatusCode::CREATED);
    let password = printed(user(&["reset-password", "READER@example.com"])).await;
    let login = || {
        let form = [("username", "reader@example.com"), ("password", password.trim())];
        let form = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        let request = service.client.post(url("/auth/login"));
        request.header("content-type", "application/x-www-form-urlencoded").body(form).send()
    };
    let answer = login().await.unwrap();
    assert_eq!(answer.status(), StatusCode::NO_CONTENT);
    let cookie = answer.headers()[SET_COOKIE].to_str().unwrap().split(';').next().unwrap();
    let me = || service.client.get(url("/me")).header(COOKIE, cookie).send();
    assert_eq!(me().await.unwrap().status(), StatusCode::OK);

    let set = printed(user(&["set-role", "reader@example.com", "admin", "--json"])).await;
    let set: Value = serde_json::from_str(&set).unwrap();
    assert_eq!(set, json!({"email": "reader@example.com", "role": "admin"}));
    assert_eq!(me().await.unwrap().json::<Value>().await.unwrap()["role"], "admin");

    let listed = printed(user(&["list", "--role", "admin", "--json"])).await;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed[0]["email"], "admin@trove.localhost");
    assert_eq!((&listed[1]["has_password"], &listed[1]["active"]), (&json!(true), &json!(true)));

    let out = printed(user(&["deactivate", "reader@example.com"])).await;
    assert_eq!(out, "reader@example.com is kept out\n");
    assert_eq!(me().await.unwrap().status(), StatusCode::UNAUTHORIZED, "from the next request on");
    assert_eq!(login().await.unwrap().status(), StatusCode::BAD_REQUEST);
    printed(user(&["activate", "reader@example.com"])).await;
    assert_eq!(login().await.unwrap().status(), StatusCode::NO_CONTENT);

    let error = refused(user(&["delete", "reader@example.com"]), 1).await;
    assert!(error.contains("deactivate the account first"), "{error}");
    printed(user(&["deactivate", "reader@example.com"])).await;
    printed(user(&["delete", "reader@example.com"])).await;
    let listed = printed(user(&["list", "--text", "READER"])).await;
    assert_eq!(listed, "EMAIL  ROLE  STATE  PASSWORD  GROUPS\n");
}

#[tokio::test]
async fn what_users_cannot_be_is_told() {
    let temp = tempfile::tempdir().unwrap();
    let user = |arguments: &[&str]| user(temp.path(), arguments);
    let error = refused(user(&["list"]), 1).await;
    assert!(error.contains("there is no database"), "{error}");
    assert!(std::fs::read_dir(temp.path()).unwrap().next().is_none(), "and none was made");
    Service::start(temp.path()).await.kill().await;
    let error = refused(user(&["invite", "good@example.com", "bad"]), 2).await;
    assert!(error.contains("'bad'"), "{error}");
    assert_eq!(printed(user(&["list", "--invited"])).await, "");
    let error = refused(user(&["set-role", "admin@trove.localhost", "boss"]), 2).await;
    assert!(error.contains("`boss` is not a role"), "{error}");
    for verb in ["activate", "deactivate", "reset-password", "delete"] {
        let error = refused(user(&[verb, "nobody@example.com"]), 1).await;
        assert!(error.contains("there is no user with the address nobody@example.com"), "{error}");
    }
    // Somebody has to administer.
    let error = refused(user(&["set-role", "admin@trove.localhost", "basic"]), 1).await;
    assert!(error.contains("last active administrator"), "{error}");
    let error = refused(user(&["deactivate", "admin@trove.localhost"]), 1).await;
    assert!(error.contains("last active administrator"), "{error}");
    let error = refused(user(&["set-role", "admin@trove.localhost", "curator"]), 1).await;
    assert!(error.contains("--force"), "{error}");
}

/// A full disk behind standard output, or a reader that went away.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_password_that_cannot_be_printed_is_no_success() {
    let temp = tempfile::tempdir().unwrap();
    Service::start(temp.path()).await.kill().await;
    let reset = user(temp.path(), &["reset-password", "admin@trove.localhost"]);
    let mut command = Command::new("sh");
    crate::child::isolate(&mut command);
    command.args(["-c", "exec \"$0\" \"$@\" >/dev/full"]);
    command.arg(reset.as_std().get_program()).args(reset.as_std().get_args());
    let error = refused(command, 1).await;
    assert!(error.contains("run the command again"), "{error}");
}

/// What a deployment that others reach is told, and one that they do not reach is not.
#[tokio::test]
async fn an_open_door_to_a_network_is_warned_of() {
    for (listen, registration, warned) in [
        ("0.0.0.0:0", "open", true),
        ("0.0.0.0:0", "invited", false),
        ("127.0.0.1:0", "open", false),
    ] {
        let temp = tempfile::tempdir().unwrap();
        let mut command = trove(&["serve", "--listen", listen, "--data-dir"]);
        command.arg(temp.path()).env("TROVE__AUTH__REGISTRATION", registration);
        let service = Service::start_with(command, temp.path()).await;
        service.signal("TERM").await;
        let (_, log) = service.ended().await;
        let found = log.contains("whoever reaches this service can register");
        assert_eq!(found, warned, "{listen} {registration}: {log}");
    }
}
