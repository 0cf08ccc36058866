use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use trove_domain::query::HybridAlpha;

use super::load::millis;
use super::rule::Rule;

/// `[retrieval]`: how searches work.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct RetrievalSection {
    /// Weight of meaning against words, 0 (words alone) to 1 (vectors alone), without a unit; also
    /// `HYBRID_ALPHA`. Default 0.5, which beats both ends on every judged collection.
    #[serde(serialize_with = "show_alpha", deserialize_with = "read_alpha")]
    pub hybrid_alpha: HybridAlpha,
    /// How long a language model may take for all that it does for one search, in milliseconds.
    /// Default 60 s. What is not there by then is left out of the search.
    #[serde(rename = "language_model_allowance_ms", with = "millis")]
    pub language_model_allowance: Duration,
    /// How long a search waits for the embedding of a query, in milliseconds. Default 10 s, well
    /// within a request. Words alone decide then, for some seconds without waiting.
    #[serde(rename = "query_embedding_timeout_ms", with = "millis")]
    pub query_embedding_timeout: Duration,
    /// Turns off search and ingestion, which then answer 501; also `DISABLE_VECTOR_DB`. Default
    /// false. For deployments that want chat without retrieval.
    pub disable_vector_db: bool,
}

impl Default for RetrievalSection {
    fn default() -> Self {
        Self {
            hybrid_alpha: HybridAlpha::BALANCED,
            language_model_allowance: Duration::from_mins(1),
            query_embedding_timeout: Duration::from_secs(10),
            disable_vector_db: false,
        }
    }
}

pub(super) const RULES: &[Rule] = &[
    Rule { key: "retrieval.hybrid_alpha", accepted: "a number from 0.0 to 1.0", holds: |_| true },
    Rule {
        key: "retrieval.language_model_allowance_ms",
        accepted: "a whole number of milliseconds from 100 to 3600000",
        holds: |config| {
            (Duration::from_millis(100)..=Duration::from_hours(1))
                .contains(&config.retrieval.language_model_allowance)
        },
    },
    Rule {
        key: "retrieval.query_embedding_timeout_ms",
        accepted: "a whole number of milliseconds from 100 to 600000",
        holds: |config| {
            (Duration::from_millis(100)..=Duration::from_mins(10))
                .contains(&config.retrieval.query_embedding_timeout)
        },
    },
    Rule { key: "retrieval.disable_vector_db", accepted: "true or false", holds: |_| true },
];

fn show_alpha<S: Serializer>(alpha: &HybridAlpha, serializer: S) -> Result<S::Ok, S::Error> {
    // By way of text: 0.3 as an f32 is 0.30000001192092896 as an f64.
    let shortest = alpha.get().to_string().parse().unwrap_or(f64::from(alpha.get()));
    serializer.serialize_f64(shortest)
}

fn read_alpha<'de, D: Deserializer<'de>>(deserializer: D) -> Result<HybridAlpha, D::Error> {
    HybridAlpha::new(f32::deserialize(deserializer)?).map_err(D::Error::custom)
}
