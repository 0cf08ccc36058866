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
    let left = printed(user(&["uninvite", "OTHER@example.com"])).await;
    assert_eq!(left, "1 address is invited now\n");
    let left = printed(user(&["uninvite", "other@example.com"])).await;
    assert_eq!(left, "1 address is invited now\n", "there is nothing to take back");

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

/// Programs read the result of every command.
#[tokio::test]
async fn every_command_tells_programs_what_it_did() {
    let temp = tempfile::tempdir().unwrap();
    Service::start(temp.path()).await.kill().await;
    let told = async |arguments: &[&str]| -> Value {
        let printed = printed(user(temp.path(), &[arguments, &["--json"]].concat())).await;
        serde_json::from_str(&printed).unwrap()
    };
    let admin = "admin@trove.localhost";
    assert_eq!(told(&["invite", "a@example.com", "b@example.com"]).await, json!({"invited": 2}));
    assert_eq!(told(&["list", "--invited"]).await, json!(["a@example.com", "b@example.com"]));
    assert_eq!(told(&["uninvite", "A@example.com"]).await, json!({"invited": 1}));
    let listed = told(&["list"]).await;
    assert_eq!((&listed[0]["email"], listed.as_array().unwrap().len()), (&json!(admin), 1));
    let set = told(&["set-role", admin, "admin"]).await;
    assert_eq!(set, json!({"email": admin, "role": "admin"}));
    let reset = told(&["reset-password", admin]).await;
    assert_eq!(reset["email"], admin);
    assert!(reset["password"].as_str().unwrap().len() >= 12, "{reset}");
    assert_eq!(told(&["activate", admin]).await, json!({"email": admin, "active": true}));
    // The only one is not deactivated, so there is another one first.
    let mut registered = Service::start(temp.path()).await;
    let body = json!({"email": "b@example.com", "password": "correct horse"});
    let url = format!("{}/api/auth/register", registered.address);
    let made = registered.client.post(url).json(&body).send().await.unwrap();
    assert_eq!(made.status(), StatusCode::CREATED);
    registered.kill().await;
    let out = told(&["deactivate", "b@example.com"]).await;
    assert_eq!(out, json!({"email": "b@example.com", "active": false}));
    let gone = told(&["delete", "b@example.com"]).await;
    assert_eq!(gone, json!({"email": "b@example.com", "deleted": true}));
    // A refusal leaves standard output empty and says why beside it.
    let refusal = run(user(temp.path(), &["delete", "b@example.com", "--json"])).await;
    assert_eq!((refusal.status.code(), refusal.stdout.len()), (Some(1), 0));
    assert!(text(refusal.stderr).contains("there is no user with the address"));
}

/// What administrators decide is known to the next start.
#[tokio::test]
async fn doors_that_administrators_open_and_close_are_known_at_the_start() {
    let temp = tempfile::tempdir().unwrap();
    let mut service = Service::start(temp.path()).await;
    let settings = json!({"anonymous_user_enabled": true, "invite_only_enabled": true});
    let request = service.client.patch(format!("{}/api/admin/settings", service.address));
    let answer = request.bearer_auth(&service.key).json(&settings).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    service.kill().await;
    let mut command = trove(&["serve", "--listen", "0.0.0.0:0", "--data-dir"]);
    command.arg(temp.path());
    let service = Service::start_with(command, temp.path()).await;
    let me = service.client.get(format!("{}/api/me", service.address)).send().await.unwrap();
    assert_eq!(me.json::<Value>().await.unwrap()["id"], "__anonymous_user__");
    service.signal("TERM").await;
    let (_, log) = service.ended().await;
    assert!(log.contains("is served without signing in"), "{log}");
    assert!(!log.contains("can register and search"), "{log}");
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
