mod rows;

use std::collections::BTreeSet;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::Integer;
use diesel_async::{AsyncConnection, RunQueryDsl};
use trove_domain::access::Role;
use trove_domain::error::StoreError;
use trove_domain::id::{AgentId, GroupId, LlmProviderId, UserId};
use trove_domain::llm_provider::{LlmProvider, LlmProviderDetails, ModelPurpose, ProviderUse};
use trove_domain::port::{
    DefaultRefusal, LlmProviderStore, NewLlmProvider, ProviderRefusal, ProviderRemoval,
};
use trove_domain::secret::SealedSecret;

use self::rows::{PROVIDER, Parts, ProviderRow, model_row, provider};
use crate::Store;
use crate::backend::{KEYS_MAX, read, transact};
use crate::error::Failure;
use crate::locks::Locks;
use crate::schema::{
    llm_default, llm_model_configuration, llm_provider, llm_provider_agent, llm_provider_group,
    user_group, user_group_member,
};
use crate::sql::{Id, Time};

/// The providers whose ids a query answers, whole, by rising id.
macro_rules! load {
    ($conn:expr, $ids:expr) => {{
        let ids: Vec<i32> = $ids;
        let rows: Vec<ProviderRow> = llm_provider::table
            .filter(llm_provider::id.eq_any(&ids))
            .order(llm_provider::id)
            .select(PROVIDER)
            .load($conn)
            .await?;
        let parts = Parts {
            models: llm_model_configuration::table
                .filter(llm_model_configuration::provider_id.eq_any(&ids))
                .order(llm_model_configuration::position)
                .select(rows::MODEL)
                .load($conn)
                .await?,
            groups: llm_provider_group::table
                .filter(llm_provider_group::provider_id.eq_any(&ids))
                .select((llm_provider_group::provider_id, llm_provider_group::group_id))
                .load($conn)
                .await?,
            agents: llm_provider_agent::table
                .filter(llm_provider_agent::provider_id.eq_any(&ids))
                .select((llm_provider_agent::provider_id, llm_provider_agent::agent_id))
                .load($conn)
                .await?,
            defaults: llm_default::table
                .filter(llm_default::provider_id.eq_any(&ids))
                .select((llm_default::provider_id, llm_default::purpose))
                .load($conn)
                .await?,
        };
        rows.into_iter()
            .map(|row| provider(row, &parts))
            .collect::<Result<Vec<LlmProvider>, Failure>>()?
    }};
}

/// Ids of all providers.
macro_rules! all_ids {
    ($conn:expr) => {
        llm_provider::table.select(llm_provider::id).load($conn).await?
    };
}

/// Writes what hangs on a provider; undoes the step when one of its groups does not exist.
macro_rules! insert_parts {
    ($conn:expr, $id:expr, $details:expr) => {
        // SQLite takes one row in a statement, and its statements are cheap.
        for (position, model) in $details.models.iter().enumerate() {
            diesel::insert_into(llm_model_configuration::table)
                .values(model_row($id, position, model)?)
                .execute($conn)
                .await?;
        }
        let groups: Vec<i32> = $details.groups.iter().map(|group| group.0).collect();
        for groups in groups.chunks(KEYS_MAX) {
            let linked = crate::groups::living_groups!()
                .filter(user_group::id.eq_any(groups))
                .select(($id.into_sql::<Integer>(), user_group::id))
                .insert_into(llm_provider_group::table)
                .into_columns((llm_provider_group::provider_id, llm_provider_group::group_id))
                .execute($conn)
                .await?;
            if linked < groups.len() {
                return Err(Failure::Refused);
            }
        }
        for agent in &$details.agents {
            diesel::insert_into(llm_provider_agent::table)
                .values((
                    llm_provider_agent::provider_id.eq($id),
                    llm_provider_agent::agent_id.eq(agent.0),
                ))
                .execute($conn)
                .await?;
        }
    };
}

/// The columns that `details` decides.
macro_rules! columns {
    ($details:expr, $revision:expr, $now:expr) => {{
        let model = |purpose| $details.default_models.get(&purpose);
        (
            llm_provider::revision.eq($revision),
            llm_provider::name.eq(&$details.name),
            llm_provider::kind.eq(&$details.kind),
            llm_provider::api_base.eq(&$details.api_base),
            llm_provider::api_version.eq(&$details.api_version),
            llm_provider::deployment.eq(&$details.deployment),
            llm_provider::api_key.eq(stored($details.api_key.as_ref())),
            llm_provider::custom_config.eq(stored($details.custom_config.as_ref())),
            llm_provider::text_model.eq(model(ModelPurpose::Text)),
            llm_provider::vision_model.eq(model(ModelPurpose::Vision)),
            llm_provider::chat_naming_model.eq(model(ModelPurpose::ChatNaming)),
            llm_provider::public.eq($details.public),
            llm_provider::auto_mode.eq($details.auto_mode),
            llm_provider::updated_at.eq(Time($now)),
        )
    }};
}

/// Whether another provider than `id` has the name.
macro_rules! is_taken {
    ($conn:expr, $name:expr, $id:expr) => {{
        let others: i64 = llm_provider::table
            .filter(llm_provider::name.eq(&$name))
            .filter(llm_provider::id.ne($id))
            .count()
            .get_result($conn)
            .await?;
        others > 0
    }};
}

const FIRST_REVISION: i64 = 1;

fn stored(secret: Option<&SealedSecret>) -> Option<String> {
    secret.map(SealedSecret::to_stored)
}

/// Whether all secrets are sealed with the key of the database, if it has one.
fn fits(details: &LlmProviderDetails, key: Option<&str>) -> bool {
    let secrets = [&details.api_key, &details.custom_config];
    let mut sealed = secrets.into_iter().flatten();
    key.is_none_or(|key| sealed.all(|secret| secret.key().as_str() == key))
}

#[async_trait]
impl LlmProviderStore for Store {
    #[tracing::instrument(name = "db.llm_provider.insert", skip_all)]
    async fn insert(
        &self,
        provider: NewLlmProvider,
    ) -> Result<Result<LlmProvider, ProviderRefusal>, StoreError> {
        let NewLlmProvider { uuid, details, created_at } = provider;
        let refused = Err(ProviderRefusal::NoSuchGroup);
        transact!(self, "llm_provider.insert", refused refused, |conn| {
            // First, and to the end: one provider is written at a time.
            let key = conn.lock_secret_key().await?;
            if !fits(&details, key.as_deref()) {
                return Ok(Err(ProviderRefusal::KeyChanged));
            }
            let ids: Vec<i32> = all_ids!(conn);
            if ids.len() >= LlmProvider::COUNT_MAX {
                return Ok(Err(ProviderRefusal::Full));
            }
            if is_taken!(conn, details.name, 0) {
                return Ok(Err(ProviderRefusal::NameTaken));
            }
            let id: i32 = diesel::insert_into(llm_provider::table)
                .values((
                    llm_provider::uuid.eq(Id(uuid)),
                    llm_provider::created_at.eq(Time(created_at)),
                    columns!(details, FIRST_REVISION, created_at),
                ))
                .returning(llm_provider::id)
                .get_result(conn)
                .await?;
            insert_parts!(conn, id, details);
            Ok(Ok(LlmProvider {
                id: LlmProviderId(id),
                uuid,
                revision: FIRST_REVISION,
                details: details.clone(),
                default_for: BTreeSet::new(),
            }))
        })
    }

    #[tracing::instrument(name = "db.llm_provider.replace", skip_all, fields(llm_provider.id = %id))]
    async fn replace(
        &self,
        id: LlmProviderId,
        revision: i64,
        details: LlmProviderDetails,
        now: DateTime<Utc>,
    ) -> Result<Result<LlmProvider, ProviderRefusal>, StoreError> {
        let refused = Err(ProviderRefusal::NoSuchGroup);
        transact!(self, "llm_provider.replace", refused refused, |conn| {
            let key = conn.lock_secret_key().await?;
            if !fits(&details, key.as_deref()) {
                return Ok(Err(ProviderRefusal::KeyChanged));
            }
            if is_taken!(conn, details.name, id.0) {
                return Ok(Err(ProviderRefusal::NameTaken));
            }
            let present = llm_provider::table.find(id.0).filter(llm_provider::revision.eq(revision));
            let changed = diesel::update(present)
                .set(columns!(details, revision + 1, now))
                .execute(conn)
                .await?;
            if changed == 0 {
                return Ok(Err(ProviderRefusal::Superseded));
            }
            diesel::delete(llm_model_configuration::table)
                .filter(llm_model_configuration::provider_id.eq(id.0))
                .execute(conn)
                .await?;
            diesel::delete(llm_provider_group::table)
                .filter(llm_provider_group::provider_id.eq(id.0))
                .execute(conn)
                .await?;
            diesel::delete(llm_provider_agent::table)
                .filter(llm_provider_agent::provider_id.eq(id.0))
                .execute(conn)
                .await?;
            insert_parts!(conn, id.0, details);
            let replaced = load!(conn, vec![id.0]).pop();
            Ok(replaced.ok_or(ProviderRefusal::Superseded))
        })
    }

    #[tracing::instrument(name = "db.llm_provider.get", skip_all, fields(llm_provider.id = %id))]
    async fn get(&self, id: LlmProviderId) -> Result<Option<LlmProvider>, StoreError> {
        read!(self, "llm_provider.get", |conn| { Ok(load!(conn, vec![id.0]).pop()) })
    }

    #[tracing::instrument(name = "db.llm_provider.get_by_name", skip_all)]
    async fn get_by_name(&self, name: &str) -> Result<Option<LlmProvider>, StoreError> {
        // PostgreSQL has no text with NUL, hence no such name.
        if name.contains('\0') {
            return Ok(None);
        }
        read!(self, "llm_provider.get_by_name", |conn| {
            let ids = llm_provider::table
                .filter(llm_provider::name.eq(name))
                .select(llm_provider::id)
                .load(conn)
                .await?;
            Ok(load!(conn, ids).pop())
        })
    }

    #[tracing::instrument(name = "db.llm_provider.get_default", skip_all)]
    async fn get_default(&self, purpose: ModelPurpose) -> Result<Option<LlmProvider>, StoreError> {
        read!(self, "llm_provider.get_default", |conn| {
            let ids = llm_default::table
                .find(purpose.as_str())
                .select(llm_default::provider_id)
                .load(conn)
                .await?;
            Ok(load!(conn, ids).pop())
        })
    }

    #[tracing::instrument(name = "db.llm_provider.list", skip_all)]
    async fn list(&self) -> Result<Vec<LlmProvider>, StoreError> {
        read!(self, "llm_provider.list", |conn| {
            let ids = all_ids!(conn);
            Ok(load!(conn, ids))
        })
    }

    #[tracing::instrument(name = "db.llm_provider.list_usable", skip_all)]
    async fn list_usable(
        &self,
        user: UserId,
        role: Role,
        agent: Option<AgentId>,
    ) -> Result<Vec<LlmProvider>, StoreError> {
        read!(self, "llm_provider.list_usable", |conn| {
            let groups: Vec<i32> = user_group_member::table
                .filter(user_group_member::user_id.eq(Id(user.0)))
                .select(user_group_member::group_id)
                .load(conn)
                .await?;
            let groups: BTreeSet<GroupId> = groups.into_iter().map(GroupId).collect();
            let ids = all_ids!(conn);
            let mut providers = load!(conn, ids);
            // There are few, and the rule is in one place.
            let wanted = ProviderUse { role, groups: &groups, agent };
            providers.retain(|provider| provider.details.may_be_used(wanted));
            Ok(providers)
        })
    }

    #[tracing::instrument(name = "db.llm_provider.set_default", skip_all, fields(llm_provider.id = %id))]
    async fn set_default(
        &self,
        purpose: ModelPurpose,
        id: LlmProviderId,
        model: Option<&str>,
        now: DateTime<Utc>,
    ) -> Result<Result<(), DefaultRefusal>, StoreError> {
        transact!(self, "llm_provider.set_default", |conn| {
            conn.lock_secret_key().await?;
            let Some(mut provider) = load!(conn, vec![id.0]).pop() else {
                return Ok(Err(DefaultRefusal::NoSuchProvider));
            };
            let known = match model {
                Some(model) => provider.details.model(model).is_some(),
                None => provider.details.default_models.contains_key(&purpose),
            };
            if !known {
                return Ok(Err(DefaultRefusal::NoSuchModel));
            }
            if let Some(model) = model {
                let details = &mut provider.details;
                details.default_models.insert(purpose, model.to_owned());
                details.list_default_models();
                diesel::update(llm_provider::table.find(id.0))
                    .set(columns!(details, provider.revision + 1, now))
                    .execute(conn)
                    .await?;
                let default = llm_model_configuration::table.find((id.0, model));
                diesel::update(default)
                    .set(llm_model_configuration::visible.eq(true))
                    .execute(conn)
                    .await?;
            }
            diesel::insert_into(llm_default::table)
                .values((
                    llm_default::purpose.eq(purpose.as_str()),
                    llm_default::provider_id.eq(id.0),
                ))
                .on_conflict(llm_default::purpose)
                .do_update()
                .set(llm_default::provider_id.eq(id.0))
                .execute(conn)
                .await?;
            Ok(Ok(()))
        })
    }

    #[tracing::instrument(name = "db.llm_provider.remove", skip_all, fields(llm_provider.id = %id))]
    async fn remove(&self, id: LlmProviderId, force: bool) -> Result<ProviderRemoval, StoreError> {
        transact!(self, "llm_provider.remove", |conn| {
            conn.lock_secret_key().await?;
            let defaults: i64 = llm_default::table
                .filter(llm_default::provider_id.eq(id.0))
                .count()
                .get_result(conn)
                .await?;
            if defaults > 0 && !force {
                return Ok(ProviderRemoval::IsDefault);
            }
            let removed = diesel::delete(llm_provider::table.find(id.0)).execute(conn).await?;
            Ok(if removed == 1 { ProviderRemoval::Removed } else { ProviderRemoval::Missing })
        })
    }
}
