//! What is in the files, what a crash leaves there, and what `verify` finds.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tempfile::TempDir;
use trove_audit::{AuditConfig, Broken, FileAuditLog, Hash, OpenError, Sync, Verified, verify};
use trove_domain::audit::AuditAction;
use trove_domain::port::{AuditLog, AuditLogError};
use trove_testkit::audit_log::entry;

fn config(folder: &Path, rotate_bytes: u64) -> AuditConfig {
    AuditConfig { folder: folder.to_owned(), rotate_bytes, sync: Sync::Always }
}

fn open(folder: &Path, rotate_bytes: u64) -> FileAuditLog {
    FileAuditLog::open(config(folder, rotate_bytes)).unwrap()
}

async fn fill(folder: &Path, rotate_bytes: u64, entries: u64) -> FileAuditLog {
    let log = open(folder, rotate_bytes);
    for n in 0..entries {
        log.append(entry(AuditAction::ALL[usize::try_from(n).unwrap() % 20])).await.unwrap();
    }
    log
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|e| e == "jsonl")).collect();
    files.sort();
    files
}

fn lines(path: &Path) -> Vec<String> {
    fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
}

fn put(path: &Path, lines: &[String]) {
    let mut text = lines.join(
        "
",
    );
    if !lines.is_empty() {
        text.push('\n');
    }
    fs::write(path, text).unwrap();
}

fn sound(folder: &Path) -> Verified {
    verify(folder, None).unwrap().unwrap()
}

fn broken(folder: &Path) -> Broken {
    verify(folder, None).unwrap().unwrap_err()
}

#[tokio::test]
async fn files_are_private_and_follow_one_another() {
    let temp = TempDir::new().unwrap();
    let folder = temp.path().join("audit");
    fill(&folder, 700, 12).await;
    assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    let found = files(&folder);
    assert!(found.len() > 2, "{found:?}");
    for path in found.iter().chain(&[folder.join("head")]) {
        let mode = fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", path.display());
    }
    assert_eq!(sound(&folder).lines, 12);
    // A process that starts anew goes on with the chain.
    open(&folder, 700).append(entry(AuditAction::SetRole)).await.unwrap();
    assert_eq!(sound(&folder).lines, 13);
}

/// Two processes have two logs on one folder.
#[tokio::test]
async fn writers_take_turns() {
    let temp = TempDir::new().unwrap();
    let (a, b) = (open(temp.path(), 900), open(temp.path(), 900));
    for n in 0..10 {
        let log = if n % 3 == 0 { &a } else { &b };
        assert_eq!(log.append(entry(AuditAction::SignIn)).await.unwrap(), n + 1);
    }
    let both = (0..20)
        .map(|n| if n % 2 == 0 { a.clone() } else { b.clone() })
        .map(|log| async move { log.append(entry(AuditAction::CreateKey)).await.unwrap() });
    let mut numbers = futures::future::join_all(both).await;
    numbers.sort_unstable();
    assert_eq!(numbers, (11..=30).collect::<Vec<u64>>());
    assert_eq!(sound(temp.path()).lines, 30);
}

/// Half a line was never answered for.
#[tokio::test]
async fn half_a_line_is_cut_off_and_told() {
    for (rotate, entries) in [(u64::MAX, 3), (1, 3), (u64::MAX, 0)] {
        let temp = TempDir::new().unwrap();
        fill(temp.path(), rotate, entries).await;
        let path = match files(temp.path()).last() {
            Some(path) => path.clone(),
            None => temp.path().join("00000000000000000001.jsonl"),
        };
        let mut file = OpenOptions::new().append(true).create(true).open(&path).unwrap();
        file.write_all(b"{\"number\":4,\"at\":\"2").unwrap();
        drop(file);
        let seen = sound(temp.path());
        assert_eq!((seen.lines, seen.torn), (entries, 19), "verify changes nothing");
        let log = open(temp.path(), rotate);
        assert_eq!(sound(temp.path()).torn, 0);
        let number = log.append(entry(AuditAction::SetRole)).await.unwrap();
        let all = log.list(0, 100).await.unwrap();
        let told = usize::try_from(entries).unwrap();
        // Who opens a log may have nothing to add: what was cut off is told by the next entry.
        if number == entries + 2 {
            assert_eq!(all[told].entry.action, AuditAction::RecoverLog);
            assert_eq!(all[told].entry.details["bytes_cut_off"], "19");
        } else {
            panic!("{number} of {all:?}");
        }
        assert_eq!(sound(temp.path()).lines, entries + 2);
    }
}

/// A line that was written and not answered for counts.
#[tokio::test]
async fn a_head_may_be_behind() {
    let temp = TempDir::new().unwrap();
    let log = fill(temp.path(), u64::MAX, 2).await;
    let head = fs::read(temp.path().join("head")).unwrap();
    log.append(entry(AuditAction::SetRole)).await.unwrap();
    fs::write(temp.path().join("head"), head).unwrap();
    assert_eq!(sound(temp.path()).lines, 3);
    assert_eq!(open(temp.path(), u64::MAX).append(entry(AuditAction::SetRole)).await.unwrap(), 4);
    assert_eq!(sound(temp.path()).lines, 4);
}

#[tokio::test]
async fn a_damaged_end_is_refused_and_kept() {
    let temp = TempDir::new().unwrap();
    fill(temp.path(), u64::MAX, 3).await;
    let path = files(temp.path()).pop().unwrap();
    let whole = lines(&path);
    // The last line changed, the last line gone, everything gone.
    let mut changed = whole.clone();
    changed[2] = changed[2].replace("\"done\"", "\"failed\"");
    for damaged in [changed, whole[..2].to_vec(), vec![]] {
        put(&path, &damaged);
        let refused = FileAuditLog::open(config(temp.path(), u64::MAX)).err().unwrap();
        assert!(matches!(refused, OpenError::Damaged { .. }), "{refused}");
        assert_eq!(lines(&path), damaged, "kept as evidence");
        broken(temp.path());
    }
    put(&path, &whole);
    assert_eq!(sound(temp.path()).lines, 3);
}

/// Also while the log is open.
#[tokio::test]
async fn a_line_that_goes_under_the_writer_is_missed() {
    let temp = TempDir::new().unwrap();
    let log = fill(temp.path(), u64::MAX, 3).await;
    let path = files(temp.path()).pop().unwrap();
    let whole = lines(&path);
    put(&path, &whole[..2]);
    let refused = log.append(entry(AuditAction::SetRole)).await.unwrap_err();
    assert!(matches!(refused, AuditLogError::Damaged(_)), "{refused}");
}

/// What is written to a file that nobody finds any more is not recorded.
#[tokio::test]
async fn a_log_that_is_replaced_under_the_writer_is_noticed() {
    let temp = TempDir::new().unwrap();
    let folder = temp.path().join("audit");
    let log = fill(&folder, u64::MAX, 3).await;
    // The same content in another file: the writer goes on with that one.
    let path = files(&folder).pop().unwrap();
    let copy = folder.join("copy");
    fs::copy(&path, &copy).unwrap();
    fs::rename(&copy, &path).unwrap();
    assert_eq!(log.append(entry(AuditAction::SetRole)).await.unwrap(), 4);
    assert_eq!(sound(&folder).lines, 4);
    // The whole folder: nobody knows which one is meant.
    let (away, again) = (temp.path().join("away"), temp.path().join("again"));
    fs::create_dir(&again).unwrap();
    for file in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
        fs::copy(file.path(), again.join(file.file_name())).unwrap();
    }
    fs::rename(&folder, &away).unwrap();
    fs::rename(&again, &folder).unwrap();
    let refused = log.append(entry(AuditAction::SetRole)).await.unwrap_err();
    assert!(matches!(refused, AuditLogError::Damaged(_)), "{refused}");
    assert_eq!((sound(&folder).lines, sound(&away).lines), (4, 4));
    assert_eq!(open(&folder, u64::MAX).append(entry(AuditAction::SetRole)).await.unwrap(), 5);
}

/// Otherwise lines could be cut off unseen.
#[tokio::test]
async fn a_log_without_its_head_is_damaged() {
    let temp = TempDir::new().unwrap();
    drop(fill(temp.path(), u64::MAX, 3).await);
    let head = temp.path().join("head");
    let kept = fs::read(&head).unwrap();
    for missing in [true, false] {
        if missing {
            fs::remove_file(&head).unwrap();
        } else {
            fs::write(&head, "").unwrap();
        }
        assert!(broken(temp.path()).what.contains("head"));
        let refused = FileAuditLog::open(config(temp.path(), u64::MAX)).err().unwrap();
        assert!(matches!(refused, OpenError::Damaged { .. }), "{refused}");
        assert!(broken(temp.path()).what.contains("head"), "it stays so");
    }
    fs::write(&head, kept).unwrap();
    assert_eq!(sound(temp.path()).lines, 3);
}

/// What is kept elsewhere proves that nothing before it was made anew.
#[tokio::test]
async fn a_chain_that_was_made_anew_lacks_the_hash_that_was_kept() {
    let temp = TempDir::new().unwrap();
    fill(&temp.path().join("a"), u64::MAX, 3).await;
    let head = sound(&temp.path().join("a")).head.unwrap();
    let parsed = Hash::parse(&head.to_string()).unwrap();
    assert!(verify(&temp.path().join("a"), Some(parsed)).unwrap().is_ok());
    fill(&temp.path().join("b"), u64::MAX, 4).await;
    let log = open(&temp.path().join("c"), u64::MAX);
    log.append(entry(AuditAction::DeleteUser)).await.unwrap();
    assert!(verify(&temp.path().join("c"), Some(parsed)).unwrap().is_err());
}

#[derive(Clone, Debug)]
enum Tampering {
    Change { line: usize, byte: usize, to: u8 },
    Remove { line: usize },
    Swap { line: usize, with: usize },
    Repeat { line: usize, at: usize },
    RemoveFile { file: usize },
}

fn tampering() -> impl Strategy<Value = Tampering> {
    let n = 0_usize..64;
    prop_oneof![
        (n.clone(), 0_usize..400, any::<u8>()).prop_map(|(line, byte, to)| Tampering::Change {
            line,
            byte,
            to
        }),
        n.clone().prop_map(|line| Tampering::Remove { line }),
        (n.clone(), n.clone()).prop_map(|(line, with)| Tampering::Swap { line, with }),
        (n.clone(), n.clone()).prop_map(|(line, at)| Tampering::Repeat { line, at }),
        n.prop_map(|file| Tampering::RemoveFile { file }),
    ]
}

/// Lines of all files as one list, and back into files of the same lengths as far as they go.
fn rewrite(folder: &Path, change: impl FnOnce(&mut Vec<Vec<u8>>)) {
    let paths = files(folder);
    let contents: Vec<Vec<u8>> = paths.iter().map(|path| fs::read(path).unwrap()).collect();
    let counts: Vec<usize> =
        contents.iter().map(|bytes| bytes.split_inclusive(|b| *b == b'\n').count()).collect();
    let mut all: Vec<Vec<u8>> = contents
        .iter()
        .flat_map(|bytes| bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec))
        .collect();
    change(&mut all);
    let mut left = all.into_iter();
    for (index, (path, count)) in paths.iter().zip(&counts).enumerate() {
        let take = if index + 1 == paths.len() { usize::MAX } else { *count };
        fs::write(path, left.by_ref().take(take).collect::<Vec<_>>().concat()).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Whatever somebody does to the files who does not make a whole new chain.
    #[test]
    fn tampering_is_found(tampering in tampering(), rotate in prop_oneof![Just(1_u64), Just(900), Just(u64::MAX)]) {
        let temp = TempDir::new().unwrap();
        let folder = temp.path();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(fill(folder, rotate, 9));
        let before: Vec<Vec<u8>> =
            files(folder).iter().map(|path| fs::read(path).unwrap()).collect();
        match tampering {
            Tampering::Change { line, byte, to } => rewrite(folder, |all| {
                let line = line % all.len();
                let byte = byte % all[line].len();
                all[line][byte] = to;
            }),
            Tampering::Remove { line } => rewrite(folder, |all| {
                all.remove(line % all.len());
            }),
            Tampering::Swap { line, with } => rewrite(folder, |all| {
                let (line, with) = (line % all.len(), with % all.len());
                all.swap(line, with);
            }),
            Tampering::Repeat { line, at } => rewrite(folder, |all| {
                let (line, at) = (all[line % all.len()].clone(), at % (all.len() + 1));
                all.insert(at, line);
            }),
            Tampering::RemoveFile { file } => {
                let paths = files(folder);
                fs::remove_file(&paths[file % paths.len()]).unwrap();
            }
        }
        let after: Vec<Vec<u8>> =
            files(folder).iter().map(|path| fs::read(path).unwrap()).collect();
        let verified = verify(folder, None).unwrap();
        prop_assert_eq!(verified.is_ok(), before == after, "{:?}", verified);
    }
}

/// The first line that does not fit is named.
#[tokio::test]
async fn the_first_broken_line_is_named() {
    let temp = TempDir::new().unwrap();
    fill(temp.path(), 900, 9).await;
    let second = files(temp.path())[1].clone();
    let mut changed = lines(&second);
    changed[1] = changed[1].replace("\"done\"", "\"failed\"");
    put(&second, &changed);
    let first_number: u64 = second.file_stem().unwrap().to_str().unwrap().parse().unwrap();
    let found = broken(temp.path());
    assert_eq!((found.path, found.line, found.number), (second, Some(2), first_number + 1));
}
