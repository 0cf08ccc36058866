//! `PUT` and `DELETE /manage/connector/{connector_id}/credential/{credential_id}`,
//! `POST /manage/admin/connector-with-mock-credential`, `PUT /manage/admin/credential/swap`,
//! `PUT /manage/admin/cc-pair/{cc_pair_id}/status`, `PUT …/name`

use std::collections::BTreeSet;

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde_json::{Map, Value};
use trove_domain::cc_pair::{AccessType, CcPair, CcPairStatus, ProcessingMode};
use trove_domain::id::{CcPairId, ConnectorId, CredentialId, GroupId};
use trove_engine::Engine;
use trove_engine::administration::{PairError, PairRequest};
use utoipa::ToSchema;

use crate::error::ApiError;
use crate::extract::{Caller, Input, Parts, Valid, ValidJson};
use crate::routes::connectors::record::{
    ConnectorBody, NAME_CHARS_MAX, access_type, group_ids, object,
};
use crate::routes::schema::name_of_at_most;
use crate::routes::status::StatusReply;
use crate::validation::{Field, Fields, Read, Record, integer_id, one_of, text};

/// What the pair shall be.
#[derive(Debug, ToSchema)]
#[schema(as = ConnectorCredentialPairMetadata, example = json!({"name": "Handbook",
    "access_type": "public", "groups": []}))]
pub(crate) struct PairBody {
    /// Its name, unique; the connector's when absent.
    #[schema(max_length = 200)]
    name: Option<String>,
    /// `public`, `private` or `sync`.
    #[schema(value_type = String)]
    access_type: AccessType,
    /// What the source needs to know to tell who reads what: at most 64 KiB of JSON.
    #[schema(value_type = Option<Object>)]
    auto_sync_options: Option<Map<String, Value>>,
    /// Groups that a private pair is shared with.
    #[schema(value_type = Option<Vec<i32>>, max_items = 1000)]
    groups: BTreeSet<GroupId>,
    /// `REGULAR`: what it brings is searched.
    #[schema(value_type = Option<String>)]
    #[expect(dead_code, reason = "there is one only")]
    processing_mode: (),
}

/// The one processing mode that there is.
fn regular(field: Field<'_>) -> Read<()> {
    let (json, place) = field.split();
    if one_of::<ProcessingMode>(|| vec!["REGULAR"])(place.same(json))? == ProcessingMode::Regular {
        return Ok(());
    }
    Err(place.reject("enum", "Input should be 'REGULAR'"))
}

impl Record for PairBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let name = fields.nullable("name", name_of_at_most(NAME_CHARS_MAX));
        let access_type = fields.required("access_type", access_type);
        let auto_sync_options = fields.nullable("auto_sync_options", object);
        let groups = fields.or("groups", BTreeSet::new(), group_ids);
        let mode = fields.or("processing_mode", (), regular);
        Ok(Self {
            name: name?,
            access_type: access_type?,
            auto_sync_options: auto_sync_options?,
            groups: groups?,
            processing_mode: mode?,
        })
    }
}

/// Which connector and credential.
pub(crate) struct PairParts {
    connector: ConnectorId,
    credential: CredentialId,
}

fn pair_parts(parts: &Parts<'_>) -> Read<PairParts> {
    parts.path(|path| {
        let connector = path.required("connector_id", integer_id);
        let credential = path.required("credential_id", integer_id);
        Ok(PairParts { connector: ConnectorId(connector?), credential: CredentialId(credential?) })
    })
}

impl Input for PairParts {
    const BODY: bool = false;

    fn read(parts: Parts<'_>) -> Read<Self> {
        pair_parts(&parts)
    }
}

/// The parts of a pair, and what it shall be.
pub(crate) struct Associate {
    pair: PairParts,
    body: PairBody,
}

impl Input for Associate {
    const BODY: bool = true;

    fn read(mut parts: Parts<'_>) -> Read<Self> {
        let pair = pair_parts(&parts);
        let body = parts.body();
        Ok(Self { pair: pair?, body: body? })
    }
}

/// What came of an association.
fn associated(
    made: Result<CcPair, PairError>,
    connector: ConnectorId,
    credential: CredentialId,
) -> Result<HttpResponse, ApiError> {
    let reply = match made {
        Ok(pair) => {
            let message = format!(
                "Creating new association between Connector {connector} and Credential {credential}"
            );
            StatusReply::done(message, pair.id.0)
        }
        Err(error @ PairError::Exists { .. }) => StatusReply {
            success: false,
            message: Some(error.to_string()),
            data: Some(connector.0),
        },
        Err(error) => return Err(error.into()),
    };
    Ok(HttpResponse::Ok().json(reply))
}

/// Gives a connector a credential. The pair waits for its first run.
///
/// Configuration and credential are tried first.
#[utoipa::path(
    put, path = "/manage/connector/{connector_id}/credential/{credential_id}", tag = "connectors",
    operation_id = "associate_credential", request_body = PairBody,
    params(
        ("connector_id" = i32, Path, description = "The connector.", example = 3),
        ("credential_id" = i32, Path, description = "The credential.", example = 3),
    ),
    responses(
        (status = 200, description = "The pair; or that it was there already, with `success` false \
            and the connector.", body = StatusReply),
        (status = 400, description = "Nothing reads such a source, configuration or credential do \
            not work, the name is taken, `auto_sync_options` are too large, or the caller is a \
            curator who may not make it.",
            body = crate::error::ErrorBody),
        (status = 401, description = "There is no such credential that the caller may use.",
            body = crate::error::ErrorBody),
        (status = 404, description = "There is no such connector that the caller knows.",
            body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn associate_credential(
    caller: Caller,
    engine: Data<Engine>,
    Valid(Associate { pair, body }): Valid<Associate>,
) -> Result<HttpResponse, ApiError> {
    let PairParts { connector, credential } = pair;
    let request = PairRequest {
        name: body.name,
        access_type: body.access_type,
        groups: body.groups,
        auto_sync_options: body.auto_sync_options.map(Value::Object),
    };
    let made = engine.create_pair(&caller.0, connector, credential, request).await;
    associated(made, connector, credential)
}

/// Takes a credential from a connector. Documents that no other pair holds are removed.
#[utoipa::path(
    delete, path = "/manage/connector/{connector_id}/credential/{credential_id}",
    tag = "connectors", operation_id = "dissociate_credential",
    params(
        ("connector_id" = i32, Path, description = "The connector.", example = 3),
        ("credential_id" = i32, Path, description = "The credential.", example = 3),
    ),
    responses(
        (status = 200, description = "It is taken; or there was no such pair, with `success` \
            false.", body = StatusReply),
        (status = 403, description = "The caller sees the pair and may not change it.",
            body = crate::error::ErrorBody),
        (status = 404, description = "There is no such connector that the caller knows, or no such \
            credential that it may use.", body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn dissociate_credential(
    caller: Caller,
    engine: Data<Engine>,
    Valid(PairParts { connector, credential }): Valid<PairParts>,
) -> Result<HttpResponse, ApiError> {
    let reply = match engine.dissolve_pair(&caller.0, connector, credential).await {
        Ok(()) => {
            let message = format!("Credential {credential} removed from Connector");
            StatusReply::done(message, connector.0)
        }
        Err(error @ PairError::NotAssociated { .. }) => StatusReply {
            success: false,
            message: Some(error.to_string()),
            data: Some(connector.0),
        },
        Err(error) => return Err(error.into()),
    };
    Ok(HttpResponse::Ok().json(reply))
}

/// Makes a connector that needs no secret, with an empty credential, as a pair.
#[utoipa::path(
    post, path = "/manage/admin/connector-with-mock-credential", tag = "connectors",
    operation_id = "create_connector_with_empty_credential", request_body = ConnectorBody,
    responses(
        (status = 200, description = "The pair.", body = StatusReply),
        (status = 400, description = "As when each of them is made.",
            body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn create_connector_with_empty_credential(
    caller: Caller,
    engine: Data<Engine>,
    ValidJson(body): ValidJson<ConnectorBody>,
) -> Result<HttpResponse, ApiError> {
    let pair = engine.create_connected(&caller.0, body.into()).await?;
    let message = format!(
        "Creating new association between Connector {} and Credential {}",
        pair.connector, pair.credential
    );
    Ok(HttpResponse::Ok().json(StatusReply::done(message, pair.id.0)))
}

/// Which connector gets which credential.
#[derive(Debug, ToSchema)]
#[schema(as = CredentialSwapRequest, example = json!({"new_credential_id": 4, "connector_id": 3}))]
pub(crate) struct SwapBody {
    /// The credential, for the same source.
    new_credential_id: i32,
    /// The connector, with one pair.
    connector_id: i32,
    /// Who may read its documents: is only checked, and stays as it is.
    #[schema(value_type = Option<String>)]
    access_type: Option<AccessType>,
}

impl Record for SwapBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let credential = fields.required("new_credential_id", integer_id);
        let connector = fields.required("connector_id", integer_id);
        let access_type = fields.nullable("access_type", access_type);
        Ok(Self {
            new_credential_id: credential?,
            connector_id: connector?,
            access_type: access_type?,
        })
    }
}

/// Gives the one pair of a connector another credential; its documents stay.
#[utoipa::path(
    put, path = "/manage/admin/credential/swap", tag = "credentials",
    operation_id = "swap_credential", request_body = SwapBody,
    responses(
        (status = 200, description = "The pair.", body = StatusReply),
        (status = 400, description = "There is not exactly one pair, there is no such credential \
            that the caller may change, it is for another source, or it does not work.",
            body = crate::error::ErrorBody),
        (status = 403, description = "The caller may not change the pair.",
            body = crate::error::ErrorBody),
        (status = 404, description = "There is no such connector that the caller knows.",
            body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn swap_credential(
    caller: Caller,
    engine: Data<Engine>,
    ValidJson(body): ValidJson<SwapBody>,
) -> Result<HttpResponse, ApiError> {
    let connector = ConnectorId(body.connector_id);
    let credential = CredentialId(body.new_credential_id);
    let pair = engine.swap_credential(&caller.0, connector, credential, body.access_type).await?;
    Ok(HttpResponse::Ok().json(StatusReply::done("Credential swapped successfully", pair.0)))
}

/// Whether a pair is run.
#[derive(Debug, ToSchema)]
#[schema(as = CCStatusUpdateRequest, example = json!({"status": "PAUSED"}))]
#[expect(dead_code, reason = "describes the body, of which one word is read")]
pub(crate) struct StatusBody {
    /// `ACTIVE` or `PAUSED`.
    status: String,
}

/// Which pair, and its status.
pub(crate) struct SetStatus {
    id: CcPairId,
    status: CcPairStatus,
}

struct StatusField(CcPairStatus);

impl Record for StatusField {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let known =
            || vec!["SCHEDULED", "INITIAL_INDEXING", "ACTIVE", "PAUSED", "DELETING", "INVALID"];
        fields.required("status", one_of(known)).map(Self)
    }
}

impl Input for SetStatus {
    const BODY: bool = true;

    fn read(mut parts: Parts<'_>) -> Read<Self> {
        let id = parts.path(|path| path.required("cc_pair_id", integer_id));
        let status = parts.body::<StatusField>();
        Ok(Self { id: CcPairId(id?), status: status?.0 })
    }
}

/// Pauses a pair, whose run ends then, or lets it go on.
#[utoipa::path(
    put, path = "/manage/admin/cc-pair/{cc_pair_id}/status", tag = "connectors",
    operation_id = "set_pair_status", request_body = StatusBody,
    params(("cc_pair_id" = i32, Path, description = "The pair.", example = 3)),
    responses(
        (status = 200, description = "It is set.", body = MessageReply),
        (status = 400, description = "It is another status, the pair is being deleted, or no \
            schedule runs it.", body = crate::error::ErrorBody),
        (status = 403, description = "The caller may not change it.",
            body = crate::error::ErrorBody),
        (status = 404, description = "There is none that the caller may see.",
            body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn set_pair_status(
    caller: Caller,
    engine: Data<Engine>,
    Valid(SetStatus { id, status }): Valid<SetStatus>,
) -> Result<HttpResponse, ApiError> {
    let paused = match status {
        CcPairStatus::Paused => true,
        CcPairStatus::Active => false,
        _ => return Err(PairError::NoStatusToSet.into()),
    };
    engine.pause_pair(&caller.0, id, paused).await?;
    Ok(HttpResponse::Ok().json(MessageReply { message: "200" }))
}

/// That it is done.
#[derive(Debug, serde::Serialize, ToSchema)]
#[schema(as = MessageResponse)]
pub(crate) struct MessageReply {
    /// `200`, for clients of the reference.
    #[schema(value_type = String)]
    message: &'static str,
}

/// Which pair, and its name.
pub(crate) struct RenamePair {
    id: CcPairId,
    name: String,
}

impl Input for RenamePair {
    const BODY: bool = false;

    fn read(parts: Parts<'_>) -> Read<Self> {
        let id = parts.path(|path| path.required("cc_pair_id", integer_id));
        let name = parts.query(|query| query.required("new_name", name_of_at_most(NAME_CHARS_MAX)));
        Ok(Self { id: CcPairId(id?), name: name? })
    }
}

/// Gives a pair another name.
#[utoipa::path(
    put, path = "/manage/admin/cc-pair/{cc_pair_id}/name", tag = "connectors",
    operation_id = "rename_pair",
    params(
        ("cc_pair_id" = i32, Path, description = "The pair.", example = 3),
        ("new_name" = String, Query, description = "Its name, unique."),
    ),
    responses(
        (status = 200, description = "It is renamed.", body = StatusReply),
        (status = 400, description = "The name is taken, or no schedule runs the pair.",
            body = crate::error::ErrorBody),
        (status = 403, description = "The caller may not change it.",
            body = crate::error::ErrorBody),
        (status = 404, description = "There is none that the caller may see.",
            body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn rename_pair(
    caller: Caller,
    engine: Data<Engine>,
    Valid(RenamePair { id, name }): Valid<RenamePair>,
) -> Result<HttpResponse, ApiError> {
    engine.rename_pair(&caller.0, id, &name).await?;
    Ok(HttpResponse::Ok().json(StatusReply::done("Name updated successfully", id.0)))
}

/// A setting of a pair's connector.
#[derive(Debug, ToSchema)]
#[schema(as = CCPropertyUpdateRequest,
    example = json!({"name": "refresh_frequency", "value": "3600"}))]
pub(crate) struct PropertyBody {
    /// `refresh_frequency` or `pruning_frequency`.
    name: String,
    /// Seconds.
    value: String,
}

/// Which pair, and what changes.
pub(crate) struct SetProperty {
    id: CcPairId,
    body: PropertyBody,
}

impl Record for PropertyBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let name = fields.required("name", text);
        let value = fields.required("value", text);
        Ok(Self { name: name?, value: value? })
    }
}

impl Input for SetProperty {
    const BODY: bool = true;

    fn read(mut parts: Parts<'_>) -> Read<Self> {
        let id = parts.path(|path| path.required("cc_pair_id", integer_id));
        let body = parts.body();
        Ok(Self { id: CcPairId(id?), body: body? })
    }
}

/// Changes how often a pair's connector is read, or looks for what is gone.
///
/// Other pairs of the connector follow.
#[utoipa::path(
    put, path = "/manage/admin/cc-pair/{cc_pair_id}/property", tag = "connectors",
    operation_id = "set_pair_property", request_body = PropertyBody,
    params(("cc_pair_id" = i32, Path, description = "The pair.", example = 3)),
    responses(
        (status = 200, description = "It is set.", body = StatusReply),
        (status = 400, description = "There is no such property, it is no number, or below 60 \
            (`refresh_frequency`) or 300 (`pruning_frequency`).",
            body = crate::error::ErrorBody),
        (status = 403, description = "The caller may not change all pairs of the connector.",
            body = crate::error::ErrorBody),
        (status = 404, description = "There is none that the caller may see.",
            body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn set_pair_property(
    caller: Caller,
    engine: Data<Engine>,
    Valid(SetProperty { id, body }): Valid<SetProperty>,
) -> Result<HttpResponse, ApiError> {
    let message = format!("{} updated successfully", body.name);
    engine.set_pair_frequency(&caller.0, id, &body.name, &body.value).await?;
    Ok(HttpResponse::Ok().json(StatusReply::done(message, id.0)))
}
