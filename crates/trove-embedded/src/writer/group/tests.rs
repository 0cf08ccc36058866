//! A directory without room, as the words see it.

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use tantivy::directory::error::{DeleteError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, Directory, FileHandle, RamDirectory, TerminatingWrite, WatchCallback,
    WatchHandle, WritePtr,
};
use tantivy::{IndexWriter, ReloadPolicy, TantivyDocument, TantivyError};
use tempfile::TempDir;
use tokio::sync::{Semaphore, oneshot};
use trove_domain::error::{Classify, ErrorKind, is_storage_full};
use trove_domain::port::{DocumentIndexError, WriteOutcome};
use trove_testkit::builders::document;

use crate::format::Layout;
use crate::lexical::schema::{Fields, open_in};
use crate::snapshot::{Published, SnapshotMaker};
use crate::writer::failure::cause_of;
use crate::writer::{Command, Write, Writer};

const BUFFER_BYTES: usize = 15_000_000;

#[test]
fn a_worker_that_died_is_asked_what_of() {
    let (directory, full) = disk();
    let (index, fields) = open_in(directory).unwrap();
    let mut writer: IndexWriter = index.writer_with_num_threads(1, BUFFER_BYTES).unwrap();
    full.store(true, Ordering::Relaxed);

    let error = loop {
        let mut entry = TantivyDocument::new();
        entry.add_text(fields.text, "more than a buffer holds ".repeat(1000));
        if let Err(error) = writer.add_document(entry) {
            break error;
        }
    };
    assert!(matches!(error, TantivyError::ErrorInThread(_)), "{error}");

    let cause = cause_of(&mut writer, error);
    assert!(is_storage_full(&cause), "{cause}");
}

#[test]
fn every_write_of_a_commit_without_room_is_told_so_and_the_next_with_room_succeeds() {
    let temp = TempDir::new().unwrap();
    let (directory, full) = disk();
    let writer = writer(temp.path(), directory);
    let (commands, queued) = mpsc::channel();
    full.store(true, Ordering::Relaxed);
    // Queued before the thread runs, so that they share a commit.
    let small = send(&commands, "small", 1);
    let large = send(&commands, "large", 2000);

    let thread = std::thread::Builder::new().spawn(move || writer.run(&queued)).unwrap();
    for outcome in [small, large] {
        let error = outcome.blocking_recv().unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StorageFull, "{error:?}");
    }
    full.store(false, Ordering::Relaxed);
    let outcome = send(&commands, "small", 1).blocking_recv().unwrap();

    assert_eq!(outcome.unwrap(), [WriteOutcome::Written]);
    drop(commands);
    thread.join().unwrap();
}

fn send(
    commands: &mpsc::Sender<Command>,
    id: &str,
    chunks: usize,
) -> oneshot::Receiver<Result<Vec<WriteOutcome>, DocumentIndexError>> {
    let texts: Vec<String> =
        (0..chunks).map(|number| format!("chunk {number} ").repeat(100)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let write = Write::Replace(vec![document(id).texts(&texts).build()]);
    let permit = Arc::new(Semaphore::new(1)).try_acquire_owned().unwrap();
    let (reply, outcome) = oneshot::channel();
    commands.send(Command { write, reply, permit }).unwrap();
    outcome
}

/// A writer of words alone.
fn writer(root: &Path, directory: SmallDirectory) -> Writer {
    let layout = Layout::new(root);
    std::fs::create_dir_all(layout.lexical()).unwrap();
    let (index, fields): (_, Fields) = open_in(directory).unwrap();
    let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into().unwrap();
    let mut snapshots = SnapshotMaker::default();
    let snapshot = snapshots.make(fields, reader.searcher()).unwrap();
    Writer {
        index,
        reader,
        fields,
        layout,
        published: Arc::new(Published::new(snapshot)),
        snapshots,
        dense: None,
        write_buffer_bytes: BUFFER_BYTES,
        languages: Vec::new(),
        idle_after: Duration::from_mins(10),
        next_key: 0,
        tantivy: None,
        retired: VecDeque::new(),
        stale: false,
        wake: mpsc::channel().0,
    }
}

/// A directory, and the switch that takes its room.
fn disk() -> (SmallDirectory, Arc<AtomicBool>) {
    let full = Arc::<AtomicBool>::default();
    (SmallDirectory { files: RamDirectory::create(), full: Arc::clone(&full) }, full)
}

#[derive(Clone, Debug)]
struct SmallDirectory {
    files: RamDirectory,
    full: Arc<AtomicBool>,
}

fn check(full: &AtomicBool) -> io::Result<()> {
    // As the system says it: ENOSPC of Linux.
    if full.load(Ordering::Relaxed) { Err(io::Error::from_raw_os_error(28)) } else { Ok(()) }
}

impl Directory for SmallDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.files.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.files.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.files.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let file = self.files.open_write(path)?;
        let full = Arc::clone(&self.full);
        Ok(WritePtr::new(Box::new(SmallFile { file, full })))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.files.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        check(&self.full)?;
        self.files.atomic_write(path, data)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.files.sync_directory()
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.files.watch(callback)
    }
}

struct SmallFile {
    file: WritePtr,
    full: Arc<AtomicBool>,
}

impl io::Write for SmallFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        check(&self.full)?;
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl TerminatingWrite for SmallFile {
    fn terminate_ref(&mut self, token: AntiCallToken) -> io::Result<()> {
        self.file.terminate_ref(token)
    }
}
