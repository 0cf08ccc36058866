//! What is known about stored files.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel_async::{AsyncConnection, RunQueryDsl};
use trove_domain::connector::Connector;
use trove_domain::error::StoreError;
use trove_domain::id::UserId;
use trove_domain::port::{ConnectorRefusal, ConnectorReplacement, FileKey, StoredFileStore};
use trove_domain::stored_file::StoredFile;

use crate::Store;
use crate::backend::{KEYS_MAX, read, transact};
use crate::error::{Failure, corrupt};
use crate::schema::stored_file;
use crate::sql::{Id, Time};

#[derive(Queryable, Selectable)]
#[diesel(table_name = stored_file)]
struct FileRow {
    id: String,
    display_name: String,
    origin: String,
    mime_type: String,
    size_bytes: i64,
    owner_id: Option<Id>,
    created_at: Time,
}

impl TryFrom<FileRow> for StoredFile {
    type Error = Failure;

    fn try_from(row: FileRow) -> Result<Self, Failure> {
        let id = row.id;
        Ok(Self {
            name: row.display_name,
            origin: row.origin.parse().map_err(corrupt("stored_file", &id))?,
            mime_type: row.mime_type,
            size_bytes: row.size_bytes.try_into().map_err(corrupt("stored_file", &id))?,
            owner: row.owner_id.map(|owner| UserId(owner.0)),
            created_at: row.created_at.0,
            id: FileKey::new(id.clone()).map_err(corrupt("stored_file", &id))?,
        })
    }
}

/// PostgreSQL has no text with NUL.
pub(crate) fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// Makes reserved files real; whether all of them were reserved.
macro_rules! finish {
    ($conn:expr, $files:expr) => {{
        use crate::schema::stored_file;
        use crate::sql::{Id, Time};
        let files: &[StoredFile] = $files;
        let mut finished = 0;
        for file in files {
            let size = i64::try_from(file.size_bytes).unwrap_or(i64::MAX);
            finished += diesel::update(stored_file::table.find(file.id.as_str()))
                .filter(stored_file::unfinished)
                .set((
                    stored_file::display_name.eq(crate::stored_files::storable(&file.name)),
                    stored_file::origin.eq(file.origin.as_str()),
                    stored_file::mime_type.eq(crate::stored_files::storable(&file.mime_type)),
                    stored_file::size_bytes.eq(size),
                    stored_file::owner_id.eq(file.owner.map(|owner| Id(owner.0))),
                    stored_file::created_at.eq(Time(file.created_at)),
                    stored_file::unfinished.eq(false),
                ))
                .execute($conn)
                .await?;
        }
        finished == files.len()
    }};
}
pub(crate) use finish;

/// Finished, made before some time, and not kept since.
macro_rules! idle {
    ($before:expr) => {
        diesel::dsl::not(stored_file::unfinished)
            .and(stored_file::created_at.lt(Time($before)))
            .and(
                stored_file::needed_at
                    .is_null()
                    .or(stored_file::needed_at.assume_not_null().lt(Time($before))),
            )
    };
}

fn keys(ids: Vec<String>) -> Result<Vec<FileKey>, Failure> {
    let key = |id: String| FileKey::new(id.clone()).map_err(corrupt("stored_file", &id));
    ids.into_iter().map(key).collect()
}

#[async_trait]
impl StoredFileStore for Store {
    #[tracing::instrument(name = "db.stored_file.reserve", skip_all)]
    async fn reserve(
        &self,
        ids: &[FileKey],
        owner: Option<UserId>,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        transact!(self, "stored_file.reserve", |conn| {
            for id in ids {
                diesel::insert_into(stored_file::table)
                    .values((
                        stored_file::id.eq(id.as_str()),
                        stored_file::display_name.eq(""),
                        stored_file::origin.eq(""),
                        stored_file::mime_type.eq(""),
                        stored_file::size_bytes.eq(0),
                        stored_file::owner_id.eq(owner.map(|owner| Id(owner.0))),
                        stored_file::created_at.eq(Time(now)),
                        stored_file::unfinished.eq(true),
                    ))
                    .execute(conn)
                    .await?;
            }
            Ok(())
        })
    }

    #[tracing::instrument(name = "db.stored_file.finish", skip_all)]
    async fn finish(&self, files: &[StoredFile]) -> Result<bool, StoreError> {
        transact!(self, "stored_file.finish", refused false, |conn| {
            if finish!(conn, files) { Ok(true) } else { Err(Failure::Refused) }
        })
    }

    #[tracing::instrument(name = "db.stored_file.finish_into", skip_all)]
    async fn finish_into(
        &self,
        files: &[StoredFile],
        connector: ConnectorReplacement,
    ) -> Result<Result<Connector, ConnectorRefusal>, StoreError> {
        self.replace_connector(connector, files).await
    }

    #[tracing::instrument(name = "db.stored_file.find", skip_all)]
    async fn find(&self, ids: &[FileKey]) -> Result<Vec<StoredFile>, StoreError> {
        read!(self, "stored_file.find", |conn| {
            let mut found = Vec::with_capacity(ids.len());
            for ids in ids.chunks(KEYS_MAX) {
                let rows: Vec<FileRow> = stored_file::table
                    .filter(stored_file::id.eq_any(ids.iter().map(FileKey::as_str)))
                    .filter(diesel::dsl::not(stored_file::unfinished))
                    .select(FileRow::as_select())
                    .load(conn)
                    .await?;
                for row in rows {
                    found.push(StoredFile::try_from(row)?);
                }
            }
            Ok(found)
        })
    }

    #[tracing::instrument(name = "db.stored_file.list_unfinished", skip_all)]
    async fn list_unfinished(
        &self,
        after: Option<&FileKey>,
        limit: u32,
    ) -> Result<Vec<FileKey>, StoreError> {
        read!(self, "stored_file.list_unfinished", |conn| {
            let ids: Vec<String> = stored_file::table
                .filter(stored_file::unfinished)
                .filter(stored_file::id.gt(after.map_or("", FileKey::as_str)))
                .order(stored_file::id)
                .limit(i64::from(limit))
                .select(stored_file::id)
                .load(conn)
                .await?;
            keys(ids)
        })
    }

    #[tracing::instrument(name = "db.stored_file.keep", skip_all)]
    async fn keep(&self, ids: &[FileKey], now: DateTime<Utc>) -> Result<(), StoreError> {
        transact!(self, "stored_file.keep", |conn| {
            for ids in ids.chunks(KEYS_MAX) {
                let named = stored_file::id.eq_any(ids.iter().map(FileKey::as_str));
                diesel::update(stored_file::table.filter(named))
                    .set(stored_file::needed_at.eq(Some(Time(now))))
                    .execute(conn)
                    .await?;
            }
            Ok(())
        })
    }

    #[tracing::instrument(name = "db.stored_file.list_idle", skip_all)]
    async fn list_idle(
        &self,
        before: DateTime<Utc>,
        after: Option<&FileKey>,
        limit: u32,
    ) -> Result<Vec<FileKey>, StoreError> {
        read!(self, "stored_file.list_idle", |conn| {
            let ids: Vec<String> = stored_file::table
                .filter(idle!(before))
                .filter(stored_file::id.gt(after.map_or("", FileKey::as_str)))
                .order(stored_file::id)
                .limit(i64::from(limit))
                .select(stored_file::id)
                .load(conn)
                .await?;
            keys(ids)
        })
    }

    #[tracing::instrument(name = "db.stored_file.retire", skip_all)]
    async fn retire(
        &self,
        ids: &[FileKey],
        before: DateTime<Utc>,
    ) -> Result<Vec<FileKey>, StoreError> {
        transact!(self, "stored_file.retire", |conn| {
            let mut retired = Vec::new();
            for ids in ids.chunks(KEYS_MAX) {
                let named = stored_file::id.eq_any(ids.iter().map(FileKey::as_str));
                // One statement decides and does it: whoever keeps a file comes before or after.
                let changed: Vec<String> =
                    diesel::update(stored_file::table.filter(named).filter(idle!(before)))
                        .set(stored_file::unfinished.eq(true))
                        .returning(stored_file::id)
                        .get_results(conn)
                        .await?;
                retired.extend(keys(changed)?);
            }
            retired.sort();
            Ok(retired)
        })
    }

    #[tracing::instrument(name = "db.stored_file.forget", skip_all)]
    async fn forget(&self, ids: &[FileKey]) -> Result<(), StoreError> {
        transact!(self, "stored_file.forget", |conn| {
            for ids in ids.chunks(KEYS_MAX) {
                let named = stored_file::id.eq_any(ids.iter().map(FileKey::as_str));
                diesel::delete(stored_file::table.filter(named)).execute(conn).await?;
            }
            Ok(())
        })
    }
}
