//! Credentials: what a source is read with.

mod content;
mod mask;

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::id::{CredentialId, GroupId, UserId};
use crate::secret::{SealedSecret, SecretPlace};
use crate::source::DocumentSource;

pub use content::CredentialContent;
pub use mask::{StaleMask, mask, unmask};

/// What somebody decides about a credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CredentialDetails {
    /// Its name.
    pub name: Option<String>,
    /// The system it is for.
    pub source: DocumentSource,
    /// A JSON object, sealed; `None` for the empty one.
    pub secret: Option<SealedSecret>,
    /// Whether every administrator may use it.
    pub admin_public: bool,
    /// Whether every curator may use it.
    pub curator_public: bool,
    /// Groups whose curators may change it.
    pub groups: BTreeSet<GroupId>,
}

/// What a source is read with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    /// Its key.
    pub id: CredentialId,
    /// What its secret is sealed for.
    pub uuid: Uuid,
    /// Grows with every change.
    pub revision: i64,
    /// What was decided about it.
    pub details: CredentialDetails,
    /// Who reads the private documents of its pairs; `None` for the system's.
    pub owner: Option<UserId>,
    /// The owner's address.
    pub owner_email: Option<String>,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it was changed.
    pub updated_at: DateTime<Utc>,
}

impl Credential {
    /// The system's empty credential. It does not change.
    pub const BUILT_IN: CredentialId = CredentialId(0);
    /// Most credentials of a deployment.
    pub const COUNT_MAX: usize = 10_000;
    /// Largest content in bytes of JSON.
    pub const CONTENT_BYTES_MAX: usize = 128 * 1024;
    /// Name of the table, for [`SecretPlace`].
    pub const TABLE: &'static str = "credential";
    /// Name of the sealed column.
    pub const SECRET: &'static str = "secret";

    /// The sources whose credentials hold no secret: whoever administers may use them.
    pub const SOURCES_WITHOUT_SECRET: [DocumentSource; 6] = [
        DocumentSource::File,
        DocumentSource::Web,
        DocumentSource::NotApplicable,
        DocumentSource::GoogleSites,
        DocumentSource::Wikipedia,
        DocumentSource::Mediawiki,
    ];

    /// Where the secret of a row belongs.
    #[must_use]
    pub const fn place(uuid: Uuid) -> SecretPlace {
        SecretPlace { table: Self::TABLE, row: uuid, field: Self::SECRET }
    }
}
