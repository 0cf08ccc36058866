//! Agents as clients see them.
//!
//! Every generation of clients finds the names that it knows: what is listed is `is_visible` and
//! `is_listed`, what is featured is `is_default_persona` and `is_featured`.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use trove_domain::agent::{Agent, AgentLabel, NamedUser, StarterMessage};
use trove_domain::port::DocumentRecord;
use trove_domain::tool::Tool;
use trove_engine::administration::AgentView;
use utoipa::ToSchema;

use crate::routes::document_sets::record::DocumentSetReply;
use crate::routes::schema::{SourceValue, zulu};
use crate::routes::tools::ToolReply;

/// What a conversation can begin with.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = StarterMessageSnapshot)]
pub(crate) struct StarterReply {
    /// What the button says.
    name: String,
    /// What is sent.
    message: String,
}

/// A word that agents are found by.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PersonaLabel, example = json!({"id": 1, "name": "HR"}))]
pub(crate) struct LabelReply {
    /// Its key.
    id: i32,
    /// The word.
    name: String,
}

impl From<AgentLabel> for LabelReply {
    fn from(label: AgentLabel) -> Self {
        Self { id: label.id.0, name: label.name }
    }
}

/// A user, in short.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = MinimalUserSnapshot)]
pub(crate) struct UserReply {
    /// Its key.
    id: String,
    /// Its address.
    email: String,
}

impl From<NamedUser> for UserReply {
    fn from(user: NamedUser) -> Self {
        Self { id: user.id.to_string(), email: user.email }
    }
}

/// A user that an agent is shared with.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PersonaUserShare)]
pub(crate) struct UserShareReply {
    /// The user.
    user: UserReply,
    /// Always `VIEWER`.
    permission: &'static str,
}

/// A group that an agent is shared with.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PersonaGroupShare)]
pub(crate) struct GroupShareReply {
    /// The group.
    group_id: i32,
    /// Always `VIEWER`.
    permission: &'static str,
}

/// A document that an agent searches in.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AttachedDocumentSnapshot)]
pub(crate) struct AttachedReply {
    /// Its stored id.
    id: String,
    /// Name to display.
    title: String,
    /// Where a reader finds it.
    link: Option<String>,
    /// Always null: there are no folders.
    parent_id: Option<i32>,
    /// Last change.
    #[schema(format = DateTime)]
    last_modified: Option<String>,
    /// Always null.
    #[schema(format = DateTime)]
    last_synced: Option<String>,
    /// The system it comes from.
    #[schema(value_type = SourceValue)]
    source: Option<&'static str>,
}

impl From<DocumentRecord> for AttachedReply {
    fn from(record: DocumentRecord) -> Self {
        let registration = record.registration;
        Self {
            id: registration.id.into_string(),
            title: registration.semantic_identifier,
            link: registration.link,
            parent_id: None,
            last_modified: registration.updated_at.map(zulu),
            last_synced: None,
            source: Some(registration.source.as_str()),
        }
    }
}

/// An agent, with everything that an editor needs.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PersonaSnapshot, example = json!({"id": 7, "name": "Handbook",
    "description": "Answers from the handbook", "is_public": false, "is_listed": true}))]
#[expect(clippy::struct_excessive_bools, reason = "the record of the interface")]
pub(crate) struct PersonaReply {
    /// Its key.
    id: i32,
    /// Its name.
    name: String,
    /// What it is for.
    description: String,
    /// Whether everybody sees it.
    is_public: bool,
    /// As `is_listed`.
    is_visible: bool,
    /// Whether lists show it to those who see it only because it is public.
    is_listed: bool,
    /// Always null: there are no pictures.
    uploaded_image_id: Option<String>,
    /// Name of a picture that user interfaces have.
    icon_name: Option<String>,
    /// Always empty.
    user_file_ids: Vec<String>,
    /// Place in lists.
    display_priority: Option<i32>,
    /// As `is_featured`.
    is_default_persona: bool,
    /// Whether user interfaces show it first.
    is_featured: bool,
    /// Whether it is one of the system's.
    builtin_persona: bool,
    /// What a conversation can begin with.
    starter_messages: Option<Vec<StarterReply>>,
    /// What it can use.
    tools: Vec<ToolReply>,
    /// Words that it is found by.
    labels: Vec<LabelReply>,
    /// Who made it.
    owner: Option<UserReply>,
    /// Users it is shared with; for those only who may change it.
    users: Vec<UserReply>,
    /// Groups it is shared with; for those only who may change it.
    groups: Vec<i32>,
    /// Those of its document sets that the caller sees.
    document_sets: Vec<DocumentSetReply>,
    /// Always empty: there are no folders.
    #[schema(value_type = Vec<serde_json::Value>)]
    hierarchy_nodes: [(); 0],
    /// Those of its documents that the caller may read.
    attached_documents: Vec<AttachedReply>,
    /// What a language model is told before everything else.
    system_prompt: Option<String>,
    /// Whether that takes the place of the deployment's.
    replace_base_system_prompt: bool,
    /// What a language model is told beside each question.
    task_prompt: Option<String>,
    /// Whether a language model is told the date.
    datetime_aware: bool,
    /// Not used.
    llm_relevance_filter: bool,
    /// Not used.
    llm_filter_extraction: bool,
    /// Provider of its model.
    llm_model_provider_override: Option<String>,
    /// Its model.
    llm_model_version_override: Option<String>,
    /// Not used.
    num_chunks: Option<f32>,
    /// Always null: agents belong to users.
    #[schema(value_type = Option<serde_json::Value>)]
    owner_group: Option<()>,
    /// As `users`.
    user_shares: Vec<UserShareReply>,
    /// As `groups`.
    group_shares: Vec<GroupShareReply>,
    /// `VIEWER` when everybody sees it.
    public_permission: Option<&'static str>,
    /// `PUBLIC`, `SHARED` or `PRIVATE`.
    #[schema(value_type = String)]
    sharing_status: &'static str,
    /// Configuration of its model.
    default_model_configuration_id: Option<i32>,
    /// What the caller may do with it.
    permissions: BTreeMap<&'static str, bool>,
}

/// An agent, with what it does to a search.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FullPersonaSnapshot)]
pub(crate) struct FullPersonaReply {
    /// The agent.
    #[serde(flatten)]
    persona: PersonaReply,
    /// Only documents updated at or after this instant.
    #[schema(format = DateTime)]
    search_start_date: Option<String>,
}

/// An agent in a list.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = MinimalPersonaSnapshot, example = json!({"id": 7, "name": "Handbook",
    "description": "Answers from the handbook", "is_public": false, "is_listed": true}))]
#[expect(clippy::struct_excessive_bools, reason = "the record of the interface")]
pub(crate) struct MinimalPersonaReply {
    /// Its key.
    id: i32,
    /// Its name.
    name: String,
    /// What it is for.
    description: String,
    /// What it can use.
    tools: Vec<ToolReply>,
    /// What a conversation can begin with.
    starter_messages: Option<Vec<StarterReply>>,
    /// Those of its document sets that the caller sees.
    document_sets: Vec<DocumentSetReply>,
    /// Always 0: there are no folders.
    hierarchy_node_count: usize,
    /// How many of its documents the caller may read.
    attached_document_count: usize,
    /// Systems that what it searches in comes from, as far as the caller sees them.
    #[schema(value_type = Vec<SourceValue>)]
    knowledge_sources: BTreeSet<&'static str>,
    /// Always null: there are no pictures.
    uploaded_image_id: Option<String>,
    /// Name of a picture that user interfaces have.
    icon_name: Option<String>,
    /// Whether everybody sees it.
    is_public: bool,
    /// As `is_listed`.
    is_visible: bool,
    /// Whether lists show it to those who see it only because it is public.
    is_listed: bool,
    /// Place in lists.
    display_priority: Option<i32>,
    /// As `is_featured`.
    is_default_persona: bool,
    /// Whether user interfaces show it first.
    is_featured: bool,
    /// Whether it is one of the system's.
    builtin_persona: bool,
    /// Words that it is found by.
    labels: Vec<LabelReply>,
    /// Who made it.
    owner: Option<UserReply>,
    /// Provider of its model.
    llm_model_provider_override: Option<String>,
    /// Its model.
    llm_model_version_override: Option<String>,
    /// Configuration of its model.
    default_model_configuration_id: Option<i32>,
}

fn starters(messages: Option<Vec<StarterMessage>>) -> Option<Vec<StarterReply>> {
    let reply =
        |starter: StarterMessage| StarterReply { name: starter.name, message: starter.message };
    messages.map(|messages| messages.into_iter().map(reply).collect())
}

fn tools(agent: &Agent) -> Vec<ToolReply> {
    let tools = agent.definition.tools.iter().filter_map(|id| Tool::find(*id));
    tools.map(ToolReply::from).collect()
}

impl From<AgentView> for PersonaReply {
    fn from(view: AgentView) -> Self {
        let AgentView { agent, editable, document_sets, documents } = view;
        let tools = tools(&agent);
        let sharing_status = match &agent {
            agent if agent.public => "PUBLIC",
            agent if agent.users.is_empty() && agent.groups.is_empty() => "PRIVATE",
            _ => "SHARED",
        };
        let users: Vec<UserReply> =
            agent.users.into_iter().filter(|_| editable).map(UserReply::from).collect();
        let groups: Vec<i32> =
            agent.groups.into_iter().filter(|_| editable).map(|group| group.0).collect();
        let definition = agent.definition;
        let permission = "VIEWER";
        Self {
            id: agent.id.0,
            name: definition.name,
            description: definition.description,
            is_public: agent.public,
            is_visible: agent.listed,
            is_listed: agent.listed,
            uploaded_image_id: None,
            icon_name: definition.icon_name,
            user_file_ids: Vec::new(),
            display_priority: agent.display_priority,
            is_default_persona: agent.featured,
            is_featured: agent.featured,
            builtin_persona: agent.builtin,
            starter_messages: starters(definition.starter_messages),
            tools,
            labels: agent.labels.into_iter().map(LabelReply::from).collect(),
            owner: agent.owner.map(UserReply::from),
            user_shares: users
                .iter()
                .map(|user| UserShareReply { user: user.clone(), permission })
                .collect(),
            group_shares: groups
                .iter()
                .map(|group_id| GroupShareReply { group_id: *group_id, permission })
                .collect(),
            users,
            groups,
            document_sets: document_sets.into_iter().map(DocumentSetReply::from).collect(),
            hierarchy_nodes: [],
            attached_documents: documents.into_iter().map(AttachedReply::from).collect(),
            system_prompt: Some(definition.system_prompt),
            replace_base_system_prompt: definition.replace_base_system_prompt,
            task_prompt: Some(definition.task_prompt),
            datetime_aware: definition.datetime_aware,
            llm_relevance_filter: false,
            llm_filter_extraction: false,
            llm_model_provider_override: definition.scope.model.provider,
            llm_model_version_override: definition.scope.model.model,
            num_chunks: None,
            owner_group: None,
            public_permission: agent.public.then_some(permission),
            sharing_status,
            default_model_configuration_id: definition.scope.model.configuration,
            permissions: [("edit", editable && !agent.builtin)].into(),
        }
    }
}

impl From<AgentView> for FullPersonaReply {
    fn from(view: AgentView) -> Self {
        let search_start_date = view.agent.definition.scope.search_start_date.map(zulu);
        Self { persona: view.into(), search_start_date }
    }
}

impl From<AgentView> for MinimalPersonaReply {
    fn from(view: AgentView) -> Self {
        let AgentView { agent, editable: _, document_sets, documents } = view;
        let tools = tools(&agent);
        let of_sets = document_sets.iter().flat_map(|set| &set.pairs).map(|pair| pair.source);
        let of_documents = documents.iter().map(|record| record.registration.source);
        let knowledge_sources =
            of_sets.chain(of_documents).map(trove_domain::source::DocumentSource::as_str).collect();
        let definition = agent.definition;
        Self {
            id: agent.id.0,
            name: definition.name,
            description: definition.description,
            tools,
            starter_messages: starters(definition.starter_messages),
            document_sets: document_sets.into_iter().map(DocumentSetReply::from).collect(),
            hierarchy_node_count: 0,
            attached_document_count: documents.len(),
            knowledge_sources,
            uploaded_image_id: None,
            icon_name: definition.icon_name,
            is_public: agent.public,
            is_visible: agent.listed,
            is_listed: agent.listed,
            display_priority: agent.display_priority,
            is_default_persona: agent.featured,
            is_featured: agent.featured,
            builtin_persona: agent.builtin,
            labels: agent.labels.into_iter().map(LabelReply::from).collect(),
            owner: agent.owner.map(UserReply::from),
            llm_model_provider_override: definition.scope.model.provider,
            llm_model_version_override: definition.scope.model.model,
            default_model_configuration_id: definition.scope.model.configuration,
        }
    }
}
