//! What users searched for.

use chrono::{DateTime, Utc};

/// One search of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedSearch {
    /// The query as it was asked.
    pub query: String,
    /// What a language model made of it; empty when there was none.
    pub expansions: Vec<String>,
    /// When it was asked.
    pub created_at: DateTime<Utc>,
}
