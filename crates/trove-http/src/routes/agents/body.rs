//! An agent as an editor sends it.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use trove_domain::agent::{Agent, AgentDefinition, ModelOverride, RetrievalScope, StarterMessage};
use trove_domain::id::{DocumentId, DocumentSetId, GroupId, LabelId, ToolId, UserId};
use trove_domain::port::{AgentSharing, AgentWrite};
use trove_engine::administration::AgentRequest;
use utoipa::ToSchema;

use crate::routes::schema::{IDS_MAX, name_of_at_most, stored_text};
use crate::validation::{
    Field, Fields, Read, Record, boolean, integer_id, list_of_at_most, record, text, timestamp,
    uuid,
};

/// Most characters of a description, a starter message.
const TEXT_CHARS_MAX: usize = 10_000;

/// Most characters of a prompt.
const PROMPT_CHARS_MAX: usize = 100_000;

/// Most characters of a name of something.
const WORD_CHARS_MAX: usize = 200;

/// Most documents that are attached one by one; document sets have no such bound.
const DOCUMENTS_MAX: usize = 100;

/// Most starter messages.
const STARTERS_MAX: usize = 50;

/// What an agent is made of. Every other field is ignored, `num_chunks`, `recency_bias`,
/// `llm_filter_extraction` and `llm_relevance_filter` among them.
#[derive(Debug, ToSchema)]
#[schema(as = PersonaUpsertRequest, example = json!({"name": "Handbook", "description": "Answers \
    from the handbook", "system_prompt": "You know the handbook.", "task_prompt": "",
    "datetime_aware": true, "document_set_ids": [3], "tool_ids": [1], "is_public": false}))]
pub(crate) struct PersonaBody {
    /// Its name, unique among the agents that the caller sees.
    #[schema(min_length = 1, max_length = 200)]
    name: String,
    /// What it is for.
    #[schema(max_length = 10000)]
    description: String,
    /// What a language model is told before everything else.
    #[schema(max_length = 100_000)]
    system_prompt: String,
    /// What a language model is told beside each question.
    #[schema(max_length = 100_000)]
    task_prompt: String,
    /// Document sets to search in; with `document_ids`, in any of both. None for everything.
    #[schema(value_type = Vec<i32>, max_items = 1000)]
    document_set_ids: BTreeSet<DocumentSetId>,
    /// Tools it can use.
    #[schema(value_type = Vec<i32>, max_items = 1000)]
    tool_ids: BTreeSet<ToolId>,
    /// Whether a language model is told the date.
    datetime_aware: bool,
    /// Whether everybody sees it. Null or absent keeps it; a new agent is private then.
    is_public: Option<bool>,
    /// Name of the provider of its model, one that the caller may use with the agent.
    llm_model_provider_override: Option<String>,
    /// Name of its model, one of the provider's; of the default provider's when none is named.
    llm_model_version_override: Option<String>,
    /// Configuration of its model. There are none with ids: models are known by their names.
    default_model_configuration_id: Option<i32>,
    /// What a conversation can begin with.
    #[schema(value_type = Option<Vec<StarterBody>>, max_items = 50)]
    starter_messages: Option<Vec<StarterBody>>,
    /// Users it is shared with; null or absent keeps them.
    #[schema(value_type = Option<Vec<String>>, max_items = 1000)]
    users: Option<BTreeSet<UserId>>,
    /// Groups it is shared with; null or absent keeps them.
    #[schema(value_type = Option<Vec<i32>>, max_items = 1000)]
    groups: Option<BTreeSet<GroupId>>,
    /// Whether the system prompt takes the place of the deployment's.
    #[schema(value_type = Option<bool>)]
    replace_base_system_prompt: bool,
    /// Only documents updated at or after this instant; without a zone it is UTC.
    search_start_date: Option<DateTime<Utc>>,
    /// Labels; null or absent keeps them.
    #[schema(value_type = Option<Vec<i32>>, max_items = 1000)]
    label_ids: Option<BTreeSet<LabelId>>,
    /// Whether user interfaces show it first, for administrators and public agents only. Null or
    /// absent keeps it. `is_default_persona` is another name of it, which counts less.
    is_featured: Option<bool>,
    /// Place in lists, lowest first; null or absent keeps it.
    display_priority: Option<i32>,
    /// Files of users. There are none so far, so that only an empty list is accepted.
    user_file_ids: Option<Vec<String>>,
    /// Folders of sources. There are none so far, so that only an empty list is accepted.
    #[schema(value_type = Option<Vec<i32>>)]
    hierarchy_node_ids: Vec<i32>,
    /// Documents to search in, beside those of the sets.
    #[schema(value_type = Option<Vec<String>>, max_items = 100)]
    document_ids: BTreeSet<DocumentId>,
    /// Not used: there are no pictures so far.
    #[expect(dead_code, reason = "there is nothing to remove")]
    remove_image: Option<bool>,
    /// An uploaded picture. There are none so far, so that only null is accepted.
    uploaded_image_id: Option<String>,
    /// Name of a picture that user interfaces have.
    icon_name: Option<String>,
}

/// What a conversation can begin with.
#[derive(Debug, ToSchema)]
#[schema(as = StarterMessage)]
pub(crate) struct StarterBody {
    /// What the button says.
    name: String,
    /// What is sent.
    message: String,
}

impl Record for StarterBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let name = fields.required("name", stored_text(0, TEXT_CHARS_MAX));
        let message = fields.required("message", stored_text(0, TEXT_CHARS_MAX));
        Ok(Self { name: name?, message: message? })
    }
}

fn ids<T: Ord>(wrap: fn(i32) -> T) -> impl Fn(Field<'_>) -> Read<BTreeSet<T>> {
    move |field| Ok(list_of_at_most(IDS_MAX, integer_id)(field)?.into_iter().map(wrap).collect())
}

/// Users of a request.
pub(super) fn user_ids(field: Field<'_>) -> Read<BTreeSet<UserId>> {
    Ok(list_of_at_most(IDS_MAX, uuid)(field)?.into_iter().map(UserId).collect())
}

/// Groups of a request.
pub(super) fn group_ids(field: Field<'_>) -> Read<BTreeSet<GroupId>> {
    ids(GroupId)(field)
}

fn document_id(field: Field<'_>) -> Read<DocumentId> {
    let (json, place) = field.split();
    let id = text(place.same(json))?;
    DocumentId::new(id).map_err(|why| place.reject("value_error", format!("Value error, {why}")))
}

impl Record for PersonaBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let word = stored_text(0, WORD_CHARS_MAX);
        let prompt = stored_text(0, PROMPT_CHARS_MAX);
        let documents = list_of_at_most(DOCUMENTS_MAX, document_id);
        let name = fields.required("name", name_of_at_most(Agent::NAME_CHARS_MAX));
        let description = fields.required("description", stored_text(0, TEXT_CHARS_MAX));
        let system_prompt = fields.required("system_prompt", &prompt);
        let task_prompt = fields.required("task_prompt", &prompt);
        let document_set_ids = fields.required("document_set_ids", ids(DocumentSetId));
        let tool_ids = fields.required("tool_ids", ids(ToolId));
        let datetime_aware = fields.required("datetime_aware", boolean);
        let is_public = fields.nullable("is_public", boolean);
        let provider = fields.nullable("llm_model_provider_override", &word);
        let version = fields.nullable("llm_model_version_override", &word);
        let configuration = fields.nullable("default_model_configuration_id", integer_id);
        let starters = list_of_at_most(STARTERS_MAX, record::<StarterBody>);
        let starter_messages = fields.nullable("starter_messages", starters);
        let users = fields.nullable("users", user_ids);
        let groups = fields.nullable("groups", group_ids);
        let replace = fields.or("replace_base_system_prompt", false, boolean);
        let search_start_date = fields.nullable("search_start_date", timestamp);
        let label_ids = fields.nullable("label_ids", ids(LabelId));
        let is_featured = fields.nullable("is_featured", boolean);
        let is_default = fields.nullable("is_default_persona", boolean);
        let display_priority = fields.nullable("display_priority", integer_id);
        let user_file_ids = fields.nullable("user_file_ids", list_of_at_most(IDS_MAX, text));
        let nodes = list_of_at_most(IDS_MAX, integer_id);
        let hierarchy_node_ids = fields.or("hierarchy_node_ids", Vec::new(), nodes);
        let document_ids = fields.or("document_ids", Vec::new(), documents);
        let remove_image = fields.nullable("remove_image", boolean);
        let uploaded_image_id = fields.nullable("uploaded_image_id", text);
        let icon_name = fields.nullable("icon_name", &word);
        Ok(Self {
            name: name?,
            description: description?,
            system_prompt: system_prompt?,
            task_prompt: task_prompt?,
            document_set_ids: document_set_ids?,
            tool_ids: tool_ids?,
            datetime_aware: datetime_aware?,
            is_public: is_public?,
            // Older clients send an empty text for none.
            llm_model_provider_override: provider?.filter(|name| !name.is_empty()),
            llm_model_version_override: version?.filter(|name| !name.is_empty()),
            default_model_configuration_id: configuration?,
            starter_messages: starter_messages?,
            users: users?,
            groups: groups?,
            replace_base_system_prompt: replace?,
            search_start_date: search_start_date?,
            label_ids: label_ids?,
            is_featured: is_featured?.or(is_default?),
            display_priority: display_priority?,
            user_file_ids: user_file_ids?,
            hierarchy_node_ids: hierarchy_node_ids?,
            document_ids: document_ids?.into_iter().collect(),
            remove_image: remove_image?,
            uploaded_image_id: uploaded_image_id?,
            icon_name: icon_name?,
        })
    }
}

impl PersonaBody {
    pub(super) fn into_request(self) -> AgentRequest {
        let starter = |body: StarterBody| StarterMessage { name: body.name, message: body.message };
        let starters = self.starter_messages;
        let definition = AgentDefinition {
            name: self.name,
            description: self.description,
            system_prompt: self.system_prompt,
            task_prompt: self.task_prompt,
            replace_base_system_prompt: self.replace_base_system_prompt,
            datetime_aware: self.datetime_aware,
            scope: RetrievalScope {
                document_sets: self.document_set_ids,
                documents: self.document_ids,
                search_start_date: self.search_start_date,
                model: ModelOverride {
                    provider: self.llm_model_provider_override,
                    model: self.llm_model_version_override,
                    configuration: self.default_model_configuration_id,
                },
            },
            tools: self.tool_ids,
            starter_messages: starters.map(|list| list.into_iter().map(starter).collect()),
            icon_name: self.icon_name,
        };
        AgentRequest {
            write: AgentWrite {
                definition,
                sharing: AgentSharing {
                    public: self.is_public,
                    users: self.users,
                    groups: self.groups,
                },
                labels: self.label_ids,
                featured: self.is_featured,
                display_priority: self.display_priority,
            },
            hierarchy_nodes: self.hierarchy_node_ids,
            user_files: self.user_file_ids.unwrap_or_default(),
            image: self.uploaded_image_id,
        }
    }
}
