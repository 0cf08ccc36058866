use std::collections::{BTreeSet, HashMap};

use chrono::{DateTime, TimeDelta, Utc};
use trove_domain::access::Caller;
use trove_domain::id::{DocumentId, DocumentSetId};
use trove_domain::query::{HybridAlpha, IndexQuery, SearchFilters, TimeRange};
use trove_domain::section::{RankedSection, merge_adjacent};

use super::{SearchError, SearchRequest, SearchResult};
use crate::{Engine, log};

/// Chunks that one query retrieves, before they are merged to sections.
const HITS_PER_QUERY: usize = 50;

/// Most passages in an answer.
const RESULTS_MAX: usize = 10;

/// How far back a search has to look to find documents of unknown age, too.
const UNDATED_AFTER: TimeDelta = TimeDelta::days(90);

impl Engine {
    /// The passages that `caller` may read and that fit the request best, best first; at most ten.
    ///
    /// Retrieval is hybrid at the deployment's alpha. When the embedding model fails, words alone
    /// decide and the failure is logged: a worse answer beats none.
    ///
    /// # Errors
    ///
    /// [`SearchError`].
    #[tracing::instrument(name = "retrieval.search", skip_all)]
    pub async fn search(
        &self,
        caller: &Caller,
        request: SearchRequest,
    ) -> Result<Vec<SearchResult>, SearchError> {
        let scope = self.backends().access.scope_for(caller).await?;
        let document_sets = self.visible_sets(caller, &request.document_sets).await?;
        let alpha = self.config().hybrid_alpha;
        let text = request.query.as_str().to_owned();
        let query = IndexQuery {
            vector: self.query_vector(&text, alpha).await,
            text,
            alpha,
            scope,
            filters: SearchFilters {
                sources: request.sources,
                document_sets,
                tags: request.tags,
                updated_at: request.updated_at,
                undated_pass: undated_pass(&request.updated_at, self.backends().clock.now()),
                created_at: request.created_at,
                knowledge: None,
            },
            limit: HITS_PER_QUERY,
        };
        let hits = self.backends().index.search(&query).await?;
        let mut sections = merge_adjacent(hits);
        sections.truncate(RESULTS_MAX);
        Ok(number_documents(sections))
    }

    /// The embedding of a query; `None` when words alone are to decide.
    pub(crate) async fn query_vector(&self, text: &str, alpha: HybridAlpha) -> Option<Vec<f32>> {
        if alpha.is_lexical() || text.trim().is_empty() {
            return None;
        }
        let model = self.backends().embedding_model.as_ref()?;
        match model.embed_query(text).await {
            Ok(vector) => Some(vector),
            Err(error) => {
                log::warn(&error, "the query could not be embedded; searching by words alone");
                None
            }
        }
    }

    /// The sets with these names, all of which the caller must be able to see.
    async fn visible_sets(
        &self,
        caller: &Caller,
        names: &[String],
    ) -> Result<Vec<DocumentSetId>, SearchError> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let sets = self.backends().document_sets.find_visible(names, caller.user).await?;
        let found: BTreeSet<&str> = sets.iter().map(|set| set.name.as_str()).collect();
        let missing: BTreeSet<&String> =
            names.iter().filter(|name| !found.contains(name.as_str())).collect();
        if !missing.is_empty() {
            let names = missing.into_iter().cloned().collect();
            return Err(SearchError::DocumentSets { names });
        }
        Ok(sets.iter().map(|set| set.id).collect())
    }
}

/// Whether documents of unknown age are found: only by who looks back far enough to mean nearly
/// everything.
fn undated_pass(updated_at: &TimeRange, now: DateTime<Utc>) -> bool {
    updated_at.end.is_none() && updated_at.start.is_some_and(|start| start < now - UNDATED_AFTER)
}

fn number_documents(sections: Vec<RankedSection>) -> Vec<SearchResult> {
    let mut numbers: HashMap<DocumentId, u32> = HashMap::new();
    let mut next = 1;
    sections
        .into_iter()
        .map(|section| {
            let citation_id = *numbers.entry(section.document().clone()).or_insert_with(|| {
                let number = next;
                next += 1;
                number
            });
            SearchResult { citation_id, section }
        })
        .collect()
}
