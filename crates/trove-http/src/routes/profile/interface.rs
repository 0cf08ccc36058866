//! How the user interface looks and works, one setting a route.

use actix_web::HttpResponse;
use actix_web::web::Data;
use trove_domain::preferences::{AppMode, ProfileChange, Theme};
use trove_engine::Engine;
use utoipa::{IntoParams, ToSchema};

use crate::error::ApiError;
use crate::extract::{Caller, Input, Parts, Valid, ValidJson};
use crate::routes::schema::stored_text;
use crate::validation::{Fields, Read, Record, boolean, one_of};

/// Most characters of what is behind a chat: a name or an address.
const BACKGROUND_CHARS_MAX: usize = 2000;

/// Light or dark.
#[derive(Debug, ToSchema)]
#[schema(as = ThemePreferenceRequest, example = json!({"theme_preference": "dark"}))]
pub(crate) struct ThemeBody {
    /// `light`, `dark` or `system`.
    #[schema(value_type = String)]
    theme_preference: Theme,
}

impl Record for ThemeBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let words = || Theme::ALL.iter().map(|theme| theme.as_str()).collect();
        Ok(Self { theme_preference: fields.required("theme_preference", one_of(words))? })
    }
}

/// Sets light or dark.
#[utoipa::path(
    patch, path = "/user/theme-preference", tag = "users", operation_id = "set_theme",
    request_body = ThemeBody, responses((status = 200, description = "It is set.", body = ()))
)]
pub(crate) async fn set_theme(
    caller: Caller,
    engine: Data<Engine>,
    ValidJson(body): ValidJson<ThemeBody>,
) -> Result<HttpResponse, ApiError> {
    super::change(&engine, &caller, ProfileChange::Theme(body.theme_preference)).await
}

/// What is behind a chat.
#[derive(Debug, ToSchema)]
#[schema(as = ChatBackgroundRequest, example = json!({"chat_background": "clouds"}))]
pub(crate) struct BackgroundBody {
    /// Its name; null for none.
    chat_background: Option<String>,
}

impl Record for BackgroundBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let background = fields.nullable("chat_background", stored_text(0, BACKGROUND_CHARS_MAX));
        Ok(Self { chat_background: background? })
    }
}

/// Sets what is behind a chat.
#[utoipa::path(
    patch, path = "/user/chat-background", tag = "users", operation_id = "set_chat_background",
    request_body = BackgroundBody,
    responses((status = 200, description = "It is set.", body = ()))
)]
pub(crate) async fn set_chat_background(
    caller: Caller,
    engine: Data<Engine>,
    ValidJson(body): ValidJson<BackgroundBody>,
) -> Result<HttpResponse, ApiError> {
    super::change(&engine, &caller, ProfileChange::ChatBackground(body.chat_background)).await
}

/// What the interface begins with.
#[derive(Debug, ToSchema)]
#[schema(as = DefaultAppModeRequest, example = json!({"default_app_mode": "SEARCH"}))]
pub(crate) struct AppModeBody {
    /// `AUTO`, `CHAT` or `SEARCH`.
    #[schema(value_type = String)]
    default_app_mode: AppMode,
}

impl Record for AppModeBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let words = || AppMode::ALL.iter().map(|mode| mode.as_str()).collect();
        Ok(Self { default_app_mode: fields.required("default_app_mode", one_of(words))? })
    }
}

/// Sets what the interface begins with.
#[utoipa::path(
    patch, path = "/user/default-app-mode", tag = "users", operation_id = "set_app_mode",
    request_body = AppModeBody, responses((status = 200, description = "It is set.", body = ()))
)]
pub(crate) async fn set_app_mode(
    caller: Caller,
    engine: Data<Engine>,
    ValidJson(body): ValidJson<AppModeBody>,
) -> Result<HttpResponse, ApiError> {
    super::change(&engine, &caller, ProfileChange::AppMode(body.default_app_mode)).await
}

/// Whether answers scroll.
#[derive(Debug, ToSchema)]
#[schema(as = AutoScrollRequest, example = json!({"auto_scroll": true}))]
pub(crate) struct AutoScrollBody {
    /// Whether an answer scrolls as it grows.
    auto_scroll: bool,
}

impl Record for AutoScrollBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        Ok(Self { auto_scroll: fields.required("auto_scroll", boolean)? })
    }
}

/// Sets whether an answer scrolls as it grows.
#[utoipa::path(
    patch, path = "/auto-scroll", tag = "users", operation_id = "set_auto_scroll",
    request_body = AutoScrollBody,
    responses((status = 200, description = "It is set.", body = ()))
)]
pub(crate) async fn set_auto_scroll(
    caller: Caller,
    engine: Data<Engine>,
    ValidJson(body): ValidJson<AutoScrollBody>,
) -> Result<HttpResponse, ApiError> {
    super::change(&engine, &caller, ProfileChange::AutoScroll(body.auto_scroll)).await
}

/// Whether the temperature can be set.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct TemperatureQuery {
    /// Whether it can.
    temperature_override_enabled: bool,
}

impl Input for TemperatureQuery {
    const BODY: bool = false;

    fn read(parts: Parts<'_>) -> Read<Self> {
        parts.query(|query| {
            let enabled = query.required("temperature_override_enabled", boolean);
            Ok(Self { temperature_override_enabled: enabled? })
        })
    }
}

/// Sets whether the temperature can be set.
#[utoipa::path(
    patch, path = "/temperature-override-enabled", tag = "users",
    operation_id = "set_temperature_override", params(TemperatureQuery),
    responses((status = 200, description = "It is set.", body = ()))
)]
pub(crate) async fn set_temperature_override(
    caller: Caller,
    engine: Data<Engine>,
    Valid(query): Valid<TemperatureQuery>,
) -> Result<HttpResponse, ApiError> {
    let on = query.temperature_override_enabled;
    super::change(&engine, &caller, ProfileChange::TemperatureOverride(on)).await
}

/// Whether keyboard shortcuts work.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ShortcutQuery {
    /// Whether they do.
    shortcut_enabled: bool,
}

impl Input for ShortcutQuery {
    const BODY: bool = false;

    fn read(parts: Parts<'_>) -> Read<Self> {
        parts.query(|query| {
            Ok(Self { shortcut_enabled: query.required("shortcut_enabled", boolean)? })
        })
    }
}

/// Sets whether keyboard shortcuts work.
#[utoipa::path(
    patch, path = "/shortcut-enabled", tag = "users", operation_id = "set_shortcuts",
    params(ShortcutQuery), responses((status = 200, description = "It is set.", body = ()))
)]
pub(crate) async fn set_shortcuts(
    caller: Caller,
    engine: Data<Engine>,
    Valid(query): Valid<ShortcutQuery>,
) -> Result<HttpResponse, ApiError> {
    super::change(&engine, &caller, ProfileChange::Shortcuts(query.shortcut_enabled)).await
}
