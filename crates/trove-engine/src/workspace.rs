//! What administrators decide for everybody, and who is served without signing in.

use trove_domain::access::Caller;
use trove_domain::audit::AuditAction;
use trove_domain::error::StoreError;
use trove_domain::workspace::{SettingsChange, WorkspaceSettings};

use crate::Engine;
use crate::audit::details;

impl Engine {
    /// What administrators have decided.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the settings cannot be read.
    pub async fn workspace_settings(&self) -> Result<WorkspaceSettings, StoreError> {
        self.backends().workspace.workspace_settings().await
    }

    /// Decides anew, from the next request on; answers what holds then.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; nothing changes then.
    pub async fn change_workspace_settings(
        &self,
        change: SettingsChange,
    ) -> Result<WorkspaceSettings, StoreError> {
        let mut wanted = details([("settings", change.names().join(" "))]);
        // What lets people in or keeps them out; the rest is told by its name.
        let doors =
            [("anonymous_access", change.anonymous_access), ("invited_only", change.invited_only)];
        for (name, value) in doors {
            wanted.extend(value.map(|value| (name.to_owned(), value.to_string())));
        }
        let write = self.backends().workspace.change_workspace_settings(change);
        self.recorded(AuditAction::ChangeSettings, "workspace", wanted, write).await
    }

    /// The user that stands for whoever is not signed in; `None` where anonymous access is off.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the settings cannot be read.
    pub async fn authenticate_anonymous(&self) -> Result<Option<Caller>, StoreError> {
        let settings = self.workspace_settings().await?;
        Ok(settings.anonymous_access.then(Caller::anonymous))
    }
}
