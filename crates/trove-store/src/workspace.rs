//! What administrators decide for everybody, as JSON.

use async_trait::async_trait;
use diesel::prelude::*;
use diesel_async::{AsyncConnection, RunQueryDsl};
use serde::{Deserialize, Serialize};
use trove_domain::error::StoreError;
use trove_domain::port::WorkspaceStore;
use trove_domain::workspace::{SettingsChange, UnknownQueryHistory, WorkspaceSettings};

use crate::Store;
use crate::backend::{read, transact};
use crate::error::{Failure, corrupt};
use crate::locks::Locks;
use crate::schema::workspace_settings;

/// The only row.
const ROW: i32 = 1;

/// [`WorkspaceSettings`] in the database. A field that is missing has its default.
#[derive(Deserialize, Serialize)]
#[serde(default)]
struct SettingsJson {
    anonymous_access: bool,
    invited_only: bool,
    company_name: Option<String>,
    company_description: Option<String>,
    temperature_override: Option<bool>,
    auto_scroll: Option<bool>,
    query_history: Option<String>,
    image_megabytes_max: Option<u32>,
    extra_connectors: Option<bool>,
    hide_builtin_agent: Option<bool>,
}

impl Default for SettingsJson {
    fn default() -> Self {
        WorkspaceSettings::default().into()
    }
}

impl From<WorkspaceSettings> for SettingsJson {
    fn from(settings: WorkspaceSettings) -> Self {
        Self {
            anonymous_access: settings.anonymous_access,
            invited_only: settings.invited_only,
            company_name: settings.company_name,
            company_description: settings.company_description,
            temperature_override: settings.temperature_override,
            auto_scroll: settings.auto_scroll,
            query_history: settings.query_history.map(|history| history.to_string()),
            image_megabytes_max: settings.image_megabytes_max,
            extra_connectors: settings.extra_connectors,
            hide_builtin_agent: settings.hide_builtin_agent,
        }
    }
}

impl TryFrom<SettingsJson> for WorkspaceSettings {
    type Error = UnknownQueryHistory;

    fn try_from(json: SettingsJson) -> Result<Self, UnknownQueryHistory> {
        Ok(Self {
            anonymous_access: json.anonymous_access,
            invited_only: json.invited_only,
            company_name: json.company_name,
            company_description: json.company_description,
            temperature_override: json.temperature_override,
            auto_scroll: json.auto_scroll,
            query_history: json.query_history.map(|history| history.parse()).transpose()?,
            image_megabytes_max: json.image_megabytes_max,
            extra_connectors: json.extra_connectors,
            hide_builtin_agent: json.hide_builtin_agent,
        })
    }
}

fn settings(json: Option<String>) -> Result<WorkspaceSettings, Failure> {
    let Some(json) = json else { return Ok(WorkspaceSettings::default()) };
    let json: SettingsJson =
        serde_json::from_str(&json).map_err(corrupt("workspace settings", ROW))?;
    json.try_into().map_err(corrupt("workspace settings", ROW))
}

macro_rules! load_settings {
    ($conn:expr) => {{
        let json: Option<String> = workspace_settings::table
            .find(ROW)
            .select(workspace_settings::settings)
            .first($conn)
            .await
            .optional()?;
        settings(json)?
    }};
}

#[async_trait]
impl WorkspaceStore for Store {
    #[tracing::instrument(name = "db.workspace.settings", skip_all)]
    async fn workspace_settings(&self) -> Result<WorkspaceSettings, StoreError> {
        read!(self, "workspace.settings", |conn| { Ok(load_settings!(conn)) })
    }

    #[tracing::instrument(name = "db.workspace.change_settings", skip_all)]
    async fn change_workspace_settings(
        &self,
        change: SettingsChange,
    ) -> Result<WorkspaceSettings, StoreError> {
        transact!(self, "workspace.change_settings", |conn| {
            conn.lock_workspace_settings().await?;
            let settings = load_settings!(conn).after(change.clone());
            // Plain structures have no way to fail.
            let json =
                serde_json::to_string(&SettingsJson::from(settings.clone())).unwrap_or_default();
            let value = workspace_settings::settings.eq(&json);
            diesel::insert_into(workspace_settings::table)
                .values((workspace_settings::row_number.eq(ROW), value))
                .on_conflict(workspace_settings::row_number)
                .do_update()
                .set(value)
                .execute(conn)
                .await?;
            Ok(settings)
        })
    }
}
