//! `GET` and `POST /persona/labels`

use actix_web::HttpResponse;
use actix_web::web::Data;
use trove_engine::Engine;
use utoipa::ToSchema;

use super::record::LabelReply;
use crate::error::ApiError;
use crate::extract::{Caller, ValidJson};
use crate::routes::schema::name_of_at_most;
use crate::validation::{Fields, Read, Record};

/// Most characters of a label.
const LABEL_CHARS_MAX: usize = 100;

/// A label to make.
#[derive(Debug, ToSchema)]
#[schema(as = PersonaLabelCreate, example = json!({"name": "HR"}))]
pub(crate) struct LabelBody {
    /// The word, unique.
    #[schema(min_length = 1, max_length = 100)]
    name: String,
}

impl Record for LabelBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        Ok(Self { name: fields.required("name", name_of_at_most(LABEL_CHARS_MAX))? })
    }
}

/// All labels, by rising id.
#[utoipa::path(
    get, path = "/persona/labels", tag = "agents", operation_id = "list_labels",
    responses((status = 200, description = "The labels.", body = Vec<LabelReply>))
)]
pub(crate) async fn list_labels(
    _caller: Caller,
    engine: Data<Engine>,
) -> Result<HttpResponse, ApiError> {
    let labels = engine.agent_labels().await?;
    let labels: Vec<LabelReply> = labels.into_iter().map(LabelReply::from).collect();
    Ok(HttpResponse::Ok().json(labels))
}

/// Makes a label.
#[utoipa::path(
    post, path = "/persona/labels", tag = "agents", operation_id = "create_label",
    request_body = LabelBody,
    responses(
        (status = 200, description = "The label.", body = LabelReply),
        (status = 400, description = "There is one with the name already, or there are 1,000.",
            body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn create_label(
    _caller: Caller,
    engine: Data<Engine>,
    ValidJson(body): ValidJson<LabelBody>,
) -> Result<HttpResponse, ApiError> {
    let label = engine.create_agent_label(&body.name).await?;
    Ok(HttpResponse::Ok().json(LabelReply::from(label)))
}
