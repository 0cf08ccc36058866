//! [`FileStore`] over an [`ObjectStore`].

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt, TryStreamExt};
use object_store::local::LocalFileSystem;
use object_store::path::Path as Location;
use object_store::{GetResult, MultipartUpload, ObjectStore, ObjectStoreExt};
use trove_domain::port::{FileKey, FileStore, FileStoreError, IncomingContent, OpenedFile};

use crate::directory::{create_durably, remove_leftovers};
use crate::error::{from_io, from_store};

/// Bytes that are sent at once; buckets want at least five mebibytes, and all alike.
const PART_BYTES: usize = 8 << 20;

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

/// Sends content part by part, and tells its length.
async fn send(
    upload: &mut dyn MultipartUpload,
    mut content: IncomingContent,
    max_bytes: u64,
) -> Result<u64, FileStoreError> {
    let failed = from_store("files.put_stream");
    let (mut part, mut size) = (BytesMut::new(), 0_u64);
    while let Some(piece) = content.next().await {
        let mut piece = piece.map_err(|source| FileStoreError::Interrupted { source })?;
        size = size.saturating_add(u64::try_from(piece.len()).unwrap_or(u64::MAX));
        if size > max_bytes {
            return Err(FileStoreError::TooLarge { size, max: max_bytes });
        }
        while part.len() + piece.len() >= PART_BYTES {
            part.extend_from_slice(&piece.split_to(PART_BYTES - part.len()));
            upload.put_part(part.split().freeze().into()).await.map_err(&failed)?;
        }
        part.extend_from_slice(&piece);
    }
    if !part.is_empty() || size == 0 {
        upload.put_part(part.freeze().into()).await.map_err(&failed)?;
    }
    Ok(size)
}

#[async_trait]
impl FileStore for ObjectFileStore {
    #[tracing::instrument(name = "files.put", skip_all, fields(key = key.as_str()))]
    async fn put(&self, key: &FileKey, content: Bytes) -> Result<(), FileStoreError> {
        self.store.put(&location(key), content.into()).await.map_err(from_store("files.put"))?;
        Ok(())
    }

    #[tracing::instrument(name = "files.put_stream", skip_all, fields(key = key.as_str()))]
    async fn put_stream(
        &self,
        key: &FileKey,
        content: IncomingContent,
        max_bytes: u64,
    ) -> Result<u64, FileStoreError> {
        let failed = from_store("files.put_stream");
        // Dropped before its end, it removes what it has written aside.
        let mut upload = self.store.put_multipart(&location(key)).await.map_err(&failed)?;
        match send(&mut *upload, content, max_bytes).await {
            Ok(size) => {
                upload.complete().await.map_err(&failed)?;
                Ok(size)
            }
            Err(error) => {
                if let Err(error) = upload.abort().await {
                    tracing::warn!(error = %error, "a half-stored file was not removed");
                }
                Err(error)
            }
        }
    }

    #[tracing::instrument(name = "files.open", skip_all, fields(key = key.as_str()))]
    async fn open(&self, key: &FileKey) -> Result<Option<OpenedFile>, FileStoreError> {
        let answer = self.store.get(&location(key)).await;
        let Some(object): Option<GetResult> = found(answer, "files.open")? else { return Ok(None) };
        let size = object.meta.size;
        let content = object.into_stream().map_err(from_store("files.open"));
        Ok(Some(OpenedFile { size, content: content.boxed() }))
    }

    #[tracing::instrument(name = "files.read", skip_all, fields(key = key.as_str()))]
    async fn read(
        &self,
        key: &FileKey,
        range: Range<u64>,
    ) -> Result<Option<Bytes>, FileStoreError> {
        let object = found(self.store.head(&location(key)).await, "files.read")?;
        let Some(size) = object.map(|object| object.size) else { return Ok(None) };
        let range = range.start..range.end.min(size);
        if range.is_empty() {
            return Ok(Some(Bytes::new()));
        }
        found(self.store.get_range(&location(key), range).await, "files.read")
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
