//! Labels of agents.

use diesel::prelude::*;
use diesel_async::{AsyncConnection, RunQueryDsl};
use trove_domain::agent::{Agent, AgentLabel};
use trove_domain::error::StoreError;
use trove_domain::id::LabelId;

use crate::Store;
use crate::backend::{read, transact};
use crate::schema::agent_label;

impl Store {
    pub(super) async fn agent_labels(&self) -> Result<Vec<AgentLabel>, StoreError> {
        read!(self, "agent.labels", |conn| {
            let rows: Vec<(i32, String)> = agent_label::table
                .order(agent_label::id)
                .limit(i64::from(Agent::LABELS_MAX))
                .select((agent_label::id, agent_label::name))
                .load(conn)
                .await?;
            let labels = rows.into_iter().map(|(id, name)| AgentLabel { id: LabelId(id), name });
            Ok(labels.collect())
        })
    }

    pub(super) async fn insert_agent_label(
        &self,
        name: &str,
    ) -> Result<Option<AgentLabel>, StoreError> {
        transact!(self, "agent.insert_label", |conn| {
            let labels: i64 = agent_label::table.count().get_result(conn).await?;
            if labels >= i64::from(Agent::LABELS_MAX) {
                return Ok(None);
            }
            let id: Option<i32> = diesel::insert_into(agent_label::table)
                .values(agent_label::name.eq(name))
                .on_conflict_do_nothing()
                .returning(agent_label::id)
                .get_result(conn)
                .await
                .optional()?;
            Ok(id.map(|id| AgentLabel { id: LabelId(id), name: name.to_owned() }))
        })
    }
}
