//! Agents: ways to search and talk, with prompts and knowledge of their own.
//!
//! The interface calls them personas.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use crate::id::{AgentId, DocumentId, DocumentSetId, GroupId, LabelId, ToolId, UserId};

/// A message that a new conversation with an agent can begin with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StarterMessage {
    /// What the button says.
    pub name: String,
    /// What is sent.
    pub message: String,
}

/// The language model that an agent asks for; all empty for that of the deployment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelOverride {
    /// Name of the provider.
    pub provider: Option<String>,
    /// Name of the model at the provider.
    pub model: Option<String>,
    /// Configuration of a model, which counts before the names.
    pub configuration: Option<i32>,
}

/// What an agent searches in and with: the whole of what it does to a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RetrievalScope {
    /// A document must be in one of these sets or be one of [`Self::documents`]; both empty for no
    /// restriction. Sets that are gone stay here and match nothing: losing a set must not let an
    /// agent search everything.
    pub document_sets: BTreeSet<DocumentSetId>,
    /// See [`Self::document_sets`].
    pub documents: BTreeSet<DocumentId>,
    /// Only documents updated at or after this instant.
    pub search_start_date: Option<DateTime<Utc>>,
    /// The model that rewrites queries and selects passages.
    pub model: ModelOverride,
}

impl RetrievalScope {
    /// Whether documents are left out because of where they are, as opposed to when they changed.
    #[must_use]
    pub fn restricts_knowledge(&self) -> bool {
        !self.document_sets.is_empty() || !self.documents.is_empty()
    }
}

/// What an editor writes of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentDefinition {
    /// Its name, unique among the agents that its editor sees.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// What a language model is told before everything else.
    pub system_prompt: String,
    /// What a language model is told beside each question.
    pub task_prompt: String,
    /// Whether the system prompt takes the place of the deployment's.
    pub replace_base_system_prompt: bool,
    /// Whether a language model is told the date.
    pub datetime_aware: bool,
    /// What it does to a search.
    pub scope: RetrievalScope,
    /// What it can use in a conversation.
    pub tools: BTreeSet<ToolId>,
    /// What a conversation can begin with; `None` when nothing was ever said about it.
    pub starter_messages: Option<Vec<StarterMessage>>,
    /// Name of a picture that user interfaces have.
    pub icon_name: Option<String>,
}

/// Word that agents are found by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AgentLabel {
    /// Its key.
    pub id: LabelId,
    /// Its name, unique.
    pub name: String,
}

/// A user as others see it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamedUser {
    /// The user.
    pub id: UserId,
    /// Its address.
    pub email: String,
}

/// An agent.
///
/// It is visible to its owner, to the users and members of the groups that it is shared with, to
/// everybody when it is public, and to administrators.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "the record of the interface")]
pub struct Agent {
    /// Its key.
    pub id: AgentId,
    /// What its editors wrote.
    pub definition: AgentDefinition,
    /// Words that it is found by, by rising id.
    pub labels: Vec<AgentLabel>,
    /// Who made it; `None` for the ones the system made, and when that user is gone.
    pub owner: Option<NamedUser>,
    /// Visible to everybody.
    pub public: bool,
    /// Users it is shared with, by rising id.
    pub users: Vec<NamedUser>,
    /// Groups it is shared with.
    pub groups: BTreeSet<GroupId>,
    /// Whether lists show it to those who see it only because it is public.
    pub listed: bool,
    /// Whether user interfaces show it first.
    pub featured: bool,
    /// Made by the system: neither edited nor deleted.
    pub builtin: bool,
    /// Out of use; can be brought back.
    pub deleted: bool,
    /// Place in lists, lowest first; those without one come last.
    pub display_priority: Option<i32>,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it last changed.
    pub updated_at: DateTime<Utc>,
}

impl Agent {
    /// The agent of whoever names none: built in, public, always there.
    pub const DEFAULT: AgentId = AgentId(0);

    /// Most characters of a name.
    pub const NAME_CHARS_MAX: usize = 200;

    /// Most labels of a deployment: anybody can add one.
    pub const LABELS_MAX: u32 = 1000;
}
