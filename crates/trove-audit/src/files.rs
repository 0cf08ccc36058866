//! The files of a log, and how each is read line by line.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::error::OpenError;
use crate::line::LINE_BYTES_MAX;

pub(crate) const HEAD: &str = "head";
const SUFFIX: &str = ".jsonl";
/// So that names sort like numbers.
const DIGITS: usize = 20;

/// A file with the number of its first line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Segment {
    pub(crate) first: u64,
    pub(crate) path: PathBuf,
}

impl Segment {
    pub(crate) fn new(folder: &Path, first: u64) -> Self {
        Self { first, path: folder.join(format!("{first:0DIGITS$}{SUFFIX}")) }
    }
}

/// Makes the folder, for its owner alone.
pub(crate) fn make(folder: &Path) -> Result<(), OpenError> {
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o700).create(folder).map_err(OpenError::io(folder))
}

/// Whether an open file is the one at a path, and not one that was there before.
pub(crate) fn is_at(file: &File, path: &Path) -> bool {
    let place = |data: fs::Metadata| (data.dev(), data.ino());
    let (open, there) = (file.metadata().map(place), fs::metadata(path).map(place));
    matches!((open, there), (Ok(open), Ok(there)) if open == there)
}

/// The files of a folder, oldest first.
pub(crate) fn segments(folder: &Path) -> Result<Vec<Segment>, OpenError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(OpenError::io(folder))? {
        let path = entry.map_err(OpenError::io(folder))?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let first = name.and_then(|name| name.strip_suffix(SUFFIX)).filter(|n| n.len() == DIGITS);
        if let Some(first) = first.and_then(|first| first.parse().ok()) {
            found.push(Segment { first, path });
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Opens a file to write at its end; it is made when it is not there.
pub(crate) fn open_to_append(path: &Path) -> Result<File, OpenError> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true).mode(0o600);
    options.open(path).map_err(OpenError::io(path))
}

/// Makes names durable that were given in a folder.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), OpenError> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(OpenError::io(folder))
}

/// What is at a place of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// A line, without its end.
    Whole(Vec<u8>),
    /// Bytes after the last end of a line.
    Torn(u64),
}

/// The lines of a file, each with where it begins.
pub(crate) struct Pieces {
    reader: BufReader<File>,
    offset: u64,
}

impl Pieces {
    pub(crate) fn of(path: &Path) -> Result<Self, OpenError> {
        let file = File::open(path).map_err(OpenError::io(path))?;
        Ok(Self { reader: BufReader::new(file), offset: 0 })
    }

    pub(crate) fn next(&mut self) -> io::Result<Option<(u64, Piece)>> {
        let start = self.offset;
        let mut line = Vec::new();
        let limit = u64::try_from(LINE_BYTES_MAX).unwrap_or(u64::MAX);
        let read = (&mut self.reader).take(limit).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(None);
        }
        self.offset += u64::try_from(read).unwrap_or(u64::MAX);
        if line.last() == Some(&b'\n') {
            line.pop();
            return Ok(Some((start, Piece::Whole(line))));
        }
        // Whatever else follows without an end.
        let rest = io::copy(&mut self.reader, &mut io::sink())?;
        self.offset += rest;
        Ok(Some((start, Piece::Torn(self.offset - start))))
    }
}
