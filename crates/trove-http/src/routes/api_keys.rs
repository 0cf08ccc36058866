//! Keys of programs: `/admin/api-key` and below.

use std::collections::BTreeSet;

use actix_web::HttpResponse;
use actix_web::web::Data;
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use trove_domain::access::Role;
use trove_domain::api_key::ListedKey;
use trove_domain::id::{ApiKeyId, GroupId};
use trove_engine::Engine;
use trove_engine::administration::ServiceKeyRequest;
use utoipa::ToSchema;

use crate::error::{ApiError, ErrorBody};
use crate::extract::{Input, Parts, Valid, ValidJson};
use crate::routes::schema::{IDS_MAX, RoleValue, role};
use crate::routes::users::records::GroupReply;
use crate::validation::{Field, Fields, Read, Record, integer_id, list_of_at_most, text};

/// A key to make, or what one becomes.
#[derive(Debug, ToSchema)]
#[schema(as = APIKeyArgs, example = json!({"name": "crawler", "role": "basic", "group_ids": [7]}))]
pub(crate) struct KeyBody {
    /// Name to recognise the key by.
    #[schema(max_length = 200)]
    name: Option<String>,
    /// What the key may do. Without it the role is `basic`, also for a key that had another one.
    #[schema(value_type = RoleValue, required = false)]
    role: Role,
    /// The groups whose documents the key reads. Without it they stay as they are.
    #[schema(value_type = Option<Vec<i32>>, max_items = 1000)]
    group_ids: Option<BTreeSet<GroupId>>,
}

fn group_ids(field: Field<'_>) -> Read<BTreeSet<GroupId>> {
    Ok(list_of_at_most(IDS_MAX, integer_id)(field)?.into_iter().map(GroupId).collect())
}

impl Record for KeyBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let name = fields.nullable("name", text);
        let role = fields.or("role", Role::Basic, role);
        let group_ids = fields.nullable("group_ids", group_ids);
        Ok(Self { name: name?, role: role?, group_ids: group_ids? })
    }
}

impl From<KeyBody> for ServiceKeyRequest {
    fn from(body: KeyBody) -> Self {
        Self { name: body.name, role: body.role, groups: body.group_ids }
    }
}

/// A key.
#[derive(Serialize, ToSchema)]
#[schema(as = ApiKeyDescriptor, example = json!({"api_key_id": 3,
    "api_key_display": "tk_aB3d********x9Yz", "api_key": null, "api_key_name": "crawler",
    "api_key_role": "basic", "groups": [{"id": 7, "name": "Engineering"}],
    "user_id": "0190a1b2-c3d4-7000-8000-00000000000a"}))]
pub(crate) struct KeyReply {
    /// Its number.
    api_key_id: i32,
    /// Beginning and end of the key.
    api_key_display: String,
    /// The key itself; only in the answer that made it.
    api_key: Option<String>,
    /// Its name.
    api_key_name: Option<String>,
    /// What it may do.
    #[schema(value_type = RoleValue)]
    api_key_role: &'static str,
    /// Its groups.
    groups: Vec<GroupReply>,
    /// The user it acts as, a UUID.
    user_id: String,
}

impl KeyReply {
    fn of(listed: ListedKey, secret: Option<&SecretString>) -> Self {
        let ListedKey { key, holder } = listed;
        Self {
            api_key_id: key.id.0,
            api_key_display: key.display,
            api_key: secret.map(|secret| secret.expose_secret().to_owned()),
            api_key_name: key.name,
            api_key_role: holder.user.role.as_str(),
            groups: holder.groups.into_iter().map(GroupReply::from).collect(),
            user_id: key.user.to_string(),
        }
    }
}

/// All keys that work.
///
/// Keys that act as a person are among them; `user_id` says as whom.
#[utoipa::path(
    get, path = "/admin/api-key", tag = "keys", operation_id = "list_api_keys",
    responses((status = 200, description = "The keys, by rising number.", body = Vec<KeyReply>))
)]
pub(crate) async fn list_api_keys(engine: Data<Engine>) -> Result<HttpResponse, ApiError> {
    let keys = engine.working_keys().await?.into_iter();
    Ok(HttpResponse::Ok().json(keys.map(|key| KeyReply::of(key, None)).collect::<Vec<_>>()))
}

/// Makes a key, with an account of its own.
///
/// This answer is the only one that holds the key.
#[utoipa::path(
    post, path = "/admin/api-key", tag = "keys", operation_id = "create_api_key",
    request_body = KeyBody,
    responses(
        (status = 200, description = "The key.", body = KeyReply),
        (status = 400, description = "The name cannot be used, or a group does not exist.",
            body = ErrorBody),
    )
)]
pub(crate) async fn create_api_key(
    engine: Data<Engine>,
    ValidJson(body): ValidJson<KeyBody>,
) -> Result<HttpResponse, ApiError> {
    let (key, secret) = engine.create_service_key(body.into()).await?;
    Ok(HttpResponse::Ok().json(KeyReply::of(key, Some(&secret))))
}

fn key_id(parts: &Parts<'_>) -> Read<ApiKeyId> {
    parts.path(|path| path.required("api_key_id", integer_id)).map(ApiKeyId)
}

/// Which key.
pub(crate) struct KeyPath(ApiKeyId);

impl Input for KeyPath {
    const BODY: bool = false;

    fn read(parts: Parts<'_>) -> Read<Self> {
        key_id(&parts).map(Self)
    }
}

/// A key and what it becomes.
pub(crate) struct Update {
    id: ApiKeyId,
    body: KeyBody,
}

impl Input for Update {
    const BODY: bool = true;

    fn read(mut parts: Parts<'_>) -> Read<Self> {
        let (id, body) = (key_id(&parts), parts.body());
        Ok(Self { id: id?, body: body? })
    }
}

/// Changes name, role and groups of a key, from the next request on.
#[utoipa::path(
    patch, path = "/admin/api-key/{api_key_id}", tag = "keys", operation_id = "update_api_key",
    request_body = KeyBody,
    params(("api_key_id" = i32, Path, description = "The key.", example = 3)),
    responses(
        (status = 200, description = "The key.", body = KeyReply),
        (status = 400, description = "The name cannot be used, a group does not exist, or the key \
            acts as a person.", body = ErrorBody),
        (status = 404, description = "There is no such key.", body = ErrorBody),
    )
)]
pub(crate) async fn update_api_key(
    engine: Data<Engine>,
    Valid(Update { id, body }): Valid<Update>,
) -> Result<HttpResponse, ApiError> {
    let key = engine.update_service_key(id, body.into()).await?;
    Ok(HttpResponse::Ok().json(KeyReply::of(key, None)))
}

/// Puts a new key in the place of one, which stops at once.
///
/// This answer is the only one that holds the key.
#[utoipa::path(
    post, path = "/admin/api-key/{api_key_id}/regenerate", tag = "keys",
    operation_id = "regenerate_api_key",
    params(("api_key_id" = i32, Path, description = "The key.", example = 3)),
    responses(
        (status = 200, description = "The key.", body = KeyReply),
        (status = 400, description = "The key acts as a person.", body = ErrorBody),
        (status = 404, description = "There is no such key.", body = ErrorBody),
    )
)]
pub(crate) async fn regenerate_api_key(
    engine: Data<Engine>,
    Valid(KeyPath(id)): Valid<KeyPath>,
) -> Result<HttpResponse, ApiError> {
    let (key, secret) = engine.regenerate_key(id).await?;
    Ok(HttpResponse::Ok().json(KeyReply::of(key, Some(&secret))))
}

/// Ends a key, from the next request on, and removes the account that was made for it.
#[utoipa::path(
    delete, path = "/admin/api-key/{api_key_id}", tag = "keys", operation_id = "delete_api_key",
    params(("api_key_id" = i32, Path, description = "The key.", example = 3)),
    responses(
        (status = 200, description = "It has ended. The body is `null`.", body = Option<()>),
        (status = 400, description = "It is the last one of an administrator, and no administrator \
            has a password.", body = ErrorBody),
        (status = 404, description = "There is no such key.", body = ErrorBody),
    )
)]
pub(crate) async fn delete_api_key(
    engine: Data<Engine>,
    Valid(KeyPath(id)): Valid<KeyPath>,
) -> Result<HttpResponse, ApiError> {
    engine.delete_spare_key(id).await?;
    Ok(HttpResponse::Ok().json(()))
}
