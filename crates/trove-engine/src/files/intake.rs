//! Storing what comes.

use std::collections::HashSet;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures::{StreamExt, TryStreamExt, stream};
use tokio::task::JoinSet;
use trove_domain::id::UserId;
use trove_domain::port::{
    ConnectorRefusal, ConnectorReplacement, FileKey, FileStore, FileStoreError, IncomingContent,
};
use trove_domain::stored_file::{FileOrigin, StoredFile};

use super::incoming::{BrokenOff, FileHead, Next};
use super::{FileError, Upload, UploadedFiles, metadata, name};
use crate::Engine;

/// Rows that are made at a time where there are many files.
const RESERVED: usize = 64;

/// Contents of so many bytes are stored beside each other.
const SMALL_BYTES: usize = 256 * 1024;

/// Contents that are stored at the same time.
const STORING_MAX: usize = 8;

/// An upload on its way into the store. What it has reserved and not finished is removed by
/// [`Intake::close`]; only the end of the process comes before that, and the next start does it.
pub(super) struct Intake {
    engine: Engine,
    files: Arc<dyn FileStore>,
    owner: UserId,
    /// Everything that was reserved and is not finished.
    unfinished: Vec<FileKey>,
    /// What of it has no content yet.
    free: Vec<FileKey>,
    taken: UploadedFiles,
    /// The row of what says something about the files.
    about: Option<StoredFile>,
    archives: usize,
    /// Contents that are being stored.
    storing: JoinSet<Result<(), FileStoreError>>,
}

impl Engine {
    pub(super) fn intake(&self, owner: UserId) -> Result<Intake, FileError> {
        let files = self.backends().files.clone().ok_or(FileError::NoStore)?;
        Ok(Intake {
            engine: self.clone(),
            files,
            owner,
            unfinished: Vec::new(),
            free: Vec::new(),
            taken: UploadedFiles::default(),
            about: None,
            archives: 0,
            storing: JoinSet::new(),
        })
    }
}

impl Intake {
    /// Stores all files of an upload; answers what it says of files to remove.
    pub(super) async fn take(
        &mut self,
        upload: Upload,
        unzip: bool,
    ) -> Result<Option<String>, FileError> {
        let unzip = unzip && self.engine.backends().unpacker.is_some();
        loop {
            let head = match upload.next().await? {
                Next::File(head) => head,
                Next::End(removal) => return Ok(removal),
            };
            let Some(name) = name::clean(&head.name)? else {
                upload.skip().await?;
                continue;
            };
            let FileHead { mime_type, .. } = head;
            if unzip && name::is_archive(&name, mime_type.as_deref()) {
                self.archive(upload.content()).await?;
            } else {
                let mime_type = mime_type.unwrap_or_else(|| "text/plain".to_owned());
                let reserved = if self.taken.files.is_empty() { 1 } else { RESERVED };
                self.file(name, mime_type, upload.content(), reserved).await?;
            }
        }
    }

    /// Stores one file.
    async fn file(
        &mut self,
        name: String,
        mime_type: String,
        content: IncomingContent,
        reserved: usize,
    ) -> Result<(), FileError> {
        let limits = self.engine.config().uploads;
        if self.taken.files.len() >= limits.files_max {
            return Err(FileError::TooMany(limits.files_max));
        }
        let key = self.key(reserved).await?;
        let size_bytes = match self.store(&key, content, limits.file_bytes_max).await {
            Ok(size) => size,
            Err(FileStoreError::TooLarge { max, .. }) => {
                return Err(FileError::TooLarge { name, max });
            }
            Err(error) => return Err(error.into()),
        };
        let row = self.row(key, name, FileOrigin::Connector, mime_type, size_bytes);
        self.taken.files.push(row);
        Ok(())
    }

    /// Stores a content, or has it stored while others come: each is written durably by itself, which
    /// is mostly waiting.
    async fn store(
        &mut self,
        key: &FileKey,
        mut content: IncomingContent,
        bytes_max: u64,
    ) -> Result<u64, FileStoreError> {
        let mut head = BytesMut::new();
        while head.len() <= SMALL_BYTES {
            match content.try_next().await {
                Ok(Some(piece)) => head.extend_from_slice(&piece),
                Ok(None) => {
                    let size = u64::try_from(head.len()).unwrap_or(u64::MAX);
                    if size > bytes_max {
                        return Err(FileStoreError::TooLarge { size, max: bytes_max });
                    }
                    while self.storing.len() >= STORING_MAX {
                        self.one_stored().await?;
                    }
                    let (files, key) = (Arc::clone(&self.files), key.clone());
                    self.storing.spawn(async move { files.put(&key, head.freeze()).await });
                    return Ok(size);
                }
                Err(source) => return Err(FileStoreError::Interrupted { source }),
            }
        }
        let content = stream::iter([Ok(head.freeze())]).chain(content);
        self.files.put_stream(key, content.boxed(), bytes_max).await
    }

    /// Waits until one more is stored; whether there was one.
    async fn one_stored(&mut self) -> Result<bool, FileStoreError> {
        match self.storing.join_next().await {
            Some(Ok(stored)) => stored.map(|()| true),
            Some(Err(gave_up)) => Err(FileStoreError::Interrupted { source: gave_up.into() }),
            None => Ok(false),
        }
    }

    /// Waits until everything is stored.
    async fn all_stored(&mut self) -> Result<(), FileStoreError> {
        while self.one_stored().await? {}
        Ok(())
    }

    /// Stores the files in an archive, and for as long as that takes the archive.
    async fn archive(&mut self, content: IncomingContent) -> Result<(), FileError> {
        if self.archives > 0 {
            return Err(FileError::SecondArchive);
        }
        self.archives += 1;
        let key = self.key(1).await?;
        // The whole upload is bounded on its way in.
        let size = self.files.put_stream(&key, content, u64::MAX).await?;
        let Some(unpacking) = self.engine.unpack(Arc::clone(&self.files), key, size) else {
            return Ok(());
        };
        let taken = self.entries(unpacking.files()).await;
        // Why the files broke off is known there.
        match (taken, unpacking.end().await) {
            (Ok(()) | Err(FileError::Interrupted), Err(error)) => Err(error.into()),
            (taken, _) => taken,
        }
    }

    async fn entries(&mut self, entries: &Upload) -> Result<(), FileError> {
        loop {
            let path = match entries.next().await? {
                Next::File(head) => head.name,
                Next::End(_) => return Ok(()),
            };
            if path == metadata::FILE_NAME {
                self.metadata(entries.content()).await?;
                continue;
            }
            match name::clean(&path)? {
                Some(name) => {
                    let mime_type = name::mime_type(&name);
                    self.file(name, mime_type, entries.content(), RESERVED).await?;
                }
                None => entries.skip().await?,
            }
        }
    }

    /// Reads what the archive says about its files, and stores it as it is.
    async fn metadata(&mut self, content: IncomingContent) -> Result<(), FileError> {
        let mut all = Vec::new();
        let mut content = content;
        while let Some(piece) = content.try_next().await.map_err(|_| FileError::Interrupted)? {
            all.extend_from_slice(&piece);
            metadata::check_length(all.len())?;
        }
        let about = metadata::read(&all)?;
        self.keep_about(all).await?;
        self.taken.metadata = about;
        Ok(())
    }

    /// Stores something about files, in place of what was stored before.
    pub(super) async fn keep_about(&mut self, content: Vec<u8>) -> Result<FileKey, FileError> {
        let key = self.key(1).await?;
        let size = u64::try_from(content.len()).unwrap_or(u64::MAX);
        self.files.put(&key, Bytes::from(content)).await?;
        let (name, kind) = (metadata::FILE_NAME.to_owned(), "application/json".to_owned());
        self.about = Some(self.row(key.clone(), name, FileOrigin::ConnectorMetadata, kind, size));
        self.taken.metadata_file = Some(key.clone());
        Ok(key)
    }

    /// Nothing about the files is stored after all.
    pub(super) fn forget_about(&mut self) {
        self.about = None;
        self.taken.metadata_file = None;
    }

    fn row(
        &self,
        id: FileKey,
        name: String,
        origin: FileOrigin,
        mime_type: String,
        size_bytes: u64,
    ) -> StoredFile {
        let created_at = self.engine.backends().clock.now();
        let owner = Some(self.owner);
        StoredFile { id, name, origin, mime_type, size_bytes, owner, created_at }
    }

    /// A key that a row names; `count` rows are made when there is none left.
    async fn key(&mut self, count: usize) -> Result<FileKey, FileError> {
        if self.free.is_empty() {
            let backends = self.engine.backends();
            let new = || FileKey::new(backends.ids.uuid().to_string());
            // A UUID is a key.
            let keys: Vec<FileKey> = (0..count.max(1)).filter_map(|_| new().ok()).collect();
            // Before the rows are made: they may be there although that fails.
            self.unfinished.extend(keys.iter().cloned());
            let (owner, now) = (Some(self.owner), backends.clock.now());
            backends.stored_files.reserve(&keys, owner, now).await?;
            self.free = keys;
            self.free.reverse();
        }
        self.free.pop().ok_or(FileError::Interrupted)
    }

    /// What has been taken so far.
    pub(super) fn taken(&self) -> &UploadedFiles {
        &self.taken
    }

    fn rows(&self) -> Vec<StoredFile> {
        self.taken.files.iter().chain(&self.about).cloned().collect()
    }

    fn finished(&mut self, rows: &[StoredFile]) {
        let finished: HashSet<&FileKey> = rows.iter().map(|row| &row.id).collect();
        self.unfinished.retain(|key| !finished.contains(key));
    }

    /// Makes the files real.
    pub(super) async fn finish(&mut self) -> Result<UploadedFiles, FileError> {
        self.all_stored().await?;
        let rows = self.rows();
        if !self.engine.backends().stored_files.finish(&rows).await? {
            return Err(FileError::Interrupted);
        }
        self.finished(&rows);
        Ok(self.taken.clone())
    }

    /// Makes the files real, as files of a connector.
    pub(super) async fn finish_into(
        &mut self,
        connector: ConnectorReplacement,
    ) -> Result<Result<(), ConnectorRefusal>, FileError> {
        self.all_stored().await?;
        let rows = self.rows();
        let replaced = self.engine.backends().stored_files.finish_into(&rows, connector).await?;
        if replaced.is_ok() {
            self.finished(&rows);
        }
        Ok(replaced.map(drop))
    }

    /// Removes what was not finished.
    pub(super) async fn close(mut self) {
        // Dropped, they would go on, and come after what removes them.
        while self.storing.join_next().await.is_some() {}
        self.engine.discard_files(&self.unfinished).await;
    }
}

impl From<BrokenOff> for FileError {
    fn from(_: BrokenOff) -> Self {
        Self::Interrupted
    }
}
