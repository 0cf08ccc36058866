//! Credentials, their secrets sealed.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::{Bool, Integer};
use diesel_async::{AsyncConnection, RunQueryDsl};
use trove_domain::access::Caller;
use trove_domain::credential::{Credential, CredentialDetails};
use trove_domain::error::{Source, StoreError};
use trove_domain::id::{CredentialId, GroupId, UserId};
use trove_domain::job::NewJob;
use trove_domain::port::{
    CredentialRefusal, CredentialRemoval, CredentialStore, NewCredential, Reach,
};
use trove_domain::secret::SealedSecret;
use trove_domain::source::DocumentSource;

use crate::Store;
use crate::backend::{KEYS_MAX, read, transact};
use crate::documents::mark_dirty;
use crate::error::{Failure, corrupt};
use crate::jobs::insert_job;
use crate::locks::Locks;
use crate::rights::{Power, own_groups};
use crate::schema::{
    cc_pair, credential, credential_group, document_cc_pair, user_account, user_group,
    user_group_member,
};
use crate::sql::{Id, Time};

const FIRST_REVISION: i64 = 1;

#[derive(Queryable, Selectable)]
#[diesel(table_name = credential)]
struct CredentialRow {
    id: i32,
    name: Option<String>,
    source: String,
    owner_id: Option<Id>,
    created_at: Time,
    updated_at: Time,
    secret: Option<String>,
    uuid: Id,
    revision: i64,
    admin_public: bool,
    curator_public: bool,
}

fn from_row(
    row: CredentialRow,
    owner_email: Option<String>,
    groups: BTreeSet<GroupId>,
) -> Result<Credential, Failure> {
    let id = row.id;
    // What it says instead may be a secret in the clear.
    let sealed = |text: String| SealedSecret::from_stored(&text).ok_or("it is not sealed");
    let secret = row.secret.map(sealed).transpose();
    let secret = secret.map_err(|why: &str| corrupt::<Source>("credential", id)(why.into()))?;
    Ok(Credential {
        id: CredentialId(id),
        uuid: row.uuid.0,
        revision: row.revision,
        details: CredentialDetails {
            name: row.name,
            source: row.source.parse().map_err(corrupt("credential", id))?,
            secret,
            admin_public: row.admin_public,
            curator_public: row.curator_public,
            groups,
        },
        owner: row.owner_id.map(|owner| UserId(owner.0)),
        owner_email,
        created_at: row.created_at.0,
        updated_at: row.updated_at.0,
    })
}

/// Loads the credentials of a query over `credential`, joined with their owners.
macro_rules! load {
    ($conn:expr, $query:expr) => {{
        let rows: Vec<(CredentialRow, Option<String>)> = $query
            .select((CredentialRow::as_select(), user_account::email.nullable()))
            .load($conn)
            .await?;
        let ids: Vec<i32> = rows.iter().map(|(row, _)| row.id).collect();
        let mut groups: BTreeMap<i32, BTreeSet<GroupId>> = BTreeMap::new();
        for ids in ids.chunks(KEYS_MAX) {
            let links: Vec<(i32, i32)> = credential_group::table
                .filter(credential_group::credential_id.eq_any(ids))
                .select((credential_group::credential_id, credential_group::group_id))
                .load($conn)
                .await?;
            for (id, group) in links {
                groups.entry(id).or_default().insert(GroupId(group));
            }
        }
        rows.into_iter()
            .map(|(row, email)| {
                let groups = groups.remove(&row.id).unwrap_or_default();
                from_row(row, email, groups)
            })
            .collect::<Result<Vec<Credential>, Failure>>()?
    }};
}

macro_rules! get {
    ($conn:expr, $id:expr) => {{
        let query = credential::table.left_join(user_account::table).filter(credential::id.eq($id));
        load!($conn, query).pop()
    }};
}

/// Sources whose credentials hold no secret.
fn open_sources() -> Vec<&'static str> {
    Credential::SOURCES_WITHOUT_SECRET.iter().map(|source| source.as_str()).collect()
}

/// The groups that a caller controls.
macro_rules! controlled_groups {
    ($power:expr) => {
        own_groups!($power)
            .filter(user_group_member::curator.or($power.controls_all.into_sql::<Bool>()))
    };
}

/// Whether an administrator gets at a credential.
macro_rules! administered {
    () => {
        credential::owner_id
            .is_null()
            .or(credential::admin_public)
            .or(credential::source.eq_any(open_sources()))
    };
}

macro_rules! visible {
    ($power:expr) => {{
        let of_groups = credential_group::table
            .filter(credential_group::group_id.eq_any(controlled_groups!($power)))
            .select(credential_group::credential_id);
        let curated = credential::curator_public
            .or(credential::source.eq_any(open_sources()))
            .or(credential::id.eq_any(of_groups));
        // Whose there is none is nobody's own.
        credential::owner_id
            .eq($power.me)
            .or($power.administers.into_sql::<Bool>().and(administered!()))
            .or($power.curates.into_sql::<Bool>().and(curated))
    }};
}

macro_rules! editable {
    ($power:expr) => {{
        let shared = credential_group::table.select(credential_group::credential_id);
        let beyond = credential_group::table
            .filter(credential_group::group_id.ne_all(controlled_groups!($power)))
            .select(credential_group::credential_id);
        let in_own_groups = credential::id.eq_any(shared).and(credential::id.ne_all(beyond));
        let curated = credential::source.eq_any(open_sources()).or(in_own_groups);
        let somebody = credential::owner_id
            .eq($power.me)
            .or($power.administers.into_sql::<Bool>().and(administered!()))
            .or($power.curates.into_sql::<Bool>().and(curated));
        credential::id.ne(Credential::BUILT_IN.0).and(somebody)
    }};
}

macro_rules! columns {
    ($details:expr, $revision:expr, $now:expr) => {
        (
            credential::name.eq(&$details.name),
            credential::source.eq($details.source.as_str()),
            credential::secret.eq($details.secret.as_ref().map(SealedSecret::to_stored)),
            credential::admin_public.eq($details.admin_public),
            credential::curator_public.eq($details.curator_public),
            credential::revision.eq($revision),
            credential::updated_at.eq(Time($now)),
        )
    };
}

macro_rules! insert_groups {
    ($conn:expr, $id:expr, $details:expr) => {
        let groups: Vec<i32> = $details.groups.iter().map(|group| group.0).collect();
        for groups in groups.chunks(KEYS_MAX) {
            let linked = crate::groups::living_groups!()
                .filter(user_group::id.eq_any(groups))
                .select(($id.into_sql::<Integer>(), user_group::id))
                .insert_into(credential_group::table)
                .into_columns((credential_group::credential_id, credential_group::group_id))
                .execute($conn)
                .await?;
            if linked < groups.len() {
                return Err(Failure::Refused);
            }
        }
    };
}

/// Whether the secret is sealed with the key of the database, if it has one.
fn fits(details: &CredentialDetails, key: Option<&str>) -> bool {
    let sealed = details.secret.as_ref();
    key.is_none_or(|key| sealed.is_none_or(|secret| secret.key().as_str() == key))
}

#[async_trait]
impl CredentialStore for Store {
    #[tracing::instrument(name = "db.credential.insert", skip_all)]
    async fn insert(
        &self,
        new: NewCredential,
    ) -> Result<Result<Credential, CredentialRefusal>, StoreError> {
        let NewCredential { uuid, details, owner, created_at } = new;
        let refused = Err(CredentialRefusal::NoSuchGroup);
        transact!(self, "credential.insert", refused refused, |conn| {
            // First, and to the end: one secret is written at a time.
            let key = conn.lock_secret_key().await?;
            if !fits(&details, key.as_deref()) {
                return Ok(Err(CredentialRefusal::KeyChanged));
            }
            let count: i64 = credential::table.count().get_result(conn).await?;
            if usize::try_from(count).is_ok_and(|count| count >= Credential::COUNT_MAX) {
                return Ok(Err(CredentialRefusal::Full));
            }
            let id: i32 = diesel::insert_into(credential::table)
                .values((
                    columns!(details, FIRST_REVISION, created_at),
                    credential::uuid.eq(Id(uuid)),
                    credential::owner_id.eq(owner.map(|owner| Id(owner.0))),
                    credential::created_at.eq(Time(created_at)),
                ))
                .returning(credential::id)
                .get_result(conn)
                .await?;
            insert_groups!(conn, id, details);
            Ok(get!(conn, id).ok_or(CredentialRefusal::Superseded))
        })
    }

    #[tracing::instrument(name = "db.credential.get", skip_all, fields(credential.id = %id))]
    async fn get(&self, id: CredentialId) -> Result<Option<Credential>, StoreError> {
        read!(self, "credential.get", |conn| { Ok(get!(conn, id.0)) })
    }

    #[tracing::instrument(name = "db.credential.find", skip_all, fields(credential.id = %id))]
    async fn find(
        &self,
        caller: &Caller,
        id: CredentialId,
        reach: Reach,
    ) -> Result<Option<Credential>, StoreError> {
        let power = Power::of(caller);
        read!(self, "credential.find", |conn| {
            let query =
                credential::table.left_join(user_account::table).filter(credential::id.eq(id.0));
            let mut found = match reach {
                Reach::Visible => load!(conn, query.filter(visible!(power))),
                Reach::Editable => load!(conn, query.filter(editable!(power))),
            };
            Ok(found.pop())
        })
    }

    #[tracing::instrument(name = "db.credential.list", skip_all)]
    async fn list(
        &self,
        caller: &Caller,
        reach: Reach,
        source: Option<DocumentSource>,
        after: Option<CredentialId>,
        limit: u32,
    ) -> Result<Vec<Credential>, StoreError> {
        let power = Power::of(caller);
        let (any, source) = (source.is_none(), source.map_or("", DocumentSource::as_str));
        read!(self, "credential.list", |conn| {
            let query = credential::table
                .left_join(user_account::table)
                .filter(credential::id.gt(after.map_or(i32::MIN, |id| id.0)))
                .filter(any.into_sql::<Bool>().or(credential::source.eq(source)))
                .order(credential::id)
                .limit(i64::from(limit));
            Ok(match reach {
                Reach::Visible => load!(conn, query.filter(visible!(power))),
                Reach::Editable => load!(conn, query.filter(editable!(power))),
            })
        })
    }

    #[tracing::instrument(name = "db.credential.replace", skip_all, fields(credential.id = %id))]
    async fn replace(
        &self,
        editor: &Caller,
        id: CredentialId,
        revision: i64,
        details: CredentialDetails,
        now: DateTime<Utc>,
        job: NewJob,
    ) -> Result<Result<Credential, CredentialRefusal>, StoreError> {
        let refused = Err(CredentialRefusal::NoSuchGroup);
        let (power, job_id) = (Power::of(editor), self.ids().uuid());
        transact!(self, "credential.replace", refused refused, |conn| {
            let key = conn.lock_secret_key().await?;
            if !fits(&details, key.as_deref()) {
                return Ok(Err(CredentialRefusal::KeyChanged));
            }
            let pairs: Vec<i32> = cc_pair::table
                .filter(cc_pair::credential_id.eq(id.0))
                .order(cc_pair::id)
                .select(cc_pair::id)
                .load(conn)
                .await?;
            conn.lock_pairs(&pairs).await?;
            let present =
                credential::table.find(id.0).filter(credential::id.ne(Credential::BUILT_IN.0));
            let owner: Option<Option<Id>> = present
                .filter(credential::revision.eq(revision))
                .select(credential::owner_id)
                .first(conn)
                .await
                .optional()?;
            let Some(owner) = owner else { return Ok(Err(CredentialRefusal::Superseded)) };
            let own: i64 = cc_pair::table
                .filter(cc_pair::id.eq_any(&pairs))
                .filter(crate::pairs::editable!(power))
                .count()
                .get_result(conn)
                .await?;
            let takes_over = usize::try_from(own).is_ok_and(|own| own == pairs.len());
            let changed = diesel::update(present.filter(credential::revision.eq(revision)))
                .set(columns!(details, revision + 1, now))
                .execute(conn)
                .await?;
            if changed == 0 {
                return Ok(Err(CredentialRefusal::Superseded));
            }
            if takes_over && owner != Some(power.me) {
                diesel::update(credential::table.find(id.0))
                    .set(credential::owner_id.eq(Some(power.me)))
                    .execute(conn)
                    .await?;
                mark_dirty!(conn, &pairs, now);
                insert_job!(conn, job_id, job);
            }
            diesel::delete(credential_group::table)
                .filter(credential_group::credential_id.eq(id.0))
                .execute(conn)
                .await?;
            insert_groups!(conn, id.0, details);
            Ok(get!(conn, id.0).ok_or(CredentialRefusal::Superseded))
        })
    }

    #[tracing::instrument(name = "db.credential.remove", skip_all, fields(credential.id = %id))]
    async fn remove(&self, id: CredentialId) -> Result<CredentialRemoval, StoreError> {
        if id == Credential::BUILT_IN {
            return Ok(CredentialRemoval::Missing);
        }
        transact!(self, "credential.remove", |conn| {
            conn.lock_secret_key().await?;
            conn.lock_credential(id.0).await?;
            let pairs: Vec<i32> = cc_pair::table
                .filter(cc_pair::credential_id.eq(id.0))
                .select(cc_pair::id)
                .load(conn)
                .await?;
            if !pairs.is_empty() {
                let documents: i64 = document_cc_pair::table
                    .filter(document_cc_pair::cc_pair_id.eq_any(&pairs))
                    .count()
                    .get_result(conn)
                    .await?;
                return Ok(CredentialRemoval::InUse {
                    pairs: u64::try_from(pairs.len()).unwrap_or(u64::MAX),
                    documents: u64::try_from(documents).unwrap_or_default(),
                });
            }
            let removed = diesel::delete(credential::table.find(id.0)).execute(conn).await?;
            Ok(if removed == 1 { CredentialRemoval::Removed } else { CredentialRemoval::Missing })
        })
    }
}
