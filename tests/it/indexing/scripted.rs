//! Sources that do what a test says, and workers that it can lose.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::json;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use trove_domain::cc_pair::AccessType;
use trove_domain::document::{Document, Section};
use trove_domain::id::{CcPairId, DocumentId, GroupId};
use trove_domain::indexing::IndexAttempt;
use trove_domain::port::{
    Checkpoint, Clock, FailedPart, ListingStep, NewCcPair, PermissionStep, ReadWindow, RunBy,
    Skipped, Source, SourceError, SourceFactory, SourceFailure, SourceKind, SourceSettings,
    SourceStep,
};
use trove_domain::source::DocumentSource;
use trove_engine::{Backends, Engine};

use super::lists::Lists;
use crate::server::Server;
use crate::sources::FakeSources;

/// What a source does in one step.
#[derive(Clone)]
#[expect(clippy::large_enum_variant, reason = "a test makes a few of them")]
pub(super) enum Play {
    Step(SourceStep),
    Hang,
    Unavailable(&'static str),
    Invalid(&'static str),
}

/// What a source tells of who may read, in one step.
#[derive(Clone)]
pub(super) enum Told {
    Step(PermissionStep),
    Nothing,
    Unavailable,
    Invalid,
}

impl Play {
    pub(super) fn empty() -> Self {
        Self::Step(SourceStep::default())
    }

    pub(super) fn documents<const N: usize>(names: [&str; N]) -> Self {
        let documents = names.map(|name| {
            let section = Section { text: format!("word{name}"), link: None };
            let id = DocumentId::new(name).unwrap();
            Document::new(id, DocumentSource::Web, name, vec![section])
        });
        Self::Step(SourceStep { documents: documents.to_vec(), ..SourceStep::default() })
    }

    pub(super) fn hanging() -> Self {
        Self::Hang
    }

    pub(super) fn unavailable(why: &'static str) -> Self {
        Self::Unavailable(why)
    }

    pub(super) fn invalid(why: &'static str) -> Self {
        Self::Invalid(why)
    }

    /// The step names what has not changed.
    pub(super) fn unchanged<const N: usize>(mut self, names: [&str; N]) -> Self {
        if let Self::Step(step) = &mut self {
            step.unchanged = names.map(|name| DocumentId::new(name).unwrap()).to_vec();
        }
        self
    }

    /// The step, the last one, says where the next run may begin.
    pub(super) fn carrying(mut self, step: usize) -> Self {
        if let Self::Step(last) = &mut self {
            last.carry = Some(Checkpoint(json!(step)));
        }
        self
    }

    pub(super) fn skipping(mut self, name: &str) -> Self {
        if let Self::Step(step) = &mut self {
            let reason = "of no type that is indexed".to_owned();
            step.skipped.push(Skipped { id: name.to_owned(), reason });
        }
        self
    }

    pub(super) fn failing(mut self, id: &str, why: &str) -> Self {
        if let Self::Step(step) = &mut self {
            let part = FailedPart::Document { id: DocumentId::new(id).unwrap(), link: None };
            step.failures.push(SourceFailure { part, message: why.to_owned() });
        }
        self
    }
}

/// The script of each pair, with the step that it has come to.
#[derive(Clone, Default)]
pub(super) struct Scripted {
    plays: Arc<Mutex<BTreeMap<CcPairId, Vec<Play>>>>,
    told: Arc<Mutex<BTreeMap<CcPairId, Vec<Told>>>>,
    names: Arc<Mutex<BTreeMap<String, CcPairId>>>,
    reached: Arc<watch::Sender<BTreeMap<CcPairId, usize>>>,
    /// What it says of what there is.
    pub(super) lists: Lists,
}

impl Scripted {
    /// Reads the connectors that are configured by this name for a pair.
    pub(super) fn name(&self, name: &str, pair: CcPairId) {
        self.names.lock().unwrap().insert(name.to_owned(), pair);
    }

    /// A pair that the schedule runs every hour.
    pub(super) async fn pair(&self, server: &Server, name: &str) -> CcPairId {
        self.pair_of(server, name, AccessType::Public, &[]).await
    }

    /// The same with other access.
    pub(super) async fn pair_of(
        &self,
        server: &Server,
        name: &str,
        access_type: AccessType,
        groups: &[GroupId],
    ) -> CcPairId {
        let pairs = &server.engine.backends().cc_pairs;
        let pair = NewCcPair {
            name: name.to_owned(),
            source: DocumentSource::Web,
            config: json!({"script": name}),
            access_type,
            groups: groups.iter().copied().collect(),
            creator: None,
            created_at: server.stack.clock.now(),
        };
        let id = pairs.get_or_insert(pair).await.unwrap().id;
        self.names.lock().unwrap().insert(name.to_owned(), id);
        assert!(pairs.set_schedule(id, RunBy::Schedule, Some(3600)).await.unwrap());
        id
    }

    /// What the source of a pair does from now on, each step once. A run of it ends with the last.
    pub(super) fn play(&self, pair: CcPairId, plays: impl IntoIterator<Item = Play>) {
        self.plays.lock().unwrap().insert(pair, plays.into_iter().collect());
        self.reached.send_modify(|reached| {
            reached.remove(&pair);
        });
    }

    /// The engine of a process of its own that reads these sources, over the backends of a server.
    pub(super) fn engine(&self, server: &Server) -> Engine {
        let sources: Arc<dyn SourceFactory> = Arc::new(self.clone());
        let backends = Backends { sources: Some(sources), ..server.engine.backends().clone() };
        Engine::new(backends, server.engine.config().clone())
    }

    /// What the source of a pair tells of who may read from now on, each step once.
    pub(super) fn tell(&self, pair: CcPairId, told: impl IntoIterator<Item = Told>) {
        self.told.lock().unwrap().insert(pair, told.into_iter().collect());
    }

    /// Waits until the source is asked for this step and all before it are recorded.
    pub(super) async fn reached(&self, server: &Server, pair: CcPairId, step: usize) {
        let mut reached = self.reached.subscribe();
        reached.wait_for(|reached| reached.get(&pair) == Some(&step)).await.unwrap();
        let attempts = &server.engine.backends().attempts;
        let steps = async || attempts.list(pair, 0, 1).await.unwrap().items[0].steps;
        while usize::try_from(steps().await).unwrap() < step {
            tokio::task::yield_now().await;
        }
    }
}

#[async_trait]
impl SourceFactory for Scripted {
    fn kinds(&self) -> Vec<(DocumentSource, SourceKind)> {
        FakeSources.kinds()
    }

    async fn open(&self, settings: SourceSettings) -> Result<Arc<dyn Source>, SourceError> {
        let name = settings.config["script"].as_str().unwrap();
        let pair = self.names.lock().unwrap()[name];
        Ok(Arc::new(Opened { pair, script: self.clone() }))
    }
}

struct Opened {
    pair: CcPairId,
    script: Scripted,
}

#[async_trait]
impl Source for Opened {
    async fn check(&self) -> Result<(), SourceError> {
        Ok(())
    }

    async fn read(
        &self,
        _: ReadWindow,
        from: Option<&Checkpoint>,
    ) -> Result<SourceStep, SourceError> {
        let at = from.map_or(0, |from| usize::try_from(from.0.as_u64().unwrap()).unwrap());
        self.script.reached.send_modify(|reached| {
            reached.insert(self.pair, at);
        });
        let (play, steps) = {
            let plays = self.script.plays.lock().unwrap();
            let plays = &plays[&self.pair];
            (plays[at].clone(), plays.len())
        };
        match play {
            Play::Step(step) => {
                let next = (at + 1 < steps).then(|| Checkpoint(json!(at + 1)));
                Ok(SourceStep { next, ..step })
            }
            Play::Hang => std::future::pending().await,
            Play::Unavailable(why) => Err(SourceError::Unavailable {
                message: why.to_owned(),
                retry_after: None,
                source: None,
            }),
            Play::Invalid(why) => Err(SourceError::Invalid(why.to_owned())),
        }
    }

    async fn list(&self, from: Option<&Checkpoint>) -> Result<ListingStep, SourceError> {
        self.script.lists.list(self.pair, from).await
    }

    async fn list_permissions(
        &self,
        from: Option<&Checkpoint>,
    ) -> Result<Option<PermissionStep>, SourceError> {
        let at = from.map_or(0, |from| usize::try_from(from.0.as_u64().unwrap()).unwrap());
        let told = self.script.told.lock().unwrap();
        let steps = &told[&self.pair];
        match steps[at].clone() {
            Told::Step(step) => {
                let next = (at + 1 < steps.len()).then(|| Checkpoint(json!(at + 1)));
                Ok(Some(PermissionStep { next, ..step }))
            }
            Told::Nothing => Ok(None),
            Told::Unavailable => Err(SourceError::Unavailable {
                message: "the directory does not answer".to_owned(),
                retry_after: None,
                source: None,
            }),
            Told::Invalid => Err(SourceError::Invalid("the token is refused".to_owned())),
        }
    }
}

/// A process that works on runs.
pub(super) struct Worker<'a> {
    server: &'a Server,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl<'a> Worker<'a> {
    pub(super) fn start(server: &'a Server, sources: &Scripted) -> Self {
        Self::changed(server, sources, |backends| backends)
    }

    /// One over backends that `change` has replaced.
    pub(super) fn changed(
        server: &'a Server,
        sources: &Scripted,
        change: impl FnOnce(Backends) -> Backends,
    ) -> Self {
        let sources: Arc<dyn SourceFactory> = Arc::new(sources.clone());
        let backends = change(server.engine.backends().clone());
        let backends = Backends { sources: Some(sources), ..backends };
        Self::with(server, Engine::new(backends, server.engine.config().clone()))
    }

    pub(super) fn with(server: &'a Server, engine: Engine) -> Self {
        let stop = CancellationToken::new();
        let token = stop.clone();
        let work = async move { engine.run_indexing(&token).await };
        let task = TaskTracker::new().spawn(work);
        Self { server, stop, task }
    }

    /// Waits until a run of the pair has ended since this instant, and stops; answers the latest such
    /// run. Another one may have begun meanwhile.
    pub(super) async fn until_finished(self, pair: CcPairId) -> IndexAttempt {
        let attempts = Arc::clone(&self.server.engine.backends().attempts);
        let now = self.server.stack.clock.now();
        let finished = async || {
            let runs = attempts.list(pair, 0, 20).await.unwrap().items.into_iter();
            runs.filter(|run| run.status.is_finished() && run.updated_at >= now)
                .max_by_key(|run| run.id)
        };
        self.until(async || finished().await.is_some()).await;
        finished().await.unwrap()
    }

    /// Waits until something is so, and stops.
    pub(super) async fn until(self, is_so: impl AsyncFn() -> bool) {
        while !is_so().await {
            assert!(!self.task.is_finished(), "the worker has ended");
            tokio::task::yield_now().await;
        }
        self.stop().await;
    }

    pub(super) async fn stop(self) {
        self.stop.cancel();
        self.task.await.unwrap();
    }

    /// As if the process were killed: nothing is given back.
    pub(super) fn kill(self) {
        self.task.abort();
    }
}
