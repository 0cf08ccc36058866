//! [`FileStore`] over an [`ObjectStore`].

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use object_store::local::LocalFileSystem;
use object_store::path::Path as Location;
use object_store::{GetResult, ObjectStore, ObjectStoreExt};
use trove_domain::port::{FileKey, FileStore, FileStoreError};

use crate::directory::{create_durably, remove_leftovers};
use crate::error::{from_io, from_store};

/// Files as objects, one for each key, side by side.
///
/// What the port promises is what the object stores promise: a `put` publishes an object whole, and
/// answers when it is durable. A directory keeps that promise by writing aside, syncing the file,
/// renaming it over the old one and syncing the directory; its work goes on in a blocking thread
/// when the caller is dropped, and so ends in the old content or the new.
#[derive(Debug)]
pub struct ObjectFileStore {
    store: Arc<dyn ObjectStore>,
}

impl ObjectFileStore {
    /// Files in `directory`, which is created if it is missing, for the owner of the process only.
    ///
    /// The directory belongs to one process: what a crash left half-written there is removed.
    /// Blocks for as long as the directory takes to list.
    ///
    /// # Errors
    ///
    /// [`FileStoreError`] when the directory cannot be created or read.
    pub fn local(directory: &Path) -> Result<Self, FileStoreError> {
        let failed = from_io("files.open");
        create_durably(directory).map_err(&failed)?;
        let removed = remove_leftovers(directory).map_err(&failed)?;
        if removed > 0 {
            tracing::info!(removed, "removed half-written files of an earlier run");
        }
        let store = LocalFileSystem::new_with_prefix(directory)
            .map_err(from_store("files.open"))?
            // Off by default: a file that was acknowledged could be empty after a power failure.
            .with_fsync(true);
        Ok(Self { store: Arc::new(store) })
    }
}

/// Keys have no characters that a location would have to escape.
fn location(key: &FileKey) -> Location {
    Location::from(key.as_str())
}

/// What was found, or `None` for the answer that nothing is there.
fn found<T>(
    answer: object_store::Result<T>,
    operation: &'static str,
) -> Result<Option<T>, FileStoreError> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(object_store::Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(from_store(operation)(error)),
    }
}

#[async_trait]
impl FileStore for ObjectFileStore {
    #[tracing::instrument(name = "files.put", skip_all, fields(key = key.as_str()))]
    async fn put(&self, key: &FileKey, content: Bytes) -> Result<(), FileStoreError> {
        self.store.put(&location(key), content.into()).await.map_err(from_store("files.put"))?;
        Ok(())
    }

    #[tracing::instrument(name = "files.get", skip_all, fields(key = key.as_str()))]
    async fn get(&self, key: &FileKey, max_bytes: u64) -> Result<Option<Bytes>, FileStoreError> {
        // The answer carries the size before any content, of the same version of the object.
        let answer = self.store.get(&location(key)).await;
        let Some(object): Option<GetResult> = found(answer, "files.get")? else { return Ok(None) };
        let size = object.meta.size;
        if size > max_bytes {
            return Err(FileStoreError::TooLarge { size, max: max_bytes });
        }
        object.bytes().await.map(Some).map_err(from_store("files.get"))
    }

    #[tracing::instrument(name = "files.size", skip_all, fields(key = key.as_str()))]
    async fn size(&self, key: &FileKey) -> Result<Option<u64>, FileStoreError> {
        let object = found(self.store.head(&location(key)).await, "files.size")?;
        Ok(object.map(|object| object.size))
    }

    #[tracing::instrument(name = "files.remove", skip_all, fields(key = key.as_str()))]
    async fn remove(&self, key: &FileKey) -> Result<(), FileStoreError> {
        found(self.store.delete(&location(key)).await, "files.remove")?;
        Ok(())
    }
}
