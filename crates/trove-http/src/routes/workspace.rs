//! `GET /settings`, `PUT` and `PATCH /admin/settings`: what administrators decide for everybody.

mod body;

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::Serialize;
use trove_domain::workspace::{QueryHistory, WorkspaceSettings};
use trove_engine::Engine;
use utoipa::ToSchema;

use crate::error::{ApiError, ErrorBody};
use crate::extract::ValidJson;
use body::SettingsBody;

/// The one state of the application: nobody pays here.
const APPLICATION_STATUS: &str = "active";

/// What the deployment can do, and what administrators have decided.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = UserSettings)]
#[expect(clippy::struct_excessive_bools, reason = "the record of the interface")]
pub(crate) struct SettingsReply {
    /// Always null: nothing is deleted for its age.
    maximum_chat_retention_days: Option<f64>,
    /// What the company is called.
    company_name: Option<String>,
    /// What the company is.
    company_description: Option<String>,
    /// Always null: it is not known.
    gpu_enabled: Option<bool>,
    /// Always `active`.
    #[schema(value_type = String, example = "active")]
    application_status: &'static str,
    /// Whether whoever is not signed in is served as the anonymous user.
    anonymous_user_enabled: bool,
    /// Whether only who is invited may register. The configuration may say so, too.
    invite_only_enabled: bool,
    /// Whether there is deep research: there is none.
    deep_research_enabled: bool,
    /// Whether groups and permissions work: always.
    ee_features_enabled: bool,
    /// Whether users may set the temperature.
    temperature_override_enabled: Option<bool>,
    /// Whether answers scroll as they grow.
    auto_scroll: Option<bool>,
    /// What administrators may see of the chats of others: `disabled`, `anonymized` or `normal`.
    #[schema(value_type = Option<String>)]
    query_history_type: Option<&'static str>,
    /// Whether images in documents are looked at: they are not.
    image_extraction_and_analysis_enabled: bool,
    /// Whether images are looked at in a search: they are not.
    search_time_image_analysis_enabled: bool,
    /// Larger images are not looked at, in MB.
    image_analysis_max_size_mb: Option<u32>,
    /// Whether users have files of their own to search: they have none.
    user_knowledge_enabled: bool,
    /// Whether user interfaces show further connectors.
    show_extra_connectors: Option<bool>,
    /// Whether user interfaces leave the built-in agent out.
    disable_default_assistant: Option<bool>,
    /// Not used.
    opensearch_indexing_enabled: bool,
    /// Messages to the user: none.
    #[schema(value_type = Vec<serde_json::Value>)]
    notifications: [(); 0],
    /// Whether all documents should be indexed again.
    needs_reindexing: bool,
    /// There is one tenant.
    #[schema(value_type = String, example = "public")]
    tenant_id: &'static str,
    /// Whether there is a search.
    vector_db_enabled: bool,
}

impl SettingsReply {
    fn new(settings: WorkspaceSettings, vector_db: bool) -> Self {
        Self {
            maximum_chat_retention_days: None,
            company_name: settings.company_name,
            company_description: settings.company_description,
            gpu_enabled: None,
            application_status: APPLICATION_STATUS,
            anonymous_user_enabled: settings.anonymous_access,
            invite_only_enabled: settings.invited_only,
            deep_research_enabled: false,
            ee_features_enabled: true,
            temperature_override_enabled: settings.temperature_override,
            auto_scroll: settings.auto_scroll,
            query_history_type: settings.query_history.map(QueryHistory::as_str),
            image_extraction_and_analysis_enabled: false,
            search_time_image_analysis_enabled: false,
            image_analysis_max_size_mb: settings.image_megabytes_max,
            user_knowledge_enabled: false,
            show_extra_connectors: settings.extra_connectors,
            disable_default_assistant: settings.hide_builtin_agent,
            opensearch_indexing_enabled: false,
            notifications: [],
            needs_reindexing: false,
            tenant_id: "public",
            vector_db_enabled: vector_db,
        }
    }
}

/// What the deployment can do, and what administrators have decided.
#[utoipa::path(
    get, path = "/settings", tag = "system", operation_id = "settings",
    responses((status = 200, description = "What it can do.", body = SettingsReply))
)]
pub(crate) async fn settings(engine: Data<Engine>) -> Result<HttpResponse, ApiError> {
    let settings = engine.workspace_settings().await?;
    Ok(HttpResponse::Ok().json(SettingsReply::new(settings, engine.config().vector_db)))
}

/// Decides everything anew: what is left out has its default.
#[utoipa::path(
    put, path = "/admin/settings", tag = "system", operation_id = "replace_settings",
    request_body = SettingsBody,
    responses(
        (status = 200, description = "It is decided, from the next request on.", body = ()),
        (status = 501, description = "A setting asks for what this version does not have; `detail` \
            names it, and nothing is changed.", body = ErrorBody),
    )
)]
pub(crate) async fn replace_settings(
    engine: Data<Engine>,
    ValidJson(body): ValidJson<SettingsBody>,
) -> Result<HttpResponse, ApiError> {
    let settings = WorkspaceSettings::default().after(body.change()?);
    engine.change_workspace_settings(settings.into()).await?;
    Ok(super::users::null())
}

/// Decides anew about what is sent; the rest stays.
#[utoipa::path(
    patch, path = "/admin/settings", tag = "system", operation_id = "change_settings",
    request_body = SettingsBody,
    responses(
        (status = 200, description = "It is decided, from the next request on.", body = ()),
        (status = 501, description = "A setting asks for what this version does not have; `detail` \
            names it, and nothing is changed.", body = ErrorBody),
    )
)]
pub(crate) async fn change_settings(
    engine: Data<Engine>,
    ValidJson(body): ValidJson<SettingsBody>,
) -> Result<HttpResponse, ApiError> {
    engine.change_workspace_settings(body.change()?).await?;
    Ok(super::users::null())
}
