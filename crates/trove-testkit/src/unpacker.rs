//! What every [`Unpacker`] does.

#![expect(clippy::unused_async, reason = "the cases of all suites have one shape")]

use std::io;
use std::ops::ControlFlow::{self, Break, Continue};

use trove_domain::port::{ArchiveBytes, UnpackError, UnpackInto, UnpackLimits, Unpacker};

use crate::zips::{Zip, ZipEntry, zip};

/// Turns the suite into one test for each obligation.
///
/// `$start` is a future of an `Option` of something that dereferences to an unpacker.
#[macro_export]
macro_rules! unpacker_contract {
    ($start:expr) => {
        $crate::contract_suite!(
            unpacker,
            $start,
            [
                files_come_whole_and_in_the_order_of_the_list,
                what_is_not_wanted_does_not_come,
                folders_and_links_do_not_come,
                an_archive_in_an_archive_is_a_file,
                what_is_no_archive_is_malformed,
                a_damaged_archive_is_answered,
                too_many_entries_are_refused_before_the_first_file,
                a_million_entries_are_refused,
                too_much_is_refused_before_the_first_file,
                too_large_a_file_is_refused,
                a_dull_file_is_refused_before_it_begins,
                a_file_that_is_longer_than_it_says_fails,
                a_file_that_is_shorter_than_it_says_fails,
                a_wrong_checksum_fails,
                entries_that_share_bytes_are_refused,
                an_absurd_length_is_refused,
                an_absurd_name_is_refused,
                a_password_is_needed,
                whoever_breaks_gets_nothing_more,
                a_place_that_fails_is_no_fault_of_the_archive,
            ]
        );
    };
}

const LIMITS: UnpackLimits =
    UnpackLimits { entries: 1000, file_bytes: 64 << 20, total_bytes: 80 << 20 };

/// What has come.
#[derive(Default)]
struct Taken {
    files: Vec<(String, Vec<u8>)>,
    open: bool,
    breaks_after: Option<usize>,
}

impl UnpackInto for Taken {
    fn wants(&self, path: &str) -> bool {
        !path.contains("unwanted")
    }

    fn begin(&mut self, path: &str) -> ControlFlow<()> {
        assert!(!self.open, "a file begins within another one");
        if self.breaks_after == Some(self.files.len()) {
            return Break(());
        }
        self.files.push((path.to_owned(), Vec::new()));
        self.open = true;
        Continue(())
    }

    fn bytes(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        assert!(self.open && !bytes.is_empty());
        self.files.last_mut().unwrap().1.extend_from_slice(bytes);
        Continue(())
    }

    fn end(&mut self) -> ControlFlow<()> {
        assert!(self.open, "the end of no file");
        self.open = false;
        Continue(())
    }
}

fn unpack(unpacker: &dyn Unpacker, archive: &[u8]) -> Result<Vec<(String, Vec<u8>)>, UnpackError> {
    let mut taken = Taken::default();
    unpacker.unpack(&archive, &LIMITS, &mut taken).map(|()| taken.files)
}

/// Fails unless it is refused, with nothing before.
#[track_caller]
fn refused_at_once(unpacker: &dyn Unpacker, archive: &[u8]) -> UnpackError {
    let mut taken = Taken::default();
    let error = unpacker.unpack(&archive, &LIMITS, &mut taken).unwrap_err();
    assert!(taken.files.is_empty(), "{error}: {} files came", taken.files.len());
    error
}

#[track_caller]
fn assert_malformed(result: &Result<Vec<(String, Vec<u8>)>, UnpackError>) {
    assert!(matches!(result, Err(UnpackError::Malformed { .. })), "{result:?}");
}

#[track_caller]
fn assert_too_much(error: &UnpackError, of: &str) {
    assert!(matches!(error, UnpackError::TooMuch { what, .. } if what.contains(of)), "{error:?}");
}

/// Whatever they are packed by.
pub async fn files_come_whole_and_in_the_order_of_the_list(unpacker: &dyn Unpacker) {
    let large: Vec<u8> = (0..300_000_u32).flat_map(u32::to_le_bytes).collect();
    let archive = Zip::default()
        .with(&ZipEntry::deflated("b/large.bin", &large))
        .with(&ZipEntry::stored("a.txt", b"text"))
        .with(&ZipEntry::deflated("c/empty", b""))
        .with(&ZipEntry::stored("b/世界.txt", b"same"))
        .with(&ZipEntry::stored("b/世界.txt", b"twice"));
    let files = unpack(unpacker, &archive.finish()).unwrap();
    let expected: [(&str, &[u8]); 5] = [
        ("b/large.bin", &large),
        ("a.txt", b"text"),
        ("c/empty", b""),
        ("b/世界.txt", b"same"),
        ("b/世界.txt", b"twice"),
    ];
    assert_eq!(files.len(), expected.len());
    for ((path, content), expected) in files.iter().zip(expected) {
        assert!((path.as_str(), content.as_slice()) == expected, "{path}");
    }
    assert_eq!(unpack(unpacker, &zip(&[])).unwrap(), []);
}

/// Even where it could not be unpacked.
pub async fn what_is_not_wanted_does_not_come(unpacker: &dyn Unpacker) {
    let strange = ZipEntry { method: 99, ..ZipEntry::stored("unwanted", b"?") };
    let archive = Zip::default().with(&strange).with(&ZipEntry::stored("a", b"a"));
    let files = unpack(unpacker, &archive.finish()).unwrap();
    assert_eq!(files, [("a".to_owned(), b"a".to_vec())]);
    let strange = ZipEntry { method: 99, ..ZipEntry::stored("wanted", b"?") };
    assert_malformed(&unpack(unpacker, &Zip::default().with(&strange).finish()));
}

/// A link would be a file with a path in it.
pub async fn folders_and_links_do_not_come(unpacker: &dyn Unpacker) {
    let link =
        ZipEntry { attributes: 0o120_777 << 16, ..ZipEntry::stored("link.txt", b"/etc/passwd") };
    let archive = Zip::default().with(&ZipEntry::stored("folder/", b"")).with(&link);
    assert_eq!(unpack(unpacker, &archive.finish()).unwrap(), []);
}

/// However many times it holds itself.
pub async fn an_archive_in_an_archive_is_a_file(unpacker: &dyn Unpacker) {
    let inner = zip(&[("a.txt", b"text")]);
    let files = unpack(unpacker, &zip(&[("inner.zip", &inner)])).unwrap();
    assert_eq!(files, [("inner.zip".to_owned(), inner)]);
}

/// Whatever its name says.
pub async fn what_is_no_archive_is_malformed(unpacker: &dyn Unpacker) {
    for bytes in [&b""[..], b"PK", b"PK\x05\x06", b"PK\x03\x04", b"some text", &vec![0; 100_000]] {
        assert_malformed(&unpack(unpacker, bytes));
    }
}

/// By files or by an error.
pub async fn a_damaged_archive_is_answered(unpacker: &dyn Unpacker) {
    let archive = zip(&[("a/b.txt", &b"some text ".repeat(20)), ("c.txt", b"more")]);
    for length in 0..archive.len() {
        assert!(unpack(unpacker, &archive[..length]).is_err(), "{length}");
    }
    for at in 0..archive.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut damaged = archive.clone();
            damaged[at] ^= flip;
            let _answered = unpack(unpacker, &damaged);
        }
    }
}

/// Whether they are wanted or not.
pub async fn too_many_entries_are_refused_before_the_first_file(unpacker: &dyn Unpacker) {
    let make = |count: usize| {
        let entry = ZipEntry::stored("unwanted", b"");
        (0..count).fold(Zip::default(), |zip, _| zip.with(&entry)).finish()
    };
    assert_eq!(unpack(unpacker, &make(1000)).unwrap(), []);
    assert_too_much(&refused_at_once(unpacker, &make(1001)), "entries");
}

/// Without reading the whole list.
pub async fn a_million_entries_are_refused(unpacker: &dyn Unpacker) {
    let entry = ZipEntry::stored("a", b"");
    let zip = (0..1_000_000).fold(Zip::default().with(&entry), |zip, _| zip.list(&entry));
    assert_too_much(&refused_at_once(unpacker, &zip.finish()), "entries");
}

/// By what it says itself.
pub async fn too_much_is_refused_before_the_first_file(unpacker: &dyn Unpacker) {
    let entry = ZipEntry { size: 60 << 20, ..ZipEntry::stored("a", &vec![7; 1 << 20]) };
    let zip = Zip::default().with(&entry).with(&entry);
    assert_too_much(&refused_at_once(unpacker, &zip.finish()), "bytes");
}

/// As it would be if it came alone.
pub async fn too_large_a_file_is_refused(unpacker: &dyn Unpacker) {
    let entry = ZipEntry { size: (64 << 20) + 1, ..ZipEntry::stored("a", &vec![7; 1 << 20]) };
    let zip = Zip::default().with(&entry);
    assert_too_much(&refused_at_once(unpacker, &zip.finish()), "bytes");
}

/// A bomb.
pub async fn a_dull_file_is_refused_before_it_begins(unpacker: &dyn Unpacker) {
    let bomb = zip(&[("a.txt", &vec![0; 32 << 20])]);
    assert!(bomb.len() < 100_000);
    assert_too_much(&refused_at_once(unpacker, &bomb), "each compressed byte");
}

/// Where that shows.
pub async fn a_file_that_is_longer_than_it_says_fails(unpacker: &dyn Unpacker) {
    let bomb = ZipEntry { size: 10, ..ZipEntry::deflated("a.txt", &vec![0; 32 << 20]) };
    let mut taken = Taken::default();
    let zip = Zip::default().with(&bomb).finish();
    let error = unpacker.unpack(&zip.as_slice(), &LIMITS, &mut taken).unwrap_err();
    assert!(matches!(error, UnpackError::Malformed { .. }), "{error:?}");
    assert!(taken.files.iter().all(|(_, content)| content.len() < 1 << 20));
    assert!(taken.open || taken.files.is_empty(), "it is no whole file");
}

/// It was cut off.
pub async fn a_file_that_is_shorter_than_it_says_fails(unpacker: &dyn Unpacker) {
    for make in [ZipEntry::stored, ZipEntry::deflated] {
        let entry = ZipEntry { size: 10, ..make("a.txt", b"short") };
        assert_malformed(&unpack(unpacker, &Zip::default().with(&entry).finish()));
    }
}

/// Somebody has changed it.
pub async fn a_wrong_checksum_fails(unpacker: &dyn Unpacker) {
    let entry = ZipEntry { crc: 7, ..ZipEntry::deflated("a.txt", b"text") };
    assert_malformed(&unpack(unpacker, &Zip::default().with(&entry).finish()));
}

/// Few bytes would be many files.
pub async fn entries_that_share_bytes_are_refused(unpacker: &dyn Unpacker) {
    let entry = ZipEntry::stored("a.txt", b"text");
    let zip = Zip::default().with(&entry).list(&ZipEntry::stored("b.txt", b"text"));
    let error = refused_at_once(unpacker, &zip.finish());
    assert!(matches!(error, UnpackError::Malformed { .. }), "{error:?}");
}

/// Also one that needs the larger form of numbers.
pub async fn an_absurd_length_is_refused(unpacker: &dyn Unpacker) {
    for size in [u64::from(u32::MAX), u64::MAX - 1, u64::MAX] {
        let entry = ZipEntry { size, ..ZipEntry::stored("a.txt", b"text") };
        refused_at_once(unpacker, &Zip::default().with(&entry).with(&entry).finish());
    }
}

/// Nobody's folders are that deep.
pub async fn an_absurd_name_is_refused(unpacker: &dyn Unpacker) {
    let entry = ZipEntry::stored(&"a".repeat(60_000), b"text");
    let error = refused_at_once(unpacker, &Zip::default().with(&entry).finish());
    assert_too_much(&error, "name");
}

/// Nobody is asked for it.
pub async fn a_password_is_needed(unpacker: &dyn Unpacker) {
    let entry = ZipEntry { flags: 1, ..ZipEntry::stored("a.txt", b"text") };
    let error = unpack(unpacker, &Zip::default().with(&entry).finish());
    assert!(matches!(error, Err(UnpackError::Encrypted)), "{error:?}");
}

/// Neither bytes nor files.
pub async fn whoever_breaks_gets_nothing_more(unpacker: &dyn Unpacker) {
    let archive = zip(&[("a", b"1"), ("b", b"2"), ("c", b"3")]);
    let mut taken = Taken { breaks_after: Some(1), ..Taken::default() };
    let error = unpacker.unpack(&archive.as_slice(), &LIMITS, &mut taken).unwrap_err();
    assert!(matches!(error, UnpackError::Stopped), "{error:?}");
    assert_eq!(taken.files, [("a".to_owned(), b"1".to_vec())]);
}

/// Bytes that cannot be read from some place on.
struct Broken(Vec<u8>, u64);

impl ArchiveBytes for Broken {
    fn size(&self) -> u64 {
        self.0.as_slice().size()
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        if offset < self.1 {
            return Err(io::Error::other("the disk is gone"));
        }
        self.0.as_slice().read_at(buffer, offset)
    }
}

/// Trying again may help.
pub async fn a_place_that_fails_is_no_fault_of_the_archive(unpacker: &dyn Unpacker) {
    let archive = zip(&[("a", &vec![7; 100_000]), ("b", b"more")]);
    for readable_from in [u64::MAX, 10] {
        let broken = Broken(archive.clone(), readable_from);
        let error = unpacker.unpack(&broken, &LIMITS, &mut Taken::default()).unwrap_err();
        assert!(matches!(error, UnpackError::Unreadable { .. }), "{error:?}");
    }
}
