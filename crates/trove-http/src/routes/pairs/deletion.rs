//! `POST /manage/admin/deletion-attempt`

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::Serialize;
use trove_domain::cc_pair::CcPairStatus;
use trove_domain::id::{ConnectorId, CredentialId};
use trove_engine::Engine;
use trove_engine::administration::PairView;
use utoipa::ToSchema;

use crate::error::ApiError;
use crate::extract::{Caller, ValidJson};
use crate::validation::{Fields, Read, Record, integer_id};

/// Which pair.
#[derive(Debug, ToSchema)]
#[schema(as = ConnectorCredentialPairIdentifier,
    example = json!({"connector_id": 3, "credential_id": 3}))]
pub(crate) struct PairIdentifier {
    /// Its connector.
    connector_id: i32,
    /// Its credential.
    credential_id: i32,
}

impl Record for PairIdentifier {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let connector = fields.required("connector_id", integer_id);
        let credential = fields.required("credential_id", integer_id);
        Ok(Self { connector_id: connector?, credential_id: credential? })
    }
}

/// The deletion of a pair.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DeletionAttemptSnapshot)]
pub(crate) struct DeletionReply {
    /// Its connector.
    connector_id: i32,
    /// Its credential.
    credential_id: i32,
    /// `STARTED` while a worker is at it, else `PENDING`.
    #[schema(value_type = String)]
    status: &'static str,
}

impl DeletionReply {
    /// The deletion of a pair that is being deleted.
    pub(crate) fn of(view: &PairView) -> Option<Self> {
        let pair = &view.seen.pair;
        let status = if view.is_in_deletion { "STARTED" } else { "PENDING" };
        (pair.status == CcPairStatus::Deleting).then_some(Self {
            connector_id: pair.connector.0,
            credential_id: pair.credential.0,
            status,
        })
    }
}

/// Begins to delete a pair with its documents, whatever its status.
///
/// Its run ends, nothing is indexed for it any more, and the index takes its access from its
/// documents at once, before they are taken from it in the background; those that no other pair
/// holds are removed. Then the pair goes,
/// and its connector with its last pair; the credential stays. Asking again is fine, and tries again
/// at once what has failed.
#[utoipa::path(
    post, path = "/manage/admin/deletion-attempt", tag = "connectors",
    operation_id = "delete_pair", request_body = PairIdentifier,
    responses(
        (status = 200, description = "It is being deleted.", body = ()),
        (status = 400, description = "No schedule runs the pair.", body = crate::error::ErrorBody),
        (status = 404, description = "There is none that the caller may change.",
            body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn delete_pair(
    caller: Caller,
    engine: Data<Engine>,
    ValidJson(body): ValidJson<PairIdentifier>,
) -> Result<HttpResponse, ApiError> {
    let (connector, credential) =
        (ConnectorId(body.connector_id), CredentialId(body.credential_id));
    engine.delete_pair(&caller.0, connector, credential).await?;
    Ok(HttpResponse::Ok().json(()))
}
