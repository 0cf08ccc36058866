//! Whether the deployment works, component by component.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde::Serialize;
use utoipa::ToSchema;

/// Asks every component how it is. Provided by whoever composed the deployment.
pub type ReadinessProbe = Arc<dyn Fn() -> BoxFuture<'static, Readiness> + Send + Sync>;

/// How the components are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Readiness {
    /// In the order to show them.
    pub components: Vec<Component>,
}

/// How one component is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    /// Its name.
    pub name: String,
    /// Whether it works.
    pub state: ComponentState,
    /// Why it does not. Shown to everybody: no secrets, no paths, no addresses.
    pub reason: Option<String>,
}

/// Whether a component works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ComponentState {
    /// It works.
    Ok,
    /// The deployment works without it, less well.
    Degraded,
    /// The deployment does not work without it, and it does not work.
    Failed,
}

impl Readiness {
    /// Whether requests can be answered.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.components.iter().all(|component| component.state != ComponentState::Failed)
    }

    /// A probe that always answers this.
    #[must_use]
    pub fn fixed(self) -> ReadinessProbe {
        Arc::new(move || {
            let readiness = self.clone();
            Box::pin(async move { readiness })
        })
    }
}
