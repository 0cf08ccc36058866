//! The one reader of ZIP archives: documents of offices, books, and archives of files.
//!
//! Whatever an archive claims about sizes is ignored: bytes are counted as they come out.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};

use flate2::read::DeflateDecoder;
use rawzip::{CompressionMethod, ReaderAt, ZipArchive, ZipArchiveEntryWayfinder, ZipLocator};
use trove_domain::port::{ExtractError, Resource};

use crate::budget::{Meter, malformed};

/// Bytes of a file, wherever they are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source<'a> {
    Bytes(&'a [u8]),
    File(&'a File, u64),
}

impl Source<'_> {
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len().try_into().unwrap_or(u64::MAX),
            Self::File(_, length) => *length,
        }
    }
}

impl ReaderAt for Source<'_> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        match self {
            Self::Bytes(bytes) => {
                let rest = usize::try_from(offset).ok().and_then(|at| bytes.get(at..));
                let mut rest = rest.unwrap_or_default();
                rest.read(buffer)
            }
            #[cfg(unix)]
            Self::File(file, _) => std::os::unix::fs::FileExt::read_at(*file, buffer, offset),
            #[cfg(not(unix))]
            Self::File(file, _) => {
                use std::io::{Seek, SeekFrom};
                let mut file = *file;
                file.seek(SeekFrom::Start(offset))?;
                file.read(buffer)
            }
        }
    }
}

const FORMAT: &str = "ZIP archive";

/// Below so many bytes a part may be as dull as it likes.
const RATIO_FROM: u64 = 8 * 1024 * 1024;

/// What an archive says about one of its parts.
#[derive(Clone, Debug)]
struct Entry {
    name: String,
    place: ZipArchiveEntryWayfinder,
    method: CompressionMethod,
    encrypted: bool,
}

/// An open archive.
#[derive(Debug)]
pub(crate) struct Archive<'a> {
    zip: ZipArchive<Source<'a>>,
    entries: Vec<Entry>,
    by_name: HashMap<String, usize>,
    meter: &'a Meter,
}

impl<'a> Archive<'a> {
    /// Reads the list of parts. Folders, links and names that lead out of the archive are left
    /// out; of two parts with one name the first one counts.
    pub(crate) fn open(source: Source<'a>, meter: &'a Meter) -> Result<Self, ExtractError> {
        let mut buffer = vec![0; rawzip::RECOMMENDED_BUFFER_SIZE];
        let zip = ZipLocator::new()
            .locate_in_reader(source, &mut buffer, source.len())
            .map_err(|(_, error)| malformed(FORMAT, &error))?;
        let mut entries = Vec::new();
        let mut by_name = HashMap::new();
        let mut listed = zip.entries(&mut buffer);
        while let Some(entry) = listed.next_entry().map_err(|error| malformed(FORMAT, &error))? {
            meter.take_entry()?;
            meter.take_event()?;
            if entry.is_dir() || entry.mode().is_symlink() {
                continue;
            }
            let name = String::from_utf8_lossy(entry.file_path().as_bytes()).into_owned();
            if !is_safe(&name) {
                meter.warn(format!("a part with the name {name:?} was not read"));
                continue;
            }
            if by_name.contains_key(&name) {
                meter.warn(format!("a second part with the name {name} was not read"));
                continue;
            }
            by_name.insert(name.clone(), entries.len());
            entries.push(Entry {
                name,
                place: entry.wayfinder(),
                method: entry.compression_method(),
                encrypted: entry.flags().is_encrypted(),
            });
        }
        Ok(Self { zip, entries, by_name, meter })
    }

    /// Names of all parts, in their order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.name.as_str())
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// Opens a part; `None` when there is none of this name.
    pub(crate) fn part(&self, name: &str) -> Result<Option<impl Read + use<'_, 'a>>, ExtractError> {
        let Some(entry) = self.by_name.get(name).and_then(|at| self.entries.get(*at)) else {
            return Ok(None);
        };
        if entry.encrypted {
            return Err(ExtractError::Encrypted);
        }
        let found = self.zip.get_entry(entry.place).map_err(|error| malformed(FORMAT, &error))?;
        let packed = entry.place.compressed_size_hint();
        let content = match entry.method {
            CompressionMethod::STORE => Content::Stored(found.reader()),
            CompressionMethod::DEFLATE => Content::Deflated(DeflateDecoder::new(found.reader())),
            other => return Err(malformed(FORMAT, &format!("{name} is packed by {other}"))),
        };
        let counted = Counted { content, meter: self.meter, packed, read: 0 };
        Ok(Some(found.verifying_reader(counted)))
    }

    /// All bytes of a part.
    pub(crate) fn bytes(&self, name: &str) -> Result<Option<Vec<u8>>, ExtractError> {
        let Some(mut part) = self.part(name)? else { return Ok(None) };
        let mut bytes = Vec::new();
        part.read_to_end(&mut bytes)
            .map_err(|error| self.meter.failure(FORMAT, &format!("{name}: {error}")))?;
        Ok(Some(bytes))
    }
}

/// Whether a name stays in the archive and reads as it is written.
fn is_safe(name: &str) -> bool {
    let mut parts = name.split(['/', '\\']);
    !name.is_empty()
        && !name.contains(|c: char| c.is_control() || c == ':')
        && parts.all(|part| !part.is_empty() && part != "." && part != "..")
}

enum Content<R: Read> {
    Stored(R),
    Deflated(DeflateDecoder<R>),
}

/// Counts what comes out of a part.
struct Counted<'m, R: Read> {
    content: Content<R>,
    meter: &'m Meter,
    packed: u64,
    read: u64,
}

impl<R: Read> Counted<'_, R> {
    fn check(&self) -> Result<(), ExtractError> {
        let budget = self.meter.budget();
        if self.read > RATIO_FROM && self.read / budget.ratio.max(1) > self.packed {
            let limit = budget.ratio;
            return Err(ExtractError::OutOfBudget { resource: Resource::Ratio, limit });
        }
        if self.read > budget.part_bytes {
            let limit = budget.part_bytes;
            return Err(ExtractError::OutOfBudget { resource: Resource::PartBytes, limit });
        }
        Ok(())
    }
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = match &mut self.content {
            Content::Stored(content) => content.read(buffer)?,
            Content::Deflated(content) => content.read(buffer)?,
        };
        let bytes = u64::try_from(length).unwrap_or(u64::MAX);
        self.read = self.read.saturating_add(bytes);
        let counted = self.meter.take_unpacked(bytes).and_then(|()| self.check());
        counted.map_err(|error| self.meter.fail(error))?;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::is_safe;

    #[test]
    fn names_stay_in_the_archive() {
        for name in ["a.txt", "a/b c/世界.txt", "..a", "a..", "[Content_Types].xml", "_rels/.rels"]
        {
            assert!(is_safe(name), "{name}");
        }
        for name in [
            "",
            "/etc/passwd",
            "../a",
            "a/../b",
            "a\\..\\b",
            "C:\\a",
            "C:a",
            "a\0.txt",
            "a//b",
            "./a",
        ] {
            assert!(!is_safe(name), "{name:?}");
        }
    }
}
