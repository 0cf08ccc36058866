//! The search for passages: at most ten, whole.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use futures::future::join;
use trove_domain::access::Caller;
use trove_domain::id::DocumentId;
use trove_domain::query::HybridAlpha;
use trove_domain::section::{RankedSection, merge_adjacent, merge_touching};

use super::assistant::{Assistant, estimated_tokens};
use super::recall::WeightedQuery;
use super::selection::{Selection, around_center, select};
use super::{HistoryTurn, SearchError, SearchRequest, SearchResult, context, expansion};
use crate::Engine;

/// Chunks that one query retrieves, and sections that are considered.
const HITS_PER_QUERY: usize = 50;
/// Most passages in an answer.
const RESULTS_MAX: usize = 10;
/// Tokens of all sections that a model is shown.
const SECTION_TOKENS_MAX: usize = 25 * 512;
/// Tokens for what stands around the text of a section.
const FRAME_TOKENS: usize = 75;

/// Weights of the queries in the fusion of their rankings.
const REPHRASED: f64 = 1.3;
const KEYWORDS: f64 = 1.0;
const AS_ASKED: f64 = 0.7 + 0.5;

impl Engine {
    /// The passages that `caller` may read and that fit the request best, best first; at most ten.
    ///
    /// Retrieval is hybrid at the deployment's alpha. With a language model, the query is rephrased
    /// and expanded, the best sections are selected and widened. Whatever fails of that, and when
    /// the embedding model fails, the rest decides and the failure is logged: a worse answer beats
    /// none.
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
        let SearchRequest { query, filters, agent, model, skip_expansion, history } = request;
        let scope = self.agent_scope(caller, agent).await?;
        let agent = agent.map(|id| (id, &scope));
        let model = self.helping_model(caller, agent, model.as_ref()).await?;
        let visible = self.visible(caller, filters, &scope).await?;
        let assistant = model.and_then(|model| Assistant::new(self, model));
        let query = query.as_str();
        let now = self.backends().clock.now();
        let queries = match &assistant {
            Some(assistant) if !skip_expansion && !query.trim().is_empty() => {
                expanded(assistant, &history, query, now, self.config().hybrid_alpha).await
            }
            _ => vec![as_asked(query, self.config().hybrid_alpha)],
        };
        let hits = self.recall(&visible, queries, HITS_PER_QUERY).await?;
        let mut sections = merge_adjacent(hits);
        sections.truncate(HITS_PER_QUERY);
        let sections = match assistant {
            Some(assistant) => {
                let sections = selected(&assistant, query, sections).await;
                let (index, scope) = (self.backends().index.as_ref(), &visible.scope);
                let widened =
                    context::widen(&assistant, index, scope, query, sections.clone()).await;
                match widened {
                    Ok(widened) => merge_touching(widened),
                    Err(error) => {
                        crate::log::warn(&error, "sections were not widened");
                        sections
                    }
                }
            }
            None => {
                sections.truncate(RESULTS_MAX);
                sections
            }
        };
        Ok(number_documents(sections))
    }
}

fn as_asked(query: &str, alpha: HybridAlpha) -> WeightedQuery {
    WeightedQuery { text: query.to_owned(), alpha, weight: AS_ASKED }
}

/// The query with what a model makes of it.
async fn expanded(
    assistant: &Assistant,
    history: &[HistoryTurn],
    query: &str,
    now: DateTime<Utc>,
    alpha: HybridAlpha,
) -> Vec<WeightedQuery> {
    let (rephrased, keywords) = join(
        expansion::rephrase(assistant, history, query, now),
        expansion::keyword_queries(assistant, history, query, now),
    )
    .await;
    weighted(query, rephrased, keywords, alpha)
}

/// The queries with their weights. What is asked twice, in any case of letters, is asked once with
/// both weights, but a keyword query stays one: it is searched for in another way.
fn weighted(
    query: &str,
    rephrased: Option<String>,
    keywords: Vec<String>,
    alpha: HybridAlpha,
) -> Vec<WeightedQuery> {
    let keyword_alpha = HybridAlpha::KEYWORD;
    let rephrased =
        rephrased.into_iter().map(|text| WeightedQuery { text, alpha, weight: REPHRASED });
    let semantic = once_each(rephrased.chain([as_asked(query, alpha)]));
    let keywords = keywords.into_iter().map(|text| WeightedQuery {
        text,
        alpha: keyword_alpha,
        weight: KEYWORDS,
    });
    semantic.into_iter().chain(once_each(keywords)).collect()
}

fn once_each(queries: impl IntoIterator<Item = WeightedQuery>) -> Vec<WeightedQuery> {
    let mut kept: Vec<WeightedQuery> = Vec::new();
    for query in queries {
        let same = query.text.to_lowercase();
        match kept.iter_mut().find(|kept| kept.text.to_lowercase() == same) {
            Some(kept) => kept.weight += query.weight,
            None => kept.push(query),
        }
    }
    kept
}

/// The sections that a model selects of those that it can be shown; the first ones when it does
/// not.
async fn selected(
    assistant: &Assistant,
    query: &str,
    mut sections: Vec<RankedSection>,
) -> Vec<RankedSection> {
    let mut room = SECTION_TOKENS_MAX;
    let fitting = sections
        .iter()
        .take_while(|section| {
            let tokens = estimated_tokens(&around_center(section)) + FRAME_TOKENS;
            room.checked_sub(tokens).is_some_and(|left| {
                room = left;
                true
            })
        })
        .count();
    // One section is shown whatever its size.
    sections.truncate(fitting.max(1));
    if sections.is_empty() {
        return sections;
    }
    match select(assistant, query, &sections, RESULTS_MAX, false).await {
        Selection::Picked(places) => {
            let mut sections: Vec<Option<RankedSection>> = sections.into_iter().map(Some).collect();
            places.into_iter().filter_map(|place| sections.get_mut(place)?.take()).collect()
        }
        Selection::Nothing | Selection::Unusable => {
            sections.truncate(RESULTS_MAX);
            sections
        }
    }
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

#[cfg(test)]
mod tests {
    use trove_domain::query::HybridAlpha;

    use super::weighted;

    fn shown(query: &str, rephrased: Option<&str>, keywords: &[&str]) -> Vec<String> {
        let keywords = keywords.iter().map(|&keywords| keywords.to_owned()).collect();
        weighted(query, rephrased.map(str::to_owned), keywords, HybridAlpha::BALANCED)
            .into_iter()
            .map(|query| format!("{} {:.1}@{:.1}", query.text, query.weight, query.alpha.get()))
            .collect()
    }

    #[test]
    fn section_3_3_6_of_the_contract() {
        assert_eq!(
            shown("q", Some("r"), &["k", "l"]),
            ["r 1.3@0.5", "q 1.2@0.5", "k 1.0@0.2", "l 1.0@0.2"]
        );
        assert_eq!(shown("q", Some("Q"), &[]), ["Q 2.5@0.5"]);
        assert_eq!(shown("q", None, &["q", "K", "k"]), ["q 1.2@0.5", "q 1.0@0.2", "K 2.0@0.2"]);
    }
}
