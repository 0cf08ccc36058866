//! ZIP archives made byte by byte, so that they can be wrong.

use std::io::Write;

use flate2::Compression;
use flate2::write::DeflateEncoder;

/// One entry of an archive, with whatever it says about itself.
#[derive(Clone, Debug)]
pub struct ZipEntry {
    /// Its name with folders.
    pub path: Vec<u8>,
    /// Its bytes as they stand in the archive.
    pub packed: Vec<u8>,
    /// 0 for as they are, 8 for deflated.
    pub method: u16,
    /// Its flags; 1 is for a password.
    pub flags: u16,
    /// The checksum that it claims.
    pub crc: u32,
    /// The length that it claims.
    pub size: u64,
    /// What it is on Unix, in the upper half.
    pub attributes: u32,
}

impl ZipEntry {
    /// A file as it is.
    #[must_use]
    pub fn stored(path: &str, content: &[u8]) -> Self {
        Self {
            path: path.as_bytes().to_vec(),
            packed: content.to_vec(),
            method: 0,
            flags: 0,
            crc: crc(content),
            size: content.len().try_into().unwrap(),
            attributes: 0,
        }
    }

    /// A file, packed.
    #[must_use]
    pub fn deflated(path: &str, content: &[u8]) -> Self {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(content).unwrap();
        Self { packed: encoder.finish().unwrap(), method: 8, ..Self::stored(path, content) }
    }
}

/// An archive that grows.
#[derive(Clone, Debug, Default)]
pub struct Zip {
    bytes: Vec<u8>,
    directory: Vec<u8>,
    entries: u64,
    last: u32,
}

impl Zip {
    /// Puts an entry in.
    #[must_use]
    pub fn with(mut self, entry: &ZipEntry) -> Self {
        self.last = self.bytes.len().try_into().unwrap();
        self.bytes.extend(0x0403_4b50_u32.to_le_bytes());
        self.bytes.extend(20_u16.to_le_bytes());
        let extra = self.about(entry, true);
        self.bytes.extend(extra);
        self.bytes.extend(&entry.packed);
        self.list(entry)
    }

    /// Lists the bytes of the entry before once more, as this entry.
    #[must_use]
    pub fn list(mut self, entry: &ZipEntry) -> Self {
        self.directory.extend(0x0201_4b50_u32.to_le_bytes());
        // Made on Unix.
        self.directory.extend(0x0314_u16.to_le_bytes());
        self.directory.extend(20_u16.to_le_bytes());
        let about = self.about(entry, false);
        self.directory.extend(about);
        self.entries += 1;
        self
    }

    /// What both places say, from the flags to the extra field.
    fn about(&self, entry: &ZipEntry, local: bool) -> Vec<u8> {
        let mut about = Vec::new();
        let length = |bytes: &[u8]| u16::try_from(bytes.len()).unwrap().to_le_bytes();
        let size = u32::try_from(entry.size).unwrap_or(u32::MAX);
        let mut extra = Vec::new();
        if size == u32::MAX {
            extra.extend(1_u16.to_le_bytes());
            extra.extend(8_u16.to_le_bytes());
            extra.extend(entry.size.to_le_bytes());
        }
        about.extend(entry.flags.to_le_bytes());
        about.extend(entry.method.to_le_bytes());
        about.extend([0; 4]);
        about.extend(entry.crc.to_le_bytes());
        about.extend(u32::try_from(entry.packed.len()).unwrap().to_le_bytes());
        about.extend(size.to_le_bytes());
        about.extend(length(&entry.path));
        about.extend(length(&extra));
        if !local {
            about.extend([0; 6]);
            about.extend(entry.attributes.to_le_bytes());
            about.extend(self.last.to_le_bytes());
        }
        about.extend(&entry.path);
        about.extend(extra);
        about
    }

    /// Its bytes.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        let Self { mut bytes, directory, entries, last: _ } = self;
        let begin = u64::try_from(bytes.len()).unwrap();
        let size = u64::try_from(directory.len()).unwrap();
        bytes.extend(directory);
        if entries >= 0xffff {
            let end = u64::try_from(bytes.len()).unwrap();
            bytes.extend(0x0606_4b50_u32.to_le_bytes());
            bytes.extend(44_u64.to_le_bytes());
            bytes.extend([45, 3, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
            for number in [entries, entries, size, begin] {
                bytes.extend(number.to_le_bytes());
            }
            bytes.extend(0x0706_4b50_u32.to_le_bytes());
            bytes.extend([0; 4]);
            bytes.extend(end.to_le_bytes());
            bytes.extend(1_u32.to_le_bytes());
        }
        let count = u16::try_from(entries).unwrap_or(u16::MAX);
        bytes.extend(0x0605_4b50_u32.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(count.to_le_bytes());
        bytes.extend(count.to_le_bytes());
        bytes.extend(u32::try_from(size).unwrap().to_le_bytes());
        bytes.extend(u32::try_from(begin).unwrap().to_le_bytes());
        bytes.extend([0; 2]);
        bytes
    }
}

/// An archive of these files, packed.
#[must_use]
pub fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let with =
        |zip: Zip, (path, content): &(&str, &[u8])| zip.with(&ZipEntry::deflated(path, content));
    files.iter().fold(Zip::default(), with).finish()
}

/// The checksum of ZIP archives.
fn crc(content: &[u8]) -> u32 {
    let mut checksum = flate2::Crc::new();
    checksum.update(content);
    checksum.sum()
}
