//! Whether a log is what was written.

use std::path::{Path, PathBuf};

use crate::error::OpenError;
use crate::files::{self, HEAD, Piece, Pieces};
use crate::line::{self, Hash};
use crate::tail::{self, Place};

/// A log in which everything fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// How many lines it has.
    pub lines: u64,
    /// Hash of the last one; nothing where there is none. Kept elsewhere, it proves later that
    /// nothing before was changed.
    pub head: Option<Hash>,
    /// Bytes after the last line, as a crash leaves them; the next writer cuts them off.
    pub torn: u64,
}

/// The first place where a log is not what was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The file.
    pub path: PathBuf,
    /// The line of the file, from 1; nothing where a whole file is missing.
    pub line: Option<u64>,
    /// The number that the line should have.
    pub number: u64,
    /// What is wrong.
    pub what: String,
}

/// Reads all of a log and checks that each line follows the one before. `contains` is the hash of a
/// line that must be there.
///
/// # Errors
///
/// [`OpenError`] when it cannot be read; `Ok(Err(..))` when it is not what was written.
pub fn verify(
    folder: &Path,
    contains: Option<Hash>,
) -> Result<Result<Verified, Broken>, OpenError> {
    let mut last = Place::BEGINNING;
    let mut torn = 0;
    let mut head = None;
    let mut seen = contains.is_none();
    let segments = files::segments(folder)?;
    let at_end = segments.last().cloned();
    for segment in &segments {
        let broken = |line, number, what: &str| {
            let path = segment.path.clone();
            Ok(Err(Broken { path, line, number, what: what.to_owned() }))
        };
        if segment.first != last.number + 1 {
            return broken(None, last.number + 1, "lines before this file are missing");
        }
        if torn > 0 {
            return broken(None, last.number + 1, "the file before ends in half a line");
        }
        let mut pieces = Pieces::of(&segment.path)?;
        let mut in_file = 0;
        while let Some((_, piece)) = pieces.next().map_err(OpenError::io(&segment.path))? {
            in_file += 1;
            let (at, number) = (Some(in_file), last.number + 1);
            let bytes = match piece {
                Piece::Whole(bytes) => bytes,
                Piece::Torn(bytes) => {
                    torn = bytes;
                    continue;
                }
            };
            let line = match line::read(&bytes) {
                Ok(line) => line,
                Err(what) => return broken(at, number, &what),
            };
            if line.entry.number != number {
                return broken(at, number, "lines are missing, moved or added");
            }
            if line.prev != last.hash {
                return broken(at, number, "the line does not follow the one before");
            }
            last = Place { number, hash: line.hash };
            head = Some(line.hash);
            seen |= contains == Some(line.hash);
        }
    }
    let end = at_end.map_or_else(|| folder.to_owned(), |segment| segment.path);
    let ended = |what: &str| {
        let what = what.to_owned();
        Ok(Err(Broken { path: end.clone(), line: None, number: last.number + 1, what }))
    };
    let path = folder.join(HEAD);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && last.number > 0 => {
            String::new()
        }
        Err(error) => return Err(OpenError::io(&path)(error)),
    };
    let known = if text.is_empty() { Some(Place::BEGINNING) } else { tail::parse_head(&text) };
    let Some(known) = known else { return ended("the file `head` holds no number and hash") };
    if known == Place::BEGINNING && last.number > 1 {
        return ended(tail::HEAD_IS_GONE);
    }
    // Lines may be ahead of it: they are written first.
    if known.number > last.number {
        return ended("the last lines are missing");
    }
    if known.number == last.number && known.hash != last.hash {
        return ended("the last line is not the one that was written");
    }
    if !seen {
        return ended("the line with the hash that was asked for is not there");
    }
    Ok(Ok(Verified { lines: last.number, head, torn }))
}
