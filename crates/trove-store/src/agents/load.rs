//! Rows of agents and of what is linked to them.

use std::collections::BTreeMap;

use diesel::prelude::*;
use trove_domain::agent::{
    Agent, AgentDefinition, AgentLabel, ModelOverride, NamedUser, RetrievalScope, StarterMessage,
};
use trove_domain::id::{AgentId, DocumentId, DocumentSetId, GroupId, LabelId, ToolId, UserId};

use crate::error::{Failure, corrupt};
use crate::schema::agent;
use crate::sql::{Id, Time};

#[derive(Queryable, Selectable)]
#[diesel(table_name = agent)]
#[expect(clippy::struct_excessive_bools, reason = "the columns of the table")]
pub(super) struct AgentRow {
    pub(super) id: i32,
    name: String,
    description: String,
    system_prompt: String,
    task_prompt: String,
    replace_base_system_prompt: bool,
    datetime_aware: bool,
    search_start_date: Option<Time>,
    model_provider: Option<String>,
    model_name: Option<String>,
    model_configuration_id: Option<i32>,
    icon_name: Option<String>,
    starter_messages: Option<String>,
    pub(super) owner_id: Option<Id>,
    public: bool,
    listed: bool,
    featured: bool,
    builtin: bool,
    deleted: bool,
    display_priority: Option<i32>,
    created_at: Time,
    updated_at: Time,
}

/// What is linked to some agents, each by agent.
#[derive(Default)]
pub(super) struct Links {
    pub(super) owners: BTreeMap<Id, String>,
    pub(super) tools: BTreeMap<i32, Vec<i32>>,
    pub(super) sets: BTreeMap<i32, Vec<i32>>,
    pub(super) documents: BTreeMap<i32, Vec<String>>,
    pub(super) users: BTreeMap<i32, Vec<(Id, String)>>,
    pub(super) groups: BTreeMap<i32, Vec<i32>>,
    pub(super) labels: BTreeMap<i32, Vec<(i32, String)>>,
}

/// Values by the agent that they are linked to, in the order of the rows.
pub(super) fn by_agent<T>(rows: Vec<(i32, T)>) -> BTreeMap<i32, Vec<T>> {
    let mut by_agent: BTreeMap<i32, Vec<T>> = BTreeMap::new();
    for (agent, value) in rows {
        by_agent.entry(agent).or_default().push(value);
    }
    by_agent
}

pub(super) fn agent(row: AgentRow, links: &mut Links) -> Result<Agent, Failure> {
    let AgentRow {
        id,
        name,
        description,
        system_prompt,
        task_prompt,
        replace_base_system_prompt,
        datetime_aware,
        search_start_date,
        model_provider,
        model_name,
        model_configuration_id,
        icon_name,
        starter_messages,
        owner_id,
        public,
        listed,
        featured,
        builtin,
        deleted,
        display_priority,
        created_at,
        updated_at,
    } = row;
    let named = |(id, email): (Id, String)| NamedUser { id: UserId(id.0), email };
    let owner_email = |id: Id| links.owners.get(&id).cloned().map(|email| named((id, email)));
    let owner = owner_id.and_then(owner_email);
    Ok(Agent {
        id: AgentId(id),
        definition: AgentDefinition {
            name,
            description,
            system_prompt,
            task_prompt,
            replace_base_system_prompt,
            datetime_aware,
            scope: RetrievalScope {
                document_sets: set_ids(links.sets.remove(&id).unwrap_or_default()),
                documents: document_ids(id, links.documents.remove(&id).unwrap_or_default())?,
                search_start_date: search_start_date.map(|at| at.0),
                model: ModelOverride {
                    provider: model_provider,
                    model: model_name,
                    configuration: model_configuration_id,
                },
            },
            tools: links.tools.remove(&id).into_iter().flatten().map(ToolId).collect(),
            starter_messages: starter_messages.map(|json| starters(id, &json)).transpose()?,
            icon_name,
        },
        labels: links
            .labels
            .remove(&id)
            .into_iter()
            .flatten()
            .map(|(id, name)| AgentLabel { id: LabelId(id), name })
            .collect(),
        owner,
        public,
        users: links.users.remove(&id).into_iter().flatten().map(named).collect(),
        groups: links.groups.remove(&id).into_iter().flatten().map(GroupId).collect(),
        listed,
        featured,
        builtin,
        deleted,
        display_priority,
        created_at: created_at.0,
        updated_at: updated_at.0,
    })
}

pub(super) fn set_ids<C: FromIterator<DocumentSetId>>(ids: Vec<i32>) -> C {
    ids.into_iter().map(DocumentSetId).collect()
}

pub(super) fn document_ids<C: FromIterator<DocumentId>>(
    agent: i32,
    ids: Vec<String>,
) -> Result<C, Failure> {
    ids.into_iter().map(|id| DocumentId::new(id).map_err(corrupt("agent", agent))).collect()
}

/// As they are stored.
pub(super) fn starter_json(messages: &[StarterMessage]) -> String {
    let pairs = messages.iter().map(|starter| {
        serde_json::Value::from(vec![starter.name.clone(), starter.message.clone()])
    });
    pairs.collect::<serde_json::Value>().to_string()
}

fn starters(agent: i32, json: &str) -> Result<Vec<StarterMessage>, Failure> {
    let pairs: Vec<(String, String)> =
        serde_json::from_str(json).map_err(corrupt("agent", agent))?;
    Ok(pairs.into_iter().map(|(name, message)| StarterMessage { name, message }).collect())
}
