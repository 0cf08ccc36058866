//! The one thread that changes the index.
//!
//! Writes queue up; the thread takes all that wait, applies them and commits once, so that the cost
//! of durability is shared. A commit of the words is the moment of truth: before it nothing of a
//! write can be found, after it everything, at once for words and vectors, because searches start
//! from the published snapshot and drop vectors that it does not know.

mod failure;
mod group;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use tantivy::{Index, IndexReader, IndexWriter};
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use trove_domain::chunk::IndexableDocument;
use trove_domain::id::DocumentId;
use trove_domain::port::{AttributeUpdate, DocumentIndexError, WriteOutcome};

use crate::dense::Dense;
use crate::error::{chain, stopped};
use crate::format::Layout;
use crate::lexical::schema::Fields;
use crate::snapshot::{Published, Snapshot, SnapshotMaker};
use group::Group;

/// Writes that share a commit at most.
const GROUP_MAX: usize = 64;
/// How often replaced vectors are looked after while searches still use them.
const RECLAIM_EVERY: Duration = Duration::from_millis(20);

pub(crate) type Reply = oneshot::Sender<Result<Vec<WriteOutcome>, DocumentIndexError>>;

/// What the thread is asked to do.
pub(crate) struct Command {
    pub write: Write,
    pub reply: Reply,
    /// Bounds the queue; released with the command.
    pub permit: OwnedSemaphorePermit,
}

/// A change.
pub(crate) enum Write {
    Replace(Vec<IndexableDocument>),
    UpdateAttributes(Vec<AttributeUpdate>),
    Remove(Vec<(DocumentId, i64)>),
    /// Waits until merges are done and buffers are released.
    Settle,
}

/// State of the writing thread.
pub(crate) struct Writer {
    pub index: Index,
    pub reader: IndexReader,
    pub fields: Fields,
    pub layout: Layout,
    pub published: Arc<Published>,
    pub snapshots: SnapshotMaker,
    pub dense: Option<Arc<Dense>>,
    pub write_buffer_bytes: usize,
    /// Languages that texts may be in; empty for any.
    pub languages: Vec<trove_analysis::Language>,
    pub idle_after: Duration,
    /// Number of the next chunk version; never used before.
    pub next_key: u64,
    pub tantivy: Option<IndexWriter>,
    /// Snapshots that may still be searched, oldest first, with the keys that end with each.
    pub retired: VecDeque<(Arc<Snapshot>, Vec<u64>)>,
    /// Whether the published snapshot is behind the last commit.
    pub stale: bool,
    /// Wakes the maintenance thread.
    pub wake: std::sync::mpsc::Sender<()>,
}

impl Writer {
    /// Runs until all senders are gone and everything that was accepted is done.
    pub(crate) fn run(mut self, commands: &Receiver<Command>) {
        loop {
            let patience = if self.retired.is_empty() { self.idle_after } else { RECLAIM_EVERY };
            match commands.recv_timeout(patience) {
                Ok(first) => self.write(first, commands),
                Err(RecvTimeoutError::Timeout) => {
                    if self.retired.is_empty() {
                        self.settle();
                    }
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.reclaim();
        }
        // Merges are not waited for: what they would save is saved by the next ones.
        self.tantivy = None;
        self.reclaim();
    }

    /// Applies `first` and what waits behind it.
    fn write(&mut self, first: Command, commands: &Receiver<Command>) {
        let mut group = Group::default();
        let mut next = Some(first);
        let mut taken = 0;
        while let Some(command) = next.take() {
            taken += 1;
            self.apply(&mut group, command);
            if taken < GROUP_MAX {
                next = commands.try_recv().ok();
            }
        }
        self.commit(&mut group);
    }

    fn apply(&mut self, group: &mut Group, command: Command) {
        let Command { write, reply, permit } = command;
        let outcome = match write {
            Write::Replace(documents) => self.replace(group, documents),
            Write::UpdateAttributes(updates) => self.update_attributes(group, updates),
            Write::Remove(documents) => self.remove(group, &documents),
            Write::Settle => {
                self.commit(group);
                self.settle();
                self.reclaim();
                Ok(Vec::new())
            }
        };
        if let Err(error) = &outcome {
            // Some of the command may be in the buffer: what is not committed goes, and with it
            // the other writes of the group, whose callers are told to ask again.
            self.tantivy = None;
            group.fail(error);
        }
        group.wait(reply, outcome);
        drop(permit);
    }

    /// Releases what only writing needs and lets searches use merged segments.
    fn settle(&mut self) {
        let Some(writer) = self.tantivy.take() else { return };
        if let Err(error) = writer.wait_merging_threads() {
            tracing::warn!(error = chain(&error), "segments of the index could not be merged");
        }
        if let Err(error) = self.publish_latest(Vec::new()) {
            tracing::warn!(error = chain(&error), "merged segments could not be opened");
        }
    }

    /// Publishes what is committed when it is not what is published.
    fn publish_latest(&mut self, ended: Vec<u64>) -> tantivy::Result<()> {
        self.reader.reload()?;
        let searcher = self.reader.searcher();
        if ended.is_empty()
            && searcher.generation().segments()
                == self.published.current().searcher.generation().segments()
        {
            return Ok(());
        }
        let snapshot = self.snapshots.make(self.fields, searcher)?;
        let before = self.published.publish(snapshot);
        if let Some(dense) = &self.dense {
            dense.expect_garbage(ended.len());
            self.retired.push_back((before, ended));
        }
        Ok(())
    }

    /// Removes vectors that no search can need any more.
    fn reclaim(&mut self) {
        let Some(dense) = self.dense.clone() else { return };
        while let Some((snapshot, keys)) = self.retired.front_mut() {
            // Nobody can get hold of a snapshot that is not the current one.
            if Arc::get_mut(snapshot).is_none() {
                return;
            }
            if !keys.is_empty()
                && let Err(error) = dense.forget(keys)
            {
                tracing::warn!(error = chain(&error), "replaced vectors could not be removed");
            }
            self.retired.pop_front();
        }
        // A receiver that is gone is being shut down.
        let _ = self.wake.send(());
    }
}

/// The other end of a queue whose thread is gone.
pub(crate) fn closed<T>(operation: &'static str) -> impl FnOnce(T) -> DocumentIndexError {
    move |_| stopped(operation)
}
