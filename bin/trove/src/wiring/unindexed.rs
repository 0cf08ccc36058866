use async_trait::async_trait;
use trove_domain::access::AccessScope;
use trove_domain::chunk::IndexableDocument;
use trove_domain::hit::{IndexedChunk, ScoredChunk};
use trove_domain::id::DocumentId;
use trove_domain::port::{
    AttributeUpdate, ChunkRange, DocumentIndex, DocumentIndexError, IndexCapabilities,
    IndexStatistics, WriteOutcome,
};
use trove_domain::query::IndexQuery;

/// The index of a process that has none: with `retrieval.disable_vector_db`, and for commands that
/// need the database alone. Whatever asks it is told that it is not there.
pub(super) struct Unindexed;

fn absent<T>(operation: &'static str) -> Result<T, DocumentIndexError> {
    Err(DocumentIndexError::Unavailable {
        operation,
        source: "this process has no document index".into(),
    })
}

#[async_trait]
impl DocumentIndex for Unindexed {
    fn capabilities(&self) -> IndexCapabilities {
        IndexCapabilities { dimensions: None, batch_max: 1 }
    }

    async fn replace(
        &self,
        _documents: Vec<IndexableDocument>,
    ) -> Result<Vec<WriteOutcome>, DocumentIndexError> {
        absent("index.replace")
    }

    async fn update_attributes(
        &self,
        _updates: Vec<AttributeUpdate>,
    ) -> Result<Vec<WriteOutcome>, DocumentIndexError> {
        absent("index.update_attributes")
    }

    async fn remove(&self, _documents: &[(DocumentId, i64)]) -> Result<(), DocumentIndexError> {
        absent("index.remove")
    }

    async fn search(&self, _query: &IndexQuery) -> Result<Vec<ScoredChunk>, DocumentIndexError> {
        absent("index.search")
    }

    async fn fetch(
        &self,
        _ranges: &[ChunkRange],
        _scope: &AccessScope,
    ) -> Result<Vec<Vec<IndexedChunk>>, DocumentIndexError> {
        absent("index.fetch")
    }

    async fn statistics(&self) -> Result<IndexStatistics, DocumentIndexError> {
        absent("index.statistics")
    }

    async fn flush(&self) -> Result<(), DocumentIndexError> {
        Ok(())
    }
}
