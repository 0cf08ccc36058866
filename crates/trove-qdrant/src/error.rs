//! Failures below the port, converted where they arise.

use tonic::{Code, Status};
use trove_domain::error::Source;
use trove_domain::port::DocumentIndexError;

/// Longest message of the server that is repeated, in characters.
const MESSAGE_CHARS_MAX: usize = 500;

/// Why an index cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The address is not one.
    #[error(
        "`{url}` is no address of a Qdrant server; write http://HOST:6334 or https://HOST:6334"
    )]
    Url {
        /// What was given.
        url: String,
    },
    /// The key cannot be sent.
    #[error("the API key of Qdrant has characters that cannot be sent; only visible ASCII can")]
    ApiKey,
    /// The connection cannot be encrypted.
    #[error("TLS to Qdrant at {url} cannot be set up; check the certificates of this machine")]
    Tls {
        /// The server.
        url: String,
        /// Why.
        #[source]
        source: Source,
    },
    /// The server does not answer.
    #[error(
        "Qdrant at {url} does not answer; check that it runs, and that the address is the one of \
         its gRPC interface, which is port 6334 where nothing else was set"
    )]
    Unreachable {
        /// The server.
        url: String,
        /// Why.
        #[source]
        source: Source,
    },
    /// The server wants another key.
    #[error("Qdrant at {url} refuses the API key; check `qdrant.api_key`")]
    Refused {
        /// The server.
        url: String,
        /// What it said.
        #[source]
        source: Source,
    },
    /// The server lacks what the index needs.
    #[error("Qdrant at {url} is version {found}; version {wanted} or a later one is needed")]
    TooOld {
        /// The server.
        url: String,
        /// Its version.
        found: String,
        /// The first one that is enough.
        wanted: &'static str,
    },
    /// Somebody else's collection.
    #[error(
        "the collection `{collection}` exists and was not made by Trove; choose another name with \
         `qdrant.collection`"
    )]
    Foreign {
        /// Its name.
        collection: String,
    },
    /// Written by a later release.
    #[error(
        "the collection `{collection}` has format {found}, this release knows formats up to \
         {known}: use the release that wrote it, or a newer one"
    )]
    Newer {
        /// Its name.
        collection: String,
        /// Its format.
        found: i64,
        /// Latest format that is understood.
        known: i64,
    },
    /// Written by a release that tells words apart in another way.
    #[error(
        "the words in the collection `{collection}` were told apart by `{found}`, this release \
         does it by `{wanted}`: use another collection and index the documents again"
    )]
    OtherWords {
        /// Its name.
        collection: String,
        /// What it holds.
        found: String,
        /// What this release writes.
        wanted: String,
    },
    /// Another embedding model than the collection was made with.
    #[error(
        "the vectors in the collection `{collection}` have {found} dimensions, the embedding model \
         makes {wanted}: use the model it was made with, or another collection and index again"
    )]
    Dimensions {
        /// Its name.
        collection: String,
        /// Length of its vectors.
        found: usize,
        /// Length of the model's.
        wanted: usize,
    },
    /// Another embedding model of the same length.
    #[error(
        "the vectors in the collection `{collection}` were made by the embedding model \
         `{found}`, and the one in use is `{wanted}`: go back to the settings or the release of \
         Trove that made them, or use another collection and index again"
    )]
    Model {
        /// Its name.
        collection: String,
        /// Name of the model that made its vectors.
        found: String,
        /// Name of the model in use.
        wanted: String,
    },
    /// The server answered something else than asked.
    #[error("the collection `{collection}` cannot be opened on Qdrant at {url}")]
    Failed {
        /// The server.
        url: String,
        /// The collection.
        collection: String,
        /// Why.
        #[source]
        source: Source,
    },
}

impl OpenError {
    /// Whether trying again may help.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Unreachable { .. })
    }
}

/// What the server said, without what was sent.
#[derive(Debug, thiserror::Error)]
#[error("Qdrant answered {code:?}: {message}")]
pub(crate) struct Answer {
    code: Code,
    message: String,
    /// What lies below, a refused connection for example.
    #[source]
    cause: Option<Source>,
}

impl From<Status> for Answer {
    fn from(status: Status) -> Self {
        let cause =
            std::error::Error::source(&status).map(|cause| Source::from(truncated(&chain(cause))));
        Self { code: status.code(), message: truncated(status.message()), cause }
    }
}

fn truncated(message: &str) -> String {
    message.chars().take(MESSAGE_CHARS_MAX).collect()
}

/// A message with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

/// Whether the same call may succeed later. An operator's mistake counts: a revoked key, a
/// collection that was dropped.
fn is_transient(code: Code) -> bool {
    match code {
        Code::Unavailable
        | Code::DeadlineExceeded
        | Code::Cancelled
        | Code::Aborted
        | Code::ResourceExhausted
        | Code::Unknown
        | Code::NotFound
        | Code::Unauthenticated
        | Code::PermissionDenied => true,
        Code::Ok
        | Code::InvalidArgument
        | Code::AlreadyExists
        | Code::FailedPrecondition
        | Code::OutOfRange
        | Code::Unimplemented
        | Code::Internal
        | Code::DataLoss => false,
    }
}

/// For `map_err`: what a failed call means to a caller of the port.
pub(crate) fn failed(operation: &'static str) -> impl FnOnce(Status) -> DocumentIndexError {
    move |status| {
        let transient = is_transient(status.code());
        let source = Answer::from(status).into();
        if transient {
            DocumentIndexError::Unavailable { operation, source }
        } else {
            DocumentIndexError::Backend { operation, source }
        }
    }
}

/// For `map_err`: a failure that trying again does not mend.
pub(crate) fn backend<E: Into<Source>>(
    operation: &'static str,
) -> impl FnOnce(E) -> DocumentIndexError {
    move |source| DocumentIndexError::Backend { operation, source: source.into() }
}

/// A failure that trying again may mend.
pub(crate) fn unavailable(operation: &'static str, reason: &'static str) -> DocumentIndexError {
    DocumentIndexError::Unavailable { operation, source: reason.into() }
}

/// A stored value that cannot be read back.
#[derive(Debug, thiserror::Error)]
#[error("a stored {part} is not readable: {problem}")]
pub(crate) struct Unreadable {
    part: &'static str,
    problem: String,
}

impl Unreadable {
    pub(crate) fn new(part: &'static str, problem: &dyn std::fmt::Display) -> Self {
        Self { part, problem: problem.to_string() }
    }

    pub(crate) fn absent(part: &'static str) -> Self {
        Self::new(part, &"it is absent")
    }
}

#[cfg(test)]
mod tests {
    use tonic::Status;
    use trove_domain::port::DocumentIndexError;

    use super::failed;

    #[test]
    fn a_server_that_is_away_is_unavailable_and_a_wrong_request_is_not() {
        let check = |status: Status, unavailable: bool| {
            let text = format!("{status:?}");
            let error = failed("test")(status);
            assert_eq!(
                matches!(error, DocumentIndexError::Unavailable { .. }),
                unavailable,
                "{text}"
            );
        };
        check(Status::unavailable("tcp connect error"), true);
        check(Status::deadline_exceeded("too slow"), true);
        check(Status::unauthenticated("wrong key"), true);
        check(Status::not_found("no such collection"), true);
        check(Status::invalid_argument("wrong vector"), false);
        check(Status::internal("broken"), false);
    }
}
