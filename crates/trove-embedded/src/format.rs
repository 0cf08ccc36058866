//! The layout of an index directory and the two small files that describe it.
//!
//! ```text
//! lock               held while the index is open
//! trove-index.json   format, length of the vectors, and the model that makes them
//! lexical/           tantivy: the system of record
//! dense/             Qdrant Edge: vectors, a derivative of `lexical`
//! dense-state.json   how far `dense` is known to be on disk
//! ```

use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::IndexDirectoryError;

/// The format that this release writes.
const FORMAT: u32 = 1;

/// Where the parts of an index are.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    root: PathBuf,
}

/// Contents of `trove-index.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Description {
    format: u32,
    /// Length of the vectors; `None` until the index is first opened with a model.
    pub dimensions: Option<usize>,
    /// Name of the model that makes the vectors; `None` until it is known.
    #[serde(default)]
    pub model: Option<String>,
}

/// Contents of `dense-state.json`: what the last flush of the vectors covered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DenseState {
    /// Form of the points.
    #[serde(default)]
    pub format: u32,
    /// All vectors with a smaller key are on disk.
    pub flushed_key: u64,
    /// Commit of the words after which nothing was left to do; `None` while there is.
    pub settled_at: Option<u64>,
    /// How many vectors were there then.
    #[serde(default)]
    pub points: u64,
}

impl DenseState {
    /// Whether a shard with so many vectors can be the one that was flushed, now that the words
    /// are at commit `opstamp`. A shard that lost its files opens as an empty one.
    pub(crate) fn describes(&self, points: u64, opstamp: u64) -> bool {
        if self.settled_at == Some(opstamp) {
            points == self.points
        } else {
            points > 0 || self.points == 0
        }
    }
}

impl Layout {
    pub(crate) fn new(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn lexical(&self) -> PathBuf {
        self.root.join("lexical")
    }

    pub(crate) fn dense(&self) -> PathBuf {
        self.root.join("dense")
    }

    fn description(&self) -> PathBuf {
        self.root.join("trove-index.json")
    }

    fn dense_state(&self) -> PathBuf {
        self.root.join("dense-state.json")
    }

    /// Takes the directory for as long as the file lives. Background work that outlives an index
    /// keeps it, so that two indexes never write the same files.
    pub(crate) fn lock(&self) -> Result<File, IndexDirectoryError> {
        fs::create_dir_all(&self.root).map_err(IndexDirectoryError::io(&self.root))?;
        let path = self.root.join("lock");
        let file = File::create(&path).map_err(IndexDirectoryError::io(&path))?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => {
                Err(IndexDirectoryError::InUse { path: self.root.clone() })
            }
            Err(TryLockError::Error(error)) => Err(IndexDirectoryError::io(&path)(error)),
        }
    }

    /// The description of an existing index; `None` when there is none yet.
    pub(crate) fn read_description(&self) -> Result<Option<Description>, IndexDirectoryError> {
        let Some(description) = read_json::<Description>(&self.description())? else {
            return Ok(None);
        };
        if description.format > FORMAT {
            return Err(IndexDirectoryError::NewerFormat {
                path: self.root.clone(),
                found: description.format,
                supported: FORMAT,
            });
        }
        Ok(Some(description))
    }

    pub(crate) fn write_description(
        &self,
        dimensions: Option<usize>,
        model: Option<String>,
    ) -> Result<(), IndexDirectoryError> {
        write_json(&self.description(), &Description { format: FORMAT, dimensions, model })
    }

    /// The state of the vectors; the empty state when it is absent or unreadable, which only costs
    /// a pass over the index.
    pub(crate) fn read_dense_state(&self) -> DenseState {
        read_json(&self.dense_state()).ok().flatten().unwrap_or_default()
    }

    pub(crate) fn write_dense_state(&self, state: DenseState) -> Result<(), IndexDirectoryError> {
        write_json(&self.dense_state(), &state)
    }

    /// Makes the latest renames in `lexical` durable.
    pub(crate) fn sync_lexical(&self) -> Result<(), IndexDirectoryError> {
        sync_directory(&self.lexical())
    }
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, IndexDirectoryError> {
    match fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|error| IndexDirectoryError::damaged(path, error.to_string())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(IndexDirectoryError::io(path)(error)),
    }
}

/// Replaces the file as a whole, durably.
fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<(), IndexDirectoryError> {
    let bytes = serde_json::to_vec(value)
        .map_err(|error| IndexDirectoryError::damaged(path, error.to_string()))?;
    let temporary = path.with_extension("json.new");
    let write = || -> std::io::Result<()> {
        let mut file = File::create(&temporary)?;
        file.write_all(&bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    };
    write().map_err(IndexDirectoryError::io(path))?;
    path.parent().map_or(Ok(()), sync_directory)
}

fn sync_directory(path: &Path) -> Result<(), IndexDirectoryError> {
    File::open(path).and_then(|dir| dir.sync_all()).map_err(IndexDirectoryError::io(path))
}
