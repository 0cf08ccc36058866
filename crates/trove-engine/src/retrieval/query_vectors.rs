//! The embeddings of queries, which a search does without rather than wait for.

use std::sync::{Mutex, PoisonError};

use chrono::{DateTime, TimeDelta, Utc};
use futures::future::join_all;
use tokio::time::timeout;
use trove_domain::port::{EmbeddingError, EmbeddingModel};

use super::recall::WeightedQuery;
use crate::{Engine, log};

/// How long no query is embedded after the model was not to be had.
const REST: TimeDelta = TimeDelta::seconds(15);

/// When the embedding model was last not to be had. Made once for all searches: a server that hangs
/// costs one of them its patience, and not each.
#[derive(Default)]
pub(crate) struct Absence(Mutex<Option<DateTime<Utc>>>);

impl Absence {
    /// Whether the model is left alone. A clock that was set back ends it.
    fn lasts(&self, now: DateTime<Utc>) -> bool {
        let since = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        since.is_some_and(|since| since <= now && now < since + REST)
    }

    fn set(&self, since: Option<DateTime<Utc>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = since;
    }
}

impl Engine {
    /// The embeddings of queries; `None` where words alone are to decide. Asked for together, so
    /// that a model may answer them in one go.
    pub(super) async fn query_vectors(&self, queries: &[WeightedQuery]) -> Vec<Option<Vec<f32>>> {
        let model = self.backends().embedding_model.as_deref();
        let absent = self.shared.embedding_absence.lasts(self.backends().clock.now());
        let model = model.filter(|_| !absent);
        let embedded = queries.iter().map(|query| async move {
            let wanted = !query.alpha.is_lexical() && !query.text.trim().is_empty();
            self.query_vector(model.filter(|_| wanted)?, &query.text).await
        });
        join_all(embedded).await
    }

    async fn query_vector(&self, model: &dyn EmbeddingModel, text: &str) -> Option<Vec<f32>> {
        let patience = self.config().query_embedding_timeout;
        let absent = match timeout(patience, model.embed_query(text)).await {
            Ok(Ok(vector)) => {
                self.shared.embedding_absence.set(None);
                return Some(vector);
            }
            Ok(Err(error)) => {
                log::warn(&error, "a query could not be embedded; words alone decide");
                matches!(error, EmbeddingError::Unavailable(_))
            }
            Err(_elapsed) => {
                let seconds = patience.as_secs_f32();
                tracing::warn!(seconds, "a query was not embedded in time; words alone decide");
                true
            }
        };
        if absent {
            self.shared.embedding_absence.set(Some(self.backends().clock.now()));
        }
        None
    }
}
