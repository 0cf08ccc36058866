//! `GET /me`

use std::collections::BTreeMap;

use actix_web::HttpResponse;
use chrono::{DateTime, Utc};
use serde::Serialize;
use trove_domain::access;
use utoipa::ToSchema;

use super::schema::RoleValue;
use crate::error::ApiError;
use crate::extract::Caller;

/// The signed-in user.
#[derive(Debug, Serialize, ToSchema)]
#[expect(clippy::struct_excessive_bools, reason = "the record of the interface")]
pub(crate) struct UserInfo {
    /// Key of the user, a UUID.
    id: String,
    /// Address.
    email: String,
    /// Whether the user may sign in: always true here.
    is_active: bool,
    /// Not used.
    is_superuser: bool,
    /// Whether the address is known to belong to the user.
    is_verified: bool,
    /// What the user may do.
    #[schema(value_type = RoleValue)]
    role: &'static str,
    /// Settings of the user interface.
    preferences: UserPreferences,
    /// What answers take into account.
    personalization: UserPersonalization,
    /// When the identity provider's session ends, where that is tracked.
    oidc_expiry: Option<DateTime<Utc>>,
    /// When the browser session began; null for keys.
    current_token_created_at: Option<DateTime<Utc>>,
    /// How long browser sessions last, in seconds; null for keys.
    current_token_expiry_length: Option<i64>,
    /// Not used.
    is_cloud_superuser: bool,
    /// Not used.
    team_name: Option<String>,
    /// True for the user that stands for everybody who is not signed in.
    is_anonymous_user: Option<bool>,
    /// Whether the user has a password.
    password_configured: Option<bool>,
    /// Not used.
    tenant_info: Option<TenantInfo>,
}

/// Settings of the user interface.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UserPreferences {
    chosen_assistants: Option<Vec<i64>>,
    hidden_assistants: Vec<i64>,
    visible_assistants: Vec<i64>,
    default_model: Option<String>,
    pinned_assistants: Option<Vec<i64>>,
    shortcut_enabled: Option<bool>,
    auto_scroll: Option<bool>,
    temperature_override_enabled: Option<bool>,
    /// `light`, `dark` or `system`.
    theme_preference: Option<String>,
    chat_background: Option<String>,
    /// `AUTO`, `CHAT` or `SEARCH`.
    #[schema(value_type = String)]
    default_app_mode: &'static str,
    #[schema(value_type = Option<BTreeMap<String, serde_json::Value>>)]
    assistant_specific_configs: Option<BTreeMap<String, serde_json::Value>>,
}

/// What answers take into account.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UserPersonalization {
    name: String,
    /// Job title, not what the user may do.
    role: String,
    use_memories: bool,
    enable_memory_tool: bool,
    #[schema(value_type = Vec<serde_json::Value>)]
    memories: Vec<serde_json::Value>,
    user_preferences: String,
}

/// Not used: there is one tenant.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TenantInfo {
    #[schema(value_type = Option<serde_json::Value>)]
    invitation: Option<serde_json::Value>,
    #[schema(value_type = Option<serde_json::Value>)]
    new_tenant: Option<serde_json::Value>,
}

/// The signed-in user.
#[utoipa::path(
    get, path = "/me", tag = "users", operation_id = "me",
    responses((status = 200, description = "The user.", body = UserInfo,
        example = json!({"id": "0190a1b2-c3d4-7000-8000-00000000000a",
            "email": "ada@example.com", "is_active": true, "is_superuser": false,
            "is_verified": true, "role": "basic", "preferences": {}, "personalization": {}})))
)]
pub(crate) async fn me(caller: Caller) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok().json(UserInfo::from(caller.0)))
}

impl From<access::Caller> for UserInfo {
    /// What is not kept yet has the value that a new user has.
    fn from(caller: access::Caller) -> Self {
        Self {
            id: caller.user.to_string(),
            email: caller.email,
            is_active: true,
            is_superuser: false,
            is_verified: true,
            role: caller.role.as_str(),
            preferences: UserPreferences {
                chosen_assistants: None,
                hidden_assistants: Vec::new(),
                visible_assistants: Vec::new(),
                default_model: None,
                pinned_assistants: None,
                shortcut_enabled: None,
                auto_scroll: None,
                temperature_override_enabled: None,
                theme_preference: None,
                chat_background: None,
                default_app_mode: "CHAT",
                assistant_specific_configs: None,
            },
            personalization: UserPersonalization {
                name: String::new(),
                role: String::new(),
                use_memories: true,
                enable_memory_tool: true,
                memories: Vec::new(),
                user_preferences: String::new(),
            },
            oidc_expiry: None,
            current_token_created_at: None,
            current_token_expiry_length: None,
            is_cloud_superuser: false,
            team_name: None,
            is_anonymous_user: None,
            password_configured: None,
            tenant_info: Some(TenantInfo { invitation: None, new_tenant: None }),
        }
    }
}
