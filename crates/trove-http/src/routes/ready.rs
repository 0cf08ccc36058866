//! `GET /health/ready`

use std::collections::BTreeMap;
use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::Serialize;
use utoipa::ToSchema;

use crate::Settings;
use crate::error::ApiError;
use crate::readiness::{Component, ComponentState, Readiness};

/// How long the components may take to tell: less than a load balancer waits.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// Whether requests can be answered.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReadinessReply {
    /// Whether they can.
    success: bool,
    /// `ok`, `degraded` or `not ready`.
    #[schema(example = "ok")]
    message: String,
    /// Each component by name.
    data: BTreeMap<String, ComponentReply>,
}

/// One component.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ComponentReply {
    /// Whether it works.
    state: ComponentState,
    /// Why it does not.
    reason: Option<String>,
}

/// Whether requests can be answered.
///
/// 503 as long as a component that every request needs does not work. A component that is
/// `degraded` makes answers worse, not impossible.
#[utoipa::path(
    get, path = "/health/ready", tag = "system", operation_id = "ready",
    responses(
        (status = 200, description = "Requests can be answered.", body = ReadinessReply,
            example = json!({"success": true, "message": "ok",
                "data": {"database": {"state": "ok", "reason": null}}})),
        (status = 503, description = "A component that every request needs does not work.",
            body = ReadinessReply,
            example = json!({"success": false, "message": "not ready",
                "data": {"database": {"state": "failed", "reason": "does not answer"}}})),
    )
)]
pub(crate) async fn ready(settings: Data<Settings>) -> Result<HttpResponse, ApiError> {
    let readiness = tokio::time::timeout(PROBE_TIMEOUT, (settings.readiness)()).await;
    let readiness = readiness.unwrap_or_else(|_| Readiness {
        components: vec![Component {
            name: "readiness".to_owned(),
            state: ComponentState::Failed,
            reason: Some("the components did not answer in time".to_owned()),
        }],
    });
    let ready = readiness.is_ready();
    let sound = readiness.components.iter().all(|part| part.state == ComponentState::Ok);
    let message = match (ready, sound) {
        (true, true) => "ok",
        (true, false) => "degraded",
        (false, _) => "not ready",
    };
    let data = readiness
        .components
        .into_iter()
        .map(|part| (part.name, ComponentReply { state: part.state, reason: part.reason }));
    let reply =
        ReadinessReply { success: ready, message: message.to_owned(), data: data.collect() };
    let mut response = if ready { HttpResponse::Ok() } else { HttpResponse::ServiceUnavailable() };
    if !ready {
        response.insert_header((actix_web::http::header::RETRY_AFTER, "1"));
    }
    Ok(response.json(reply))
}
