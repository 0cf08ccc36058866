//! Records of users that several of the routes share.

use serde::Serialize;
use trove_domain::access::Role;
use trove_domain::group::Group;
use trove_domain::user::ListedUser;
use utoipa::ToSchema;

use crate::routes::schema::{RoleValue, zulu};

/// A user.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FullUserSnapshot, example = json!({"id": "0190a1b2-c3d4-7000-8000-00000000000a",
    "email": "reader@example.com", "role": "basic", "is_active": true, "password_configured": true,
    "is_admin": false, "personal_name": null, "created_at": "2026-01-01T00:00:00Z",
    "updated_at": "2026-01-01T00:00:00Z", "groups": [{"id": 1, "name": "Engineering"}]}))]
pub(crate) struct UserReply {
    /// Key of the user, a UUID.
    id: String,
    /// Address.
    email: String,
    /// What the user may do.
    #[schema(value_type = RoleValue)]
    role: &'static str,
    /// Whether the user may sign in.
    is_active: bool,
    /// Whether the user has a password.
    password_configured: bool,
    /// Whether the user is an administrator.
    is_admin: bool,
    /// What the user is called.
    personal_name: Option<String>,
    /// When the account was made.
    created_at: String,
    /// When it last changed.
    updated_at: String,
    /// Groups of the user, by rising number.
    groups: Vec<GroupReply>,
}

/// A group of users.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = UserGroupInfo)]
pub(crate) struct GroupReply {
    /// Its number.
    id: i32,
    /// Its name.
    name: String,
}

impl From<Group> for GroupReply {
    fn from(group: Group) -> Self {
        Self { id: group.id.0, name: group.name }
    }
}

impl From<ListedUser> for UserReply {
    fn from(ListedUser { user, groups }: ListedUser) -> Self {
        let groups = groups.into_iter();
        Self {
            id: user.id.to_string(),
            email: user.email,
            role: user.role.as_str(),
            is_active: user.active,
            password_configured: user.has_password,
            is_admin: user.role == Role::Admin,
            personal_name: user.name,
            created_at: zulu(user.created_at),
            updated_at: zulu(user.updated_at),
            groups: groups.map(GroupReply::from).collect(),
        }
    }
}
