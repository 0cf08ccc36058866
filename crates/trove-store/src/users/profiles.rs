//! What users set for themselves, as JSON.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncConnection, RunQueryDsl};
use serde::{Deserialize, Serialize};
use trove_domain::error::StoreError;
use trove_domain::id::UserId;
use trove_domain::port::ProfileStore;
use trove_domain::preferences::{
    Memory, Personalization, Preferences, Profile, ProfileChange, UnknownPreference,
};

use crate::Store;
use crate::backend::{read, transact};
use crate::error::{Failure, corrupt};
use crate::locks::Locks;
use crate::schema::{user_account, user_profile};
use crate::sql::{Id, Time};

/// [`Preferences`] in the database. A field that is missing has not been set.
#[derive(Default, Deserialize, Serialize)]
#[serde(default)]
struct PreferencesJson {
    hidden_agents: Vec<i64>,
    visible_agents: Vec<i64>,
    pinned_agents: Option<Vec<i64>>,
    default_model: Option<String>,
    shortcuts: Option<bool>,
    auto_scroll: Option<bool>,
    temperature_override: Option<bool>,
    theme: Option<String>,
    chat_background: Option<String>,
    app_mode: Option<String>,
}

impl From<Preferences> for PreferencesJson {
    fn from(preferences: Preferences) -> Self {
        Self {
            hidden_agents: preferences.hidden_agents,
            visible_agents: preferences.visible_agents,
            pinned_agents: preferences.pinned_agents,
            default_model: preferences.default_model,
            shortcuts: preferences.shortcuts,
            auto_scroll: preferences.auto_scroll,
            temperature_override: preferences.temperature_override,
            theme: preferences.theme.map(|theme| theme.to_string()),
            chat_background: preferences.chat_background,
            app_mode: Some(preferences.app_mode.to_string()),
        }
    }
}

impl TryFrom<PreferencesJson> for Preferences {
    type Error = UnknownPreference;

    fn try_from(json: PreferencesJson) -> Result<Self, UnknownPreference> {
        let mode = json.app_mode.map(|mode| mode.parse()).transpose()?;
        Ok(Self {
            hidden_agents: json.hidden_agents,
            visible_agents: json.visible_agents,
            pinned_agents: json.pinned_agents,
            default_model: json.default_model,
            shortcuts: json.shortcuts,
            auto_scroll: json.auto_scroll,
            temperature_override: json.temperature_override,
            theme: json.theme.map(|theme| theme.parse()).transpose()?,
            chat_background: json.chat_background,
            app_mode: mode.unwrap_or_default(),
        })
    }
}

/// [`Personalization`] in the database, without the name, which is in the account.
#[derive(Deserialize, Serialize)]
struct PersonalizationJson {
    job_title: String,
    use_memories: bool,
    memory_tool: bool,
    memories: Vec<(i64, String)>,
    wishes: String,
}

impl PersonalizationJson {
    fn new(personalization: Personalization) -> Self {
        let memories = personalization.memories.into_iter();
        Self {
            job_title: personalization.job_title,
            use_memories: personalization.use_memories,
            memory_tool: personalization.memory_tool,
            memories: memories.map(|memory| (memory.id, memory.content)).collect(),
            wishes: personalization.wishes,
        }
    }

    fn named(self, name: String) -> Personalization {
        let memory = |(id, content)| Memory { id, content };
        Personalization {
            name,
            job_title: self.job_title,
            use_memories: self.use_memories,
            memory_tool: self.memory_tool,
            memories: self.memories.into_iter().map(memory).collect(),
            wishes: self.wishes,
        }
    }
}

/// Name, preferences and personalization.
type ProfileRow = (Option<String>, Option<String>, Option<String>);

fn profile(
    user: UserId,
    (name, preferences, personalization): ProfileRow,
) -> Result<Profile, Failure> {
    let name = name.unwrap_or_default();
    let preferences = match preferences {
        Some(json) => {
            let json: PreferencesJson =
                serde_json::from_str(&json).map_err(corrupt("profile", user))?;
            json.try_into().map_err(corrupt("profile", user))?
        }
        None => Preferences::default(),
    };
    let personalization = match personalization {
        Some(json) => {
            let json: PersonalizationJson =
                serde_json::from_str(&json).map_err(corrupt("profile", user))?;
            json.named(name)
        }
        None => Personalization { name, ..Personalization::default() },
    };
    Ok(Profile { preferences, personalization })
}

/// The profile of a user that is there.
macro_rules! load_profile {
    ($conn:expr, $user:expr) => {{
        let row: Option<ProfileRow> = user_account::table
            .left_join(user_profile::table.on(user_profile::user_id.eq(user_account::id)))
            .filter(user_account::id.eq(Id($user.0)))
            .select((
                user_account::name,
                user_profile::preferences.nullable(),
                user_profile::personalization.nullable(),
            ))
            .first($conn)
            .await
            .optional()?;
        row.map(|row| profile($user, row)).transpose()?
    }};
}

fn json(value: &impl Serialize) -> String {
    // Plain structures have no way to fail.
    serde_json::to_string(value).unwrap_or_default()
}

#[async_trait]
impl ProfileStore for Store {
    #[tracing::instrument(name = "db.profile.get", skip_all)]
    async fn get(&self, user: UserId) -> Result<Profile, StoreError> {
        read!(self, "profile.get", |conn| { Ok(load_profile!(conn, user).unwrap_or_default()) })
    }

    #[tracing::instrument(name = "db.profile.change", skip_all)]
    async fn change(
        &self,
        user: UserId,
        change: ProfileChange,
        now: DateTime<Utc>,
    ) -> Result<bool, StoreError> {
        transact!(self, "profile.change", |conn| {
            conn.lock_user(Id(user.0)).await?;
            let Some(profile) = load_profile!(conn, user) else { return Ok(false) };
            let old_name = profile.personalization.name.clone();
            let Profile { preferences, personalization } = profile.after(change.clone());
            let name = personalization.name.clone();
            let preferences = json(&PreferencesJson::from(preferences));
            let personalization = json(&PersonalizationJson::new(personalization));
            let values = (
                user_profile::preferences.eq(&preferences),
                user_profile::personalization.eq(&personalization),
            );
            diesel::insert_into(user_profile::table)
                .values((user_profile::user_id.eq(Id(user.0)), values))
                .on_conflict(user_profile::user_id)
                .do_update()
                .set(values)
                .execute(conn)
                .await?;
            if name != old_name {
                let name = Some(name).filter(|name| !name.is_empty());
                diesel::update(user_account::table.find(Id(user.0)))
                    .set((user_account::name.eq(name), user_account::updated_at.eq(Time(now))))
                    .execute(conn)
                    .await?;
            }
            Ok(true)
        })
    }
}
