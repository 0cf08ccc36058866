use async_trait::async_trait;
use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_types::Text;
use diesel_async::{AsyncConnection, RunQueryDsl};
use trove_domain::error::StoreError;
use trove_domain::id::UserId;
use trove_domain::port::{SEARCHES_KEPT, SearchHistory};
use trove_domain::search_history::RecordedSearch;

use crate::Store;
use crate::backend::{read, transact};
use crate::error::corrupt;
use crate::schema::{search_history, user_account};
use crate::sql::{Id, Instant, Time};

#[async_trait]
impl SearchHistory for Store {
    #[tracing::instrument(name = "db.search_history.record", skip_all)]
    async fn record(&self, user: UserId, search: RecordedSearch) -> Result<(), StoreError> {
        // PostgreSQL has no text with NUL.
        let query = search.query.replace('\0', "\u{fffd}");
        let expansions = serde_json::json!(search.expansions).to_string();
        let created_at = Time(search.created_at);
        transact!(self, "search_history.record", |conn| {
            user_account::table
                .filter(user_account::id.eq(Id(user.0)))
                .select((
                    user_account::id,
                    query.as_str().into_sql::<Text>(),
                    expansions.as_str().into_sql::<Text>(),
                    created_at.into_sql::<Instant>(),
                ))
                .insert_into(search_history::table)
                .into_columns((
                    search_history::user_id,
                    search_history::query,
                    search_history::expansions,
                    search_history::created_at,
                ))
                .execute(conn)
                .await?;
            let oldest_kept: Option<i32> = search_history::table
                .filter(search_history::user_id.eq(Id(user.0)))
                .order(search_history::id.desc())
                .offset(i64::from(SEARCHES_KEPT) - 1)
                .limit(1)
                .select(search_history::id)
                .get_result(conn)
                .await
                .optional()?;
            if let Some(oldest_kept) = oldest_kept {
                diesel::delete(search_history::table)
                    .filter(search_history::user_id.eq(Id(user.0)))
                    .filter(search_history::id.lt(oldest_kept))
                    .execute(conn)
                    .await?;
            }
            Ok(())
        })
    }

    #[tracing::instrument(name = "db.search_history.list", skip_all)]
    async fn list(
        &self,
        user: UserId,
        limit: u32,
        since: Option<DateTime<Utc>>,
    ) -> Result<Vec<RecordedSearch>, StoreError> {
        let since = Time(since.unwrap_or(DateTime::UNIX_EPOCH));
        read!(self, "search_history.list", |conn| {
            let rows: Vec<(i32, String, String, Time)> = search_history::table
                .filter(search_history::user_id.eq(Id(user.0)))
                .filter(search_history::created_at.ge(since))
                .order((search_history::created_at.desc(), search_history::id.desc()))
                .limit(i64::from(limit))
                .select((
                    search_history::id,
                    search_history::query,
                    search_history::expansions,
                    search_history::created_at,
                ))
                .load(conn)
                .await?;
            rows.into_iter()
                .map(|(id, query, expansions, created_at)| {
                    let expansions =
                        serde_json::from_str(&expansions).map_err(corrupt("search", id))?;
                    Ok(RecordedSearch { query, expansions, created_at: created_at.0 })
                })
                .collect()
        })
    }
}
