use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use secrecy::SecretString;
use serde_json::{Map, Value};

use crate::document::Document;
use crate::error::{Classify, ErrorKind, Source as Cause};
use crate::external_access::{ExternalAccess, ExternalMembers};
use crate::id::DocumentId;
use crate::source::DocumentSource;

/// Largest checkpoint in bytes of JSON.
pub const CHECKPOINT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The changes that a run is about: from `start` to `end`, both of them included. Sources that
/// cannot tell what has changed read everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadWindow {
    /// The earliest change.
    pub start: DateTime<Utc>,
    /// The latest change.
    pub end: DateTime<Utc>,
}

/// Where a source goes on. Only the source that made it understands it.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint(pub Value);

/// Something that a source could not read, while it goes on with the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFailure {
    /// What was not read.
    pub part: FailedPart,
    /// Why, and what to do about it, for whoever administers the source. No secret is in it.
    pub message: String,
}

/// What was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FailedPart {
    /// A document. It counts as present when documents that are gone are looked for.
    Document {
        /// Its id.
        id: DocumentId,
        /// Where it is found.
        link: Option<String>,
    },
    /// Something that holds documents: a folder, a page of a list.
    Entity {
        /// What the source calls it.
        id: String,
        /// The changes that are missing because of it.
        window: Option<ReadWindow>,
    },
}

/// A part of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceStep {
    /// What was read.
    pub documents: Vec<Document>,
    /// What was not.
    pub failures: Vec<SourceFailure>,
    /// What is no document by the rules of the source (a type of file that is not indexed), each
    /// with the reason in a few words.
    pub skipped: Vec<Skipped>,
    /// What is there and has not changed since the run that the carry came from
    /// ([`Self::carry`]); nothing of it is among the documents. An engine that knows a document
    /// among them as missing begins the run again without the carry.
    pub unchanged: Vec<DocumentId>,
    /// Where to go on; `None` when everything was read.
    pub next: Option<Checkpoint>,
    /// With the last step of a run: where the next run may begin instead of nowhere, so that it
    /// reads only what has changed. It may be given to [`Source::read`] when everything that this
    /// run read has been indexed for the same pair, and no complete run is asked for.
    pub carry: Option<Checkpoint>,
}

/// Something that a source leaves out by its rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The id that its document would have, or what the source calls it where it would have none.
    pub id: String,
    /// Why it is left out, with the name that people know where that is another one. No secret is
    /// in it.
    pub reason: String,
}

/// A part of a listing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListingStep {
    /// The documents that are there, those that cannot be read among them.
    pub ids: Vec<DocumentId>,
    /// Where to go on; `None` when everything was listed.
    pub next: Option<Checkpoint>,
}

/// A part of what a source tells of who may read what.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PermissionStep {
    /// Who may read which documents.
    pub documents: Vec<(DocumentId, ExternalAccess)>,
    /// Who is in which groups. A group is told once, or in parts that follow each other.
    pub groups: Vec<ExternalMembers>,
    /// Documents of which the source could not tell who may read them.
    pub failures: Vec<SourceFailure>,
    /// Where to go on; `None` when everything was told.
    pub next: Option<Checkpoint>,
}

/// One source, opened with its configuration and credential.
///
/// # Contract
///
/// * Calls are independent: a source keeps nothing between them but what makes the next one
///   quicker. Whatever it needs to go on is in the checkpoint, also in another process, so a step
///   that is read again from the same checkpoint answers the same as long as the source is the same.
/// * Every call is bounded: at most a few dozen documents, and a bounded time, memory and number of
///   bytes read, whatever the other side sends.
/// * Cancel-safe: a dropped call leaves nothing behind.
/// * A document has the same id in every run, as long as it is the same one.
/// * What is wrong with a checkpoint (another configuration made it, another version) makes the
///   source begin again; it is no error.
/// * No error and no failure holds a secret.
#[async_trait]
pub trait Source: Send + Sync + 'static {
    /// Whether the source can be read at all: asks it for as little as possible.
    async fn check(&self) -> Result<(), SourceError>;

    /// Reads the part of a run that begins at a checkpoint, or its first part.
    async fn read(
        &self,
        window: ReadWindow,
        from: Option<&Checkpoint>,
    ) -> Result<SourceStep, SourceError>;

    /// Lists the part of what there is that begins at a checkpoint, or its first part; quicker than
    /// reading where the source can.
    ///
    /// Any error means that nothing is known about what is missing.
    async fn list(&self, from: Option<&Checkpoint>) -> Result<ListingStep, SourceError>;

    /// Tells the part of who may read what that begins at a checkpoint, or its first part; `None`
    /// where the source does not know, as [`SourceKind::tells_permissions`] says.
    ///
    /// Any error means that what was told before is still so, as far as anybody knows.
    async fn list_permissions(
        &self,
        from: Option<&Checkpoint>,
    ) -> Result<Option<PermissionStep>, SourceError> {
        let _ = from;
        Ok(None)
    }
}

/// What a source is opened with.
#[derive(Clone, Debug)]
pub struct SourceSettings {
    /// Which system.
    pub source: DocumentSource,
    /// Configuration of the connector.
    pub config: Map<String, Value>,
    /// The credential, as its JSON text.
    pub credential: SecretString,
}

/// How a source is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceClass {
    /// It answers everything in every run.
    Load,
    /// It answers what has changed.
    Poll,
}

/// What is known of a kind of source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceKind {
    /// How it is read.
    pub class: SourceClass,
    /// Whether it knows who may read its documents.
    pub tells_permissions: bool,
    /// Whether choices should offer it: tools for tests are not offered.
    pub offered: bool,
}

/// Opens sources.
///
/// # Contract
///
/// * Opening reads configuration and credential, and asks nobody: what is wrong with them is
///   [`SourceError::Invalid`] and names the key.
#[async_trait]
pub trait SourceFactory: Send + Sync + 'static {
    /// The kinds of sources that can be opened, in the order of [`DocumentSource`].
    fn kinds(&self) -> Vec<(DocumentSource, SourceKind)>;

    /// Opens one; [`SourceError::Invalid`] for a kind that is not among [`SourceFactory::kinds`].
    async fn open(&self, settings: SourceSettings) -> Result<Arc<dyn Source>, SourceError>;
}

/// Why a source was not opened or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// Configuration or credential do not work, and trying again will not help: what an
    /// administrator has to mend, in a sentence.
    #[error("{0}")]
    Invalid(String),
    /// The source does not answer at present, or wants to be left alone for a while.
    #[error("{message}")]
    Unavailable {
        /// What was attempted and what came of it.
        message: String,
        /// How long it wants to be left alone.
        retry_after: Option<Duration>,
        /// Why it failed.
        #[source]
        source: Option<Cause>,
    },
    /// The source answered what cannot be understood, or nothing could be read.
    #[error("{message}")]
    Failed {
        /// What was attempted and what came of it.
        message: String,
        /// Why it failed.
        #[source]
        source: Option<Cause>,
    },
}

impl Classify for SourceError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Invalid(_) => ErrorKind::Invalid,
            Self::Unavailable { .. } => ErrorKind::Unavailable,
            Self::Failed { .. } => ErrorKind::Internal,
        }
    }
}
