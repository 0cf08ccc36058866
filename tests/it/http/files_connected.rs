//! What connectors do with uploaded files: what they are called, what becomes of those that are lost
//! or that nobody names, and what waits or is refused.

use std::fs;

use chrono::TimeDelta;
use futures::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use trove_domain::access::Role;
use trove_domain::id::CcPairId;
use trove_domain::port::FileKey;

use super::connectors::create;
use super::files::{
    ADMIN, Files, connected, file, names, reading, removal, update, upload, uploaded,
};
use crate::server::Client;

const PAIR: &str = "/api/manage/admin/cc-pair";

async fn pair(client: &Client<'_>, pair: CcPairId) -> Value {
    client.get(&format!("{PAIR}/{pair}")).await.ok()
}

/// Ids of the documents of a pair.
async fn documents(files: &Files, pair: CcPairId) -> Vec<String> {
    let store = &files.server.engine.backends().documents;
    let listed = store.list_by_pair(pair, None, 100).await.unwrap();
    listed.items.into_iter().map(|document| document.id.into_string()).collect()
}

fn document(id: &Value) -> String {
    format!("FILE_CONNECTOR__{}", id.as_str().unwrap())
}

/// An id says nothing about what a file is; the name that it was uploaded with does.
#[tokio::test(flavor = "multi_thread")]
async fn files_that_the_configuration_does_not_name_are_read_by_their_own_names() {
    let files = Files::start().await;
    let admin = files.server.caller(Role::Admin).await;
    let a = uploaded(&admin, "a.txt", b"the zebra is striped").await;
    let b = uploaded(&admin, "b.md", b"# The *walrus* has tusks").await;
    for (n, config) in [
        json!({"file_locations": [a, b]}),
        json!({"file_locations": [a, b], "file_names": ["other.txt"]}),
        json!({"file_locations": [a, b], "file_names": null}),
    ]
    .into_iter()
    .enumerate()
    {
        let (connector, made) = connected(&admin, &format!("c{n}"), config).await;
        files.index(async || pair(&admin, made).await["status"] == "ACTIVE").await;
        let shown = pair(&admin, made).await;
        assert_eq!(
            (&shown["num_docs_indexed"], &shown["last_index_attempt_status"]),
            (&json!(2), &json!("success")),
            "{shown}"
        );
        // A change writes the names down.
        let changed = update(&admin, connector, &[file("c.txt", b"more")]).await.ok();
        let first = if n == 1 { "other.txt" } else { "a.txt" };
        assert_eq!(changed["file_names"], json!([first, "b.md", "c.txt"]));
    }
    let found = admin.search(json!({"query": "walrus"})).await.titles();
    assert_eq!(found[0], "b.md");
}

/// What cannot be read is not gone: it is still listed.
#[tokio::test(flavor = "multi_thread")]
async fn a_document_stays_when_its_stored_file_is_lost() {
    let files = Files::start().await;
    let admin = files.server.caller(Role::Admin).await;
    let a = uploaded(&admin, "a.txt", b"the zebra is striped").await;
    let b = uploaded(&admin, "b.txt", b"the walrus has tusks").await;
    let (_, made) = connected(&admin, "c", json!({"file_locations": [a, b]})).await;
    files.index(async || pair(&admin, made).await["status"] == "ACTIVE").await;
    assert_eq!(documents(&files, made).await.len(), 2);
    fs::remove_file(files.place().join(a.as_str().unwrap())).unwrap();
    admin.post(&format!("{PAIR}/{made}/prune"), Value::Null).await.ok();
    files.index(async || pair(&admin, made).await["last_pruned"].is_string()).await;
    let mut expected = [document(&a), document(&b)];
    expected.sort();
    assert_eq!(documents(&files, made).await, expected);
    assert_eq!(admin.search(json!({"query": "zebra"})).await.titles()[0], "a.txt");
}

/// There is nothing that it would be the size of.
#[tokio::test(flavor = "multi_thread")]
async fn a_lost_file_has_neither_size_nor_date() {
    let files = Files::start().await;
    let admin = files.server.caller(Role::Admin).await;
    let (a, b) =
        (uploaded(&admin, "a.txt", b"one").await, uploaded(&admin, "b.txt", b"three").await);
    let config = json!({"file_locations": [a, b], "file_names": ["a.txt", "b.txt"]});
    let (connector, _) = connected(&admin, "c", config).await;
    fs::remove_file(files.place().join(a.as_str().unwrap())).unwrap();
    let listed = admin.get(&format!("{ADMIN}/{connector}/files")).await.ok();
    let lost = json!({"file_id": a, "file_name": "a.txt", "file_size": null, "upload_date": null});
    assert_eq!(listed["files"][0], lost);
    assert_eq!((&listed["files"][1]["file_id"], &listed["files"][1]["file_size"]), (&b, &json!(5)));
}

/// Its files and its connector go with it.
#[tokio::test(flavor = "multi_thread")]
async fn a_connector_that_is_being_deleted_takes_neither_files_nor_pairs() {
    let files = Files::start().await;
    let admin = files.server.caller(Role::Admin).await;
    let a = uploaded(&admin, "a.txt", b"one").await;
    let (connector, made) = connected(&admin, "c", json!({"file_locations": [a]})).await;
    let credential = pair(&admin, made).await["credential"]["id"].clone();
    let associate = async |credential: &Value| {
        let path = format!("/api/manage/connector/{connector}/credential/{credential}");
        admin.put(&path, json!({"name": "again", "access_type": "public", "groups": []})).await
    };
    let body = json!({"connector_id": connector, "credential_id": credential});
    admin.post("/api/manage/admin/deletion-attempt", body).await.ok();
    assert_eq!(pair(&admin, made).await["status"], "DELETING");
    let refused = update(&admin, connector, &[file("b.txt", b"two")]).await;
    let detail = refused.refused(400, "INVALID_INPUT");
    assert!(detail.contains("is being deleted") && detail.contains("new connector"), "{detail}");
    let path = format!("{ADMIN}/{connector}/files/update");
    admin.send(Method::POST, &path, None).await.refused(400, "INVALID_INPUT");
    assert_eq!(names(&admin, connector).await, [a.as_str().unwrap()]);
    files.assert_stored(1).await;
    let other = json!({"credential_json": {}, "source": "file", "admin_public": true,
        "curator_public": false, "groups": [], "name": "other"});
    let other = admin.post("/api/manage/credential", other).await.ok()["id"].clone();
    for credential in [&credential, &other] {
        let detail = associate(credential).await.refused(400, "INVALID_INPUT");
        assert!(
            detail.contains("is being deleted") && detail.contains("new connector"),
            "{detail}"
        );
    }
}

/// Whoever comes second waits for its turn.
#[tokio::test(flavor = "multi_thread")]
async fn many_changes_at_the_same_time_all_count() {
    let files = Files::start().await;
    let admin = files.server.caller(Role::Admin).await;
    let a = uploaded(&admin, "a.txt", b"one").await;
    let config = json!({"file_locations": [a], "file_names": ["a.txt"]});
    let (connector, _) = connected(&admin, "c", config).await;
    let more: Vec<String> = (10..40).map(|n| format!("{n}.txt")).collect();
    let change = async |name: &String| update(&admin, connector, &[file(name, b"text")]).await.ok();
    join_all(more.iter().map(change)).await;
    let mut found = names(&admin, connector).await.split_off(1);
    found.sort();
    assert_eq!(found, more);
    files.assert_stored(31).await;
}

/// A day after they were uploaded, or after the last connector stopped naming them.
#[tokio::test(flavor = "multi_thread")]
async fn files_that_nobody_names_are_removed_after_a_day() {
    let files = Files::start().await;
    let (server, clock) = (&files.server, &files.server.stack.clock);
    let admin = server.caller(Role::Admin).await;
    let sweep = async || server.engine.remove_unnamed_files().await.unwrap();
    let id = |id: &Value| id.as_str().unwrap().to_owned();
    let named = uploaded(&admin, "named.txt", b"1").await;
    let listed = upload(&admin, &[file("list.txt", b"https://example.com/")]).await.ok();
    let list = listed["file_paths"][0].clone();
    let gone = uploaded(&admin, "gone.txt", b"2").await;
    let lost = uploaded(&admin, "lost.txt", b"3").await;
    let config = json!({"file_locations": [named], "file_names": ["named.txt"]});
    let (connector, _) = connected(&admin, "c", config).await;
    let mut site = reading("w", json!({"base_url": list, "web_connector_type": "upload"}));
    site["source"] = json!("web");
    create(&admin, site).await;
    // Its content is in the directory of another process.
    fs::remove_file(files.place().join(id(&lost))).unwrap();
    let reserved = FileKey::new("reserved").unwrap();
    let stored = &server.engine.backends().stored_files;
    let now = trove_domain::port::Clock::now(&**clock);
    stored.reserve(std::slice::from_ref(&reserved), None, now).await.unwrap();
    assert_eq!(sweep().await, 0);
    clock.advance(TimeDelta::hours(23));
    let new = uploaded(&admin, "new.txt", b"4").await;
    assert_eq!(sweep().await, 0);
    clock.advance(TimeDelta::hours(2));
    assert_eq!(sweep().await, 1);
    let mut expected = vec![id(&named), id(&list), id(&new)];
    expected.sort();
    assert_eq!(files.contents(), expected);
    let rows = |ids: &[&Value]| -> Vec<FileKey> {
        ids.iter().map(|key| FileKey::new(id(key)).unwrap()).collect()
    };
    assert_eq!(stored.find(&rows(&[&gone])).await.unwrap(), []);
    assert_eq!(stored.find(&rows(&[&lost])).await.unwrap().len(), 1, "another process's");
    assert_eq!(stored.list_unfinished(None, 9).await.unwrap(), [reserved], "an upload goes on");
    let missing = reading("d", json!({"file_locations": [gone]}));
    admin.post(ADMIN, missing).await.refused(400, "INVALID_INPUT");

    // What a connector stops naming may be wanted back for a day.
    let first = json!([named]).to_string();
    let changed = update(&admin, connector, &[removal(&first), file("b.txt", b"5")]).await.ok();
    assert_eq!(sweep().await, 0);
    clock.advance(TimeDelta::hours(23));
    assert_eq!(sweep().await, 1, "the one that was new");
    let mut back = reading("c", json!({"file_locations": [named, changed["file_paths"][0]]}));
    back["access_type"] = json!("public");
    admin.patch(&format!("{ADMIN}/{connector}"), back.clone()).await.ok();
    clock.advance(TimeDelta::hours(50));
    assert_eq!(sweep().await, 0);
    back["connector_specific_config"] = json!({"file_locations": changed["file_paths"]});
    admin.patch(&format!("{ADMIN}/{connector}"), back).await.ok();
    assert_eq!(sweep().await, 0);
    clock.advance(TimeDelta::hours(25));
    assert_eq!(sweep().await, 1);
    let mut expected = vec![id(&list), id(&changed["file_paths"][0])];
    expected.sort();
    assert_eq!(files.contents(), expected);
}

/// Whoever is about to name a file finds it where it was, or not at all.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_being_named_is_not_removed() {
    let files = Files::start().await;
    let (server, clock) = (&files.server, &files.server.stack.clock);
    let admin = server.caller(Role::Admin).await;
    let mut ids = Vec::new();
    for _ in 0..8 {
        ids.push(uploaded(&admin, "a.txt", b"1").await);
    }
    clock.advance(TimeDelta::days(2));
    let make = async |(n, id): (usize, &Value)| {
        let made =
            admin.post(ADMIN, reading(&n.to_string(), json!({"file_locations": [id]}))).await;
        made.status == 200
    };
    let naming = join_all(ids.iter().enumerate().map(make));
    let (made, swept) = futures::join!(naming, server.engine.remove_unnamed_files());
    let made_of = ids.iter().zip(&made).filter(|(_, made)| **made).map(|(id, _)| id);
    let mut expected: Vec<&str> = made_of.map(|id| id.as_str().unwrap()).collect();
    expected.sort_unstable();
    assert_eq!(files.contents(), expected);
    assert_eq!(usize::try_from(swept.unwrap()).unwrap() + expected.len(), 8);
}
