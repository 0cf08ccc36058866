//! Credentials.

use serde_json::{Value, json};
use trove_domain::access::Role;

use crate::inventory::rules::{Kind, Need, State};
use crate::inventory::table::Policy::{Admin, Basic, Curator};
use crate::inventory::table::{Named, Row, Sent, body, row};

fn credential(fields: Value) -> Sent {
    let mut credential = json!({"credential_json": {"token": "secret"}, "admin_public": true,
        "source": "mock_connector", "curator_public": true});
    let Value::Object(fields) = fields else { panic!("fields are an object") };
    credential.as_object_mut().unwrap().extend(fields);
    body(credential)
}

fn changed(named: &Named) -> Sent {
    body(json!({"name": named.fresh(), "credential_json": {"token": "secret"}}))
}

pub(in crate::inventory) fn rows() -> Vec<Row> {
    vec![
        row("GET /manage/admin/credential", Curator).nothing("lists what the caller may use"),
        row("GET /manage/credential", Basic).nothing("lists what the caller may change"),
        row("GET /manage/admin/similar-credentials/{source_type}", Curator)
            .nothing("a source is no object")
            .done(422),
        row("POST /manage/credential", Curator)
            .nothing("makes one")
            .sends(|_| credential(json!({}))),
        row("POST /manage/credential", Curator).names(Kind::Group, Need::Edit).hidden(400).sends(
            |named| credential(json!({"curator_public": false, "groups": [named.number()]})),
        ),
        row("POST /manage/credential/private-key", Curator)
            .nothing("makes one; what is sent here is no form")
            .done(422),
        row("GET /manage/credential/{credential_id}", Basic)
            .names(Kind::UsableCredential, Need::See)
            .hidden(401),
        row("PATCH /manage/credential/{credential_id}", Basic)
            .names(Kind::Credential, Need::Edit)
            .hidden(401)
            .sends(changed),
        row("DELETE /manage/credential/force/{credential_id}", Basic)
            .names(Kind::Credential, Need::Edit)
            .hidden(400),
        row("DELETE /manage/credential/{credential_id}", Basic)
            .names(Kind::Credential, Need::Edit)
            .hidden(400),
        row("PUT /manage/admin/credential/{credential_id}", Basic)
            .names(Kind::Credential, Need::Edit)
            .hidden(401)
            .sends(changed),
        row("PUT /manage/admin/credential/private-key/{credential_id}", Basic)
            .nothing("what is sent here is no form")
            .done(422),
        row("DELETE /manage/admin/credential/{credential_id}", Admin)
            .names(Kind::Credential, Need::Edit)
            .hidden(400)
            .but("an administrator deletes any", |who, state| {
                let admin = who.is_some_and(|who| who.role == Role::Admin && !who.is_restricted);
                (admin && state == State::Foreign).then_some(200)
            }),
    ]
}
