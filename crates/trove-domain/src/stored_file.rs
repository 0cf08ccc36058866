//! What is known about a stored file besides its content.

use chrono::{DateTime, Utc};

use crate::cc_pair::{UnknownValue, wire_values};
use crate::id::UserId;
use crate::port::FileKey;

/// What a file was stored for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileOrigin {
    /// To be read by a connector.
    Connector,
    /// It tells a connector about its files.
    ConnectorMetadata,
}

wire_values!(
    FileOrigin,
    "an origin of files",
    Connector = "connector",
    ConnectorMetadata = "connector_metadata",
);

/// A file that is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFile {
    /// The key of its content.
    pub id: FileKey,
    /// What people call it: without folders and without characters that are not shown.
    pub name: String,
    /// What it was stored for.
    pub origin: FileOrigin,
    /// What its sender says it is.
    pub mime_type: String,
    /// Its length.
    pub size_bytes: u64,
    /// Who sent it; `None` when that user is gone.
    pub owner: Option<UserId>,
    /// When it was sent.
    pub created_at: DateTime<Utc>,
}
