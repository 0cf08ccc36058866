//! One search: rank, prove that what was ranked is current, fetch.
//!
//! The server has no snapshots: between two calls, and within one, documents change. A chunk
//! counts when its version was current before the ranking began and still is afterwards, for then
//! the whole version was there while it was ranked. What was current before is known from earlier
//! searches and writes; where it is not, the document's chunks are ranked once more after its head
//! was read. So a search takes two round trips as a rule, and four where a document is new to this
//! process or has just changed.

use std::collections::{BTreeSet, HashMap};

use trove_domain::chunk::ChunkId;
use trove_domain::hit::ScoredChunk;
use trove_domain::id::DocumentId;
use trove_domain::port::DocumentIndexError;
use trove_domain::query::IndexQuery;

use crate::candidates::{Lists, Plan};
use crate::config::QdrantIndexConfig;
use crate::connection::Connection;
use crate::contents::{Contents, shown, versions};
use crate::error::unavailable;
use crate::head::head_id;
use crate::payload::Version;
use crate::seen::{Seen, Start};

/// How often documents may change under one search before it is given up.
const ROUNDS_MAX: usize = 100;
/// How often a search asks for more because of versions that do not count any more.
const EXTENSIONS_MAX: u32 = 2;

/// A search on one index.
pub(crate) struct Search<'a> {
    pub connection: &'a Connection,
    pub config: &'a QdrantIndexConfig,
    pub seen: &'a Seen,
    pub query: &'a IndexQuery,
}

/// What a search knows while it runs.
struct State {
    start: Start,
    lists: Lists,
    /// Versions that were current while their candidates were ranked.
    proven: HashMap<DocumentId, Version>,
    /// Versions that were current at some time before the latest ranking of the document.
    before: HashMap<DocumentId, Version>,
    /// Documents with candidates of which it is not known whether they count.
    unproven: BTreeSet<DocumentId>,
    contents: Contents,
}

impl Search<'_> {
    pub(crate) async fn run(&self) -> Result<Vec<ScoredChunk>, DocumentIndexError> {
        let vectors = self.config.dimensions.is_some();
        let alone = self.query.vector.is_none()
            || !vectors
            || self.query.alpha.is_lexical()
            || self.query.alpha.is_dense();
        let wanted = self.config.candidates_for(self.query.limit, alone);
        let mut limit = wanted;
        for extension in 0..=EXTENSIONS_MAX {
            let plan = Plan::of(self.query, vectors, limit);
            let (hits, state) = self.attempt(&plan).await?;
            // Versions that do not count may have taken the place of others that do.
            if !state.lists.are_short_of(wanted) || extension == EXTENSIONS_MAX {
                return Ok(hits);
            }
            limit = limit.saturating_mul(4);
        }
        Ok(Vec::new())
    }

    async fn attempt(&self, plan: &Plan) -> Result<(Vec<ScoredChunk>, State), DocumentIndexError> {
        let start = self.seen.start();
        let lists = plan.rank(self.connection, None).await?;
        let unproven = lists.documents();
        let mut state = State {
            start,
            lists,
            proven: HashMap::new(),
            before: HashMap::new(),
            unproven,
            contents: Contents::default(),
        };
        for document in &state.unproven {
            if let Some(version) = self.seen.before(state.start, head_id(document)) {
                state.before.insert(document.clone(), version);
            }
        }
        for _ in 0..ROUNDS_MAX {
            if !state.unproven.is_empty() {
                self.prove(plan, &mut state).await?;
                if !state.unproven.is_empty() {
                    let again = plan.rank(self.connection, Some(&state.unproven)).await?;
                    state.lists.extend(again);
                    continue;
                }
            }
            if let Some(hits) = self.collect(plan, &mut state).await? {
                return Ok((hits, state));
            }
            // Something changed while it was fetched: its candidates are ranked once more.
            self.reread(&mut state).await?;
            if !state.unproven.is_empty() {
                let again = plan.rank(self.connection, Some(&state.unproven)).await?;
                state.lists.extend(again);
            }
        }
        Err(unavailable("index.search", "documents change faster than they can be read"))
    }

    /// Reads the heads of unproven documents, and fetches what will be shown if they prove right.
    /// What is unproven afterwards has no candidates any more, and is to be ranked again.
    async fn prove(&self, plan: &Plan, state: &mut State) -> Result<(), DocumentIndexError> {
        let likely = self.likely(plan, state);
        let State { unproven, contents, .. } = state;
        let (current, ()) = futures::try_join!(
            versions(self.connection, unproven.iter()),
            contents.fetch(self.connection, likely.iter().map(|(id, version)| (id, *version))),
        )?;
        self.seen.note(current.iter().map(|(id, version)| (head_id(id), *version)));
        let mut again = BTreeSet::new();
        for document in std::mem::take(&mut state.unproven) {
            match current.get(&document).copied() {
                // Removed, or not yet published.
                None => {}
                Some(version) if state.before.get(&document) == Some(&version) => {
                    state.proven.insert(document, version);
                }
                Some(version) => {
                    state.before.insert(document.clone(), version);
                    again.insert(document);
                }
            }
        }
        let proven = &state.proven;
        state.lists.retain(|c| proven.get(&c.id.document) == Some(&c.version));
        state.unproven = again;
        Ok(())
    }

    /// The chunks that will be the hits if every candidate of a document is of its current
    /// version.
    fn likely(&self, plan: &Plan, state: &State) -> Vec<(ChunkId, Version)> {
        let candidates = state.lists.words.iter().chain(&state.lists.dense);
        let versions: HashMap<&ChunkId, Version> =
            candidates.map(|candidate| (&candidate.id, candidate.version)).collect();
        let best = plan.merge(&state.lists).into_iter().take(self.query.limit);
        best.filter_map(|(id, _)| versions.get(&id).map(|version| (id, *version))).collect()
    }

    /// The hits; `None` when some of them are gone meanwhile, whose documents are unproven then.
    async fn collect(
        &self,
        plan: &Plan,
        state: &mut State,
    ) -> Result<Option<Vec<ScoredChunk>>, DocumentIndexError> {
        let limit = self.query.limit;
        let ranking = plan.merge(&state.lists);
        let mut hits: Vec<ScoredChunk> = Vec::with_capacity(limit.min(ranking.len()));
        let mut rest = ranking.as_slice();
        while hits.len() < limit && !rest.is_empty() {
            let (next, later) = rest.split_at(rest.len().min(limit - hits.len()));
            rest = later;
            let wanted = next
                .iter()
                .filter_map(|(id, _)| state.proven.get(&id.document).map(|version| (id, *version)));
            state.contents.fetch(self.connection, wanted).await?;
            for (id, score) in next {
                let Some(version) = state.proven.get(&id.document).copied() else { continue };
                let Some((chunk, head)) = state.contents.of(id, version) else {
                    state.unproven.insert(id.document.clone());
                    continue;
                };
                let attributes = &head.attributes;
                // The filter was applied before ranking. This is the second lock on the door, and
                // it is exact where conditions are not.
                if attributes.hidden
                    || !attributes.access.is_readable_in(&self.query.scope)
                    || !self.query.filters.accept(&id.document, attributes)
                {
                    continue;
                }
                let chunk = shown(id.clone(), chunk.clone(), head);
                hits.push(ScoredChunk { chunk, score: *score });
            }
        }
        Ok(state.unproven.is_empty().then_some(hits))
    }

    /// Forgets the candidates of unproven documents and reads which of their versions counts now.
    async fn reread(&self, state: &mut State) -> Result<(), DocumentIndexError> {
        let current = versions(self.connection, state.unproven.iter()).await?;
        let State { lists, proven, before, unproven, .. } = state;
        lists.retain(|candidate| !unproven.contains(&candidate.id.document));
        for document in unproven.iter() {
            proven.remove(document);
        }
        unproven.retain(|document| current.contains_key(document));
        before.extend(current);
        Ok(())
    }
}
