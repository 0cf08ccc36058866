//! Figures and a table of users, for spreadsheets.

use std::collections::BTreeMap;

use actix_web::HttpResponse;
use actix_web::http::header::CONTENT_DISPOSITION;
use actix_web::web::Data;
use serde::Serialize;
use trove_domain::access::Role;
use trove_engine::Engine;
use trove_engine::accounts::AcceptedFilter;
use utoipa::ToSchema;

use crate::error::ApiError;

/// How many users there are.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = UserCounts, example = json!({"role_counts": {"admin": 1, "basic": 20},
    "status_counts": {"active": 20, "inactive": 1}}))]
pub(crate) struct CountsReply {
    /// By role; roles that nobody has are left out.
    role_counts: BTreeMap<&'static str, u64>,
    /// By `active` and `inactive`.
    status_counts: BTreeMap<&'static str, u64>,
}

/// How many users `GET /manage/users/accepted` lists, by role and by state.
#[utoipa::path(
    get, path = "/manage/users/counts", tag = "users", operation_id = "count_users",
    responses((status = 200, description = "The figures.", body = CountsReply))
)]
pub(crate) async fn count_users(engine: Data<Engine>) -> Result<HttpResponse, ApiError> {
    let mut role_counts = BTreeMap::new();
    let mut status_counts = BTreeMap::from([("active", 0), ("inactive", 0)]);
    let counts = engine.count_users().await?.into_iter();
    for count in counts.filter(|count| count.role != Role::ExtPermUser) {
        *role_counts.entry(count.role.as_str()).or_default() += count.count;
        *status_counts.entry(status(count.active)).or_default() += count.count;
    }
    Ok(HttpResponse::Ok().json(CountsReply { role_counts, status_counts }))
}

fn status(active: bool) -> &'static str {
    if active { "active" } else { "inactive" }
}

/// All users that `GET /manage/users/accepted` has on its pages, as comma-separated values.
#[utoipa::path(
    get, path = "/manage/users/download", tag = "users", operation_id = "download_users",
    responses((status = 200, description = "A table of address, role and state.",
        content_type = "text/csv", body = String,
        example = json!("Email,Role,Status\r\nreader@example.com,basic,Active\r\n")))
)]
pub(crate) async fn download_users(engine: Data<Engine>) -> Result<HttpResponse, ApiError> {
    let users = engine.all_accepted_users(AcceptedFilter::default()).await?;
    let mut table = String::from("Email,Role,Status\r\n");
    for listed in users {
        let user = listed.user;
        let status = if user.active { "Active" } else { "Inactive" };
        table.push_str(&format!("{},{},{status}\r\n", cell(&user.email), user.role));
    }
    Ok(HttpResponse::Ok()
        .content_type("text/csv; charset=utf-8")
        .insert_header((CONTENT_DISPOSITION, "attachment; filename=\"users.csv\""))
        .body(table))
}

/// A text in a table. Spreadsheets run what begins like a formula, and addresses may.
fn cell(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if is_formula { format!("'{text}") } else { text.to_owned() };
    if text.contains([',', '"', '\r', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::cell;

    #[test]
    fn a_cell_is_neither_a_formula_nor_two_cells() {
        assert_eq!(cell("reader@example.com"), "reader@example.com");
        assert_eq!(cell("=1+1@example.com"), "'=1+1@example.com");
        assert_eq!(cell("+a@b.c"), "'+a@b.c");
        assert_eq!(cell("a,\"b"), "\"a,\"\"b\"");
    }
}
