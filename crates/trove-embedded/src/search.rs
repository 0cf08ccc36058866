//! One search: filter, rank by words and by vectors, fuse, fetch.

use std::collections::HashMap;
use std::sync::Arc;

use tantivy::DocAddress;
use trove_domain::access::AccessScope;
use trove_domain::chunk::ChunkId;
use trove_domain::document::DocumentAttributes;
use trove_domain::fusion::{convex_fusion, sort_best_first};
use trove_domain::hit::{IndexedChunk, ScoredChunk};
use trove_domain::port::{ChunkRange, DocumentIndexError};
use trove_domain::query::IndexQuery;

use crate::dense::Dense;
use crate::error::backend;
use crate::lexical::record::{Head, StoredEntry, read_chunk, read_head};
use crate::lexical::scoring;
use crate::snapshot::Snapshot;
use crate::tokens::TermFilter;

/// Chunk versions by key, with scores.
type Ranking = Vec<(u64, f32)>;

/// A search on one snapshot.
pub(crate) struct Search {
    pub snapshot: Arc<Snapshot>,
    pub query: IndexQuery,
    pub filter: Arc<TermFilter>,
    /// Hits that each half contributes.
    pub candidates: usize,
}

impl Search {
    /// Chunks that hold a word of the query, best first.
    pub(crate) fn rank_by_words(&self) -> Result<Ranking, DocumentIndexError> {
        let snapshot = &self.snapshot;
        let rank = || -> tantivy::Result<Ranking> {
            let allowed = snapshot.allowed(&self.filter)?;
            let ranked = scoring::rank(
                &snapshot.fields,
                &snapshot.searcher,
                &self.query.text,
                snapshot.languages,
                &allowed,
                self.candidates,
            )?;
            Ok(ranked.into_iter().map(|(entry, score)| (snapshot.key(entry), score)).collect())
        };
        rank().map_err(backend("index.search.lexical"))
    }

    /// Chunks near the vector of the query, best first.
    pub(crate) fn rank_by_vector(
        &self,
        dense: &Dense,
        vector: &[f32],
    ) -> Result<Ranking, DocumentIndexError> {
        let mut limit = self.candidates;
        loop {
            let mut nearest = dense
                .shard
                .search(vector, &self.filter, limit)
                .map_err(backend("index.search.dense"))?;
            let exhausted = nearest.len() < limit;
            // Versions that are not yet, or no longer, part of the snapshot.
            nearest.retain(|(key, _)| self.snapshot.locate(*key).is_some());
            if exhausted || nearest.len() >= self.candidates {
                nearest.truncate(self.candidates);
                return Ok(nearest);
            }
            limit = limit.saturating_mul(2);
        }
    }

    /// The final hits of both rankings.
    pub(crate) fn fuse(
        &self,
        lexical: &Ranking,
        dense: &Ranking,
    ) -> Result<Vec<ScoredChunk>, DocumentIndexError> {
        self.fetch(convex_fusion(lexical, dense, self.query.alpha))
    }

    /// The chunks of a ranking, at most as many as the query wants.
    pub(crate) fn fetch(
        &self,
        mut ranking: Ranking,
    ) -> Result<Vec<ScoredChunk>, DocumentIndexError> {
        sort_best_first(&mut ranking);
        let mut heads = Heads { snapshot: &self.snapshot, known: HashMap::new() };
        let mut hits: Vec<ScoredChunk> = Vec::with_capacity(self.query.limit.min(ranking.len()));
        let mut rest = ranking.as_slice();
        while let Some((_, score)) = rest.first()
            && hits.len() < self.query.limit
        {
            // Equal scores are ordered by chunk id, which only the fetched head knows.
            let (equal, worse) =
                rest.split_at(rest.partition_point(|(_, other)| other.total_cmp(score).is_eq()));
            rest = worse;
            hits.extend(self.fetch_equal(&mut heads, equal)?);
        }
        hits.truncate(self.query.limit);
        Ok(hits)
    }

    fn fetch_equal(
        &self,
        heads: &mut Heads<'_>,
        equal: &[(u64, f32)],
    ) -> Result<Vec<ScoredChunk>, DocumentIndexError> {
        let snapshot = &self.snapshot;
        let mut chosen = Vec::with_capacity(equal.len());
        for (key, score) in equal {
            let Some(address) = snapshot.locate(*key) else { continue };
            let Some((head, entry)) = heads.of(address)? else { continue };
            // The filter was applied before ranking. This is the second lock on the door, and it
            // is exact where the terms of the filter are not: overlong tags, fractions of a
            // microsecond.
            let attributes = &head.attributes;
            if attributes.hidden
                || !attributes.access.is_readable_in(&self.query.scope)
                || !self.query.filters.accept(&head.id, attributes)
            {
                continue;
            }
            chosen.push((head, snapshot.ordinal(address), address, entry, *score));
        }
        chosen.sort_unstable_by(|(head_a, ordinal_a, ..), (head_b, ordinal_b, ..)| {
            head_a.id.cmp(&head_b.id).then(ordinal_a.cmp(ordinal_b))
        });
        chosen
            .into_iter()
            .take(self.query.limit)
            .map(|(head, ordinal, address, entry, score)| {
                let entry = match entry {
                    Some(entry) => entry,
                    None => snapshot.entry(address).map_err(backend("index.search.fetch"))?,
                };
                Ok(ScoredChunk { chunk: shown(snapshot, &head, ordinal, entry), score })
            })
            .collect()
    }
}

/// The chunks of each range that `scope` opens, by rising ordinal.
pub(crate) fn fetch_ranges(
    snapshot: &Arc<Snapshot>,
    ranges: &[ChunkRange],
    scope: &AccessScope,
) -> Result<Vec<Vec<IndexedChunk>>, DocumentIndexError> {
    let failed = || backend("index.fetch");
    let mut heads = Heads { snapshot, known: HashMap::new() };
    let mut fetched = Vec::with_capacity(ranges.len());
    for range in ranges {
        let mut chunks = Vec::new();
        let located = snapshot.find(&range.document).map_err(failed())?;
        for (_, address) in located.map(|located| located.entries).unwrap_or_default() {
            let ordinal = snapshot.ordinal(address);
            if !(range.first..=range.last).contains(&ordinal) {
                continue;
            }
            let Some((head, entry)) = heads.of(address)? else { continue };
            if head.attributes.hidden || !head.attributes.access.is_readable_in(scope) {
                break;
            }
            let entry = match entry {
                Some(entry) => entry,
                None => snapshot.entry(address).map_err(failed())?,
            };
            chunks.push(shown(snapshot, &head, ordinal, entry));
        }
        fetched.push(chunks);
    }
    Ok(fetched)
}

/// A chunk as results show it.
fn shown(snapshot: &Snapshot, head: &SharedHead, ordinal: u32, entry: StoredEntry) -> IndexedChunk {
    let chunk = read_chunk(&snapshot.fields, entry, ordinal, false);
    IndexedChunk {
        id: ChunkId { document: head.id.clone(), ordinal },
        title: head.title.clone(),
        text: chunk.text,
        blurb: chunk.blurb,
        link: chunk.link,
        attributes: Arc::clone(&head.attributes),
    }
}

/// The documents of one answer, each read once.
struct Heads<'a> {
    snapshot: &'a Snapshot,
    known: HashMap<DocAddress, Arc<SharedHead>>,
}

/// A head, and an entry that was read on the way.
type WithEntry = (Arc<SharedHead>, Option<StoredEntry>);

/// A [`Head`] whose attributes the hits share.
struct SharedHead {
    id: trove_domain::id::DocumentId,
    title: Option<String>,
    attributes: Arc<DocumentAttributes>,
}

impl Heads<'_> {
    /// The head of the document that `chunk` belongs to; with the entry of the chunk when it had
    /// to be read for that.
    fn of(&mut self, chunk: DocAddress) -> Result<Option<WithEntry>, DocumentIndexError> {
        let Some(address) = self.snapshot.head_of(chunk) else { return Ok(None) };
        if let Some(head) = self.known.get(&address) {
            return Ok(Some((Arc::clone(head), None)));
        }
        let entry = self.snapshot.entry(address).map_err(backend("index.search.fetch"))?;
        let Head { id, revision: _, title, attributes } =
            read_head(&self.snapshot.fields, &entry).map_err(backend("index.search.fetch"))?;
        let head = Arc::new(SharedHead { id, title, attributes: Arc::new(attributes) });
        self.known.insert(address, Arc::clone(&head));
        Ok(Some((head, (address == chunk).then_some(entry))))
    }
}
