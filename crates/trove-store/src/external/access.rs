//! Rows of `external_access`.

use std::collections::HashMap;

use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use trove_domain::cc_pair::AccessType;
use trove_domain::error::StoreError;
use trove_domain::external_access::{ExternalAccess, ExternalGroup};
use trove_domain::id::{CcPairId, DocumentId};

use crate::Store;
use crate::backend::{KEYS_MAX, read};
use crate::error::{Failure, corrupt};
use crate::schema::{cc_pair, external_access as rows};

/// A row without its pair, to be written.
#[derive(Clone)]
pub(crate) struct AccessRow<'a> {
    pub(crate) document: &'a str,
    pub(crate) is_public: bool,
    pub(crate) users: String,
    pub(crate) groups: String,
}

impl<'a> AccessRow<'a> {
    pub(crate) fn new(document: &'a DocumentId, access: &ExternalAccess) -> Self {
        let users: Vec<&str> = access.users().iter().map(String::as_str).collect();
        let groups: Vec<&str> = access.groups().iter().map(ExternalGroup::as_str).collect();
        Self {
            document: document.as_str(),
            is_public: access.is_public(),
            users: serde_json::Value::from(users).to_string(),
            groups: serde_json::Value::from(groups).to_string(),
        }
    }
}

/// Document, pair, whether it is public, people and groups.
pub(crate) type StoredAccess = (String, i32, bool, String, String);

pub(crate) fn external_access(row: StoredAccess) -> Result<(String, i32, ExternalAccess), Failure> {
    let (document, pair, is_public, users, groups) = row;
    let damaged = || corrupt("external access", &document);
    let users: Vec<String> = serde_json::from_str(&users).map_err(damaged())?;
    let groups: Vec<String> = serde_json::from_str(&groups).map_err(damaged())?;
    let groups = groups.into_iter().map(ExternalGroup::from_stored);
    let access = ExternalAccess::new(users, groups, is_public);
    Ok((document, pair, access))
}

/// Writes rows of a pair, which is kept and holds their documents, where it leaves to its source who
/// may read. No document may occur twice.
macro_rules! write_access {
    ($conn:expr, $pair:expr, $rows:expr) => {
        if !$rows.is_empty() {
            use crate::schema::cc_pair;
            use trove_domain::cc_pair::AccessType;
            let synced: i64 = cc_pair::table
                .find($pair)
                .filter(cc_pair::access_type.eq(AccessType::Sync.as_str()))
                .count()
                .get_result($conn)
                .await?;
            if synced > 0 {
                for rows in $rows.chunks(crate::documents::batch::ROWS_MAX) {
                    crate::external::UpsertAccess { pair: &$pair, rows }.execute($conn).await?;
                }
            }
        }
    };
}
pub(crate) use write_access;

impl Store {
    pub(crate) async fn external_access_of(
        &self,
        pair: CcPairId,
        ids: &[DocumentId],
    ) -> Result<Option<Vec<Option<ExternalAccess>>>, StoreError> {
        let keys: Vec<&str> = ids.iter().map(DocumentId::as_str).collect();
        read!(self, "document.external_access", |conn| {
            let synced: i64 = cc_pair::table
                .find(pair.0)
                .filter(cc_pair::access_type.eq(AccessType::Sync.as_str()))
                .count()
                .get_result(conn)
                .await?;
            if synced == 0 {
                return Ok(None);
            }
            let mut known = HashMap::new();
            for keys in keys.chunks(KEYS_MAX) {
                let stored: Vec<StoredAccess> = rows::table
                    .filter(rows::cc_pair_id.eq(pair.0))
                    .filter(rows::document_id.eq_any(keys))
                    .load(conn)
                    .await?;
                for row in stored {
                    let (document, _, access) = external_access(row)?;
                    known.insert(document, access);
                }
            }
            Ok(Some(keys.iter().map(|id| known.get(*id).cloned()).collect()))
        })
    }
}
