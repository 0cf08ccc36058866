//! What administrators send.

use trove_domain::workspace::{
    COMPANY_DESCRIPTION_CHARS_MAX, COMPANY_NAME_CHARS_MAX, IMAGE_MEGABYTES_MAX, QueryHistory,
    SettingsChange,
};
use utoipa::ToSchema;

use super::APPLICATION_STATUS;
use crate::error::{ApiError, Refusal};
use crate::routes::schema::{printable_between, stored_text};
use crate::validation::{
    Field, Fields, Json, Read, Record, boolean, float_between, integer_between, one_of,
};

/// States that clients know. There is one here.
const APPLICATION_STATES: [&str; 4] =
    [APPLICATION_STATUS, "payment_reminder", "grace_period", "gated_access"];

/// What may be null. Left out is something else.
type Nullable<T> = Option<T>;

/// A hundred years.
const RETENTION_DAYS_MAX: f64 = 36_525.0;

/// What administrators decide. What `GET /settings` answers beside is ignored, so that a client can
/// send back what it read.
#[derive(Debug, ToSchema)]
#[schema(as = Settings,
    example = json!({"company_name": "Example", "anonymous_user_enabled": false}))]
pub(crate) struct SettingsBody {
    /// What the company is called.
    #[schema(value_type = Option<String>, max_length = 200)]
    company_name: Option<Nullable<String>>,
    /// What the company is.
    #[schema(value_type = Option<String>, max_length = 10_000)]
    company_description: Option<Nullable<String>>,
    /// Whether whoever is not signed in is served as the anonymous user; null is false.
    anonymous_user_enabled: Option<bool>,
    /// Whether only who is invited may register.
    #[schema(nullable = false)]
    invite_only_enabled: Option<bool>,
    /// Whether users may set the temperature.
    #[schema(value_type = Option<bool>)]
    temperature_override_enabled: Option<Nullable<bool>>,
    /// Whether answers scroll as they grow.
    #[schema(value_type = Option<bool>)]
    auto_scroll: Option<Nullable<bool>>,
    /// What administrators may see of the chats of others: `disabled`, `anonymized` or `normal`.
    #[schema(value_type = Option<String>)]
    query_history_type: Option<Nullable<QueryHistory>>,
    /// Larger images are not looked at, in MB.
    #[schema(value_type = Option<u32>, minimum = 1, maximum = 10_000, default = 20)]
    image_analysis_max_size_mb: Option<Nullable<u32>>,
    /// Whether user interfaces show further connectors.
    #[schema(value_type = Option<bool>, default = true)]
    show_extra_connectors: Option<Nullable<bool>>,
    /// Whether user interfaces leave the built-in agent out.
    #[schema(value_type = Option<bool>, default = false)]
    disable_default_assistant: Option<Nullable<bool>>,
    /// Nothing is deleted for its age: only null is accepted.
    #[schema(value_type = Option<f64>)]
    maximum_chat_retention_days: Kept,
    /// Nothing runs on a graphics processor: true is not accepted.
    #[schema(value_type = Option<bool>)]
    gpu_enabled: Kept,
    /// Nobody pays here: only `active` is accepted.
    #[schema(value_type = String, nullable = false, required = false)]
    application_status: Kept,
    /// There is no deep research: true is not accepted.
    #[schema(value_type = Option<bool>)]
    deep_research_enabled: Kept,
    /// Groups and permissions always work: false is not accepted.
    #[schema(value_type = bool, nullable = false, required = false)]
    ee_features_enabled: Kept,
    /// Images are not looked at: true is not accepted.
    #[schema(value_type = Option<bool>)]
    image_extraction_and_analysis_enabled: Kept,
    /// Images are not looked at: true is not accepted.
    #[schema(value_type = Option<bool>)]
    search_time_image_analysis_enabled: Kept,
    /// Users have no files of their own: true is not accepted.
    #[schema(value_type = Option<bool>)]
    user_knowledge_enabled: Kept,
    /// There is one kind of index: true is not accepted.
    #[schema(value_type = bool, nullable = false, required = false)]
    opensearch_indexing_enabled: Kept,
}

/// Whether something that cannot be set is asked to stay as it is.
#[derive(Debug)]
struct Kept(bool);

/// A field that is left out, is null or has a value: three different things.
fn sent<T>(
    fields: &mut Fields<'_>,
    name: &'static str,
    read: impl FnOnce(Field<'_>) -> Read<T>,
) -> Read<Option<Nullable<T>>> {
    fields.or(name, None, |field| or_null(field, read).map(Some))
}

fn or_null<T>(field: Field<'_>, read: impl FnOnce(Field<'_>) -> Read<T>) -> Read<Nullable<T>> {
    let (json, place) = field.split();
    match json {
        Json::Null => Ok(None),
        json => read(place.same(json)).map(Some),
    }
}

/// A switch that stays where it is, and may be null.
fn fixed(fields: &mut Fields<'_>, name: &'static str, value: bool) -> Read<Kept> {
    let wanted = fields.nullable(name, boolean)?;
    Ok(Kept(wanted.is_none_or(|wanted| wanted == value)))
}

fn query_history(field: Field<'_>) -> Read<QueryHistory> {
    one_of(|| QueryHistory::ALL.map(QueryHistory::as_str).to_vec())(field)
}

fn megabytes(field: Field<'_>) -> Read<u32> {
    let megabytes = integer_between(1, i64::from(IMAGE_MEGABYTES_MAX))(field)?;
    Ok(u32::try_from(megabytes).unwrap_or(IMAGE_MEGABYTES_MAX))
}

/// A state that clients know: whether it is the one that there is.
struct State(bool);

impl std::str::FromStr for State {
    type Err = ();

    fn from_str(value: &str) -> Result<Self, ()> {
        if APPLICATION_STATES.contains(&value) {
            Ok(Self(value == APPLICATION_STATUS))
        } else {
            Err(())
        }
    }
}

impl Record for SettingsBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let name = sent(fields, "company_name", printable_between(0, COMPANY_NAME_CHARS_MAX));
        let description =
            sent(fields, "company_description", stored_text(0, COMPANY_DESCRIPTION_CHARS_MAX));
        let anonymous = sent(fields, "anonymous_user_enabled", boolean);
        let invited = fields.or("invite_only_enabled", None, |field| boolean(field).map(Some));
        let temperature = sent(fields, "temperature_override_enabled", boolean);
        let scroll = sent(fields, "auto_scroll", boolean);
        let history = sent(fields, "query_history_type", query_history);
        let images = sent(fields, "image_analysis_max_size_mb", megabytes);
        let connectors = sent(fields, "show_extra_connectors", boolean);
        let builtin = sent(fields, "disable_default_assistant", boolean);
        let days = float_between(0.0, RETENTION_DAYS_MAX);
        let retention = fields.nullable("maximum_chat_retention_days", days);
        let gpu = fixed(fields, "gpu_enabled", false);
        let state =
            fields.or("application_status", State(true), one_of(|| APPLICATION_STATES.to_vec()));
        let research = fixed(fields, "deep_research_enabled", false);
        let permissions = fields.or("ee_features_enabled", true, boolean);
        let images_found = fixed(fields, "image_extraction_and_analysis_enabled", false);
        let images_searched = fixed(fields, "search_time_image_analysis_enabled", false);
        let knowledge = fixed(fields, "user_knowledge_enabled", false);
        let opensearch = fields.or("opensearch_indexing_enabled", false, boolean);
        Ok(Self {
            company_name: name?,
            company_description: description?,
            anonymous_user_enabled: anonymous?.map(Option::unwrap_or_default),
            invite_only_enabled: invited?,
            temperature_override_enabled: temperature?,
            auto_scroll: scroll?,
            query_history_type: history?,
            image_analysis_max_size_mb: images?,
            show_extra_connectors: connectors?,
            disable_default_assistant: builtin?,
            maximum_chat_retention_days: Kept(retention?.is_none()),
            gpu_enabled: gpu?,
            application_status: Kept(state?.0),
            deep_research_enabled: research?,
            ee_features_enabled: Kept(permissions?),
            image_extraction_and_analysis_enabled: images_found?,
            search_time_image_analysis_enabled: images_searched?,
            user_knowledge_enabled: knowledge?,
            opensearch_indexing_enabled: Kept(!opensearch?),
        })
    }
}

impl SettingsBody {
    /// What changes. A setting that would promise what does not happen is refused.
    pub(super) fn change(self) -> Result<SettingsChange, ApiError> {
        let kept = [
            (
                self.maximum_chat_retention_days,
                "maximum_chat_retention_days: nothing is deleted for its age here; leave it null",
            ),
            (self.gpu_enabled, "gpu_enabled: nothing runs on a graphics processor here"),
            (self.application_status, "application_status: it is always active here"),
            (self.deep_research_enabled, "deep_research_enabled: there is no deep research here"),
            (self.ee_features_enabled, "ee_features_enabled: permissions cannot be turned off"),
            (
                self.image_extraction_and_analysis_enabled,
                "image_extraction_and_analysis_enabled: images are not looked at here",
            ),
            (
                self.search_time_image_analysis_enabled,
                "search_time_image_analysis_enabled: images are not looked at here",
            ),
            (self.user_knowledge_enabled, "user_knowledge_enabled: users have no files here"),
            (self.opensearch_indexing_enabled, "opensearch_indexing_enabled: there is none here"),
        ];
        if let Some((_, detail)) = kept.into_iter().find(|(kept, _)| !kept.0) {
            return Err(Refusal::NotImplemented { detail }.into());
        }
        Ok(SettingsChange {
            anonymous_access: self.anonymous_user_enabled,
            invited_only: self.invite_only_enabled,
            company_name: self.company_name,
            company_description: self.company_description,
            temperature_override: self.temperature_override_enabled,
            auto_scroll: self.auto_scroll,
            query_history: self.query_history_type,
            image_megabytes_max: self.image_analysis_max_size_mb,
            extra_connectors: self.show_extra_connectors,
            hide_builtin_agent: self.disable_default_assistant,
        })
    }
}
