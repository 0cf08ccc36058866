//! Unpacking beside the runtime: a thread reads the stored archive and sends its files.

use std::io;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use tokio::runtime::Handle;
use tokio::task::{JoinHandle, spawn_blocking};
use trove_domain::port::{ArchiveBytes, FileKey, FileStore, UnpackError, UnpackInto, UnpackLimits};

use super::{Upload, UploadSender, metadata, name, upload};
use crate::Engine;

/// Bytes of the archive that are read at once.
const BLOCK_BYTES: u64 = 1024 * 1024;

/// An archive that is unpacked.
pub(super) struct Unpacking {
    files: Upload,
    thread: JoinHandle<Result<(), UnpackError>>,
}

impl Unpacking {
    /// What comes out of it.
    pub(super) fn files(&self) -> &Upload {
        &self.files
    }

    /// Waits for the end; whoever has not taken everything ends it so.
    pub(super) async fn end(self) -> Result<(), UnpackError> {
        drop(self.files);
        match self.thread.await {
            Ok(Err(UnpackError::Stopped)) => Ok(()),
            Ok(ended) => ended,
            Err(_) => Err(UnpackError::Malformed { detail: "its reader gave up".to_owned() }),
        }
    }
}

impl Engine {
    /// Begins to unpack a stored archive; `None` when there is nothing to unpack it with.
    pub(super) fn unpack(
        &self,
        files: Arc<dyn FileStore>,
        key: FileKey,
        size: u64,
    ) -> Option<Unpacking> {
        let unpacker = self.backends().unpacker.clone()?;
        let uploads = self.config().uploads;
        let limits = UnpackLimits {
            entries: u64::try_from(uploads.files_max).unwrap_or(u64::MAX),
            file_bytes: uploads.file_bytes_max,
            total_bytes: uploads.upload_bytes_max,
        };
        let (sender, taken) = upload();
        let archive =
            Stored { files, key, size, runtime: Handle::current(), block: Mutex::default() };
        let thread = spawn_blocking(move || {
            let mut into = Sending(sender);
            unpacker.unpack(&archive, &limits, &mut into)?;
            let _taken = into.0.end_now();
            Ok(())
        });
        Some(Unpacking { files: taken, thread })
    }
}

/// An archive in the file store, for a thread that may wait.
struct Stored {
    files: Arc<dyn FileStore>,
    key: FileKey,
    size: u64,
    runtime: Handle,
    /// What was read last, and where it begins.
    block: Mutex<(u64, Bytes)>,
}

impl Stored {
    /// Copies what the block has of it.
    fn copy(block: &(u64, Bytes), buffer: &mut [u8], offset: u64) -> Option<usize> {
        let start = usize::try_from(offset.checked_sub(block.0)?).ok()?;
        let known = block.1.get(start..).filter(|known| !known.is_empty())?;
        let length = known.len().min(buffer.len());
        buffer[..length].copy_from_slice(&known[..length]);
        Some(length)
    }
}

impl ArchiveBytes for Stored {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        if offset >= self.size || buffer.is_empty() {
            return Ok(0);
        }
        let mut block = self.block.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(length) = Self::copy(&block, buffer, offset) {
            return Ok(length);
        }
        let range = offset..offset.saturating_add(BLOCK_BYTES).min(self.size);
        let read = self.runtime.block_on(self.files.read(&self.key, range));
        let read = read.map_err(io::Error::other)?;
        let read = read.ok_or_else(|| io::Error::other("the archive is not there any more"))?;
        *block = (offset, read);
        Ok(Self::copy(&block, buffer, offset).unwrap_or(0))
    }
}

/// Sends files as an upload.
struct Sending(UploadSender);

impl UnpackInto for Sending {
    fn wants(&self, path: &str) -> bool {
        path == metadata::FILE_NAME || !name::is_hidden(path)
    }

    fn begin(&mut self, path: &str) -> ControlFlow<()> {
        self.0.file_now(path.to_owned())
    }

    fn bytes(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        self.0.bytes_now(Bytes::copy_from_slice(bytes))
    }

    fn end(&mut self) -> ControlFlow<()> {
        self.0.end_of_file_now()
    }
}
