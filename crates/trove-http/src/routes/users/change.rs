//! Roles, and who is let in: `PATCH /manage/set-user-role` and the routes beside it.

use actix_web::HttpResponse;
use actix_web::web::Data;
use trove_domain::access::Role;
use trove_engine::Engine;
use utoipa::ToSchema;

use super::{UserByEmail, null};
use crate::error::{ApiError, ErrorBody};
use crate::extract::{Caller, ValidJson};
use crate::routes::schema::{RoleValue, role};
use crate::validation::{Fields, Read, Record, boolean, text};

/// A new role of a user.
#[derive(Debug, ToSchema)]
#[schema(as = UserRoleUpdateRequest,
    example = json!({"user_email": "reader@example.com", "new_role": "admin"}))]
pub(crate) struct RoleBody {
    /// Address of the user, in any letter case.
    user_email: String,
    /// The role.
    #[schema(value_type = RoleValue)]
    new_role: Role,
    /// Gives also a role that is usually given in another way.
    #[schema(default = false, required = false)]
    explicit_override: bool,
}

impl Record for RoleBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let user_email = fields.required("user_email", text);
        let new_role = fields.required("new_role", role);
        let explicit_override = fields.or("explicit_override", false, boolean);
        Ok(Self {
            user_email: user_email?,
            new_role: new_role?,
            explicit_override: explicit_override?,
        })
    }
}

/// Gives a user a role.
///
/// Who is known through another system only keeps its role, and nobody changes the own one.
#[utoipa::path(
    patch, path = "/manage/set-user-role", tag = "users", operation_id = "set_user_role",
    request_body = RoleBody,
    responses(
        (status = 200, description = "The user has the role.", body = ()),
        (status = 400, description = "The user does not get the role.", body = ErrorBody),
        (status = 404, description = "There is no such user.", body = ErrorBody),
    )
)]
pub(crate) async fn set_user_role(
    caller: Caller,
    engine: Data<Engine>,
    ValidJson(body): ValidJson<RoleBody>,
) -> Result<HttpResponse, ApiError> {
    let by = Some(caller.0.user);
    engine.set_user_role(by, &body.user_email, body.new_role, body.explicit_override).await?;
    Ok(null())
}

/// Whether a user administers.
#[derive(Debug, ToSchema)]
#[schema(as = AdminAccessRequest,
    example = json!({"user_email": "reader@example.com", "is_admin": true}))]
pub(crate) struct AdminAccessBody {
    /// Address of the user, in any letter case.
    user_email: String,
    /// Whether the user is to be an administrator.
    is_admin: bool,
}

impl Record for AdminAccessBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let user_email = fields.required("user_email", text);
        let is_admin = fields.required("is_admin", boolean);
        Ok(Self { user_email: user_email?, is_admin: is_admin? })
    }
}

/// Makes a user an administrator, or an administrator a normal user.
///
/// Who is known through another system only keeps its role, and nobody changes the own one.
#[utoipa::path(
    patch, path = "/manage/admin/users/admin-access", tag = "users",
    operation_id = "set_admin_access", request_body = AdminAccessBody,
    responses(
        (status = 200, description = "The user is one, or is none.", body = ()),
        (status = 400, description = "It is the own account, or that of the last administrator, or \
            the role of the user says how it is known.", body = ErrorBody),
        (status = 404, description = "There is no such user.", body = ErrorBody),
    )
)]
pub(crate) async fn set_admin_access(
    caller: Caller,
    engine: Data<Engine>,
    ValidJson(body): ValidJson<AdminAccessBody>,
) -> Result<HttpResponse, ApiError> {
    engine.set_admin_access(Some(caller.0.user), &body.user_email, body.is_admin).await?;
    Ok(null())
}

/// Keeps a user out, from the next request on.
///
/// Sessions end; keys work again when the user is let in again. What the user has stays.
#[utoipa::path(
    patch, path = "/manage/admin/deactivate-user", tag = "users", operation_id = "deactivate_user",
    request_body = UserByEmail,
    responses(
        (status = 200, description = "The user is kept out.", body = ()),
        (status = 400, description = "It is the own account, or that of the last administrator.",
            body = ErrorBody),
        (status = 404, description = "There is no such user.", body = ErrorBody),
    )
)]
pub(crate) async fn deactivate_user(
    caller: Caller,
    engine: Data<Engine>,
    ValidJson(body): ValidJson<UserByEmail>,
) -> Result<HttpResponse, ApiError> {
    engine.deactivate_user(Some(caller.0.user), &body.user_email).await?;
    Ok(null())
}

/// Lets a user in.
#[utoipa::path(
    patch, path = "/manage/admin/activate-user", tag = "users", operation_id = "activate_user",
    request_body = UserByEmail,
    responses(
        (status = 200, description = "The user is let in.", body = ()),
        (status = 402, description = "All seats are taken.", body = ErrorBody),
        (status = 404, description = "There is no such user.", body = ErrorBody),
    )
)]
pub(crate) async fn activate_user(
    engine: Data<Engine>,
    ValidJson(body): ValidJson<UserByEmail>,
) -> Result<HttpResponse, ApiError> {
    engine.activate_user(&body.user_email).await?;
    Ok(null())
}

/// Deletes a user who is kept out.
///
/// Sessions, keys, settings, searches, memberships and the invitation go with the user; document
/// sets and agents stay without an owner.
#[utoipa::path(
    delete, path = "/manage/admin/delete-user", tag = "users", operation_id = "delete_user",
    request_body = UserByEmail,
    responses(
        (status = 200, description = "The user is deleted.", body = ()),
        (status = 400, description = "The user is active.", body = ErrorBody),
        (status = 404, description = "There is no such user.", body = ErrorBody),
    )
)]
pub(crate) async fn delete_user(
    engine: Data<Engine>,
    ValidJson(body): ValidJson<UserByEmail>,
) -> Result<HttpResponse, ApiError> {
    engine.delete_user(&body.user_email).await?;
    Ok(null())
}
