//! `GET /me/permissions`: what the role amounts to, in the words of later clients.

use std::collections::BTreeSet;

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::Serialize;
use trove_domain::access::{Proof, Role};
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
        permissions: permissions_of(role, caller.0.proof),
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

/// Those of a role, as far as what the caller proved itself with reaches.
fn permissions_of(role: Role, proof: Proof) -> BTreeSet<&'static str> {
    let mut permissions = permissions(role);
    if let Proof::AccessToken { scopes: Some(scopes), .. } = proof {
        permissions.retain(|name| name.parse().is_ok_and(|scope| scopes.allow(scope)));
    }
    permissions
}

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
    use trove_domain::access::{Proof, Role};
    use trove_domain::access_token::{TokenScope, TokenScopes};
    use trove_domain::id::AccessTokenId;

    use super::{permissions, permissions_of};

    #[test]
    fn a_restricted_token_has_the_least_of_role_and_scopes() {
        let check = |role, scopes: &[TokenScope], expected: &[&str]| {
            let scopes = TokenScopes::new(scopes.iter().copied());
            let proof = Proof::AccessToken { id: AccessTokenId(1), scopes };
            let found: Vec<&str> = permissions_of(role, proof).into_iter().collect();
            assert_eq!(found, expected);
        };
        let all = [TokenScope::ReadSearch, TokenScope::WriteChat];
        check(Role::Admin, &all, &["read:chat", "read:search", "write:chat"]);
        check(Role::Limited, &all, &["read:chat", "write:chat"]);
        check(Role::Admin, &[TokenScope::ReadChat], &["read:chat"]);
        let whole = Proof::AccessToken { id: AccessTokenId(1), scopes: None };
        assert_eq!(permissions_of(Role::Basic, whole), permissions(Role::Basic));
    }

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
