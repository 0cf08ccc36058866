//! Candidates: the best chunks by words and by vectors, of whatever version.

use std::collections::BTreeSet;

use qdrant_client::qdrant::vector_input::Variant;
use qdrant_client::qdrant::{
    AcornSearchParams, DenseVector, Filter, Query, QueryPoints, ScoredPoint, SearchParams,
    VectorInput, query,
};
use trove_domain::chunk::ChunkId;
use trove_domain::fusion::{convex_fusion, sort_best_first};
use trove_domain::id::DocumentId;
use trove_domain::port::DocumentIndexError;
use trove_domain::query::{HybridAlpha, IndexQuery};

use crate::chunk::{DENSE, WORDS};
use crate::connection::{Connection, with_candidate_fields};
use crate::error::{Unreadable, backend, failed};
use crate::filter;
use crate::payload::{Version, expect_text, expect_u32, expect_version, field};
use crate::words;

const OPERATION: &str = "index.search";

/// A chunk of some version with its score.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Candidate {
    pub id: ChunkId,
    pub version: Version,
    pub score: f32,
}

/// What is asked of the server for one search.
pub(crate) struct Plan {
    filter: Filter,
    /// The query as words, when words count and there are some.
    words: Option<VectorInput>,
    /// The query as a vector, when vectors count.
    dense: Option<VectorInput>,
    alpha: HybridAlpha,
    /// Length of each list.
    pub limit: usize,
}

/// The lists of one search.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lists {
    pub words: Vec<Candidate>,
    pub dense: Vec<Candidate>,
    /// Whether the server had more chunks than were asked for by words, and by vectors.
    pub cut: (bool, bool),
}

impl Plan {
    /// `vectors` says whether the index holds any.
    pub(crate) fn of(query: &IndexQuery, vectors: bool, limit: usize) -> Self {
        let dense = query.vector.as_ref().filter(|_| vectors && !query.alpha.is_lexical());
        let words = if dense.is_some() && query.alpha.is_dense() {
            None
        } else {
            words::of_query(&query.text).map(Variant::Sparse)
        };
        let input = |variant| VectorInput { variant: Some(variant) };
        Self {
            filter: filter::of_query(query),
            words: words.map(input),
            dense: dense.map(|data| input(Variant::Dense(DenseVector { data: data.clone() }))),
            alpha: query.alpha,
            limit,
        }
    }

    /// Ranks; only chunks of `documents` when they are given.
    pub(crate) async fn rank(
        &self,
        connection: &Connection,
        documents: Option<&BTreeSet<DocumentId>>,
    ) -> Result<Lists, DocumentIndexError> {
        let mut filter = self.filter.clone();
        if let Some(documents) = documents {
            filter.must.push(filter::of_documents(documents.iter()));
        }
        let query = |using: &str, input: &VectorInput, params| QueryPoints {
            collection_name: connection.collection.clone(),
            query: Some(Query { variant: Some(query::Variant::Nearest(input.clone())) }),
            using: Some(using.to_owned()),
            filter: Some(filter.clone()),
            params,
            limit: Some(u64::try_from(self.limit).unwrap_or(u64::MAX)),
            with_payload: Some(with_candidate_fields()),
            ..QueryPoints::default()
        };
        // Where a filter leaves too little of the graph to walk through, look one step further.
        let acorn = AcornSearchParams { enable: Some(true), ..AcornSearchParams::default() };
        let params = SearchParams { acorn: Some(acorn), ..SearchParams::default() };
        let queries: Vec<QueryPoints> = self
            .words
            .iter()
            .map(|input| query(WORDS, input, None))
            .chain(self.dense.iter().map(|input| query(DENSE, input, Some(params.clone()))))
            .collect();
        if queries.is_empty() {
            return Ok(Lists::default());
        }
        let mut results = connection.query(queries).await.map_err(failed(OPERATION))?.into_iter();
        let mut lists = Lists::default();
        for (wanted, list, cut) in [
            (self.words.is_some(), &mut lists.words, &mut lists.cut.0),
            (self.dense.is_some(), &mut lists.dense, &mut lists.cut.1),
        ] {
            if wanted {
                let points = results.next().unwrap_or_default();
                *cut = points.len() >= self.limit;
                *list = points
                    .into_iter()
                    .map(read)
                    .collect::<Result<_, _>>()
                    .map_err(backend(OPERATION))?;
            }
        }
        Ok(lists)
    }

    /// The chunks of both lists, best first.
    pub(crate) fn merge(&self, lists: &Lists) -> Vec<(ChunkId, f32)> {
        let scores = |list: &[Candidate]| -> Vec<(ChunkId, f32)> {
            let mut scores: Vec<_> = list.iter().map(|c| (c.id.clone(), c.score)).collect();
            sort_best_first(&mut scores);
            scores.truncate(self.limit);
            scores
        };
        let (words, dense) = (scores(&lists.words), scores(&lists.dense));
        match (&self.words, &self.dense) {
            // Also a query without words: the lexical half is empty, and still has its weight.
            (_, Some(_)) if !self.alpha.is_dense() => convex_fusion(&words, &dense, self.alpha),
            (_, Some(_)) => dense,
            (_, None) => words,
        }
    }
}

impl Lists {
    /// The documents that candidates belong to.
    pub(crate) fn documents(&self) -> BTreeSet<DocumentId> {
        let candidates = self.words.iter().chain(&self.dense);
        candidates.map(|candidate| candidate.id.document.clone()).collect()
    }

    /// Keeps what `keep` says.
    pub(crate) fn retain(&mut self, keep: impl Fn(&Candidate) -> bool) {
        self.words.retain(&keep);
        self.dense.retain(&keep);
    }

    /// Whether a list that was cut is left with fewer than `wanted` chunks.
    pub(crate) fn are_short_of(&self, wanted: usize) -> bool {
        (self.cut.0 && self.words.len() < wanted) || (self.cut.1 && self.dense.len() < wanted)
    }

    /// Adds the candidates of a second ranking.
    pub(crate) fn extend(&mut self, other: Self) {
        self.words.extend(other.words);
        self.dense.extend(other.dense);
        self.cut = (self.cut.0 | other.cut.0, self.cut.1 | other.cut.1);
    }
}

fn read(mut point: ScoredPoint) -> Result<Candidate, Unreadable> {
    let payload = &mut point.payload;
    let document = DocumentId::new(expect_text(payload, field::DOCUMENT)?)
        .map_err(|error| Unreadable::new(field::DOCUMENT, &error))?;
    let ordinal = expect_u32(payload, field::ORDINAL)?;
    let version = expect_version(payload)?;
    Ok(Candidate { id: ChunkId { document, ordinal }, version, score: point.score })
}
