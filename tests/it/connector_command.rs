//! `trove connector`

use std::fs;

use serde_json::{Value, json};

use crate::child::{Service, refused, run, trove};

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

#[tokio::test]
async fn connectors_are_listed_and_shown_while_the_service_runs() {
    let temp = tempfile::tempdir().unwrap();
    let service = Service::start(temp.path()).await;
    let key = fs::read_to_string(temp.path().join("admin-key")).unwrap();
    let body = json!({"name": "site\u{1b}[31m", "source": "web", "input_type": "load_state",
        "connector_specific_config": {"base_url": "https://example.com"}, "refresh_freq": 1800,
        "access_type": "public"});
    let post = async |body: &Value| {
        let url = format!("{}/api/manage/admin/connector", service.address);
        let sent = service.client.post(url).bearer_auth(key.trim()).json(body).send();
        sent.await.unwrap()
    };
    // What would control a terminal is no name.
    assert_eq!(post(&body).await.status(), 422);
    let mut fine = body.clone();
    fine["name"] = json!("site");
    let made: Value = post(&fine).await.json().await.unwrap();
    let id = made["id"].to_string();
    let connector = |arguments: &[&str]| {
        let mut command = trove(&["connector"]);
        command.args(arguments).arg("--data-dir").arg(temp.path());
        command
    };
    let listed = text(run(connector(&["list"])).await.stdout);
    let line = listed.lines().find(|line| line.contains("site")).unwrap();
    assert!(line.contains("web") && line.contains("no credential"), "{listed}");
    let listed = run(connector(&["list", "--json"])).await.stdout;
    let listed: Value = serde_json::from_slice(&listed).unwrap();
    let expected = json!({"base_url": "https://example.com"});
    assert_eq!((&listed[0]["config"], &listed[0]["pairs"]), (&expected, &json!([])));
    let shown = text(run(connector(&["show", &id])).await.stdout);
    assert!(shown.contains("https://example.com") && shown.contains("1800 s"), "{shown}");
    let shown = run(connector(&["show", &id, "--json"])).await.stdout;
    assert_eq!(serde_json::from_slice::<Value>(&shown).unwrap(), listed[0]);
    let error = refused(connector(&["show", "4711"]), 1).await;
    assert!(error.contains("there is no connector 4711"), "{error}");
}
