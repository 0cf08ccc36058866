//! Which key the secrets in a database are sealed with, and how they get another one.
//!
//! A new table with a sealed column is added to [`secret_columns`], and nothing else knows of it.

use diesel::prelude::*;
use diesel_async::{AsyncConnection, RunQueryDsl};
use trove_domain::credential::Credential;
use trove_domain::error::StoreError;
use trove_domain::llm_provider::LlmProvider;
use trove_domain::port::SecretCipherError;
use trove_domain::secret::{SealedSecret, SecretKeyId, SecretPlace};

use crate::Store;
use crate::backend::{read, transact};
use crate::error::{Failure, corrupt, failed};
use crate::locks::Locks;
use crate::schema::{credential, llm_provider, secret_key};
use crate::sql::Id;

/// What a database says of the key of its secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretKeyState {
    /// The key, once one was claimed.
    pub key: Option<SecretKeyId>,
    /// How many secrets are sealed with it.
    pub secrets: usize,
}

/// Why secrets were not sealed anew. Nothing changed.
#[derive(Debug, thiserror::Error)]
pub enum ResealError {
    /// One of them did not open, or the new one could not be made.
    #[error("a secret could not be sealed with the new key")]
    Cipher(#[source] SecretCipherError),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Runs the body once for each sealed column, with `$table`, its `$column`, and the table's column
/// `uuid`, which places a secret.
macro_rules! secret_columns {
    (|$table:ident, $column:ident, $name:ident, $field:ident| $body:block) => {{
        {
            use llm_provider as $table;
            use llm_provider::api_key as $column;
            let ($name, $field) = (LlmProvider::TABLE, LlmProvider::API_KEY);
            $body
        }
        {
            use llm_provider as $table;
            use llm_provider::custom_config as $column;
            let ($name, $field) = (LlmProvider::TABLE, LlmProvider::CUSTOM_CONFIG);
            $body
        }
        {
            use credential as $table;
            use credential::secret as $column;
            let ($name, $field) = (Credential::TABLE, Credential::SECRET);
            $body
        }
    }};
}

/// How many secrets there are.
macro_rules! count {
    ($conn:expr) => {{
        let mut secrets = 0;
        secret_columns!(|table, column, _name, _field| {
            let rows: i64 =
                table::table.filter(column.is_not_null()).count().get_result($conn).await?;
            secrets += rows;
        });
        usize::try_from(secrets).unwrap_or(usize::MAX)
    }};
}

macro_rules! set_key {
    ($conn:expr, $key:expr) => {
        diesel::update(secret_key::table)
            .set(secret_key::key_id.eq(Some($key.as_str())))
            .execute($conn)
            .await?
    };
}

fn parse(key: Option<String>) -> Result<Option<SecretKeyId>, Failure> {
    key.map(SecretKeyId::new).transpose().map_err(corrupt("secret_key", 1))
}

impl Store {
    /// Which key the secrets are sealed with, and how many there are.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when it cannot be read.
    pub async fn secret_key(&self) -> Result<SecretKeyState, StoreError> {
        read!(self, "secret.key", |conn| {
            let key: Option<String> =
                secret_key::table.select(secret_key::key_id).first(conn).await?;
            Ok(SecretKeyState { key: parse(key)?, secrets: count!(conn) })
        })
    }

    /// Says that secrets are sealed with `key` from now on, unless there are some that are sealed
    /// with another one. Answers the key that they are sealed with.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; nothing changes then.
    pub async fn claim_secret_key(&self, key: &SecretKeyId) -> Result<SecretKeyId, StoreError> {
        transact!(self, "secret.claim_key", |conn| {
            let held = parse(conn.lock_secret_key().await?)?;
            match held {
                Some(held) if held == *key || count!(conn) > 0 => Ok(held),
                _ => {
                    set_key!(conn, key);
                    Ok(key.clone())
                }
            }
        })
    }

    /// Passes every secret through `reseal`, which seals it with `key`, and makes `key` the one of
    /// the database, in one step. Answers how many there were.
    ///
    /// # Errors
    ///
    /// [`ResealError`]; nothing changes then.
    pub async fn reseal_secrets(
        &self,
        key: &SecretKeyId,
        reseal: &(
             dyn Fn(&SealedSecret, SecretPlace) -> Result<SealedSecret, SecretCipherError> + Sync
         ),
    ) -> Result<usize, ResealError> {
        let result = transact!(@run self, "secret.reseal", |conn| {
            conn.lock_secret_key().await?;
            let mut sealed = 0;
            secret_columns!(|table, column, name, field| {
                let rows: Vec<(Id, Option<String>)> = table::table
                    .filter(column.is_not_null())
                    .select((table::uuid, column))
                    .load(conn)
                    .await?;
                for (row, text) in rows {
                    let place = SecretPlace { table: name, row: row.0, field };
                    let old = SealedSecret::from_stored(&text.unwrap_or_default())
                        .ok_or(SecretCipherError::Damaged { place });
                    let new = old
                        .and_then(|old| reseal(&old, place))
                        .map_err(corrupt(name, row.0))?;
                    diesel::update(table::table.filter(table::uuid.eq(row)))
                        .set(column.eq(Some(new.to_stored())))
                        .execute(conn)
                        .await?;
                    sealed += 1;
                }
            });
            set_key!(conn, key);
            Ok(sealed)
        });
        result.map_err(|failure| match failure {
            Failure::Corrupt { entity, id, source } => {
                match source.downcast::<SecretCipherError>() {
                    Ok(error) => ResealError::Cipher(*error),
                    Err(source) => StoreError::Corrupt { entity, id, source }.into(),
                }
            }
            other => failed("secret.reseal")(other).into(),
        })
    }

    /// Forgets every secret and makes `key` the one of the database, in one step. Answers how many
    /// there were.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; nothing changes then.
    pub async fn discard_secrets(&self, key: &SecretKeyId) -> Result<usize, StoreError> {
        transact!(self, "secret.discard", |conn| {
            conn.lock_secret_key().await?;
            let secrets = count!(conn);
            secret_columns!(|table, column, _name, _field| {
                diesel::update(table::table.filter(column.is_not_null()))
                    .set(column.eq(None::<String>))
                    .execute(conn)
                    .await?;
            });
            set_key!(conn, key);
            Ok(secrets)
        })
    }
}
