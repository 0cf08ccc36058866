//! The data directory: made, locked, and the files in it that are not a store's.

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use secrecy::{ExposeSecret, SecretString};

const LOCK: &str = "lock";
const ADMIN_KEY: &str = "admin-key";
/// The lock file holds three short lines.
const LOCK_BYTES_MAX: u64 = 1024;

/// A data directory that belongs to this process until it is dropped.
#[derive(Debug)]
pub struct DataDir {
    path: PathBuf,
    lock: File,
    holder: Holder,
}

/// Who uses a data directory, as the lock file tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holder {
    /// Process id.
    pub pid: Option<u32>,
    /// What the process does, for example `trove serve`.
    pub command: Option<String>,
    /// Where it listens, if it does.
    pub listen: Option<String>,
}

impl DataDir {
    /// Makes the directory if it is not there, and locks it.
    ///
    /// # Errors
    ///
    /// When it cannot be made or written, or another process uses it: the sentence names the
    /// holder.
    pub fn open(path: &Path, command: &str) -> anyhow::Result<Self> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
            .with_context(|| format!("the data directory {} cannot be created", path.display()))?;
        let lock_path = path.join(LOCK);
        let mut lock = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&lock_path)
            .with_context(|| format!("the data directory {} cannot be written", path.display()))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(in_use(path, &Holder::read(&mut lock))),
            Err(TryLockError::Error(error)) => {
                return Err(error)
                    .with_context(|| format!("{} cannot be locked", lock_path.display()));
            }
        }
        let holder = Holder {
            pid: Some(std::process::id()),
            command: Some(command.to_owned()),
            listen: None,
        };
        let mut dir = Self { path: path.to_owned(), lock, holder };
        dir.write_holder()?;
        dir.warn_if_open();
        Ok(dir)
    }

    /// Whether a process uses the directory now.
    #[must_use]
    pub fn is_in_use(path: &Path) -> bool {
        let lock = File::open(path.join(LOCK));
        lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Tells whoever finds the directory locked where this process listens.
    ///
    /// # Errors
    ///
    /// When the lock file cannot be written.
    pub fn listens_on(&mut self, address: &str) -> anyhow::Result<()> {
        self.holder.listen = Some(address.to_owned());
        self.write_holder()
    }

    fn write_holder(&mut self) -> anyhow::Result<()> {
        let write = |lock: &mut File, text: &str| {
            lock.set_len(0)?;
            lock.rewind()?;
            lock.write_all(text.as_bytes())
        };
        write(&mut self.lock, &self.holder.to_text()).with_context(|| {
            format!("the data directory {} cannot be written", self.path.display())
        })
    }

    /// A directory that somebody made with wider permissions is theirs to decide about.
    fn warn_if_open(&self) {
        let mode = fs::metadata(&self.path).map(|meta| meta.permissions().mode() & 0o077);
        if mode.is_ok_and(|mode| mode != 0) {
            tracing::warn!(
                path = %self.path.display(),
                "other users of this machine can enter the data directory; `chmod 700` keeps them out"
            );
        }
    }
}

impl Drop for DataDir {
    fn drop(&mut self) {
        // The file stays: removing it would let two processes lock two files of one name.
        let _ = self.lock.set_len(0);
    }
}

impl Holder {
    fn read(lock: &mut File) -> Self {
        let mut text = String::new();
        let _ = lock.rewind();
        let _ = lock.take(LOCK_BYTES_MAX).read_to_string(&mut text);
        Self::parse(&text)
    }

    fn parse(text: &str) -> Self {
        let mut holder = Self::default();
        for line in text.lines() {
            match line.split_once(' ') {
                Some(("pid", pid)) => holder.pid = pid.parse().ok(),
                Some(("command", command)) => holder.command = Some(command.to_owned()),
                Some(("listen", listen)) => holder.listen = Some(listen.to_owned()),
                _ => {}
            }
        }
        holder
    }

    fn to_text(&self) -> String {
        let mut text = String::new();
        if let Some(pid) = self.pid {
            let _ = writeln!(text, "pid {pid}");
        }
        if let Some(command) = &self.command {
            let _ = writeln!(text, "command {command}");
        }
        if let Some(listen) = &self.listen {
            let _ = writeln!(text, "listen {listen}");
        }
        text
    }
}

fn in_use(path: &Path, holder: &Holder) -> anyhow::Error {
    let command = holder.command.as_deref().unwrap_or("another process");
    let pid = holder.pid.map(|pid| format!(" (process {pid})")).unwrap_or_default();
    let (listens, remedy) = match &holder.listen {
        Some(address) => (
            format!(", which listens on {address}"),
            "stop it first, or send documents to its ingestion API",
        ),
        None => (String::new(), "wait until it is done, or stop it"),
    };
    anyhow!(
        "the data directory {} is in use by `{command}`{pid}{listens}; {remedy}",
        path.display()
    )
}

/// A file for the first administrator's key: it is opened before there is a key, so that a key
/// that cannot be kept is never made.
#[derive(Debug)]
pub struct AdminKeyFile {
    path: PathBuf,
    temporary: PathBuf,
    file: File,
    kept: bool,
}

/// As long as a key will be, so that the disk has room for it.
const KEY_BYTES: usize = 64;

impl AdminKeyFile {
    /// Makes room for the key in `dir`.
    ///
    /// # Errors
    ///
    /// When the file cannot be written; nothing is left behind then.
    pub fn prepare(dir: &Path) -> anyhow::Result<Self> {
        let path = dir.join(ADMIN_KEY);
        let temporary = dir.join(format!("{ADMIN_KEY}.new"));
        let cannot = || format!("{} cannot be written", path.display());
        anyhow::ensure!(
            !path.try_exists().with_context(cannot)?,
            "{} is there, but the database has no administrator: the directory was used with \
             another database. Check `database.url`, or restore the database from a backup; to \
             begin anew, move the file and the folder `index` away",
            path.display()
        );
        // Left by a process that was lost at this point; it holds no key.
        match fs::remove_file(&temporary) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(error).with_context(cannot);
            }
            _ => {}
        }
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&temporary)
            .with_context(cannot)?;
        let mut prepared = Self { path: path.clone(), temporary, file, kept: false };
        prepared
            .file
            .write_all(&[b' '; KEY_BYTES])
            .and_then(|()| prepared.file.sync_all())
            .with_context(cannot)?;
        Ok(prepared)
    }

    /// Writes the key and gives the file its name; answers where it is.
    ///
    /// # Errors
    ///
    /// When that fails after all: the sentence says how to get another key.
    pub fn keep(mut self, key: &SecretString) -> anyhow::Result<PathBuf> {
        self.write(key).with_context(|| {
            format!(
                "the administrator's key could not be written to {}; make another one with \
                 `trove key create`",
                self.path.display()
            )
        })?;
        self.kept = true;
        Ok(self.path.clone())
    }

    fn write(&mut self, key: &SecretString) -> io::Result<()> {
        let line = format!("{}\n", key.expose_secret());
        self.file.rewind()?;
        self.file.write_all(line.as_bytes())?;
        self.file.set_len(u64::try_from(line.len()).map_err(io::Error::other)?)?;
        self.file.sync_all()?;
        fs::rename(&self.temporary, &self.path)?;
        match self.path.parent() {
            Some(dir) => File::open(dir)?.sync_all(),
            None => Ok(()),
        }
    }
}

impl Drop for AdminKeyFile {
    fn drop(&mut self) {
        if !self.kept {
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::{AdminKeyFile, DataDir, Holder};

    #[test]
    fn a_directory_is_private_and_has_one_holder() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("a").join("b");
        let mut first = DataDir::open(&path, "trove serve").unwrap();
        first.listens_on("127.0.0.1:1").unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);

        let refused = DataDir::open(&path, "trove index").unwrap_err().to_string();
        let pid = std::process::id();
        let wanted =
            format!("in use by `trove serve` (process {pid}), which listens on 127.0.0.1:1");
        assert!(refused.contains(&wanted), "{refused}");

        drop(first);
        DataDir::open(&path, "trove index").unwrap();
    }

    #[test]
    fn a_holder_reads_back() {
        let holder = Holder {
            pid: Some(7),
            command: Some("trove index".to_owned()),
            listen: Some("[::1]:80".to_owned()),
        };
        assert_eq!(Holder::parse(&holder.to_text()), holder);
        assert_eq!(Holder::parse("nonsense"), Holder::default());
    }

    #[test]
    fn a_key_is_kept_privately_or_not_at_all() {
        let temp = tempfile::tempdir().unwrap();
        drop(AdminKeyFile::prepare(temp.path()).unwrap());
        assert_eq!(std::fs::read_dir(temp.path()).unwrap().count(), 0);

        let file = AdminKeyFile::prepare(temp.path()).unwrap();
        let path = file.keep(&"tk_secret".into()).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "tk_secret\n");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(temp.path()).unwrap().count(), 1);
    }
}
