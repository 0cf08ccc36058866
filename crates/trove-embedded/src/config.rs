//! What a host decides about the index.

use std::time::Duration;

use trove_analysis::Language;

/// Settings of an [`EmbeddedDocumentIndex`](crate::EmbeddedDocumentIndex).
///
/// The defaults suit a machine with two cores and little memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddedIndexConfig {
    /// Length of the vectors; `None` searches by words only. A directory that holds vectors keeps
    /// them while it is opened with `None`.
    pub dimensions: Option<usize>,
    /// Name of the model that makes the vectors. The directory notes it, and is not opened with
    /// another one: vectors of two models cannot be compared. `None` is not compared.
    pub model: Option<String>,
    /// Most documents that one write takes.
    pub batch_max: usize,
    /// Text that is buffered before a segment is written, in bytes. At least 15 MB; it is
    /// allocated while documents are written and returned afterwards.
    pub write_buffer_bytes: usize,
    /// Fewest candidates that each half of a hybrid search contributes.
    pub candidates_min: usize,
    /// Most candidates that each half contributes, or the limit of the query if that is more.
    /// Between the two it is twice the limit.
    pub candidates_max: usize,
    /// How long no write arrives before buffers are released and background work is finished.
    pub idle_after: Duration,
    /// Vectors that are written before the vector index is reorganised in the background.
    pub optimize_after: usize,
    /// Languages that texts are written in, the most common first; empty for any. A change counts
    /// for what is written from then on, and what was written before is found as before.
    pub languages: Vec<Language>,
}

impl Default for EmbeddedIndexConfig {
    fn default() -> Self {
        Self {
            dimensions: None,
            model: None,
            batch_max: 500,
            write_buffer_bytes: 32_000_000,
            candidates_min: 200,
            candidates_max: 1000,
            idle_after: Duration::from_secs(5),
            optimize_after: 5_000,
            languages: Vec::new(),
        }
    }
}

/// Entries that are ranked beyond the limit, so that equal scores at the end are ordered by id.
const TIES: usize = 50;

impl EmbeddedIndexConfig {
    /// The defaults for vectors of `dimensions`, or for no vectors.
    #[must_use]
    pub fn with_dimensions(dimensions: Option<usize>) -> Self {
        Self { dimensions, ..Self::default() }
    }

    /// Candidates of a search by one half alone for a query that wants `limit` hits.
    pub(crate) fn candidates_alone(limit: usize) -> usize {
        limit.saturating_add(TIES)
    }

    /// Candidates of each half for a hybrid query that wants `limit` hits.
    pub(crate) fn candidates_for(&self, limit: usize) -> usize {
        let fewest = self.candidates_min;
        limit.saturating_mul(2).clamp(fewest, self.candidates_max.max(fewest)).max(limit)
    }
}
