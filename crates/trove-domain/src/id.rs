//! Typed identifiers: one kind of thing, one type.

use uuid::Uuid;

macro_rules! integer_id {
    ($($(#[$doc:meta])* $name:ident;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub i32);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    )+};
}

macro_rules! uuid_id {
    ($($(#[$doc:meta])* $name:ident;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub Uuid);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    )+};
}

integer_id! {
    /// A connector: the description of one source to read.
    ConnectorId;
    /// A credential for a source.
    CredentialId;
    /// A connector together with a credential.
    CcPairId;
    /// A run of indexing.
    IndexAttemptId;
    /// A pruning or a deletion of a pair.
    PairTaskId;
    /// A group of users.
    GroupId;
    /// A named set of credential pairs.
    DocumentSetId;
    /// An API key (not its secret).
    ApiKeyId;
    /// A personal access token (not its secret).
    AccessTokenId;
    /// A session that began by signing in (not its secret).
    SessionId;
    /// An agent: a way to search and talk, with prompts and knowledge of its own.
    AgentId;
    /// A label that agents carry.
    LabelId;
    /// Something an agent can use, search for one.
    ToolId;
    /// A limit of tokens.
    TokenLimitId;
    /// A provider of language models.
    LlmProviderId;
}

uuid_id! {
    /// A user, human or service account.
    UserId;
    /// A unit of deferred work.
    JobId;
}

/// The key of a document, unique across all sources and pairs.
///
/// Never empty, at most [`DocumentId::MAX_BYTES`] long and free of control characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocumentId(String);

/// Why a string is no document id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidDocumentId {
    /// The id is the empty string.
    #[error("a document id must not be empty")]
    Empty,
    /// The id is longer than [`DocumentId::MAX_BYTES`].
    #[error("a document id has at most {max} bytes, this one has {got}", max = DocumentId::MAX_BYTES)]
    TooLong {
        /// Length of the rejected id in bytes.
        got: usize,
    },
    /// The id holds a control character.
    #[error("a document id must not contain control characters")]
    Control,
}

impl DocumentId {
    /// Longest accepted id in bytes of UTF-8.
    pub const MAX_BYTES: usize = 4096;

    /// Checks and wraps `id`.
    ///
    /// # Errors
    ///
    /// [`InvalidDocumentId`] names the broken rule.
    pub fn new(id: impl Into<String>) -> Result<Self, InvalidDocumentId> {
        let id = id.into();
        if id.is_empty() {
            return Err(InvalidDocumentId::Empty);
        }
        if id.len() > Self::MAX_BYTES {
            return Err(InvalidDocumentId::TooLong { got: id.len() });
        }
        if id.chars().any(char::is_control) {
            return Err(InvalidDocumentId::Control);
        }
        Ok(Self(id))
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id as an owned string.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }
}

impl std::fmt::Display for DocumentId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::borrow::Borrow<str> for DocumentId {
    fn borrow(&self) -> &str {
        &self.0
    }
}
