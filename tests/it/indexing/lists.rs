//! What sources say there is, as a test says, and an index that a test takes down.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::json;
use tokio::sync::watch;
use trove_domain::access::AccessScope;
use trove_domain::chunk::IndexableDocument;
use trove_domain::hit::{IndexedChunk, ScoredChunk};
use trove_domain::id::{CcPairId, DocumentId};
use trove_domain::port::{
    AttributeUpdate, Checkpoint, ChunkRange, DocumentIndex, DocumentIndexError, IndexCapabilities,
    IndexStatistics, ListingStep, SourceError, WriteOutcome,
};
use trove_domain::query::IndexQuery;
use trove_engine::Backends;

/// A step of a listing.
#[derive(Clone)]
pub(super) enum List {
    /// These are there.
    Names(Vec<&'static str>),
    Hang,
    Unavailable(&'static str),
    Invalid(&'static str),
}

/// The listings of pairs, with the step that they have come to. One that nothing is said of lists
/// nothing.
#[derive(Clone, Default)]
pub(super) struct Lists {
    lists: Arc<Mutex<BTreeMap<CcPairId, Vec<List>>>>,
    reached: Arc<watch::Sender<BTreeMap<CcPairId, usize>>>,
}

impl Lists {
    /// What the source of a pair lists from now on, each step once.
    pub(super) fn play(&self, pair: CcPairId, lists: impl IntoIterator<Item = List>) {
        self.lists.lock().unwrap().insert(pair, lists.into_iter().collect());
        self.reached.send_modify(|reached| {
            reached.remove(&pair);
        });
    }

    /// Waits until the source is asked for this step.
    pub(super) async fn reached(&self, pair: CcPairId, step: usize) {
        let mut reached = self.reached.subscribe();
        reached.wait_for(|reached| reached.get(&pair) == Some(&step)).await.unwrap();
    }

    pub(super) async fn list(
        &self,
        pair: CcPairId,
        from: Option<&Checkpoint>,
    ) -> Result<ListingStep, SourceError> {
        let at = from.map_or(0, |from| usize::try_from(from.0.as_u64().unwrap()).unwrap());
        let (list, steps) = {
            let lists = self.lists.lock().unwrap();
            let lists = lists.get(&pair).cloned().unwrap_or_default();
            (lists.get(at).cloned(), lists.len())
        };
        self.reached.send_modify(|reached| {
            reached.insert(pair, at);
        });
        match list.unwrap_or(List::Names(Vec::new())) {
            List::Names(names) => {
                let ids = names.into_iter().map(|name| DocumentId::new(name).unwrap()).collect();
                let next = (at + 1 < steps).then(|| Checkpoint(json!(at + 1)));
                Ok(ListingStep { ids, next })
            }
            List::Hang => std::future::pending().await,
            List::Unavailable(why) => Err(SourceError::Unavailable {
                message: why.to_owned(),
                retry_after: None,
                source: None,
            }),
            List::Invalid(why) => Err(SourceError::Invalid(why.to_owned())),
        }
    }
}

const UP: u8 = 0;
const DOWN: u8 = 1;
const HANGS: u8 = 2;

/// An index that removes and updates nothing while it is down.
pub(super) struct Index {
    inner: Arc<dyn DocumentIndex>,
    state: Arc<AtomicU8>,
    /// How often it was asked to remove something.
    asked: Arc<watch::Sender<usize>>,
}

/// What decides whether an index is up.
#[derive(Clone, Default)]
pub(super) struct Switch {
    state: Arc<AtomicU8>,
    asked: Arc<watch::Sender<usize>>,
}

impl Switch {
    pub(super) fn up(&self) {
        self.state.store(UP, Ordering::SeqCst);
    }

    pub(super) fn down(&self) {
        self.state.store(DOWN, Ordering::SeqCst);
    }

    /// What removes hangs.
    pub(super) fn hang(&self) {
        self.state.store(HANGS, Ordering::SeqCst);
    }

    /// Waits until something is removed.
    pub(super) async fn asked(&self) {
        self.asked.subscribe().wait_for(|asked| *asked > 0).await.unwrap();
    }

    /// Backends whose index it switches.
    pub(super) fn over(&self, backends: Backends) -> Backends {
        let inner = Arc::clone(&backends.index);
        let (state, asked) = (Arc::clone(&self.state), Arc::clone(&self.asked));
        Backends { index: Arc::new(Index { inner, state, asked }), ..backends }
    }
}

impl Index {
    async fn reach(&self) -> Result<(), DocumentIndexError> {
        match self.state.load(Ordering::SeqCst) {
            UP => Ok(()),
            DOWN => {
                let source = "connection refused".into();
                Err(DocumentIndexError::Unavailable { operation: "index.remove", source })
            }
            _ => std::future::pending().await,
        }
    }
}

#[async_trait]
impl DocumentIndex for Index {
    fn capabilities(&self) -> IndexCapabilities {
        self.inner.capabilities()
    }

    async fn replace(
        &self,
        documents: Vec<IndexableDocument>,
    ) -> Result<Vec<WriteOutcome>, DocumentIndexError> {
        self.inner.replace(documents).await
    }

    async fn update_attributes(
        &self,
        updates: Vec<AttributeUpdate>,
    ) -> Result<Vec<WriteOutcome>, DocumentIndexError> {
        self.reach().await?;
        self.inner.update_attributes(updates).await
    }

    async fn remove(&self, documents: &[(DocumentId, i64)]) -> Result<(), DocumentIndexError> {
        self.asked.send_modify(|asked| *asked += 1);
        self.reach().await?;
        self.inner.remove(documents).await
    }

    async fn search(&self, query: &IndexQuery) -> Result<Vec<ScoredChunk>, DocumentIndexError> {
        self.inner.search(query).await
    }

    async fn fetch(
        &self,
        ranges: &[ChunkRange],
        scope: &AccessScope,
    ) -> Result<Vec<Vec<IndexedChunk>>, DocumentIndexError> {
        self.inner.fetch(ranges, scope).await
    }

    async fn statistics(&self) -> Result<IndexStatistics, DocumentIndexError> {
        self.inner.statistics().await
    }

    async fn flush(&self) -> Result<(), DocumentIndexError> {
        self.inner.flush().await
    }
}
