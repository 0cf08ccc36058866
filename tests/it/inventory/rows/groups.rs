//! Groups of users.

use serde_json::{Value, json};
use trove_domain::access::Role;

use crate::inventory::principals::Who;
use crate::inventory::rules::{Kind, Need, State};
use crate::inventory::table::Policy::{Admin, Basic, Curator};
use crate::inventory::table::{Named, Row, Sent, body, row};

const OWN: &str = "lists what the caller sees";

fn group(named: &Named, users: &Value, pairs: &Value) -> Sent {
    body(json!({"name": named.fresh(), "user_ids": users, "cc_pair_ids": pairs}))
}

fn made(named: &Named) -> Sent {
    group(named, &json!([]), &json!([]))
}

fn with_user(named: &Named) -> Sent {
    group(named, &json!([named.id]), &json!([]))
}

fn with_pair(named: &Named) -> Sent {
    group(named, &json!([]), &json!([named.number()]))
}

fn member(named: &Named) -> Sent {
    body(json!({"user_id": named.member, "is_curator": true, "is_manager": true}))
}

fn stranger(named: &Named) -> Sent {
    body(json!({"user_id": named.id, "is_curator": true, "is_manager": true}))
}

/// Only the curator of the group itself, who curates it already.
fn unfit_to_curate(who: Option<&Who>, state: State) -> Option<u16> {
    let who = who?;
    let is_curator = state == State::Own && who.role == Role::Curator;
    (!is_curator).then_some(404)
}

const CHANGE: &str = "PATCH /manage/admin/user-group/{user_group_id}";
const ADD: &str = "POST /manage/admin/user-group/{user_group_id}/add-users";
const CURATE: &str = "POST /manage/admin/user-group/{user_group_id}/set-curator";
const MANAGE: &str = "PUT /manage/admin/user-group/{user_group_id}/manager";

pub(in crate::inventory) fn rows() -> Vec<Row> {
    let group = |route, policy| row(route, policy).names(Kind::Group, Need::Edit);
    let named_user = |route, policy| row(route, policy).names(Kind::User, Need::See);
    let mut rows = vec![
        row("GET /manage/admin/user-group", Curator).nothing(OWN),
        row("GET /manage/user-groups/minimal", Basic).nothing(OWN),
        row("POST /manage/admin/user-group", Admin).nothing("makes one").sends(made),
        named_user("POST /manage/admin/user-group", Admin).hidden(400).sends(with_user),
        row("POST /manage/admin/user-group", Admin)
            .names(Kind::Pair, Need::Edit)
            .hidden(400)
            .sends(with_pair),
        group("PATCH /manage/admin/user-group/rename", Curator)
            .sends(|named| body(json!({"id": named.number(), "name": named.fresh()}))),
        group(CHANGE, Curator).sends(made),
        named_user(CHANGE, Curator).on(Kind::Group).hidden(400).sends(with_user),
        row(CHANGE, Curator)
            .names(Kind::Pair, Need::Edit)
            .on(Kind::Group)
            .hidden(400)
            .refused(400)
            .sends(with_pair),
        group("DELETE /manage/admin/user-group/{user_group_id}", Admin),
        group(ADD, Curator).sends(|named| body(json!({"user_ids": [named.stranger]}))),
        named_user(ADD, Curator).on(Kind::Group).hidden(400).sends(with_user),
        group(CURATE, Curator).sends(member),
        group(MANAGE, Curator).sends(member),
    ];
    for route in [CURATE, MANAGE] {
        let unfit = named_user(route, Curator).on(Kind::Group).sends(stranger).reads();
        rows.push(unfit.but("neither who is no member nor who need not curate", unfit_to_curate));
    }
    rows
}
