//! `GET /manage/admin/user-group`, `GET /manage/user-groups/minimal`

use actix_web::HttpResponse;
use actix_web::web::Data;
use trove_domain::access::Role;
use trove_engine::Engine;
use trove_engine::administration::GroupView;

use super::record::{GroupNameReply, GroupReply};
use crate::error::ApiError;
use crate::extract::Caller;
use crate::stream;

/// Groups that are in memory at a time: each may have thousands of members.
const PAGE_ITEMS: u32 = 20;

/// The user groups that the caller controls.
///
/// All of them for an administrator, those that it curates for a curator, and those that it is in
/// for a global curator; by rising id.
#[utoipa::path(
    get, path = "/manage/admin/user-group", tag = "user groups", operation_id = "list_user_groups",
    responses((status = 200, description = "The groups.", body = Vec<GroupReply>))
)]
pub(crate) async fn list_user_groups(
    caller: Caller,
    engine: Data<Engine>,
) -> Result<HttpResponse, ApiError> {
    let show: fn(GroupView) -> GroupReply = match caller.0.role {
        Role::Admin => |view| GroupReply::of(view, true),
        _ => |view| GroupReply::of(view, false),
    };
    let fetch = move |after| {
        let (engine, caller) = (engine.clone(), caller.clone());
        async move { engine.list_groups(&caller.0, after, PAGE_ITEMS).await }
    };
    stream::array(fetch, show).await
}

/// The names of user groups.
///
/// Of all groups for an administrator, and of those that they are in for others; by rising id.
#[utoipa::path(
    get, path = "/manage/user-groups/minimal", tag = "user groups",
    operation_id = "list_user_group_names",
    responses((status = 200, description = "The names.", body = Vec<GroupNameReply>))
)]
pub(crate) async fn list_user_group_names(
    caller: Caller,
    engine: Data<Engine>,
) -> Result<HttpResponse, ApiError> {
    let fetch = move |after| {
        let (engine, caller) = (engine.clone(), caller.clone());
        async move { engine.list_group_names(&caller.0, after, stream::PAGE_ITEMS).await }
    };
    stream::array(fetch, GroupNameReply::from).await
}
