//! Document sets.

use serde_json::{Value, json};

use crate::inventory::rules::{Kind, Need};
use crate::inventory::table::Policy::{Basic, Curator};
use crate::inventory::table::{Named, Row, Sent, body, row};

fn set(named: &Named, fields: Value) -> Value {
    let mut set = json!({"name": named.fresh(), "description": "", "cc_pair_ids": [1],
        "is_public": true, "users": [], "groups": []});
    let Value::Object(fields) = fields else { panic!("fields are an object") };
    set.as_object_mut().unwrap().extend(fields);
    set
}

/// Shared as it is, so that a curator may say so.
fn changed(named: &Named) -> Sent {
    let groups = named.groups();
    let fields = json!({"id": named.number(), "is_public": groups.is_empty(), "groups": groups});
    body(set(named, fields))
}

fn on(named: &Named) -> Value {
    json!(named.on.as_ref().map(|id| id.parse::<i64>().unwrap()))
}

const MADE: &str = "POST /manage/admin/document-set";
const CHANGED: &str = "PATCH /manage/admin/document-set";

pub(in crate::inventory) fn rows() -> Vec<Row> {
    vec![
        row("GET /manage/document-set", Basic).nothing("lists what the caller sees"),
        // What the caller does not see is not public, like what is not there.
        row("GET /manage/document-set-public", Basic)
            .names(Kind::DocumentSet, Need::See)
            .hidden(200)
            .sends(|named| body(json!({"document_set_ids": [named.number()]}))),
        row(MADE, Curator).nothing("makes one").sends(|named| body(set(named, json!({})))),
        row(MADE, Curator)
            .names(Kind::Pair, Need::See)
            .hidden(400)
            .sends(|named| body(set(named, json!({"cc_pair_ids": [named.number()]})))),
        row(MADE, Curator).names(Kind::Group, Need::Edit).hidden(400).sends(|named| {
            body(set(named, json!({"groups": [named.number()], "is_public": false})))
        }),
        row(MADE, Curator)
            .names(Kind::User, Need::See)
            .hidden(400)
            .sends(|named| body(set(named, json!({"users": [named.id]})))),
        row(CHANGED, Curator).names(Kind::DocumentSet, Need::Edit).sends(changed),
        row(CHANGED, Curator).names(Kind::Pair, Need::See).on(Kind::DocumentSet).hidden(400).sends(
            |named| body(set(named, json!({"id": on(named), "cc_pair_ids": [named.number()]}))),
        ),
        row(CHANGED, Curator)
            .names(Kind::Group, Need::Edit)
            .on(Kind::DocumentSet)
            .hidden(400)
            .sends(|named| {
                let fields = json!({"id": on(named), "groups": [named.number()],
                    "is_public": false});
                body(set(named, fields))
            }),
        row("DELETE /manage/admin/document-set/{document_set_id}", Curator)
            .names(Kind::DocumentSet, Need::Edit),
        row("POST /search", Basic)
            .restricted("it searches")
            .names(Kind::DocumentSet, Need::See)
            .hidden(403)
            .reads()
            .sends(|named| body(json!({"query": "apple", "document_sets": [named.name]}))),
        row("POST /search/send-search-message", Basic)
            .restricted("it searches")
            .names(Kind::DocumentSet, Need::See)
            .hidden(403)
            .sends(|named| {
                let filters = json!({"document_set": [named.name]});
                body(json!({"search_query": "apple", "filters": filters}))
            }),
        row("POST /persona", Basic)
            .names(Kind::DocumentSet, Need::See)
            .hidden(400)
            .sends(super::agents::with_set),
        row("PATCH /persona/{persona_id}", Basic)
            .names(Kind::DocumentSet, Need::See)
            .on(Kind::Agent)
            .hidden(400)
            .sends(super::agents::with_set),
    ]
}
