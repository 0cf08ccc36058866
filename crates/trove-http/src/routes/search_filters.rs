//! The filters that searches and chats share.

use chrono::{DateTime, Utc};
use trove_domain::document::Tag;
use trove_domain::query::TimeRange;
use trove_domain::source::DocumentSource;
use trove_engine::retrieval::FilterRequest;
use utoipa::ToSchema;

use super::schema::{FILTER_ITEMS_MAX, SourceValue, TagBody, source};
use crate::validation::{Fields, Read, Record, list_of_at_most, record, text, timestamp};

/// What to search in. Everything that is given narrows the search (AND).
#[derive(Debug, Default, ToSchema)]
#[schema(as = SearchFilters)]
pub(crate) struct FiltersBody {
    /// Any of these sources; none or an empty list for all.
    #[schema(value_type = Option<Vec<SourceValue>>, max_items = 1000)]
    source_type: Option<Vec<DocumentSource>>,
    /// In any of the document sets with these names; none or an empty list for all.
    #[schema(max_items = 1000)]
    document_set: Option<Vec<String>>,
    /// Created in this span, or at an unknown time.
    created_at_range: Option<TimeRangeBody>,
    /// Updated in this span. Undated documents are found only when it is open at the end and begins
    /// more than 90 days ago.
    updated_at_range: Option<TimeRangeBody>,
    /// Carrying all of these tags.
    #[schema(max_items = 1000)]
    tags: Option<Vec<TagBody>>,
    /// The start of `updated_at_range`, when that is absent.
    #[schema(deprecated)]
    time_cutoff: Option<DateTime<Utc>>,
}

/// A span of time, both ends included; an open end is null.
#[derive(Debug, Default, ToSchema)]
#[schema(as = TimeRange)]
pub(crate) struct TimeRangeBody {
    /// Earliest instant; without a zone it is UTC.
    start: Option<DateTime<Utc>>,
    /// Latest instant; without a zone it is UTC.
    end: Option<DateTime<Utc>>,
}

impl Record for FiltersBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let source_type = fields.nullable("source_type", list_of_at_most(FILTER_ITEMS_MAX, source));
        let document_set = fields.nullable("document_set", list_of_at_most(FILTER_ITEMS_MAX, text));
        let created_at_range = fields.nullable("created_at_range", record::<TimeRangeBody>);
        let updated_at_range = fields.nullable("updated_at_range", record::<TimeRangeBody>);
        let tags = fields.nullable("tags", list_of_at_most(FILTER_ITEMS_MAX, record::<TagBody>));
        let time_cutoff = fields.nullable("time_cutoff", timestamp);
        Ok(Self {
            source_type: source_type?,
            document_set: document_set?,
            created_at_range: created_at_range?,
            updated_at_range: updated_at_range?,
            tags: tags?,
            time_cutoff: time_cutoff?,
        })
    }
}

impl Record for TimeRangeBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let start = fields.nullable("start", timestamp);
        let end = fields.nullable("end", timestamp);
        Ok(Self { start: start?, end: end? })
    }
}

impl From<TimeRangeBody> for TimeRange {
    fn from(TimeRangeBody { start, end }: TimeRangeBody) -> Self {
        Self { start, end }
    }
}

impl From<FiltersBody> for FilterRequest {
    fn from(body: FiltersBody) -> Self {
        let tags = body.tags.unwrap_or_default().into_iter();
        let cutoff = TimeRange { start: body.time_cutoff, end: None };
        Self {
            sources: body.source_type.unwrap_or_default(),
            document_sets: body.document_set.unwrap_or_default(),
            tags: tags.map(|tag| Tag { key: tag.tag_key, value: tag.tag_value }).collect(),
            updated_at: body.updated_at_range.map_or(cutoff, Into::into),
            created_at: body.created_at_range.map(Into::into).unwrap_or_default(),
        }
    }
}
