//! `/manage/connector` and `/manage/admin/connector`. The comments name the rows of the contract.

use serde_json::{Value, json};
use trove_domain::access::Role;
use trove_domain::connector::Connector;
use trove_domain::id::ConnectorId;
use trove_domain::source::DocumentSource;
use trove_engine::EngineConfig;

use crate::server::{Client, Server};

const ADMIN: &str = "/api/manage/admin/connector";
const READ: &str = "/api/manage/connector";

pub(crate) fn body(name: &str, source: &str) -> Value {
    json!({"name": name, "source": source, "input_type": "load_state",
        "connector_specific_config": {"base_url": "https://example.com"}, "access_type": "public"})
}

pub(super) fn with(mut body: Value, fields: Value) -> Value {
    let Value::Object(fields) = fields else { panic!("fields are an object") };
    body.as_object_mut().unwrap().extend(fields);
    body
}

pub(crate) async fn create(client: &Client<'_>, body: Value) -> i64 {
    let made = client.post(ADMIN, body).await.ok();
    assert_eq!(made["credential"], Value::Null);
    made["id"].as_i64().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connector_is_made_shown_changed_and_removed() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let start = "2025-01-02T03:04:05+01:00";
    let id = create(
        &admin,
        with(
            body("x", "web"),
            json!({"indexing_start": start, "refresh_freq": 1800,
            "everything": true, "unknown": 1, "connector_specific_config":
                {"base_url": "https://example.com", "everything": true, "n": [1, null]}}),
        ),
    )
    .await;
    let shown = admin.get(&format!("{READ}/{id}")).await.ok();
    let created = shown["time_created"].as_str().unwrap().to_owned();
    assert!(created.ends_with('Z'), "{created}");
    // Rows 3 and 4: what is not said stays null when it is made.
    let expected = json!({"id": id, "name": "x", "source": "web", "input_type": "load_state",
        "connector_specific_config": {"base_url": "https://example.com", "n": [1, null]},
        "refresh_freq": 1800, "prune_freq": null, "indexing_start": "2025-01-02T02:04:05",
        "credential_ids": [], "time_created": created, "time_updated": created});
    assert_eq!(shown, expected);
    // Rows 3, 4 and 5: everything is replaced, and the rest gets its default.
    let changed = with(body("x", "web"), json!({"indexing_start": "2030-01-01T00:00:00Z"}));
    let shown = admin.patch(&format!("{ADMIN}/{id}"), changed).await.ok();
    assert_eq!(shown["prune_freq"], Connector::PRUNE_FREQ_S);
    assert_eq!(shown["refresh_freq"], Value::Null);
    assert_eq!(shown["indexing_start"], "2025-01-02T02:04:05");
    assert_eq!(admin.get(&format!("{READ}/{id}")).await.ok(), shown);
    // Row 1: nobody runs it, and there is no pair.
    assert!(server.engine.backends().cc_pairs.list(None, 10).await.unwrap().is_empty());
    // Row 6: as often as one likes.
    for message in ["Connector deleted successfully", "Connector was already deleted"] {
        let deleted = admin.delete(&format!("{ADMIN}/{id}")).await.ok();
        assert_eq!(deleted, json!({"success": true, "message": message, "data": id}));
    }
    // Row 7.
    for path in [format!("{READ}/{id}"), format!("{READ}/999999")] {
        let detail = admin.get(&path).await.refused(404, "NOT_FOUND");
        assert!(detail.ends_with("does not exist"), "{detail}");
    }
    let missing = admin.patch(&format!("{ADMIN}/999999"), body("y", "web")).await;
    let detail = missing.refused(404, "NOT_FOUND");
    assert_eq!(detail, "Connector 999999 does not exist");
}

/// Row 2.
#[tokio::test(flavor = "multi_thread")]
async fn a_name_is_taken_within_a_source() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    create(&admin, body("x", "web")).await;
    let taken = "Connector by this name already exists, duplicate naming not allowed.";
    let detail = admin.post(ADMIN, body("x", "web")).await.refused(400, "INVALID_INPUT");
    assert_eq!(detail, taken);
    let other = create(&admin, body("x", "slack")).await;
    let renamed = admin.patch(&format!("{ADMIN}/{other}"), body("x", "web")).await;
    assert_eq!(renamed.refused(400, "INVALID_INPUT"), taken);
}

/// Rows 8 and 9.
#[tokio::test(flavor = "multi_thread")]
async fn lists_leave_the_connector_of_posted_documents_out() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let ids = [create(&admin, body("a", "web")).await, create(&admin, body("b", "web")).await];
    for path in [ADMIN, READ] {
        let listed = admin.get(path).await.ok();
        let found: Vec<i64> =
            listed.as_array().unwrap().iter().map(|c| c["id"].as_i64().unwrap()).collect();
        assert_eq!(found, ids);
    }
    assert_eq!(admin.get(&format!("{ADMIN}?credential=424242")).await.ok(), json!([]));
    let posted = admin.get(&format!("{READ}/0")).await.ok();
    assert_eq!(posted["source"], "ingestion_api");
    assert_eq!(posted["credential_ids"], json!([0]));
    // It is not to be touched.
    admin.delete(&format!("{ADMIN}/0")).await.refused(400, "INVALID_INPUT");
    admin.patch(&format!("{ADMIN}/0"), body("x", "web")).await.refused(400, "INVALID_INPUT");
}

/// Rows 92 to 94.
#[tokio::test(flavor = "multi_thread")]
async fn curators_make_what_is_public_or_belongs_to_their_groups() {
    let server = Server::start().await;
    let curator = server.user("curator@example.com", Role::Curator).await;
    let own = server.group("own", &[("curator@example.com", true)]).await.0;
    let joined = server.group("joined", &[("curator@example.com", false)]).await.0;
    let private = |name: &str, groups: Value| {
        with(body(name, "web"), json!({"access_type": "private", "groups": groups}))
    };
    let detail = curator.post(ADMIN, private("a", json!([]))).await.refused(400, "INVALID_INPUT");
    assert_eq!(detail, "Curators must specify 1+ groups");
    let foreign = curator.post(ADMIN, private("a", json!([own, joined]))).await;
    let detail = foreign.refused(400, "INVALID_INPUT");
    assert!(detail.starts_with("Curators cannot control groups they don't curate"), "{detail}");
    create(&curator, private("a", json!([own]))).await;
    create(&curator, body("b", "web")).await;
    create(&curator, with(body("c", "web"), json!({"access_type": "sync"}))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_source_of_connectors_is_refused() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    for source in ["ingestion_api", "not_applicable", "user_file"] {
        let detail = admin.post(ADMIN, body("x", source)).await.refused(400, "INVALID_INPUT");
        assert!(detail.contains(source), "{detail}");
    }
    // A folder of the server is not for those who reach it over the network.
    let folder = json!({"connector_specific_config": {"folder": "/etc"}});
    let refused = admin.post(ADMIN, with(body("x", "file"), folder.clone())).await;
    let detail = refused.refused(400, "INVALID_INPUT");
    assert!(detail.contains("folder"), "{detail}");
    let id = create(&admin, body("x", "file")).await;
    let refused = admin.patch(&format!("{ADMIN}/{id}"), with(body("x", "file"), folder)).await;
    refused.refused(400, "INVALID_INPUT");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_enabled_sources_are_connected() {
    let enabled = Some([DocumentSource::Slack].into());
    let config = EngineConfig { enabled_sources: enabled, ..EngineConfig::default() };
    let server = Server::changed_with(config, |backends| backends).await;
    let admin = server.caller(Role::Admin).await;
    let detail = admin.post(ADMIN, body("x", "web")).await.refused(400, "INVALID_INPUT");
    assert!(detail.contains("web is not enabled"), "{detail}");
    let id = create(&admin, body("x", "slack")).await;
    let changed = admin.patch(&format!("{ADMIN}/{id}"), body("x", "web")).await;
    changed.refused(400, "INVALID_INPUT");
}

#[tokio::test(flavor = "multi_thread")]
async fn all_failures_of_a_body_are_told_together() {
    let server = Server::start().await;
    let admin = server.caller(Role::Admin).await;
    let bad = json!({"name": " ", "source": "Web", "input_type": "push",
        "connector_specific_config": [], "refresh_freq": -1, "prune_freq": 2_147_483_648_i64,
        "indexing_start": "soon", "groups": ["x"]});
    admin.post(ADMIN, bad).await.invalid(&[
        "body/name value_error",
        "body/source enum",
        "body/input_type enum",
        "body/connector_specific_config dict_type",
        "body/refresh_freq greater_than_equal",
        "body/prune_freq less_than_equal",
        "body/indexing_start datetime_from_date_parsing",
        "body/access_type missing",
        "body/groups/0 int_parsing",
    ]);
    admin.get(&format!("{READ}/x")).await.invalid(&["path/connector_id int_parsing"]);
    let large = "x".repeat(Connector::CONFIG_BYTES_MAX);
    let large = with(body("x", "web"), json!({"connector_specific_config": {"k": large}}));
    let detail = admin.post(ADMIN, large).await.refused(400, "INVALID_INPUT");
    assert!(detail.contains("bytes"), "{detail}");
    assert!(server.engine.connector(ConnectorId(1)).await.is_err());
}
