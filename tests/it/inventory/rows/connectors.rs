//! Connectors.

use serde_json::{Value, json};

use crate::inventory::principals::Who;
use crate::inventory::rules::{Kind, Need, Standing, State};
use crate::inventory::table::Policy::{Basic, Chat, Curator};
use crate::inventory::table::{Named, Row, Sent, body, row};

fn connector(named: &Named, fields: Value) -> Sent {
    let mut connector = json!({"name": named.fresh(), "source": "mock_connector",
        "input_type": "poll", "connector_specific_config": {}, "access_type": "public"});
    let Value::Object(fields) = fields else { panic!("fields are an object") };
    connector.as_object_mut().unwrap().extend(fields);
    body(connector)
}

/// Whether somebody lists connectors.
fn curates(who: Option<&Who>) -> bool {
    use trove_domain::access::Role::{Admin, Curator, GlobalCurator};
    who.is_some_and(|who| matches!(who.role, Admin | Curator | GlobalCurator) && !who.is_restricted)
}

pub(in crate::inventory) fn rows() -> Vec<Row> {
    vec![
        row("GET /manage/admin/connector", Curator).nothing("lists what curators see"),
        row("GET /manage/admin/connector", Curator)
            .names(Kind::UsableCredential, Need::Ignore)
            .sends(|_| crate::inventory::table::query("?credential=990001")),
        row("GET /manage/connector", Curator).nothing("lists what curators see"),
        row("GET /manage/connector/{connector_id}", Curator).names(Kind::Connector, Need::See).but(
            "curators see all of them, as in the list",
            |who, state| {
                let there = !matches!(state, State::Missing | State::Deleted);
                (curates(who) && there).then_some(200)
            },
        ),
        row("POST /manage/admin/connector", Curator)
            .nothing("makes one")
            .sends(|named| connector(named, json!({}))),
        row("POST /manage/admin/connector", Curator)
            .names(Kind::Group, Need::Edit)
            .hidden(400)
            .but("administrators name any group: it is only checked", |who, state| {
                let missing = matches!(state, State::Missing | State::Deleted);
                who.filter(|who| who.role == trove_domain::access::Role::Admin && missing)
                    .filter(|who| !who.is_restricted)
                    .map(|_| 200)
            })
            .sends(|named| {
                connector(named, json!({"access_type": "private", "groups": [named.number()]}))
            }),
        row("PATCH /manage/admin/connector/{connector_id}", Curator)
            .names(Kind::Connector, Need::Edit)
            .sends(|named| connector(named, json!({}))),
        row("POST /manage/admin/connector/file/upload", Curator)
            .nothing("stores files of the caller; what is sent here is no form")
            .done(422),
        row("GET /manage/admin/connector/{connector_id}/files", Curator)
            .names(Kind::ConnectorFiles, Need::See),
        // Without a form nothing changes: http/files.rs sends some.
        row("POST /manage/admin/connector/{connector_id}/files/update", Curator)
            .names(Kind::FileConnector, Need::Edit)
            .reads(),
        row("DELETE /manage/admin/connector/{connector_id}", Curator)
            .names(Kind::Connector, Need::Edit)
            .but("what is gone is gone", |who, state| {
                let missing = matches!(state, State::Missing | State::Deleted);
                (curates(who) && missing).then_some(200)
            })
            .but("and what is not the caller's is not", |who, state| {
                let hidden =
                    who.is_some_and(|who| Kind::Connector.standing(who, state) == Standing::Hidden);
                (curates(who) && hidden).then_some(403)
            }),
    ]
}

pub(in crate::inventory) fn pairs() -> Vec<Row> {
    let swapped = "PUT /manage/admin/credential/swap";
    vec![
        row("GET /manage/admin/connector/status", Curator).nothing("lists what the caller sees"),
        row("GET /manage/connector-status", Chat).nothing("lists what the caller sees"),
        row("GET /manage/indexed-sources", Basic).nothing("sources are no secret"),
        row("POST /manage/admin/connector-with-mock-credential", Curator)
            .nothing("makes both")
            .sends(|named| connector(named, json!({}))),
        row("GET /manage/admin/cc-pair/{cc_pair_id}", Curator)
            .names(Kind::ScheduledPair, Need::See),
        row("GET /manage/admin/cc-pair/{cc_pair_id}/index-attempts", Curator)
            .names(Kind::ScheduledPair, Need::See),
        row("GET /manage/admin/cc-pair/{cc_pair_id}/errors", Curator)
            .names(Kind::ScheduledPair, Need::See),
        row("GET /manage/admin/connector/failed-indexing-status", Curator)
            .nothing("lists what the caller sees"),
        row("POST /manage/admin/connector/indexing-status", Curator)
            .nothing("lists what the caller sees")
            .sends(|_| body(json!({}))),
        row("GET /manage/admin/cc-pair/{cc_pair_id}/get-docs-sync-status", Curator)
            .names(Kind::ScheduledPair, Need::See),
        row("GET /manage/admin/doc-boosts", Curator)
            .nothing("lists what the caller may change")
            .sends(|_| crate::inventory::table::query("?ascending=true&limit=10")),
        row("POST /manage/admin/doc-boosts", Curator)
            .nothing("whose a document is goes by its pairs: see http/flags.rs")
            .done(404)
            .sends(|_| body(json!({"document_id": "nothing", "boost": 1}))),
        row("POST /manage/admin/doc-hidden", Curator)
            .nothing("whose a document is goes by its pairs: see http/flags.rs")
            .done(404)
            .sends(|_| body(json!({"document_id": "nothing", "hidden": true}))),
        row("POST /manage/admin/connector/run-once", Curator)
            .names(Kind::Connector, Need::Edit)
            .sends(|named| body(json!({"connector_id": named.number()}))),
        row("PUT /manage/admin/cc-pair/{cc_pair_id}/status", Curator)
            .names(Kind::ScheduledPair, Need::Edit)
            .sends(|_| body(json!({"status": "PAUSED"}))),
        row("PUT /manage/admin/cc-pair/{cc_pair_id}/name", Curator)
            .names(Kind::ScheduledPair, Need::Edit)
            .sends(|named| crate::inventory::table::query(format!("?new_name={}", named.fresh()))),
        row("PUT /manage/admin/cc-pair/{cc_pair_id}/property", Curator)
            .names(Kind::ScheduledPair, Need::Edit)
            .sends(|_| body(json!({"name": "refresh_frequency", "value": "3600"}))),
        row("POST /manage/admin/cc-pair/{cc_pair_id}/prune", Curator)
            .names(Kind::ScheduledPair, Need::Edit),
        row("GET /manage/admin/cc-pair/{cc_pair_id}/last_pruned", Curator)
            .names(Kind::ScheduledPair, Need::See),
        row("POST /manage/admin/deletion-attempt", Curator)
            .nothing("two objects: see indexing/deletion.rs; there is nothing of this number")
            .alone()
            .done(404)
            .sends(|_| body(json!({"connector_id": 990_001, "credential_id": 990_001}))),
        // Both keys of the path are the same number here.
        row("PUT /manage/connector/{connector_id}/credential/{credential_id}", Curator)
            .nothing("two objects: see http/pairs.rs; there is nothing of this number")
            .alone()
            .done(404)
            .sends(|named| body(json!({"name": named.fresh(), "access_type": "public"}))),
        row("DELETE /manage/connector/{connector_id}/credential/{credential_id}", Basic)
            .nothing("two objects: see http/pairs.rs; there is nothing of this number")
            .alone()
            .done(404),
        row(swapped, Basic)
            .names(Kind::Credential, Need::Edit)
            .hidden(400)
            .reads()
            // The connector is looked up last.
            .done(404)
            .sends(|named| {
                body(json!({"new_credential_id": named.number(), "connector_id": 990_001}))
            }),
    ]
}
