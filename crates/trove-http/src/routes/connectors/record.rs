//! A connector as clients send and see it.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Map, Value};
use trove_domain::cc_pair::AccessType;
use trove_domain::connector::{Connector, ConnectorDetails, InputType};
use trove_domain::id::GroupId;
use trove_domain::source::DocumentSource;
use trove_engine::administration::ConnectorRequest;
use utoipa::ToSchema;

use crate::routes::schema::{
    IDS_MAX, SourceValue, naive_text, name_of_at_most, source as source_value, zulu,
};
use crate::validation::{
    Field, Fields, Json, Read, Record, integer_between, integer_id, list_of_at_most, one_of,
    timestamp,
};

/// Most characters of a name.
pub(crate) const NAME_CHARS_MAX: usize = 200;

/// What a connector shall be.
#[derive(Debug, ToSchema)]
#[schema(as = ConnectorUpdateRequest, example = json!({"name": "Handbook", "source": "web",
    "input_type": "load_state", "connector_specific_config": {"base_url": "https://example.com"},
    "refresh_freq": 86400, "prune_freq": null, "indexing_start": null, "access_type": "public",
    "groups": []}))]
pub(crate) struct ConnectorBody {
    /// Its name, unique among the connectors of its source.
    #[schema(min_length = 1, max_length = 200)]
    name: String,
    /// The system it reads.
    #[schema(value_type = SourceValue)]
    source: DocumentSource,
    /// `load_state`, `poll`, `event` or `slim_retrieval`; the source decides how it is read.
    #[schema(value_type = String)]
    input_type: InputType,
    /// What the source is opened with. No secret belongs here.
    #[schema(value_type = Object)]
    connector_specific_config: Map<String, Value>,
    /// Seconds from one run to the next; one run only without.
    #[schema(minimum = 0)]
    refresh_freq: Option<i32>,
    /// Seconds from one look for what is gone to the next; never without.
    #[schema(minimum = 0)]
    prune_freq: Option<i32>,
    /// The earliest change that the first run is about. Counts when the connector is made.
    #[schema(value_type = Option<String>, format = DateTime)]
    indexing_start: Option<chrono::DateTime<chrono::Utc>>,
    /// Who is to read what it brings: decides whether a curator may make it, and is not stored.
    #[schema(value_type = String)]
    access_type: AccessType,
    /// Groups that it is to be shared with: as `access_type`.
    #[schema(value_type = Option<Vec<i32>>, max_items = 1000)]
    groups: BTreeSet<GroupId>,
}

/// A JSON object as it is.
pub(crate) fn object(field: Field<'_>) -> Read<Map<String, Value>> {
    let (json, place) = field.split();
    if !matches!(json, Json::Object(_)) {
        return Err(place.reject("dict_type", "Input should be a valid dictionary"));
    }
    // Serializing a tree of plain values into memory has no way to fail; reading it has a depth.
    let text = serde_json::to_string(&json).unwrap_or_default();
    serde_json::from_str(&text)
        .map_err(|_| place.reject("value_error", "Value error, it is nested too deeply"))
}

/// Reads an access type.
pub(crate) fn access_type(field: Field<'_>) -> Read<AccessType> {
    one_of(|| vec!["public", "private", "sync"])(field)
}

/// Reads ids of groups.
pub(crate) fn group_ids(field: Field<'_>) -> Read<BTreeSet<GroupId>> {
    let ids = list_of_at_most(IDS_MAX, integer_id)(field)?;
    Ok(ids.into_iter().map(GroupId).collect())
}

fn input_type(field: Field<'_>) -> Read<InputType> {
    one_of(|| vec!["load_state", "poll", "event", "slim_retrieval"])(field)
}

fn seconds(field: Field<'_>) -> Read<i32> {
    let value = integer_between(0, i64::from(i32::MAX))(field)?;
    // Cannot fail after the bounds; saturate rather than panic.
    Ok(i32::try_from(value).unwrap_or(i32::MAX))
}

impl Record for ConnectorBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let name = fields.required("name", name_of_at_most(NAME_CHARS_MAX));
        let source = fields.required("source", source_value);
        let input_type = fields.required("input_type", input_type);
        let config = fields.required("connector_specific_config", object);
        let refresh_freq = fields.nullable("refresh_freq", seconds);
        let prune_freq = fields.nullable("prune_freq", seconds);
        let indexing_start = fields.nullable("indexing_start", timestamp);
        let access_type = fields.required("access_type", access_type);
        let groups = fields.or("groups", BTreeSet::new(), group_ids);
        Ok(Self {
            name: name?,
            source: source?,
            input_type: input_type?,
            connector_specific_config: config?,
            refresh_freq: refresh_freq?,
            prune_freq: prune_freq?,
            indexing_start: indexing_start?,
            access_type: access_type?,
            groups: groups?,
        })
    }
}

impl From<ConnectorBody> for ConnectorRequest {
    fn from(body: ConnectorBody) -> Self {
        Self {
            details: ConnectorDetails {
                name: body.name,
                source: body.source,
                input_type: body.input_type,
                config: body.connector_specific_config,
                refresh_freq_s: body.refresh_freq,
                prune_freq_s: body.prune_freq,
            },
            indexing_start: body.indexing_start,
            access_type: body.access_type,
            groups: body.groups,
        }
    }
}

/// A connector.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ConnectorSnapshot)]
pub(crate) struct ConnectorReply {
    /// Its key.
    id: i32,
    /// Its name.
    name: String,
    /// The system it reads.
    #[schema(value_type = SourceValue)]
    source: &'static str,
    /// How clients say it is read.
    #[schema(value_type = String)]
    input_type: &'static str,
    /// What the source is opened with.
    #[schema(value_type = Object)]
    connector_specific_config: Map<String, Value>,
    /// Seconds from one run to the next.
    refresh_freq: Option<i32>,
    /// Seconds from one look for what is gone to the next.
    prune_freq: Option<i32>,
    /// The earliest change that the first run is about, in UTC, without a zone.
    indexing_start: Option<String>,
    /// The credentials that it is read with.
    credential_ids: Vec<i32>,
    /// When it was made.
    time_created: String,
    /// When it was changed.
    time_updated: String,
}

impl From<Connector> for ConnectorReply {
    fn from(connector: Connector) -> Self {
        let ConnectorDetails { name, source, input_type, config, refresh_freq_s, prune_freq_s } =
            connector.details;
        Self {
            id: connector.id.0,
            name,
            source: source.as_str(),
            input_type: input_type.as_str(),
            connector_specific_config: config,
            refresh_freq: refresh_freq_s,
            prune_freq: prune_freq_s,
            indexing_start: connector.indexing_start.map(naive_text),
            credential_ids: connector.credentials.iter().map(|id| id.0).collect(),
            time_created: zulu(connector.created_at),
            time_updated: zulu(connector.updated_at),
        }
    }
}
