//! Neighbouring chunks, as they are now.

use std::collections::HashMap;

use qdrant_client::qdrant::PointId;
use trove_domain::access::AccessScope;
use trove_domain::chunk::{Chunk, ChunkId};
use trove_domain::hit::IndexedChunk;
use trove_domain::port::{ChunkRange, DocumentIndexError};

use crate::chunk::{self, chunk_id};
use crate::contents::shown;
use crate::error::{backend, failed, unavailable};
use crate::head::{Head, Mark};
use crate::payload::{Version, expect_version, field};
use crate::write::Writer;

const OPERATION: &str = "index.fetch";
/// How often documents may change while they are read before it is given up.
const ROUNDS_MAX: usize = 100;

/// The chunks of each range that `scope` opens, by rising ordinal.
pub(crate) async fn fetch_ranges(
    writer: &Writer,
    ranges: &[ChunkRange],
    scope: &AccessScope,
) -> Result<Vec<Vec<IndexedChunk>>, DocumentIndexError> {
    if ranges.is_empty() {
        return Ok(Vec::new());
    }
    for _ in 0..ROUNDS_MAX {
        let documents = ranges.iter().map(|range| &range.document);
        let heads = writer.heads(OPERATION, documents, true).await?;
        let open = |range: &ChunkRange| {
            let (mark, head) = heads.get(&range.document)?;
            let head = head.as_ref()?;
            let attributes = &head.attributes;
            let visible = !attributes.hidden && attributes.access.is_readable_in(scope);
            visible.then_some((*mark, head))
        };
        let wanted = ranges.iter().filter_map(|range| Some((range, open(range)?.0)));
        let keys: Vec<(Version, u32)> = wanted
            .flat_map(|(range, mark)| ordinals(range, mark).map(move |o| (mark.version, o)))
            .collect();
        let chunks = chunks(writer, &keys).await?;
        let complete = keys.iter().all(|key| chunks.contains_key(key));
        if !complete {
            // The document has just changed: its chunks went while they were read.
            continue;
        }
        let fetched = ranges.iter().map(|range| {
            let Some((mark, head)) = open(range) else { return Vec::new() };
            let chunks = ordinals(range, mark).filter_map(|ordinal| {
                let chunk = chunks.get(&(mark.version, ordinal))?.clone();
                Some(one(range, ordinal, chunk, head))
            });
            chunks.collect()
        });
        return Ok(fetched.collect());
    }
    Err(unavailable(OPERATION, "documents change faster than they can be read"))
}

fn ordinals(range: &ChunkRange, mark: Mark) -> impl Iterator<Item = u32> + use<> {
    let end = mark.chunks.min(range.last.saturating_add(1));
    range.first..end
}

fn one(range: &ChunkRange, ordinal: u32, chunk: Chunk, head: &Head) -> IndexedChunk {
    shown(ChunkId { document: range.document.clone(), ordinal }, chunk, head)
}

async fn chunks(
    writer: &Writer,
    keys: &[(Version, u32)],
) -> Result<HashMap<(Version, u32), Chunk>, DocumentIndexError> {
    if keys.is_empty() {
        return Ok(HashMap::new());
    }
    let ids: Vec<PointId> =
        keys.iter().map(|(version, ordinal)| chunk_id(*version, *ordinal)).collect();
    let mut fields = chunk::FIELDS.to_vec();
    fields.push(field::VERSION);
    let points = writer.connection.get(ids, &fields, false).await.map_err(failed(OPERATION))?;
    let mut chunks = HashMap::with_capacity(points.len());
    for mut point in points {
        let version = expect_version(&mut point.payload).map_err(backend(OPERATION))?;
        let chunk = chunk::read(point).map_err(backend(OPERATION))?;
        chunks.insert((version, chunk.ordinal), chunk);
    }
    Ok(chunks)
}
