//! Where a log ends, and what a crash has left there.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::error::OpenError;
use crate::files::{self, Piece, Pieces, Segment};
use crate::line::{self, Hash};

/// The last line of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) number: u64,
    pub(crate) hash: Hash,
}

impl Place {
    pub(crate) const BEGINNING: Self = Self { number: 0, hash: Hash::BEGINNING };
}

/// The end of a log.
#[derive(Debug)]
pub(crate) struct Tail {
    pub(crate) last: Place,
    /// The file that grows; none where there is no line yet.
    pub(crate) segment: Option<Segment>,
    /// Length of what is whole in it.
    pub(crate) length: u64,
    /// Bytes after that.
    pub(crate) torn: u64,
}

/// What is said of a log without one.
pub(crate) const HEAD_IS_GONE: &str =
    "the file `head`, which says where the log ends, is empty or missing";

/// Length of what `head` holds.
const HEAD_BYTES: usize = 20 + 1 + 64 + 1;

/// Number and hash of the last line that was answered for; nothing where there was none.
pub(crate) fn read_head(head: &mut File, path: &Path) -> Result<Place, OpenError> {
    let mut text = String::new();
    head.seek(SeekFrom::Start(0)).map_err(OpenError::io(path))?;
    let limit = u64::try_from(HEAD_BYTES).unwrap_or(u64::MAX) + 1;
    head.take(limit).read_to_string(&mut text).map_err(OpenError::io(path))?;
    if text.is_empty() {
        return Ok(Place::BEGINNING);
    }
    parse_head(&text).ok_or_else(|| OpenError::damaged(path, "it holds no number and hash"))
}

pub(crate) fn parse_head(text: &str) -> Option<Place> {
    let (number, hash) = text.strip_suffix('\n')?.split_once(' ')?;
    Some(Place { number: number.parse().ok()?, hash: Hash::parse(hash)? })
}

/// Always of one length, so that it is replaced in one write.
pub(crate) fn write_head(head: &File, path: &Path, last: Place) -> Result<(), OpenError> {
    let text = format!("{:020} {}\n", last.number, last.hash);
    head.write_all_at(text.as_bytes(), 0).map_err(OpenError::io(path))
}

/// Looks where a log ends. Only its last file is read; `verify` reads all.
pub(crate) fn find(folder: &Path, head: Place) -> Result<Tail, OpenError> {
    let mut segments = files::segments(folder)?;
    let Some(segment) = segments.pop() else {
        if head != Place::BEGINNING {
            return Err(OpenError::damaged(folder, format!("all {} lines are gone", head.number)));
        }
        return Ok(Tail { last: Place::BEGINNING, segment: None, length: 0, torn: 0 });
    };
    let mut pieces = Pieces::of(&segment.path)?;
    let (mut last, mut length, mut torn) = (None, 0, 0);
    while let Some((start, piece)) = pieces.next().map_err(OpenError::io(&segment.path))? {
        match piece {
            Piece::Whole(line) => {
                length = start + u64::try_from(line.len()).unwrap_or(u64::MAX) + 1;
                last = Some(line);
            }
            Piece::Torn(bytes) => torn = bytes,
        }
    }
    let place = match last {
        Some(line) => {
            let damaged =
                |what| OpenError::damaged(&segment.path, format!("the last line: {what}"));
            let line = line::read(&line).map_err(damaged)?;
            Place { number: line.entry.number, hash: line.hash }
        }
        // The first line of a new file was torn: the one before ends the chain.
        None => match segments.last() {
            Some(before) => find_in(before)?,
            None => Place::BEGINNING,
        },
    };
    check(&segment, place, head)?;
    Ok(Tail { last: place, segment: Some(segment), length, torn })
}

/// The last line of a file that has ended.
fn find_in(segment: &Segment) -> Result<Place, OpenError> {
    let mut pieces = Pieces::of(&segment.path)?;
    let mut last = None;
    while let Some((_, piece)) = pieces.next().map_err(OpenError::io(&segment.path))? {
        last = Some(piece);
    }
    let Some(Piece::Whole(line)) = last else {
        return Err(OpenError::damaged(&segment.path, "it does not end with a line"));
    };
    let line = line::read(&line).map_err(|what| OpenError::damaged(&segment.path, what))?;
    Ok(Place { number: line.entry.number, hash: line.hash })
}

/// The head is written after the line is on the disk: it may be behind, and is never ahead.
fn check(segment: &Segment, last: Place, head: Place) -> Result<(), OpenError> {
    // It is written with the first line; a crash in between leaves that one line alone.
    if head == Place::BEGINNING && last.number > 1 {
        return Err(OpenError::damaged(&segment.path, HEAD_IS_GONE));
    }
    if last.number < head.number {
        let what = format!("it ends with line {}, and {} were written", last.number, head.number);
        return Err(OpenError::damaged(&segment.path, what));
    }
    if last.number == head.number && last.hash != head.hash {
        return Err(OpenError::damaged(
            &segment.path,
            "its last line is not the one that was written",
        ));
    }
    Ok(())
}

/// Cuts off what is not whole.
pub(crate) fn cut(file: &mut File, path: &Path, length: u64) -> Result<(), OpenError> {
    file.set_len(length).map_err(OpenError::io(path))?;
    file.flush().and_then(|()| file.sync_all()).map_err(OpenError::io(path))
}
