//! The log: one writer at a time, whichever process it is in.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use tokio::task::spawn_blocking;
use trove_domain::audit::{Actor, AuditAction, AuditEntry, AuditOutcome, NumberedEntry, Recording};
use trove_domain::port::{AuditLog, AuditLogError};

use crate::error::OpenError;
use crate::files::{self, HEAD, Piece, Pieces, Segment};
use crate::line;
use crate::tail::{self, Place, Tail};

/// Which entries are on the disk before they are answered for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// All of them.
    Always,
    /// Those of actions that must be recorded. After a power failure the latest of the others may be
    /// missing; after a crash of the process none is.
    Required,
}

/// How the log is written.
#[derive(Clone, Debug)]
pub struct AuditConfig {
    /// Where the files are.
    pub folder: PathBuf,
    /// A file that is as long as this is followed by the next one.
    pub rotate_bytes: u64,
    /// Which entries are on the disk before they are answered for.
    pub sync: Sync,
}

/// The audit log in a folder.
#[derive(Clone)]
pub struct FileAuditLog {
    shared: Arc<Shared>,
}

struct Shared {
    config: AuditConfig,
    writer: Mutex<Writer>,
}

struct Writer {
    /// Locked while somebody writes.
    head: File,
    head_path: PathBuf,
    /// What this process saw last; another one may have gone on.
    known: Option<Known>,
    /// What was cut off, and is to be told.
    torn: Option<(PathBuf, u64)>,
}

struct Known {
    last: Place,
    head: Place,
    open: Open,
}

struct Open {
    segment: Segment,
    file: File,
    length: u64,
}

impl FileAuditLog {
    /// Opens the log in a folder, which is made when it is not there.
    ///
    /// # Errors
    ///
    /// [`OpenError`] when it cannot be written, or its end is not what was written.
    pub fn open(config: AuditConfig) -> Result<Self, OpenError> {
        files::make(&config.folder)?;
        let head_path = config.folder.join(HEAD);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let head = options.open(&head_path).map_err(OpenError::io(&head_path))?;
        files::sync_folder(&config.folder)?;
        let mut writer = Writer { head, head_path, known: None, torn: None };
        Locked::of(&mut writer)?.catch_up(&config)?;
        Ok(Self { shared: Arc::new(Shared { config, writer: Mutex::new(writer) }) })
    }
}

impl Shared {
    fn append(&self, entry: AuditEntry) -> Result<u64, OpenError> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let mut locked = Locked::of(&mut writer)?;
        locked.catch_up(&self.config)?;
        if let Some((path, bytes)) = locked.writer.torn.take() {
            locked.append(recovered(&entry, &path, bytes), &self.config)?;
        }
        locked.append(entry, &self.config)
    }
}

/// What the log says of itself after a crash.
fn recovered(entry: &AuditEntry, path: &Path, bytes: u64) -> AuditEntry {
    let file = path.file_name().map(|name| name.to_string_lossy().into_owned());
    AuditEntry {
        at: entry.at,
        actor: Actor::System,
        action: AuditAction::RecoverLog,
        subject: file,
        outcome: AuditOutcome::Done,
        begun: None,
        details: BTreeMap::from([("bytes_cut_off".to_owned(), bytes.to_string())]),
        request_id: None,
    }
}

/// The writer, while no other one writes.
struct Locked<'a> {
    writer: &'a mut Writer,
}

impl<'a> Locked<'a> {
    fn of(writer: &'a mut Writer) -> Result<Self, OpenError> {
        writer.head.lock().map_err(OpenError::io(&writer.head_path))?;
        let locked = Self { writer };
        let Writer { head, head_path, .. } = &*locked.writer;
        if !files::is_at(head, head_path) {
            // What is written to a file that is not there any more, nobody finds.
            let what = "it was replaced while this process had it open; restart to go on with it";
            return Err(OpenError::damaged(head_path, what));
        }
        Ok(locked)
    }

    /// Goes where the log ends now.
    fn catch_up(&mut self, config: &AuditConfig) -> Result<(), OpenError> {
        let head = tail::read_head(&mut self.writer.head, &self.writer.head_path)?;
        if let Some(Known { open, .. }) = self.writer.known.as_ref().filter(|k| k.head == head)
            && open.file.metadata().is_ok_and(|file| file.len() == open.length)
            && files::is_at(&open.file, &open.segment.path)
        {
            return Ok(());
        }
        let Tail { last, segment, length, torn } = tail::find(&config.folder, head)?;
        let Some(segment) = segment else {
            self.writer.known = None;
            return Ok(());
        };
        let mut file = files::open_to_append(&segment.path)?;
        if torn > 0 {
            tracing::warn!(
                path = %segment.path.display(),
                bytes = torn,
                "the audit log ended in half a line, as after a crash; it is cut off, and the log says so"
            );
            tail::cut(&mut file, &segment.path, length)?;
            self.writer.torn = Some((segment.path.clone(), torn));
        }
        let open = Open { segment, file, length };
        self.writer.known = Some(Known { last, head, open });
        Ok(())
    }

    fn append(&mut self, entry: AuditEntry, config: &AuditConfig) -> Result<u64, OpenError> {
        let last = self.writer.known.as_ref().map_or(Place::BEGINNING, |k| k.last);
        let number = last.number + 1;
        let full = |open: &Open| open.length >= config.rotate_bytes && open.length > 0;
        let is_new = self.writer.known.as_ref().is_none_or(|known| full(&known.open));
        // A new file is told to other writers by the head, which is never ahead of the disk.
        let sync = is_new
            || match config.sync {
                Sync::Always => true,
                Sync::Required => entry.action.recording() == Recording::Required,
            };
        let (line, hash) = line::write(number, entry, last.hash)
            .map_err(|what| OpenError::damaged(&config.folder, what))?;
        let (mut head, mut open) = match self.writer.known.take() {
            Some(known) if !is_new => (known.head, known.open),
            _ => {
                let segment = Segment::new(&config.folder, number);
                let file = files::open_to_append(&segment.path)?;
                (Place::BEGINNING, Open { segment, file, length: 0 })
            }
        };
        // Until it is known that all of it is there, `known` is empty: the next writer looks.
        open.file.write_all(&line).map_err(OpenError::io(&open.segment.path))?;
        if sync {
            open.file.sync_data().map_err(OpenError::io(&open.segment.path))?;
        }
        if is_new {
            files::sync_folder(&config.folder)?;
        }
        open.length += u64::try_from(line.len()).unwrap_or(u64::MAX);
        let last = Place { number, hash };
        if sync {
            tail::write_head(&self.writer.head, &self.writer.head_path, last)?;
            head = last;
        }
        self.writer.known = Some(Known { last, head, open });
        Ok(number)
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        // A lock that cannot be given back goes with the file.
        let _ = self.writer.head.unlock();
    }
}

/// Reads entries of the log in a folder, without changing anything.
///
/// # Errors
///
/// [`OpenError`] when there is no such folder, or a line is not as it was written.
pub fn read(folder: &Path, after: u64, limit: u32) -> Result<Vec<NumberedEntry>, OpenError> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let segments = files::segments(folder)?;
    // The file that holds the first line to read, and all later ones.
    let skip = segments.partition_point(|segment| segment.first <= after + 1).saturating_sub(1);
    let mut found = Vec::new();
    for segment in &segments[skip..] {
        let mut pieces = Pieces::of(&segment.path)?;
        while let Some((_, piece)) = pieces.next().map_err(OpenError::io(&segment.path))? {
            if found.len() >= limit {
                return Ok(found);
            }
            // Half a line is one that is being written.
            let Piece::Whole(bytes) = piece else { continue };
            let line =
                line::read(&bytes).map_err(|what| OpenError::damaged(&segment.path, what))?;
            if line.entry.number > after {
                found.push(line.entry);
            }
        }
    }
    Ok(found)
}

#[async_trait]
impl AuditLog for FileAuditLog {
    async fn append(&self, entry: AuditEntry) -> Result<u64, AuditLogError> {
        let shared = Arc::clone(&self.shared);
        // Goes on to the end when its caller goes away: the line is whole or not there.
        let appended = spawn_blocking(move || shared.append(entry)).await;
        match appended {
            Ok(appended) => appended.map_err(|error| error.of_port("written")),
            Err(error) => Err(AuditLogError::Unavailable { done: "written", source: error.into() }),
        }
    }

    async fn list(&self, after: u64, limit: u32) -> Result<Vec<NumberedEntry>, AuditLogError> {
        let folder = self.shared.config.folder.clone();
        match spawn_blocking(move || read(&folder, after, limit)).await {
            Ok(entries) => entries.map_err(|error| error.of_port("read")),
            Err(error) => Err(AuditLogError::Unavailable { done: "read", source: error.into() }),
        }
    }
}
