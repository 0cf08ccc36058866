//! Which rows a transaction takes before it looks at others.
//!
//! SQLite has one writer, who is alone for the whole transaction: nothing is to be taken there.
//! On PostgreSQL every transaction takes rows in the same order, pairs before their tasks, both before
//! documents, these before attempts, and each by rising id, so that no two wait for each other.

use diesel::prelude::*;
use diesel::sql_types::{Array, Integer};
use diesel_async::{AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use trove_domain::cc_pair::CcPairStatus;

use crate::backend::Sqlite;
use crate::schema::{
    agent, cc_pair, connector, credential, document, document_set, secret_key, user_account,
    user_group,
};
use crate::sql::Id;

pub(crate) trait Locks {
    /// Keeps everybody else from adding or changing users.
    async fn lock_users(&mut self) -> QueryResult<()>;

    /// Keeps a user from other changes.
    async fn lock_user(&mut self, user: Id) -> QueryResult<()>;

    /// Keeps a group from other changes of its members; `false` when there is none.
    async fn lock_group(&mut self, group: i32) -> QueryResult<bool>;

    /// Keeps the key of the secrets as it is, and everybody else from changing secrets; answers the
    /// key.
    async fn lock_secret_key(&mut self) -> QueryResult<Option<String>>;

    /// Keeps access and sets of a pair as they are, beside others who do; `false` when there is no
    /// pair, or it is being deleted.
    async fn keep_pair(&mut self, pair: i32) -> QueryResult<bool>;

    /// Keeps a document set to change it; comes before its pairs.
    async fn lock_document_set(&mut self, set: i32) -> QueryResult<()>;

    /// Keeps a connector to change it; comes before its pairs.
    async fn lock_connector(&mut self, connector: i32) -> QueryResult<()>;

    /// Keeps a credential to change it.
    async fn lock_credential(&mut self, credential: i32) -> QueryResult<()>;

    /// Keeps an agent to change it.
    async fn lock_agent(&mut self, agent: i32) -> QueryResult<()>;

    /// Keeps everybody else from changing the names of agents, until the transaction ends. Comes
    /// first.
    async fn lock_agent_names(&mut self) -> QueryResult<()>;

    /// Keeps everybody else from changing the settings of the workspace.
    async fn lock_workspace_settings(&mut self) -> QueryResult<()>;

    /// Keeps pairs to change their access or sets; answers how many of them there are.
    async fn lock_pairs(&mut self, pairs: &[i32]) -> QueryResult<usize>;

    /// Keeps documents to change them.
    async fn lock_documents(&mut self, ids: &[&str]) -> QueryResult<()>;

    /// Keeps all documents of some pairs to change them.
    async fn lock_documents_of(&mut self, pairs: &[i32]) -> QueryResult<()>;
}

impl Locks for AsyncPgConnection {
    async fn lock_users(&mut self) -> QueryResult<()> {
        self.batch_execute("LOCK TABLE user_account IN SHARE ROW EXCLUSIVE MODE").await
    }

    async fn lock_user(&mut self, user: Id) -> QueryResult<()> {
        let _: Option<Id> = user_account::table
            .find(user)
            .select(user_account::id)
            .for_no_key_update()
            .first(self)
            .await
            .optional()?;
        Ok(())
    }

    async fn lock_group(&mut self, group: i32) -> QueryResult<bool> {
        let id: Option<i32> = user_group::table
            .find(group)
            .select(user_group::id)
            .for_no_key_update()
            .first(self)
            .await
            .optional()?;
        Ok(id.is_some())
    }

    async fn lock_secret_key(&mut self) -> QueryResult<Option<String>> {
        secret_key::table.select(secret_key::key_id).for_update().first(self).await
    }

    async fn keep_pair(&mut self, pair: i32) -> QueryResult<bool> {
        let id: Option<i32> = cc_pair::table
            .find(pair)
            .filter(cc_pair::status.ne(CcPairStatus::Deleting.as_str()))
            .select(cc_pair::id)
            .for_share()
            .first(self)
            .await
            .optional()?;
        Ok(id.is_some())
    }

    async fn lock_document_set(&mut self, set: i32) -> QueryResult<()> {
        let _: Option<i32> = document_set::table
            .find(set)
            .select(document_set::id)
            .for_no_key_update()
            .first(self)
            .await
            .optional()?;
        Ok(())
    }

    async fn lock_connector(&mut self, connector: i32) -> QueryResult<()> {
        let _: Option<i32> = connector::table
            .find(connector)
            .select(connector::id)
            .for_update()
            .first(self)
            .await
            .optional()?;
        Ok(())
    }

    async fn lock_credential(&mut self, credential: i32) -> QueryResult<()> {
        let _: Option<i32> = credential::table
            .find(credential)
            .select(credential::id)
            .for_update()
            .first(self)
            .await
            .optional()?;
        Ok(())
    }

    async fn lock_agent(&mut self, agent: i32) -> QueryResult<()> {
        let _: Option<i32> = agent::table
            .find(agent)
            .select(agent::id)
            .for_no_key_update()
            .first(self)
            .await
            .optional()?;
        Ok(())
    }

    async fn lock_agent_names(&mut self) -> QueryResult<()> {
        self.batch_execute("SELECT pg_advisory_xact_lock(7021586402)").await
    }

    async fn lock_workspace_settings(&mut self) -> QueryResult<()> {
        // There may be no row to take yet.
        self.batch_execute("SELECT pg_advisory_xact_lock(7021586403)").await
    }

    async fn lock_pairs(&mut self, pairs: &[i32]) -> QueryResult<usize> {
        let ids: Vec<i32> = cc_pair::table
            .filter(cc_pair::id.eq_any(pairs))
            .order(cc_pair::id)
            .select(cc_pair::id)
            .for_no_key_update()
            .load(self)
            .await?;
        Ok(ids.len())
    }

    async fn lock_documents(&mut self, ids: &[&str]) -> QueryResult<()> {
        let _: Vec<i64> = document::table
            .filter(document::id.eq_any(ids))
            .order(document::id)
            .select(document::revision)
            .for_update()
            .load(self)
            .await?;
        Ok(())
    }

    async fn lock_documents_of(&mut self, pairs: &[i32]) -> QueryResult<()> {
        // Counted, because there may be millions.
        diesel::sql_query(
            "SELECT count(*) FROM (
                SELECT id FROM document
                WHERE id IN (SELECT document_id FROM document_cc_pair WHERE cc_pair_id = ANY($1))
                ORDER BY id FOR UPDATE
            ) AS locked",
        )
        .bind::<Array<Integer>, _>(pairs)
        .execute(self)
        .await?;
        Ok(())
    }
}

impl Locks for Sqlite {
    async fn lock_users(&mut self) -> QueryResult<()> {
        Ok(())
    }

    async fn lock_user(&mut self, _user: Id) -> QueryResult<()> {
        Ok(())
    }

    async fn lock_group(&mut self, group: i32) -> QueryResult<bool> {
        let groups: i64 = user_group::table.find(group).count().get_result(self).await?;
        Ok(groups == 1)
    }

    async fn lock_secret_key(&mut self) -> QueryResult<Option<String>> {
        secret_key::table.select(secret_key::key_id).first(self).await
    }

    async fn keep_pair(&mut self, pair: i32) -> QueryResult<bool> {
        let pairs: i64 = cc_pair::table
            .find(pair)
            .filter(cc_pair::status.ne(CcPairStatus::Deleting.as_str()))
            .count()
            .get_result(self)
            .await?;
        Ok(pairs == 1)
    }

    async fn lock_document_set(&mut self, _set: i32) -> QueryResult<()> {
        Ok(())
    }

    async fn lock_connector(&mut self, _connector: i32) -> QueryResult<()> {
        Ok(())
    }

    async fn lock_credential(&mut self, _credential: i32) -> QueryResult<()> {
        Ok(())
    }

    async fn lock_agent(&mut self, _agent: i32) -> QueryResult<()> {
        Ok(())
    }

    async fn lock_agent_names(&mut self) -> QueryResult<()> {
        Ok(())
    }

    async fn lock_workspace_settings(&mut self) -> QueryResult<()> {
        Ok(())
    }

    async fn lock_pairs(&mut self, pairs: &[i32]) -> QueryResult<usize> {
        let mut found = 0;
        for pairs in pairs.chunks(crate::backend::KEYS_MAX) {
            let ids: Vec<i32> = cc_pair::table
                .filter(cc_pair::id.eq_any(pairs))
                .select(cc_pair::id)
                .load(self)
                .await?;
            found += ids.len();
        }
        Ok(found)
    }

    async fn lock_documents(&mut self, _ids: &[&str]) -> QueryResult<()> {
        Ok(())
    }

    async fn lock_documents_of(&mut self, _pairs: &[i32]) -> QueryResult<()> {
        Ok(())
    }
}
