//! Taking archives apart that somebody has uploaded.
//!
//! Other than what finds text in archives, this one unpacks everything, and refuses an archive as a
//! whole: what it says about itself is looked at in full before anything is unpacked.

use std::cell::RefCell;
use std::io::{self, Read};
use std::ops::ControlFlow;

use flate2::read::DeflateDecoder;
use rawzip::{CompressionMethod, ReaderAt, ZipArchive, ZipArchiveEntryWayfinder, ZipLocator};
use trove_domain::port::{ArchiveBytes, UnpackError, UnpackInto, UnpackLimits, Unpacker};

/// Bytes that are handed over at once.
const PIECE_BYTES: usize = 64 * 1024;

/// Longest path of an entry.
const PATH_BYTES_MAX: usize = 4096;

/// Below so many bytes a file may be as dull as it likes.
const RATIO_FROM: u64 = 8 * 1024 * 1024;

/// Most bytes that come out of one packed byte.
const RATIO_MAX: u64 = 250;

/// Bytes of an entry before its name.
const LOCAL_HEADER_BYTES: u64 = 30;

/// Takes ZIP archives apart.
#[derive(Clone, Copy, Debug, Default)]
pub struct ZipUnpacker;

/// The bytes of the archive, and why they could not be read.
struct Place<'a> {
    bytes: &'a dyn ArchiveBytes,
    failed: RefCell<Option<io::Error>>,
}

impl ReaderAt for Place<'_> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.bytes.read_at(buffer, offset).map_err(|error| {
            let told = io::Error::new(error.kind(), "the archive cannot be read");
            self.failed.borrow_mut().get_or_insert(error);
            told
        })
    }
}

impl Place<'_> {
    /// What a failure was: the place's, else the archive's.
    fn failure(&self, detail: &dyn std::fmt::Display) -> UnpackError {
        match self.failed.borrow_mut().take() {
            Some(source) => UnpackError::Unreadable { source: source.into() },
            None => malformed(detail),
        }
    }
}

fn malformed(detail: &dyn std::fmt::Display) -> UnpackError {
    let detail = crate::writer::title(&detail.to_string()).unwrap_or_default();
    UnpackError::Malformed { detail }
}

/// An entry that is to be unpacked.
struct Wanted {
    path: String,
    place: ZipArchiveEntryWayfinder,
    method: CompressionMethod,
    packed: u64,
    size: u64,
}

/// What the list says so far.
struct Survey<'l> {
    limits: &'l UnpackLimits,
    entries: u64,
    total: u64,
    /// Where entries begin, and the least that they take.
    ranges: Vec<(u64, u64)>,
    wanted: Vec<Wanted>,
}

impl Survey<'_> {
    fn too_much<T>(what: &'static str, limit: u64) -> Result<T, UnpackError> {
        Err(UnpackError::TooMuch { what, limit })
    }

    fn count_entry(&mut self) -> Result<(), UnpackError> {
        self.entries += 1;
        if self.entries > self.limits.entries {
            return Self::too_much("entries", self.limits.entries);
        }
        Ok(())
    }

    fn take(&mut self, wanted: Wanted) -> Result<(), UnpackError> {
        let limits = self.limits;
        if wanted.size > limits.file_bytes {
            return Self::too_much("bytes in one of its files", limits.file_bytes);
        }
        if wanted.size > RATIO_FROM && wanted.size / RATIO_MAX > wanted.packed {
            return Self::too_much("bytes for each compressed byte of a file", RATIO_MAX);
        }
        self.total = self.total.saturating_add(wanted.size);
        if self.total > limits.total_bytes {
            return Self::too_much("bytes when it is unpacked", limits.total_bytes);
        }
        if !matches!(wanted.method, CompressionMethod::STORE | CompressionMethod::DEFLATE) {
            return Err(malformed(&format!("{} is packed by {}", wanted.path, wanted.method)));
        }
        self.wanted.push(wanted);
        Ok(())
    }

    /// All wanted entries, once it is known that no two of the archive share bytes.
    fn finish(mut self) -> Result<Vec<Wanted>, UnpackError> {
        self.ranges.sort_unstable();
        let shared = self.ranges.windows(2).any(|pair| pair[0].1 > pair[1].0);
        if shared {
            return Err(malformed(&"its entries share bytes"));
        }
        Ok(self.wanted)
    }
}

fn survey(
    zip: &ZipArchive<Place<'_>>,
    buffer: &mut [u8],
    limits: &UnpackLimits,
    into: &dyn UnpackInto,
) -> Result<Vec<Wanted>, UnpackError> {
    let mut survey =
        Survey { limits, entries: 0, total: 0, ranges: Vec::new(), wanted: Vec::new() };
    if zip.entries_hint() > limits.entries {
        return Survey::too_much("entries", limits.entries);
    }
    let failed = |error: rawzip::Error| zip.get_ref().failure(&error);
    let mut listed = zip.entries(buffer);
    while let Some(entry) = listed.next_entry().map_err(failed)? {
        survey.count_entry()?;
        let path = entry.file_path();
        let path: &[u8] = path.as_bytes();
        if path.len() > PATH_BYTES_MAX {
            return Survey::too_much("bytes in the name of an entry", limit(PATH_BYTES_MAX));
        }
        let begin = entry.local_header_offset();
        let packed = entry.compressed_size_hint();
        let least = LOCAL_HEADER_BYTES.saturating_add(limit(path.len())).saturating_add(packed);
        survey.ranges.push((begin, begin.saturating_add(least)));
        let path = String::from_utf8_lossy(path).into_owned();
        if entry.is_dir() || entry.mode().is_symlink() || !into.wants(&path) {
            continue;
        }
        if entry.flags().is_encrypted() {
            return Err(UnpackError::Encrypted);
        }
        survey.take(Wanted {
            path,
            place: entry.wayfinder(),
            method: entry.compression_method(),
            packed,
            size: entry.uncompressed_size_hint(),
        })?;
    }
    survey.finish()
}

fn limit(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// Hands over one file.
fn hand_over(
    place: &Place<'_>,
    wanted: &Wanted,
    mut content: impl Read,
    piece: &mut [u8],
    into: &mut dyn UnpackInto,
) -> Result<(), UnpackError> {
    go_on(into.begin(&wanted.path))?;
    let mut left = wanted.size;
    loop {
        let length = match content.read(piece) {
            Ok(0) => return go_on(into.end()),
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(place.failure(&format!("{}: {error}", wanted.path))),
        };
        left = left.checked_sub(limit(length)).ok_or_else(|| {
            malformed(&format!("{} is longer than the archive says", wanted.path))
        })?;
        go_on(into.bytes(&piece[..length]))?;
    }
}

fn go_on(flow: ControlFlow<()>) -> Result<(), UnpackError> {
    match flow {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(UnpackError::Stopped),
    }
}

impl Unpacker for ZipUnpacker {
    fn unpack(
        &self,
        archive: &dyn ArchiveBytes,
        limits: &UnpackLimits,
        into: &mut dyn UnpackInto,
    ) -> Result<(), UnpackError> {
        let place = Place { bytes: archive, failed: RefCell::new(None) };
        let mut buffer = vec![0; rawzip::RECOMMENDED_BUFFER_SIZE];
        let located = ZipLocator::new().locate_in_reader(place, &mut buffer, archive.size());
        let zip = located.map_err(|(place, error)| place.failure(&error))?;
        let place = zip.get_ref();
        let wanted = survey(&zip, &mut buffer, limits, into)?;
        let mut piece = vec![0; PIECE_BYTES];
        for wanted in wanted {
            let found = zip.get_entry(wanted.place).map_err(|error| place.failure(&error))?;
            // The checksum and the length are compared at the end.
            match wanted.method {
                CompressionMethod::DEFLATE => {
                    let content = DeflateDecoder::new(found.reader());
                    let content = found.verifying_reader(content);
                    hand_over(place, &wanted, content, &mut piece, into)?;
                }
                _ => {
                    let content = found.verifying_reader(found.reader());
                    hand_over(place, &wanted, content, &mut piece, into)?;
                }
            }
        }
        Ok(())
    }
}
