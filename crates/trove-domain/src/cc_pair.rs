//! Connectors, credentials and their pairs, as far as documents hang on them.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use crate::access::{Caller, Role};
use crate::id::{CcPairId, ConnectorId, CredentialId, GroupId, UserId};
use crate::source::DocumentSource;

/// Who may read the documents of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessType {
    /// Everybody.
    Public,
    /// The groups of the pair and the owner of its credential.
    Private,
    /// Whoever the source says, once its permissions were fetched; nobody before.
    Sync,
}

/// Where a pair is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CcPairStatus {
    /// Waits for its first run.
    Scheduled,
    /// In its first run.
    InitialIndexing,
    /// Ran successfully before.
    Active,
    /// Stopped by an administrator.
    Paused,
    /// Being removed with its documents.
    Deleting,
    /// Its configuration or credential does not work.
    Invalid,
}

/// Why a string is no value of one of this module's enumerations.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{value}` is not {what}")]
pub struct UnknownValue {
    /// What was expected.
    pub what: &'static str,
    /// What was found.
    pub value: String,
}

macro_rules! wire_values {
    ($name:ident, $what:literal, $($variant:ident = $wire:literal),+ $(,)?) => {
        impl $name {
            /// The value used in the interface and in the database.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $wire),+ }
            }
        }

        impl std::str::FromStr for $name {
            type Err = UnknownValue;

            fn from_str(value: &str) -> Result<Self, UnknownValue> {
                match value {
                    $($wire => Ok(Self::$variant),)+
                    other => Err(UnknownValue { what: $what, value: other.to_owned() }),
                }
            }
        }
    };
}
pub(crate) use wire_values;

wire_values!(AccessType, "an access type", Public = "public", Private = "private", Sync = "sync");
wire_values!(
    CcPairStatus,
    "a pair status",
    Scheduled = "SCHEDULED",
    InitialIndexing = "INITIAL_INDEXING",
    Active = "ACTIVE",
    Paused = "PAUSED",
    Deleting = "DELETING",
    Invalid = "INVALID",
);

/// What becomes of what a pair brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProcessingMode {
    /// It is searched.
    Regular,
    /// Its files are kept for agents.
    FileSystem,
    /// Its files are kept as they are.
    RawBinary,
}

wire_values!(
    ProcessingMode,
    "a processing mode",
    Regular = "REGULAR",
    FileSystem = "FILE_SYSTEM",
    RawBinary = "RAW_BINARY",
);

/// A pair as a caller sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenPair {
    /// The pair.
    pub pair: CcPair,
    /// Whether the caller may change it.
    pub editable: bool,
    /// Whether a schedule runs it; a command or a program brings its documents otherwise.
    pub scheduled: bool,
    /// Whether its latest runs have failed.
    pub in_repeated_error_state: bool,
    /// How many documents it has indexed.
    pub documents: u64,
    /// When a run last succeeded.
    pub last_successful_index_at: Option<DateTime<Utc>>,
    /// When it was last looked for what is gone.
    pub last_pruned_at: Option<DateTime<Utc>>,
    /// Why its deletion failed.
    pub deletion_failure: Option<String>,
    /// The address of who made it.
    pub creator_email: Option<String>,
}

/// A connector together with a credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CcPair {
    /// Public handle.
    pub id: CcPairId,
    /// Name, unique.
    pub name: String,
    /// Its connector.
    pub connector: ConnectorId,
    /// Its credential.
    pub credential: CredentialId,
    /// The system the connector reads.
    pub source: DocumentSource,
    /// Who may read its documents.
    pub access_type: AccessType,
    /// Groups that a private pair is shared with.
    pub groups: BTreeSet<GroupId>,
    /// Where it is in its life.
    pub status: CcPairStatus,
    /// Who made it; `None` for the ones the system made.
    pub creator: Option<UserId>,
    /// When it was made.
    pub created_at: DateTime<Utc>,
}

/// Whose eyes a list of what pairs hold is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairReader {
    /// An administrator, who sees every pair.
    Administrator,
    /// Anybody else, who sees the pairs that are not private, those it made, and those that are
    /// shared with a group it is a member of.
    User(UserId),
}

impl PairReader {
    /// As what `caller` sees pairs.
    #[must_use]
    pub fn of(caller: &Caller) -> Self {
        match caller.role {
            Role::Admin => Self::Administrator,
            _ => Self::User(caller.user),
        }
    }
}

impl CcPair {
    /// The pair that posted documents belong to unless they name another: public, always there.
    pub const DEFAULT: CcPairId = CcPairId(1);

    /// Most bytes of what its source is told about permissions, as JSON: names and switches, far
    /// below this.
    pub const OPTIONS_BYTES_MAX: usize = 64 * 1024;
}
