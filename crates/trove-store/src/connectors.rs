//! Connectors.

use std::collections::BTreeMap;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncConnection, RunQueryDsl};
use serde_json::{Map, Value};
use trove_domain::cc_pair::CcPairStatus;
use trove_domain::connector::{Connector, ConnectorDetails};
use trove_domain::error::StoreError;
use trove_domain::id::{ConnectorId, CredentialId};
use trove_domain::indexing::IndexingTrigger;
use trove_domain::port::{
    ConnectorRefusal, ConnectorRemoval, ConnectorReplacement, ConnectorStore, NewConnector,
    WantedOfPairs,
};
use trove_domain::stored_file::StoredFile;

use crate::Store;
use crate::backend::{KEYS_MAX, read, transact};
use crate::error::{Failure, corrupt};
use crate::locks::Locks;
use crate::schema::{cc_pair, connector, document_cc_pair};
use crate::sql::Time;
use crate::stored_files::finish;

/// The connector of posted documents.
const INGESTION_API: i32 = 0;

#[derive(Queryable, Selectable)]
#[diesel(table_name = connector)]
struct ConnectorRow {
    id: i32,
    name: String,
    source: String,
    config: String,
    created_at: Time,
    updated_at: Time,
    input_type: String,
    refresh_freq_s: Option<i32>,
    prune_freq_s: Option<i32>,
    indexing_start: Option<Time>,
}

fn from_row(row: ConnectorRow, pairs: &[(i32, String)]) -> Result<Connector, Failure> {
    let id = row.id;
    let config: Map<String, Value> =
        serde_json::from_str(&row.config).map_err(corrupt("connector", id))?;
    Ok(Connector {
        id: ConnectorId(id),
        details: ConnectorDetails {
            name: row.name,
            source: row.source.parse().map_err(corrupt("connector", id))?,
            input_type: row.input_type.parse().map_err(corrupt("connector", id))?,
            config,
            refresh_freq_s: row.refresh_freq_s,
            prune_freq_s: row.prune_freq_s,
        },
        indexing_start: row.indexing_start.map(|at| at.0),
        credentials: pairs.iter().map(|(credential, _)| CredentialId(*credential)).collect(),
        built_in: id == INGESTION_API || pairs.iter().any(|(_, run_by)| run_by != "schedule"),
        created_at: row.created_at.0,
        updated_at: row.updated_at.0,
    })
}

/// Puts connectors together with what their pairs say.
macro_rules! with_pairs {
    ($conn:expr, $rows:expr) => {{
        let rows: Vec<ConnectorRow> = $rows;
        let ids: Vec<i32> = rows.iter().map(|row| row.id).collect();
        let mut pairs: BTreeMap<i32, Vec<(i32, String)>> = BTreeMap::new();
        for ids in ids.chunks(KEYS_MAX) {
            let links: Vec<(i32, i32, String)> = cc_pair::table
                .filter(cc_pair::connector_id.eq_any(ids))
                .select((cc_pair::connector_id, cc_pair::credential_id, cc_pair::run_by))
                .load($conn)
                .await?;
            for (connector, credential, run_by) in links {
                pairs.entry(connector).or_default().push((credential, run_by));
            }
        }
        rows.into_iter()
            .map(|row| {
                let own = pairs.remove(&row.id).unwrap_or_default();
                from_row(row, &own)
            })
            .collect::<Result<Vec<Connector>, Failure>>()?
    }};
}

macro_rules! get {
    ($conn:expr, $id:expr) => {{
        let rows = connector::table.find($id).select(ConnectorRow::as_select()).load($conn).await?;
        with_pairs!($conn, rows).pop()
    }};
}

/// Whether another connector than `id` has the name.
macro_rules! is_taken {
    ($conn:expr, $details:expr, $id:expr) => {{
        let others: i64 = connector::table
            .filter(connector::name.eq(&$details.name))
            .filter(connector::source.eq($details.source.as_str()))
            .filter(connector::id.ne($id))
            .count()
            .get_result($conn)
            .await?;
        others > 0
    }};
}

macro_rules! columns {
    ($details:expr, $now:expr) => {
        (
            connector::name.eq(&$details.name),
            connector::source.eq($details.source.as_str()),
            connector::config.eq(Value::Object($details.config.clone()).to_string()),
            connector::input_type.eq($details.input_type.as_str()),
            connector::refresh_freq_s.eq($details.refresh_freq_s),
            connector::prune_freq_s.eq($details.prune_freq_s),
            connector::updated_at.eq(Time($now)),
        )
    };
}

/// Asks the pairs of a connector that a schedule runs for something.
macro_rules! ask_pairs {
    ($conn:expr, $connector:expr, $wanted:expr) => {{
        let pairs: Vec<i32> = if $wanted == WantedOfPairs::default() {
            Vec::new()
        } else {
            cc_pair::table
                .filter(cc_pair::connector_id.eq($connector))
                .filter(cc_pair::run_by.eq("schedule"))
                .order(cc_pair::id)
                .select(cc_pair::id)
                .load($conn)
                .await?
        };
        $conn.lock_pairs(&pairs).await?;
        let living = || {
            cc_pair::table
                .filter(cc_pair::id.eq_any(pairs.clone()))
                .filter(cc_pair::status.ne(CcPairStatus::Deleting.as_str()))
        };
        if $wanted.update {
            diesel::update(living().filter(cc_pair::indexing_trigger.is_null()))
                .set(cc_pair::indexing_trigger.eq(Some(IndexingTrigger::Update.as_str())))
                .execute($conn)
                .await?;
        }
        if $wanted.prune {
            diesel::update(living()).set(cc_pair::prune_requested.eq(true)).execute($conn).await?;
        }
    }};
}

impl Store {
    /// Replaces what was decided about a connector, makes the files real that it then names, and
    /// asks its pairs for what is wanted of them.
    pub(crate) async fn replace_connector(
        &self,
        replacement: ConnectorReplacement,
        files: &[StoredFile],
    ) -> Result<Result<Connector, ConnectorRefusal>, StoreError> {
        let ConnectorReplacement { id, present, details, wanted, now } = replacement;
        let superseded = Err(ConnectorRefusal::Superseded);
        let replaced = transact!(self, "connector.replace", refused superseded, |conn| {
            conn.lock_connector(id.0).await?;
            let found: Option<Connector> = get!(conn, id.0);
            let Some(found) = found else { return Ok(Err(ConnectorRefusal::Missing)) };
            if found.built_in {
                return Ok(Err(ConnectorRefusal::BuiltIn));
            }
            if found.details != present {
                return Ok(Err(ConnectorRefusal::Superseded));
            }
            if is_taken!(conn, details, id.0) {
                return Ok(Err(ConnectorRefusal::NameTaken));
            }
            diesel::update(connector::table.find(id.0))
                .set(columns!(details, now))
                .execute(conn)
                .await?;
            if !finish!(conn, files) {
                return Err(Failure::Refused);
            }
            ask_pairs!(conn, id.0, wanted);
            Ok(get!(conn, id.0).ok_or(ConnectorRefusal::Missing))
        });
        match replaced {
            // Of two that take a name at the same time the database lets one.
            Err(error) if crate::error::is_taken(&error) => Ok(Err(ConnectorRefusal::NameTaken)),
            other => other,
        }
    }
}

#[async_trait]
impl ConnectorStore for Store {
    #[tracing::instrument(name = "db.connector.insert", skip_all)]
    async fn insert(
        &self,
        new: NewConnector,
    ) -> Result<Result<Connector, ConnectorRefusal>, StoreError> {
        let NewConnector { details, indexing_start, created_at } = new;
        transact!(self, "connector.insert", |conn| {
            let count: i64 = connector::table.count().get_result(conn).await?;
            if usize::try_from(count).is_ok_and(|count| count >= Connector::COUNT_MAX) {
                return Ok(Err(ConnectorRefusal::Full));
            }
            let made: Option<i32> = diesel::insert_into(connector::table)
                .values((
                    columns!(details, created_at),
                    connector::indexing_start.eq(indexing_start.map(Time)),
                    connector::created_at.eq(Time(created_at)),
                ))
                // A conflict waits for the other transaction.
                .on_conflict_do_nothing()
                .returning(connector::id)
                .get_result(conn)
                .await
                .optional()?;
            let Some(id) = made else { return Ok(Err(ConnectorRefusal::NameTaken)) };
            Ok(get!(conn, id).ok_or(ConnectorRefusal::Missing))
        })
    }

    #[tracing::instrument(name = "db.connector.get", skip_all, fields(connector.id = %id))]
    async fn get(&self, id: ConnectorId) -> Result<Option<Connector>, StoreError> {
        read!(self, "connector.get", |conn| { Ok(get!(conn, id.0)) })
    }

    #[tracing::instrument(name = "db.connector.list", skip_all)]
    async fn list(
        &self,
        credential: Option<CredentialId>,
        after: Option<ConnectorId>,
        limit: u32,
    ) -> Result<Vec<Connector>, StoreError> {
        read!(self, "connector.list", |conn| {
            let mut query = connector::table
                .filter(connector::id.gt(after.map_or(i32::MIN, |id| id.0)))
                .order(connector::id)
                .limit(i64::from(limit))
                .select(ConnectorRow::as_select())
                .into_boxed();
            if let Some(credential) = credential {
                let of_credential = cc_pair::table
                    .filter(cc_pair::credential_id.eq(credential.0))
                    .select(cc_pair::connector_id);
                query = query.filter(connector::id.eq_any(of_credential));
            }
            let rows = query.load(conn).await?;
            Ok(with_pairs!(conn, rows))
        })
    }

    #[tracing::instrument(name = "db.connector.replace", skip_all, fields(connector.id = %id))]
    async fn replace(
        &self,
        id: ConnectorId,
        present: &ConnectorDetails,
        details: ConnectorDetails,
        now: DateTime<Utc>,
    ) -> Result<Result<Connector, ConnectorRefusal>, StoreError> {
        let (present, wanted) = (present.clone(), WantedOfPairs::default());
        self.replace_connector(ConnectorReplacement { id, present, details, wanted, now }, &[])
            .await
    }

    #[tracing::instrument(name = "db.connector.remove", skip_all, fields(connector.id = %id))]
    async fn remove(&self, id: ConnectorId) -> Result<ConnectorRemoval, StoreError> {
        transact!(self, "connector.remove", |conn| {
            conn.lock_connector(id.0).await?;
            let found: Option<Connector> = get!(conn, id.0);
            match found {
                None => return Ok(ConnectorRemoval::Missing),
                Some(found) if found.built_in => return Ok(ConnectorRemoval::BuiltIn),
                Some(_) => {}
            }
            let pairs: Vec<i32> = cc_pair::table
                .filter(cc_pair::connector_id.eq(id.0))
                .order(cc_pair::id)
                .select(cc_pair::id)
                .load(conn)
                .await?;
            // Nobody gives them documents from here on.
            conn.lock_pairs(&pairs).await?;
            let documents: i64 = document_cc_pair::table
                .filter(document_cc_pair::cc_pair_id.eq_any(&pairs))
                .count()
                .get_result(conn)
                .await?;
            if documents > 0 {
                return Ok(ConnectorRemoval::HasDocuments);
            }
            diesel::delete(cc_pair::table.filter(cc_pair::connector_id.eq(id.0)))
                .execute(conn)
                .await?;
            diesel::delete(connector::table.find(id.0)).execute(conn).await?;
            Ok(ConnectorRemoval::Removed)
        })
    }
}
