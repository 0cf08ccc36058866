//! `POST /search`

use std::str::FromStr;

use actix_web::HttpResponse;
use actix_web::web::Data;
use chrono::{DateTime, Utc};
use serde::Serialize;
use trove_domain::document::Tag;
use trove_domain::llm::Speaker;
use trove_domain::query::{QueryText, TimeRange};
use trove_domain::source::DocumentSource;
use trove_engine::Engine;
use trove_engine::retrieval::{self, FilterRequest, ModelChoice, SearchRequest, SearchResult};
use utoipa::ToSchema;

use super::schema::{FILTER_ITEMS_MAX, SourceValue, TagBody, instant_text, source};
use crate::error::ApiError;
use crate::extract::{Caller, ValidJson};
use crate::validation::{
    Fields, Read, Record, boolean, integer_id, list_of_at_most, one_of, record, text, text_between,
    timestamp,
};

/// Most earlier turns: far more than a model is shown.
const TURNS_MAX: usize = 1000;

/// What to search for.
#[derive(Debug, ToSchema)]
#[schema(example = json!({"query": "how do we rotate keys", "sources": ["confluence"],
    "tags": [{"tag_key": "team", "tag_value": "platform"}], "time_cutoff": "2024-01-01T00:00:00Z"}))]
pub(crate) struct SearchBody {
    /// The search text.
    #[schema(value_type = String, min_length = 1, max_length = 2048)]
    query: QueryText,
    /// Any of these sources; none or an empty list for all.
    #[schema(value_type = Option<Vec<SourceValue>>, max_items = 1000)]
    sources: Option<Vec<DocumentSource>>,
    /// In any of the document sets with these names; none or an empty list for all.
    #[schema(max_items = 1000)]
    document_sets: Option<Vec<String>>,
    /// Carrying all of these tags.
    #[schema(max_items = 1000)]
    tags: Option<Vec<TagBody>>,
    /// Updated at or after this instant; without a zone it is UTC. Undated documents are found only
    /// when it lies more than 90 days back.
    time_cutoff: Option<DateTime<Utc>>,
    /// The agent to search as: what it knows and since when narrows the search further, and its
    /// model rewrites the query. 0 is the default agent, which restricts nothing.
    #[schema(value_type = Option<i32>)]
    persona_id: Option<i32>,
    /// Name of the provider of `model`.
    provider: Option<String>,
    /// The model that rewrites the query and selects passages, by name; goes with `provider`. The
    /// agent's, or the deployment's, when absent.
    model: Option<String>,
    /// Whether to search for the query as it is.
    #[schema(default = false, required = false)]
    skip_query_expansion: bool,
    /// Earlier turns of a conversation, oldest first: what the query refers to.
    #[schema(max_items = 1000)]
    message_history: Option<Vec<HistoryTurn>>,
}

/// One earlier turn of a conversation.
#[derive(Debug, ToSchema)]
pub(crate) struct HistoryTurn {
    /// Its text.
    message: String,
    /// Who said it. Only turns of `user` and `assistant` are of use.
    message_type: MessageType,
}

/// What a message is.
#[derive(Clone, Copy, Debug, ToSchema)]
#[schema(rename_all = "snake_case")]
enum MessageType {
    System,
    User,
    Assistant,
    ToolCallResponse,
    UserReminder,
}

impl MessageType {
    const WORDS: [(&str, Self); 5] = [
        ("system", Self::System),
        ("user", Self::User),
        ("assistant", Self::Assistant),
        ("tool_call_response", Self::ToolCallResponse),
        ("user_reminder", Self::UserReminder),
    ];
}

impl FromStr for MessageType {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        let found = Self::WORDS.into_iter().find(|(name, _)| *name == word);
        found.map(|(_, value)| value).ok_or(())
    }
}

/// What was found, best first.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"results": [{"citation_id": 1, "title": "Key rotation",
    "content": "Keys are rotated every ninety days.", "link": "https://wiki.example.com/keys",
    "source_type": "confluence", "updated_at": "2024-01-02T03:04:05+00:00"}]}))]
pub(crate) struct SearchReply {
    /// At most ten passages.
    results: Vec<SearchResultReply>,
}

/// A passage.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SearchResult)]
pub(crate) struct SearchResultReply {
    /// Number of the document, from 1 in order of first appearance; its passages share it.
    citation_id: u32,
    /// Name of the document.
    title: String,
    /// Text of the passage.
    content: String,
    /// Where a reader finds it; null when the document has no link.
    link: Option<String>,
    /// The system the document comes from.
    #[schema(value_type = SourceValue)]
    source_type: &'static str,
    /// Last change of the document; null when it is not known.
    #[schema(format = DateTime)]
    updated_at: Option<String>,
}

/// Ranked passages for one query.
///
/// Everything that is given narrows the search (AND). Only documents that the caller may read are
/// found, whatever the role. With a language model, the query is rewritten (unless
/// `skip_query_expansion`), and the passages are selected and shown with what belongs to them;
/// without one, or when it fails, the best matches are the answer. Nothing is written to the
/// search history.
#[utoipa::path(
    post, path = "/search", tag = "search", operation_id = "search", request_body = SearchBody,
    responses(
        (status = 200, description = "The passages.", body = SearchReply),
        (status = 403, description = "The role does not allow it, or a document set does not exist \
            or is not visible to the caller.", body = crate::error::ErrorBody,
            example = json!({"error_code": "INSUFFICIENT_PERMISSIONS",
                "detail": "user does not have access to document sets: Finance"})),
        (status = 404, description = "The agent or the model does not exist, or is not visible to \
            the caller.", body = crate::error::ErrorBody,
            example = json!({"error_code": "PERSONA_NOT_FOUND", "detail": "there is no agent 7"})),
    )
)]
pub(crate) async fn search(
    caller: Caller,
    engine: Data<Engine>,
    ValidJson(body): ValidJson<SearchBody>,
) -> Result<HttpResponse, ApiError> {
    let results = engine.search(&caller.0, body.into()).await?;
    Ok(HttpResponse::Ok()
        .json(SearchReply { results: results.into_iter().map(Into::into).collect() }))
}

impl Record for SearchBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let query = fields.required("query", text_between(1, QueryText::MAX_CHARS));
        let sources = fields.nullable("sources", list_of_at_most(FILTER_ITEMS_MAX, source));
        let document_sets =
            fields.nullable("document_sets", list_of_at_most(FILTER_ITEMS_MAX, text));
        let tags = fields.nullable("tags", list_of_at_most(FILTER_ITEMS_MAX, record::<TagBody>));
        let time_cutoff = fields.nullable("time_cutoff", timestamp);
        let persona_id = fields.nullable("persona_id", integer_id);
        let provider = fields.nullable("provider", text);
        let model = fields.nullable("model", text);
        let skip_query_expansion = fields.or("skip_query_expansion", false, boolean);
        let message_history =
            fields.nullable("message_history", list_of_at_most(TURNS_MAX, record::<HistoryTurn>));
        // The domain has the last word on what a query is.
        let query = query
            .and_then(|text| QueryText::new(text).map_err(|e| fields.reject_field("query", e)));
        let body = Self {
            query: query?,
            sources: sources?,
            document_sets: document_sets?,
            tags: tags?,
            time_cutoff: time_cutoff?,
            persona_id: persona_id?,
            provider: provider?.filter(|name| !name.is_empty()),
            model: model?.filter(|name| !name.is_empty()),
            skip_query_expansion: skip_query_expansion?,
            message_history: message_history?,
        };
        match (&body.provider, &body.model) {
            (None, Some(_)) => Err(fields.reject("a model needs its provider")),
            (Some(_), None) => Err(fields.reject("a provider needs a model")),
            _ => Ok(body),
        }
    }
}

impl Record for HistoryTurn {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let message = fields.required("message", text);
        let message_type = fields.required(
            "message_type",
            one_of::<MessageType>(|| MessageType::WORDS.map(|(name, _)| name).to_vec()),
        );
        Ok(Self { message: message?, message_type: message_type? })
    }
}

impl From<SearchBody> for SearchRequest {
    fn from(body: SearchBody) -> Self {
        let tags = body.tags.unwrap_or_default().into_iter();
        let history = body.message_history.unwrap_or_default().into_iter();
        Self {
            query: body.query,
            filters: FilterRequest {
                sources: body.sources.unwrap_or_default(),
                document_sets: body.document_sets.unwrap_or_default(),
                tags: tags.map(|tag| Tag { key: tag.tag_key, value: tag.tag_value }).collect(),
                updated_at: TimeRange { start: body.time_cutoff, end: None },
                created_at: TimeRange::default(),
            },
            agent: body.persona_id,
            model: body
                .provider
                .zip(body.model)
                .map(|(provider, model)| ModelChoice { provider, model }),
            skip_expansion: body.skip_query_expansion,
            history: history.filter_map(HistoryTurn::into_turn).collect(),
        }
    }
}

impl HistoryTurn {
    /// The turn, when somebody says it to somebody.
    fn into_turn(self) -> Option<retrieval::HistoryTurn> {
        let speaker = match self.message_type {
            MessageType::User => Speaker::User,
            MessageType::Assistant => Speaker::Assistant,
            MessageType::System | MessageType::ToolCallResponse | MessageType::UserReminder => {
                return None;
            }
        };
        Some(retrieval::HistoryTurn { speaker, text: self.message })
    }
}

impl From<SearchResult> for SearchResultReply {
    fn from(result: SearchResult) -> Self {
        let content = result.section.text();
        let best = &result.section.center().chunk;
        Self {
            citation_id: result.citation_id,
            title: best.attributes.semantic_identifier.clone(),
            content,
            link: best.link.clone(),
            source_type: best.attributes.source.as_str(),
            updated_at: best.attributes.updated_at.map(instant_text),
        }
    }
}
