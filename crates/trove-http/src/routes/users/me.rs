//! `GET /me` and `GET /get-user-role`

use std::collections::BTreeMap;

use actix_web::HttpResponse;
use actix_web::web::Data;
use chrono::{DateTime, Utc};
use serde::Serialize;
use trove_domain::access::{self, Proof};
use trove_domain::preferences::{Personalization, Preferences, Theme};
use trove_domain::user::User;
use trove_engine::Engine;
use utoipa::ToSchema;

use crate::error::{ApiError, Refusal};
use crate::extract::Caller;
use crate::routes::schema::RoleValue;

/// What clients know the anonymous user by.
const ANONYMOUS_ID: &str = "__anonymous_user__";

/// The user who asks.
#[derive(Debug, Serialize, ToSchema)]
#[expect(clippy::struct_excessive_bools, reason = "the record of the interface")]
pub(crate) struct UserInfo {
    /// Key of the user, a UUID; `__anonymous_user__` for the anonymous one.
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
    /// When the browser session ends; null for keys.
    token_expires_at: Option<DateTime<Utc>>,
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
    /// Not used.
    chosen_assistants: Option<Vec<i64>>,
    hidden_assistants: Vec<i64>,
    visible_assistants: Vec<i64>,
    default_model: Option<String>,
    pinned_assistants: Option<Vec<i64>>,
    shortcut_enabled: Option<bool>,
    auto_scroll: Option<bool>,
    temperature_override_enabled: Option<bool>,
    /// `light`, `dark` or `system`.
    #[schema(value_type = Option<String>)]
    theme_preference: Option<&'static str>,
    chat_background: Option<String>,
    /// `AUTO`, `CHAT` or `SEARCH`.
    #[schema(value_type = String)]
    default_app_mode: &'static str,
    /// Not used.
    #[schema(value_type = Option<BTreeMap<String, serde_json::Value>>)]
    assistant_specific_configs: Option<BTreeMap<String, serde_json::Value>>,
}

/// What answers take into account.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UserPersonalization {
    /// What the user is called.
    name: String,
    /// Job title, not what the user may do.
    role: String,
    use_memories: bool,
    enable_memory_tool: bool,
    memories: Vec<MemoryReply>,
    /// What the user wants of every answer.
    user_preferences: String,
}

/// Something to remember of a user.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = MemoryItem)]
struct MemoryReply {
    /// Its number.
    id: i64,
    /// What it says.
    content: String,
}

/// Not used: there is one tenant.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TenantInfo {
    #[schema(value_type = Option<serde_json::Value>)]
    invitation: Option<serde_json::Value>,
    #[schema(value_type = Option<serde_json::Value>)]
    new_tenant: Option<serde_json::Value>,
}

/// The user who asks: the anonymous one for whoever is not signed in, where that is on.
#[utoipa::path(
    get, path = "/me", tag = "users", operation_id = "me",
    responses((status = 200, description = "The user.", body = UserInfo,
        example = json!({"id": "0190a1b2-c3d4-7000-8000-00000000000a",
            "email": "reader@example.com", "is_active": true, "is_superuser": false,
            "is_verified": true, "role": "basic", "preferences": {}, "personalization": {}})))
)]
pub(crate) async fn me(caller: Caller, engine: Data<Engine>) -> Result<HttpResponse, ApiError> {
    if caller.0.is_anonymous() {
        return Ok(HttpResponse::Ok().json(UserInfo::of_anonymous(caller.0)));
    }
    let account = engine.own_account(&caller.0).await?;
    // Removed between the two looks.
    let (user, profile) = account.ok_or(Refusal::Unauthenticated)?;
    let session = match caller.0.proof {
        Proof::Session(session) => Some(session),
        Proof::ApiKey(_) | Proof::AccessToken { .. } | Proof::Trusted | Proof::Anonymous => None,
    };
    let lifetime = engine.config().accounts.session_lifetime;
    let lifetime = i64::try_from(lifetime.as_secs()).unwrap_or(i64::MAX);
    Ok(HttpResponse::Ok().json(UserInfo {
        id: user.id.to_string(),
        email: user.email,
        is_active: user.active,
        is_superuser: false,
        is_verified: true,
        role: user.role.as_str(),
        preferences: profile.preferences.into(),
        personalization: profile.personalization.into(),
        oidc_expiry: None,
        current_token_created_at: session.map(|session| session.created_at),
        current_token_expiry_length: session.map(|_| lifetime),
        token_expires_at: session.map(|session| session.expires_at),
        is_cloud_superuser: false,
        team_name: None,
        is_anonymous_user: None,
        password_configured: Some(user.has_password),
        tenant_info: Some(TenantInfo { invitation: None, new_tenant: None }),
    }))
}

impl From<Preferences> for UserPreferences {
    fn from(preferences: Preferences) -> Self {
        Self {
            chosen_assistants: None,
            hidden_assistants: preferences.hidden_agents,
            visible_assistants: preferences.visible_agents,
            default_model: preferences.default_model,
            pinned_assistants: preferences.pinned_agents,
            shortcut_enabled: preferences.shortcuts,
            auto_scroll: preferences.auto_scroll,
            temperature_override_enabled: preferences.temperature_override,
            theme_preference: preferences.theme.map(Theme::as_str),
            chat_background: preferences.chat_background,
            default_app_mode: preferences.app_mode.as_str(),
            assistant_specific_configs: None,
        }
    }
}

impl From<Personalization> for UserPersonalization {
    fn from(personalization: Personalization) -> Self {
        let memories = personalization.memories.into_iter();
        Self {
            name: personalization.name,
            role: personalization.job_title,
            use_memories: personalization.use_memories,
            enable_memory_tool: personalization.memory_tool,
            memories: memories
                .map(|memory| MemoryReply { id: memory.id, content: memory.content })
                .collect(),
            user_preferences: personalization.wishes,
        }
    }
}

/// What the caller may do, in one word.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = UserRoleResponse)]
pub(crate) struct RoleReply {
    /// The role.
    #[schema(value_type = RoleValue)]
    role: &'static str,
}

/// The caller's role.
#[utoipa::path(
    get, path = "/get-user-role", tag = "users", operation_id = "get_user_role",
    responses((status = 200, description = "The role.", body = RoleReply,
        example = json!({"role": "basic"})))
)]
pub(crate) async fn get_user_role(caller: Caller) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok().json(RoleReply { role: caller.0.role.as_str() }))
}

impl UserInfo {
    /// Whoever is not signed in.
    fn of_anonymous(caller: access::Caller) -> Self {
        let preferences = Preferences { auto_scroll: Some(true), ..Preferences::default() };
        Self {
            id: ANONYMOUS_ID.to_owned(),
            email: caller.email,
            is_active: true,
            is_superuser: false,
            is_verified: true,
            role: caller.role.as_str(),
            preferences: preferences.into(),
            personalization: Personalization::default().into(),
            oidc_expiry: None,
            current_token_created_at: None,
            current_token_expiry_length: None,
            token_expires_at: None,
            is_cloud_superuser: false,
            team_name: None,
            is_anonymous_user: Some(true),
            password_configured: Some(false),
            tenant_info: None,
        }
    }

    /// A user as others see it: what it has set for itself, and how it is signed in, is its own.
    pub(crate) fn of_member(user: User) -> Self {
        Self {
            id: user.id.to_string(),
            email: user.email,
            is_active: user.active,
            is_superuser: false,
            is_verified: true,
            role: user.role.as_str(),
            preferences: Preferences::default().into(),
            personalization: Personalization::default().into(),
            oidc_expiry: None,
            current_token_created_at: None,
            current_token_expiry_length: None,
            token_expires_at: None,
            is_cloud_superuser: false,
            team_name: None,
            is_anonymous_user: None,
            password_configured: Some(user.has_password),
            tenant_info: None,
        }
    }
}
