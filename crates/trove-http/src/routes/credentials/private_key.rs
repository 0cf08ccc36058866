//! `POST /manage/credential/private-key`, `PUT /manage/admin/credential/private-key/{credential_id}`

use std::collections::BTreeSet;

use actix_web::HttpResponse;
use actix_web::web::Data;
use trove_domain::credential::{Credential, CredentialContent};
use trove_domain::id::{CredentialId, GroupId};
use trove_domain::source::DocumentSource;
use trove_engine::Engine;
use trove_engine::administration::credentials::{
    CredentialError, CredentialRequest, PRIVATE_KEY_BYTES_MAX, UploadedKey,
};
use utoipa::ToSchema;

use super::record::{CreatedReply, CredentialReply};
use super::write::NAME_CHARS_MAX;
use crate::error::ApiError;
use crate::extract::{Caller, Form, FormInput, Parts, ValidMultipart};
use crate::routes::schema::{SourceValue, name_of_at_most};
use crate::validation::{Fields, Read, boolean, integer_id, text};

/// A credential with a file.
#[derive(Debug, ToSchema)]
#[schema(as = PrivateKeyCredentialForm)]
#[expect(dead_code, reason = "describes the form, which is read part by part")]
pub(crate) struct KeyForm {
    /// What it holds: a JSON object.
    credential_json: String,
    /// The system it is for.
    #[schema(value_type = SourceValue)]
    source: String,
    /// The file, `.pfx`.
    #[schema(value_type = String, format = Binary)]
    uploaded_file: (),
    /// The key of `credential_json` that receives the file, in Base64.
    field_key: String,
    /// What the file is: `sharepoint_pfx_file`.
    type_definition_key: String,
    /// Its name.
    name: Option<String>,
    /// Whether every administrator may use it.
    #[schema(default = false)]
    admin_public: Option<bool>,
    /// Whether every curator may use it.
    #[schema(default = false)]
    curator_public: Option<bool>,
    /// Groups whose curators may change it, one part each.
    groups: Option<Vec<i32>>,
}

/// What both routes take.
struct KeyParts {
    content: String,
    field: String,
    kind: String,
}

impl KeyParts {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let content = fields.required("credential_json", text);
        let file = fields.required("uploaded_file", text);
        let field = fields.required("field_key", text);
        let kind = fields.required("type_definition_key", text);
        file?;
        Ok(Self { content: content?, field: field?, kind: kind? })
    }

    fn checked(self, mut form: Form) -> Result<(CredentialContent, UploadedKey), CredentialError> {
        let kind = self.kind.parse()?;
        let content = CredentialContent::from_json(&self.content.into());
        let refused = "Invalid JSON in credential_json: it is not a JSON object";
        let content = content.ok_or(CredentialError::PrivateKey(refused))?;
        let refused = "uploaded_file: it is not a file";
        let file = form.take("uploaded_file").ok_or(CredentialError::PrivateKey(refused))?;
        let (file_name, bytes) = (file.file_name, file.bytes);
        Ok((content, UploadedKey { kind, field: self.field, file_name, bytes }))
    }
}

const BYTES_MAX: usize = PRIVATE_KEY_BYTES_MAX + 2 * Credential::CONTENT_BYTES_MAX;

/// A credential to make, with a file.
pub(crate) struct CreateWithKey {
    parts: KeyParts,
    source: String,
    name: Option<String>,
    admin_public: bool,
    curator_public: bool,
    groups: BTreeSet<GroupId>,
    form: Form,
}

impl FormInput for CreateWithKey {
    const BYTES_MAX: usize = BYTES_MAX;

    fn read(parts: &Parts<'_>, form: Form) -> Read<Self> {
        let read = form.texts(parts, |fields| {
            let parts = KeyParts::read(fields);
            let source = fields.required("source", text);
            let name =
                fields.or("name", None, |field| name_of_at_most(NAME_CHARS_MAX)(field).map(Some));
            let admin_public = fields.or("admin_public", false, boolean);
            let curator_public = fields.or("curator_public", false, boolean);
            let groups = fields.repeated("groups", integer_id);
            Ok((parts?, source?, name?, admin_public?, curator_public?, groups?))
        });
        let (parts, source, name, admin_public, curator_public, groups) = read?;
        let groups = groups.into_iter().map(GroupId).collect();
        Ok(Self { parts, source, name, admin_public, curator_public, groups, form })
    }
}

/// Makes a credential with a file, a private key with its certificate.
///
/// The file becomes a value of the credential. Whether its password is right is not checked.
#[utoipa::path(
    post, path = "/manage/credential/private-key", tag = "credentials",
    operation_id = "create_credential_with_key",
    request_body(content = KeyForm, content_type = "multipart/form-data"),
    responses(
        (status = 200, description = "Its id, and the credential, masked.", body = CreatedReply),
        (status = 400, description = "As without a file; or the file is not of its type.",
            body = crate::error::ErrorBody),
        (status = 413, description = "The form is too large.", body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn create_credential_with_key(
    caller: Caller,
    engine: Data<Engine>,
    ValidMultipart(input): ValidMultipart<CreateWithKey>,
) -> Result<HttpResponse, ApiError> {
    let CreateWithKey { parts, source, name, admin_public, curator_public, groups, form } = input;
    let refused = CredentialError::PrivateKey("source: it is not a source");
    let source: DocumentSource = source.parse().map_err(|_| refused)?;
    let (content, key) = parts.checked(form)?;
    let request = CredentialRequest { content, name, source, admin_public, curator_public, groups };
    let view = engine.create_credential_with_key(&caller.0, request, key).await?;
    Ok(HttpResponse::Ok().json(CreatedReply::from(view)))
}

/// Another name and other values, a file among them.
#[derive(Debug, ToSchema)]
#[schema(as = PrivateKeyUpdateForm)]
#[expect(dead_code, reason = "describes the form, which is read part by part")]
pub(crate) struct UpdateForm {
    /// Its name.
    name: String,
    /// Values that override: a JSON object.
    credential_json: String,
    /// The file, `.pfx`.
    #[schema(value_type = String, format = Binary)]
    uploaded_file: (),
    /// The key of `credential_json` that receives the file, in Base64.
    field_key: String,
    /// What the file is: `sharepoint_pfx_file`.
    type_definition_key: String,
}

/// Which credential, and what changes.
pub(crate) struct PutWithKey {
    id: CredentialId,
    name: String,
    parts: KeyParts,
    form: Form,
}

impl FormInput for PutWithKey {
    const BYTES_MAX: usize = BYTES_MAX;

    fn read(parts: &Parts<'_>, form: Form) -> Read<Self> {
        let id = parts.path(|path| path.required("credential_id", integer_id));
        let read = form.texts(parts, |fields| {
            let name = fields.required("name", name_of_at_most(NAME_CHARS_MAX));
            let parts = KeyParts::read(fields);
            Ok((name?, parts?))
        });
        let (id, (name, parts)) = (CredentialId(id?), read?);
        Ok(Self { id, name, parts, form })
    }
}

/// Changes name and values of a credential, and its file. Values that are not sent stay.
#[utoipa::path(
    put, path = "/manage/admin/credential/private-key/{credential_id}", tag = "credentials",
    operation_id = "put_credential_with_key",
    params(("credential_id" = i32, Path, description = "The credential.", example = 3)),
    request_body(content = UpdateForm, content_type = "multipart/form-data"),
    responses(
        (status = 200, description = "The credential.", body = CredentialReply),
        (status = 400, description = "As when it is made.", body = crate::error::ErrorBody),
        (status = 401, description = "There is none that the caller may change.",
            body = crate::error::ErrorBody),
        (status = 409, description = "Others keep changing it.", body = crate::error::ErrorBody),
        (status = 413, description = "The form is too large.", body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn put_credential_with_key(
    caller: Caller,
    engine: Data<Engine>,
    ValidMultipart(input): ValidMultipart<PutWithKey>,
) -> Result<HttpResponse, ApiError> {
    let PutWithKey { id, name, parts, form } = input;
    let (content, key) = parts.checked(form)?;
    let view = engine.update_credential_with_key(&caller.0, id, name, content, key).await?;
    Ok(HttpResponse::Ok().json(CredentialReply::from(view)))
}
