//! Keys of programs, and tokens that people make.

use serde_json::json;

use crate::inventory::principals::Who;
use crate::inventory::rules::{Kind, Need, State};
use crate::inventory::table::Policy::{Admin, Basic};
use crate::inventory::table::{Row, body, row};

const OWN: &str = "the caller's own tokens";

/// A key that acts as a person is not changed.
fn acts_as_person(who: Option<&Who>, state: State) -> Option<u16> {
    who.filter(|_| state == State::Own).map(|_| 400)
}

pub(in crate::inventory) fn rows() -> Vec<Row> {
    let key = |route| row(route, Admin).names(Kind::ApiKey, Need::Edit);
    vec![
        row("GET /admin/api-key", Admin).nothing("lists keys"),
        row("POST /admin/api-key", Admin)
            .nothing("makes a key")
            .sends(|_| body(json!({"name": "crawler", "role": "basic"}))),
        key("PATCH /admin/api-key/{api_key_id}")
            .sends(|named| body(json!({"name": named.fresh(), "role": "admin"})))
            .but("a key of a person", acts_as_person),
        key("POST /admin/api-key/{api_key_id}/regenerate").but("a key of a person", acts_as_person),
        key("DELETE /admin/api-key/{api_key_id}"),
        row("GET /user/pats", Basic).nothing(OWN),
        row("POST /user/pats", Basic)
            .nothing(OWN)
            .sends(|_| body(json!({"name": "notebook", "expiration_days": 1}))),
        row("GET /user/pats/scopes", Basic).nothing("what there is"),
        row("DELETE /user/pats/{token_id}", Basic).names(Kind::AccessToken, Need::Edit),
    ]
}
