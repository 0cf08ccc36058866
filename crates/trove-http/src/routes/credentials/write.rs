//! `POST /manage/credential`, `PUT` and `DELETE /manage/admin/credential/{credential_id}`, `PATCH`
//! and `DELETE /manage/credential/{credential_id}`

use std::collections::BTreeSet;

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde_json::{Map, Value};
use trove_domain::credential::CredentialContent;
use trove_domain::id::{CredentialId, GroupId};
use trove_domain::source::DocumentSource;
use trove_engine::Engine;
use trove_engine::administration::credentials::{CredentialRequest, CredentialUpdate, NewContent};
use utoipa::ToSchema;

use super::read::OneCredential;
use super::record::{CreatedReply, CredentialReply};
use crate::error::ApiError;
use crate::extract::{Caller, Input, Parts, Valid, ValidJson};
use crate::routes::connectors::record::{group_ids, object};
use crate::routes::schema::{SourceValue, name_of_at_most, source};
use crate::routes::status::StatusReply;
use crate::validation::{Field, Fields, Read, Record, boolean, integer_id};

/// Most characters of a name.
pub(super) const NAME_CHARS_MAX: usize = 200;

/// A credential to make.
#[derive(Debug, ToSchema)]
#[schema(as = CredentialBase, example = json!({"credential_json": {"slack_bot_token": "xoxb-..."},
    "admin_public": true, "source": "slack", "name": "Slack", "curator_public": false,
    "groups": []}))]
pub(crate) struct CredentialBody {
    /// What it holds.
    #[schema(value_type = Object)]
    credential_json: CredentialContent,
    /// Whether every administrator may use it.
    admin_public: bool,
    /// The system it is for.
    #[schema(value_type = SourceValue)]
    source: DocumentSource,
    /// Its name.
    #[schema(max_length = 200)]
    name: Option<String>,
    /// Whether every curator may use it.
    #[schema(value_type = Option<bool>, default = false)]
    curator_public: bool,
    /// Groups whose curators may change it.
    #[schema(value_type = Option<Vec<i32>>, max_items = 1000)]
    groups: BTreeSet<GroupId>,
}

fn content(field: Field<'_>) -> Read<CredentialContent> {
    object(field).map(CredentialContent::new)
}

impl Record for CredentialBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let credential_json = fields.required("credential_json", content);
        let admin_public = fields.required("admin_public", boolean);
        let source = fields.required("source", source);
        let name = fields.nullable("name", name_of_at_most(NAME_CHARS_MAX));
        let curator_public = fields.or("curator_public", false, boolean);
        let groups = fields.or("groups", BTreeSet::new(), group_ids);
        Ok(Self {
            credential_json: credential_json?,
            admin_public: admin_public?,
            source: source?,
            name: name?,
            curator_public: curator_public?,
            groups: groups?,
        })
    }
}

/// Makes a credential that belongs to the caller.
#[utoipa::path(
    post, path = "/manage/credential", tag = "credentials", operation_id = "create_credential",
    request_body = CredentialBody,
    responses(
        (status = 200, description = "Its id, and the credential, masked.", body = CreatedReply),
        (status = 400, description = "A group does not exist, a value is a mask, or the caller is \
            a curator who may not share it in this way.", body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn create_credential(
    caller: Caller,
    engine: Data<Engine>,
    ValidJson(body): ValidJson<CredentialBody>,
) -> Result<HttpResponse, ApiError> {
    let request = CredentialRequest {
        content: body.credential_json,
        name: body.name,
        source: body.source,
        admin_public: body.admin_public,
        curator_public: body.curator_public,
        groups: body.groups,
    };
    let view = engine.create_credential(&caller.0, request).await?;
    Ok(HttpResponse::Ok().json(CreatedReply::from(view)))
}

/// Another name, and values that override.
#[derive(Debug, ToSchema)]
#[schema(as = CredentialDataUpdateRequest)]
#[expect(dead_code, reason = "describes the body, which is read into what the engine takes")]
pub(crate) struct DataBody {
    /// Its name.
    #[schema(max_length = 200)]
    name: String,
    /// Values that override; the others stay.
    #[schema(value_type = Object)]
    credential_json: Map<String, Value>,
}

/// Which credential, and what changes.
pub(crate) struct PutCredential {
    id: CredentialId,
    update: CredentialUpdate,
}

struct DataUpdate(CredentialUpdate);

impl Record for DataUpdate {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let name = fields.required("name", name_of_at_most(NAME_CHARS_MAX));
        let content = fields.required("credential_json", content);
        let (name, content) = (Some(Some(name?)), Some(NewContent::Merged(content?)));
        Ok(Self(CredentialUpdate { content, name, ..CredentialUpdate::default() }))
    }
}

impl Input for PutCredential {
    const BODY: bool = true;

    fn read(mut parts: Parts<'_>) -> Read<Self> {
        let id = parts.path(|path| path.required("credential_id", integer_id));
        let update = parts.body::<DataUpdate>();
        Ok(Self { id: CredentialId(id?), update: update?.0 })
    }
}

/// Changes name and values of a credential. Values that are not sent stay.
///
/// The credential becomes the caller's, who then reads the private documents of its pairs in place
/// of the owner before.
#[utoipa::path(
    put, path = "/manage/admin/credential/{credential_id}", tag = "credentials",
    operation_id = "put_credential", request_body = DataBody,
    params(("credential_id" = i32, Path, description = "The credential.", example = 3)),
    responses(
        (status = 200, description = "The credential.", body = CredentialReply),
        (status = 400, description = "A value is the mask of something else.",
            body = crate::error::ErrorBody),
        (status = 401, description = "There is none that the caller may change.",
            body = crate::error::ErrorBody),
        (status = 409, description = "Others keep changing it.", body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn put_credential(
    caller: Caller,
    engine: Data<Engine>,
    Valid(PutCredential { id, update }): Valid<PutCredential>,
) -> Result<HttpResponse, ApiError> {
    let view = engine.update_credential(&caller.0, id, update).await?;
    Ok(HttpResponse::Ok().json(CredentialReply::from(view)))
}

/// What shall change; what is absent stays.
#[derive(Debug, ToSchema)]
#[schema(as = CredentialUpdateRequest)]
#[expect(dead_code, reason = "describes the body, which is read into what the engine takes")]
pub(crate) struct PatchBody {
    /// What it holds, in place of all that it held.
    #[schema(value_type = Option<Object>)]
    credential_json: Map<String, Value>,
    /// Whether every administrator may use it.
    admin_public: Option<bool>,
    /// Its name; `null` takes it away.
    #[schema(max_length = 200)]
    name: Option<String>,
    /// Whether every curator may use it.
    curator_public: Option<bool>,
    /// Groups whose curators may change it.
    #[schema(max_items = 1000)]
    groups: Option<Vec<i32>>,
}

/// Which credential, and what changes.
pub(crate) struct PatchCredential {
    id: CredentialId,
    update: CredentialUpdate,
}

struct Patch(CredentialUpdate);

fn some<T>(read: impl Fn(Field<'_>) -> Read<T>) -> impl Fn(Field<'_>) -> Read<Option<T>> {
    move |field| read(field).map(Some)
}

#[expect(clippy::option_option, reason = "absent and null differ")]
fn nullable_name(field: Field<'_>) -> Read<Option<Option<String>>> {
    let (json, place) = field.split();
    if json == crate::validation::Json::Null {
        return Ok(Some(None));
    }
    name_of_at_most(NAME_CHARS_MAX)(place.same(json)).map(|name| Some(Some(name)))
}

impl Record for Patch {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let content = fields.or("credential_json", None, some(content));
        let admin_public = fields.or("admin_public", None, some(boolean));
        let name = fields.or("name", None, nullable_name);
        let curator_public = fields.or("curator_public", None, some(boolean));
        let groups = fields.or("groups", None, some(group_ids));
        Ok(Self(CredentialUpdate {
            content: content?.map(NewContent::Replaced),
            name: name?,
            admin_public: admin_public?,
            curator_public: curator_public?,
            groups: groups?,
        }))
    }
}

impl Input for PatchCredential {
    const BODY: bool = true;

    fn read(mut parts: Parts<'_>) -> Read<Self> {
        let id = parts.path(|path| path.required("credential_id", integer_id));
        let update = parts.body::<Patch>();
        Ok(Self { id: CredentialId(id?), update: update?.0 })
    }
}

/// Changes a credential. Values are replaced as a whole; a mask leaves its stored value.
///
/// The credential becomes the caller's, as with `PUT`.
#[utoipa::path(
    patch, path = "/manage/credential/{credential_id}", tag = "credentials",
    operation_id = "update_credential", request_body = PatchBody,
    params(("credential_id" = i32, Path, description = "The credential.", example = 3)),
    responses(
        (status = 200, description = "The credential.", body = CredentialReply),
        (status = 400, description = "As when it is made.", body = crate::error::ErrorBody),
        (status = 401, description = "There is none that the caller may change.",
            body = crate::error::ErrorBody),
        (status = 409, description = "Others keep changing it.", body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn update_credential(
    caller: Caller,
    engine: Data<Engine>,
    Valid(PatchCredential { id, update }): Valid<PatchCredential>,
) -> Result<HttpResponse, ApiError> {
    let view = engine.update_credential(&caller.0, id, update).await?;
    Ok(HttpResponse::Ok().json(CredentialReply::from(view)))
}

fn deleted(id: CredentialId) -> HttpResponse {
    HttpResponse::Ok().json(StatusReply::done("Credential deleted successfully", id.0))
}

/// Removes any credential that no pair is read with.
#[utoipa::path(
    delete, path = "/manage/admin/credential/{credential_id}", tag = "credentials",
    operation_id = "delete_any_credential",
    params(("credential_id" = i32, Path, description = "The credential.", example = 3)),
    responses(
        (status = 200, description = "It is removed.", body = StatusReply),
        (status = 400, description = "There is none, or a pair is read with it.",
            body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn delete_any_credential(
    _caller: Caller,
    engine: Data<Engine>,
    Valid(input): Valid<OneCredential>,
) -> Result<HttpResponse, ApiError> {
    engine.delete_any_credential(input.id).await?;
    Ok(deleted(input.id))
}

/// Removes a credential that the caller may change with the pairs that are read with it; documents
/// that no other pair holds are removed, too.
#[utoipa::path(
    delete, path = "/manage/credential/force/{credential_id}", tag = "credentials",
    operation_id = "force_delete_credential",
    params(("credential_id" = i32, Path, description = "The credential.", example = 3)),
    responses(
        (status = 200, description = "It is removed.", body = StatusReply),
        (status = 400, description = "There is none that the caller may change.",
            body = crate::error::ErrorBody),
        (status = 403, description = "The caller may not change one of the pairs.",
            body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn force_delete_credential(
    caller: Caller,
    engine: Data<Engine>,
    Valid(input): Valid<OneCredential>,
) -> Result<HttpResponse, ApiError> {
    engine.force_delete_credential(&caller.0, input.id).await?;
    Ok(deleted(input.id))
}

/// Removes a credential that the caller may change and that no pair is read with.
#[utoipa::path(
    delete, path = "/manage/credential/{credential_id}", tag = "credentials",
    operation_id = "delete_credential",
    params(("credential_id" = i32, Path, description = "The credential.", example = 3)),
    responses(
        (status = 200, description = "It is removed.", body = StatusReply),
        (status = 400, description = "There is none that the caller may change, or a pair is read \
            with it.", body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn delete_credential(
    caller: Caller,
    engine: Data<Engine>,
    Valid(input): Valid<OneCredential>,
) -> Result<HttpResponse, ApiError> {
    engine.delete_credential(&caller.0, input.id).await?;
    Ok(deleted(input.id))
}
