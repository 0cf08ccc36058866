use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use secrecy::ExposeSecret;
use zeroize::Zeroizing;

use crate::key::{InvalidKey, KeyRing};

/// Longest file that is read, in bytes: a ring of keys has a few hundred.
const FILE_BYTES_MAX: u64 = 4096;

/// Room for every ring, so that no half-written copy is left where a text grew.
const CAPACITY: usize = 4096;

/// A file of keys, one a line, oldest first, which only its owner reads.
#[derive(Clone, Debug)]
pub struct KeyFile {
    path: PathBuf,
}

/// Why a key file cannot be used. Never shows what is in it.
#[derive(Debug, thiserror::Error)]
pub enum KeyFileError {
    /// It cannot be read or written.
    #[error("the key file {} cannot be {done}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// `read` or `written`.
        done: &'static str,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Others can read it.
    #[error(
        "the key file {} can be read or written by others than its owner (mode {mode:04o}); \
         `chmod 600` keeps them out, and `trove secrets rotate` makes a new key if they have been in",
        path.display()
    )]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// What is in it are no keys.
    #[error("the key file {} holds no usable keys; restore it from a backup", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: InvalidKey,
    },
}

impl KeyFile {
    /// The file at `path`, which need not be there.
    #[must_use]
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the keys; `None` when there is no such file.
    ///
    /// # Errors
    ///
    /// [`KeyFileError`] says what to do.
    pub fn read(&self) -> Result<Option<KeyRing>, KeyFileError> {
        let io = |source| KeyFileError::Io { path: self.path.clone(), done: "read", source };
        let file = match File::open(&self.path) {
            Ok(file) => file,
            // A symbolic link to nothing is somebody's key that is not there.
            Err(error)
                if error.kind() == io::ErrorKind::NotFound
                    && self.path.symlink_metadata().is_err() =>
            {
                return Ok(None);
            }
            Err(error) => return Err(io(error)),
        };
        let mode = file.metadata().map_err(io)?.permissions().mode() & 0o7777;
        if mode & 0o077 != 0 {
            return Err(KeyFileError::Exposed { path: self.path.clone(), mode });
        }
        let mut text = Zeroizing::new(String::new());
        let content = |source| KeyFileError::Content { path: self.path.clone(), source };
        match file.take(FILE_BYTES_MAX).read_to_string(&mut text) {
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return Err(content(InvalidKey::NotBase64));
            }
            read => read.map_err(io)?,
        };
        KeyRing::parse(&text).map(Some).map_err(content)
    }

    /// Writes the keys, durably and as a whole, in the place of what was there.
    ///
    /// # Errors
    ///
    /// [`KeyFileError::Io`]; what was there is there still.
    pub fn write(&self, ring: &KeyRing) -> Result<(), KeyFileError> {
        self.persist(ring, true).map(drop)
    }

    /// Writes the keys unless there is such a file already; answers whether there was none.
    ///
    /// # Errors
    ///
    /// [`KeyFileError::Io`].
    pub fn write_new(&self, ring: &KeyRing) -> Result<bool, KeyFileError> {
        self.persist(ring, false)
    }

    /// What the names of files begin with that are to take the place of this one.
    fn temporary_prefix(&self) -> OsString {
        let mut prefix = OsString::from(".");
        prefix.push(self.path.file_name().unwrap_or_default());
        prefix.push(".new-");
        prefix
    }

    fn persist(&self, ring: &KeyRing, replace: bool) -> Result<bool, KeyFileError> {
        let io = |source| KeyFileError::Io { path: self.path.clone(), done: "written", source };
        let directory = match self.path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let mut text = Zeroizing::new(String::with_capacity(CAPACITY));
        for key in ring.keys() {
            text.push_str(key.to_text().expose_secret());
            text.push('\n');
        }
        let prefix = self.temporary_prefix();
        if replace {
            remove_leftovers(directory, &prefix).map_err(io)?;
        }
        // Made with mode 0600.
        let mut file =
            tempfile::Builder::new().prefix(&prefix).tempfile_in(directory).map_err(io)?;
        file.write_all(text.as_bytes()).map_err(io)?;
        file.as_file().sync_all().map_err(io)?;
        if replace {
            file.persist(&self.path).map_err(|error| io(error.error))?;
        } else if let Err(error) = file.persist_noclobber(&self.path) {
            return match error.error {
                error if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
                error => Err(io(error)),
            };
        }
        File::open(directory).and_then(|directory| directory.sync_all()).map_err(io)?;
        Ok(true)
    }
}

/// Removes what an interrupted replacement left: it holds keys that may be out of use by now.
fn remove_leftovers(directory: &Path, prefix: &OsStr) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        if name.as_encoded_bytes().starts_with(prefix.as_encoded_bytes()) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use trove_testkit::fakes::SequentialIds;

    use super::{KeyFile, KeyFileError};
    use crate::key::{KeyRing, SecretKey};

    fn ring(ids: &SequentialIds, keys: usize) -> KeyRing {
        KeyRing::new((0..keys).map(|_| SecretKey::generate(ids).unwrap()).collect()).unwrap()
    }

    fn key_ids(ring: &KeyRing) -> Vec<String> {
        ring.keys().iter().map(|key| key.id().to_string()).collect()
    }

    #[test]
    fn a_replacement_removes_what_an_interrupted_one_left() {
        let temp = tempfile::tempdir().unwrap();
        let ids = SequentialIds::default();
        let file = KeyFile::at(temp.path().join("secrets.key"));
        file.write(&ring(&ids, 1)).unwrap();
        fs::write(temp.path().join(".secrets.key.new-Xy12"), "an old key").unwrap();
        fs::write(temp.path().join(".other"), "").unwrap();
        file.write(&ring(&ids, 1)).unwrap();
        let mut names: Vec<_> =
            fs::read_dir(temp.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, [".other", "secrets.key"]);
    }

    #[test]
    fn keys_are_kept_privately_and_in_order() {
        let temp = tempfile::tempdir().unwrap();
        let file = KeyFile::at(temp.path().join("secrets.key"));
        assert!(file.read().unwrap().is_none());
        let ids = SequentialIds::default();
        let (first, second) = (ring(&ids, 1), ring(&ids, 2));
        assert!(file.write_new(&first).unwrap());
        assert!(!file.write_new(&second).unwrap(), "what is there stays");
        assert_eq!(key_ids(&file.read().unwrap().unwrap()), key_ids(&first));
        file.write(&second).unwrap();
        assert_eq!(key_ids(&file.read().unwrap().unwrap()), key_ids(&second));
        let mode = fs::metadata(file.path()).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600);
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 1, "nothing else is left");
    }

    #[test]
    fn a_file_that_others_can_read_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        let file = KeyFile::at(temp.path().join("secrets.key"));
        file.write(&ring(&SequentialIds::default(), 1)).unwrap();
        for (mode, usable) in
            [(0o640, false), (0o604, false), (0o622, false), (0o600, true), (0o400, true)]
        {
            fs::set_permissions(file.path(), fs::Permissions::from_mode(mode)).unwrap();
            match file.read() {
                Ok(ring) => assert!(usable && ring.is_some(), "{mode:o}"),
                Err(error) => {
                    assert!(!usable && matches!(error, KeyFileError::Exposed { .. }), "{mode:o}");
                    assert!(error.to_string().contains("chmod 600"), "{error}");
                }
            }
        }
    }

    #[test]
    fn a_damaged_file_is_refused_and_not_shown() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("secrets.key");
        let file = KeyFile::at(&path);
        file.write(&ring(&SequentialIds::default(), 1)).unwrap();
        let whole = fs::read(&path).unwrap();
        for bytes in [b"".to_vec(), b"hunter2".to_vec(), vec![0xff; 44], whole[..30].to_vec()] {
            fs::write(&path, &bytes).unwrap();
            let error = file.read().unwrap_err();
            assert!(matches!(error, KeyFileError::Content { .. }), "{error:?}");
            assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
            assert_eq!(fs::read(&path).unwrap(), bytes);
        }
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(temp.path().join("nowhere"), &path).unwrap();
        assert!(matches!(file.read().unwrap_err(), KeyFileError::Io { .. }));
    }
}
