use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use trove_engine::Engine;
use trove_http::{Component, ComponentState, Readiness, ReadinessProbe};
use trove_store::Store;

use super::Model;

/// Room below which a commit or a merge of the index may not fit.
const ROOM_BYTES_MIN: u64 = 64 << 20;

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
    data_dir: &Path,
    stopping: &Stopping,
) -> ReadinessProbe {
    let data_dir: Arc<Path> = data_dir.into();
    let (engine, store, stopping) = (engine.clone(), Arc::clone(store), stopping.clone());
    let (model, language) = (embedding_model(model), language_model(&engine));
    Arc::new(move || {
        let (engine, store) = (engine.clone(), Arc::clone(&store));
        let (stopping, model, language) = (stopping.clone(), model.clone(), language.clone());
        let data_dir = Arc::clone(&data_dir);
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
            components.push(storage(&data_dir));
            components.push(model);
            components.push(language);
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

/// Searches go on without room, so that a service which nothing can be added to stays ready.
fn storage(data_dir: &Path) -> Component {
    match rustix::fs::statvfs(data_dir) {
        Ok(fs) if fs.f_bavail.saturating_mul(fs.f_frsize) < ROOM_BYTES_MIN => {
            let reason = "the disk of the data directory has less than 64 MB left: writes may fail";
            component("storage", ComponentState::Degraded, Some(reason))
        }
        Ok(_) => component("storage", ComponentState::Ok, None),
        Err(error) => {
            log("storage", &error);
            judged("storage", false, "the data directory cannot be reached")
        }
    }
}

fn embedding_model(model: &Model) -> Component {
    let (state, reason) = match model {
        Model::Loaded(_) | Model::Remote(_) => (ComponentState::Ok, None),
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

/// What is configured. Whether it answers is not asked: everything but answers works without it,
/// and a probe would cost tokens.
fn language_model(engine: &Engine) -> Component {
    let model = engine.backends().language_model.as_ref();
    let configured = model.is_some_and(|model| model.info().follows_instructions);
    let reason = if configured {
        "a language model is configured"
    } else {
        "no language model is configured: answers are quotes from passages"
    };
    component("language_model", ComponentState::Ok, Some(reason))
}

fn component(name: &str, state: ComponentState, reason: Option<&str>) -> Component {
    Component { name: name.to_owned(), state, reason: reason.map(str::to_owned) }
}
