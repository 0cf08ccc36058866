//! `trove connector`

use std::fs;

use serde_json::{Value, json};

use crate::child::{Service, refused, run, trove};
use crate::site::Site;

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

async fn made(service: &Service, path: &str, body: &Value) -> Value {
    let answer = service.post(path, body).await.unwrap();
    let (status, body) = (answer.status(), answer.json::<Value>().await.unwrap());
    assert!(status.is_success(), "{status} {body}");
    body
}

/// From the connector to the search: what an administrator and an operator do.
#[tokio::test(flavor = "multi_thread")]
async fn a_site_is_read_searched_read_again_and_paused() {
    let site = Site::start().await;
    site.page("/", "Start", "the harbour opens", &["/a", "/b"]);
    site.page("/a", "Tides", "the moon pulls the water", &[]);
    site.page("/b", "Ferries", "they leave at noon", &[]);
    let temp = tempfile::tempdir().unwrap();
    let mut command = trove(&["serve", "--listen", "127.0.0.1:0", "--data-dir"]);
    command.arg(temp.path()).env("TROVE__INDEXING__ALLOWED_NETWORKS", "127.0.0.0/8");
    let mut service = Service::start_with(command, temp.path()).await;
    let connector = json!({"name": "harbour", "source": "web", "input_type": "load_state",
        "connector_specific_config": {"base_url": site.address}, "refresh_freq": null,
        "access_type": "public"});
    let path = "/api/manage/admin/connector-with-mock-credential";
    let pair = made(&service, path, &connector).await["data"].clone();
    let run = |arguments: &[&str]| {
        let mut command = trove(&["connector"]);
        command.args(arguments).arg("--data-dir").arg(temp.path());
        run(command)
    };
    let status = async || {
        let shown = run(&["status", "--json"]).await.stdout;
        let all: Vec<Value> = serde_json::from_slice(&shown).unwrap();
        all.into_iter().find(|shown| shown["cc_pair_id"] == pair).unwrap()
    };
    // Until the runs so far and this one have ended.
    let finished = async |runs: u64| {
        let path = format!("/api/manage/admin/cc-pair/{pair}/index-attempts");
        loop {
            let listed: Value = service.get(&path).await.unwrap().json().await.unwrap();
            let last = &listed["items"][0];
            if listed["total_items"] == runs && last["status"] == "success" {
                return last.clone();
            }
            assert_ne!(last["status"], "failed", "{last}");
        }
    };
    finished(1).await;
    assert_eq!(site.asked(), [("/", 200), ("/a", 200), ("/b", 200)].map(own));
    let found = service.search("moon").await;
    assert_eq!(
        found[0]["title"].as_str().or(found[0]["semantic_identifier"].as_str()),
        Some("Tides")
    );
    let shown = status().await;
    assert_eq!((&shown["status"], &shown["documents"]), (&json!("ACTIVE"), &json!(3)));
    assert_eq!(shown["run"]["status"], "success");
    // Again: only what has changed is sent.
    site.page("/b", "Ferries", "they leave at midnight", &[]);
    let id = shown["connector_id"].to_string();
    let asked = text(run(&["run", &id]).await.stdout);
    assert_eq!(asked, "1 asked for a run; the service begins it within a second\n");
    let last = finished(2).await;
    assert_eq!(site.asked(), [("/", 304), ("/a", 304), ("/b", 200)].map(own));
    assert_eq!((&last["docs_enumerated"], &last["docs_unchanged"]), (&json!(3), &json!(2)));
    assert!(!service.search("midnight").await.is_empty());
    // Paused, it only remembers that it was asked.
    assert_eq!(text(run(&["pause", &id]).await.stdout), "1 paused\n");
    assert_eq!(status().await["status"], "PAUSED");
    run(&["run", &id, "--from-beginning"]).await;
    assert_eq!(text(run(&["resume", &id]).await.stdout), "1 active\n");
    finished(3).await;
    assert_eq!(site.asked(), [("/", 200), ("/a", 200), ("/b", 200)].map(own));
    let lines = text(run(&["status", &id]).await.stdout);
    assert!(lines.contains("harbour") && lines.contains("success"), "{lines}");
    // Deleted with its documents, and with its connector.
    let said = text(run(&["delete", &id]).await.stdout);
    assert!(said.starts_with("1 marked for deletion"), "{said}");
    let path = format!("/api/manage/connector/{id}");
    while service.get(&path).await.unwrap().status() != 404 {}
    assert!(service.search("midnight").await.is_empty());
    for wrong in [["delete", "4711"], ["run", "4711"], ["pause", "4711"], ["status", "4711"]] {
        let mut command = trove(&["connector"]);
        command.args(wrong).arg("--data-dir").arg(temp.path());
        assert!(refused(command, 1).await.contains("4711"));
    }
    // Whoever asks for something learns that there is nobody to do it.
    made(&service, "/api/manage/admin/connector-with-mock-credential", &connector).await;
    let shown = run(&["status", "--json"]).await.stdout;
    let shown: Vec<Value> = serde_json::from_slice(&shown).unwrap();
    let id =
        shown.iter().find(|shown| shown["name"] == "harbour").unwrap()["connector_id"].to_string();
    service.kill().await;
    let asked = text(run(&["run", &id]).await.stdout);
    assert!(asked.contains("no service uses") && asked.contains("when one does"), "{asked}");
}

fn own((path, status): (&str, u16)) -> (String, u16) {
    (path.to_owned(), status)
}
