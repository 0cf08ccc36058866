//! Chunks for one or several queries, within what the caller may read.

use std::collections::BTreeSet;

use futures::future::join_all;
use trove_domain::access::{AccessScope, Caller};
use trove_domain::agent::RetrievalScope;
use trove_domain::boost::weigh;
use trove_domain::hit::ScoredChunk;
use trove_domain::id::DocumentSetId;
use trove_domain::query::{HybridAlpha, IndexQuery, SearchFilters, TimeRange};
use trove_domain::rank_fusion::reciprocal_rank_fusion;

use super::agent::knowledge;
use super::{FilterRequest, SearchError};
use crate::{Engine, log};

/// What a search may see: the caller's scope, and the filters with names resolved.
#[derive(Clone, Debug)]
pub(super) struct Visible {
    pub scope: AccessScope,
    pub filters: SearchFilters,
}

/// One of the queries of a search.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct WeightedQuery {
    pub text: String,
    pub alpha: HybridAlpha,
    pub weight: f64,
}

impl Engine {
    /// What a search of `caller` sees, with the filters of the request and those of the agent.
    pub(super) async fn visible(
        &self,
        caller: &Caller,
        request: FilterRequest,
        agent: &RetrievalScope,
    ) -> Result<Visible, SearchError> {
        let FilterRequest { sources, document_sets, tags, updated_at, created_at } = request;
        let document_sets = self.visible_sets(caller, &document_sets).await?;
        let scope = self.backends().access.scope_for(caller).await?;
        let updated_at =
            TimeRange { start: updated_at.start.max(agent.search_start_date), ..updated_at };
        let filters = SearchFilters {
            sources,
            document_sets,
            // Each once: what is asked for twice costs twice.
            tags: tags.into_iter().collect::<BTreeSet<_>>().into_iter().collect(),
            updated_at,
            created_at,
            knowledge: knowledge(agent),
        };
        Ok(Visible { scope, filters })
    }

    /// The best chunks for all `queries` together, at most `hits` for each, best first.
    ///
    /// One query keeps the order and the scores of the index, but for documents that people have
    /// given another weight. A query that fails counts as one
    /// that finds nothing, unless all of them fail.
    pub(super) async fn recall(
        &self,
        visible: &Visible,
        queries: Vec<WeightedQuery>,
        hits: usize,
    ) -> Result<Vec<ScoredChunk>, SearchError> {
        let vectors = self.query_vectors(&queries).await;
        let searches = queries.into_iter().zip(vectors).map(|(query, vector)| async move {
            let WeightedQuery { text, alpha, weight } = query;
            let Visible { scope, filters } = visible.clone();
            let query = IndexQuery { text, vector, alpha, scope, filters, limit: hits };
            (self.backends().index.search(&query).await, weight)
        });
        let mut rankings = Vec::new();
        let mut failure = None;
        for (found, weight) in join_all(searches).await {
            match found {
                Ok(mut hits) => {
                    weigh(&mut hits);
                    rankings.push((hits, weight));
                }
                Err(error) => {
                    log::warn(&error, "a query failed");
                    failure = Some(error);
                }
            }
        }
        match failure {
            Some(error) if rankings.is_empty() => return Err(error.into()),
            _ => {}
        }
        rankings.retain(|(hits, _)| !hits.is_empty());
        Ok(reciprocal_rank_fusion(rankings, |hit| hit.chunk.id.clone()))
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
        let sets = self.backends().document_sets.find_by_name(caller, names).await?;
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
