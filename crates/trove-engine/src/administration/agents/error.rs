use trove_domain::agent::Agent;
use trove_domain::error::{Classify, ErrorKind, StoreError};
use trove_domain::id::{AgentId, ToolId};

/// Why an agent was not made, changed or found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// There is no such agent that the caller may see.
    #[error("there is no agent {0}")]
    NoSuchAgent(AgentId),
    /// One of several agents does not exist.
    #[error("display_priority_map: one of the agents does not exist")]
    NoSuchAgents,
    /// There is no such tool.
    #[error("there is no tool {0}")]
    NoSuchTool(ToolId),
    /// The caller sees the agent and may not do this to it.
    #[error("you may not change agent {0}; its owner or an administrator may")]
    Forbidden(AgentId),
    /// The agent belongs to the system.
    #[error("agent {0} is built in; it can be neither changed nor deleted")]
    Builtin(AgentId),
    /// The agent belongs to the system, and everybody is to find it.
    #[error("agent {0} is built in; it cannot be left out of lists")]
    BuiltinListed(AgentId),
    /// Another agent that the caller sees has the name.
    #[error("name: there is an agent `{0}` already; choose another name")]
    NameTaken(String),
    /// Something that the request names does not exist for the caller.
    #[error("{field}: {what} does not exist")]
    Unknown {
        /// Where it is named.
        field: &'static str,
        /// What it is.
        what: String,
    },
    /// Nothing of the kind exists at all.
    #[error("{field}: there are no {what} that could be attached; leave it out")]
    Nothing {
        /// Where it is named.
        field: &'static str,
        /// What kind of things.
        what: &'static str,
    },
    /// What everybody sees first is for administrators to decide.
    #[error("is_featured: only administrators feature agents")]
    FeaturedByAdministrators,
    /// What everybody sees first must be visible to everybody.
    #[error("is_featured: a featured agent is public; make it public, or do not feature it")]
    FeaturedPrivate,
    /// Nothing is searched, so there is nothing to restrict.
    #[error(
        "document_set_ids, document_ids: knowledge needs a vector database, and \
         DISABLE_VECTOR_DB is set"
    )]
    NeedsVectorDb,
    /// There is a label with the name.
    #[error("name: there is a label `{0}` already")]
    LabelTaken(String),
    /// There are too many labels.
    #[error("there are {max} labels already, and there may be no more", max = Agent::LABELS_MAX)]
    TooManyLabels,
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl AgentError {
    pub(super) fn unknown(field: &'static str, what: String) -> Self {
        Self::Unknown { field, what }
    }

    pub(super) fn nothing(field: &'static str, what: &'static str) -> Self {
        Self::Nothing { field, what }
    }
}

impl Classify for AgentError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoSuchAgent(_) | Self::NoSuchAgents | Self::NoSuchTool(_) => ErrorKind::NotFound,
            Self::Forbidden(_) | Self::FeaturedByAdministrators => ErrorKind::Forbidden,
            Self::Store(error) => error.kind(),
            Self::Builtin(_)
            | Self::BuiltinListed(_)
            | Self::NameTaken(_)
            | Self::Unknown { .. }
            | Self::Nothing { .. }
            | Self::FeaturedPrivate
            | Self::NeedsVectorDb
            | Self::LabelTaken(_)
            | Self::TooManyLabels => ErrorKind::Invalid,
        }
    }

    fn code(&self) -> Option<&'static str> {
        let unknown = matches!(self, Self::NoSuchAgent(_) | Self::NoSuchAgents);
        unknown.then_some("PERSONA_NOT_FOUND")
    }
}
