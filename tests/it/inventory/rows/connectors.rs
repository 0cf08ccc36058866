//! Connectors.

use serde_json::{Value, json};

use crate::inventory::rules::{Kind, Need, State};
use crate::inventory::table::Policy::Curator;
use crate::inventory::table::{Named, Row, Sent, body, row};

fn connector(named: &Named, fields: Value) -> Sent {
    let mut connector = json!({"name": named.fresh(), "source": "mock_connector",
        "input_type": "poll", "connector_specific_config": {}, "access_type": "public"});
    let Value::Object(fields) = fields else { panic!("fields are an object") };
    connector.as_object_mut().unwrap().extend(fields);
    body(connector)
}

pub(in crate::inventory) fn rows() -> Vec<Row> {
    vec![
        row("GET /manage/admin/connector", Curator).nothing("lists what curators see"),
        row("GET /manage/admin/connector", Curator)
            .names(Kind::UsableCredential, Need::Ignore)
            .sends(|_| crate::inventory::table::query("?credential=990001")),
        row("GET /manage/connector", Curator).nothing("lists what curators see"),
        row("GET /manage/connector/{connector_id}", Curator).names(Kind::Connector, Need::See),
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
        row("DELETE /manage/admin/connector/{connector_id}", Curator)
            .names(Kind::Connector, Need::Edit)
            .but("what is gone is gone", |who, state| {
                let curates = who.is_some_and(|who| {
                    use trove_domain::access::Role::{Admin, Curator, GlobalCurator};
                    matches!(who.role, Admin | Curator | GlobalCurator) && !who.is_restricted
                });
                let missing = matches!(state, State::Missing | State::Deleted);
                (curates && missing).then_some(200)
            }),
    ]
}
