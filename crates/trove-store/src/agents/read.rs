//! What is read of agents.

use std::collections::BTreeSet;

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use trove_domain::access::Caller;
use trove_domain::agent::{ModelOverride, RetrievalScope};
use trove_domain::error::StoreError;
use trove_domain::id::AgentId;
use trove_domain::page::{NumberedPage, Page};
use trove_domain::port::{AgentFilter, AgentPlace, Reach, SeenAgent};

use super::load::{AgentRow, Links, agent as agent_of, by_agent, document_ids, set_ids};
use super::{editable_agents, visible_agents};
use crate::Store;
use crate::backend::{KEYS_MAX, read};
use crate::error::Failure;
use crate::rights::{Power, own_groups};
use crate::schema::{
    agent, agent_document, agent_document_set, agent_group, agent_label, agent_label_link,
    agent_tool, agent_user, user_account,
};
use crate::sql::{Id, Time};

/// Rows of one link table, by agent and then by what is linked.
macro_rules! linked {
    ($conn:expr, $ids:expr, $link:ident, $column:ident) => {
        by_agent(
            $link::table
                .filter($link::agent_id.eq_any($ids))
                .order(($link::agent_id, $link::$column))
                .select(($link::agent_id, $link::$column))
                .load($conn)
                .await?,
        )
    };
}

/// Loads the agents of a query, in its order, with what is linked to them.
macro_rules! load_agents {
    ($conn:expr, $power:expr, $query:expr) => {{
        let rows: Vec<AgentRow> = $query.select(AgentRow::as_select()).load($conn).await?;
        let ids: Vec<i32> = rows.iter().map(|row| row.id).collect();
        let owners: BTreeSet<Id> = rows.iter().filter_map(|row| row.owner_id).collect();
        let owners: Vec<(Id, String)> = user_account::table
            .filter(user_account::id.eq_any(owners.into_iter().collect::<Vec<_>>()))
            .select((user_account::id, user_account::email))
            .load($conn)
            .await?;
        let users: Vec<(i32, (Id, String))> = agent_user::table
            .inner_join(user_account::table)
            .filter(agent_user::agent_id.eq_any(&ids))
            .order((agent_user::agent_id, agent_user::user_id))
            .select((agent_user::agent_id, (user_account::id, user_account::email)))
            .load($conn)
            .await?;
        let labels: Vec<(i32, (i32, String))> = agent_label_link::table
            .inner_join(agent_label::table)
            .filter(agent_label_link::agent_id.eq_any(&ids))
            .order((agent_label_link::agent_id, agent_label_link::label_id))
            .select((agent_label_link::agent_id, (agent_label::id, agent_label::name)))
            .load($conn)
            .await?;
        let mut links = Links {
            owners: owners.into_iter().collect(),
            tools: linked!($conn, &ids, agent_tool, tool_id),
            sets: linked!($conn, &ids, agent_document_set, document_set_id),
            documents: linked!($conn, &ids, agent_document, document_id),
            users: by_agent(users),
            groups: linked!($conn, &ids, agent_group, group_id),
            labels: by_agent(labels),
        };
        let editable: Vec<i32> = agent::table
            .filter(agent::id.eq_any(&ids))
            .filter(editable_agents!($power))
            .select(agent::id)
            .load($conn)
            .await?;
        let editable: BTreeSet<i32> = editable.into_iter().collect();
        rows.into_iter()
            .map(|row| {
                let editable = editable.contains(&row.id);
                Ok(SeenAgent { agent: agent_of(row, &mut links)?, editable })
            })
            .collect::<Result<Vec<SeenAgent>, Failure>>()?
    }};
}

/// The agents of a list, in no order.
macro_rules! filtered {
    ($power:expr, $filter:expr) => {{
        let mut query = agent::table.into_boxed();
        query = match $filter.reach {
            Reach::Visible => query.filter(visible_agents!($power)),
            Reach::Editable => query.filter(editable_agents!($power)),
        };
        query = if $filter.deleted {
            // For whoever only sees an agent, it is gone.
            query.filter(agent::deleted.eq(false).or(editable_agents!($power)))
        } else {
            query.filter(agent::deleted.eq(false))
        };
        if !$filter.builtin {
            query = query.filter(agent::builtin.eq(false));
        }
        if !$filter.unlisted {
            let of_user = agent_user::table
                .filter(agent_user::user_id.eq($power.me))
                .select(agent_user::agent_id);
            let groups = own_groups!($power);
            let of_groups = agent_group::table
                .filter(agent_group::group_id.eq_any(groups))
                .select(agent_group::agent_id);
            query = query.filter(
                agent::listed
                    .or(agent::owner_id.eq($power.me))
                    .or(agent::id.eq_any(of_user))
                    .or(agent::id.eq_any(of_groups)),
            );
        }
        if let Some(ids) = &$filter.ids {
            let ids: Vec<i32> = ids.iter().map(|id| id.0).collect();
            query = query.filter(agent::id.eq_any(ids));
        }
        query
    }};
}

/// By display priority, those without one last, then by id.
macro_rules! in_order {
    ($query:expr) => {
        $query.order((agent::display_priority.is_null(), agent::display_priority, agent::id))
    };
}

impl Store {
    pub(super) async fn find_agent(
        &self,
        caller: &Caller,
        id: AgentId,
        deleted: bool,
    ) -> Result<Option<SeenAgent>, StoreError> {
        let power = Power::of(caller);
        read!(self, "agent.find", |conn| {
            let query = agent::table
                .filter(agent::id.eq(id.0))
                .filter(agent::deleted.eq_any([false, deleted]))
                .filter(visible_agents!(power));
            Ok(load_agents!(conn, power, query).into_iter().next())
        })
    }

    pub(super) async fn list_agents(
        &self,
        caller: &Caller,
        filter: &AgentFilter,
        after: Option<AgentPlace>,
        limit: u32,
    ) -> Result<Page<SeenAgent, AgentPlace>, StoreError> {
        let power = Power::of(caller);
        let mut items: Vec<SeenAgent> = read!(self, "agent.list", |conn| {
            let mut query = filtered!(power, filter);
            if let Some(AgentPlace { display_priority, id }) = after {
                let without = agent::display_priority.is_null();
                query = match display_priority {
                    Some(priority) => query.filter(
                        without
                            .or(agent::display_priority.gt(priority))
                            .or(agent::display_priority.eq(priority).and(agent::id.gt(id.0))),
                    ),
                    None => query.filter(without.and(agent::id.gt(id.0))),
                };
            }
            let query = in_order!(query).limit(i64::from(limit) + 1);
            Ok(load_agents!(conn, power, query))
        })?;
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = items.len() > limit;
        items.truncate(limit);
        let last = items.last().filter(|_| more).map(|seen| &seen.agent);
        let next =
            last.map(|last| AgentPlace { display_priority: last.display_priority, id: last.id });
        Ok(Page { items, next })
    }

    pub(super) async fn number_agents(
        &self,
        caller: &Caller,
        filter: &AgentFilter,
        offset: u64,
        limit: u32,
    ) -> Result<NumberedPage<SeenAgent>, StoreError> {
        let power = Power::of(caller);
        let offset = i64::try_from(offset).unwrap_or(i64::MAX);
        read!(self, "agent.list_numbered", |conn| {
            let total: i64 = filtered!(power, filter).count().get_result(conn).await?;
            let query = in_order!(filtered!(power, filter)).limit(i64::from(limit)).offset(offset);
            let items = load_agents!(conn, power, query);
            Ok(NumberedPage { items, total: u64::try_from(total).unwrap_or(0) })
        })
    }

    pub(super) async fn scope_of_agent(
        &self,
        caller: &Caller,
        id: AgentId,
    ) -> Result<Option<RetrievalScope>, StoreError> {
        type Row = (Option<Time>, Option<String>, Option<String>, Option<i32>);
        let (power, id) = (Power::of(caller), id.0);
        read!(self, "agent.retrieval_scope", |conn| {
            let row: Option<Row> = agent::table
                .find(id)
                .filter(agent::deleted.eq(false))
                .filter(visible_agents!(power))
                .select((
                    agent::search_start_date,
                    agent::model_provider,
                    agent::model_name,
                    agent::model_configuration_id,
                ))
                .first(conn)
                .await
                .optional()?;
            let Some((start, provider, model, configuration)) = row else { return Ok(None) };
            let sets: Vec<i32> = agent_document_set::table
                .filter(agent_document_set::agent_id.eq(id))
                .select(agent_document_set::document_set_id)
                .load(conn)
                .await?;
            let documents: Vec<String> = agent_document::table
                .filter(agent_document::agent_id.eq(id))
                .select(agent_document::document_id)
                .load(conn)
                .await?;
            Ok(Some(RetrievalScope {
                document_sets: set_ids(sets),
                documents: document_ids(id, documents)?,
                search_start_date: start.map(|at| at.0),
                model: ModelOverride { provider, model, configuration },
            }))
        })
    }

    pub(super) async fn existing_agents(
        &self,
        ids: &BTreeSet<AgentId>,
    ) -> Result<BTreeSet<AgentId>, StoreError> {
        let ids: Vec<i32> = ids.iter().map(|id| id.0).collect();
        let mut existing = BTreeSet::new();
        for ids in ids.chunks(KEYS_MAX) {
            let found: Vec<i32> = read!(self, "agent.existing", |conn| {
                Ok(agent::table
                    .filter(agent::id.eq_any(ids))
                    .filter(agent::deleted.eq(false))
                    .select(agent::id)
                    .load(conn)
                    .await?)
            })?;
            existing.extend(found.into_iter().map(AgentId));
        }
        Ok(existing)
    }
}
