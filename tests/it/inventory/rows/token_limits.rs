//! How many tokens may be used.

use serde_json::json;

use crate::inventory::rules::{Kind, Need};
use crate::inventory::table::Policy::{Admin, Curator};
use crate::inventory::table::{Named, Row, Sent, body, row};

const LIMITS: &str = "limits of everybody";

fn limit(_: &Named) -> Sent {
    body(json!({"enabled": true, "token_budget": 1, "period_hours": 1}))
}

pub(in crate::inventory) fn rows() -> Vec<Row> {
    vec![
        row("GET /admin/token-rate-limits/global", Admin).nothing(LIMITS),
        row("POST /admin/token-rate-limits/global", Admin).nothing(LIMITS).sends(limit),
        row("GET /admin/token-rate-limits/users", Admin).nothing(LIMITS),
        row("POST /admin/token-rate-limits/users", Admin).nothing(LIMITS).sends(limit),
        row("GET /admin/token-rate-limits/user-groups", Admin).nothing(LIMITS),
        row("GET /admin/token-rate-limits/user-group/{group_id}", Curator)
            .names(Kind::Group, Need::See),
        row("POST /admin/token-rate-limits/user-group/{group_id}", Admin)
            .names(Kind::Group, Need::Edit)
            .sends(limit),
        row("PUT /admin/token-rate-limits/rate-limit/{token_rate_limit_id}", Admin)
            .names(Kind::TokenLimit, Need::Edit)
            .sends(limit),
        row("DELETE /admin/token-rate-limits/rate-limit/{token_rate_limit_id}", Admin)
            .names(Kind::TokenLimit, Need::Edit),
    ]
}
