//! Agents, which the interface calls personas.

mod body;
pub(crate) mod flags;
pub(crate) mod image;
pub(crate) mod labels;
pub(crate) mod read;
pub(crate) mod record;
pub(crate) mod share;
pub(crate) mod write;

use trove_domain::id::AgentId;

use crate::extract::{Input, Parts};
use crate::validation::{Read, Record, integer_id};

/// Which agent.
pub(crate) struct PersonaPath {
    id: AgentId,
}

fn persona_id(parts: &Parts<'_>) -> Read<AgentId> {
    parts.path(|path| path.required("persona_id", integer_id)).map(AgentId)
}

impl Input for PersonaPath {
    const BODY: bool = false;

    fn read(parts: Parts<'_>) -> Read<Self> {
        Ok(Self { id: persona_id(&parts)? })
    }
}

/// Which agent, and what to do to it.
pub(crate) struct PersonaChange<T> {
    id: AgentId,
    body: T,
}

impl<T: Record + 'static> Input for PersonaChange<T> {
    const BODY: bool = true;

    fn read(mut parts: Parts<'_>) -> Read<Self> {
        let id = persona_id(&parts);
        let body = parts.body();
        Ok(Self { id: id?, body: body? })
    }
}
