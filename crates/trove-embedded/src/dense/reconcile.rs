//! Bringing the shard in line with the words after a start that was not preceded by a flush.

use std::collections::HashMap;
use std::sync::Arc;

use tantivy::DocAddress;
use trove_domain::error::Source;

use super::{DensePoint, DenseShard};
use crate::lexical::record::{read_chunk, read_head};
use crate::snapshot::Snapshot;
use crate::tokens::{TermNumbers, terms_of};

/// Points that are restored in one go.
const BATCH: usize = 1000;

/// What a document's points have in common.
#[derive(Clone)]
struct Shared {
    terms: Arc<TermNumbers>,
    updated_at: Option<i64>,
    created_at: Option<i64>,
}

/// Gives the shard the vectors of all live entries from `first_key` on.
pub(crate) fn vectors_from(
    snapshot: &Snapshot,
    shard: &DenseShard,
    dimensions: usize,
    first_key: u64,
) -> Result<usize, Source> {
    let mut reader = PointReader::new(snapshot, dimensions);
    let mut entries = snapshot.entries_from(first_key).peekable();
    let mut restored = 0;
    while entries.peek().is_some() {
        let mut points = Vec::new();
        for (key, address) in entries.by_ref().take(BATCH) {
            points.extend(reader.read(key, address)?);
        }
        restored += points.len();
        shard.upsert(points)?;
    }
    Ok(restored)
}

/// Compares the shard with `snapshot` for keys below `end`: restores what is missing, removes what
/// is too much, and gives the shard everything from `trusted` on again. `carry_on` is asked between
/// batches. Returns how many points were restored and removed.
pub(crate) fn reconcile(
    snapshot: &Snapshot,
    shard: &DenseShard,
    dimensions: usize,
    trusted: u64,
    end: u64,
    carry_on: impl Fn() -> bool,
) -> Result<(usize, usize), Source> {
    let mut reader = PointReader::new(snapshot, dimensions);
    let (mut restored, mut removed) = (0, 0);
    let mut from = Some(0);
    while let Some(first) = from.filter(|_| carry_on()) {
        let (held, next) = shard.keys(first, BATCH)?;
        // The stretch of keys that this page of the shard speaks of.
        let until = next.unwrap_or(end).min(end);
        let surplus: Vec<u64> = held
            .iter()
            .copied()
            .filter(|key| *key < end && snapshot.locate(*key).is_none())
            .collect();
        let mut points = Vec::new();
        for (key, address) in snapshot.entries_from(first).take_while(|(key, _)| *key < until) {
            if key >= trusted || held.binary_search(&key).is_err() {
                points.extend(reader.read(key, address)?);
                if points.len() >= BATCH {
                    restored += points.len();
                    shard.upsert(std::mem::take(&mut points))?;
                }
            }
        }
        restored += points.len();
        shard.upsert(points)?;
        removed += surplus.len();
        shard.remove(&surplus)?;
        from = next.filter(|next| *next < end);
    }
    Ok((restored, removed))
}

struct PointReader<'a> {
    snapshot: &'a Snapshot,
    dimensions: usize,
    /// By the key of the first entry; of the latest document only, for entries come in order.
    shared: HashMap<u64, Shared>,
}

impl<'a> PointReader<'a> {
    fn new(snapshot: &'a Snapshot, dimensions: usize) -> Self {
        Self { snapshot, dimensions, shared: HashMap::new() }
    }

    /// The point of an entry; `None` when it has no vector.
    fn read(&mut self, key: u64, address: DocAddress) -> Result<Option<DensePoint>, Source> {
        let snapshot = self.snapshot;
        let entry = snapshot.entry(address)?;
        let ordinal = snapshot.ordinal(address);
        let Some(vector) = read_chunk(&snapshot.fields, entry, ordinal, true)
            .vector
            .filter(|vector| vector.len() == self.dimensions)
        else {
            return Ok(None);
        };
        let head_key = key.saturating_sub(u64::from(ordinal));
        if !self.shared.contains_key(&head_key) {
            let address = snapshot.head_of(address).ok_or("a document has no first chunk")?;
            let head = read_head(&snapshot.fields, &snapshot.entry(address)?)?;
            self.shared.clear();
            self.shared.insert(
                head_key,
                Shared {
                    terms: Arc::new(TermNumbers::of(&terms_of(&head.id, &head.attributes))),
                    updated_at: head.attributes.updated_at.map(|at| at.timestamp_micros()),
                    created_at: head.attributes.created_at.map(|at| at.timestamp_micros()),
                },
            );
        }
        Ok(self.shared.get(&head_key).cloned().map(|Shared { terms, updated_at, created_at }| {
            DensePoint { key, vector, terms, updated_at, created_at }
        }))
    }
}
