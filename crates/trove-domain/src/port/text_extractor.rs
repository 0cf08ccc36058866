use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::document::Section;

/// Text that was found in a file, and what the file says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtractedText {
    /// The document's own title, when the format has one.
    pub title: Option<String>,
    /// Text in reading order. A link is an address of its own, or begins with `#` and goes behind
    /// the address of the file.
    pub sections: Vec<Section>,
    /// What the file says of itself.
    pub about: FileFacts,
    /// What could not be read, for people; empty when nothing is missing.
    pub warnings: Vec<String>,
}

/// What a file says of itself. It is as untrusted as its text, and as bounded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileFacts {
    /// Who wrote it: names, or addresses in the form `Name <address>`.
    pub authors: Vec<String>,
    /// When it was written or, for a message, sent.
    pub created_at: Option<DateTime<Utc>>,
    /// When it was changed last.
    pub modified_at: Option<DateTime<Utc>>,
    /// Language tag of the text.
    pub language: Option<String>,
    /// Addresses that the text refers to, in their order, each once.
    pub links: Vec<String>,
    /// Everything else that a search may ask for, by its name in lower case: `subject`,
    /// `keywords`, `to`.
    pub properties: BTreeMap<String, Vec<String>>,
}

/// Finds the text in a file.
///
/// # Contract
///
/// * Any bytes are accepted: the answer is text or an error, within bounds that the extractor
///   knows.
/// * What a file is, its first bytes say; only where they say nothing its name does.
/// * The same bytes under the same name give the same answer.
/// * The work is CPU-bound and blocking; callers keep it off an async runtime's threads.
pub trait TextExtractor: Send + Sync + 'static {
    /// File name extensions that are understood, in lower case and without the dot.
    fn extensions(&self) -> &'static [&'static str];

    /// The text of a file that is in memory.
    ///
    /// # Errors
    ///
    /// [`ExtractError`] says what is wrong with the file and what to do.
    fn extract(&self, file_name: &str, content: &[u8]) -> Result<ExtractedText, ExtractError>;

    /// The text of a file on this machine, which need not fit into memory.
    ///
    /// # Errors
    ///
    /// As [`Self::extract`], and [`ExtractError::Unreadable`].
    fn extract_file(&self, file_name: &str, path: &Path) -> Result<ExtractedText, ExtractError>;
}

/// What an extraction may use only so much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resource {
    /// Bytes of the file itself.
    FileBytes,
    /// Bytes that come out of its compressed parts, all together.
    UnpackedBytes,
    /// Bytes that come out of one compressed part.
    PartBytes,
    /// Bytes that come out of one byte of a compressed part.
    Ratio,
    /// Parts of the file.
    Entries,
    /// Files in files.
    Nesting,
    /// Elements in elements.
    Depth,
    /// Pieces of markup.
    Events,
    /// Pages, slides or sheets.
    Pages,
    /// Bytes of memory.
    Memory,
}

impl Resource {
    /// All of them, in an order that stays.
    pub const ALL: [Self; 10] = [
        Self::FileBytes,
        Self::UnpackedBytes,
        Self::PartBytes,
        Self::Ratio,
        Self::Entries,
        Self::Nesting,
        Self::Depth,
        Self::Events,
        Self::Pages,
        Self::Memory,
    ];

    /// What there was too much of.
    #[must_use]
    pub fn noun(self) -> &'static str {
        match self {
            Self::FileBytes => "bytes",
            Self::UnpackedBytes => "bytes when it is unpacked",
            Self::PartBytes => "bytes in one of its parts when it is unpacked",
            Self::Ratio => "bytes for each compressed byte",
            Self::Entries => "parts",
            Self::Nesting => "files in one another",
            Self::Depth => "elements in one another",
            Self::Events => "pieces of markup",
            Self::Pages => "pages",
            Self::Memory => "bytes of memory to be read with",
        }
    }
}

/// Why a file has no text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExtractError {
    /// The format is none that is understood.
    #[error("files of type `{extension}` are not supported")]
    UnsupportedFormat {
        /// The extension, without the dot; empty when there is none.
        extension: String,
    },
    /// The content is no text, nor anything else that is understood.
    #[error("the file holds binary data, not text")]
    Binary,
    /// There is more text than is accepted.
    #[error("the file holds more than {max_chars} characters of text")]
    TooLong {
        /// Longest accepted text in characters.
        max_chars: usize,
    },
    /// It would take more of something than is allowed.
    #[error("the file has more than {limit} {}", resource.noun())]
    OutOfBudget {
        /// What there is too much of.
        resource: Resource,
        /// How much is allowed.
        limit: u64,
    },
    /// Only who knows a password can read it.
    #[error("the file is encrypted")]
    Encrypted,
    /// The file is not what its first bytes promise.
    #[error("the file is no readable {format}: {detail}")]
    Malformed {
        /// Name of the format.
        format: String,
        /// What is wrong, in a line.
        detail: String,
    },
    /// The file cannot be opened.
    #[error("the file cannot be read: {detail}")]
    Unreadable {
        /// What the system says.
        detail: String,
    },
    /// It was not done in time.
    #[error("the file was not read within {} seconds", after.as_secs())]
    TimedOut {
        /// The time that it had.
        after: Duration,
    },
    /// What read it came to an end by it.
    #[error("reading the file failed: {detail}")]
    Crashed {
        /// What is known about the end, in a line.
        detail: String,
    },
    /// Nothing is there to read it with; the file is not to blame.
    #[error("files cannot be read now: {detail}")]
    Unavailable {
        /// What is missing, in a line.
        detail: String,
    },
}

impl ExtractError {
    /// What can be done about it.
    #[must_use]
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::UnsupportedFormat { .. } | Self::Binary => {
                "save it in a format that is supported"
            }
            Self::TooLong { .. } => "divide it, or allow longer documents",
            Self::OutOfBudget { .. } => "divide it, or save it again in a simpler form",
            Self::Encrypted => "save it without a password",
            Self::Malformed { .. } | Self::Crashed { .. } => {
                "open it in the program that it comes from, and save it again"
            }
            Self::Unreadable { .. } => "let this program read it",
            Self::TimedOut { .. } => "divide it, or allow more time",
            Self::Unavailable { .. } => "try again; the log says more",
        }
    }
}
