//! Which registry a database holds, and whose index goes with it.
//!
//! A registry and an index that do not belong together would find documents that nobody knows, or
//! with access of groups that are others now.

use diesel::prelude::*;
use diesel_async::{AsyncConnection, RunQueryDsl};
use trove_domain::error::StoreError;
use uuid::Uuid;

use crate::Store;
use crate::backend::transact;
use crate::schema::registry;
use crate::sql::Id;

/// The only row.
const ROW: i32 = 1;

impl Store {
    /// The id of the registry in this database, which never changes.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when it cannot be read, or made by the first call.
    pub async fn registry_id(&self) -> Result<Uuid, StoreError> {
        let new = self.ids().uuid();
        transact!(self, "registry.id", |conn| {
            diesel::insert_into(registry::table)
                .values((registry::row_number.eq(ROW), registry::id.eq(Id(new))))
                .on_conflict_do_nothing()
                .execute(conn)
                .await?;
            let id: Id = registry::table.select(registry::id).first(conn).await?;
            Ok(id.0)
        })
    }

    /// Says that the index of `holder` holds the documents, unless another one was named first.
    /// Answers whose index it is.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; nothing changes then. Also before the first [`Store::registry_id`].
    pub async fn claim_index(&self, holder: Uuid) -> Result<Uuid, StoreError> {
        transact!(self, "registry.claim_index", |conn| {
            diesel::update(registry::table.filter(registry::index_holder.is_null()))
                .set(registry::index_holder.eq(Some(Id(holder))))
                .execute(conn)
                .await?;
            let held: Option<Id> =
                registry::table.select(registry::index_holder).first(conn).await?;
            let held = held.ok_or(diesel::result::Error::NotFound)?;
            Ok(held.0)
        })
    }

    /// Lets the next [`Store::claim_index`] decide anew.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; nothing changes then.
    pub async fn release_index(&self) -> Result<(), StoreError> {
        transact!(self, "registry.release_index", |conn| {
            diesel::update(registry::table)
                .set(registry::index_holder.eq(None::<Id>))
                .execute(conn)
                .await?;
            Ok(())
        })
    }
}
