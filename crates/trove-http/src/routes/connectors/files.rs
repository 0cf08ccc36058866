//! `POST /manage/admin/connector/file/upload`, `GET /manage/admin/connector/{connector_id}/files`,
//! `POST /manage/admin/connector/{connector_id}/files/update`

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::Serialize;
use serde_json::{Map, Value};
use trove_engine::Engine;
use trove_engine::files::{ConnectorFile, ConnectorFiles, UploadedFiles};
use utoipa::ToSchema;

use super::read::OneConnector;
use crate::error::ApiError;
use crate::extract::{Caller, FILES, Input, LargeForm, Parts, Valid};
use crate::routes::schema::zulu;
use crate::validation::{FieldError, Read, boolean};

/// Files to upload.
#[derive(Debug, ToSchema)]
#[schema(as = FileUploadForm)]
#[expect(dead_code, reason = "describes the form, which is read part by part")]
pub(crate) struct UploadBody {
    /// The files, one part each.
    #[schema(value_type = Vec<String>)]
    files: (),
}

/// Files to add and to remove.
#[derive(Debug, ToSchema)]
#[schema(as = FilesUpdateForm)]
#[expect(dead_code, reason = "describes the form, which is read part by part")]
pub(crate) struct UpdateBody {
    /// The files to add, one part each.
    #[schema(value_type = Option<Vec<String>>)]
    files: (),
    /// The ids of the files to remove: a JSON array of strings.
    #[schema(default = "[]")]
    file_ids_to_remove: Option<String>,
}

/// Files that are stored. What is called a path is an id.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FileUploadResponse, example = json!({
    "file_paths": ["0190a1b2-c3d4-7000-8000-000000000001"], "file_names": ["handbook.md"],
    "zip_metadata": {}, "zip_metadata_file_id": null}))]
pub(crate) struct UploadReply {
    /// Their ids.
    file_paths: Vec<String>,
    /// Their names, in the same order.
    file_names: Vec<String>,
    /// What an archive says about its files, by their names.
    #[schema(value_type = Object)]
    zip_metadata: Map<String, Value>,
    /// The id of the stored file that says so.
    zip_metadata_file_id: Option<String>,
}

impl From<UploadedFiles> for UploadReply {
    fn from(uploaded: UploadedFiles) -> Self {
        let UploadedFiles { files, metadata, metadata_file } = uploaded;
        let files = files.into_iter().map(|file| (file.id.as_str().to_owned(), file.name));
        let (file_paths, file_names) = files.unzip();
        let zip_metadata_file_id = metadata_file.map(|id| id.as_str().to_owned());
        Self { file_paths, file_names, zip_metadata: metadata, zip_metadata_file_id }
    }
}

impl From<ConnectorFiles> for UploadReply {
    fn from(files: ConnectorFiles) -> Self {
        let ConnectorFiles { files, metadata, metadata_file } = files;
        let (file_paths, file_names) = files.into_iter().unzip();
        Self { file_paths, file_names, zip_metadata: metadata, zip_metadata_file_id: metadata_file }
    }
}

/// How an upload is taken.
pub(crate) struct UploadOptions {
    unzip: bool,
}

impl Input for UploadOptions {
    const BODY: bool = false;

    fn read(parts: Parts<'_>) -> Read<Self> {
        let unzip = parts.query(|query| query.or("unzip", true, boolean))?;
        Ok(Self { unzip })
    }
}

/// Stores files, which a connector may then name.
///
/// Of one ZIP archive the files in it are stored, without their folders; what it says about them in
/// `.onyx_metadata.json` at its root is answered, and stored. Nobody reads a file before the
/// configuration of a connector names it.
#[utoipa::path(
    post, path = "/manage/admin/connector/file/upload", tag = "connectors",
    operation_id = "upload_connector_files",
    params(("unzip" = Option<bool>, Query, description = "Whether an archive is taken apart. Default true.")),
    request_body(content = UploadBody, content_type = "multipart/form-data"),
    responses(
        (status = 200, description = "The files.", body = UploadReply),
        (status = 400, description = "There are two archives or too many files or parts, an archive is \
            damaged or holds too much, or what it says about its files cannot be read.",
            body = crate::error::ErrorBody),
        (status = 413, description = "A file, or all of it, is too large.",
            body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn upload_connector_files(
    caller: Caller,
    form: LargeForm,
    Valid(options): Valid<UploadOptions>,
    engine: Data<Engine>,
) -> Result<HttpResponse, ApiError> {
    let missing = || {
        let loc = vec!["body".to_owned(), FILES.to_owned()];
        ApiError::Invalid(vec![FieldError {
            loc,
            kind: "missing",
            msg: "Field required".to_owned(),
        }])
    };
    if !form.is_form() {
        return Err(missing());
    }
    let take = |upload| engine.upload_files(&caller.0, upload, options.unzip);
    let (uploaded, seen) = form.pass_to(take).await?;
    if !seen {
        return Err(missing());
    }
    Ok(HttpResponse::Ok().json(UploadReply::from(uploaded)))
}

/// A file of a connector.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ConnectorFileInfo)]
pub(crate) struct FileReply {
    /// Its id.
    file_id: String,
    /// What it is called; its id when nobody has said.
    file_name: String,
    /// Its length in bytes, when it is known.
    file_size: Option<u64>,
    /// When it was uploaded, when that is known.
    upload_date: Option<String>,
}

impl From<ConnectorFile> for FileReply {
    fn from(file: ConnectorFile) -> Self {
        let ConnectorFile { id, name, size_bytes, uploaded_at } = file;
        Self {
            file_id: id,
            file_name: name,
            file_size: size_bytes,
            upload_date: uploaded_at.map(zulu),
        }
    }
}

/// The files of a connector.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ConnectorFilesResponse)]
pub(crate) struct FilesReply {
    /// The files, in the order of its configuration.
    files: Vec<FileReply>,
}

/// The files that a connector reads.
#[utoipa::path(
    get, path = "/manage/admin/connector/{connector_id}/files", tag = "connectors",
    operation_id = "list_connector_files",
    params(("connector_id" = i32, Path, description = "The connector.", example = 3)),
    responses(
        (status = 200, description = "The files.", body = FilesReply),
        (status = 400, description = "The connector reads something else.",
            body = crate::error::ErrorBody),
        (status = 404, description = "There is none, it has no pair, or none that the caller \
            sees.",
            body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn list_connector_files(
    caller: Caller,
    engine: Data<Engine>,
    Valid(input): Valid<OneConnector>,
) -> Result<HttpResponse, ApiError> {
    let files = engine.connector_files(&caller.0, input.id).await?;
    let files = files.into_iter().map(FileReply::from).collect();
    Ok(HttpResponse::Ok().json(FilesReply { files }))
}

/// Adds files to a connector and removes others, in one step, and has it read what is new.
///
/// The answer names all files that the connector then has. Documents of removed files go with the
/// next look at what is gone.
#[utoipa::path(
    post, path = "/manage/admin/connector/{connector_id}/files/update", tag = "connectors",
    operation_id = "update_connector_files",
    params(("connector_id" = i32, Path, description = "The connector.", example = 3)),
    request_body(content = Option<UpdateBody>, content_type = "multipart/form-data"),
    responses(
        (status = 200, description = "All its files.", body = UploadReply),
        (status = 400, description = "As for uploads; the connector reads something else; what is \
            to be removed is no list; or nothing would be left.", body = crate::error::ErrorBody),
        (status = 403, description = "The caller may not change all of its pairs.",
            body = crate::error::ErrorBody),
        (status = 404, description = "There is none, it has no pair, or none that the caller \
            sees.", body = crate::error::ErrorBody),
        (status = 409, description = "Others keep changing it.", body = crate::error::ErrorBody),
        (status = 413, description = "A file, or all of it, is too large.",
            body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn update_connector_files(
    caller: Caller,
    form: LargeForm,
    Valid(input): Valid<OneConnector>,
    engine: Data<Engine>,
) -> Result<HttpResponse, ApiError> {
    let changed = if form.is_form() {
        let change = |upload| engine.update_connector_files(&caller.0, input.id, Some(upload));
        form.pass_to(change).await?.0
    } else {
        engine.update_connector_files(&caller.0, input.id, None).await?
    };
    Ok(HttpResponse::Ok().json(UploadReply::from(changed)))
}
