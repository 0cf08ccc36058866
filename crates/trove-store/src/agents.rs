//! Agents: changes. What is read is in `read`, how rows become agents in `load`.

mod labels;
mod load;
mod read;

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::Integer;
use diesel_async::{AsyncConnection, RunQueryDsl};
use trove_domain::access::Caller;
use trove_domain::agent::{AgentLabel, RetrievalScope};
use trove_domain::error::StoreError;
use trove_domain::id::AgentId;
use trove_domain::page::{NumberedPage, Page};
use trove_domain::port::{
    AgentChange, AgentFilter, AgentFlags, AgentPlace, AgentReference, AgentSharing, AgentStore,
    AgentWrite, SeenAgent,
};

use crate::Store;
use crate::backend::{KEYS_MAX, transact};
use crate::error::Failure;
use crate::locks::Locks;
use crate::rights::Power;
use crate::schema::{
    agent, agent_document, agent_document_set, agent_group, agent_label, agent_label_link,
    agent_tool, agent_user, document_set, user_account, user_group,
};
use crate::sql::{Id, Time};
use load::starter_json;

macro_rules! visible_agents {
    ($power:expr) => {
        crate::rights::visible!($power, agent, agent_id, agent_user, agent_group)
    };
}
pub(crate) use visible_agents;

macro_rules! editable_agents {
    ($power:expr) => {
        crate::rights::editable!($power, agent, agent_id, agent_group)
    };
}
pub(crate) use editable_agents;

/// Ends the step when some of the rows do not exist.
macro_rules! require {
    ($conn:expr, $of:ident, $ids:expr, $reference:ident) => {
        for ids in $ids.chunks(KEYS_MAX) {
            let found: i64 =
                $of::table.filter($of::id.eq_any(ids)).count().get_result($conn).await?;
            if usize::try_from(found) != Ok(ids.len()) {
                return Ok(AgentChange::Unknown(AgentReference::$reference));
            }
        }
    };
}

/// Ends the step when the caller sees another agent with the name.
macro_rules! require_name {
    ($conn:expr, $power:expr, $id:expr, $name:expr) => {
        let others: i64 = agent::table
            .filter(agent::name.eq($name))
            .filter(agent::deleted.eq(false))
            .filter(agent::id.ne($id))
            .filter(visible_agents!($power))
            .count()
            .get_result($conn)
            .await?;
        if others > 0 {
            return Ok(AgentChange::NameTaken);
        }
    };
}

/// Replaces links to rows of a table.
macro_rules! relink {
    ($conn:expr, $id:expr, $ids:expr, $of:ident, $link:ident, $column:ident) => {
        diesel::delete($link::table).filter($link::agent_id.eq($id)).execute($conn).await?;
        for ids in $ids.chunks(KEYS_MAX) {
            $of::table
                .filter($of::id.eq_any(ids))
                .select(($id.into_sql::<Integer>(), $of::id))
                .insert_into($link::table)
                .into_columns(($link::agent_id, $link::$column))
                .execute($conn)
                .await?;
        }
    };
}

/// Replaces links to what no table has to have.
macro_rules! relist {
    ($conn:expr, $id:expr, $values:expr, $link:ident, $column:ident) => {
        diesel::delete($link::table).filter($link::agent_id.eq($id)).execute($conn).await?;
        for value in $values {
            diesel::insert_into($link::table)
                .values(($link::agent_id.eq($id), $link::$column.eq(value)))
                .execute($conn)
                .await?;
        }
    };
}

/// The columns that a definition fills.
macro_rules! definition {
    ($definition:expr, $now:expr) => {{
        let definition = &$definition;
        let scope = &definition.scope;
        (
            agent::name.eq(&definition.name),
            agent::description.eq(&definition.description),
            agent::system_prompt.eq(&definition.system_prompt),
            agent::task_prompt.eq(&definition.task_prompt),
            agent::replace_base_system_prompt.eq(definition.replace_base_system_prompt),
            agent::datetime_aware.eq(definition.datetime_aware),
            agent::search_start_date.eq(scope.search_start_date.map(Time)),
            agent::model_provider.eq(&scope.model.provider),
            agent::model_name.eq(&scope.model.model),
            agent::model_configuration_id.eq(scope.model.configuration),
            agent::icon_name.eq(&definition.icon_name),
            agent::starter_messages.eq(definition.starter_messages.as_deref().map(starter_json)),
            agent::updated_at.eq(Time($now)),
        )
    }};
}

/// Replaces what a definition lists.
macro_rules! write_lists {
    ($conn:expr, $id:expr, $definition:expr) => {
        let tools = $definition.tools.iter().map(|tool| tool.0);
        relist!($conn, $id, tools, agent_tool, tool_id);
        let sets: Vec<i32> = $definition.scope.document_sets.iter().map(|set| set.0).collect();
        relink!($conn, $id, sets, document_set, agent_document_set, document_set_id);
        let documents = $definition.scope.documents.iter().map(|document| document.as_str());
        relist!($conn, $id, documents, agent_document, document_id);
    };
}

/// Who sees an agent; what is not said stays.
macro_rules! write_sharing {
    ($conn:expr, $id:expr, $sharing:expr) => {
        if let Some(public) = $sharing.public {
            diesel::update(agent::table.find($id))
                .set(agent::public.eq(public))
                .execute($conn)
                .await?;
        }
        if let Some(users) = &$sharing.users {
            let users: Vec<Id> = users.iter().map(|user| Id(user.0)).collect();
            relink!($conn, $id, users, user_account, agent_user, user_id);
        }
        if let Some(groups) = &$sharing.groups {
            let groups: Vec<i32> = groups.iter().map(|group| group.0).collect();
            relink!($conn, $id, groups, user_group, agent_group, group_id);
        }
    };
}

/// Ends the step when the sharing names something that does not exist.
macro_rules! require_shares {
    ($conn:expr, $sharing:expr) => {
        let users = $sharing.users.iter().flatten().map(|user| Id(user.0));
        require!($conn, user_account, users.collect::<Vec<_>>(), User);
        let groups = $sharing.groups.iter().flatten().map(|group| group.0);
        require!($conn, user_group, groups.collect::<Vec<_>>(), Group);
    };
}

/// Ends the step unless the caller may change the agent, which is then kept from others.
macro_rules! require_editable {
    ($conn:expr, $power:expr, $id:expr) => {
        $conn.lock_agent($id).await?;
        let found: i64 = agent::table
            .find($id)
            .filter(agent::deleted.eq(false))
            .filter(agent::builtin.eq(false))
            .filter(editable_agents!($power))
            .count()
            .get_result($conn)
            .await?;
        if found == 0 {
            return Ok(AgentChange::NoSuchAgent);
        }
    };
}

fn label_ids(agent: &AgentWrite) -> Option<Vec<i32>> {
    agent.labels.as_ref().map(|labels| labels.iter().map(|label| label.0).collect())
}

#[async_trait]
impl AgentStore for Store {
    #[tracing::instrument(name = "db.agent.insert", skip_all)]
    async fn insert(
        &self,
        caller: &Caller,
        agent: AgentWrite,
        now: DateTime<Utc>,
    ) -> Result<AgentChange, StoreError> {
        let power = Power::of(caller);
        let labels = label_ids(&agent).unwrap_or_default();
        transact!(self, "agent.insert", |conn| {
            conn.lock_agent_names().await?;
            // No agent has this id.
            require_name!(conn, power, -1, &agent.definition.name);
            require_shares!(conn, agent.sharing);
            require!(conn, agent_label, labels, Label);
            let id: i32 = diesel::insert_into(agent::table)
                .values((
                    definition!(agent.definition, now),
                    agent::owner_id.eq(power.me),
                    agent::public.eq(agent.sharing.public.unwrap_or(false)),
                    agent::listed.eq(true),
                    agent::featured.eq(agent.featured.unwrap_or(false)),
                    agent::builtin.eq(false),
                    agent::deleted.eq(false),
                    agent::display_priority.eq(agent.display_priority),
                    agent::created_at.eq(Time(now)),
                ))
                .returning(agent::id)
                .get_result(conn)
                .await?;
            write_lists!(conn, id, agent.definition);
            write_sharing!(conn, id, agent.sharing);
            relink!(conn, id, labels, agent_label, agent_label_link, label_id);
            Ok(AgentChange::Done(AgentId(id)))
        })
    }

    #[tracing::instrument(name = "db.agent.update", skip_all)]
    async fn update(
        &self,
        caller: &Caller,
        id: AgentId,
        agent: AgentWrite,
        now: DateTime<Utc>,
    ) -> Result<AgentChange, StoreError> {
        let (power, id) = (Power::of(caller), id.0);
        let labels = label_ids(&agent);
        transact!(self, "agent.update", |conn| {
            conn.lock_agent_names().await?;
            require_editable!(conn, power, id);
            require_name!(conn, power, id, &agent.definition.name);
            require_shares!(conn, agent.sharing);
            require!(conn, agent_label, labels.as_deref().unwrap_or_default(), Label);
            diesel::update(agent::table.find(id))
                .set(definition!(agent.definition, now))
                .execute(conn)
                .await?;
            if let Some(featured) = agent.featured {
                diesel::update(agent::table.find(id))
                    .set(agent::featured.eq(featured))
                    .execute(conn)
                    .await?;
            }
            if let Some(priority) = agent.display_priority {
                diesel::update(agent::table.find(id))
                    .set(agent::display_priority.eq(priority))
                    .execute(conn)
                    .await?;
            }
            write_lists!(conn, id, agent.definition);
            write_sharing!(conn, id, agent.sharing);
            if let Some(labels) = &labels {
                relink!(conn, id, labels, agent_label, agent_label_link, label_id);
            }
            Ok(AgentChange::Done(AgentId(id)))
        })
    }

    #[tracing::instrument(name = "db.agent.share", skip_all)]
    async fn share(
        &self,
        caller: &Caller,
        id: AgentId,
        sharing: AgentSharing,
        now: DateTime<Utc>,
    ) -> Result<AgentChange, StoreError> {
        let (power, id) = (Power::of(caller), id.0);
        transact!(self, "agent.share", |conn| {
            require_editable!(conn, power, id);
            require_shares!(conn, sharing);
            write_sharing!(conn, id, sharing);
            diesel::update(agent::table.find(id))
                .set(agent::updated_at.eq(Time(now)))
                .execute(conn)
                .await?;
            Ok(AgentChange::Done(AgentId(id)))
        })
    }

    #[tracing::instrument(name = "db.agent.set_flags", skip_all)]
    async fn set_flags(
        &self,
        caller: &Caller,
        id: AgentId,
        flags: AgentFlags,
        now: DateTime<Utc>,
    ) -> Result<AgentChange, StoreError> {
        let (power, id) = (Power::of(caller), id.0);
        transact!(self, "agent.set_flags", |conn| {
            conn.lock_agent_names().await?;
            conn.lock_agent(id).await?;
            let row: Option<(String, bool, bool, bool, bool, bool)> = agent::table
                .find(id)
                .filter(editable_agents!(power))
                .select((
                    agent::name,
                    agent::builtin,
                    agent::deleted,
                    agent::listed,
                    agent::featured,
                    agent::public,
                ))
                .first(conn)
                .await
                .optional()?;
            let Some((name, builtin, was_deleted, listed, featured, public)) = row else {
                return Ok(AgentChange::NoSuchAgent);
            };
            let deleted = flags.deleted.unwrap_or(was_deleted);
            let public = flags.public.unwrap_or(public);
            let comes_back = was_deleted && !deleted;
            let listed = flags.listed.unwrap_or(listed);
            if (was_deleted && deleted) || (builtin && (deleted || !public || !listed)) {
                return Ok(AgentChange::NoSuchAgent);
            }
            if comes_back {
                require_name!(conn, power, id, &name);
            }
            diesel::update(agent::table.find(id))
                .set((
                    agent::listed.eq(listed),
                    agent::featured.eq(flags.featured.unwrap_or(featured)),
                    agent::public.eq(public),
                    agent::deleted.eq(deleted),
                    agent::updated_at.eq(Time(now)),
                ))
                .execute(conn)
                .await?;
            Ok(AgentChange::Done(AgentId(id)))
        })
    }

    #[tracing::instrument(name = "db.agent.set_display_priorities", skip_all)]
    async fn set_display_priorities(
        &self,
        priorities: &BTreeMap<AgentId, Option<i32>>,
        now: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        transact!(self, "agent.set_display_priorities", refused false, |conn| {
            // By rising id, so that no two wait for each other.
            for (id, priority) in priorities {
                let changed = diesel::update(agent::table.find(id.0))
                    .set((
                        agent::display_priority.eq(*priority),
                        agent::updated_at.eq(Time(now)),
                    ))
                    .execute(conn)
                    .await?;
                if changed == 0 {
                    return Err(Failure::Refused);
                }
            }
            Ok(true)
        })
    }

    #[tracing::instrument(name = "db.agent.find", skip_all)]
    async fn find(
        &self,
        caller: &Caller,
        id: AgentId,
        deleted: bool,
    ) -> Result<Option<SeenAgent>, StoreError> {
        self.find_agent(caller, id, deleted).await
    }

    #[tracing::instrument(name = "db.agent.list", skip_all)]
    async fn list(
        &self,
        caller: &Caller,
        filter: &AgentFilter,
        after: Option<AgentPlace>,
        limit: u32,
    ) -> Result<Page<SeenAgent, AgentPlace>, StoreError> {
        self.list_agents(caller, filter, after, limit).await
    }

    #[tracing::instrument(name = "db.agent.list_numbered", skip_all)]
    async fn list_numbered(
        &self,
        caller: &Caller,
        filter: &AgentFilter,
        offset: u64,
        limit: u32,
    ) -> Result<NumberedPage<SeenAgent>, StoreError> {
        self.number_agents(caller, filter, offset, limit).await
    }

    #[tracing::instrument(name = "db.agent.retrieval_scope", skip_all)]
    async fn retrieval_scope(
        &self,
        caller: &Caller,
        id: AgentId,
    ) -> Result<Option<RetrievalScope>, StoreError> {
        self.scope_of_agent(caller, id).await
    }

    #[tracing::instrument(name = "db.agent.existing", skip_all)]
    async fn existing(&self, ids: &BTreeSet<AgentId>) -> Result<BTreeSet<AgentId>, StoreError> {
        self.existing_agents(ids).await
    }

    #[tracing::instrument(name = "db.agent.labels", skip_all)]
    async fn labels(&self) -> Result<Vec<AgentLabel>, StoreError> {
        self.agent_labels().await
    }

    #[tracing::instrument(name = "db.agent.insert_label", skip_all)]
    async fn insert_label(&self, name: &str) -> Result<Option<AgentLabel>, StoreError> {
        self.insert_agent_label(name).await
    }
}
