use std::io;
use std::ops::ControlFlow;

use crate::error::{Classify, ErrorKind, Source, kind_of};

/// The bytes of an archive, wherever they are.
pub trait ArchiveBytes {
    /// How many there are.
    fn size(&self) -> u64;

    /// Reads some of them from `offset` on; none only at the end.
    ///
    /// # Errors
    ///
    /// What the place they are in says.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
}

impl ArchiveBytes for &[u8] {
    fn size(&self) -> u64 {
        u64::try_from(self.len()).unwrap_or(u64::MAX)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|at| self.get(at..)).unwrap_or_default();
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        Ok(length)
    }
}

/// How much an archive may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnpackLimits {
    /// Most entries, folders and whatever is not wanted included.
    pub entries: u64,
    /// Most bytes of one file.
    pub file_bytes: u64,
    /// Most bytes of all files together.
    pub total_bytes: u64,
}

/// Takes what is in an archive. Whoever breaks gets nothing more.
pub trait UnpackInto {
    /// Whether this entry is to be unpacked. The path is what the archive says.
    fn wants(&self, path: &str) -> bool;

    /// A file begins.
    fn begin(&mut self, path: &str) -> ControlFlow<()>;

    /// More of it.
    fn bytes(&mut self, bytes: &[u8]) -> ControlFlow<()>;

    /// It was that, all of it.
    fn end(&mut self) -> ControlFlow<()>;
}

/// Takes archives apart.
///
/// # Contract
///
/// * Any bytes are accepted: the answer is files or an error. Whatever the archive says about
///   itself that can be known to be too much is refused before the first file begins.
/// * Nothing is believed: a file that is longer than it is said to be, or than the limits allow,
///   fails where that shows.
/// * Files come in the order of the archive's list. Folders and links do not come.
/// * Archives in an archive are files.
/// * The memory that it takes does not grow with the files, only with the number of entries, which
///   is bounded.
/// * The work is CPU-bound and blocking; callers keep it off an async runtime's threads.
pub trait Unpacker: Send + Sync + 'static {
    /// Hands all wanted files of the archive to `into`.
    ///
    /// # Errors
    ///
    /// [`UnpackError`]; what has come by then is to be thrown away.
    fn unpack(
        &self,
        archive: &dyn ArchiveBytes,
        limits: &UnpackLimits,
        into: &mut dyn UnpackInto,
    ) -> Result<(), UnpackError>;
}

/// Why an archive was not taken apart.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnpackError {
    /// It is no archive, or a damaged one.
    #[error("the ZIP archive cannot be read: {detail}")]
    Malformed {
        /// What is wrong, in a line.
        detail: String,
    },
    /// A file in it needs a password.
    #[error("the ZIP archive is encrypted")]
    Encrypted,
    /// There is too much in it.
    #[error("the ZIP archive has more than {limit} {what}")]
    TooMuch {
        /// Of what.
        what: &'static str,
        /// How much is allowed.
        limit: u64,
    },
    /// Whoever took the files wants no more.
    #[error("unpacking was stopped")]
    Stopped,
    /// The place that the archive is in fails.
    #[error("the stored archive cannot be read")]
    Unreadable {
        /// Why.
        #[source]
        source: Source,
    },
}

impl Classify for UnpackError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Malformed { .. } | Self::Encrypted | Self::TooMuch { .. } => ErrorKind::Invalid,
            Self::Stopped => ErrorKind::Internal,
            Self::Unreadable { source } => kind_of(source, ErrorKind::Unavailable),
        }
    }
}
