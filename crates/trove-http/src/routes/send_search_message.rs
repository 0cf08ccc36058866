//! `POST /search/send-search-message`

use actix_web::HttpResponse;
use actix_web::web::Data;
use futures_util::stream::{self, Stream, StreamExt};
use serde::Serialize;
use tokio::time::{Instant, timeout_at};
use trove_domain::query::HybridAlpha;
use trove_engine::Engine;
use trove_engine::retrieval::{DocumentSearchRequest, Highlighter, SearchEvent};
use utoipa::ToSchema;

use super::search_doc::{SearchDoc, SearchDocWithContent};
use super::search_filters::FiltersBody;
use crate::endpoint::Allowance;
use crate::error::ApiError;
use crate::extract::{Caller, ValidJson};
use crate::validation::{
    Fields, Read, Record, boolean, float_between, integer, integer_between, record, text_between,
};
use crate::{Settings, lines};

/// What to search for, and what a language model may do with it.
#[derive(Debug, ToSchema)]
#[schema(example = json!({"search_query": "key rotation", "num_hits": 10,
    "filters": {"source_type": ["confluence"]}, "include_content": true}))]
pub(crate) struct SendSearchMessageBody {
    /// The search text. May be empty: it then finds nothing.
    #[schema(max_length = 10000)]
    search_query: String,
    /// What to search in.
    filters: Option<FiltersBody>,
    /// Most sections to return.
    #[schema(default = 30, minimum = 1, maximum = 1000, required = false, value_type = i32)]
    num_hits: usize,
    /// Weight of the vectors: 0 is words alone, 1 vectors alone. The deployment's when absent.
    #[schema(minimum = 0, maximum = 1, value_type = Option<f32>)]
    hybrid_alpha: Option<HybridAlpha>,
    /// Whether documents come with the text of the section.
    #[schema(default = false, required = false)]
    include_content: bool,
    /// Whether a language model finds more queries. One call.
    #[schema(default = false, required = false)]
    run_query_expansion: bool,
    /// Lets a language model select among so many of the best sections. One call.
    #[schema(value_type = Option<i32>)]
    num_docs_fed_to_llm_selection: Option<usize>,
    /// Whether the answer comes line by line, as it is found.
    #[schema(default = false, required = false)]
    stream: bool,
}

/// What was found. With an `error`, what was found until then.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct SearchFullReply {
    /// The query, then what a language model made of it.
    all_executed_queries: Vec<String>,
    /// The sections, best first.
    search_docs: Vec<SearchDocWithContent>,
    /// Not used.
    doc_selection_reasoning: Option<String>,
    /// Documents that a language model selected, most relevant first; empty when it found none
    /// relevant, null when it was not asked or failed.
    llm_selected_doc_ids: Option<Vec<String>>,
    /// Why the search failed.
    error: Option<String>,
}

/// One line of a streamed answer.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line {
    /// Always first, before anything is searched.
    SearchQueries {
        all_executed_queries: Vec<String>,
    },
    SearchDocs {
        search_docs: Vec<SearchDocWithContent>,
    },
    /// Only when selection was asked for.
    LlmSelectedDocs {
        llm_selected_doc_ids: Option<Vec<String>>,
    },
    /// In place of the lines that are missing.
    SearchError {
        error: String,
    },
}

/// Ranked documents for one query, in one piece or line by line.
///
/// Lines are JSON objects with a `type`: `search_queries`, then `search_docs`, then
/// `llm_selected_docs` when selection was asked for; `search_error` in place of what is missing
/// when the search fails. The query is kept in the caller's search history.
#[utoipa::path(
    post, path = "/search/send-search-message", tag = "search",
    operation_id = "send_search_message", request_body = SendSearchMessageBody,
    responses(
        (status = 200, description = "The documents.", content(
            (SearchFullReply = "application/json"),
            (String = "text/event-stream"),
        )),
        (status = 403, description = "The role does not allow it, or a document set does not exist \
            or is not visible to the caller.", body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn send_search_message(
    caller: Caller,
    engine: Data<Engine>,
    settings: Data<Settings>,
    ValidJson(body): ValidJson<SendSearchMessageBody>,
) -> Result<HttpResponse, ApiError> {
    let until = Instant::now() + settings.allowance(Allowance::Search);
    let (stream, with_content) = (body.stream, body.include_content);
    let events = engine.search_documents(&caller.0, body.into()).await?;
    let lines = lines_of(events, until, with_content);
    if stream {
        return Ok(lines::respond(lines));
    }
    let reply = lines.fold(SearchFullReply::default(), |reply, line| async { reply.with(line) });
    Ok(HttpResponse::Ok().json(reply.await))
}

/// The events as lines; an error ends them when they are not complete at `until`.
fn lines_of(
    events: impl Stream<Item = SearchEvent>,
    until: Instant,
    with_content: bool,
) -> impl Stream<Item = Line> {
    let events = Box::pin(events);
    let highlighter = Highlighter::default();
    stream::unfold(Some((events, highlighter)), move |state| async move {
        let (mut events, mut highlighter) = state?;
        let Ok(event) = timeout_at(until, events.next()).await else {
            let error = "the search took too long".to_owned();
            return Some((Line::SearchError { error }, None));
        };
        let line = match event? {
            SearchEvent::Queries(queries) => {
                highlighter = Highlighter::of(&queries);
                Line::SearchQueries { all_executed_queries: queries }
            }
            SearchEvent::Sections(sections) => {
                let search_docs = sections.iter().map(|section| {
                    let highlights = highlighter.highlights(&section.center().chunk.text);
                    let doc = SearchDoc::of(section, highlights);
                    doc.with_content(with_content.then(|| section.text()))
                });
                Line::SearchDocs { search_docs: search_docs.collect() }
            }
            SearchEvent::Selected(ids) => Line::LlmSelectedDocs { llm_selected_doc_ids: ids },
            SearchEvent::Failed(error) => Line::SearchError { error: error.to_string() },
        };
        Some((line, Some((events, highlighter))))
    })
}

impl SearchFullReply {
    fn with(mut self, line: Line) -> Self {
        match line {
            Line::SearchQueries { all_executed_queries } => {
                self.all_executed_queries = all_executed_queries;
            }
            Line::SearchDocs { search_docs } => self.search_docs = search_docs,
            Line::LlmSelectedDocs { llm_selected_doc_ids } => {
                self.llm_selected_doc_ids = llm_selected_doc_ids;
            }
            Line::SearchError { error } => self.error = Some(error),
        }
        self
    }
}

impl Record for SendSearchMessageBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        const HITS_MAX: i64 = 1000;
        const HITS_DEFAULT: i64 = 30;
        let query = text_between(0, DocumentSearchRequest::QUERY_CHARS_MAX);
        let search_query = fields.required("search_query", query);
        let filters = fields.nullable("filters", record::<FiltersBody>);
        let num_hits = fields.or("num_hits", HITS_DEFAULT, integer_between(1, HITS_MAX));
        let hybrid_alpha = fields.nullable("hybrid_alpha", float_between(0.0, 1.0));
        let include_content = fields.or("include_content", false, boolean);
        let run_query_expansion = fields.or("run_query_expansion", false, boolean);
        let selection = fields.nullable("num_docs_fed_to_llm_selection", integer);
        let stream = fields.or("stream", false, boolean);
        #[expect(clippy::as_conversions, reason = "0 to 1 needs no more than an f32 holds")]
        #[expect(clippy::cast_possible_truncation, reason = "0 to 1 is in range")]
        let hybrid_alpha = match hybrid_alpha? {
            // The domain has the last word on what an alpha is.
            Some(alpha) => match HybridAlpha::new(alpha as f32) {
                Ok(alpha) => Some(alpha),
                Err(error) => return Err(fields.reject_field("hybrid_alpha", error)),
            },
            None => None,
        };
        Ok(Self {
            search_query: search_query?,
            filters: filters?,
            num_hits: usize::try_from(num_hits?).unwrap_or(1),
            hybrid_alpha,
            include_content: include_content?,
            run_query_expansion: run_query_expansion?,
            // Nothing to select from: not asked for. More than is found: all of it.
            num_docs_fed_to_llm_selection: selection?
                .filter(|count| *count >= 1)
                .map(|count| usize::try_from(count).unwrap_or(usize::MAX)),
            stream: stream?,
        })
    }
}

impl From<SendSearchMessageBody> for DocumentSearchRequest {
    fn from(body: SendSearchMessageBody) -> Self {
        Self {
            query: body.search_query,
            filters: body.filters.map(Into::into).unwrap_or_default(),
            hits: body.num_hits,
            alpha: body.hybrid_alpha,
            expand: body.run_query_expansion,
            select_from: body.num_docs_fed_to_llm_selection,
        }
    }
}
