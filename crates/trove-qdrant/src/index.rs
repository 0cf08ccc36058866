//! The adapter: opens a collection, answers the port.

use std::sync::Arc;

use async_trait::async_trait;
use qdrant_client::qdrant::facet_value::Variant;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;
use trove_domain::access::AccessScope;
use trove_domain::chunk::IndexableDocument;
use trove_domain::hit::{IndexedChunk, ScoredChunk};
use trove_domain::id::DocumentId;
use trove_domain::port::{
    AttributeUpdate, ChunkRange, Clock, DocumentIndex, DocumentIndexError, IdGenerator,
    IndexCapabilities, IndexStatistics, WriteOutcome,
};
use trove_domain::query::IndexQuery;
use uuid::Uuid;

use crate::collection::{self, Description};
use crate::config::QdrantIndexConfig;
use crate::connection::Connection;
use crate::error::{OpenError, backend, failed};
use crate::payload::field;
use crate::ranges::fetch_ranges;
use crate::search::Search;
use crate::seen::Seen;
use crate::sweep;
use crate::write::{Change, Writer};

/// Numbers of chunks that documents may have, different ones: more than any collection has.
const CHUNK_COUNTS_MAX: u64 = 1_000_000;

/// A [`DocumentIndex`] in one collection of a Qdrant server.
///
/// Any number of processes work on the same collection. Methods have to be called on a tokio
/// runtime. A write that its caller gives up goes on; `flush` waits for it.
pub struct QdrantDocumentIndex {
    config: QdrantIndexConfig,
    connection: Arc<Connection>,
    description: Description,
    writer: Arc<Writer>,
    seen: Arc<Seen>,
    tasks: TaskTracker,
    _stop: DropGuard,
}

impl QdrantDocumentIndex {
    /// Opens the collection; makes it when there is none.
    ///
    /// # Errors
    ///
    /// A sentence that says what is wrong and what to do. Only [`OpenError::Unreachable`] is worth
    /// another try.
    #[tracing::instrument(name = "index.open", skip_all, fields(collection = config.collection))]
    pub async fn open(
        config: QdrantIndexConfig,
        ids: Arc<dyn IdGenerator>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, OpenError> {
        let connection = Arc::new(Connection::new(&config)?);
        let description = collection::prepare(&connection, &config, ids.uuid()).await?;
        let seen = Arc::new(Seen::default());
        let writer = Arc::new(Writer {
            connection: Arc::clone(&connection),
            ids,
            clock,
            seen: Arc::clone(&seen),
            languages: config.languages.as_slice().into(),
        });
        let tasks = TaskTracker::new();
        let stop = CancellationToken::new();
        // Not among the tasks that a flush waits for: it never ends by itself.
        TaskTracker::new().spawn(sweep_for_ever(Arc::clone(&writer), stop.clone()));
        Ok(Self { config, connection, description, writer, seen, tasks, _stop: stop.drop_guard() })
    }

    /// The id that the collection got when it was made.
    #[must_use]
    pub fn id(&self) -> Uuid {
        self.description.index
    }

    /// The registry whose documents the collection holds, as far as it had been told when it was
    /// opened.
    #[must_use]
    pub fn registry(&self) -> Option<Uuid> {
        self.description.registry
    }

    /// Tells the collection whose documents it holds.
    ///
    /// # Errors
    ///
    /// When the server does not take it.
    pub async fn set_registry(&self, registry: Uuid) -> Result<(), DocumentIndexError> {
        let set = collection::set_registry(&self.connection, registry).await;
        set.map_err(failed("index.set_registry"))
    }

    /// Removes the collection with all that is in it: for tools and tests.
    ///
    /// # Errors
    ///
    /// When the server does not do it.
    pub async fn destroy(&self) -> Result<(), DocumentIndexError> {
        collection::destroy(&self.connection).await.map_err(failed("index.destroy"))
    }

    /// Carries out changes in a task of their own, which the loss of the caller does not end.
    async fn change(
        &self,
        operation: &'static str,
        changes: Vec<Change>,
    ) -> Result<Vec<WriteOutcome>, DocumentIndexError> {
        let got = changes.len();
        let max = self.config.batch_max;
        if got > max {
            return Err(DocumentIndexError::BatchTooLarge { got, max });
        }
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        let writer = Arc::clone(&self.writer);
        let task = self.tasks.spawn(async move { writer.change(operation, &changes).await });
        task.await.map_err(backend(operation))?
    }

    fn check_dimensions(&self, vector: Option<&Vec<f32>>) -> Result<(), DocumentIndexError> {
        match (self.config.dimensions, vector) {
            (Some(want), Some(vector)) if vector.len() != want => {
                Err(DocumentIndexError::DimensionMismatch { got: vector.len(), want })
            }
            _ => Ok(()),
        }
    }
}

#[async_trait]
impl DocumentIndex for QdrantDocumentIndex {
    fn capabilities(&self) -> IndexCapabilities {
        IndexCapabilities { dimensions: self.config.dimensions, batch_max: self.config.batch_max }
    }

    #[tracing::instrument(name = "index.replace", skip_all, fields(documents = documents.len()))]
    async fn replace(
        &self,
        mut documents: Vec<IndexableDocument>,
    ) -> Result<Vec<WriteOutcome>, DocumentIndexError> {
        for chunk in documents.iter_mut().flat_map(|document| &mut document.chunks) {
            self.check_dimensions(chunk.vector.as_ref())?;
            if self.config.dimensions.is_none() {
                // An index without vectors does not know their length, so it keeps none.
                chunk.vector = None;
            }
        }
        self.change("index.replace", documents.into_iter().map(Change::Replace).collect()).await
    }

    #[tracing::instrument(name = "index.update_attributes", skip_all, fields(documents = updates.len()))]
    async fn update_attributes(
        &self,
        updates: Vec<AttributeUpdate>,
    ) -> Result<Vec<WriteOutcome>, DocumentIndexError> {
        let changes = updates.into_iter().map(Change::Update).collect();
        self.change("index.update_attributes", changes).await
    }

    #[tracing::instrument(name = "index.remove", skip_all, fields(documents = documents.len()))]
    async fn remove(&self, documents: &[(DocumentId, i64)]) -> Result<(), DocumentIndexError> {
        if documents.is_empty() {
            return Ok(());
        }
        let (writer, documents) = (Arc::clone(&self.writer), documents.to_vec());
        let remove = async move { writer.remove("index.remove", &documents).await };
        self.tasks.spawn(remove).await.map_err(backend("index.remove"))?
    }

    #[tracing::instrument(name = "index.search", skip_all, fields(limit = query.limit))]
    async fn search(&self, query: &IndexQuery) -> Result<Vec<ScoredChunk>, DocumentIndexError> {
        self.check_dimensions(query.vector.as_ref())?;
        if query.limit == 0 {
            return Ok(Vec::new());
        }
        let Self { connection, config, seen, .. } = self;
        Search { connection, config, seen, query }.run().await
    }

    #[tracing::instrument(name = "index.fetch", skip_all, fields(ranges = ranges.len()))]
    async fn fetch(
        &self,
        ranges: &[ChunkRange],
        scope: &AccessScope,
    ) -> Result<Vec<Vec<IndexedChunk>>, DocumentIndexError> {
        fetch_ranges(&self.writer, ranges, scope).await
    }

    async fn statistics(&self) -> Result<IndexStatistics, DocumentIndexError> {
        const OPERATION: &str = "index.statistics";
        // Only heads say how many chunks there are, so superseded chunks are not counted.
        let hits = self.connection.facet(field::CHUNKS, CHUNK_COUNTS_MAX).await;
        let mut statistics = IndexStatistics::default();
        for hit in hits.map_err(failed(OPERATION))? {
            let Some(Variant::IntegerValue(chunks)) = hit.value.and_then(|value| value.variant)
            else {
                continue;
            };
            let chunks = u64::try_from(chunks).map_err(backend(OPERATION))?;
            statistics.documents += hit.count;
            statistics.chunks += chunks * hit.count;
        }
        Ok(statistics)
    }

    #[tracing::instrument(name = "index.flush", skip_all)]
    async fn flush(&self) -> Result<(), DocumentIndexError> {
        // Writes that began before are finished; others may begin.
        self.tasks.close();
        self.tasks.wait().await;
        self.tasks.reopen();
        Ok(())
    }
}

async fn sweep_for_ever(writer: Arc<Writer>, stop: CancellationToken) {
    let sweeps = async {
        loop {
            match sweep::sweep(&writer).await {
                Ok(0) => {}
                Ok(writes) => tracing::info!(writes, "finished what lost writers left behind"),
                Err(error) => tracing::warn!(%error, "could not look for what lost writers left"),
            }
            // Nobody tells of writers that were lost, so it is looked for them now and then.
            tokio::time::sleep(sweep::EVERY).await;
        }
    };
    let _stopped: Option<()> = stop.run_until_cancelled(sweeps).await;
}
