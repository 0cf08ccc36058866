//! Files on their way in, piece by piece, from whoever has them to whoever stores them.
//!
//! An end is always said. What merely stops coming has broken off, and is not stored.

use std::ops::ControlFlow;
use std::sync::Arc;

use bytes::Bytes;
use futures::stream;
use tokio::sync::{Mutex, mpsc};
use trove_domain::port::IncomingContent;

/// Pieces that wait at most; their size is the sender's to choose.
const PIECES_MAX: usize = 8;

/// A piece of an upload.
#[derive(Debug)]
enum Piece {
    File(FileHead),
    Bytes(Bytes),
    EndOfFile,
    End(Option<String>),
}

/// What is said of a file before its content.
#[derive(Debug)]
pub(super) struct FileHead {
    pub(super) name: String,
    pub(super) mime_type: Option<String>,
}

/// Nobody takes the upload any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone;

/// Sends an upload.
#[derive(Debug)]
pub struct UploadSender(mpsc::Sender<Piece>);

/// Takes an upload.
#[derive(Debug)]
pub struct Upload(Arc<Mutex<mpsc::Receiver<Piece>>>);

/// Both ends of an upload.
#[must_use]
pub fn upload() -> (UploadSender, Upload) {
    let (sender, receiver) = mpsc::channel(PIECES_MAX);
    (UploadSender(sender), Upload(Arc::new(Mutex::new(receiver))))
}

impl UploadSender {
    async fn send(&self, piece: Piece) -> Result<(), Gone> {
        self.0.send(piece).await.map_err(|_| Gone)
    }

    /// A file begins.
    ///
    /// # Errors
    ///
    /// [`Gone`], as all of them.
    pub async fn file(&self, name: String, mime_type: Option<String>) -> Result<(), Gone> {
        self.send(Piece::File(FileHead { name, mime_type })).await
    }

    /// More of it.
    ///
    /// # Errors
    ///
    /// [`Gone`].
    pub async fn bytes(&self, bytes: Bytes) -> Result<(), Gone> {
        self.send(Piece::Bytes(bytes)).await
    }

    /// It was that, all of it.
    ///
    /// # Errors
    ///
    /// [`Gone`].
    pub async fn end_of_file(&self) -> Result<(), Gone> {
        self.send(Piece::EndOfFile).await
    }

    /// These were all files. `removal` is what is said of files to remove.
    ///
    /// # Errors
    ///
    /// [`Gone`].
    pub async fn end(self, removal: Option<String>) -> Result<(), Gone> {
        self.send(Piece::End(removal)).await
    }

    fn send_now(&self, piece: Piece) -> ControlFlow<()> {
        match self.0.blocking_send(piece) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    }

    /// As `file`, for a thread that may wait.
    pub(super) fn file_now(&self, name: String) -> ControlFlow<()> {
        self.send_now(Piece::File(FileHead { name, mime_type: None }))
    }

    /// As `bytes`, for a thread that may wait.
    pub(super) fn bytes_now(&self, bytes: Bytes) -> ControlFlow<()> {
        self.send_now(Piece::Bytes(bytes))
    }

    /// As `end_of_file`, for a thread that may wait.
    pub(super) fn end_of_file_now(&self) -> ControlFlow<()> {
        self.send_now(Piece::EndOfFile)
    }

    /// As `end`, for a thread that may wait.
    pub(super) fn end_now(self) -> ControlFlow<()> {
        self.send_now(Piece::End(None))
    }
}

/// What comes next.
pub(super) enum Next {
    /// A file; its content is to be taken, or skipped.
    File(FileHead),
    /// Nothing, and what is said of files to remove.
    End(Option<String>),
}

/// The upload broke off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the upload broke off")]
pub(super) struct BrokenOff;

impl Upload {
    pub(super) async fn next(&self) -> Result<Next, BrokenOff> {
        match self.0.lock().await.recv().await {
            Some(Piece::File(head)) => Ok(Next::File(head)),
            Some(Piece::End(removal)) => Ok(Next::End(removal)),
            Some(Piece::Bytes(_) | Piece::EndOfFile) | None => Err(BrokenOff),
        }
    }

    /// The content of the file that has begun.
    pub(super) fn content(&self) -> IncomingContent {
        let more = |pieces: Option<Arc<Mutex<mpsc::Receiver<Piece>>>>| async move {
            let pieces = pieces?;
            let piece = pieces.lock().await.recv().await;
            match piece {
                Some(Piece::Bytes(bytes)) => Some((Ok(bytes), Some(pieces))),
                Some(Piece::EndOfFile) => None,
                Some(Piece::File(_) | Piece::End(_)) | None => Some((Err(BrokenOff.into()), None)),
            }
        };
        Box::pin(stream::unfold(Some(Arc::clone(&self.0)), more))
    }

    /// Passes over the content of the file that has begun.
    pub(super) async fn skip(&self) -> Result<(), BrokenOff> {
        loop {
            match self.0.lock().await.recv().await {
                Some(Piece::Bytes(_)) => {}
                Some(Piece::EndOfFile) => return Ok(()),
                Some(Piece::File(_) | Piece::End(_)) | None => return Err(BrokenOff),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use futures::TryStreamExt;

    use super::{BrokenOff, Next, upload};

    #[tokio::test]
    async fn a_content_that_stops_coming_has_not_ended() {
        let (sender, taken) = upload();
        sender.file("a".to_owned(), None).await.unwrap();
        sender.bytes(Bytes::from_static(b"1")).await.unwrap();
        sender.end_of_file().await.unwrap();
        sender.file("b".to_owned(), None).await.unwrap();
        sender.bytes(Bytes::from_static(b"2")).await.unwrap();
        drop(sender);
        assert!(matches!(taken.next().await, Ok(Next::File(head)) if head.name == "a"));
        assert_eq!(taken.content().try_collect::<Vec<_>>().await.unwrap(), ["1"]);
        assert!(matches!(taken.next().await, Ok(Next::File(_))));
        assert!(taken.content().try_collect::<Vec<_>>().await.is_err());
        assert!(matches!(taken.next().await, Err(BrokenOff)));
    }

    #[tokio::test]
    async fn an_upload_ends_when_that_is_said() {
        let (sender, taken) = upload();
        sender.file("a".to_owned(), None).await.unwrap();
        sender.bytes(Bytes::from_static(b"1")).await.unwrap();
        sender.end_of_file().await.unwrap();
        sender.end(Some("[]".to_owned())).await.unwrap();
        assert!(matches!(taken.next().await, Ok(Next::File(_))));
        assert_eq!(taken.skip().await, Ok(()));
        assert!(matches!(taken.next().await, Ok(Next::End(Some(removal))) if removal == "[]"));
    }
}
