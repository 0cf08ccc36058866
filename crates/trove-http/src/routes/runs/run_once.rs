//! `POST /manage/admin/connector/run-once`

use std::collections::BTreeSet;

use actix_web::HttpResponse;
use actix_web::web::Data;
use trove_domain::id::{ConnectorId, CredentialId};
use trove_engine::Engine;
use utoipa::ToSchema;

use crate::error::ApiError;
use crate::extract::{Caller, ValidJson};
use crate::routes::schema::IDS_MAX;
use crate::routes::status::StatusReply;
use crate::validation::{Fields, Read, Record, boolean, integer_id, list_of_at_most};

/// Which pairs to run.
#[derive(Debug, ToSchema)]
#[schema(as = RunConnectorRequest, example = json!({"connector_id": 3, "credential_ids": null,
    "from_beginning": false}))]
pub(crate) struct RunBody {
    /// The connector.
    connector_id: i32,
    /// Its credentials to read it with; all whose pairs the caller sees when left out, null or
    /// empty.
    #[schema(value_type = Option<Vec<i32>>, max_items = 1000)]
    credential_ids: BTreeSet<CredentialId>,
    /// Whether to read everything in place of what has changed.
    #[schema(value_type = Option<bool>, default = false)]
    from_beginning: bool,
}

impl Record for RunBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let connector = fields.required("connector_id", integer_id);
        let credentials = fields.nullable("credential_ids", list_of_at_most(IDS_MAX, integer_id));
        let from_beginning = fields.or("from_beginning", false, boolean);
        Ok(Self {
            connector_id: connector?,
            credential_ids: credentials?.into_iter().flatten().map(CredentialId).collect(),
            from_beginning: from_beginning?,
        })
    }
}

/// Asks pairs of a connector for a run out of turn. One that runs already is not asked; one that is
/// paused remembers it until it goes on.
#[utoipa::path(
    post, path = "/manage/admin/connector/run-once", tag = "connectors",
    operation_id = "run_connector", request_body = RunBody,
    responses(
        (status = 200, description = "`data` is how many pairs were asked.", body = StatusReply),
        (status = 400, description = "The connector does not have one of the credentials, or has \
            none, or no schedule runs it.", body = crate::error::ErrorBody),
        (status = 403, description = "The caller may not change one of the pairs.",
            body = crate::error::ErrorBody),
        (status = 404, description = "There is no such connector, or none of its pairs is the \
            caller's to see.", body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn run_connector(
    caller: Caller,
    engine: Data<Engine>,
    ValidJson(body): ValidJson<RunBody>,
) -> Result<HttpResponse, ApiError> {
    let RunBody { connector_id, credential_ids, from_beginning } = body;
    let connector = ConnectorId(connector_id);
    let asked = engine.run_connector(&caller.0, connector, &credential_ids, from_beginning).await?;
    let message = format!("Marked {asked} index attempts with indexing triggers.");
    let asked = i32::try_from(asked).unwrap_or(i32::MAX);
    Ok(HttpResponse::Ok().json(StatusReply::done(message, asked)))
}
