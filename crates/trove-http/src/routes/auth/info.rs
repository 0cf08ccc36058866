//! `GET /auth/type` and `GET /settings`: what user interfaces ask before they show anything.

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::Serialize;
use trove_engine::Engine;
use utoipa::ToSchema;

use crate::error::ApiError;

/// How people sign in.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuthTypeResponse)]
#[expect(clippy::struct_excessive_bools, reason = "the record of the interface")]
pub(crate) struct AuthTypeReply {
    /// `basic`: with address and password.
    #[schema(value_type = String, example = "basic")]
    auth_type: &'static str,
    /// Whether people must prove their addresses.
    requires_verification: bool,
    /// Whether anybody may search without signing in.
    anonymous_user_enabled: bool,
    /// Fewest characters of a password.
    #[schema(example = 8)]
    password_min_length: usize,
    /// Most characters of a password.
    #[schema(example = 64)]
    password_max_length: usize,
    /// Whether a password needs an upper-case letter.
    password_require_uppercase: bool,
    /// Whether a password needs a lower-case letter.
    password_require_lowercase: bool,
    /// Whether a password needs a digit.
    password_require_digit: bool,
    /// Whether a password needs a character that is neither a letter nor a digit.
    password_require_special_char: bool,
    /// Whether people sign in with passwords.
    password_auth_enabled: bool,
    /// Whether anybody has registered.
    has_users: bool,
    /// Whether people sign in through another service.
    oauth_enabled: bool,
}

/// How people sign in.
#[utoipa::path(
    get, path = "/auth/type", tag = "users", operation_id = "auth_type",
    responses((status = 200, description = "How people sign in.", body = AuthTypeReply))
)]
pub(crate) async fn auth_type(engine: Data<Engine>) -> Result<HttpResponse, ApiError> {
    let has_users = engine.has_registered_users().await?;
    let policy = engine.config().accounts.password;
    Ok(HttpResponse::Ok().json(AuthTypeReply {
        auth_type: "basic",
        requires_verification: false,
        anonymous_user_enabled: false,
        password_min_length: policy.min_chars,
        password_max_length: policy.max_chars,
        password_require_uppercase: policy.uppercase,
        password_require_lowercase: policy.lowercase,
        password_require_digit: policy.digit,
        password_require_special_char: policy.special,
        password_auth_enabled: true,
        has_users,
        oauth_enabled: false,
    }))
}

/// What the deployment can do.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = UserSettings)]
#[expect(clippy::struct_excessive_bools, reason = "the record of the interface")]
pub(crate) struct SettingsReply {
    /// How long chats are kept; null for ever.
    maximum_chat_retention_days: Option<f64>,
    /// Not set.
    company_name: Option<String>,
    /// Not set.
    company_description: Option<String>,
    /// Not known.
    gpu_enabled: Option<bool>,
    /// `active`.
    #[schema(value_type = String, example = "active")]
    application_status: &'static str,
    /// Whether anybody may search without signing in.
    anonymous_user_enabled: bool,
    /// Whether there is deep research.
    deep_research_enabled: bool,
    /// Whether groups and permissions work: always.
    ee_features_enabled: bool,
    /// Whether users may set the temperature; each for itself.
    temperature_override_enabled: Option<bool>,
    /// Whether answers scroll as they grow; each for itself.
    auto_scroll: Option<bool>,
    /// What administrators see of chats.
    #[schema(value_type = Option<String>)]
    query_history_type: Option<&'static str>,
    /// Whether images in documents are looked at.
    image_extraction_and_analysis_enabled: bool,
    /// Whether images are looked at in a search.
    search_time_image_analysis_enabled: bool,
    /// Largest image in MB.
    image_analysis_max_size_mb: Option<i32>,
    /// Whether users have files of their own to search.
    user_knowledge_enabled: bool,
    /// Whether user interfaces show further connectors.
    show_extra_connectors: bool,
    /// Whether user interfaces leave the built-in agent out.
    disable_default_assistant: bool,
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

/// What the deployment can do.
#[utoipa::path(
    get, path = "/settings", tag = "system", operation_id = "settings",
    responses((status = 200, description = "What it can do.", body = SettingsReply))
)]
pub(crate) async fn settings(engine: Data<Engine>) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok().json(SettingsReply {
        maximum_chat_retention_days: None,
        company_name: None,
        company_description: None,
        gpu_enabled: None,
        application_status: "active",
        anonymous_user_enabled: false,
        deep_research_enabled: false,
        ee_features_enabled: true,
        temperature_override_enabled: None,
        auto_scroll: None,
        query_history_type: None,
        image_extraction_and_analysis_enabled: false,
        search_time_image_analysis_enabled: false,
        image_analysis_max_size_mb: None,
        user_knowledge_enabled: false,
        show_extra_connectors: true,
        disable_default_assistant: false,
        opensearch_indexing_enabled: false,
        notifications: [],
        needs_reindexing: false,
        tenant_id: "public",
        vector_db_enabled: engine.config().vector_db,
    }))
}
