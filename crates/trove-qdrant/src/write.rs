//! Writes: stage the new version, publish it, retire the old one.
//!
//! 1. An intent says which versions are about to be left behind.
//! 2. The chunks of the new version are staged under ids of their own; no search accepts them,
//!    as no head names their version.
//! 3. The head is written on the condition that it still names the version that was read: this is
//!    the instant at which the document changes.
//! 4. The head is read back, which says whether the condition held.
//! 5. Chunks of the version that lost are removed, and the intent.
//!
//! A write that was overtaken begins anew with another version, unless a later revision is there.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use prost::Message;
use qdrant_client::qdrant::{Condition, Filter, HasIdCondition, PointId, PointStruct};
use tokio::task::spawn_blocking;
use tonic::Status;
use trove_analysis::Language;
use trove_domain::chunk::{Chunk, IndexableDocument};
use trove_domain::id::DocumentId;
use trove_domain::port::{AttributeUpdate, Clock, DocumentIndexError, IdGenerator, WriteOutcome};
use uuid::Uuid;

use crate::chunk::{self, ChunkWriter, chunk_ids, wire_bytes};
use crate::connection::{Connection, Only};
use crate::error::{backend, failed, unavailable};
use crate::filter::any_keyword;
use crate::head::{Head, Mark, head_id};
use crate::intent::Intent;
use crate::payload::{Version, expect_version, field, point_id};
use crate::seen::Seen;

/// Bytes of chunks that are prepared at a time; a document that is longer is prepared as a whole.
const GROUP_BYTES: usize = 8 * 1024 * 1024;
/// Bytes and points of one call.
const CALL_BYTES: usize = 4 * 1024 * 1024;
const CALL_POINTS: usize = 512;
/// Chunks that are read at a time to give them other attributes; those of one document at least.
const CHUNKS_READ: u32 = 2000;
/// Documents that are removed at a time.
const REMOVED_AT_ONCE: usize = 500;
/// How often a write that is overtaken by others of the same document begins anew.
const ATTEMPTS_MAX: usize = 200;

/// Changes the index.
pub(crate) struct Writer {
    pub connection: Arc<Connection>,
    pub ids: Arc<dyn IdGenerator>,
    pub clock: Arc<dyn Clock>,
    pub seen: Arc<Seen>,
    /// Languages that texts may be in; empty for any.
    pub languages: Arc<[Language]>,
}

/// What is to become of one document.
pub(crate) enum Change {
    Replace(IndexableDocument),
    Update(AttributeUpdate),
}

impl Change {
    fn id(&self) -> &DocumentId {
        match self {
            Self::Replace(document) => &document.id,
            Self::Update(update) => &update.id,
        }
    }

    fn revision(&self) -> i64 {
        match self {
            Self::Replace(document) => document.revision,
            Self::Update(update) => update.revision,
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Replace(document) => document.chunks.iter().map(wire_bytes).sum(),
            // Not known before it is read; a document of a few chunks.
            Self::Update(_) => GROUP_BYTES / 256,
        }
    }
}

/// A version of a document before it has points.
struct Draft {
    place: usize,
    document: DocumentId,
    /// Id of its intent.
    intent: Uuid,
    mark: Mark,
    expected: Option<Mark>,
    head: Head,
    chunks: Vec<Chunk>,
}

/// A version of a document on its way to be the current one.
struct Staged {
    /// Place of the change in the input.
    place: usize,
    intent: PointId,
    mark: Mark,
    /// What the head says so far; `None` when there is none.
    expected: Option<Mark>,
    head: PointStruct,
}

impl Writer {
    /// Carries out changes of different documents; outcomes come in input order.
    pub(crate) async fn change(
        &self,
        operation: &'static str,
        changes: &[Change],
    ) -> Result<Vec<WriteOutcome>, DocumentIndexError> {
        let mut outcomes: Vec<Option<WriteOutcome>> = changes.iter().map(|_| None).collect();
        for group in groups(changes) {
            let mut open: Vec<usize> = group.collect();
            let mut overtaken = 0;
            while !open.is_empty() {
                let done = self.attempt(operation, changes, &open).await?;
                overtaken = if done.is_empty() { overtaken + 1 } else { 0 };
                if overtaken == ATTEMPTS_MAX {
                    return Err(unavailable(operation, "other writes of the same documents go on"));
                }
                for (place, outcome) in done {
                    outcomes[place] = Some(outcome);
                }
                open.retain(|place| outcomes[*place].is_none());
            }
        }
        outcomes
            .into_iter()
            .map(|outcome| outcome.ok_or_else(|| backend(operation)("a document was left out")))
            .collect()
    }

    /// Tries each of the changes at `places` once; those that were overtaken, and those that are
    /// too many for one time, are left out of the answer.
    async fn attempt(
        &self,
        operation: &'static str,
        changes: &[Change],
        places: &[usize],
    ) -> Result<Vec<(usize, WriteOutcome)>, DocumentIndexError> {
        let ids = places.iter().map(|place| changes[*place].id());
        let with_heads = places.iter().any(|place| matches!(changes[*place], Change::Update(_)));
        let before = self.heads(operation, ids, with_heads).await?;
        let mut outcomes = Vec::new();
        let mut accepted = Vec::new();
        let mut read: Vec<Mark> = Vec::new();
        for place in places.iter().copied() {
            let change = &changes[place];
            let current = before.get(change.id());
            if current.is_some_and(|(mark, _)| mark.revision > change.revision()) {
                outcomes.push((place, WriteOutcome::Superseded));
                continue;
            }
            if let Change::Update(_) = change {
                let Some((mark, _)) = current else {
                    outcomes.push((place, WriteOutcome::Absent));
                    continue;
                };
                let chunks: u32 = read.iter().map(|mark| mark.chunks).sum();
                if chunks > 0 && chunks.saturating_add(mark.chunks) > CHUNKS_READ {
                    break;
                }
                read.push(*mark);
            }
            accepted.push((place, current));
        }
        let mut chunks = self.chunks_of(operation, &read).await?;
        let mut drafts = Vec::with_capacity(accepted.len());
        for (place, current) in accepted {
            let change = &changes[place];
            let expected = current.map(|(mark, _)| *mark);
            let (head, chunks) = match change {
                Change::Replace(document) => {
                    let attributes = Arc::new(document.attributes.clone());
                    (Head { title: document.title.clone(), attributes }, document.chunks.clone())
                }
                Change::Update(update) => {
                    let read = expected.and_then(|mark| chunks.remove(&mark.version));
                    // Gone while they were read: the document has just changed.
                    let Some(chunks) = read else { continue };
                    let head = current.and_then(|(_, head)| head.as_ref());
                    let title = head.and_then(|head| head.title.clone());
                    (Head { title, attributes: Arc::new(update.attributes.clone()) }, chunks)
                }
            };
            let mark = Mark {
                version: self.ids.uuid(),
                revision: change.revision(),
                chunks: u32::try_from(chunks.len()).map_err(backend(operation))?,
            };
            let document = change.id().clone();
            let intent = self.ids.uuid();
            drafts.push(Draft { place, document, intent, mark, expected, head, chunks });
        }
        let began_at = self.clock.now().timestamp_micros();
        // Telling words apart is work for a processor.
        let languages = Arc::clone(&self.languages);
        let made = spawn_blocking(move || points_of(drafts, began_at, &languages)).await;
        let (staged, points) = made.map_err(backend(operation))?.map_err(backend(operation))?;
        self.put_all(points).await.map_err(failed(operation))?;
        outcomes.extend(self.publish(operation, changes, staged).await?);
        Ok(outcomes)
    }

    /// Makes staged versions the current ones, as far as nobody else was quicker.
    async fn publish(
        &self,
        operation: &'static str,
        changes: &[Change],
        staged: Vec<Staged>,
    ) -> Result<Vec<(usize, WriteOutcome)>, DocumentIndexError> {
        let (known, new): (Vec<&Staged>, Vec<&Staged>) =
            staged.iter().partition(|staged| staged.expected.is_some());
        let heads = |staged: &[&Staged]| staged.iter().map(|s| s.head.clone()).collect::<Vec<_>>();
        if !new.is_empty() {
            let put = self.connection.put_if(heads(&new), Only::Absent).await;
            put.map_err(failed(operation))?;
        }
        if !known.is_empty() {
            // A version belongs to one document, so one condition serves all.
            let expected = known.iter().filter_map(|staged| staged.expected);
            let filter = Filter::must([of_versions(expected.map(|mark| mark.version))]);
            let put = self.connection.put_if(heads(&known), Only::Matching(filter)).await;
            put.map_err(failed(operation))?;
        }
        let ids = staged.iter().map(|staged| changes[staged.place].id());
        let after = self.heads(operation, ids, false).await?;
        let mut outcomes = Vec::new();
        let mut retired: Vec<PointId> = Vec::new();
        for staged in staged {
            let current = after.get(changes[staged.place].id()).map(|(mark, _)| *mark);
            let version = current.map(|mark| mark.version);
            // None of them can become current again, so it does not matter who removes them.
            let lost = staged.expected.into_iter().chain([staged.mark]);
            let lost = lost.filter(|mark| Some(mark.version) != version);
            retired.extend(lost.flat_map(|mark| chunk_ids(mark.version, mark.chunks)));
            retired.push(staged.intent);
            if version == Some(staged.mark.version) {
                outcomes.push((staged.place, WriteOutcome::Written));
            } else if current.is_some_and(|mark| mark.revision > staged.mark.revision) {
                outcomes.push((staged.place, WriteOutcome::Superseded));
            }
        }
        self.retire(retired).await;
        Ok(outcomes)
    }

    /// Removes documents unless a later revision is there.
    pub(crate) async fn remove(
        &self,
        operation: &'static str,
        documents: &[(DocumentId, i64)],
    ) -> Result<(), DocumentIndexError> {
        for documents in documents.chunks(REMOVED_AT_ONCE) {
            let mut attempts = 0;
            while !self.attempt_removal(operation, documents).await? {
                attempts += 1;
                if attempts == ATTEMPTS_MAX {
                    return Err(unavailable(operation, "other writes of the same documents go on"));
                }
            }
        }
        Ok(())
    }

    /// Whether nothing is left to remove.
    async fn attempt_removal(
        &self,
        operation: &'static str,
        documents: &[(DocumentId, i64)],
    ) -> Result<bool, DocumentIndexError> {
        let current = self.heads(operation, documents.iter().map(|(id, _)| id), false).await?;
        let mut marks: HashMap<&DocumentId, Mark> = HashMap::new();
        for (id, revision) in documents {
            if let Some((mark, _)) = current.get(id)
                && mark.revision <= *revision
            {
                marks.insert(id, *mark);
            }
        }
        if marks.is_empty() {
            return Ok(true);
        }
        let now = self.clock.now().timestamp_micros();
        let intents: Vec<PointStruct> = marks
            .iter()
            .map(|(id, mark)| Intent::new((*id).clone(), [*mark]).point(self.ids.uuid(), now))
            .collect();
        let done: Vec<PointId> = intents.iter().filter_map(|intent| intent.id.clone()).collect();
        self.put_all(intents).await.map_err(failed(operation))?;
        let heads: Vec<PointId> = marks.keys().map(|id| point_id(head_id(id))).collect();
        let filter = Filter::must([
            Condition::from(HasIdCondition::from(heads)),
            of_versions(marks.values().map(|mark| mark.version)),
        ]);
        self.connection.delete_matching(filter).await.map_err(failed(operation))?;
        let after = self.heads(operation, marks.keys().copied(), false).await?;
        let mut retired: Vec<PointId> = Vec::new();
        for (id, mark) in &marks {
            if after.get(*id).is_none_or(|(now, _)| now.version != mark.version) {
                retired.extend(chunk_ids(mark.version, mark.chunks));
            }
        }
        retired.extend(done);
        self.retire(retired).await;
        // What has come meanwhile is looked at once more.
        Ok(after.is_empty())
    }

    /// Removes points that nothing refers to, in order, intents after their chunks. The write they belong to has happened, so a failure
    /// is none of it: their intent stays, and a sweep finds them.
    async fn retire(&self, points: Vec<PointId>) {
        if let Err(status) = self.connection.delete(points).await {
            let error = failed("index.retire")(status);
            tracing::warn!(%error, "old chunks could not be removed yet");
        }
    }

    /// The heads of documents, with title and attributes where asked for.
    pub(crate) async fn heads<'a>(
        &self,
        operation: &'static str,
        documents: impl Iterator<Item = &'a DocumentId>,
        whole: bool,
    ) -> Result<HashMap<DocumentId, (Mark, Option<Head>)>, DocumentIndexError> {
        let mut by_id: HashMap<String, &DocumentId> = HashMap::new();
        for document in documents {
            by_id.insert(head_id(document).to_string(), document);
        }
        let ids = by_id.keys().map(|id| PointId::from(id.as_str())).collect();
        let mut fields = Mark::FIELDS.to_vec();
        if whole {
            fields.push(field::HEAD);
        }
        let points = self.connection.get(ids, &fields, false).await.map_err(failed(operation))?;
        let mut heads = HashMap::with_capacity(points.len());
        for mut point in points {
            let Some(document) =
                point.id.as_ref().and_then(id_text).and_then(|id| by_id.get(id).copied())
            else {
                continue;
            };
            let mark = Mark::read(&mut point.payload).map_err(backend(operation))?;
            let head = whole.then(|| Head::read(&mut point.payload)).transpose();
            heads.insert(document.clone(), (mark, head.map_err(backend(operation))?));
        }
        self.seen.note(heads.iter().map(|(id, (mark, _))| (head_id(id), mark.version)));
        Ok(heads)
    }

    /// The chunks of versions with their vectors, in order; without those of which some are gone.
    async fn chunks_of(
        &self,
        operation: &'static str,
        marks: &[Mark],
    ) -> Result<HashMap<Version, Vec<Chunk>>, DocumentIndexError> {
        if marks.is_empty() {
            return Ok(HashMap::new());
        }
        let ids = marks.iter().flat_map(|mark| chunk_ids(mark.version, mark.chunks)).collect();
        let mut fields = chunk::FIELDS.to_vec();
        fields.push(field::VERSION);
        let points = self.connection.get(ids, &fields, true).await.map_err(failed(operation))?;
        let mut chunks: HashMap<Version, Vec<Chunk>> = HashMap::new();
        for mut point in points {
            let version = expect_version(&mut point.payload).map_err(backend(operation))?;
            let chunk = chunk::read(point).map_err(backend(operation))?;
            chunks.entry(version).or_default().push(chunk);
        }
        chunks.retain(|version, chunks| {
            chunks.sort_unstable_by_key(|chunk| chunk.ordinal);
            let whole = |mark: &Mark| u32::try_from(chunks.len()).is_ok_and(|n| n == mark.chunks);
            marks.iter().any(|mark| mark.version == *version && whole(mark))
        });
        Ok(chunks)
    }

    /// Writes points in calls of bounded size, in order.
    async fn put_all(&self, points: Vec<PointStruct>) -> Result<(), Status> {
        let (mut call, mut bytes) = (Vec::new(), 0);
        for point in points {
            let size = point.encoded_len();
            if !call.is_empty() && (bytes + size > CALL_BYTES || call.len() == CALL_POINTS) {
                self.connection.put(std::mem::take(&mut call)).await?;
                bytes = 0;
            }
            bytes += size;
            call.push(point);
        }
        if call.is_empty() { Ok(()) } else { self.connection.put(call).await }
    }
}

/// The points of new versions: of each its intent first, then its chunks.
fn points_of(
    drafts: Vec<Draft>,
    began_at: i64,
    languages: &[Language],
) -> Result<(Vec<Staged>, Vec<PointStruct>), serde_json::Error> {
    let mut staged = Vec::with_capacity(drafts.len());
    let mut points = Vec::new();
    for draft in drafts {
        let Draft { place, document, intent, mark, expected, head, chunks } = draft;
        let touched = Intent::new(document.clone(), expected.into_iter().chain([mark]));
        points.push(touched.point(intent, began_at));
        let writer = ChunkWriter::new(&document, mark.version, &head, languages);
        points.extend(chunks.into_iter().map(|chunk| writer.point(chunk)));
        let head = head.point(&document, mark)?;
        staged.push(Staged { place, intent: point_id(intent), mark, expected, head });
    }
    Ok((staged, points))
}

fn of_versions(versions: impl Iterator<Item = Version>) -> Condition {
    any_keyword(field::VERSION, versions.map(|version| version.to_string()).collect())
}

fn id_text(id: &PointId) -> Option<&str> {
    use qdrant_client::qdrant::point_id::PointIdOptions;
    match id.point_id_options.as_ref()? {
        PointIdOptions::Uuid(text) => Some(text),
        PointIdOptions::Num(_) => None,
    }
}

/// Places of changes in runs of bounded size, in which no document occurs twice.
fn groups(changes: &[Change]) -> Vec<std::ops::Range<usize>> {
    let mut groups = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    let mut ids = HashSet::new();
    for (place, change) in changes.iter().enumerate() {
        let more = change.bytes();
        if place > start && (bytes + more > GROUP_BYTES || ids.contains(change.id())) {
            groups.push(start..place);
            (start, bytes) = (place, 0);
            ids.clear();
        }
        bytes += more;
        ids.insert(change.id());
    }
    if start < changes.len() {
        groups.push(start..changes.len());
    }
    groups
}
