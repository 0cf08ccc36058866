//! Writes that share a commit.

use std::collections::HashMap;
use std::sync::Arc;

use tantivy::{IndexWriter, Term};
use trove_domain::chunk::{Chunk, IndexableDocument};
use trove_domain::error::Source;
use trove_domain::id::DocumentId;
use trove_domain::port::{AttributeUpdate, DocumentIndexError, WriteOutcome};

use super::{Reply, Writer, failure};
use crate::dense::DensePoint;
use crate::error::{backend, chain};
use crate::lexical::record::{Head, RecordWriter, read_chunk, read_head};
use crate::snapshot::Located;
use crate::tokens::{TermNumbers, terms_of};

type Outcome = Result<Vec<WriteOutcome>, DocumentIndexError>;

/// What has been applied and not yet committed.
#[derive(Default)]
pub(crate) struct Group {
    /// Documents that were changed: their revision, `None` when they were removed.
    touched: HashMap<DocumentId, Option<i64>>,
    /// New vectors by document.
    points: HashMap<DocumentId, Vec<DensePoint>>,
    /// Keys of the snapshot that end with the commit.
    ended: Vec<u64>,
    replies: Vec<(Reply, Outcome)>,
    /// Why one of the writes failed, and with it all of them.
    failed: Option<String>,
}

impl Group {
    pub(super) fn wait(&mut self, reply: Reply, outcome: Outcome) {
        self.replies.push((reply, outcome));
    }

    /// Nothing of the group will be committed. Every caller is told why: a disk without room is
    /// one for all of them.
    pub(super) fn fail(&mut self, error: &DocumentIndexError) {
        self.failed = Some(chain(error));
    }

    /// Revision of a document as of now: as this group leaves it, or as `located` in the snapshot.
    fn revision(&self, id: &DocumentId, located: Option<&Located>) -> Option<i64> {
        match self.touched.get(id) {
            Some(touched) => *touched,
            None => located.map(|located| located.revision),
        }
    }
}

impl Writer {
    pub(super) fn replace(
        &mut self,
        group: &mut Group,
        documents: Vec<IndexableDocument>,
    ) -> Outcome {
        documents.into_iter().map(|document| self.replace_one(group, document)).collect()
    }

    fn replace_one(
        &mut self,
        group: &mut Group,
        document: IndexableDocument,
    ) -> Result<WriteOutcome, DocumentIndexError> {
        let IndexableDocument { id, revision, title, attributes, chunks } = document;
        let located = self.locate(group, &id)?;
        if group.revision(&id, located.as_ref()).is_some_and(|indexed| indexed > revision) {
            return Ok(WriteOutcome::Superseded);
        }
        self.end(group, &id, located)?;
        self.add(group, &Head { id, revision, title, attributes }, chunks)?;
        Ok(WriteOutcome::Written)
    }

    pub(super) fn update_attributes(
        &mut self,
        group: &mut Group,
        updates: Vec<AttributeUpdate>,
    ) -> Outcome {
        updates.into_iter().map(|update| self.update_one(group, update)).collect()
    }

    fn update_one(
        &mut self,
        group: &mut Group,
        update: AttributeUpdate,
    ) -> Result<WriteOutcome, DocumentIndexError> {
        let AttributeUpdate { id, revision, attributes } = update;
        if group.touched.contains_key(&id) {
            // The chunks are read back from the index, so they have to be there.
            self.commit(group);
        }
        let Some(located) = self.locate(group, &id)? else {
            return Ok(WriteOutcome::Absent);
        };
        if located.revision > revision {
            return Ok(WriteOutcome::Superseded);
        }
        let (title, chunks) = self.read_back(&located)?;
        self.end(group, &id, Some(located))?;
        self.add(group, &Head { id, revision, title, attributes }, chunks)?;
        Ok(WriteOutcome::Written)
    }

    pub(super) fn remove(&mut self, group: &mut Group, documents: &[(DocumentId, i64)]) -> Outcome {
        for (id, revision) in documents {
            let located = self.locate(group, id)?;
            if group.revision(id, located.as_ref()).is_some_and(|indexed| indexed <= *revision) {
                self.end(group, id, located)?;
                group.touched.insert(id.clone(), None);
            }
        }
        Ok(Vec::new())
    }

    /// The document in the snapshot; `None` also when this group has ended that version.
    fn locate(
        &mut self,
        group: &Group,
        id: &DocumentId,
    ) -> Result<Option<Located>, DocumentIndexError> {
        if group.touched.contains_key(id) {
            return Ok(None);
        }
        if self.stale {
            self.publish_latest(Vec::new()).map_err(backend("index.find"))?;
            self.stale = false;
        }
        self.published.current().find(id).map_err(backend("index.find"))
    }

    /// Takes the present version of a document out, be it committed or not.
    fn end(
        &mut self,
        group: &mut Group,
        id: &DocumentId,
        located: Option<Located>,
    ) -> Result<(), DocumentIndexError> {
        if located.is_none() && !group.touched.contains_key(id) {
            return Ok(());
        }
        let term = Term::from_field_text(self.fields.document, id.as_str());
        self.tantivy()?.delete_term(term);
        group.points.remove(id);
        if let Some(located) = located {
            group.ended.extend(located.entries.iter().map(|(key, _)| *key));
        }
        Ok(())
    }

    fn add(
        &mut self,
        group: &mut Group,
        head: &Head,
        chunks: Vec<Chunk>,
    ) -> Result<(), DocumentIndexError> {
        let terms = terms_of(&head.id, &head.attributes);
        let languages = self.languages.clone();
        let record = RecordWriter::new(self.fields, head, &terms, &languages)
            .map_err(backend("index.encode"))?;
        let terms = Arc::new(TermNumbers::of(&terms));
        let mut points = Vec::new();
        for mut chunk in chunks {
            let key = self.next_key;
            self.next_key += 1;
            let vector = chunk.vector.take();
            let entry = record.entry(key, &chunk, vector.as_deref());
            let writer = self.tantivy()?;
            if let Err(error) = writer.add_document(entry) {
                let cause = failure::cause_of(writer, error);
                return Err(backend("index.add")(self.explained(cause.into())));
            }
            if let Some(vector) = vector
                && self.dense.is_some()
            {
                points.push(DensePoint {
                    key,
                    vector,
                    terms: Arc::clone(&terms),
                    updated_at: head.attributes.updated_at.map(|at| at.timestamp_micros()),
                    created_at: head.attributes.created_at.map(|at| at.timestamp_micros()),
                });
            }
        }
        group.touched.insert(head.id.clone(), Some(head.revision));
        group.points.insert(head.id.clone(), points);
        Ok(())
    }

    /// Title and chunks of an indexed document, with vectors.
    fn read_back(
        &self,
        located: &Located,
    ) -> Result<(Option<String>, Vec<Chunk>), DocumentIndexError> {
        let snapshot = self.published.current();
        let mut title = None;
        let mut chunks = Vec::with_capacity(located.entries.len());
        for (_, address) in &located.entries {
            let entry = snapshot.entry(*address).map_err(backend("index.read"))?;
            let ordinal = snapshot.ordinal(*address);
            if ordinal == 0 {
                title = read_head(&self.fields, &entry).map_err(backend("index.read"))?.title;
            }
            chunks.push(read_chunk(&self.fields, entry, ordinal, true));
        }
        Ok((title, chunks))
    }

    /// Makes the group durable and visible, and answers its callers.
    pub(super) fn commit(&mut self, group: &mut Group) {
        let Group { touched, points, ended, replies, failed } = std::mem::take(group);
        let done = if let Some(cause) = failed {
            Err(format!("another write of the same commit failed: {cause}").into())
        } else if touched.is_empty() {
            Ok(())
        } else {
            let points = points.into_values().flatten().collect();
            self.make_durable(points, ended).map_err(|error| self.explained(error))
        };
        if let Err(error) = &done {
            tracing::error!(error = chain(&**error), "a commit of the index failed");
            // What is not committed goes: nobody was told that it is there.
            self.tantivy = None;
        }
        let done = done.map_err(|error| chain(&*error));
        for (reply, outcome) in replies {
            let outcome = match &done {
                Ok(()) => outcome,
                Err(error) => outcome.and_then(|_| Err(backend("index.commit")(error.clone()))),
            };
            // A caller that is gone does not want to know.
            let _ = reply.send(outcome);
        }
    }

    fn make_durable(&mut self, points: Vec<DensePoint>, ended: Vec<u64>) -> Result<(), Source> {
        let next_key = self.next_key;
        let writer = self.tantivy()?;
        let mut prepared = writer.prepare_commit()?;
        prepared.set_payload(&next_key.to_string());
        let opstamp = prepared.commit()?;
        // tantivy renames the list of segments into place and leaves the rename to the system.
        self.layout.sync_lexical()?;
        // Committed is committed: the next writes must see it whatever happens from here on.
        self.stale = true;
        let followed = match &self.dense {
            Some(dense) => dense.follow(points, next_key, opstamp),
            None => Ok(()),
        };
        self.publish_latest(ended)?;
        self.stale = false;
        Ok(followed?)
    }

    /// The failure with what the disk adds to it.
    fn explained(&self, error: Source) -> Source {
        let needed = u64::try_from(self.write_buffer_bytes).unwrap_or(u64::MAX);
        failure::explained(error, needed, || failure::room_in(self.layout.root()))
    }

    /// The writer of the words, which is made when it is first needed.
    fn tantivy(&mut self) -> Result<&mut IndexWriter, DocumentIndexError> {
        let writer = if let Some(writer) = self.tantivy.take() {
            writer
        } else {
            let options = tantivy::indexer::IndexWriterOptions::builder()
                .num_worker_threads(1)
                .num_merge_threads(1)
                .memory_budget_per_thread(self.write_buffer_bytes)
                .build();
            self.index.writer_with_options(options).map_err(backend("index.open_writer"))?
        };
        Ok(self.tantivy.insert(writer))
    }
}

#[cfg(test)]
mod tests;
