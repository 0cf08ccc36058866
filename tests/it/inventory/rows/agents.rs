//! Agents, their labels and tools.

use serde_json::{Value, json};

use crate::inventory::rules::{Kind, Need, State};
use crate::inventory::table::Policy::{Admin, Basic, Chat, Curator, Limited};
use crate::inventory::table::{Named, Request, Row, Sent, body, query, row};

const OWN: &str = "lists what the caller sees";

fn agent(named: &Named, fields: Value) -> Sent {
    let mut agent = json!({"name": named.fresh(), "description": "", "system_prompt": "",
        "task_prompt": "", "document_set_ids": [], "tool_ids": [], "datetime_aware": true});
    let Value::Object(fields) = fields else { panic!("fields are an object") };
    agent.as_object_mut().unwrap().extend(fields);
    body(agent)
}

fn plain(named: &Named) -> Sent {
    agent(named, json!({}))
}

pub(super) fn with_set(named: &Named) -> Sent {
    agent(named, json!({"document_set_ids": [named.number()]}))
}

fn with_document(named: &Named) -> Sent {
    agent(named, json!({"document_ids": [named.id]}))
}

fn with_group(named: &Named) -> Sent {
    agent(named, json!({"groups": [named.number()]}))
}

fn with_user(named: &Named) -> Sent {
    agent(named, json!({"users": [named.id]}))
}

fn with_label(named: &Named) -> Sent {
    agent(named, json!({"label_ids": [named.number()]}))
}

fn with_tool(named: &Named) -> Sent {
    agent(named, json!({"tool_ids": [named.number()]}))
}

fn with_model(named: &Named) -> Sent {
    let fields = json!({"llm_model_provider_override": named.name,
        "llm_model_version_override": "m"});
    agent(named, fields)
}

const MADE: &str = "POST /persona";
const CHANGED: &str = "PATCH /persona/{persona_id}";
const SHARED: &str = "PATCH /persona/{persona_id}/share";

/// What stands in the body of one that is made or changed, besides document sets.
pub(in crate::inventory) fn contents() -> Vec<Row> {
    let named: [(Kind, Request); 6] = [
        (Kind::ReadDocument, with_document),
        (Kind::Audience, with_group),
        (Kind::User, with_user),
        (Kind::Label, with_label),
        (Kind::Tool, with_tool),
        (Kind::UsableProvider, with_model),
    ];
    let mut rows = Vec::new();
    for (kind, request) in named {
        rows.push(row(MADE, Basic).names(kind, Need::See).hidden(400).sends(request));
        let changed = row(CHANGED, Basic).names(kind, Need::See).on(Kind::Agent);
        rows.push(changed.hidden(400).sends(request));
    }
    rows
}

pub(in crate::inventory) fn flags() -> Vec<Row> {
    let edit = |route| row(route, Curator).names(Kind::Agent, Need::Edit);
    vec![
        edit("PATCH /admin/persona/{persona_id}/visible")
            .sends(|_| body(json!({"is_visible": false}))),
        edit("PATCH /admin/persona/{persona_id}/listed")
            .sends(|_| body(json!({"is_listed": false}))),
        edit("PATCH /admin/persona/{persona_id}/default")
            .sends(|_| body(json!({"is_default_persona": true}))),
        edit("PATCH /admin/persona/{persona_id}/featured")
            .sends(|_| body(json!({"is_featured": true}))),
        row("PATCH /admin/persona/{persona_id}/undelete", Admin)
            .names(Kind::Agent, Need::Edit)
            .but("brings it back", |_, state| (state == State::Deleted).then_some(200)),
        row("PATCH /admin/agents/display-priorities", Admin)
            .names(Kind::Agent, Need::Edit)
            .sends(|named| body(json!({"display_priority_map": {named.id.clone(): 1}})))
            .but("lists show deleted ones, too", |_, state| {
                (state == State::Deleted).then_some(200)
            }),
    ]
}

pub(in crate::inventory) fn rows() -> Vec<Row> {
    vec![
        row("GET /persona", Chat).nothing(OWN),
        row("GET /persona", Chat)
            .names(Kind::Agent, Need::See)
            .hidden(200)
            .sends(|named| query(format!("?persona_ids={}", named.id))),
        row(MADE, Basic).nothing("makes one").sends(plain),
        row("GET /persona/labels", Basic).nothing("everybody's"),
        row("POST /persona/labels", Basic)
            .nothing("makes one")
            .sends(|named| body(json!({"name": named.fresh()}))),
        row("GET /persona/{persona_id}", Limited).names(Kind::Agent, Need::See),
        row(CHANGED, Basic).names(Kind::Agent, Need::Edit).sends(plain),
        row("DELETE /persona/{persona_id}", Basic).names(Kind::Agent, Need::Delete),
        row(SHARED, Basic).names(Kind::Agent, Need::Edit).sends(|_| body(json!({"user_ids": []}))),
        row(SHARED, Basic)
            .names(Kind::Audience, Need::See)
            .on(Kind::Agent)
            .hidden(400)
            .sends(|named| body(json!({"group_ids": [named.number()]}))),
        row(SHARED, Basic)
            .names(Kind::User, Need::See)
            .on(Kind::Agent)
            .hidden(400)
            .sends(|named| body(json!({"user_ids": [named.id]}))),
        row("PATCH /persona/{persona_id}/public", Basic)
            .names(Kind::Agent, Need::Edit)
            .sends(|named| body(json!({"is_public": named.state != State::Public}))),
        row("GET /agents", Chat).nothing(OWN),
        row("GET /admin/agents", Curator).nothing(OWN),
        row("GET /admin/persona", Curator).nothing(OWN),
        row("POST /admin/persona/upload-image", Basic).nothing("there are no pictures").done(501),
        row("GET /tool", Basic).nothing("everybody's"),
        row("GET /tool/{tool_id}", Basic).names(Kind::Tool, Need::See),
        row("GET /llm/persona/{persona_id}/providers", Chat).names(Kind::Agent, Need::See),
        row("POST /search", Basic)
            .restricted("it searches")
            .names(Kind::Agent, Need::See)
            .reads()
            .sends(|named| body(json!({"query": "apple", "persona_id": named.number()}))),
        // Nobody is told whether they exist: they are numbers in a list of the caller's own.
        row("PATCH /user/pinned-assistants", Basic)
            .names(Kind::Agent, Need::Ignore)
            .sends(|named| body(json!({"ordered_assistant_ids": [named.number()]}))),
        row("PATCH /user/assistant-list/update/{assistant_id}", Basic)
            .names(Kind::Agent, Need::Ignore)
            .sends(|_| query("?show=true")),
    ]
}
