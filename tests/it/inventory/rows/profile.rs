//! What people set for themselves.

use serde_json::json;

use crate::inventory::table::Policy::Basic;
use crate::inventory::table::{Row, body, query, row};

const OWN: &str = "the caller's own settings";

pub(in crate::inventory) fn rows() -> Vec<Row> {
    let own = |route| row(route, Basic).nothing(OWN);
    vec![
        own("PATCH /user/personalization").sends(|_| body(json!({"name": "n"}))),
        own("PATCH /user/default-model").sends(|_| body(json!({"default_model": "m"}))),
        own("PATCH /user/theme-preference").sends(|_| body(json!({"theme_preference": "dark"}))),
        own("PATCH /user/chat-background").sends(|_| body(json!({"chat_background": "b"}))),
        own("PATCH /user/default-app-mode").sends(|_| body(json!({"default_app_mode": "SEARCH"}))),
        own("PATCH /auto-scroll").sends(|_| body(json!({"auto_scroll": true}))),
        own("PATCH /temperature-override-enabled")
            .sends(|_| query("?temperature_override_enabled=true")),
        own("PATCH /shortcut-enabled").sends(|_| query("?shortcut_enabled=true")),
    ]
}
