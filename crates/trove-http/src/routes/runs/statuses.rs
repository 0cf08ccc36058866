//! `POST /manage/admin/connector/indexing-status`

use std::collections::{BTreeMap, BTreeSet};

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::Serialize;
use trove_domain::cc_pair::AccessType;
use trove_domain::indexing::AttemptStatus;
use trove_domain::source::DocumentSource;
use trove_engine::Engine;
use trove_engine::administration::{Comparison, PairStatusView, SourceStatusView, StatusFilter};
use utoipa::ToSchema;

use crate::error::ApiError;
use crate::extract::{Caller, ValidJson};
use crate::routes::connectors::record::access_type;
use crate::routes::schema::{IDS_MAX, SourceValue, source, zulu};
use crate::validation::{
    Field, Fields, Json, Read, Record, boolean, entries, integer, integer_between, list_of_at_most,
    one_of, text_between,
};

/// Which pairs to show. Everything may be left out.
#[derive(Debug, ToSchema)]
#[schema(as = IndexingStatusRequest, example = json!({"source": "web", "name_filter": "hand",
    "source_to_page": {"web": 2}}))]
#[expect(dead_code, reason = "describes the body, which is read as a filter")]
pub(crate) struct StatusesBody {
    /// There is one index: ignored.
    secondary_index: Option<bool>,
    /// Only pairs of this source.
    #[schema(value_type = Option<SourceValue>)]
    source: Option<DocumentSource>,
    /// Only pairs with one of these.
    #[schema(value_type = Option<Vec<String>>)]
    access_type_filters: BTreeSet<AccessType>,
    /// Only pairs whose latest run is one of these.
    #[schema(value_type = Option<Vec<String>>)]
    last_status_filters: BTreeSet<AttemptStatus>,
    /// `>`, `<` or `=`; goes with `docs_count_value`.
    docs_count_operator: Option<String>,
    /// How many documents.
    docs_count_value: Option<i64>,
    /// Only pairs whose name holds this, in any letter case.
    #[schema(max_length = 200)]
    name_filter: Option<String>,
    /// Pages of sources, from 1.
    #[schema(value_type = Option<std::collections::HashMap<String, i64>>)]
    source_to_page: BTreeMap<DocumentSource, i64>,
    /// All pairs of every source in place of a page.
    get_all_connectors: Option<bool>,
}

/// The body as a filter.
pub(crate) struct Statuses(StatusFilter);

fn status(field: Field<'_>) -> Read<AttemptStatus> {
    let known = || {
        vec!["not_started", "in_progress", "success", "canceled", "failed", "completed_with_errors"]
    };
    one_of(known)(field)
}

struct Operator(Comparison);

impl std::str::FromStr for Operator {
    type Err = ();

    fn from_str(value: &str) -> Result<Self, ()> {
        match value {
            ">" => Ok(Self(Comparison::Greater)),
            "<" => Ok(Self(Comparison::Less)),
            "=" => Ok(Self(Comparison::Equal)),
            _ => Err(()),
        }
    }
}

/// Pages by source.
fn pages(field: Field<'_>) -> Read<BTreeMap<DocumentSource, i64>> {
    let (json, place) = field.split();
    let entries = entries(place.same(json))?;
    let mut pages = BTreeMap::new();
    let mut failed = None;
    for (name, json) in entries {
        let entry = |json| place.entry(&name, json);
        let key = source(entry(Json::Text(name.clone())));
        match (key, integer(entry(json))) {
            (Ok(source), Ok(page)) => drop(pages.insert(source, page)),
            (Err(rejected), _) | (_, Err(rejected)) => failed = Some(rejected),
        }
    }
    failed.map_or(Ok(pages), Err)
}

impl Record for Statuses {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let second = fields.or("secondary_index", false, boolean);
        let source = fields.nullable("source", source);
        let access = list_of_at_most(IDS_MAX, access_type);
        let access = fields.or("access_type_filters", Vec::new(), access);
        let last = list_of_at_most(IDS_MAX, status);
        let last = fields.or("last_status_filters", Vec::new(), last);
        let operator = one_of::<Operator>(|| vec![">", "<", "="]);
        let operator = fields.nullable("docs_count_operator", operator);
        let count = fields.nullable("docs_count_value", integer_between(0, i64::MAX));
        let name = fields.nullable("name_filter", text_between(0, 200));
        let pages = fields.or("source_to_page", BTreeMap::new(), pages);
        let unpaged = fields.or("get_all_connectors", false, boolean);
        second?;
        let count = count?.and_then(|count| u64::try_from(count).ok());
        Ok(Self(StatusFilter {
            source: source?,
            access_types: access?.into_iter().collect(),
            last_statuses: last?.into_iter().collect(),
            documents: operator?.map(|operator| operator.0).zip(count),
            name: name?,
            pages: pages?,
            unpaged: unpaged?,
        }))
    }
}

/// What the pairs of a source come to.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SourceSummary)]
pub(crate) struct SummaryReply {
    /// How many there are.
    total_connectors: u64,
    /// Those that ran successfully and are not paused.
    active_connectors: u64,
    /// Those that everybody reads.
    public_connectors: u64,
    /// Documents of all of them.
    total_docs_indexed: u64,
}

/// How a pair is.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ConnectorIndexingStatusLite)]
pub(crate) struct PairStatusReply {
    /// The pair.
    cc_pair_id: i32,
    /// Its name.
    name: Option<String>,
    /// The system it reads.
    #[schema(value_type = SourceValue)]
    source: &'static str,
    /// `public`, `private` or `sync`.
    #[schema(value_type = String)]
    access_type: &'static str,
    /// Where it is in its life.
    #[schema(value_type = String)]
    cc_pair_status: &'static str,
    /// Whether a worker has taken its latest run, which is not finished.
    in_progress: bool,
    /// Whether its latest runs have failed.
    in_repeated_error_state: bool,
    /// What came of its latest finished run.
    #[schema(value_type = Option<String>)]
    last_finished_status: Option<&'static str>,
    /// Its latest run.
    #[schema(value_type = Option<String>)]
    last_status: Option<&'static str>,
    /// When a run last succeeded.
    last_success: Option<String>,
    /// Whether the caller may change it.
    is_editable: bool,
    /// Documents that it holds.
    docs_indexed: u64,
    /// Documents that its latest run has read and are in the index.
    latest_index_attempt_docs_indexed: Option<u64>,
    /// What its latest run enumerates, in documents per minute.
    docs_per_minute: Option<f64>,
    /// Seconds until it has enumerated as much as the last run that succeeded.
    estimated_seconds_left: Option<f64>,
}

impl From<PairStatusView> for PairStatusReply {
    fn from(view: PairStatusView) -> Self {
        let PairStatusView { seen, last, last_finished } = view;
        let pair = seen.pair;
        let last = last.as_ref();
        let pace = last.map(|last| last.pace).unwrap_or_default();
        Self {
            cc_pair_id: pair.id.0,
            name: Some(pair.name),
            source: pair.source.as_str(),
            access_type: pair.access_type.as_str(),
            cc_pair_status: pair.status.as_str(),
            in_progress: last.is_some_and(|last| last.status == AttemptStatus::InProgress),
            in_repeated_error_state: seen.in_repeated_error_state,
            last_finished_status: last_finished.map(AttemptStatus::as_str),
            last_status: last.map(|last| last.status.as_str()),
            last_success: seen.last_successful_index_at.map(zulu),
            is_editable: seen.editable,
            docs_indexed: seen.documents,
            latest_index_attempt_docs_indexed: last.map(|last| last.documents),
            docs_per_minute: pace.documents_per_minute,
            estimated_seconds_left: pace.seconds_left,
        }
    }
}

/// The pairs of a source.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ConnectorIndexingStatusLiteResponse)]
pub(crate) struct SourceStatusReply {
    /// The source.
    #[schema(value_type = SourceValue)]
    source: &'static str,
    /// What all of them come to, after filtering.
    summary: SummaryReply,
    /// The page that was asked for, from 1.
    current_page: i64,
    /// How many pages there are.
    total_pages: u64,
    /// The pairs of the page.
    indexing_statuses: Vec<PairStatusReply>,
}

impl From<SourceStatusView> for SourceStatusReply {
    fn from(view: SourceStatusView) -> Self {
        Self {
            source: view.source.as_str(),
            summary: SummaryReply {
                total_connectors: view.connectors,
                active_connectors: view.active,
                public_connectors: view.public,
                total_docs_indexed: view.documents,
            },
            current_page: view.page,
            total_pages: view.pages,
            indexing_statuses: view.items.into_iter().map(PairStatusReply::from).collect(),
        }
    }
}

/// How the pairs are that the caller may see: by source, what the caller may change first, ten on a
/// page. A source whose page is beyond the last one is left out.
#[utoipa::path(
    post, path = "/manage/admin/connector/indexing-status", tag = "connectors",
    operation_id = "list_indexing_statuses", request_body = StatusesBody,
    responses((status = 200, description = "The sources, by name.",
        body = Vec<SourceStatusReply>))
)]
pub(crate) async fn list_indexing_statuses(
    caller: Caller,
    engine: Data<Engine>,
    ValidJson(Statuses(filter)): ValidJson<Statuses>,
) -> Result<HttpResponse, ApiError> {
    let sources = engine.pair_statuses(&caller.0, &filter).await?;
    let sources: Vec<SourceStatusReply> =
        sources.into_iter().map(SourceStatusReply::from).collect();
    Ok(HttpResponse::Ok().json(sources))
}
