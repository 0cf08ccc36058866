//! How tasks end, and what goes with a pair that is deleted.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncConnection, RunQueryDsl};
use serde_json::Value;
use trove_domain::error::StoreError;
use trove_domain::id::CcPairId;
use trove_domain::port::{ClaimedTask, FileKey, TaskEnd};
use trove_domain::source::DocumentSource;

use super::work::{held, hold};
use crate::Store;
use crate::backend::{KEYS_MAX, read, transact};
use crate::locks::Locks;
use crate::schema::{cc_pair, connector, document_cc_pair, pair_task, stored_file};
use crate::sql::Time;

/// What the origin of files begins with that were uploaded for connectors.
const OF_CONNECTORS: &str = "connector%";

/// The files that a configuration names.
fn files_named(config: &str) -> BTreeSet<String> {
    let config: Value = serde_json::from_str(config).unwrap_or_default();
    let listed = config["file_locations"].as_array().into_iter().flatten();
    let all = listed.chain(config.get("zip_metadata_file_id"));
    all.filter_map(Value::as_str).map(str::to_owned).collect()
}

impl Store {
    pub(super) async fn end_prune(
        &self,
        claimed: &ClaimedTask,
        now: DateTime<Utc>,
    ) -> Result<TaskEnd, StoreError> {
        let pair = claimed.task.pair.0;
        transact!(self, "pair_task.finish", |conn| {
            conn.lock_pairs(&[pair]).await?;
            if diesel::delete(held!(claimed)).execute(conn).await? == 0 {
                return Ok(TaskEnd::Lost);
            }
            diesel::update(cc_pair::table.find(pair))
                .set(cc_pair::last_pruned_at.eq(Some(Time(now))))
                .execute(conn)
                .await?;
            Ok(TaskEnd::Done)
        })
    }

    pub(super) async fn end_deletion(
        &self,
        claimed: &ClaimedTask,
        files: &[FileKey],
    ) -> Result<TaskEnd, StoreError> {
        let pair = claimed.task.pair.0;
        let files: Vec<&str> = files.iter().map(FileKey::as_str).collect();
        transact!(self, "pair_task.finish", |conn| {
            let connector: Option<i32> = cc_pair::table
                .find(pair)
                .select(cc_pair::connector_id)
                .first(conn)
                .await
                .optional()?;
            let Some(connector) = connector else { return Ok(TaskEnd::Lost) };
            // Nobody gives it another credential before this ends.
            conn.lock_connector(connector).await?;
            conn.lock_pairs(&[pair]).await?;
            hold!(conn, claimed, TaskEnd::Lost);
            let left: i64 = document_cc_pair::table
                .filter(document_cc_pair::cc_pair_id.eq(pair))
                .count()
                .get_result(conn)
                .await?;
            if left > 0 {
                return Ok(TaskEnd::Unfinished);
            }
            // Its attempts, their errors, its groups and sets, and this task go with it.
            diesel::delete(cc_pair::table.find(pair)).execute(conn).await?;
            let others: i64 = cc_pair::table
                .filter(cc_pair::connector_id.eq(connector))
                .count()
                .get_result(conn)
                .await?;
            if others == 0 {
                diesel::delete(connector::table.find(connector)).execute(conn).await?;
            }
            for files in files.chunks(KEYS_MAX) {
                diesel::delete(stored_file::table.filter(stored_file::id.eq_any(files)))
                    .execute(conn)
                    .await?;
            }
            Ok(TaskEnd::Done)
        })
    }

    pub(super) async fn files_of_last_pair(
        &self,
        pair: CcPairId,
    ) -> Result<Vec<FileKey>, StoreError> {
        read!(self, "pair_task.files_to_remove", |conn| {
            let found: Option<(i32, String, String)> = cc_pair::table
                .inner_join(connector::table)
                .filter(cc_pair::id.eq(pair.0))
                .select((connector::id, connector::source, connector::config))
                .first(conn)
                .await
                .optional()?;
            let Some((connector, source, config)) = found else { return Ok(Vec::new()) };
            let others: i64 = cc_pair::table
                .filter(cc_pair::connector_id.eq(connector))
                .filter(cc_pair::id.ne(pair.0))
                .count()
                .get_result(conn)
                .await?;
            let mut named = files_named(&config);
            if source != DocumentSource::File.as_str() || others > 0 || named.is_empty() {
                return Ok(Vec::new());
            }
            let others: Vec<String> = connector::table
                .filter(connector::source.eq(DocumentSource::File.as_str()))
                .filter(connector::id.ne(connector))
                .select(connector::config)
                .load(conn)
                .await?;
            for other in &others {
                for file in files_named(other) {
                    named.remove(&file);
                }
            }
            let named: Vec<String> = named.into_iter().collect();
            let mut files = Vec::new();
            for named in named.chunks(KEYS_MAX) {
                let known: Vec<String> = stored_file::table
                    .filter(stored_file::id.eq_any(named))
                    .filter(stored_file::origin.like(OF_CONNECTORS))
                    .order(stored_file::id)
                    .select(stored_file::id)
                    .load(conn)
                    .await?;
                files.extend(known.into_iter().filter_map(|key| FileKey::new(key).ok()));
            }
            Ok(files)
        })
    }
}
