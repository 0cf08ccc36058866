//! `GET /me/permissions`: what the role amounts to, in the words of later clients.

use std::collections::BTreeSet;

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::Serialize;
use trove_domain::access::Role;
use trove_engine::Engine;
use utoipa::ToSchema;

use crate::error::ApiError;
use crate::extract::Caller;

/// What the caller may do.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = UserPermissions, example = json!({"permissions": ["basic", "read:search"],
    "is_manager": false, "managed_group_ids": []}))]
pub(crate) struct PermissionsReply {
    /// Names of what the role allows.
    permissions: BTreeSet<&'static str>,
    /// Whether the caller administers what belongs to a group.
    is_manager: bool,
    /// The groups.
    managed_group_ids: Vec<i32>,
}

/// What the caller may do.
#[utoipa::path(
    get, path = "/me/permissions", tag = "users", operation_id = "my_permissions",
    responses((status = 200, description = "The permissions.", body = PermissionsReply))
)]
pub(crate) async fn my_permissions(
    caller: Caller,
    engine: Data<Engine>,
) -> Result<HttpResponse, ApiError> {
    let role = caller.0.role;
    let memberships = engine.own_memberships(&caller.0).await?.into_iter();
    let managed = memberships.filter(|membership| match role {
        Role::Curator => membership.curator,
        Role::GlobalCurator => true,
        _ => false,
    });
    let managed_group_ids: Vec<i32> = managed.map(|membership| membership.group.0).collect();
    Ok(HttpResponse::Ok().json(PermissionsReply {
        permissions: permissions(role),
        is_manager: !managed_group_ids.is_empty(),
        managed_group_ids,
    }))
}

/// What users of chats may do.
const CHAT: [&str; 2] = ["read:chat", "write:chat"];

/// What everybody else may do, too.
const BASIC: [&str; 5] =
    ["basic", "read:search", "generate:image", "use:llm_gateway", "add:agents"];

/// What curators may do, too, within their groups.
const CURATOR: [&str; 10] = [
    "manage:agents",
    "manage:connectors",
    "manage:document_sets",
    "manage:user_groups",
    "read:agent_analytics",
    "read:agents",
    "read:connectors",
    "read:document_sets",
    "read:user_groups",
    "read:users",
];

/// What administrators may do, too.
const ADMIN: [&str; 8] = [
    "admin",
    "create:user_api_keys",
    "manage:actions",
    "manage:bots",
    "manage:llms",
    "manage:service_account_api_keys",
    "manage:skills",
    "read:query_history",
];

fn permissions(role: Role) -> BTreeSet<&'static str> {
    let sets: &[&[&'static str]] = match role {
        Role::Limited => &[&CHAT],
        Role::Basic | Role::SlackUser | Role::ExtPermUser => &[&CHAT, &BASIC],
        Role::Curator | Role::GlobalCurator => &[&CHAT, &BASIC, &CURATOR],
        Role::Admin => &[&CHAT, &BASIC, &CURATOR, &ADMIN],
    };
    sets.iter().copied().flatten().copied().collect()
}

#[cfg(test)]
mod tests {
    use trove_domain::access::Role;

    use super::permissions;

    #[test]
    fn each_role_may_do_what_lesser_ones_may() {
        let order = [Role::Limited, Role::Basic, Role::Curator, Role::Admin];
        for pair in order.windows(2) {
            assert!(permissions(pair[0]).is_subset(&permissions(pair[1])), "{pair:?}");
        }
        assert_eq!(permissions(Role::Admin).len(), 25);
        assert!(!permissions(Role::Curator).contains("admin"));
        assert!(!permissions(Role::Limited).contains("read:search"));
    }
}
