//! Connectors: the description of something to read.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value};

use crate::cc_pair::{UnknownValue, wire_values};
use crate::id::{ConnectorId, CredentialId};
use crate::source::DocumentSource;

/// What clients say about how a source is read. The source knows better, and decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InputType {
    /// Everything, in every run.
    LoadState,
    /// What has changed.
    Poll,
    /// What the source tells of its own accord.
    Event,
    /// Ids alone.
    SlimRetrieval,
}

wire_values!(
    InputType,
    "an input type",
    LoadState = "load_state",
    Poll = "poll",
    Event = "event",
    SlimRetrieval = "slim_retrieval",
);

/// What somebody decides about a connector.
#[derive(Clone, Debug, PartialEq)]
pub struct ConnectorDetails {
    /// Its name, unique among the connectors of its source.
    pub name: String,
    /// The system it reads.
    pub source: DocumentSource,
    /// How clients say it is read.
    pub input_type: InputType,
    /// What the source is opened with. No secret belongs here.
    pub config: Map<String, Value>,
    /// Seconds from one run to the next; `None` for one run only.
    pub refresh_freq_s: Option<i32>,
    /// Seconds from one look for what is gone to the next; `None` for never.
    pub prune_freq_s: Option<i32>,
}

/// The description of something to read.
#[derive(Clone, Debug, PartialEq)]
pub struct Connector {
    /// Its key.
    pub id: ConnectorId,
    /// What was decided about it.
    pub details: ConnectorDetails,
    /// The earliest change that the first run is about.
    pub indexing_start: Option<DateTime<Utc>>,
    /// The credentials that it is read with.
    pub credentials: BTreeSet<CredentialId>,
    /// Whether a command or a program brings its documents, and no schedule: it cannot be changed.
    pub built_in: bool,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it was changed.
    pub updated_at: DateTime<Utc>,
}

impl Connector {
    /// Most connectors of a deployment.
    pub const COUNT_MAX: usize = 10_000;
    /// Largest configuration in bytes of JSON.
    pub const CONFIG_BYTES_MAX: usize = 1024 * 1024;
    /// How often a connector looks for what is gone unless somebody decides.
    pub const PRUNE_FREQ_S: i32 = 604_800;
    /// The key of a configuration that names a folder of the server: the command line alone sets it.
    pub const FOLDER_KEY: &'static str = "folder";
}
