//! What a host decides about the index.

use std::fmt;
use std::time::Duration;

use secrecy::SecretString;
use trove_analysis::Language;

/// Settings of a [`QdrantDocumentIndex`](crate::QdrantDocumentIndex).
#[derive(Clone)]
pub struct QdrantIndexConfig {
    /// Address of the server's gRPC interface, `http://host:6334` or `https://host:6334`.
    pub url: String,
    /// Key that the server asks for.
    pub api_key: Option<SecretString>,
    /// Name of the collection, which is made when there is none.
    pub collection: String,
    /// Length of the vectors; `None` searches by words only. A collection that holds vectors keeps
    /// them while it is opened with `None`.
    pub dimensions: Option<usize>,
    /// Name of the model that makes the vectors. The collection notes it, and is not opened with
    /// another one, whose vectors would mean something else.
    pub model: Option<String>,
    /// Copies of each part of the collection; only looked at when the collection is made. Every
    /// write is acknowledged by all of them that are alive.
    pub replicas: u32,
    /// Most documents that one write takes.
    pub batch_max: usize,
    /// Fewest candidates that each half of a hybrid search contributes.
    pub candidates_min: usize,
    /// Most candidates that each half contributes, or the limit of the query if that is more.
    /// Between the two it is twice the limit.
    pub candidates_max: usize,
    /// Languages that texts are written in, the most common first; empty for any. A change counts
    /// for what is written from then on, and what was written before is found as before.
    pub languages: Vec<Language>,
    /// How long opening a connection may take.
    pub connect_timeout: Duration,
    /// How long the server may work on one call.
    pub request_timeout: Duration,
}

impl QdrantIndexConfig {
    /// The defaults for a server and vectors of `dimensions`, or for no vectors.
    #[must_use]
    pub fn new(url: impl Into<String>, dimensions: Option<usize>) -> Self {
        Self {
            url: url.into(),
            api_key: None,
            collection: "trove".to_owned(),
            dimensions,
            model: None,
            replicas: 1,
            batch_max: 500,
            candidates_min: 200,
            candidates_max: 1000,
            languages: Vec::new(),
            connect_timeout: Duration::from_secs(5),
            request_timeout: Duration::from_secs(30),
        }
    }

    /// Candidates of each list for a query that wants `limit` hits, `alone` when there is one list.
    pub(crate) fn candidates_for(&self, limit: usize, alone: bool) -> usize {
        if alone {
            return limit.saturating_add(TIES);
        }
        let fewest = self.candidates_min;
        limit.saturating_mul(2).clamp(fewest, self.candidates_max.max(fewest)).max(limit)
    }
}

/// Chunks that are ranked beyond the limit, so that equal scores at the end are ordered by id.
const TIES: usize = 50;

impl fmt::Debug for QdrantIndexConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QdrantIndexConfig")
            .field("url", &self.url)
            .field("collection", &self.collection)
            .field("dimensions", &self.dimensions)
            .finish_non_exhaustive()
    }
}
