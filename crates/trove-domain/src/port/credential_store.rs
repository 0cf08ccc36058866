use async_trait::async_trait;
use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::Reach;
use crate::access::Caller;
use crate::credential::{Credential, CredentialDetails};
use crate::error::StoreError;
use crate::id::{CredentialId, UserId};
use crate::job::NewJob;
use crate::source::DocumentSource;

/// A credential to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCredential {
    /// What its secret is sealed for.
    pub uuid: Uuid,
    /// What was decided about it.
    pub details: CredentialDetails,
    /// Whose it is; `None` for the system's.
    pub owner: Option<UserId>,
    /// When it is made.
    pub created_at: DateTime<Utc>,
}

/// Why a credential was not made or changed. Nothing changed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialRefusal {
    /// A group does not exist.
    NoSuchGroup,
    /// The database has another key than the secret was sealed with.
    KeyChanged,
    /// There are [`Credential::COUNT_MAX`] of them.
    Full,
    /// It has changed since it was read, or is gone.
    Superseded,
}

/// What became of a credential that was to be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialRemoval {
    /// It is gone.
    Removed,
    /// There was none, or it is the built-in one.
    Missing,
    /// Pairs are read with it; nothing changed.
    InUse {
        /// How many.
        pairs: u64,
        /// How many documents they hold.
        documents: u64,
    },
}

/// Credentials, their secrets sealed.
///
/// # Contract
///
/// * [`Credential::BUILT_IN`] always exists, is empty, and is neither changed nor removed.
/// * [`Reach::Visible`] credentials are, for an administrator, its own, the system's, those that
///   are public to administrators, and those of
///   [sources without secrets](Credential::SOURCES_WITHOUT_SECRET); for a curator its own, those
///   that are public to curators, those of the groups it controls, and those of sources without
///   secrets; for anybody else its own.
/// * [`Reach::Editable`] ones are the same for an administrator; for a curator its own, those that
///   are shared with groups it controls and with no other, and those of sources without secrets;
///   for anybody else its own. The built-in one is nobody's to change.
#[async_trait]
pub trait CredentialStore: Send + Sync + 'static {
    /// Makes a credential.
    async fn insert(
        &self,
        credential: NewCredential,
    ) -> Result<Result<Credential, CredentialRefusal>, StoreError>;

    /// The credential, for the program itself; `None` when there is none.
    async fn get(&self, id: CredentialId) -> Result<Option<Credential>, StoreError>;

    /// The credential, when it is within the reach of `caller`.
    async fn find(
        &self,
        caller: &Caller,
        id: CredentialId,
        reach: Reach,
    ) -> Result<Option<Credential>, StoreError>;

    /// Credentials within the reach of `caller`, those of `source` only where one is named, by
    /// rising id; at most `limit` after `after`.
    async fn list(
        &self,
        caller: &Caller,
        reach: Reach,
        source: Option<DocumentSource>,
        after: Option<CredentialId>,
        limit: u32,
    ) -> Result<Vec<Credential>, StoreError>;

    /// Replaces what was decided about a credential, as long as it still has `revision`. It becomes
    /// `editor`'s, when the editor may change all pairs that are read with it.
    ///
    /// With another owner all documents of its pairs are marked as changed and `job` is enqueued,
    /// in the same step.
    async fn replace(
        &self,
        editor: &Caller,
        id: CredentialId,
        revision: i64,
        details: CredentialDetails,
        now: DateTime<Utc>,
        job: NewJob,
    ) -> Result<Result<Credential, CredentialRefusal>, StoreError>;

    /// Removes a credential that no pair is read with.
    async fn remove(&self, id: CredentialId) -> Result<CredentialRemoval, StoreError>;
}
