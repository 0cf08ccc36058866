//! `GET /search/search-history`

use actix_web::HttpResponse;
use actix_web::web::Data;
use chrono::{DateTime, Utc};
use serde::Serialize;
use trove_domain::search_history::RecordedSearch;
use trove_engine::Engine;
use utoipa::{IntoParams, ToSchema};

use crate::error::ApiError;
use crate::extract::{Caller, Input, Parts, Valid};
use crate::validation::{Read, integer_between};

const LIMIT_MAX: i64 = 1000;
const LIMIT_DEFAULT: i64 = 100;

/// How much to list.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct HistoryQuery {
    /// Most searches to list, 1 to 1000.
    #[param(default = 100, minimum = 1, maximum = 1000, required = false)]
    limit: i64,
    /// Only searches of so many days back.
    #[param(minimum = 1)]
    filter_days: Option<i64>,
}

/// The caller's own searches, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SearchHistoryReply {
    /// One for each search, repeated ones too.
    search_queries: Vec<SearchQueryRecord>,
}

/// One search.
#[derive(Debug, Serialize, ToSchema)]
struct SearchQueryRecord {
    /// The query as it was asked.
    query: String,
    /// What a language model made of it; null when there was nothing.
    query_expansions: Option<Vec<String>>,
    /// When it was asked.
    created_at: DateTime<Utc>,
}

/// The caller's own searches, newest first.
///
/// Recorded is what is sent to `POST /search/send-search-message`. At least the latest 1000
/// searches of each user are kept.
#[utoipa::path(
    get, path = "/search/search-history", tag = "search", operation_id = "search_history",
    params(HistoryQuery),
    responses(
        (status = 200, description = "The searches.", body = SearchHistoryReply),
    )
)]
pub(crate) async fn search_history(
    caller: Caller,
    engine: Data<Engine>,
    Valid(query): Valid<HistoryQuery>,
) -> Result<HttpResponse, ApiError> {
    // What is too large to count leaves nothing out.
    let saturated = |number: i64| u32::try_from(number).unwrap_or(u32::MAX);
    let days = query.filter_days.map(saturated);
    let searches = engine.search_history(&caller.0, saturated(query.limit), days).await?;
    let search_queries = searches.into_iter().map(Into::into).collect();
    Ok(HttpResponse::Ok().json(SearchHistoryReply { search_queries }))
}

impl Input for HistoryQuery {
    const BODY: bool = false;

    fn read(parts: Parts<'_>) -> Read<Self> {
        parts.query(|fields| {
            let limit = fields.or("limit", LIMIT_DEFAULT, integer_between(1, LIMIT_MAX));
            let filter_days = fields.nullable("filter_days", integer_between(1, i64::MAX));
            Ok(Self { limit: limit?, filter_days: filter_days? })
        })
    }
}

impl From<RecordedSearch> for SearchQueryRecord {
    fn from(RecordedSearch { query, expansions, created_at }: RecordedSearch) -> Self {
        let query_expansions = (!expansions.is_empty()).then_some(expansions);
        Self { query, query_expansions, created_at }
    }
}
