//! Connectors with their credentials. The comments name the rows of the contract.

use std::time::Duration;

use serde_json::{Value, json};
use trove_domain::access::Role;
use trove_domain::id::{CcPairId, ConnectorId};
use trove_engine::EngineConfig;

use super::connectors::{body, create, with};
use crate::server::{Answer, Client, Server};

const ADMIN: &str = "/api/manage/admin";

async fn credential(client: &Client<'_>, source: &str, content: Value) -> i64 {
    let body = json!({"credential_json": content, "admin_public": true, "source": source,
        "curator_public": true});
    client.post("/api/manage/credential", body).await.ok()["id"].as_i64().unwrap()
}

async fn associate(client: &Client<'_>, connector: i64, credential: i64, body: Value) -> Answer {
    client.put(&format!("/api/manage/connector/{connector}/credential/{credential}"), body).await
}

fn public(name: &str) -> Value {
    json!({"name": name, "access_type": "public"})
}

/// A connector with a credential for `google_drive`: their keys and the pair's.
async fn made(client: &Client<'_>, name: &str) -> (i64, i64, i64) {
    let connector = create(client, body(name, "google_drive")).await;
    let credential = credential(client, "google_drive", json!({"token": "abcdefghijklmn"})).await;
    let made = associate(client, connector, credential, public(name)).await.ok();
    (connector, credential, made["data"].as_i64().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pair_is_made_shown_and_taken_apart() {
    let server = Server::start().await;
    let admin = server.user("admin@example.com", Role::Admin).await;
    let (connector, credential, pair) = made(&admin, "Drive").await;
    let shown = admin.get(&format!("{ADMIN}/cc-pair/{pair}")).await.ok();
    let expected = json!({"id": pair, "name": "Drive", "status": "SCHEDULED",
        "in_repeated_error_state": false, "num_docs_indexed": 0, "number_of_index_attempts": 0,
        "access_type": "public", "is_editable_for_current_user": true, "indexing": false,
        "creator_email": "admin@example.com", "permission_syncing": false});
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(shown[key], *value, "{key}");
    }
    assert_eq!(shown.as_object().unwrap().len(), 25);
    assert_eq!(shown["connector"]["credential_ids"], json!([credential]));
    assert_eq!(shown["credential"]["credential_json"], json!({"token": "abcd...klmn"}));
    let listed = admin.get(&format!("{ADMIN}/connector/status")).await.ok();
    let expected = json!([{"cc_pair_id": pair, "name": "Drive", "connector": shown["connector"],
        "credential": shown["credential"], "access_type": "public", "groups": []}]);
    assert_eq!(listed, expected);
    // Row 15.
    let again = associate(&admin, connector, credential, public("Other")).await.ok();
    let message = format!("Connector {connector} already has Credential {credential}");
    assert_eq!(again, json!({"success": false, "message": message, "data": connector}));
    let path = format!("/api/manage/connector/{connector}/credential/{credential}");
    // Row 22: what is read with it keeps it.
    let in_use = admin.delete(&format!("{ADMIN}/credential/{credential}")).await;
    in_use.refused(400, "INVALID_INPUT");
    assert_eq!(
        in_use.json()["message"],
        "Cannot delete credential as it is still associated with \
        1 connector(s) and 0 document(s). "
    );
    let message = format!("Credential {credential} removed from Connector");
    let done = json!({"success": true, "message": message, "data": connector});
    assert_eq!(admin.delete(&path).await.ok(), done);
    let gone = admin.delete(&path).await.ok();
    assert_eq!((&gone["success"], &gone["data"]), (&json!(false), &json!(connector)));
    admin.get(&format!("{ADMIN}/cc-pair/{pair}")).await.refused(404, "NOT_FOUND");
    admin.get(&format!("/api/manage/connector/{connector}")).await.ok();
    admin.delete(&format!("{ADMIN}/credential/{credential}")).await.ok();
}

/// Row 16, and everything else that is found out before a schedule tries.
#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_work_is_told_at_once() {
    let config =
        EngineConfig { source_check_timeout: Duration::from_millis(1), ..EngineConfig::default() };
    let server = Server::changed_with(config, |backends| backends).await;
    let admin = server.caller(Role::Admin).await;
    let good = credential(&admin, "web", json!({})).await;
    let drive = credential(&admin, "google_drive", json!({"token": "wrong-0123456789"})).await;
    let refused = async |config: Value, source: &str, credential: i64, access: &str| {
        let name = format!("{config}{source}{credential}");
        let fields = json!({"connector_specific_config": config});
        let connector = create(&admin, with(body(&name, source), fields)).await;
        let body = json!({"name": name, "access_type": access});
        let answer = associate(&admin, connector, credential, body).await;
        // The connector stays.
        admin.get(&format!("/api/manage/connector/{connector}")).await.ok();
        answer.refused(400, "INVALID_INPUT")
    };
    let detail = refused(json!({"foo": 1}), "web", good, "public").await;
    assert_eq!(detail, "Connector validation error: foo is not a key");
    let detail = refused(json!({"down": 1}), "web", good, "public").await;
    assert_eq!(detail, "Connector validation error: example.com does not answer");
    let detail = refused(json!({"slow": 1}), "web", good, "public").await;
    assert_eq!(
        detail,
        "Connector validation error: web did not say within 1 ms whether it can be read \
         (indexing.source_check_timeout_ms); look whether it answers, and try again"
    );
    let detail = refused(json!({}), "google_drive", drive, "public").await;
    assert_eq!(detail, "Connector validation error: the token is refused");
    let detail = refused(json!({}), "web", good, "sync").await;
    assert_eq!(detail, "Connector of type web does not support SYNC access type");
    // What there is no reader for, with those that there are.
    let detail = refused(json!({}), "slack", good, "public").await;
    assert!(detail.contains("slack") && detail.ends_with("web, file, google_drive"), "{detail}");
    // A secret is not sent to another source.
    let detail = refused(json!({}), "web", drive, "public").await;
    assert!(detail.contains("google_drive"), "{detail}");
    let connector = create(&admin, body("web", "web")).await;
    associate(&admin, 4711, good, public("x")).await.refused(404, "NOT_FOUND");
    let missing = associate(&admin, connector, 4711, public("x")).await;
    let detail = missing.refused(401, "UNAUTHENTICATED");
    assert_eq!(detail, "Credential 4711 does not exist or does not belong to user");
    // What is posted, and what is private to nobody.
    associate(&admin, 0, good, public("x")).await.refused(400, "INVALID_INPUT");
    let nowhere = json!({"name": "x", "access_type": "private", "groups": [4711]});
    associate(&admin, connector, good, nowhere).await.refused(400, "INVALID_INPUT");
    let bad = json!({"access_type": "open", "groups": {}, "auto_sync_options": 1,
        "processing_mode": "RAW_BINARY"});
    admin.put("/api/manage/connector/x/credential/y", bad).await.invalid(&[
        "path/connector_id int_parsing",
        "path/credential_id int_parsing",
        "body/access_type enum",
        "body/auto_sync_options dict_type",
        "body/groups list_type",
        "body/processing_mode enum",
    ]);
    assert!(server.engine.backends().cc_pairs.list(None, 10).await.unwrap().is_empty());
    // What a pair keeps is bounded, too.
    let options = |bytes: usize| json!({"name": "o", "access_type": "public", "auto_sync_options": {"o": "x".repeat(bytes)}});
    let max = trove_domain::cc_pair::CcPair::OPTIONS_BYTES_MAX - r#"{"o":""}"#.len();
    let refused = associate(&admin, connector, good, options(max + 1)).await;
    let detail = refused.refused(400, "INVALID_INPUT");
    assert_eq!(detail, "auto_sync_options: they have at most 65536 bytes");
    associate(&admin, connector, good, options(max)).await.ok();
}

/// Connectors are for curators to list: to others those exist whose pairs they see, and taking a
/// credential away tells no more.
#[tokio::test(flavor = "multi_thread")]
async fn taking_a_credential_away_tells_nothing_of_what_others_have() {
    let server = Server::start().await;
    let admin = server.user("admin@example.com", Role::Admin).await;
    let basic = server.user("basic@example.com", Role::Basic).await;
    let curator = server.user("curator@example.com", Role::GlobalCurator).await;
    let told = async |who: &Client<'_>, connector: i64, credential: i64| {
        let path = format!("/api/manage/connector/{connector}/credential/{credential}");
        let detail = who.delete(&path).await.refused(404, "NOT_FOUND");
        // Both are named as they were asked for.
        let named = format!("ID '{connector}' and credential ID '{credential}'");
        assert!(detail.contains(&named), "{detail}");
        detail.replace(&named, "IDs")
    };
    let connector = create(&admin, body("c", "web")).await;
    let bare = create(&admin, body("bare", "web")).await;
    let secret = json!({"credential_json": {"k": "0123456789abcdef"}, "admin_public": false,
        "source": "google_drive"});
    let secret = admin.post("/api/manage/credential", secret).await.ok()["id"].as_i64().unwrap();
    let theirs = credential(&admin, "web", json!({})).await;
    let private = json!({"name": "private", "access_type": "private"});
    associate(&admin, connector, theirs, private).await.ok();
    let missing = told(&basic, 4711, 4711).await;
    for (connector, credential) in
        [(connector, theirs), (connector, secret), (connector, 4711), (bare, 4711), (0, 4711)]
    {
        assert_eq!(told(&basic, connector, credential).await, missing);
        assert_eq!(told(&basic, 4711, credential).await, missing);
    }
    // With a credential of one's own, too: the connector is somebody else's.
    let own = credential(&curator, "web", json!({})).await;
    assert_eq!(told(&curator, connector, own).await, missing);
    assert_eq!(told(&curator, 4711, own).await, missing);
    // The admin's own credential is known, and the pair is not the curator's to see.
    let path = format!("/api/manage/connector/{bare}/credential/{own}");
    assert_eq!(curator.delete(&path).await.ok()["success"], false);
}

#[tokio::test(flavor = "multi_thread")]
async fn names_status_and_frequencies_are_changed() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let (_, _, pair) = made(&admin, "a").await;
    let (_, _, other) = made(&admin, "b").await;
    let path = |what: &str| format!("{ADMIN}/cc-pair/{pair}/{what}");
    let renamed = admin.put(&path("name?new_name=c"), Value::Null).await.ok();
    assert_eq!((&renamed["success"], &renamed["data"]), (&json!(true), &json!(pair)));
    let taken = admin.put(&path("name?new_name=b"), Value::Null).await;
    assert_eq!(taken.refused(400, "INVALID_INPUT"), "Name must be unique");
    for status in ["PAUSED", "ACTIVE", "PAUSED"] {
        let set = admin.put(&path("status"), json!({"status": status})).await.ok();
        assert_eq!(set, json!({"message": "200"}));
        let shown = admin.get(&format!("{ADMIN}/cc-pair/{pair}")).await.ok();
        assert_eq!((&shown["status"], &shown["name"]), (&json!(status), &json!("c")));
    }
    for status in ["SCHEDULED", "DELETING", "INVALID", "INITIAL_INDEXING"] {
        let refused = admin.put(&path("status"), json!({"status": status})).await;
        refused.refused(400, "INVALID_INPUT");
    }
    admin.put(&path("status"), json!({"status": "paused"})).await.invalid(&["body/status enum"]);
    let property = async |name: &str, value: &str| {
        admin.put(&path("property"), json!({"name": name, "value": value})).await
    };
    property("refresh_frequency", "60").await.ok();
    property("pruning_frequency", "300").await.ok();
    for (name, value) in [
        ("refresh_frequency", "59"),
        ("pruning_frequency", "299"),
        ("refresh_frequency", "soon"),
        ("refresh_frequency", "99999999999"),
        ("other", "600"),
    ] {
        property(name, value).await.refused(400, "INVALID_INPUT");
    }
    let shown = admin.get(&format!("{ADMIN}/cc-pair/{pair}")).await.ok();
    assert_eq!(shown["connector"]["refresh_freq"], 60);
    assert_eq!(shown["connector"]["prune_freq"], 300);
    // What is posted has no schedule.
    let posted = format!("{ADMIN}/cc-pair/1/status");
    admin.put(&posted, json!({"status": "PAUSED"})).await.refused(400, "INVALID_INPUT");
    let shown = admin.get(&format!("{ADMIN}/cc-pair/{other}")).await.ok();
    assert_eq!((&shown["status"], &shown["name"]), (&json!("SCHEDULED"), &json!("b")));
}

/// Rows 32 and 33.
#[tokio::test(flavor = "multi_thread")]
async fn a_credential_is_swapped_for_one_of_the_same_source() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let (connector, _, pair) = made(&admin, "a").await;
    let swap = async |credential: i64| {
        let body = json!({"new_credential_id": credential, "connector_id": connector});
        admin.put(&format!("{ADMIN}/credential/swap"), body).await
    };
    let new = credential(&admin, "google_drive", json!({"token": "another-0123456"})).await;
    let done = swap(new).await.ok();
    let message = "Credential swapped successfully";
    assert_eq!(done, json!({"success": true, "message": message, "data": pair}));
    let shown = admin.get(&format!("{ADMIN}/cc-pair/{pair}")).await.ok();
    assert_eq!(shown["credential"]["id"], new);
    let foreign = credential(&admin, "slack", json!({"token": "another-0123456"})).await;
    swap(foreign).await.refused(400, "INVALID_INPUT");
    let wrong = credential(&admin, "google_drive", json!({"token": "wrong-0123456789"})).await;
    swap(wrong).await.refused(400, "INVALID_INPUT");
    swap(4711).await.refused(400, "INVALID_INPUT");
    let second = credential(&admin, "google_drive", json!({})).await;
    associate(&admin, connector, second, public("second")).await.ok();
    let third = credential(&admin, "google_drive", json!({})).await;
    swap(third).await.refused(400, "INVALID_INPUT");
    let shown = admin.get(&format!("{ADMIN}/cc-pair/{pair}")).await.ok();
    assert_eq!(shown["credential"]["id"], new);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connector_without_secret_is_made_in_one_call() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let path = format!("{ADMIN}/connector-with-mock-credential");
    let done = admin.post(&path, body("site", "web")).await.ok();
    let pair = done["data"].as_i64().unwrap();
    let shown = admin.get(&format!("{ADMIN}/cc-pair/{pair}")).await.ok();
    assert_eq!((&shown["name"], &shown["status"]), (&json!("site"), &json!("SCHEDULED")));
    assert_eq!(shown["credential"]["credential_json"], json!({}));
    assert_eq!(shown["credential"]["admin_public"], true);
    // What fails leaves nothing.
    let bad = with(body("bad", "web"), json!({"connector_specific_config": {"foo": 1}}));
    admin.post(&path, bad).await.refused(400, "INVALID_INPUT");
    admin.post(&path, body("site", "web")).await.refused(400, "INVALID_INPUT");
    let connectors = admin.get(&format!("{ADMIN}/connector")).await.ok();
    assert_eq!(connectors.as_array().unwrap().len(), 1);
    let credentials = admin.get("/api/manage/credential").await.ok();
    assert_eq!(credentials.as_array().unwrap().len(), 1);
    // Its documents are nobody's yet: it may be removed.
    let id = shown["connector"]["id"].clone();
    admin.delete(&format!("{ADMIN}/connector/{id}")).await.ok();
    let gone = server.engine.backends().cc_pairs.get(CcPairId(i32::try_from(pair).unwrap())).await;
    assert_eq!(gone.unwrap(), None);
}

/// Rows 99 and 100.
#[tokio::test(flavor = "multi_thread")]
async fn short_lists_show_what_the_caller_sees() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let basic = server.caller(Role::Basic).await;
    create(&admin, body("idle", "slack")).await;
    let (_, _, _) = made(&admin, "open").await;
    let connector = create(&admin, body("closed", "web")).await;
    let empty = credential(&admin, "web", json!({})).await;
    let private = json!({"name": "closed", "access_type": "private"});
    associate(&admin, connector, empty, private).await.ok();
    let sources = basic.get("/api/manage/indexed-sources").await.ok();
    assert_eq!(sources, json!({"sources": ["google_drive", "slack", "web"]}));
    let open =
        json!({"has_successful_run": false, "source": "google_drive", "status": "SCHEDULED"});
    let closed = json!({"has_successful_run": false, "source": "web", "status": "SCHEDULED"});
    let path = "/api/manage/connector-status";
    assert_eq!(basic.get(path).await.ok(), json!([open.clone()]));
    assert_eq!(admin.get(path).await.ok(), json!([open, closed]));
    assert_eq!(
        server.engine.connector(ConnectorId(0)).await.unwrap().details.name,
        "Ingestion API"
    );
}

/// Whoever decides where a connector reads decides where secrets go.
#[tokio::test(flavor = "multi_thread")]
async fn a_curator_does_not_send_anothers_secret_elsewhere() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let curator = server.user("curator@example.com", Role::Curator).await;
    let group = server.group("g", &[("curator@example.com", true)]).await.0;
    let connector = create(&admin, body("drive", "google_drive")).await;
    let secret = json!({"credential_json": {"token": "abcdefghijklmn"}, "admin_public": true,
        "source": "google_drive"});
    let secret = admin.post("/api/manage/credential", secret).await.ok()["id"].as_i64().unwrap();
    let shared = json!({"name": "drive", "access_type": "private", "groups": [group]});
    associate(&admin, connector, secret, shared).await.ok();
    let path = format!("{ADMIN}/connector/{connector}");
    let elsewhere = with(
        body("drive", "google_drive"),
        json!({"connector_specific_config": {"base_url": "https://elsewhere.example.com"},
            "access_type": "private", "groups": [group]}),
    );
    curator.patch(&path, elsewhere.clone()).await.refused(403, "INSUFFICIENT_PERMISSIONS");
    admin.patch(&path, elsewhere).await.ok();
    // Nor to another source.
    admin.patch(&path, body("drive", "web")).await.refused(400, "INVALID_INPUT");
    // Nor is it used for a connector of the curator's own.
    let own = with(body("own", "google_drive"), json!({"access_type": "public"}));
    let own = create(&curator, own).await;
    associate(&curator, own, secret, public("own")).await.refused(401, "UNAUTHENTICATED");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_credential_goes_with_its_pairs_when_somebody_insists() {
    let server = Server::start().await;
    let admin = server.user("admin@example.com", Role::Admin).await;
    let curator = server.user("curator@example.com", Role::GlobalCurator).await;
    let (connector, credential, pair) = made(&admin, "Drive").await;
    let path = format!("/api/manage/credential/force/{credential}");
    // Somebody else's, and none.
    let answer = curator.delete(&path).await;
    let foreign = answer.refused(400, "INVALID_INPUT").replace(&credential.to_string(), "ID");
    let missing = curator.delete("/api/manage/credential/force/4711").await;
    assert_eq!(missing.refused(400, "INVALID_INPUT").replace("4711", "ID"), foreign);
    admin.get(&format!("{ADMIN}/cc-pair/{pair}")).await.ok();
    let done = admin.delete(&path).await.ok();
    assert_eq!((&done["success"], &done["data"]), (&json!(true), &json!(credential)));
    admin.get(&format!("{ADMIN}/cc-pair/{pair}")).await.refused(404, "NOT_FOUND");
    admin.get(&format!("/api/manage/connector/{connector}")).await.ok();
    admin.delete(&path).await.refused(400, "INVALID_INPUT");
}

/// Whoever adds a pair to a connector makes what it reads readable for others.
#[tokio::test(flavor = "multi_thread")]
async fn nobody_publishes_what_a_pair_of_others_reads() {
    let server = Server::start().await;
    let admin = server.user("admin@example.com", Role::Admin).await;
    let curator = server.user("curator@example.com", Role::GlobalCurator).await;
    let connector = create(&admin, body("c", "web")).await;
    let theirs = credential(&admin, "web", json!({})).await;
    let private = json!({"name": "private", "access_type": "private"});
    associate(&admin, connector, theirs, private).await.ok();
    let own = credential(&curator, "web", json!({})).await;
    let refused = associate(&curator, connector, own, public("mine")).await;
    let refused = refused.refused(404, "NOT_FOUND");
    let missing = associate(&curator, 4711, own, public("mine")).await.refused(404, "NOT_FOUND");
    assert_eq!(refused.replace(&connector.to_string(), "ID"), missing.replace("4711", "ID"));
    // Nor what somebody else has uploaded, in whatever way it is named.
    let config = json!({"base_url": "no-such-file", "web_connector_type": "upload"});
    let list = with(body("list", "web"), json!({"connector_specific_config": config}));
    let refused = curator.post(&format!("{ADMIN}/connector"), list).await;
    refused.refused(400, "INVALID_INPUT");
    assert!(refused.text.contains("no-such-file"), "{refused:?}");
}
