//! Users, invitations, and how people sign in.

use serde_json::json;

use crate::http::people::{PASSWORD, form as sign_in};
use crate::inventory::principals::Who;
use crate::inventory::rules::{Kind, Need, State};
use crate::inventory::table::Policy::{Admin, Basic, Chat, Curator, Limited, Public};
use crate::inventory::table::{Named, Row, Sent, body, form, row};

const LIST: &str = "lists users";
const SELF: &str = "the caller itself";
/// Whoever has a token is to learn what it is good for.
const WHOSE: &str = "what the token is";
const NOBODY: &str = "whoever it is";

fn address(named: &Named) -> Sent {
    body(json!({"user_email": named.id}))
}

/// Nobody does it to themselves.
fn not_to_oneself(who: Option<&Who>, state: State) -> Option<u16> {
    who.filter(|_| state == State::Own).map(|_| 400)
}

/// Somebody with a key has no session, and no password.
fn by_session_only<const OTHERWISE: u16>(who: Option<&Who>, _: State) -> Option<u16> {
    who.filter(|who| !who.by_session).map(|_| OTHERWISE)
}

fn administered() -> Vec<Row> {
    let user = |route| row(route, Admin).names(Kind::Address, Need::Edit).sends(address);
    let inactive =
        |route| row(route, Admin).names(Kind::InactiveAddress, Need::Edit).sends(address);
    vec![
        row("GET /manage/users/accepted", Admin).nothing(LIST),
        row("GET /manage/users/accepted/all", Admin).nothing(LIST),
        row("GET /manage/users/invited", Admin).nothing(LIST),
        row("GET /manage/users/counts", Admin).nothing(LIST),
        row("GET /manage/users/download", Admin).nothing(LIST),
        row("GET /manage/admin/valid-domains", Admin).nothing("the deployment itself"),
        user("PATCH /manage/set-user-role")
            .sends(|named| body(json!({"user_email": named.id, "new_role": "global_curator"})))
            .but("nobody changes its own role", not_to_oneself),
        user("PATCH /manage/admin/users/admin-access")
            .sends(|named| body(json!({"user_email": named.id, "is_admin": true}))),
        row("PUT /manage/admin/users", Admin)
            .nothing("invites somebody")
            .sends(|named| body(json!({"emails": [format!("{}@example.com", named.fresh())]}))),
        row("PATCH /manage/admin/remove-invited-user", Admin)
            .names(Kind::Invitation, Need::Edit)
            .sends(address)
            .but("what is not there is not there", |_, state| {
                (state == State::Missing).then_some(200)
            }),
        user("PATCH /manage/admin/deactivate-user").but("nobody keeps itself out", not_to_oneself),
        inactive("PATCH /manage/admin/activate-user")
            .but("whoever asks is active", |_, state| (state == State::Own).then_some(200)),
        inactive("DELETE /manage/admin/delete-user").but("whoever asks is active", not_to_oneself),
        user("POST /password/reset_password").alone(),
    ]
}

fn signing_in() -> Vec<Row> {
    vec![
        row("GET /auth/type", Public).nothing("the deployment itself"),
        row("POST /auth/register", Public).nothing(NOBODY).alone().done(201).sends(|named| {
            let email = format!("{}@example.com", named.fresh());
            body(json!({"email": email, "password": PASSWORD}))
        }),
        row("POST /auth/login", Public)
            .nothing(NOBODY)
            .alone()
            .done(204)
            .sends(|_| form(sign_in("session-of-the-team@example.com", PASSWORD))),
        row("POST /auth/logout", Limited)
            .nothing(SELF)
            .alone()
            .done(204)
            .but("only a session ends", by_session_only::<401>),
        row("POST /auth/refresh", Limited)
            .nothing(SELF)
            .alone()
            .done(204)
            .but("only a session goes on", by_session_only::<401>),
        row("POST /auth/forgot-password", Public)
            .names(Kind::Address, Need::Ignore)
            .done(202)
            .reads()
            .sends(|named| body(json!({"email": named.id}))),
        row("POST /auth/reset-password", Public)
            .nothing("there are no such tokens")
            .done(400)
            .sends(|_| body(json!({"token": "x", "password": PASSWORD}))),
        row("POST /auth/request-verify-token", Public)
            .nothing(NOBODY)
            .done(202)
            .sends(|_| body(json!({"email": "owner@example.com"}))),
        row("POST /auth/verify", Public)
            .nothing("there are no such tokens")
            .done(400)
            .sends(|_| body(json!({"token": "x"}))),
        row("GET /users/me", Limited).nothing(SELF),
        row("PATCH /users/me", Limited).nothing(SELF).alone().sends(|_| body(json!({}))),
        row("POST /password/change-password", Basic)
            .nothing(SELF)
            .alone()
            .sends(|_| {
                body(json!({"old_password": PASSWORD, "new_password": "another horse battery"}))
            })
            .but("who finds a key does not take the account", |who, _| {
                who.filter(|who| who.role != trove_domain::access::Role::Limited)
                    .and_then(|who| by_session_only::<403>(Some(who), State::Own))
            }),
    ]
}

pub(in crate::inventory) fn rows() -> Vec<Row> {
    let mut rows = vec![
        row("GET /me", Chat).nothing(SELF).restricted(WHOSE),
        row("GET /me/permissions", Basic).nothing(SELF).restricted(WHOSE),
        row("GET /get-user-role", Basic).nothing(SELF),
        row("GET /users", Basic).nothing(LIST),
        row("GET /manage/users", Curator).nothing(LIST),
        row("GET /settings", Chat).nothing("the deployment itself"),
        row("PUT /admin/settings", Admin)
            .nothing("the deployment itself")
            .sends(|named| body(json!({"company_name": named.fresh()}))),
        row("PATCH /admin/settings", Admin)
            .nothing("the deployment itself")
            .sends(|named| body(json!({"company_name": named.fresh()}))),
    ];
    rows.extend(administered());
    rows.extend(signing_in());
    rows
}
