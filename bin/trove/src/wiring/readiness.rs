use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use trove_engine::Engine;
use trove_http::{Component, ComponentState, Readiness, ReadinessProbe};
use trove_store::Store;

use super::Model;

/// Whether the service is about to stop. Clones share the answer.
#[derive(Clone, Debug, Default)]
pub struct Stopping(Arc<AtomicBool>);

impl Stopping {
    /// From now on the service is not ready.
    pub fn begin(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Asks every component. Reasons are for everybody's eyes: no paths, no addresses.
pub(super) fn probe(
    engine: &Engine,
    model: &Model,
    store: &Arc<Store>,
    stopping: &Stopping,
) -> ReadinessProbe {
    let (engine, store, stopping) = (engine.clone(), Arc::clone(store), stopping.clone());
    let model = embedding_model(model);
    Arc::new(move || {
        let (engine, store) = (engine.clone(), Arc::clone(&store));
        let (stopping, model) = (stopping.clone(), model.clone());
        Box::pin(async move {
            let mut components = Vec::new();
            if stopping.0.load(Ordering::Relaxed) {
                let reason = "the service is stopping";
                components.push(component("service", ComponentState::Failed, Some(reason)));
            }
            let database = store.ping().await.map_err(|error| log("database", &error));
            components.push(judged("database", database.is_ok(), "the database does not answer"));
            components.push(if engine.config().vector_db {
                let index = engine.backends().index.statistics().await;
                let index = index.map_err(|error| log("document_index", &error));
                judged("document_index", index.is_ok(), "the document index does not answer")
            } else {
                let reason = "search and ingestion are turned off";
                component("document_index", ComponentState::Degraded, Some(reason))
            });
            components.push(model);
            Readiness { components }
        })
    })
}

fn log(component: &str, error: &(dyn std::error::Error + 'static)) {
    tracing::warn!(component, error, "a component is not ready");
}

fn judged(name: &str, works: bool, reason: &str) -> Component {
    if works {
        component(name, ComponentState::Ok, None)
    } else {
        component(name, ComponentState::Failed, Some(reason))
    }
}

fn embedding_model(model: &Model) -> Component {
    let (state, reason) = match model {
        Model::Loaded(_) => (ComponentState::Ok, None),
        Model::Missing { .. } => (
            ComponentState::Degraded,
            Some("no embedding model is installed: searches are by words alone"),
        ),
        Model::NotUsed => (
            ComponentState::Degraded,
            Some("the embedding model is turned off: searches are by words alone"),
        ),
    };
    component("embedding_model", state, reason)
}

fn component(name: &str, state: ComponentState, reason: Option<&str>) -> Component {
    Component { name: name.to_owned(), state, reason: reason.map(str::to_owned) }
}
