use async_trait::async_trait;

use crate::error::StoreError;
use crate::workspace::{SettingsChange, WorkspaceSettings};

/// What administrators decide for everybody.
///
/// # Contract
///
/// A committed change shows in the next call, whichever process makes it.
#[async_trait]
pub trait WorkspaceStore: Send + Sync + 'static {
    /// The settings; the default ones as long as nobody has decided.
    async fn workspace_settings(&self) -> Result<WorkspaceSettings, StoreError>;

    /// Changes the settings; answers what they are then. Of changes at the same time none undoes
    /// another.
    async fn change_workspace_settings(
        &self,
        change: SettingsChange,
    ) -> Result<WorkspaceSettings, StoreError>;
}
