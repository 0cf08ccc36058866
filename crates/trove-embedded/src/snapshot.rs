//! One consistent state of the index, as a search sees it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use tantivy::columnar::Column;
use tantivy::index::SegmentId;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, DocId, DocSet, Searcher, SegmentReader, TERMINATED, Term};
use trove_analysis::{Language, LanguageSet};
use trove_domain::id::DocumentId;

use crate::lexical::allowed::{EntrySet, allowed_entries};
use crate::lexical::record::StoredEntry;
use crate::lexical::schema::{Fields, KEY, ORDINAL, REVISION};
use crate::tokens::TermFilter;

/// Filters whose result is kept per segment. Callers with the same groups share one.
const FILTERS_KEPT: usize = 16;

/// A document of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Located {
    pub revision: i64,
    /// Its entries with their keys, by ordinal.
    pub entries: Vec<(u64, DocAddress)>,
}

/// Entries with consecutive keys: `key - first_key == doc - first_doc`.
#[derive(Clone, Copy, Debug)]
struct Run {
    first_key: u64,
    len: u32,
    segment_ord: u32,
    first_doc: DocId,
}

/// What is known of a segment beyond tantivy's reader. Segments never change, so this is made
/// once and shared by all snapshots that hold the segment.
struct SegmentIndex {
    key: Column<u64>,
    ordinal: Column<u64>,
    revision: Column<i64>,
    languages: LanguageSet,
    /// By key; `segment_ord` is filled in by the snapshot.
    runs: Vec<Run>,
    filters: Mutex<Vec<(Arc<TermFilter>, Arc<EntrySet>)>>,
}

/// Makes snapshots and keeps what their segments have in common.
#[derive(Default)]
pub(crate) struct SnapshotMaker {
    segments: HashMap<SegmentId, Arc<SegmentIndex>>,
}

/// One state: all of it is from the same commit.
pub(crate) struct Snapshot {
    pub fields: Fields,
    pub searcher: Searcher,
    /// The languages that a query has to be read in, beside the default ones.
    pub languages: LanguageSet,
    segments: Vec<Arc<SegmentIndex>>,
    /// All entries, by key.
    runs: Vec<Run>,
}

impl SnapshotMaker {
    pub(crate) fn make(&mut self, fields: Fields, searcher: Searcher) -> tantivy::Result<Snapshot> {
        let mut segments = Vec::with_capacity(searcher.segment_readers().len());
        let mut known = HashMap::with_capacity(self.segments.len());
        for reader in searcher.segment_readers() {
            let id = reader.segment_id();
            let segment = match self.segments.remove(&id) {
                Some(segment) => segment,
                None => Arc::new(SegmentIndex::new(&fields, reader)?),
            };
            known.insert(id, Arc::clone(&segment));
            segments.push(segment);
        }
        self.segments = known;
        let mut runs: Vec<Run> = (0u32..)
            .zip(&segments)
            .flat_map(|(segment_ord, segment)| {
                segment.runs.iter().map(move |run| Run { segment_ord, ..*run })
            })
            .collect();
        runs.sort_unstable_by_key(|run| run.first_key);
        let languages = segments
            .iter()
            .fold(LanguageSet::EMPTY, |languages, segment| languages.union(segment.languages));
        Ok(Snapshot { fields, searcher, languages, segments, runs })
    }
}

impl SegmentIndex {
    fn new(fields: &Fields, reader: &SegmentReader) -> tantivy::Result<Self> {
        let fast_fields = reader.fast_fields();
        let key: Column<u64> = fast_fields.u64(KEY)?;
        let mut runs: Vec<Run> = Vec::new();
        for doc in reader.doc_ids_alive() {
            let Some(first_key) = key.first(doc) else { continue };
            match runs.last_mut() {
                Some(run)
                    if first_key == run.first_key + u64::from(run.len)
                        && doc == run.first_doc + run.len =>
                {
                    run.len += 1;
                }
                _ => runs.push(Run { first_key, len: 1, segment_ord: 0, first_doc: doc }),
            }
        }
        runs.shrink_to_fit();
        Ok(Self {
            key,
            ordinal: fast_fields.u64(ORDINAL)?,
            revision: fast_fields.i64(REVISION)?,
            languages: languages_of(fields, reader)?,
            runs,
            filters: Mutex::default(),
        })
    }

    fn allowed(
        &self,
        fields: &Fields,
        reader: &SegmentReader,
        filter: &Arc<TermFilter>,
    ) -> tantivy::Result<Arc<EntrySet>> {
        let lock = || self.filters.lock().unwrap_or_else(PoisonError::into_inner);
        {
            let mut kept = lock();
            if let Some(at) = kept.iter().position(|(known, _)| known == filter) {
                // The latest is last, the first is the next to go.
                kept[at..].rotate_left(1);
                if let Some((_, allowed)) = kept.last() {
                    return Ok(Arc::clone(allowed));
                }
            }
        }
        let allowed = Arc::new(allowed_entries(fields, reader, filter)?);
        let mut kept = lock();
        if kept.len() >= FILTERS_KEPT {
            kept.remove(0);
        }
        kept.push((Arc::clone(filter), Arc::clone(&allowed)));
        Ok(allowed)
    }
}

/// The languages that any entry of the segment names.
fn languages_of(fields: &Fields, reader: &SegmentReader) -> tantivy::Result<LanguageSet> {
    let index = reader.inverted_index(fields.languages)?;
    let mut codes = index.terms().stream()?;
    let mut languages = LanguageSet::EMPTY;
    while codes.advance() {
        let code = std::str::from_utf8(codes.key()).ok();
        if let Some(language) = code.and_then(Language::from_code) {
            languages.insert(language);
        }
    }
    Ok(languages)
}

impl Snapshot {
    /// Per segment the entries that pass `filter`, dead ones among them.
    pub(crate) fn allowed(&self, filter: &Arc<TermFilter>) -> tantivy::Result<Vec<Arc<EntrySet>>> {
        self.searcher
            .segment_readers()
            .iter()
            .zip(&self.segments)
            .map(|(reader, segment)| segment.allowed(&self.fields, reader, filter))
            .collect()
    }

    /// The live entry with this key.
    pub(crate) fn locate(&self, key: u64) -> Option<DocAddress> {
        let after = self.runs.partition_point(|run| run.first_key <= key);
        let run = self.runs.get(after.checked_sub(1)?)?;
        let offset = u32::try_from(key - run.first_key).ok().filter(|at| *at < run.len)?;
        let doc = run.first_doc + offset;
        let dead = self.searcher.segment_reader(run.segment_ord).is_deleted(doc);
        (!dead).then(|| DocAddress::new(run.segment_ord, doc))
    }

    /// Number of the chunk version at `address`.
    pub(crate) fn key(&self, address: DocAddress) -> u64 {
        self.segment(address).and_then(|segment| segment.key.first(address.doc_id)).unwrap_or(0)
    }

    /// Position of the chunk at `address` in its document.
    pub(crate) fn ordinal(&self, address: DocAddress) -> u32 {
        self.segment(address)
            .and_then(|segment| segment.ordinal.first(address.doc_id))
            .and_then(|ordinal| u32::try_from(ordinal).ok())
            .unwrap_or(0)
    }

    /// The first entry of the document that the entry at `address` belongs to.
    pub(crate) fn head_of(&self, address: DocAddress) -> Option<DocAddress> {
        match self.ordinal(address) {
            0 => Some(address),
            ordinal => self.locate(self.key(address).checked_sub(u64::from(ordinal))?),
        }
    }

    /// The stored fields at `address`.
    pub(crate) fn entry(&self, address: DocAddress) -> tantivy::Result<StoredEntry> {
        self.searcher.doc(address)
    }

    /// The document with this id.
    pub(crate) fn find(&self, id: &DocumentId) -> tantivy::Result<Option<Located>> {
        let term = Term::from_field_text(self.fields.document, id.as_str());
        let mut revision = None;
        let mut entries = Vec::new();
        for ((segment_ord, reader), segment) in
            (0u32..).zip(self.searcher.segment_readers()).zip(&self.segments)
        {
            let index = reader.inverted_index(self.fields.document)?;
            let Some(mut postings) = index.read_postings(&term, IndexRecordOption::Basic)? else {
                continue;
            };
            let mut doc = postings.doc();
            while doc != TERMINATED {
                if !reader.is_deleted(doc) {
                    revision = revision.max(segment.revision.first(doc));
                    let key = segment.key.first(doc).unwrap_or(0);
                    entries.push((key, DocAddress::new(segment_ord, doc)));
                }
                doc = postings.advance();
            }
        }
        entries.sort_unstable_by_key(|(key, _)| *key);
        Ok(revision.map(|revision| Located { revision, entries }))
    }

    /// All live entries with a key of at least `first_key`, by key.
    pub(crate) fn entries_from(&self, first_key: u64) -> impl Iterator<Item = (u64, DocAddress)> {
        let first =
            self.runs.partition_point(|run| run.first_key + u64::from(run.len) <= first_key);
        self.runs[first..]
            .iter()
            .flat_map(|run| (0..run.len).map(move |at| run.first_key + u64::from(at)))
            .filter(move |key| *key >= first_key)
            .filter_map(|key| Some((key, self.locate(key)?)))
    }

    /// Number of documents and of chunks.
    pub(crate) fn count(&self) -> (u64, u64) {
        let documents = self
            .searcher
            .segment_readers()
            .iter()
            .zip(&self.segments)
            .map(|(reader, segment)| {
                reader.doc_ids_alive().filter(|doc| segment.ordinal.first(*doc) == Some(0)).count()
            })
            .sum::<usize>();
        (u64::try_from(documents).unwrap_or(u64::MAX), self.searcher.num_docs())
    }

    fn segment(&self, address: DocAddress) -> Option<&SegmentIndex> {
        self.segments.get(usize::try_from(address.segment_ord).ok()?).map(Arc::as_ref)
    }
}

/// The state that searches start from.
pub(crate) struct Published {
    current: RwLock<Arc<Snapshot>>,
}

impl Published {
    pub(crate) fn new(snapshot: Snapshot) -> Self {
        Self { current: RwLock::new(Arc::new(snapshot)) }
    }

    pub(crate) fn current(&self) -> Arc<Snapshot> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Makes `snapshot` the current one and returns the one before.
    pub(crate) fn publish(&self, snapshot: Snapshot) -> Arc<Snapshot> {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut current, Arc::new(snapshot))
    }
}
