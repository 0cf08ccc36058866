//! Providers of language models.

use serde_json::json;

use crate::inventory::rules::{Kind, Need};
use crate::inventory::table::Policy::{Admin, Basic, Chat};
use crate::inventory::table::{Named, Row, Sent, body, query, row};

fn model(named: &Named) -> Sent {
    body(json!({"provider_id": named.number(), "model_name": "m"}))
}

pub(in crate::inventory) fn rows() -> Vec<Row> {
    let put = "PUT /admin/llm/provider";
    let provider = |route| row(route, Admin).names(Kind::Provider, Need::Edit);
    vec![
        row("GET /llm/provider", Chat).nothing("lists what the caller may use"),
        row("POST /search", Basic)
            .restricted("it searches")
            .names(Kind::UsableProvider, Need::See)
            .reads()
            .sends(|named| body(json!({"query": "a", "provider": named.name, "model": "m"}))),
        row("GET /admin/llm/provider", Admin).nothing("lists all"),
        row(put, Admin).nothing("makes one").sends(|named| Sent {
            query: "?is_creation=true".to_owned(),
            ..body(json!({"name": named.fresh(), "provider": "openai", "api_key": "sk-x",
                "api_key_changed": true}))
        }),
        provider(put).hidden(400).sends(|named| {
            body(json!({"id": named.number(), "name": named.fresh(), "provider": "openai"}))
        }),
        row(put, Admin).names(Kind::Audience, Need::See).hidden(400).sends(|named| Sent {
            query: "?is_creation=true".to_owned(),
            ..body(json!({"name": named.fresh(), "provider": "openai", "is_public": false,
                "groups": [named.number()]}))
        }),
        row(put, Admin).names(Kind::Agent, Need::See).hidden(400).sends(|named| Sent {
            query: "?is_creation=true".to_owned(),
            ..body(json!({"name": named.fresh(), "provider": "openai",
                "personas": [named.number()]}))
        }),
        provider("DELETE /admin/llm/provider/{provider_id}"),
        provider("POST /admin/llm/provider/{provider_id}/default"),
        provider("POST /admin/llm/provider/{provider_id}/default-vision")
            .sends(|_| query("?vision_model=m")),
        provider("POST /admin/llm/default").sends(model),
        provider("POST /admin/llm/default-vision").sends(model),
        provider("POST /admin/llm/default-chat-naming").sends(model),
        row("POST /admin/llm/test", Admin)
            .nothing("asks a model")
            .sends(|_| body(json!({"provider": "openai", "model": "m", "api_key": "sk-x"}))),
        row("POST /admin/llm/test/default", Admin).nothing("there is no default").alone().done(400),
        row("GET /admin/llm/built-in/options", Admin).nothing("the same everywhere"),
    ]
}
