//! The search for documents: events as soon as there is something to tell.

use futures::future::join;
use futures::stream::{self, Stream};
use trove_domain::access::Caller;
use trove_domain::agent::RetrievalScope;
use trove_domain::query::HybridAlpha;
use trove_domain::section::{RankedSection, merge_adjacent};

use super::assistant::Assistant;
use super::expansion::expansions;
use super::recall::{Visible, WeightedQuery};
use super::selection::{Selection, select};
use super::{DocumentSearchRequest, SearchError};
use crate::{Engine, log};

/// Weights of the queries in the fusion of their rankings.
const ORIGINAL: f64 = 2.0;
const EXPANSION: f64 = 1.0;
/// Sections that a model is asked to pick.
const PICKS: usize = 3;

/// One step of a search for documents.
#[derive(Debug)]
pub enum SearchEvent {
    /// What is searched for: the query, then what a model made of it. Always first, before
    /// anything is searched.
    Queries(Vec<String>),
    /// The sections that were found, best first.
    Sections(Vec<RankedSection>),
    /// The documents that a model selected, most relevant first, each once; `None` when it failed.
    /// Only when selection was asked for.
    Selected(Option<Vec<String>>),
    /// The search failed; always last.
    Failed(SearchError),
}

impl Engine {
    /// The documents that `caller` may read and that fit the request best, as a stream: first the
    /// queries, then what was found, then what a model selected of it when that was asked for.
    /// Dropping the stream ends the work.
    ///
    /// The search is recorded in the history of the caller, whether it fails or not.
    ///
    /// # Errors
    ///
    /// [`SearchError`], when the search cannot even begin; later failures are events.
    #[tracing::instrument(name = "retrieval.search_documents", skip_all)]
    pub async fn search_documents(
        &self,
        caller: &Caller,
        request: DocumentSearchRequest,
    ) -> Result<impl Stream<Item = SearchEvent> + Send + use<>, SearchError> {
        let DocumentSearchRequest { query, filters, hits, alpha, expand, select_from } = request;
        let visible = self.visible(caller, filters, &RetrievalScope::default()).await?;
        let model = if expand || select_from.is_some() {
            self.helping_model(caller, None, None).await?
        } else {
            None
        };
        let search = DocumentSearch {
            engine: self.clone(),
            caller: caller.clone(),
            visible,
            query,
            hits,
            alpha: alpha.unwrap_or(self.config().hybrid_alpha),
            expand,
            select_from,
            assistant: model.and_then(|model| Assistant::new(self, model)),
        };
        Ok(stream::unfold(Stage::Expand(Box::new(search)), Stage::next))
    }
}

/// What a running search knows.
struct DocumentSearch {
    engine: Engine,
    caller: Caller,
    visible: Visible,
    query: String,
    hits: usize,
    alpha: HybridAlpha,
    expand: bool,
    select_from: Option<usize>,
    assistant: Option<Assistant>,
}

/// What a search does next.
enum Stage {
    Expand(Box<DocumentSearch>),
    Recall(Box<DocumentSearch>, Vec<String>),
    Select(Box<DocumentSearch>, usize, Vec<RankedSection>),
    Done,
}

impl Stage {
    async fn next(self) -> Option<(SearchEvent, Self)> {
        match self {
            Self::Expand(search) => {
                let expansions = search.expansions().await;
                let mut queries = vec![search.query.clone()];
                queries.extend(expansions.iter().cloned());
                Some((SearchEvent::Queries(queries), Self::Recall(search, expansions)))
            }
            Self::Recall(search, expansions) => match search.recorded_recall(expansions).await {
                Ok(sections) => {
                    let next = match search.select_from {
                        Some(count) => Self::Select(search, count, sections.clone()),
                        None => Self::Done,
                    };
                    Some((SearchEvent::Sections(sections), next))
                }
                Err(error) => {
                    log::warn(&error, "a search failed");
                    Some((SearchEvent::Failed(error), Self::Done))
                }
            },
            Self::Select(search, count, sections) => {
                let selected = search.selected(count, &sections).await;
                Some((SearchEvent::Selected(selected), Self::Done))
            }
            Self::Done => None,
        }
    }
}

impl DocumentSearch {
    async fn expansions(&self) -> Vec<String> {
        match &self.assistant {
            Some(assistant) if self.expand && !self.query.trim().is_empty() => {
                expansions(assistant, &self.query, self.engine.backends().clock.now()).await
            }
            _ => Vec::new(),
        }
    }

    /// Searches, and writes down that it does: both at once, neither waits for the other.
    async fn recorded_recall(
        &self,
        expansions: Vec<String>,
    ) -> Result<Vec<RankedSection>, SearchError> {
        let (sections, ()) = join(self.recall(expansions.clone()), self.record(&expansions)).await;
        sections
    }

    async fn record(&self, expansions: &[String]) {
        let recorded = self.engine.record_search(&self.caller, &self.query, expansions).await;
        if let Err(error) = recorded {
            log::warn(&error, "a search was not recorded in its user's history");
        }
    }

    async fn recall(&self, expansions: Vec<String>) -> Result<Vec<RankedSection>, SearchError> {
        let weighted = |text, weight| WeightedQuery { text, alpha: self.alpha, weight };
        let mut queries = vec![weighted(self.query.clone(), ORIGINAL)];
        queries.extend(expansions.into_iter().map(|text| weighted(text, EXPANSION)));
        let hits = self.engine.recall(&self.visible, queries, self.hits).await?;
        let mut sections = merge_adjacent(hits);
        sections.truncate(self.hits);
        Ok(sections)
    }

    /// The documents of the sections that a model picks among the first `count`.
    async fn selected(&self, count: usize, sections: &[RankedSection]) -> Option<Vec<String>> {
        let sections = &sections[..count.min(sections.len())];
        if sections.is_empty() {
            return Some(Vec::new());
        }
        let assistant = self.assistant.as_ref()?;
        match select(assistant, &self.query, sections, PICKS, true).await {
            Selection::Unusable => None,
            Selection::Nothing => Some(Vec::new()),
            Selection::Picked(places) => {
                let mut documents: Vec<String> = Vec::new();
                for place in places {
                    let document = sections[place].document().as_str();
                    if !documents.iter().any(|known| known == document) {
                        documents.push(document.to_owned());
                    }
                }
                Some(documents)
            }
        }
    }
}
