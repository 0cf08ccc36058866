//! `GET /manage/admin/cc-pair/{cc_pair_id}/index-attempts`, `GET …/errors`

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::Serialize;
use trove_domain::id::CcPairId;
use trove_domain::indexing::AttemptError;
use trove_domain::port::FailedPart;
use trove_engine::Engine;
use trove_engine::administration::RunView;
use utoipa::ToSchema;

use crate::error::ApiError;
use crate::extract::{Caller, Input, Parts, Valid};
use crate::routes::schema::zulu;
use crate::validation::{Fields, Read, boolean, integer_between, integer_id};

/// Most runs of a page.
const RUNS_MAX: i64 = 1000;
/// Most errors of a page.
const ERRORS_MAX: i64 = 100;

/// A page of something of a pair.
struct PageOfPair {
    pair: CcPairId,
    page_num: u64,
    page_size: u32,
}

impl PageOfPair {
    fn offset(&self) -> u64 {
        self.page_num.saturating_mul(u64::from(self.page_size))
    }
}

fn pair_id(parts: &Parts<'_>) -> Read<CcPairId> {
    parts.path(|path| path.required("cc_pair_id", integer_id)).map(CcPairId)
}

fn page(fields: &mut Fields<'_>, size_max: i64) -> Read<(u64, u32)> {
    let number = fields.or("page_num", 0, integer_between(0, i64::MAX));
    let size = fields.or("page_size", 10, integer_between(1, size_max));
    // Cannot fail after the bounds; saturate rather than panic.
    Ok((u64::try_from(number?).unwrap_or(0), u32::try_from(size?).unwrap_or(u32::MAX)))
}

/// Which runs to list.
pub(crate) struct ListRuns(PageOfPair);

impl Input for ListRuns {
    const BODY: bool = false;

    fn read(parts: Parts<'_>) -> Read<Self> {
        let pair = pair_id(&parts);
        let page = parts.query(|fields| page(fields, RUNS_MAX));
        let (pair, (page_num, page_size)) = (pair?, page?);
        Ok(Self(PageOfPair { pair, page_num, page_size }))
    }
}

/// Which errors to list.
pub(crate) struct ListErrors {
    page: PageOfPair,
    with_resolved: bool,
}

impl Input for ListErrors {
    const BODY: bool = false;

    fn read(parts: Parts<'_>) -> Read<Self> {
        let pair = pair_id(&parts);
        let query = parts.query(|fields| {
            let page = page(fields, ERRORS_MAX);
            let with_resolved = fields.or("include_resolved", false, boolean);
            Ok((page?, with_resolved?))
        });
        let (pair, ((page_num, page_size), with_resolved)) = (pair?, query?);
        Ok(Self { page: PageOfPair { pair, page_num, page_size }, with_resolved })
    }
}

/// A run of indexing.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = IndexAttemptSnapshot)]
pub(crate) struct RunReply {
    /// Its key.
    id: i32,
    /// `not_started`, `in_progress`, `success`, `canceled`, `failed` or `completed_with_errors`.
    #[schema(value_type = Option<String>)]
    status: &'static str,
    /// Whether everything was asked for.
    from_beginning: bool,
    /// Documents that the index did not know.
    new_docs_indexed: u64,
    /// Documents that were read and are in the index: new, updated and unchanged ones.
    total_docs_indexed: u64,
    /// Always 0: what is gone is looked for by pruning.
    docs_removed_from_index: u64,
    /// What the source named: `total_docs_indexed`, `docs_skipped` and `error_count` together.
    docs_enumerated: u64,
    /// Documents that the index knew as they are.
    docs_unchanged: u64,
    /// What is no document by the rules of the source, or has nothing to find.
    docs_skipped: u64,
    /// Why it did not succeed, or what its last step was put back for.
    error_msg: Option<String>,
    /// What was not read or not indexed.
    error_count: u64,
    /// Always null.
    full_exception_trace: Option<String>,
    /// When a worker first took it.
    time_started: Option<String>,
    /// When anything of it last changed.
    time_updated: String,
    /// The earliest change that it is about.
    poll_range_start: Option<String>,
    /// The latest.
    poll_range_end: Option<String>,
    /// What was enumerated, in documents per minute.
    docs_per_minute: Option<f64>,
    /// Seconds until it has enumerated as much as the last run that succeeded.
    estimated_seconds_left: Option<f64>,
}

impl From<RunView> for RunReply {
    fn from(RunView { attempt, pace }: RunView) -> Self {
        let progress = attempt.progress;
        Self {
            id: attempt.id.0,
            status: attempt.status.as_str(),
            from_beginning: attempt.from_beginning,
            new_docs_indexed: progress.new,
            total_docs_indexed: progress.indexed(),
            docs_removed_from_index: 0,
            docs_enumerated: progress.enumerated,
            docs_unchanged: progress.unchanged,
            docs_skipped: progress.skipped,
            error_msg: attempt.error,
            error_count: progress.failed,
            full_exception_trace: None,
            time_started: attempt.started_at.map(zulu),
            time_updated: zulu(attempt.updated_at),
            poll_range_start: Some(zulu(attempt.window.start)),
            poll_range_end: Some(zulu(attempt.window.end)),
            docs_per_minute: pace.documents_per_minute,
            estimated_seconds_left: pace.seconds_left,
        }
    }
}

/// A page of runs.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PaginatedReturn_IndexAttemptSnapshot)]
pub(crate) struct RunsReply {
    /// The runs of the page, newest first.
    items: Vec<RunReply>,
    /// How many runs all pages have.
    total_items: u64,
}

/// A page of the runs of a pair that the caller may see, newest first.
#[utoipa::path(
    get, path = "/manage/admin/cc-pair/{cc_pair_id}/index-attempts", tag = "connectors",
    operation_id = "list_index_attempts",
    params(
        ("cc_pair_id" = i32, Path, description = "The pair.", example = 3),
        ("page_num" = Option<u64>, Query, description = "Which page, from 0."),
        ("page_size" = Option<u32>, Query, description = "Runs on a page, 1 to 1000; 10."),
    ),
    responses(
        (status = 200, description = "The page.", body = RunsReply),
        (status = 404, description = "There is no pair that the caller may see.",
            body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn list_index_attempts(
    caller: Caller,
    engine: Data<Engine>,
    Valid(ListRuns(page)): Valid<ListRuns>,
) -> Result<HttpResponse, ApiError> {
    let runs = engine.list_runs(&caller.0, page.pair, page.offset(), page.page_size).await?;
    let items = runs.items.into_iter().map(RunReply::from).collect();
    Ok(HttpResponse::Ok().json(RunsReply { items, total_items: runs.total }))
}

/// What a run could not read or index.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = IndexAttemptError)]
pub(crate) struct RunErrorReply {
    /// Its key.
    id: i32,
    /// The pair.
    connector_credential_pair_id: i32,
    /// The document, or null where it is something that holds documents.
    document_id: Option<String>,
    /// Where the document is found.
    document_link: Option<String>,
    /// What holds documents, as the source calls it.
    entity_id: Option<String>,
    /// The earliest change that is missing because of it.
    failed_time_range_start: Option<String>,
    /// The latest.
    failed_time_range_end: Option<String>,
    /// Why, and what to do about it.
    failure_message: String,
    /// Whether it was read and indexed since.
    is_resolved: bool,
    /// When it happened.
    time_created: String,
    /// The run.
    index_attempt_id: i32,
    /// Always null.
    error_type: Option<String>,
}

impl From<AttemptError> for RunErrorReply {
    fn from(error: AttemptError) -> Self {
        let (document, link, entity, window) = match error.failure.part {
            FailedPart::Document { id, link } => (Some(id.into_string()), link, None, None),
            FailedPart::Entity { id, window } => (None, None, Some(id), window),
        };
        Self {
            id: error.id,
            connector_credential_pair_id: error.pair.0,
            document_id: document,
            document_link: link,
            entity_id: entity,
            failed_time_range_start: window.map(|window| zulu(window.start)),
            failed_time_range_end: window.map(|window| zulu(window.end)),
            failure_message: error.failure.message,
            is_resolved: error.resolved,
            time_created: zulu(error.created_at),
            index_attempt_id: error.attempt.0,
            error_type: None,
        }
    }
}

/// A page of errors.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PaginatedReturn_IndexAttemptError)]
pub(crate) struct RunErrorsReply {
    /// The errors of the page, newest first.
    items: Vec<RunErrorReply>,
    /// How many errors all pages have.
    total_items: u64,
}

/// A page of what runs of a pair could not read or index, newest first.
#[utoipa::path(
    get, path = "/manage/admin/cc-pair/{cc_pair_id}/errors", tag = "connectors",
    operation_id = "list_index_attempt_errors",
    params(
        ("cc_pair_id" = i32, Path, description = "The pair.", example = 3),
        ("include_resolved" = Option<bool>, Query,
            description = "Also what was read and indexed since."),
        ("page_num" = Option<u64>, Query, description = "Which page, from 0."),
        ("page_size" = Option<u32>, Query, description = "Errors on a page, 1 to 100; 10."),
    ),
    responses(
        (status = 200, description = "The page.", body = RunErrorsReply),
        (status = 404, description = "There is no pair that the caller may see.",
            body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn list_index_attempt_errors(
    caller: Caller,
    engine: Data<Engine>,
    Valid(ListErrors { page, with_resolved }): Valid<ListErrors>,
) -> Result<HttpResponse, ApiError> {
    let errors = engine
        .list_run_errors(&caller.0, page.pair, with_resolved, page.offset(), page.page_size)
        .await?;
    let items = errors.items.into_iter().map(RunErrorReply::from).collect();
    Ok(HttpResponse::Ok().json(RunErrorsReply { items, total_items: errors.total }))
}
